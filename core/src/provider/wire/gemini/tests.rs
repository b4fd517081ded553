use super::*;
use crate::message::{CallFault, Content, Data, Message, Outcome, Part, ToolResult};
use crate::provider::wire::Decoder;
use crate::provider::wire::sample::{
    arguments, call, json, native, request, result, said, stream, with_options, with_tools,
};
use crate::provider::{ProviderErrorKind, StopReason, StreamPart, ToolChoice};
use serde_json::{Value, json};

const OLD: &str = "gemini-2.5-flash";
const NEW: &str = "gemini-3-flash-preview";

fn wire(model: &str) -> Gemini {
    Gemini::new("https://h", Some("g-secret".into()), model)
}

fn body(model: &str, request: &ModelRequest) -> Value {
    json(&wire(model).encode(request, false).unwrap())
}

fn contents(model: &str, history: Vec<Message>) -> Value {
    body(model, &request(history))["contents"].take()
}

#[test]
fn a_plain_request() {
    let request = with_options(request(vec![Message::user("hi")]), |options| options.temperature = Some(0.0));
    let expected = json!({
        "systemInstruction": {"parts": [{"text": "Be kind."}]},
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "generationConfig": {"maxOutputTokens": 8192, "temperature": 0.0},
    });
    assert_eq!(body(OLD, &request), expected);
    assert_eq!(wire(OLD).headers(&request), [("x-goog-api-key", "g-secret".to_owned())]);
}

#[test]
fn addresses_hold_the_model_and_never_the_key() {
    let url = |base: &str, model: &str| Gemini::new(base, Some("g-secret".into()), model).url(false);
    let expected = "https://h/v1beta/models/gemini-2.5-flash:generateContent";
    for base in ["https://h", "https://h/", "https://h/v1beta", "https://h/v1beta/models/"] {
        assert_eq!(url(base, OLD), expected);
    }
    assert_eq!(url("https://h", "models/gemini-2.5-flash"), expected);
    assert_eq!(url("https://h/v1", "a?b#c"), "https://h/v1/models/a%3Fb%23c:generateContent");
    let asking = Gemini::new("https://h/v1beta?a=1", None, OLD).url(true);
    assert_eq!(asking, "https://h/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse&a=1");
    assert_eq!(wire(OLD).url(true), "https://h/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse");
}

