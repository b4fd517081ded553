//! Compares what the provider code made of an answer with what the exchange expects.

use super::exchange::{Exchange, Expect, ExpectedCall};
use cheliped::message::{CallFault, ToolCall};
use cheliped::provider::{ModelReply, ProviderError, StopReason};
use serde_json::{Value, json};
use std::collections::HashSet;

/// What came out of one exchange.
pub(crate) struct Got {
    /// Text pieces of the stream, joined.
    pub(crate) streamed_text: String,
    /// Thinking pieces of the stream, joined.
    pub(crate) streamed_thinking: String,
    /// Whether anything came behind the reply or the error.
    pub(crate) went_on: bool,
    /// The end; `None` when there was none.
    pub(crate) end: Option<Result<ModelReply, ProviderError>>,
}

/// Differences, one line each.
pub(crate) struct Misses<'a> {
    expect: &'a Expect,
    lines: Vec<String>,
}

/// Every difference between what is expected and what came.
pub(crate) fn check(exchange: &Exchange, got: &Got) -> Vec<String> {
    let expect = &exchange.expect;
    let mut misses = Misses { expect, lines: Vec::new() };
    if got.went_on {
        misses.say("the stream went on behind its end");
    }
    match &got.end {
        None => misses.say("the stream ended without a reply and without an error"),
        Some(Err(error)) => check_error(&mut misses, exchange, got, error),
        Some(Ok(reply)) => check_reply(&mut misses, exchange, got, reply),
    }
    misses.lines
}

impl Misses<'_> {
    fn say(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    fn equal<T: PartialEq + serde::Serialize>(&mut self, field: &str, expected: &T, got: &T) {
        if expected != got && !self.expect.ignores(field) {
            self.say(format!("{field}: expected {}, got {}", short(&json!(expected)), short(&json!(got))));
        }
    }
}

fn check_error(misses: &mut Misses<'_>, exchange: &Exchange, got: &Got, error: &ProviderError) {
    let expect = misses.expect;
    let kinds = expect.kinds();
    if !kinds.contains(&Some(error.kind.name())) {
        misses.say(format!("error_kind: expected {}, got {} ({error})", names(&kinds), error.kind.name()));
        return;
    }
    if exchange.is_stream() {
        if let Some(text) = &expect.text {
            misses.equal("text", text, &got.streamed_text);
        }
        let thinking = expect.thinking.clone().unwrap_or_default();
        misses.equal("thinking", &thinking, &got.streamed_thinking);
    }
    if let Some(message) = expect.error_message.as_ref().filter(|message| !error.message.contains(message.as_str())) {
        misses.say(format!("error_message: expected {message:?}, got {:?}", error.message));
    }
    if expect.error_code.is_some() {
        misses.equal("error_code", &expect.error_code, &error.code);
    }
    if let Some(retryable) = expect.retryable.filter(|_| !expect.retryable_any) {
        misses.equal("retryable", &retryable, &error.retryable);
    }
    let wait = error.retry_after.and_then(|wait| u64::try_from(wait.as_millis()).ok());
    match (&expect.retry_after_ms_any_of, expect.retry_after_ms) {
        (Some(any), _) if wait.is_some_and(|wait| any.contains(&wait)) => {}
        (Some(any), _) => misses.say(format!("retry_after_ms: expected one of {any:?}, got {wait:?}")),
        (None, Some(_)) => misses.equal("retry_after_ms", &expect.retry_after_ms, &wait),
        (None, None) => {}
    }
    if let Some(part) = &expect.failed_generation_contains
        && !error.failed_generation.as_ref().is_some_and(|text| text.contains(part))
    {
        misses.say(format!("failed_generation: expected it to contain {part:?}, got {:?}", error.failed_generation));
    }
}

