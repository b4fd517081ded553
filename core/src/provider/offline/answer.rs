//! What the offline model says: results in plain words, and what it is where it cannot help.
//!
//! Results are quoted or counted, never interpreted.

use super::super::ToolSpec;
use crate::limits;
use crate::message::{Outcome, ToolResult};
use crate::schema::words::{is_stop_word, words};
use serde_json::{Map, Value};
use std::fmt::Write as _;

/// The one sentence that says what this is.
const WHAT_IT_IS: &str = "I am the offline demonstration model of cheliped: rules, with no language model behind them.";
/// The same under an answer, for the first one of a conversation.
const FOOTNOTE: &str =
    "(Answered by the offline demonstration model, which quotes tool results and understands no language.)";

/// A text up to so many characters is quoted whole.
const QUOTED_CHARS: usize = 600;
/// Lines that are quoted of a longer text.
const QUOTED_LINES: usize = 8;
/// Entries that are named of a list or an object.
const NAMED_ENTRIES: usize = 8;
/// Characters of one value in a list.
const VALUE_CHARS: usize = 120;

/// Nothing fits: what this is and what it could do.
pub(super) fn without_tool(question: &str, tools: &[ToolSpec]) -> String {
    let mut text = WHAT_IT_IS.to_owned();
    if tools.is_empty() {
        text.push_str(" No tools are offered to me, so I cannot answer that.");
        return text;
    }
    let about_itself =
        question.to_lowercase().contains("who are you") || question.to_lowercase().contains("what are you");
    text.push_str(if about_itself {
        " I call tools that a message clearly asks for:"
    } else {
        " None of my tools fits that message. I could call:"
    });
    for tool in tools.iter().take(NAMED_ENTRIES * 2) {
        let line = tool.description.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        let sentence = line.split_inclusive(". ").next().unwrap_or(line).trim();
        let _ = write!(text, "\n- {}: {}", tool.name, limits::prefix(sentence, VALUE_CHARS));
    }
    if tools.len() > NAMED_ENTRIES * 2 {
        let _ = write!(text, "\n- and {} more", tools.len() - NAMED_ENTRIES * 2);
    }
    text
}

/// A tool fits, but something it needs is not in the message.
pub(super) fn missing(tool: &str, missing: &[String]) -> String {
    let list = missing.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ");
    let it = if missing.len() == 1 { "it" } else { "them" };
    format!(
        "That sounds like {tool}, but the message does not say {list}. Please name {it}, for example in quotes. {WHAT_IT_IS}"
    )
}

/// The results of all calls in plain words.
pub(super) fn from_results(question: &str, results: &[&ToolResult], opening: bool) -> String {
    let mut paragraphs: Vec<String> = results.iter().map(|result| paragraph(question, result)).collect();
    if opening {
        paragraphs.push(FOOTNOTE.to_owned());
    }
    paragraphs.join("\n\n")
}

fn paragraph(question: &str, result: &ToolResult) -> String {
    let text = result.content.as_text();
    let name = &result.name;
    match result.outcome {
        Outcome::Error => format!("{name} did not work: {}", plain_error(&text)),
        Outcome::Denied => format!("{name} was not run, because it was not approved: {}", plain_error(&text)),
        Outcome::NotRun => format!("{name} was not run."),
        Outcome::Ok => match serde_json::from_str::<Value>(text.trim()) {
            Ok(Value::Object(object)) if says_error(&object) => format!("{name} did not work: {}", plain_error(&text)),
            Ok(value @ (Value::Object(_) | Value::Array(_))) => said(name, &summary(question, payload(&value))),
            Ok(Value::String(text)) => said(name, &quote(question, &text)),
            Ok(Value::Null) => format!("{name} gave nothing back."),
            Ok(Value::Bool(_) | Value::Number(_)) | Err(_) if text.trim().is_empty() => {
                format!("{name} gave nothing back.")
            }
            Ok(Value::Bool(_) | Value::Number(_)) | Err(_) => said(name, &quote(question, &text)),
        },
    }
}

fn said(name: &str, what: &str) -> String {
    let gap = if what.contains('\n') { '\n' } else { ' ' };
    format!("{name} says:{gap}{what}")
}

fn says_error(object: &Map<String, Value>) -> bool {
    object.get("error").is_some_and(Value::is_string) || object.get("success") == Some(&Value::Bool(false))
}

/// The message inside an error, however it is wrapped.
fn plain_error(text: &str) -> String {
    let value: Value = serde_json::from_str(text.trim()).unwrap_or_default();
    let error = value.get("error").unwrap_or(&value);
    let message = error.as_str().or_else(|| error.get("message").and_then(Value::as_str));
    limits::prefix(message.unwrap_or(text).trim(), QUOTED_CHARS).to_owned()
}

