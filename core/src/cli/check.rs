//! `cheliped check`: runs texts through the guards and says what they say, so that a policy can be tested where code is
//! tested.
//!
//! A text is an argument, all of standard input, or, with `--lines` and `--json-lines`, one line of it. A JSON line is a
//! text, or an object with `text` (or `input`) and, where wanted, `id` and `expect`. Verdicts: `pass`, `warn`, `redact`,
//! `block`. Exit code 1 when a text is blocked or redacted, or, where lines say what they expect, when one gets
//! something else.

use super::config;
use super::console::Console;
use super::escape;
use super::failure::{Exit, Failure};
use super::input::{self, Stdin};
use super::options::{Check, Layer};
use crate::env::Env;
use crate::guard::GuardKind;
use crate::guard::answer::{self, AnswerMode};
use crate::guard::tool_output::{self, Cleaned, Cleaning, Orders};
use crate::screening::{GuardOptions, Judged, Report, Screen, Source};
use serde_json::{Value, json};
use std::io::{self, IsTerminal};
use std::path::Path;

/// Bytes of the longest text that is made by repeating.
const LONGEST: usize = 64 << 20;

/// One text to look at.
struct Item {
    id: Option<Value>,
    text: String,
    expect: Option<String>,
}

/// What is said of it.
struct Verdict {
    verdict: &'static str,
    /// The guard and its words, or what was taken out.
    reasons: Vec<String>,
    findings: Value,
    /// The text as it may go on, when it was changed.
    output: Option<String>,
}

/// Looks at all texts.
pub(super) fn check(check: &Check, directory: &Path, console: &mut Console, env: &Env) -> Result<Exit, Failure> {
    let options = match check.preset {
        Some(preset) => GuardOptions::preset(preset),
        None => config::load(check.config.as_deref(), directory, env.variables.as_ref())?
            .into_iter()
            .find_map(|config| config.guards)
            .unwrap_or_default(),
    };
    let screen = Screen::new(&options)?;
    let mut stdin = io::stdin();
    let is_terminal = stdin.is_terminal();
    let words = check.text.to_vec();
    let text = input::text(words, Stdin { reader: &mut stdin, is_terminal })?;
    let mut good = true;
    for item in items(check, text, options.max_message_length)? {
        let verdict = judge(check.layer, &screen, &item.text);
        good &= match &item.expect {
            Some(expect) => matches(expect, verdict.verdict),
            None => matches!(verdict.verdict, "pass" | "warn"),
        };
        console.answer(&shown(check.json, &item, &verdict))?;
    }
    Ok(if good { Exit::Done } else { Exit::Failed })
}

/// Whether a verdict is the expected one: `allow` is everything that goes on, `clean` and `keep` what goes on as it is,
/// `detect`, `neutralise` and `strip` everything else.
fn matches(expect: &str, verdict: &str) -> bool {
    match expect {
        "allow" => verdict != "block",
        "clean" | "keep" => matches!(verdict, "pass" | "warn"),
        "detect" | "neutralise" | "strip" => verdict != "pass",
        exact => exact == verdict,
    }
}

/// A text, also a long one: `{"repeat": "a", "times": 40001}`, or with `"count"` `"max"` or `"max+1"` instead, which is
/// counted from the longest message.
fn written(text: Value, limit: usize) -> Option<String> {
    let long = match text {
        Value::String(text) => return Some(text),
        Value::Object(long) => long,
        _ => return None,
    };
    let times = match (long.get("times"), long.get("count").and_then(Value::as_str)) {
        (Some(times), _) => usize::try_from(times.as_u64()?).ok()?,
        (None, Some("max")) => limit,
        (None, Some(count)) => limit.checked_add(count.strip_prefix("max+")?.parse().ok()?)?,
        (None, None) => return None,
    };
    let piece = long.get("repeat")?.as_str()?;
    (piece.len().checked_mul(times)? <= LONGEST).then(|| piece.repeat(times))
}

