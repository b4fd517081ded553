//! The verdict on one line, by layer.

use super::Line;
use cheliped::guard::answer::{AnswerFilter, AnswerMode, clean};
use cheliped::guard::tool_output::{self, Cleaning, Orders};
use cheliped::guard::{GuardKind, scan};
use cheliped::screening::{Action, GuardOptions, Judged, Screen, Source};
use serde_json::Value;
use std::time::{Duration, Instant};

/// The guards, and the layer that they are asked for.
pub(super) struct Judge {
    layer: String,
    screen: Screen,
    limit: usize,
}

impl Judge {
    pub(super) fn new(layer: &str, options: &GuardOptions) -> Result<Self, String> {
        const LAYERS: [&str; 5] = ["guards", "unicode", "pii", "tool_output", "output_sanitiser"];
        if !LAYERS.contains(&layer) {
            return Err(format!("there is no layer {layer}: use one of {}", LAYERS.join(", ")));
        }
        let screen = Screen::new(options).map_err(|error| error.to_string())?;
        Ok(Self { layer: layer.to_owned(), screen, limit: options.max_message_length })
    }

    /// What the guards say, in the words of `expect`.
    pub(super) fn verdict(&self, line: &Line) -> Result<String, String> {
        let input = self.input(&line.input).ok_or_else(|| format!("{}: the input cannot be read", line.id))?;
        Ok(match self.layer.as_str() {
            "pii" => personal(&input, line),
            "tool_output" => tool_output(&input, line),
            "output_sanitiser" => answer(&input, line),
            _ => {
                let report = self.screen.check(&Source::Typed, &input);
                // A text about hidden characters may well hold somebody's number.
                let counts = |guard| self.layer != "unicode" || guard != GuardKind::PiiDetection;
                let blocks = |judged: &Judged| judged.action == Action::Block && counts(judged.finding.guard);
                if report.findings.iter().any(blocks) { "block".into() } else { "allow".into() }
            }
        })
    }

    fn input(&self, input: &Value) -> Option<String> {
        if let Some(text) = input.as_str() {
            return Some(text.to_owned());
        }
        let repeat = input.get("repeat")?.as_str()?;
        let times = match (input.get("times"), input.get("count").and_then(Value::as_str)) {
            (Some(times), _) => usize::try_from(times.as_u64()?).ok()?,
            (None, Some("max")) => self.limit,
            (None, Some(more)) => self.limit + more.strip_prefix("max+")?.parse::<usize>().ok()?,
            (None, None) => return None,
        };
        Some(repeat.repeat(times))
    }
}

/// `detect` when every expected sort stands at its expected place, `clean` when nothing is found.
fn personal(input: &str, line: &Line) -> String {
    let found: Vec<(String, String)> = scan(input)
        .into_iter()
        .filter(|finding| finding.guard == GuardKind::PiiDetection && finding.score >= 50)
        .map(|finding| (finding.pattern.to_string(), input.get(finding.span).unwrap_or_default().to_owned()))
        .collect();
    let spans = line.more.get("spans").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let expected = |span: &Value| {
        let (sort, text) = (span.get("type").and_then(Value::as_str), span.get("text").and_then(Value::as_str));
        let sort = sort.map(|sort| if sort == "us_ssn" { "ssn" } else { sort });
        found.iter().any(|(found, at)| Some(found.as_str()) == sort && Some(at.as_str()) == text)
    };
    if found.is_empty() {
        "clean".into()
    } else if spans.iter().all(expected) && spans.len() == found.len() {
        "detect".into()
    } else {
        format!("other: {}", found.iter().map(|(sort, _)| sort.as_str()).collect::<Vec<_>>().join(", "))
    }
}

/// The expectation itself when the cleaned result meets it, else what is wrong.
fn tool_output(input: &str, line: &Line) -> String {
    let rules = Cleaning { injection: Orders::Redact, ..Cleaning::default() };
    let cleaned = tool_output::clean(input, &rules);
    let text = cleaned.text.as_ref();
    let list = |key: &str| {
        let list = line.more.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        list.iter().filter_map(Value::as_str).collect::<Vec<_>>()
    };
    let is_json =
        |text: &str| serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object() || value.is_array());
    let gone = list("must_not").iter().all(|part| !text.contains(part));
    let kept = list("must_keep").iter().all(|part| text.contains(part));
    if is_json(input) && !is_json(text) {
        return "no JSON any more".into();
    }
    let met = match line.expect.as_str() {
        "keep" => text == input,
        // What is flagged gets a fence, so that it can be taken neither for a turn nor for an instruction.
        "neutralise" => (gone || !cleaned.flags.is_empty()) && kept,
        _ => gone && kept,
    };
    if met { line.expect.clone() } else { format!("kept {kept}, gone {gone}, flags {}", cleaned.flags.len()) }
}

/// The expectation itself when the answer is the documented one, whole and in pieces, with the documented events.
fn answer(input: &str, line: &Line) -> String {
    let off = line.more.get("options").and_then(|options| options.get("sanitise_output")) == Some(&Value::Bool(false));
    let mode = if off { AnswerMode::Off } else { AnswerMode::Documented };
    let started = Instant::now();
    let (whole, findings) = clean(input.to_owned(), mode);
    if line.expect == "linear-time" {
        let quick = started.elapsed() < Duration::from_secs(1);
        return if quick { line.expect.clone() } else { "slow".into() };
    }
    let number = |key: &str| line.more.get(key).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
    let cuts = line.more.get("stream_split").and_then(Value::as_array).cloned().unwrap_or_default();
    let cuts: Vec<usize> = cuts.iter().filter_map(|cut| usize::try_from(cut.as_u64()?).ok()).collect();
    let size = number("stream_chunk").unwrap_or(1);
    let (mut filter, mut streamed, mut piece) = (AnswerFilter::new(mode), String::new(), String::new());
    for (place, c) in input.chars().enumerate() {
        if if cuts.is_empty() { place % size == 0 } else { cuts.contains(&place) } {
            streamed.push_str(&filter.push(std::mem::take(&mut piece)));
        }
        piece.push(c);
    }
    streamed.push_str(&filter.push(piece));
    streamed.push_str(&filter.finish());
    let mut events = Vec::new();
    if findings.calls().next().is_some() {
        events.push("guard.output_function_redacted");
    }
    if findings.tags().next().is_some() {
        events.push("guard.output_php_tag_removed");
    }
    let hooks = line.more.get("hooks").and_then(Value::as_array).cloned().unwrap_or_default();
    let told = hooks.iter().filter_map(Value::as_str).collect::<Vec<_>>() == events;
    let expected = line.more.get("output").and_then(Value::as_str);
    if expected == Some(&whole) && streamed == whole && told { line.expect.clone() } else { whole }
}
