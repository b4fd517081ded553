//! Compares what a vector expects with what happened.

use super::format::{Case, Mode};
use super::play::{Cut, play};
use serde_json::{Map, Value};

/// Keys that an expectation may have.
const KEYS: [&str; 29] = [
    "text",
    "error",
    "failed",
    "stop_reason",
    "provider",
    "model",
    "iterations",
    "tools_called",
    "usage",
    "steps",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "thinking",
    "run_id",
    "persist_error",
    "events",
    "event_payloads",
    "requests",
    "tool_inputs",
    "gate",
    "results",
    "history",
    "saves",
    "conversation",
    "stream",
    "stream_events",
    "replay",
];

/// Events that only a stream has, or has at another place.
const STREAM_EVENTS: [&str; 4] = ["stream.start", "stream.end", "stream.abort", "run.text_discarded"];

/// Runs a case in each of its ways and gives what differs from what it expects.
pub fn check(case: &Case) -> Vec<String> {
    let mut problems = malformed(case);
    for mode in case.modes() {
        let found = match play(case, mode, Cut::Nowhere) {
            Err(problem) => vec![problem],
            Ok(played) => played.outcome.map_or_else(Vec::new, |outcome| differences(case, mode, &outcome)),
        };
        problems.extend(found.into_iter().map(|problem| format!("{mode:?}: {problem}")));
    }
    problems
}

/// Keys that are wrong or missing in the expectation.
fn malformed(case: &Case) -> Vec<String> {
    let expect = &case.expect;
    let mut problems: Vec<String> =
        expect.keys().filter(|key| !KEYS.contains(&key.as_str())).map(|key| format!("unknown key {key:?}")).collect();
    if expect.contains_key("text") == expect.contains_key("error") {
        problems.push("expect either \"text\" or \"error\"".into());
    }
    for key in ["events", "tools_called"] {
        if !expect.contains_key(key) && (key == "events" || expect.contains_key("text")) {
            problems.push(format!("expect {key:?}"));
        }
    }
    problems
}

/// What differs between the expectation of a case and an outcome.
pub fn differences(case: &Case, mode: Mode, outcome: &Map<String, Value>) -> Vec<String> {
    let mut problems = Vec::new();
    for (key, expected) in &case.expect {
        match key.as_str() {
            "events" => events(mode, expected, outcome, &mut problems),
            "event_payloads" => payloads(expected, outcome, &mut problems),
            "stream" | "stream_events" if mode != Mode::Live => {}
            "replay" if mode != Mode::Replay => {}
            "replay" => compare(key, expected, outcome.get("stream"), &mut problems),
            "stream_events" => compare(key, expected, outcome.get("events"), &mut problems),
            _ => compare(key, expected, outcome.get(key), &mut problems),
        }
    }
    if !case.expect.contains_key("error") {
        compare("error", &Value::Null, outcome.get("error"), &mut problems);
    }
    if let (Some(stream), Some(text @ Value::String(_))) = (outcome.get("stream"), outcome.get("text")) {
        compare("stream.joined", text, stream.get("joined"), &mut problems);
    }
    problems
}

/// A stream has the same events as a run that is waited for, and its own beside them.
fn events(mode: Mode, expected: &Value, outcome: &Map<String, Value>, problems: &mut Vec<String>) {
    let drop = |value: &Value| -> Value {
        let kept = value.as_array().into_iter().flatten();
        kept.filter(|name| mode == Mode::Send || !STREAM_EVENTS.iter().any(|only| *name == only)).cloned().collect()
    };
    let (expected, seen) = (drop(expected), drop(outcome.get("events").unwrap_or(&Value::Null)));
    if expected != seen {
        problems.push(format!("events\n  expected {}\n  got      {}", names(&expected), names(&seen)));
    }
}

fn names(list: &Value) -> String {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
}

/// Each expected payload is a part of that of the event of that name and place.
fn payloads(expected: &Value, outcome: &Map<String, Value>, problems: &mut Vec<String>) {
    let seen = outcome.get("event_payloads").and_then(Value::as_array).cloned().unwrap_or_default();
    for wanted in expected.as_array().into_iter().flatten() {
        let unknown = wanted
            .as_object()
            .into_iter()
            .flat_map(Map::keys)
            .find(|key| !["event", "index", "payload"].contains(&key.as_str()));
        if let Some(key) = unknown {
            problems.push(format!("event_payloads: unknown key {key:?}"));
        }
        let index = wanted.get("index").and_then(Value::as_u64).unwrap_or(0);
        let name = wanted.get("event").unwrap_or(&Value::Null);
        let mut named = seen.iter().filter(|event| event.get("event") == Some(name));
        let found = named.nth(usize::try_from(index).unwrap_or(usize::MAX));
        let path = format!("event {name} {index}");
        let payload = found.and_then(|event| event.get("payload"));
        compare(&path, wanted.get("payload").unwrap_or(&Value::Null), payload, problems);
    }
}

/// Objects may hold more than expected; everything else must be equal.
fn compare(path: &str, expected: &Value, seen: Option<&Value>, problems: &mut Vec<String>) {
    match (expected, seen) {
        (Value::Object(expected), Some(Value::Object(seen))) => {
            for (key, value) in expected {
                compare(&format!("{path}.{key}"), value, seen.get(key), problems);
            }
        }
        (Value::Array(expected), Some(Value::Array(seen))) if expected.len() == seen.len() => {
            for (index, (expected, seen)) in expected.iter().zip(seen).enumerate() {
                compare(&format!("{path}[{index}]"), expected, Some(seen), problems);
            }
        }
        (expected, Some(seen)) if expected == seen => {}
        (expected, Some(seen)) => problems.push(format!("{path}\n  expected {expected}\n  got      {seen}")),
        (expected, None) => problems.push(format!("{path}\n  expected {expected}\n  got      nothing")),
    }
}
