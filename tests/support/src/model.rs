//! A model without a mind: what it answers stands in its name. For measuring, and for tests of whole runs.
//!
//! It speaks the chat-completions shape (`/v1/chat/completions`) and the messages shape (`/v1/messages`), whole and
//! streamed. Words of a name, joined with `-`:
//!
//! | words | answer |
//! |---|---|
//! | `answer` | [`ANSWER`] at once |
//! | `tools-N` | N rounds of one call `add {a, b}`, then [`ANSWER`] |
//! | `tools-N-par-K` | N rounds of K calls |
//! | `stream-T` | T times `" tok"` |
//! | `lat-MS` behind them | waits so many milliseconds first |
//! | `gap-US` behind them | waits so many microseconds between two streamed pieces |
//!
//! It keeps no state: the round follows from the conversation. A conversation whose tool results lack the right sums
//! is answered with status 422.

use crate::{Answer, Cut, Request};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What it says in the end.
pub const ANSWER: &str = "The answer is 42.";

/// Makes ids differ between answers.
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Script {
    rounds: usize,
    parallel: usize,
    tokens: usize,
    latency: Duration,
    gap: Duration,
}

impl Script {
    fn of(model: &str) -> Option<Self> {
        let name = model.rsplit(['/', ':']).next()?;
        let mut script = Self { parallel: 1, ..Self::default() };
        let mut words = name.split('-');
        let mut says_what = false;
        while let Some(word) = words.next() {
            if word == "answer" {
                says_what = true;
                continue;
            }
            let number: u32 = words.next()?.parse().ok()?;
            match word {
                "tools" => (script.rounds, says_what) = (number as usize, true),
                "stream" => (script.tokens, says_what) = (number as usize, true),
                "par" => script.parallel = (number as usize).clamp(1, 256),
                "lat" => script.latency = Duration::from_millis(number.into()),
                "gap" => script.gap = Duration::from_micros(number.into()),
                _ => return None,
            }
        }
        says_what.then_some(script)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Chat,
    Messages,
}

/// One call of a round: id and arguments.
struct Call {
    id: String,
    arguments: String,
}

enum Turn {
    Text(String),
    Calls(Vec<Call>),
}

/// Answers a request to either path.
pub fn answer(request: &Request) -> Answer {
    let shape = match request.path.split('?').next() {
        Some("/v1/chat/completions") => Shape::Chat,
        Some("/v1/messages") => Shape::Messages,
        _ => return refused(404, "no such path"),
    };
    let body = request.json();
    let model = body.get("model").and_then(Value::as_str).unwrap_or_default();
    let Some(script) = Script::of(model) else {
        return refused(404, &format!("the model {model:?} is not known"));
    };
    let (round, results) = conversation(shape, &body);
    if let Err(problem) = check(&results, round.min(script.rounds), script.parallel) {
        return refused(422, &problem);
    }
    let offered = body.get("tools").and_then(Value::as_array).is_some_and(|tools| !tools.is_empty());
    let turn = if offered && round < script.rounds {
        let call = |index| {
            let (a, b) = operands(round, index);
            Call { id: format!("call_{:012}", next_id()), arguments: format!("{{\"a\":{a},\"b\":{b}}}") }
        };
        Turn::Calls((0..script.parallel).map(call).collect())
    } else if script.tokens > 0 {
        Turn::Text(" tok".repeat(script.tokens))
    } else {
        Turn::Text(ANSWER.to_owned())
    };
    let stream = body.get("stream").and_then(Value::as_bool).unwrap_or(false);
    let input = request.body.len() / 4;
    let reply = match (shape, stream) {
        (Shape::Chat, false) => Answer::json(200, &chat_whole(model, &turn, input)),
        (Shape::Messages, false) => Answer::json(200, &messages_whole(model, &turn, input)),
        (Shape::Chat, true) => {
            let wants_usage = body.pointer("/stream_options/include_usage") == Some(&Value::Bool(true));
            events(chat_events(model, &turn, wants_usage.then_some(input)))
        }
        (Shape::Messages, true) => events(messages_events(model, &turn, input)),
    };
    reply.after(script.latency).gap(script.gap)
}

fn next_id() -> u64 {
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}

fn events(text: String) -> Answer {
    Answer { cut: Cut::Events, ..Answer::sse(text) }
}

fn refused(status: u16, message: &str) -> Answer {
    let kind = "invalid_request_error";
    Answer::json(status, &json!({"type": "error", "error": {"type": kind, "code": kind, "message": message}}))
}

fn operands(round: usize, index: usize) -> (usize, usize) {
    (round + 1, 10 * (index + 1))
}

/// Rounds of calls since the last user turn, and the texts of their results.
fn conversation(shape: Shape, body: &Value) -> (usize, Vec<String>) {
    let none = Vec::new();
    let messages = body.get("messages").and_then(Value::as_array).unwrap_or(&none);
    let is = |message: &Value, role: &str| message.get("role").is_some_and(|found| found == role);
    let blocks = |message: &Value, kind: &str| -> Vec<Value> {
        let blocks = message.get("content").and_then(Value::as_array).unwrap_or(&none);
        blocks.iter().filter(|block| block.get("type").is_some_and(|found| found == kind)).cloned().collect()
    };
    let (mut round, mut results) = (0, Vec::new());
    for message in messages {
        let (calls, answers): (bool, Vec<Value>) = match shape {
            Shape::Chat if is(message, "tool") => (false, vec![message.clone()]),
            Shape::Chat => {
                let calls = message.get("tool_calls").and_then(Value::as_array);
                (calls.is_some_and(|calls| !calls.is_empty()), Vec::new())
            }
            Shape::Messages => (!blocks(message, "tool_use").is_empty(), blocks(message, "tool_result")),
        };
        if is(message, "user") && answers.is_empty() {
            (round, results) = (0, Vec::new());
        }
        round += usize::from(calls);
        results.extend(answers.iter().map(|answer| answer.get("content").map(text_of).unwrap_or_default()));
    }
    (round, results)
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text_of).collect(),
        Value::Object(part) => part.get("text").map(text_of).unwrap_or_default(),
        other => other.to_string(),
    }
}