#[test]
fn responses_stand_in_a_content_of_their_own() {
    let history = vec![
        Message::user("go"),
        said(
            "I look.",
            vec![
                call("own_1", Some("g1"), "look", r#"{"n":12345678901234567890123}"#),
                call("own_2", None, "my tool", "{}"),
            ],
        ),
        Message::user("and?"),
        Message::Tool { results: vec![result("gone", "x"), result("own_1", "seen")] },
        Message::user("well?"),
    ];
    let request = request(history);
    let bytes = wire(OLD).encode(&request, false).unwrap();
    assert!(String::from_utf8(bytes.clone()).unwrap().contains(r#""args":{"n":12345678901234567890123}"#));
    let contents = json(&bytes)["contents"].take();
    assert_eq!(contents[1]["role"], "model");
    assert_eq!(contents[1]["parts"][0], json!({"text": "I look."}));
    assert_eq!(contents[1]["parts"][1]["functionCall"]["id"], "own_1");
    assert_eq!(contents[1]["parts"][2], json!({"functionCall": {"name": "my_tool", "args": {}}}));
    let responses = json!({"role": "user", "parts": [
        {"functionResponse": {"id": "own_1", "name": "look", "response": {"output": "seen"}}},
        {"functionResponse": {"name": "my_tool", "response": {"error": "no result was recorded for this call"}}},
    ]});
    assert_eq!(contents[2], responses);
    assert_eq!(contents[3], json!({"role": "user", "parts": [{"text": "and?"}, {"text": "well?"}]}));
    assert_eq!(contents.as_array().unwrap().len(), 4);
}

#[test]
fn own_parts_go_back_unchanged_or_not_at_all() {
    let first = r#"{"functionCall":{"args":{"n":1.0},"name":"look"}, "thoughtSignature":"sig"}"#;
    let second = r#"{"functionCall":{"args":{},"name":"read","id":"g2"}}"#;
    let blocks = format!("[{first},{second}]");
    let history = |made_by: &str, name: &str, blocks: &str| {
        let calls = vec![call("own_1", None, name, r#"{"n":1.0}"#), call("g2", Some("g2"), "read", "{}")];
        request(vec![
            Message::user("go"),
            native("gemini", made_by, blocks, "", calls),
            Message::Tool { results: vec![result("own_1", "1"), result("g2", "2")] },
        ])
    };
    let sent = |request: &ModelRequest| String::from_utf8(wire(NEW).encode(request, false).unwrap()).unwrap();
    let own = sent(&history(NEW, "look", &blocks));
    assert!(own.contains(&format!("{first},{second}")), "{own}");
    assert!(!own.contains("skip_thought_signature_validator"), "{own}");
    let own = json(own.as_bytes());
    let responses = json!([
        {"functionResponse": {"name": "look", "response": {"output": "1"}}},
        {"functionResponse": {"id": "g2", "name": "read", "response": {"output": "2"}}},
    ]);
    assert_eq!(own["contents"][2]["parts"], responses);
    for other in [
        history("gemini-2.5-pro", "look", &blocks),
        history(NEW, "other", &blocks),
        history(NEW, "look", &format!("[{second},{first}]")),
        history(NEW, "look", &format!("[{first}]")),
        history(NEW, "look", "no JSON"),
    ] {
        let other = json(sent(&other).as_bytes());
        let parts = &other["contents"][1]["parts"];
        assert_eq!(parts[0]["thoughtSignature"], "skip_thought_signature_validator");
        assert_eq!(parts[1], json!({"functionCall": {"id": "g2", "name": "read", "args": {}}}));
    }
    assert_eq!(body(OLD, &history(NEW, "look", &blocks))["contents"][1]["parts"][0].get("thoughtSignature"), None);
}

#[test]
fn odd_histories_become_legal() {
    let text = |role: &str, text: &str| json!({"role": role, "parts": [{"text": text}]});
    let left_out = text("user", "(earlier messages are left out)");
    let history = vec![said("Hello.", vec![]), Message::user(""), said("Yes?", vec![])];
    let both = json!({"role": "model", "parts": [{"text": "Hello."}, {"text": "Yes?"}]});
    assert_eq!(contents(OLD, history), json!([left_out, both, text("user", "Go on.")]));
    assert_eq!(contents(OLD, vec![Message::system("x")]), json!([left_out]));
}

#[test]
fn thinking_follows_the_family() {
    let ask = |model: &str, budget: u32| {
        let request = with_options(request(vec![Message::user("hi")]), |options| options.thinking_budget = budget);
        body(model, &request)["generationConfig"].take()
    };
    assert_eq!(
        ask(OLD, 50000),
        json!({"maxOutputTokens": 51000, "thinkingConfig": {"includeThoughts": true, "thinkingBudget": 24576}})
    );
    let level = |model: &str, budget: u32| ask(model, budget)["thinkingConfig"]["thinkingLevel"].take();
    assert_eq!([1024, 8000, 20000].map(|budget| level(NEW, budget)), ["low", "medium", "high"]);
    assert_eq!(level("gemini-3-pro-preview", 8000), "high");
    assert_eq!(level("gemini-3.1-pro-preview", 8000), "medium");
    for (model, budget) in [(NEW, 1023), ("gemini-2.0-flash", 5000)] {
        assert_eq!(ask(model, budget), json!({"maxOutputTokens": 8192}));
    }
}

#[test]
fn tools_and_choices() {
    let choose = |choice: ToolChoice| {
        let mut request = with_tools(request(vec![Message::user("hi")]), &["look"]);
        request.tool_choice = choice;
        body(OLD, &request)
    };
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let declaration = json!({"name": "look", "description": "Looks.", "parametersJsonSchema": schema});
    let auto = choose(ToolChoice::Auto);
    assert_eq!(auto["tools"], json!([{"functionDeclarations": [declaration]}]));
    assert_eq!(auto.get("toolConfig"), None);
    let config = |choice| choose(choice)["toolConfig"]["functionCallingConfig"].take();
    assert_eq!(config(ToolChoice::None), json!({"mode": "NONE"}));
    assert_eq!(config(ToolChoice::Required), json!({"mode": "ANY"}));
    let look = ToolChoice::Tool { name: "look".into() };
    assert_eq!(config(look), json!({"mode": "ANY", "allowedFunctionNames": ["look"]}));
}

#[test]
fn images_and_files_in_messages_and_results() {
    let content = Content::Parts(vec![
        Part::text("see"),
        Part::Image { media_type: "image/png".into(), data: Data::Base64("AA==".into()) },
        Part::File {
            media_type: "application/pdf".into(),
            name: "a".into(),
            data: Data::Url("https://h/a.pdf".into()),
        },
    ]);
    let image = json!({"inlineData": {"mimeType": "image/png", "data": "AA=="}});
    let file = json!({"fileData": {"mimeType": "application/pdf", "fileUri": "https://h/a.pdf"}});
    let history = || {
        let outcome = Outcome::Error;
        vec![
            Message::User { content: content.clone() },
            said("", vec![call("a", None, "look", "{}"), call("b", None, "look", "{}")]),
            Message::Tool {
                results: vec![
                    ToolResult { content: content.clone(), ..result("a", "") },
                    ToolResult { outcome, ..result("b", "bad") },
                ],
            },
        ]
    };
    let old = contents(OLD, history());
    assert_eq!(old[0]["parts"], json!([{"text": "see"}, image, file]));
    let bad = json!({"functionResponse": {"name": "look", "response": {"error": "bad"}}});
    let seen = json!({"functionResponse": {"name": "look", "response": {"output": "see"}}});
    assert_eq!(old[2]["parts"], json!([seen, bad, image, file]));
    let nested = json!({"functionResponse": {"name": "look", "response": {"output": "see"}, "parts": [image, file]}});
    assert_eq!(contents(NEW, history())[2]["parts"], json!([nested, bad]));
}

fn read(chunks: &[Value]) -> (Vec<StreamPart>, Result<ModelReply, ProviderError>) {
    stream(wire(NEW).decoder(), chunks.iter().map(|chunk| (String::new(), chunk.to_string())))
}

fn chunk(parts: Value, finish: Option<&str>) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": finish}]})
}

#[test]
fn a_stream_of_every_kind_of_part() {
    let call_part = json!({"functionCall": {"name": "look", "args": {"n": 1.5}}, "thoughtSignature": "s1"});
    let end = json!({"text": "", "thoughtSignature": "s2"});
    let (parts, reply) = read(&[
        chunk(json!([{"text": "h", "thought": true}]), None),
        chunk(json!([{"text": "m", "thought": true}, {"text": "I "}]), None),
        chunk(json!([{"text": "see"}, {"text": ""}, {"brandNew": 1}]), None),
        chunk(json!([call_part, {"functionCall": {"name": "read", "id": "g2"}}]), Some("STOP")),
        json!({"candidates": [{"content": {"parts": [end]}, "finishReason": "STOP"}], "usageMetadata":
            {"promptTokenCount": 9, "cachedContentTokenCount": 4, "candidatesTokenCount": 2, "thoughtsTokenCount": 3}}),
        json!({"usageMetadata": {"promptTokenCount": 10}}),
    ]);
    let reply = reply.unwrap();
    let text = |text: &str| StreamPart::Text(text.into());
    let thinking = |text: &str| StreamPart::Thinking(text.into());
    assert_eq!(parts, [thinking("h"), thinking("m"), text("I "), text("see")]);
    assert_eq!(
        (reply.text.as_str(), reply.thinking.as_deref(), reply.stop),
        ("I see", Some("hm"), StopReason::ToolCalls)
    );
    assert_eq!(arguments(&reply.calls[0]).as_str(), r#"{"n":1.5}"#);
    assert_eq!((reply.calls[0].provider_id.as_deref(), reply.calls[1].provider_id.as_deref()), (None, Some("g2")));
    assert_eq!(arguments(&reply.calls[1]).as_str(), "{}");
    let usage = reply.usage;
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.cache_read_tokens), (Some(10), Some(5), Some(4)));
    let expected = json!([
        {"text": "hm", "thought": true}, {"text": "I see"}, {"brandNew": 1}, call_part,
        {"functionCall": {"name": "read", "id": "g2"}}, end,
    ]);
    let native = reply.native.unwrap();
    assert_eq!((&*native.wire, &*native.model), ("gemini", NEW));
    assert_eq!(json(native.blocks.as_bytes()), expected);
}

#[test]
fn stops_have_names() {
    for (raw, expected) in [
        ("STOP", StopReason::Stop),
        ("MAX_TOKENS", StopReason::Length),
        ("SAFETY", StopReason::ContentFilter),
        ("SPII", StopReason::ContentFilter),
        ("MALFORMED_FUNCTION_CALL", StopReason::Error),
        ("UNEXPECTED_TOOL_CALL", StopReason::Error),
        ("OTHER", StopReason::Other),
        ("BRAND_NEW", StopReason::Other),
    ] {
        let reply = wire(OLD).decode(chunk(json!([{"text": "x"}]), Some(raw)).to_string().as_bytes()).unwrap();
        assert_eq!((reply.stop, reply.stop_raw.as_deref(), reply.native), (expected, Some(raw), None));
    }
    let blocked = wire(OLD).decode(br#"{"promptFeedback":{"blockReason":"SAFETY"}}"#).unwrap();
    assert_eq!((blocked.stop, blocked.refusal.as_deref()), (StopReason::ContentFilter, Some("SAFETY")));
}

#[test]
fn cut_calls_do_not_run() {
    for args in [json!({}), json!(null)] {
        let part = json!([{"functionCall": {"name": "look", "args": args}}]);
        let reply = read(&[chunk(part, Some("MAX_TOKENS"))]).1.unwrap();
        assert!(matches!(reply.calls[0].fault.as_deref(), Some(CallFault::Cut { .. })), "{args}");
    }
    let part = json!([{"functionCall": {"name": "look", "args": {"a": 1}}}]);
    assert_eq!(read(&[chunk(part, Some("MAX_TOKENS"))]).1.unwrap().calls[0].fault, None);
}

#[test]
fn streams_and_bodies_that_break_are_errors() {
    let (parts, reply) = read(&[chunk(json!([{"text": "half"}]), None)]);
    let error = reply.unwrap_err();
    assert_eq!((error.kind, error.retryable, parts.len()), (ProviderErrorKind::Server, true, 1));
    let told = json!({"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}});
    assert_eq!(read(std::slice::from_ref(&told)).1.unwrap_err().kind, ProviderErrorKind::Overloaded);
    assert_eq!(wire(OLD).decode(json!([told]).to_string().as_bytes()).unwrap_err().message, "busy");
    for body in ["", "null", "{}", "[]", "<html>", r#"{"candidates":7}"#] {
        let error = wire(OLD).decode(body.as_bytes()).unwrap_err();
        assert_eq!((error.kind, error.retryable), (ProviderErrorKind::Server, true), "{body}");
    }
    let mut decoder = wire(OLD).decoder();
    assert!(decoder.event("", "{\"candidates\":", &mut Vec::new()).is_err());
    assert!(decoder.event("", "7", &mut Vec::new()).is_ok());
    let list = json!([chunk(json!([{"text": "a"}]), None), chunk(json!([{"text": "b"}]), Some("STOP"))]);
    assert_eq!(wire(OLD).decode(list.to_string().as_bytes()).unwrap().text, "ab");
}

#[test]
fn errors_tell_the_wait_and_the_quota() {
    let error = |status: u16, code: &str, details: Value| {
        let body = json!({"error": {"code": status, "message": "You exceeded your current quota.", "status": code,
            "details": details}});
        wire(OLD).decode_error(status, body.to_string().as_bytes(), Some(Duration::from_secs(1)))
    };
    let quota = |id: &str| json!([{"violations": [{"quotaId": id}]}, {"retryDelay": "34.4s"}]);
    let minute = error(429, "RESOURCE_EXHAUSTED", quota("TokensPerMinute"));
    assert_eq!((minute.kind, minute.retryable), (ProviderErrorKind::RateLimit, true));
    assert_eq!(minute.retry_after, Some(Duration::from_millis(34400)));
    assert_eq!(minute.code.as_deref(), Some("RESOURCE_EXHAUSTED"));
    assert!(!error(429, "RESOURCE_EXHAUSTED", quota("RequestsPerDay")).retryable);
    let key = error(400, "INVALID_ARGUMENT", json!([{"reason": "API_KEY_INVALID"}]));
    assert_eq!(
        (key.kind, key.retryable, key.retry_after),
        (ProviderErrorKind::Auth, false, Some(Duration::from_secs(1)))
    );
    assert_eq!(wire(OLD).decode_error(502, b"<html>bad</html>", None).message, "bad");
}
