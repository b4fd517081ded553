//! Tool calls in a few words.

use super::escape;
use serde_json::{Map, Value};
use std::time::Duration;

/// Characters of one argument.
const ARGUMENT: usize = 40;
/// Characters of all arguments.
const ARGUMENTS: usize = 60;

/// The arguments of a call on one line: `path=README.md limit=20`.
pub(super) fn arguments(json: &str) -> String {
    let Ok(arguments) = serde_json::from_str::<Map<String, Value>>(json) else { return escape::line(json, ARGUMENTS) };
    let words: Vec<String> = arguments
        .iter()
        .map(|(name, value)| {
            let value = match value {
                Value::String(text) if text.contains(' ') || text.is_empty() => format!("\"{text}\""),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            format!("{}={}", escape::line(name, ARGUMENT), escape::line(&value, ARGUMENT))
        })
        .collect();
    // Escaped already; a second time changes nothing but the length.
    escape::line(&words.join(" "), ARGUMENTS)
}

/// The start of a result that says why a call failed.
pub(super) fn result(text: &str) -> String {
    let said = serde_json::from_str::<Map<String, Value>>(text).ok();
    let error = said.as_ref().and_then(|said| said.get("error")).and_then(Value::as_str);
    escape::line(error.unwrap_or(text).trim(), 120)
}

/// A number of bytes.
pub(super) fn size(bytes: usize) -> String {
    match bytes {
        0 => "nothing".to_owned(),
        1..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        1_048_576.. => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

/// A time.
pub(super) fn duration(time: Duration) -> String {
    match time.as_millis() {
        millis @ 0..1000 => format!("{millis} ms"),
        1000..60_000 => format!("{:.1} s", time.as_secs_f64()),
        _ => format!("{} min {} s", time.as_secs() / 60, time.as_secs() % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_short() {
        assert_eq!(arguments(r#"{"path":"README.md","limit":20}"#), "path=README.md limit=20");
        assert_eq!(arguments(r#"{"search":"two words","e":"","on":true}"#), "search=\"two words\" e=\"\" on=true");
        assert_eq!(arguments("{}"), "");
        assert_eq!(arguments(r#"{"a":"\u001b[2J\n"}"#), "a=\\u{1b}[2J ");
        assert!(arguments(&format!(r#"{{"a":"{}","b":"{}"}}"#, "x".repeat(99), "y".repeat(99))).chars().count() <= 61);
        assert_eq!(result(r#"{"error":"no such file"}"#), "no such file");
        assert_eq!(result("plain\nwords"), "plain words");
    }

    #[test]
    fn sizes_and_times_are_for_people() {
        assert_eq!([size(0), size(1023), size(1536), size(3 << 20)], ["nothing", "1023 B", "1.5 KiB", "3.0 MiB"]);
        let times = [7, 1500, 61_000].map(|millis| duration(Duration::from_millis(millis)));
        assert_eq!(times, ["7 ms", "1.5 s", "1 min 1 s"]);
    }
}