/// The results of every finished round must hold the sums, in the order of the calls.
fn check(results: &[String], rounds: usize, parallel: usize) -> Result<(), String> {
    if results.len() < rounds * parallel {
        return Err(format!("{} results for {} calls", results.len(), rounds * parallel));
    }
    for (at, result) in results.iter().take(rounds * parallel).enumerate() {
        let (a, b) = operands(at / parallel, at % parallel);
        if !result.contains(&(a + b).to_string()) {
            return Err(format!("result {at} lacks the sum {}: {result:?}", a + b));
        }
    }
    Ok(())
}

impl Turn {
    fn tokens(&self) -> usize {
        match self {
            Self::Text(text) => text.len() / 4,
            Self::Calls(calls) => calls.iter().map(|call| 4 + call.arguments.len() / 4).sum(),
        }
    }

    fn pieces(&self) -> Vec<&str> {
        match self {
            Self::Text(text) => {
                let starts = text.char_indices().filter(|(at, char)| *char == ' ' && *at > 0).map(|(at, _)| at);
                let ends: Vec<usize> = starts.chain([text.len()]).collect();
                let starts = std::iter::once(0).chain(ends.iter().copied());
                starts.zip(&ends).filter_map(|(start, end)| text.get(start..*end)).collect()
            }
            Self::Calls(_) => Vec::new(),
        }
    }
}

fn chat_usage(turn: &Turn, input: usize) -> Value {
    json!({"prompt_tokens": input, "completion_tokens": turn.tokens(), "total_tokens": input + turn.tokens(),
        "prompt_tokens_details": {"cached_tokens": 0}})
}

fn chat_whole(model: &str, turn: &Turn, input: usize) -> Value {
    let (message, reason) = match turn {
        Turn::Text(text) => (json!({"role": "assistant", "content": text}), "stop"),
        Turn::Calls(calls) => {
            let calls: Vec<Value> = calls
                .iter()
                .map(|call| {
                    let function = json!({"name": "add", "arguments": call.arguments});
                    json!({"id": call.id, "type": "function", "function": function})
                })
                .collect();
            (json!({"role": "assistant", "content": null, "tool_calls": calls}), "tool_calls")
        }
    };
    json!({"id": format!("chatcmpl-{}", next_id()), "object": "chat.completion", "created": 0, "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": chat_usage(turn, input)})
}

fn chat_events(model: &str, turn: &Turn, usage: Option<usize>) -> String {
    let head = format!(
        "data: {{\"id\":\"chatcmpl-{}\",\"object\":\"chat.completion.chunk\",\"created\":0,\"model\":{},\"choices\":",
        next_id(),
        Value::from(model)
    );
    let mut out = String::new();
    let mut event = |choices: Value, more: &str| {
        // Writing into a string cannot fail.
        let _ = write!(out, "{head}{choices}{more}}}\n\n");
    };
    let delta = |delta: Value, reason: Value| json!([{"index": 0, "delta": delta, "finish_reason": reason}]);
    event(delta(json!({"role": "assistant", "content": ""}), Value::Null), "");
    for piece in turn.pieces() {
        event(delta(json!({"content": piece}), Value::Null), "");
    }
    let reason = match turn {
        Turn::Text(_) => "stop",
        Turn::Calls(calls) => {
            for (index, call) in calls.iter().enumerate() {
                let function = json!({"name": "add", "arguments": ""});
                let start = json!({"index": index, "id": call.id, "type": "function", "function": function});
                event(delta(json!({"tool_calls": [start]}), Value::Null), "");
                for piece in [&call.arguments[..3], &call.arguments[3..]] {
                    let more = json!({"index": index, "function": {"arguments": piece}});
                    event(delta(json!({"tool_calls": [more]}), Value::Null), "");
                }
            }
            "tool_calls"
        }
    };
    event(delta(json!({}), Value::from(reason)), "");
    if let Some(input) = usage {
        event(json!([]), &format!(",\"usage\":{}", chat_usage(turn, input)));
    }
    out.push_str("data: [DONE]\n\n");
    out
}

