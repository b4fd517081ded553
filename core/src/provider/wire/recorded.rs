//! Recorded and synthetic exchanges against the decoders, when the folder of them is named by `CHELIPED_FIXTURES`.

use super::anthropic::Anthropic;
use super::chat::Chat;
use super::chat::dialect::Dialect;
use super::gemini::Gemini;
use super::ollama::Ollama;
use super::responses::Responses;
use super::{Decoder, Wire};
use crate::message::{CallFault, ToolCall, Usage};
use crate::provider::sse::Splitter;
use crate::provider::{ModelReply, ProviderError, StopReason, StreamPart, retry_hint};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use std::path::Path;

/// What one exchange gave.
struct Given {
    reply: Result<ModelReply, ProviderError>,
    /// Text and thinking as they were streamed; `None` for whole replies.
    streamed: Option<(String, String)>,
}

fn exchange<W: Wire>(wire: &W, response: &Value, step: usize) -> Given {
    let status = u16::try_from(response["status"].as_u64().unwrap()).unwrap();
    let body = response["sse"].as_str().or_else(|| response["raw"].as_str()).map_or_else(
        || response.get("body").map_or_else(String::new, Value::to_string).into_bytes(),
        |text| text.as_bytes().to_vec(),
    );
    let end =
        response["transport"]["close_after_bytes"].as_u64().map_or(body.len(), |end| usize::try_from(end).unwrap());
    let body = &body[..end.min(body.len())];
    if !(200..300).contains(&status) {
        let mut headers = HeaderMap::new();
        for (name, value) in response["headers"].as_object().unwrap() {
            let value = HeaderValue::from_str(value.as_str().unwrap()).unwrap();
            headers.insert(HeaderName::try_from(name.as_str()).unwrap(), value);
        }
        let error = wire.decode_error(status, body, retry_hint::from_headers(status, &headers, 0));
        return Given { reply: Err(error), streamed: None };
    }
    if response.get("sse").is_none() {
        return Given { reply: wire.decode(body), streamed: None };
    }
    let mut parts = Vec::new();
    let reply = stream(wire, body, step, &mut parts);
    let (mut text, mut thinking) = (String::new(), String::new());
    for part in parts {
        match part {
            StreamPart::Text(more) => text.push_str(&more),
            StreamPart::Thinking(more) => thinking.push_str(&more),
            StreamPart::Reply(_) => panic!("decoders give the reply at the end"),
        }
    }
    Given { reply, streamed: Some((text, thinking)) }
}

fn stream<W: Wire>(
    wire: &W,
    body: &[u8],
    step: usize,
    parts: &mut Vec<StreamPart>,
) -> Result<ModelReply, ProviderError> {
    let mut splitter = Splitter::new(wire.framing(), 1 << 20);
    let mut decoder = wire.decoder();
    for piece in body.chunks(step) {
        splitter.push(piece.to_vec().into());
        while let Some(event) = splitter.next().unwrap() {
            decoder.event(event.name, event.data, parts)?;
        }
    }
    if let Some(event) = splitter.finish().unwrap() {
        decoder.event(event.name, event.data, parts)?;
    }
    decoder.finish()
}

fn stop_name(stop: StopReason) -> &'static str {
    match stop {
        StopReason::Stop => "stop",
        StopReason::Length => "length",
        StopReason::ToolCalls => "tool_calls",
        StopReason::ContentFilter => "content_filter",
        StopReason::Refusal => "refusal",
        StopReason::Pause => "pause",
        StopReason::Error => "error",
        StopReason::Other => "other",
    }
}

fn check_call(call: &ToolCall, expected: &Value, cut: bool) -> Result<(), String> {
    let id = expected["id"].as_str().filter(|id| !id.is_empty());
    if &*call.name != expected["name"].as_str().unwrap() || call.provider_id.as_deref() != id {
        return Err(format!("call is {call:?}, expected {expected}"));
    }
    let unusual = expected.get("arguments_error").and_then(Value::as_str);
    let fits = match (unusual, call.fault.as_deref()) {
        (Some("invalid_json"), Some(CallFault::Malformed { raw } | CallFault::Cut { raw })) => {
            expected.get("arguments_raw").is_none_or(|expected| expected.as_str() == Some(raw))
        }
        (Some("empty" | "null"), Some(CallFault::Cut { .. })) => cut,
        (Some("invalid_json"), None) | (_, Some(_)) => false,
        (_, None) => call.arguments.value() == expected["arguments"],
    };
    if fits { Ok(()) } else { Err(format!("arguments are {call:?}, expected {expected}")) }
}