fn check_reply(misses: &mut Misses<'_>, exchange: &Exchange, got: &Got, reply: &ModelReply) {
    let expect = misses.expect;
    let kinds = expect.kinds();
    if !kinds.contains(&None) {
        let text = short(&json!(reply.text));
        misses.say(format!("error_kind: expected {}, got a reply with the text {text}", names(&kinds)));
        return;
    }
    if let Some(text) = &expect.text {
        misses.equal("text", text, &reply.text);
    }
    misses.equal("thinking", &expect.thinking, &reply.thinking);
    if exchange.is_stream() {
        misses.equal("text pieces against the reply's text", &reply.text, &got.streamed_text);
        let thinking = reply.thinking.clone().unwrap_or_default();
        misses.equal("thinking pieces against the reply's thinking", &thinking, &got.streamed_thinking);
    }
    if let Some(signatures) = expect.signatures {
        misses.equal("signatures", &signatures, &signatures_of(reply));
    }
    if expect.refusal.is_some() {
        misses.equal("refusal", &expect.refusal, &reply.refusal);
    }
    let stop = serde_json::to_value(reply.stop).ok().and_then(|stop| stop.as_str().map(str::to_owned));
    // A null reason stands for a reply in which the provider gave none.
    match &expect.finish_reason {
        Some(_) => misses.equal("finish_reason", &expect.finish_reason, &stop),
        None if reply.stop_raw.is_some() && !expect.ignores("finish_reason") => {
            misses.say(format!("finish_reason: expected none, got {stop:?}"));
        }
        None => {}
    }
    misses.equal("finish_reason_raw", &expect.finish_reason_raw, &reply.stop_raw);
    let usage = reply.usage;
    misses.equal("input_tokens", &expect.input_tokens, &usage.input_tokens);
    misses.equal("output_tokens", &expect.output_tokens, &usage.output_tokens);
    misses.equal("cache_read_tokens", &expect.cache_read_tokens, &usage.cache_read_tokens);
    misses.equal("cache_write_tokens", &expect.cache_write_tokens, &usage.cache_write_tokens);
    misses.equal("reasoning_tokens", &expect.reasoning_tokens, &usage.reasoning_tokens);
    misses.equal("input_tokens_total", &expect.input_tokens_total, &usage.input_tokens_total);
    if !expect.ignores("tool_calls") {
        check_calls(misses, reply);
    }
}

fn check_calls(misses: &mut Misses<'_>, reply: &ModelReply) {
    let expect = misses.expect;
    let expected: Vec<&str> = expect.tool_calls.iter().map(|call| call.name.as_str()).collect();
    let got: Vec<&str> = reply.calls.iter().map(|call| call.name.as_ref()).collect();
    misses.equal("tool_calls", &expected, &got);
    for (index, (expected, got)) in expect.tool_calls.iter().zip(&reply.calls).enumerate() {
        if expected.name == got.name.as_ref() {
            check_call(misses, index, expected, got, reply.stop);
        }
    }
    let own: Vec<&str> = reply.calls.iter().map(|call| call.id.as_ref()).filter(|id| !id.is_empty()).collect();
    if own.iter().collect::<HashSet<_>>().len() < own.len() {
        misses.say(format!("tool_calls: ids are not unique: {own:?}"));
    }
}

fn check_call(misses: &mut Misses<'_>, index: usize, expected: &ExpectedCall, got: &ToolCall, stop: StopReason) {
    let field = |name: &str| format!("tool_calls[{index}].{name}");
    let id = got.provider_id.as_deref();
    // Where a client makes its own ids, it may keep the provider's beside them. An empty id is none.
    let own_id_is_fine = misses.expect.generated_ids && id.is_none();
    if id != expected.id.as_deref().filter(|id| !id.is_empty()) && !own_id_is_fine {
        misses.say(format!("{}: expected {:?}, got {id:?}", field("id"), expected.id));
    }
    let broken = expected.arguments.is_null();
    let cut = stop == StopReason::Length && expected.arguments_error.is_some();
    match got.fault.as_deref() {
        Some(CallFault::Malformed { raw } | CallFault::Cut { raw }) if broken || cut => {
            if let Some(expected_raw) = expected.arguments_raw.as_ref().filter(|expected| expected.as_str() != &**raw) {
                misses.say(format!("{}: expected {expected_raw:?}, got {raw:?}", field("arguments_raw")));
            }
        }
        // A call inside a failed generation is never run, however it is kept.
        Some(_) if stop == StopReason::Error => {}
        Some(fault) => misses.say(format!("{}: expected {}, got {fault:?}", field("arguments"), expected.arguments)),
        None if broken || cut => {
            misses.say(format!("{}: the call must not run, got {}", field("arguments"), got.arguments));
        }
        None if got.arguments.value() != expected.arguments => {
            misses.say(format!("{}: expected {}, got {}", field("arguments"), expected.arguments, got.arguments));
        }
        None => {}
    }
}

/// Signatures and encrypted reasoning that are kept for the next request.
fn signatures_of(reply: &ModelReply) -> usize {
    fn count(value: &Value) -> usize {
        match value {
            Value::Object(members) => members
                .iter()
                .map(|(key, value)| match key.as_str() {
                    "signature" | "thoughtSignature" | "thought_signature" | "encrypted_content" => {
                        usize::from(value.as_str().is_some_and(|text| !text.is_empty()))
                    }
                    _ => count(value),
                })
                .sum(),
            Value::Array(items) => items.iter().map(count).sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
        }
    }
    let blocks = reply.native.as_ref().and_then(|native| serde_json::from_str(&native.blocks).ok());
    blocks.as_ref().map_or(0, count)
}

fn names(kinds: &[Option<&str>]) -> String {
    kinds.iter().map(|kind| kind.unwrap_or("no error")).collect::<Vec<_>>().join(" or ")
}

/// JSON on one line, long ones cut in the middle.
pub(crate) fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 200 {
        return text;
    }
    let head: String = text.chars().take(120).collect();
    let tail: String = text.chars().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect();
    format!("{head} […] {tail}")
}