fn messages_whole(model: &str, turn: &Turn, input: usize) -> Value {
    let (content, reason): (Vec<Value>, &str) = match turn {
        Turn::Text(text) => (vec![json!({"type": "text", "text": text})], "end_turn"),
        Turn::Calls(calls) => {
            let block = |call: &Call| {
                let input: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
                json!({"type": "tool_use", "id": call.id, "name": "add", "input": input})
            };
            (calls.iter().map(block).collect(), "tool_use")
        }
    };
    json!({"id": format!("msg_{}", next_id()), "type": "message", "role": "assistant", "model": model,
        "content": content, "stop_reason": reason, "stop_sequence": null,
        "usage": {"input_tokens": input, "output_tokens": turn.tokens()}})
}

fn messages_events(model: &str, turn: &Turn, input: usize) -> String {
    let mut out = String::new();
    let mut event = |name: &str, mut data: Value| {
        if let Value::Object(members) = &mut data {
            members.insert("type".into(), name.into());
        }
        let _ = write!(out, "event: {name}\ndata: {data}\n\n");
    };
    let usage = json!({"input_tokens": input, "output_tokens": 1});
    let message = json!({"id": format!("msg_{}", next_id()), "type": "message", "role": "assistant", "model": model,
        "content": [], "stop_reason": null, "usage": usage});
    event("message_start", json!({"message": message}));
    let reason = match turn {
        Turn::Text(_) => {
            event("content_block_start", json!({"index": 0, "content_block": {"type": "text", "text": ""}}));
            for piece in turn.pieces() {
                let delta = json!({"type": "text_delta", "text": piece});
                event("content_block_delta", json!({"index": 0, "delta": delta}));
            }
            event("content_block_stop", json!({"index": 0}));
            "end_turn"
        }
        Turn::Calls(calls) => {
            for (index, call) in calls.iter().enumerate() {
                let block = json!({"type": "tool_use", "id": call.id, "name": "add", "input": {}});
                event("content_block_start", json!({"index": index, "content_block": block}));
                for piece in [&call.arguments[..3], &call.arguments[3..]] {
                    let delta = json!({"type": "input_json_delta", "partial_json": piece});
                    event("content_block_delta", json!({"index": index, "delta": delta}));
                }
                event("content_block_stop", json!({"index": index}));
            }
            "tool_use"
        }
    };
    let delta = json!({"stop_reason": reason, "stop_sequence": null});
    event("message_delta", json!({"delta": delta, "usage": {"output_tokens": turn.tokens()}}));
    event("message_stop", json!({}));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(path: &str, body: Value) -> Answer {
        let body = body.to_string().into_bytes();
        answer(&Request { method: "POST".into(), path: path.into(), headers: Vec::new(), body })
    }

    #[test]
    fn names_are_scripts() {
        let script = Script::of("openai/tools-3-par-4-lat-20-gap-7").unwrap();
        assert_eq!((script.rounds, script.parallel), (3, 4));
        assert_eq!((script.latency.as_millis(), script.gap.as_micros()), (20, 7));
        assert_eq!(Script::of("stream-2000").unwrap().tokens, 2000);
        for unknown in ["", "tools", "tools-x", "lat-20", "other-1"] {
            assert_eq!(Script::of(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn counts_rounds_and_checks_sums() {
        let call = json!({"id": "c", "type": "function", "function": {"name": "add", "arguments": "{}"}});
        let body = |result: &str| {
            json!({"model": "tools-1", "tools": [{}], "messages": [
                {"role": "user", "content": "add"}, {"role": "assistant", "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c", "content": result}]})
        };
        let good = ask("/v1/chat/completions", body("11"));
        assert_eq!(serde_json::from_slice::<Value>(&good.body).unwrap()["choices"][0]["message"]["content"], ANSWER);
        assert_eq!(ask("/v1/chat/completions", body("12")).status, 422);
        let used = json!([{"type": "tool_use", "id": "c", "name": "add", "input": {}}]);
        let result = json!([{"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": "11"}]}]);
        let messages = json!([{"role": "user", "content": "add"}, {"role": "assistant", "content": used},
            {"role": "user", "content": result}]);
        let good = ask("/v1/messages", json!({"model": "tools-1", "tools": [{}], "messages": messages}));
        assert_eq!(serde_json::from_slice::<Value>(&good.body).unwrap()["content"][0]["text"], ANSWER);
        assert_eq!(ask("/v1/other", json!({})).status, 404);
    }

    #[test]
    fn streams_every_token() {
        for path in ["/v1/chat/completions", "/v1/messages"] {
            let reply = ask(path, json!({"model": "stream-50", "stream": true, "messages": []}));
            assert_eq!(String::from_utf8(reply.body).unwrap().matches("\" tok\"").count(), 50, "{path}");
        }
    }
}