fn check_reply(reply: &ModelReply, expected: &Value, ignored: &[&str]) -> Vec<String> {
    let mut misses = Vec::new();
    let mut same = |key: &str, got: Value| {
        let want = expected.get(key).cloned().unwrap_or(Value::Null);
        if got != want && !ignored.contains(&key) {
            misses.push(format!("{key} is {got}, expected {want}"));
        }
    };
    let Usage {
        input_tokens,
        output_tokens,
        cache_read_tokens,
        cache_write_tokens,
        reasoning_tokens,
        input_tokens_total,
    } = reply.usage;
    same("input_tokens", input_tokens.into());
    same("output_tokens", output_tokens.into());
    same("cache_read_tokens", cache_read_tokens.into());
    same("cache_write_tokens", cache_write_tokens.into());
    same("reasoning_tokens", reasoning_tokens.into());
    same("input_tokens_total", input_tokens_total.into());
    same("text", reply.text.clone().into());
    same("thinking", reply.thinking.clone().into());
    same("finish_reason", stop_name(reply.stop).into());
    same("finish_reason_raw", reply.stop_raw.clone().into());
    if expected.get("refusal").is_some() {
        same("refusal", reply.refusal.clone().into());
    }
    let native = reply.native.as_ref().map_or("", |native| &native.blocks);
    if !native.is_empty() && serde_json::from_str::<Value>(native).is_err() {
        misses.push(format!("native blocks are no JSON: {native}"));
    }
    let signatures = ["\"signature\":\"", "\"thoughtSignature\":\""]
        .iter()
        .map(|key| native.replace(": ", ":").split(*key).skip(1).filter(|rest| !rest.starts_with('"')).count())
        .sum::<usize>();
    let wanted = expected.get("signatures").and_then(Value::as_u64).unwrap_or(0);
    if signatures as u64 != wanted && !ignored.contains(&"signatures") {
        misses.push(format!("{signatures} signatures, expected {wanted}"));
    }
    if !ignored.contains(&"tool_calls") {
        let calls = expected["tool_calls"].as_array().unwrap();
        if reply.calls.len() != calls.len() {
            misses.push(format!("{} calls, expected {}", reply.calls.len(), calls.len()));
        }
        let cut = reply.stop == StopReason::Length;
        misses.extend(reply.calls.iter().zip(calls).filter_map(|(call, wanted)| check_call(call, wanted, cut).err()));
    }
    misses
}

fn check_error(error: &ProviderError, expected: &Value) -> Vec<String> {
    let mut misses = Vec::new();
    let kinds: Vec<&str> = match expected.get("error_kind_any_of").and_then(Value::as_array) {
        Some(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        None => expected["error_kind"].as_str().into_iter().collect(),
    };
    if !kinds.contains(&error.kind.name()) {
        misses.push(format!("error is {error:?}, expected {kinds:?}"));
    }
    if let Some(message) = expected.get("error_message").and_then(Value::as_str)
        && error.message != message
    {
        misses.push(format!("message is {:?}, expected {message:?}", error.message));
    }
    if let Some(retryable) = expected.get("retryable").and_then(Value::as_bool)
        && error.retryable != retryable
        && expected.get("retryable_any").is_none()
    {
        misses.push(format!("retryable is {}, expected {retryable}", error.retryable));
    }
    if let Some(wait) = expected.get("retry_after_ms").and_then(Value::as_u64)
        && error.retry_after.map(|wait| wait.as_millis()) != Some(u128::from(wait))
    {
        misses.push(format!("wait is {:?}, expected {wait} ms", error.retry_after));
    }
    misses
}

fn check<W: Wire>(case: &Value, wire: &W, step: usize) -> Vec<String> {
    let expected = &case["expect"];
    let ignored: Vec<&str> =
        expected.get("ignore").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let given = exchange(wire, &case["response"], step);
    let mut misses = match &given.reply {
        Ok(reply) if expected["error_kind"].is_null() => check_reply(reply, expected, &ignored),
        Ok(reply) => vec![format!("got {reply:?}, expected the error {}", expected["error_kind"])],
        Err(error) => check_error(error, expected),
    };
    if let Some((text, thinking)) = given.streamed {
        if text != expected["text"].as_str().unwrap() {
            misses.push(format!("streamed text is {text:?}"));
        }
        if Some(thinking.as_str()).filter(|text| !text.is_empty()) != expected["thinking"].as_str() {
            misses.push(format!("streamed thinking is {thinking:?}"));
        }
    }
    misses
}

fn replay<W: Wire>(folder: &str, api: &str, least: usize, wire: impl Fn(&str) -> W) {
    let Some(root) = std::env::var_os("CHELIPED_FIXTURES") else {
        println!("skipped: CHELIPED_FIXTURES names no folder of exchanges");
        return;
    };
    let mut misses = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(Path::new(&root).join(folder)).unwrap() {
        let case: Value = serde_json::from_slice(&std::fs::read(entry.unwrap().path()).unwrap()).unwrap();
        // A server that falls silent is a matter of the connection.
        if case["api"] != api || !case["response"]["transport"]["hang_ms"].is_null() {
            continue;
        }
        count += 1;
        let wire = wire(case["model"].as_str().unwrap());
        for step in [usize::MAX, 1, 7] {
            misses.extend(check(&case, &wire, step).iter().map(|miss| format!("{} by {step}: {miss}", case["id"])));
        }
    }
    assert!(misses.is_empty(), "{} misses:\n{}", misses.len(), misses.join("\n"));
    assert!(count >= least, "only {count} exchanges of {api} found");
    println!("{count} exchanges of {api} replayed");
}

#[test]
fn anthropic_exchanges() {
    replay("anthropic", "messages", 11, |model| Anthropic::new("http://127.0.0.1", None, model));
}

#[test]
fn gemini_exchanges() {
    replay("gemini", "generateContent", 11, |model| Gemini::new("http://127.0.0.1", None, model));
}

#[test]
fn chat_exchanges() {
    let url = || "http://127.0.0.1/v1/chat/completions".to_owned();
    for (folder, least) in [
        ("openai", 30),
        ("groq", 12),
        ("mistral", 14),
        ("deepseek", 11),
        ("ollama", 1),
        ("compatible", 24),
        ("gemini", 1),
    ] {
        replay(folder, "chat", least, |model| Chat::new(Dialect::of(folder), url(), None, model));
    }
}

#[test]
fn responses_exchanges() {
    let url = || "http://127.0.0.1/v1/responses".to_owned();
    replay("openai", "responses", 7, |model| Responses::new(url(), None, model));
    replay("compatible", "responses", 1, |model| Responses::new(url(), None, model));
}

#[test]
fn ollama_exchanges() {
    replay("ollama", "ollama-chat", 11, |model| Ollama::new("http://127.0.0.1/api/chat".to_owned(), None, model));
}