fn items(check: &Check, text: String, limit: usize) -> Result<Vec<Item>, Failure> {
    let plain = |text: String| Item { id: None, text, expect: None };
    if check.lines {
        return Ok(text.lines().map(|line| plain(line.to_owned())).collect());
    }
    if !check.json_lines {
        return Ok(vec![plain(text)]);
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            let wrong = |problem: &str| Failure::usage(format!("line {}: {problem}", number + 1));
            let value: Value = serde_json::from_str(line).map_err(|error| wrong(&format!("not JSON: {error}")))?;
            match value {
                Value::String(text) => Ok(plain(text)),
                Value::Object(mut object) => {
                    let text = object.remove("text").or_else(|| object.remove("input"));
                    let Some(text) = text.and_then(|text| written(text, limit)) else {
                        return Err(wrong("the object has no text: write it under \"text\""));
                    };
                    let expect = object.remove("expect").and_then(|expect| expect.as_str().map(str::to_owned));
                    Ok(Item { id: object.remove("id"), text, expect })
                }
                _ => Err(wrong("neither a text nor an object with \"text\"")),
            }
        })
        .collect()
}

fn judge(layer: Layer, screen: &Screen, text: &str) -> Verdict {
    match layer {
        Layer::Guards => screened(screen.check(&Source::Typed, text), text, |_| true),
        Layer::Unicode => screened(screen.check(&Source::Typed, text), text, |judged| {
            matches!(judged.finding.guard, GuardKind::Unicode | GuardKind::Homoglyph)
        }),
        Layer::Pii => {
            screened(screen.check(&Source::Typed, text), text, |judged| judged.finding.guard == GuardKind::PiiDetection)
        }
        Layer::ToolOutput => tool_output(text),
        Layer::Answer => answer(text),
    }
}

fn screened(mut report: Report, text: &str, counts: impl Fn(&Judged) -> bool) -> Verdict {
    report.findings.retain(counts);
    let reasons = report.findings.iter().map(|Judged { finding, .. }| {
        format!("{}, {} (score {}): {}", finding.guard.key(), finding.rule, finding.score, report.words(finding))
    });
    Verdict {
        verdict: report.verdict(),
        reasons: reasons.collect(),
        findings: serde_json::to_value(report.records().collect::<Vec<_>>()).unwrap_or_default(),
        output: report.redacted(text),
    }
}

/// As agents clean results by default.
fn tool_output(text: &str) -> Verdict {
    let rules = Cleaning { injection: Orders::Redact, ..Cleaning::default() };
    let Cleaned { text: cleaned, redacted, flags } = tool_output::clean(text, &rules);
    let orders = flags.iter().map(|flag| format!("{}, {}: '{}'", flag.guard.key(), flag.rule, flag.pattern));
    let secrets = redacted.iter().filter(|redaction| redaction.pattern.starts_with("secret:"));
    let mut reasons: Vec<String> = orders.chain(secrets.map(|redaction| redaction.pattern.clone())).collect();
    if reasons.is_empty() && cleaned != text {
        reasons.push("hidden or control characters".into());
    }
    let findings = flags.iter().map(|flag| json!({"guard": flag.guard.key(), "rule": flag.rule}));
    let secrets = redacted.iter().map(|redaction| json!({"redacted": redaction.pattern}));
    Verdict {
        verdict: if reasons.is_empty() { "pass" } else { "redact" },
        findings: findings.chain(secrets).collect(),
        output: (cleaned != text).then(|| cleaned.into_owned()),
        reasons,
    }
}

fn answer(text: &str) -> Verdict {
    let (cleaned, findings) = answer::clean(text.to_owned(), AnswerMode::Documented);
    let tags = findings.tags().map(|tag| format!("PHP tag {tag}"));
    let reasons: Vec<String> = tags.chain(findings.calls().map(|call| format!("call {call}"))).collect();
    Verdict {
        verdict: if reasons.is_empty() { "pass" } else { "redact" },
        findings: json!(reasons),
        output: (cleaned != text).then_some(cleaned),
        reasons,
    }
}

fn shown(as_json: bool, item: &Item, verdict: &Verdict) -> String {
    if as_json {
        let mut line = json!({"verdict": verdict.verdict, "reasons": verdict.reasons, "findings": verdict.findings});
        if let Some(object) = line.as_object_mut() {
            if let Some(id) = &item.id {
                object.insert("id".into(), id.clone());
            }
            if let Some(expect) = &item.expect {
                object.insert("expect".into(), expect.as_str().into());
            }
            if let Some(output) = &verdict.output {
                object.insert("output".into(), output.as_str().into());
            }
        }
        return format!("{line}\n");
    }
    let mut text = verdict.verdict.to_owned();
    if let Some(id) = &item.id {
        text = format!("{id}: {text}");
    }
    for reason in &verdict.reasons {
        text.push_str("\n  ");
        text.push_str(reason);
    }
    if let Some(output) = &verdict.output {
        text.push_str("\n  goes on as: ");
        text.push_str(output);
    }
    escape::lines(&text) + "\n"
}
