use super::*;
use crate::message::{AssistantMessage, Content, Data, Message, Native, Outcome, Part, ToolCall, ToolResult};
use crate::provider::wire::sample;
use crate::provider::{ModelOptions, ProviderErrorKind, StopReason, StreamPart, ToolChoice, ToolSpec};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::sync::Arc;

fn wire(model: &str) -> Responses {
    Responses::new("http://x/v1/responses".into(), None, model)
}

fn request(messages: Vec<Message>) -> ModelRequest {
    let schema = RawValue::from_string(r#"{"type":"object"}"#.into()).unwrap();
    ModelRequest {
        system: "Be kind.".into(),
        messages: Arc::new(messages),
        tools: Arc::from([ToolSpec { name: "look".into(), description: "Looks.".into(), schema: schema.into() }]),
        tool_choice: ToolChoice::Tool { name: "look".into() },
        options: Arc::new(ModelOptions { thinking_budget: 20_000, temperature: Some(1.0), ..Default::default() }),
    }
}

fn sent(wire: &Responses, request: &ModelRequest) -> Value {
    serde_json::from_slice(&wire.encode(request, false).unwrap()).unwrap()
}

fn turn(id: &str, provider_id: Option<&str>, native: Option<Box<Native>>) -> Vec<Message> {
    let arguments = Ok(r#"{"a":1}"#.parse().unwrap());
    let call = ToolCall { id: id.into(), ..ToolCall::from_wire(provider_id, "look", arguments) };
    let result = ToolResult {
        call_id: id.into(),
        name: "look".into(),
        content: Content::Parts(vec![
            Part::text("see"),
            Part::Image { media_type: "image/png".into(), data: Data::Base64("AAAA".into()) },
        ]),
        outcome: Outcome::Ok,
    };
    vec![
        Message::user("go"),
        Message::Assistant(AssistantMessage { content: "Plan.".into(), calls: vec![call], native }),
        Message::Tool { results: vec![result] },
    ]
}

const ITEMS: &str = r#"[{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Hm."}],
    "encrypted_content":"xyz"},{"type":"message","content":[{"type":"output_text","text":"Plan."}]},
    {"type":"function_call","id":"fc_1","call_id":"call_1","name":"look","arguments":"{\"a\":1}"}]"#;

#[test]
fn writes_items() {
    let body = sent(&wire("gpt-5"), &request(turn("call_1", None, None)));
    assert_eq!(
        body,
        json!({
            "model": "gpt-5",
            "instructions": "Be kind.",
            "input": [
                {"role": "user", "content": "go"},
                {"role": "assistant", "content": [{"type": "output_text", "text": "Plan."}]},
                {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": "{\"a\":1}"},
                {"type": "function_call_output", "call_id": "call_1", "output": [
                    {"type": "input_text", "text": "see"},
                    {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}]},
            ],
            "reasoning": {"effort": "high", "summary": "auto"},
            "include": ["reasoning.encrypted_content"],
            "store": false,
            "tools": [{"type": "function", "name": "look", "description": "Looks.",
                "parameters": {"type": "object"}, "strict": false}],
            "tool_choice": {"type": "function", "name": "look"},
        })
    );
    let plain = sent(&wire("gpt-4o"), &request(vec![]));
    assert_eq!((&plain["reasoning"], &plain["include"]), (&Value::Null, &Value::Null));
    assert_eq!(plain["temperature"], 1.0);
}

#[test]
fn reasoning_goes_back_before_what_it_led_to() {
    let text = format!(
        r#"{{"status":"completed","output":{ITEMS},"usage":{{"input_tokens":5,"output_tokens":6,
            "input_tokens_details":{{"cached_tokens":2}},"output_tokens_details":{{"reasoning_tokens":3}}}}}}"#
    );
    let reply = wire("gpt-5").decode(text.as_bytes()).unwrap();
    assert_eq!((reply.text.as_str(), reply.thinking.as_deref()), ("Plan.", Some("Hm.")));
    assert_eq!((reply.stop, reply.stop_raw.as_deref()), (StopReason::ToolCalls, Some("completed")));
    assert_eq!(reply.calls[0].provider_id.as_deref(), Some("call_1"));
    assert_eq!(reply.usage.cache_read_tokens, Some(2));
    assert_eq!(reply.usage.cache_write_tokens, None);

    let items: Value = serde_json::from_str(ITEMS).unwrap();
    let own = sent(&wire("gpt-5"), &request(turn("call_1", Some("call_1"), reply.native.clone())));
    assert_eq!(own["input"].as_array().unwrap()[1..4], items.as_array().unwrap()[..]);
    // Another model, or a call that got another id, does not get it.
    let other = sent(&wire("gpt-5.1"), &request(turn("call_1", Some("call_1"), reply.native.clone())));
    assert_eq!(other["input"][2]["type"], "function_call");
    let renamed = sent(&wire("gpt-5"), &request(turn("c7", Some("call_1"), reply.native)));
    assert_eq!((&renamed["input"][2]["call_id"], &renamed["input"][3]["call_id"]), (&json!("c7"), &json!("c7")));
}

