//! Good inputs to start from: the written exchanges, and a few lines for parsers that they do not reach.

use crate::workspace;
use serde_json::Value;
use std::path::Path;

/// Seeds for a target: of the exchanges those of its API, or all when it belongs to none.
pub(crate) fn of(target: &str) -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = match target {
        "arguments" => [
            r#"{"path": "src/main.rs", "limit": 20, "deep": true, "list": [1, 2.5, null], "s": "é\n\u00e9"}"#,
            r#"{"n": 123456789012345678901234567890, "f": 0.1000, "o": {"b": 1, "a": {"x": "{\"y\": 1}"}}}"#,
            r#""{\"path\": \"a\"}""#,
            r#"{"a":1,"a":2}"#,
        ]
        .map(|text| text.as_bytes().to_vec())
        .to_vec(),
        "retry_hint" => ["1", "600ms", "6m0s", "34.4s", "Wed, 21 Oct 2026 07:28:00 GMT", "try again in 7.66s"]
            .map(|text| text.as_bytes().to_vec())
            .to_vec(),
        _ => Vec::new(),
    };
    if TEXTS.contains(&target) {
        texts(&workspace::root().join("tests/corpora"), &mut seeds);
        return seeds;
    }
    collect(&workspace::root().join("tests/fixtures/providers"), target, &mut seeds);
    if seeds.is_empty() {
        seeds.push(b"{}".to_vec());
    }
    seeds
}

/// Targets that read what people and tools write.
const TEXTS: [&str; 15] = [
    "command",
    "url",
    "tool_output",
    "answer",
    "fold",
    "injection",
    "unicode",
    "homoglyph",
    "role_switch",
    "code_injection",
    "destructive_sql",
    "pii_detection",
    "redaction",
    "secrets",
    "tool_output",
];

/// The texts of the corpora.
fn texts(folder: &Path, seeds: &mut Vec<Vec<u8>>) {
    let mut files: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path()).collect();
    files.sort();
    for file in files {
        for line in std::fs::read_to_string(file).unwrap_or_default().lines() {
            let line: Value = serde_json::from_str(line).unwrap_or_default();
            if let Some(text) = line.get("input").and_then(Value::as_str) {
                seeds.push(text.as_bytes().to_vec());
            }
        }
    }
}

fn collect(folder: &Path, target: &str, seeds: &mut Vec<Vec<u8>>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path()).collect();
    // The order of a folder differs between machines; the inputs must not.
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, target, seeds);
            continue;
        }
        let exchange = std::fs::read(&path).ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok());
        let Some(exchange) = exchange else { continue };
        let api = exchange.get("api").and_then(Value::as_str).unwrap_or_default();
        if api_of(target).is_some_and(|wanted| wanted != api) {
            continue;
        }
        let response = exchange.get("response").cloned().unwrap_or_default();
        let text = ["sse", "raw"].into_iter().find_map(|field| response.get(field)?.as_str().map(str::to_owned));
        let body = || response.get("body").map(Value::to_string);
        seeds.extend(text.or_else(body).map(String::into_bytes));
    }
}

/// The API whose answers a target reads.
fn api_of(target: &str) -> Option<&'static str> {
    match target {
        "anthropic" => Some("messages"),
        "chat" => Some("chat"),
        "responses" => Some("responses"),
        "gemini" => Some("generateContent"),
        "ollama" => Some("ollama-chat"),
        _ => None,
    }
}

/// A number of its own for each target, so that all do not see the same dice.
pub(crate) fn number_of(target: &str) -> u64 {
    target.bytes().fold(0, |number: u64, byte| number.wrapping_mul(31).wrapping_add(byte.into()))
}
