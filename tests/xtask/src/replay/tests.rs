//! A replay that cannot fail proves nothing: here it has to.

use super::shape::{Api, compare};
use super::*;
use serde_json::json;

/// A folder with these exchanges, gone with the value.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str, exchanges: &[Value]) -> Self {
        let folder = std::env::temp_dir().join(format!("cheliped-replay-{name}-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("below")).unwrap();
        for (index, exchange) in exchanges.iter().enumerate() {
            std::fs::write(folder.join(format!("below/{index}.json")), exchange.to_string()).unwrap();
        }
        std::fs::write(folder.join("index.json"), "[]").unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn exchange() -> Value {
    let call = json!({"id": "call_1", "type": "function",
        "function": {"name": "add", "arguments": "{\"a\": 1}"}});
    json!({"id": "a/b", "provider": "openai", "api": "chat", "model": "gpt-4o-mini", "tags": [],
        "request": {"body": null},
        "response": {"status": 200, "headers": {"content-type": "application/json"}, "body": {
            "choices": [{"index": 0, "finish_reason": "tool_calls",
                "message": {"role": "assistant", "content": "So", "tool_calls": [call]}}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 3}}},
        "expect": {"text": "So", "thinking": null, "finish_reason": "tool_calls", "finish_reason_raw": "tool_calls",
            "tool_calls": [{"id": "call_1", "name": "add", "arguments": {"a": 1}}],
            "input_tokens": 7, "output_tokens": 3, "input_tokens_total": 7, "error_kind": null}})
}

fn stream() -> Value {
    let mut exchange = exchange();
    let events = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Grü\"}}]}\r\n\r\n\
                  data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ße\"},\"finish_reason\":\"stop\"}]}\n\n";
    exchange["response"] = json!({"status": 200, "headers": {"content-type": "text/event-stream"}, "sse": events});
    exchange["expect"] = json!({"text": "Grüße", "finish_reason": "stop", "finish_reason_raw": "stop"});
    exchange
}

fn run_all(name: &str, exchanges: &[Value]) -> Outcomes {
    let folder = Folder::new(name, exchanges);
    replay(&folder.0, None).unwrap()
}

/// The one line that a changed exchange gives.
fn miss(name: &str, exchange: Value) -> String {
    let outcomes = run_all(name, &[exchange]);
    assert_eq!((outcomes.failed, outcomes.misses.len()), (1, 1), "{:?}", outcomes.misses);
    outcomes.misses.into_iter().next().unwrap()
}

#[test]
fn good_exchanges_pass_and_streams_pass_twice() {
    let outcomes = run_all("good", &[exchange(), stream()]);
    assert_eq!((outcomes.passed, outcomes.failed), (3, 0), "{:?}", outcomes.misses);
}

#[test]
fn every_wrong_expectation_is_a_miss() {
    let wrong = [
        ("text", json!("No")),
        ("thinking", json!("Hm")),
        ("finish_reason", json!("stop")),
        ("finish_reason_raw", json!("stop")),
        ("input_tokens", json!(8)),
        ("output_tokens", json!(null)),
        ("cache_read_tokens", json!(0)),
        ("signatures", json!(1)),
        ("refusal", json!("no")),
        ("error_kind", json!("server")),
    ];
    for (field, value) in wrong {
        let mut exchange = exchange();
        exchange["expect"][field] = value;
        let line = miss("wrong", exchange);
        assert!(line.starts_with("a/b [whole] ") && line.contains(field), "{field}: {line}");
    }
    for (field, value) in [("id", json!("x")), ("name", json!("x")), ("arguments", json!({"a": 2}))] {
        let mut exchange = exchange();
        exchange["expect"]["tool_calls"][0][field] = value;
        assert!(miss("wrong-call", exchange).contains("tool_calls"), "{field}");
    }
}

#[test]
fn what_is_not_understood_fails() {
    for (pointer, value, expected) in [
        ("api", json!("telegraph"), "telegraph"),
        ("response", json!({"status": 200, "body": {}, "transport": {"pigeon": 1}}), "pigeon"),
        ("expect", json!({"text": "So", "colour": "red"}), "colour"),
    ] {
        let mut exchange = exchange();
        exchange[pointer] = value;
        assert!(miss("unknown", exchange).contains(expected));
    }
    let folder = Folder::new("empty", &[]);
    assert!(replay(&folder.0, None).is_err());
    assert!(replay(&folder.0.join("nowhere"), None).is_err());
}

#[test]
fn a_broken_connection_is_seen() {
    let mut broken = stream();
    broken["response"]["transport"] = json!({"close_after_bytes": 20});
    let outcomes = run_all("broken", &[broken]);
    assert_eq!(outcomes.failed, 2, "{:?}", outcomes.misses);
}

#[test]
fn differences_between_requests_are_told() {
    let body = |id: &str, roles: [&str; 2]| {
        json!({"messages": [
            {"role": roles[0], "content": [{"type": "text", "text": "Add."}]},
            {"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function",
                "function": {"name": "add", "arguments": "{\"a\": 1, \"b\": 2}"}}]},
            {"role": roles[1], "tool_call_id": "call_1", "content": "3"}],
            "tools": [{"type": "function", "function": {"name": "add"}}]})
    };
    let mut recorded = exchange();
    recorded["request"]["body"] = body("call_1", ["user", "tool"]);
    let recorded: Exchange = serde_json::from_value(recorded).unwrap();
    let differences = |sent: Value| compare(&recorded, Api::Chat, &sent);
    // Spelled in another way, the same is the same.
    let mut same = body("call_1", ["user", "tool"]);
    same["messages"][0]["content"] = json!("Add.");
    same["messages"][1]["content"] = json!("");
    same["messages"][1]["tool_calls"][0]["function"]["arguments"] = json!("{\"b\":2,\"a\":1}");
    assert_eq!(differences(same), Vec::<String>::new());
    assert!(differences(body("call_2", ["user", "tool"]))[0].contains("turn 1"));
    assert!(differences(body("call_1", ["system", "tool"]))[0].contains("turn 0"));
    assert!(differences(body("call_1", ["user", "user"]))[0].contains("turn 2"));
    let mut without_tools = body("call_1", ["user", "tool"]);
    without_tools["tools"] = json!([]);
    assert!(differences(without_tools)[0].contains("tools"));
}