#[test]
fn reasoning_that_is_not_here_is_left_out() {
    let body = br#"{"status":"completed","output":[{"type":"reasoning","id":"rs_1","summary":[]},
        {"type":"message","content":[{"type":"refusal","refusal":"No."}]}]}"#;
    let reply = wire("gpt-5").decode(body).unwrap();
    assert_eq!((reply.native, reply.stop, reply.refusal.as_deref()), (None, StopReason::Refusal, Some("No.")));
}

fn stream(events: &[(&str, Value)]) -> (Vec<StreamPart>, Result<ModelReply, ProviderError>) {
    let event = |(kind, more): &(&str, Value)| {
        let mut event = more.clone();
        event["type"] = (*kind).into();
        ((*kind).to_owned(), event.to_string())
    };
    sample::stream(wire("gpt-5").decoder(), events.iter().map(event))
}

#[test]
fn streams_text_and_keeps_finished_items() {
    let item = json!({"item": {"type": "function_call", "call_id": "c", "name": "look", "arguments": ""}});
    let (parts, reply) = stream(&[
        ("response.created", json!({"response": {"status": "in_progress", "output": []}})),
        ("response.reasoning_summary_text.delta", json!({"delta": "Hm."})),
        ("response.output_text.delta", json!({"delta": "Hi"})),
        ("response.brand_new", json!({"delta": {"x": 1}})),
        ("response.output_item.done", json!({"item": {"type": "message", "content": [{"text": "Hi"}]}})),
        ("response.output_item.done", item),
        ("response.completed", json!({"response": {"status": "completed"}})),
    ]);
    let reply = reply.unwrap();
    assert_eq!(parts, [StreamPart::Thinking("Hm.".into()), StreamPart::Text("Hi".into())]);
    assert_eq!((reply.text.as_str(), reply.calls.len(), reply.stop), ("Hi", 1, StopReason::ToolCalls));
    let only_last = json!({"response": {"status": "incomplete", "incomplete_details": {"reason": "content_filter"},
        "output": [{"type": "message", "content": [{"text": "Hi"}]}]}});
    let reply = stream(&[("response.incomplete", only_last)]).1.unwrap();
    assert_eq!((reply.text.as_str(), reply.stop), ("Hi", StopReason::ContentFilter));
}

#[test]
fn tells_errors_apart() {
    let text = ("response.output_text.delta", json!({"delta": "Hi"}));
    assert_eq!(stream(std::slice::from_ref(&text)).1.unwrap_err().kind, ProviderErrorKind::Server);
    let limited = json!({"error": {"code": "rate_limit_exceeded", "message": "Try again in 2s."}});
    let error = stream(&[text.clone(), ("error", limited)]).1.unwrap_err();
    assert_eq!((error.kind, error.retry_after), (ProviderErrorKind::RateLimit, Some(Duration::from_secs(2))));
    let flat = json!({"code": "server_error", "message": "Sorry."});
    assert_eq!(stream(&[("error", flat)]).1.unwrap_err().message, "Sorry.");
    let failed = json!({"response": {"status": "failed", "error": {"code": "server_error", "message": "Sorry."}}});
    assert_eq!(stream(&[text, ("response.failed", failed)]).1.unwrap_err().message, "Sorry.");
    for body in ["", "{}", "[]", r#"{"status":"failed"}"#, r#"{"error":{"message":"x"}}"#] {
        assert_eq!(wire("m").decode(body.as_bytes()).unwrap_err().kind, ProviderErrorKind::Server, "{body}");
    }
}