/// The payload of an envelope such as `{"success": true, "data": …}`.
fn payload(value: &Value) -> &Value {
    let enveloped = value.get("success").is_some_and(Value::is_boolean) || value.get("meta").is_some();
    value.get("data").filter(|data| enveloped && !data.is_null()).unwrap_or(value)
}

/// A text, whole when it is short; else the lines that share words with the question, or the first ones.
fn quote(question: &str, text: &str) -> String {
    let text = text.trim_end();
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() <= QUOTED_LINES && text.chars().count() <= QUOTED_CHARS {
        return text.to_owned();
    }
    let clip = |line: &str| limits::prefix(line, VALUE_CHARS * 2).to_owned();
    let asked: Vec<String> = words(question).into_iter().filter(|word| !is_stop_word(word)).collect();
    let matching = lines.iter().enumerate().filter(|(_, line)| words(line).iter().any(|word| asked.contains(word)));
    let matching: Vec<(usize, &str)> = matching.map(|(at, line)| (at + 1, *line)).take(QUOTED_LINES).collect();
    // Words that stand in most lines, such as the name of the file, point at nothing.
    if !matching.is_empty() && matching.len() < QUOTED_LINES && matching.len() * 2 < lines.len() {
        let quoted: Vec<String> = matching.iter().map(|(at, line)| format!("{at}: {}", clip(line))).collect();
        return format!("{} lines. Those that share words with the question:\n{}", lines.len(), quoted.join("\n"));
    }
    let quoted: Vec<String> = lines.iter().take(QUOTED_LINES).map(|line| clip(line)).collect();
    let more = lines.len().saturating_sub(QUOTED_LINES);
    let more = if more > 0 { format!("\n… and {more} more lines") } else { "…".to_owned() };
    format!("{}{more}", quoted.join("\n"))
}

fn summary(question: &str, value: &Value) -> String {
    match value {
        Value::Array(items) => list(items),
        Value::Object(object) => {
            // One long text in an object is what the object is about.
            let text = object.iter().find(|(key, value)| {
                matches!(key.as_str(), "content" | "output" | "body" | "text" | "stdout") && value.is_string()
            });
            if let Some((key, Value::String(text))) = text {
                let others: Vec<String> = object
                    .iter()
                    .filter(|(other, value)| *other != key && is_scalar(value))
                    .take(NAMED_ENTRIES)
                    .map(|(other, value)| format!("{other} {}", short(value)))
                    .collect();
                let lead = if others.is_empty() { String::new() } else { format!("{}\n", others.join(", ")) };
                return format!("{lead}{}", quote(question, text));
            }
            let rows = object.iter().find(|(key, value)| {
                matches!(key.as_str(), "rows" | "results" | "items" | "matches" | "files" | "entries")
                    && value.is_array()
            });
            match rows {
                Some((_, Value::Array(rows))) => list(rows),
                _ => entries(object),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => short(value),
    }
}

fn list(items: &[Value]) -> String {
    match items {
        [] => "nothing found (an empty list).".to_owned(),
        [Value::Object(row)] if row.len() == 1 => {
            row.iter().map(|(key, value)| format!("{key} is {}.", short(value))).collect()
        }
        _ => {
            let shown: Vec<String> =
                items.iter().take(NAMED_ENTRIES).map(|item| format!("- {}", short(item))).collect();
            let more = items.len().saturating_sub(NAMED_ENTRIES);
            let more = if more > 0 { format!("\n- and {more} more") } else { String::new() };
            let noun = if items.len() == 1 { "entry" } else { "entries" };
            format!("{} {noun}:\n{}{more}", items.len(), shown.join("\n"))
        }
    }
}

fn entries(object: &Map<String, Value>) -> String {
    if object.is_empty() {
        return "an empty object.".to_owned();
    }
    let shown: Vec<String> = object
        .iter()
        .take(NAMED_ENTRIES)
        .map(|(key, value)| match value {
            Value::Array(items) if items.len() > 3 => format!("- {key}: {} entries", items.len()),
            _ => format!("- {key}: {}", short(value)),
        })
        .collect();
    let more = object.len().saturating_sub(NAMED_ENTRIES);
    let more = if more > 0 { format!("\n- and {more} more") } else { String::new() };
    format!("\n{}{more}", shown.join("\n")).trim_start().to_owned()
}

fn is_scalar(value: &Value) -> bool {
    match value {
        Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    }
}

fn short(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Object(object) => {
            object.iter().map(|(key, value)| format!("{key} {}", short(value))).collect::<Vec<_>>().join(", ")
        }
        Value::Array(items) => items.iter().map(short).collect::<Vec<_>>().join(", "),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    };
    let cut = limits::prefix(&text, VALUE_CHARS);
    if cut.len() < text.len() { format!("{cut}…") } else { text }
}
