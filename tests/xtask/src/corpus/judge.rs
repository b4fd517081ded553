//! The verdict on one line, by layer.

use super::Line;
use cheliped::guard::{GuardKind, scan};
use cheliped::screening::{Action, GuardOptions, Judged, Screen, Source};
use serde_json::Value;

/// The guards, and the layer that they are asked for.
pub(super) struct Judge {
    layer: String,
    screen: Screen,
    limit: usize,
}

impl Judge {
    pub(super) fn new(layer: &str, options: &GuardOptions) -> Result<Self, String> {
        const LAYERS: [&str; 3] = ["guards", "unicode", "pii"];
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
