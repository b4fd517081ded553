use super::*;
use crate::message::{
    Arguments, AssistantMessage, CallFault, Content, Data, Message, Outcome, Part, ToolCall, ToolResult,
};
use crate::provider::wire::sample::{self, request};
use crate::provider::{ModelOptions, ProviderErrorKind, StopReason, ToolChoice, ToolSpec};
use serde_json::value::RawValue;
use serde_json::{Value, json};

fn chat(provider: &str, model: &str) -> Chat {
    Chat::new(Dialect::of(provider), "http://x/v1/chat/completions".into(), None, model)
}

fn tool(name: &str) -> ToolSpec {
    let schema = RawValue::from_string(r#"{"type":"object","properties":{}}"#.into()).unwrap();
    ToolSpec { name: name.into(), description: "Looks.".into(), schema: schema.into() }
}

fn body(chat: &Chat, request: &ModelRequest) -> Value {
    serde_json::from_slice(&chat.encode(request, false).unwrap()).unwrap()
}

fn call(id: &str, provider_id: Option<&str>, arguments: &str) -> ToolCall {
    ToolCall { id: id.into(), ..ToolCall::from_wire(provider_id, "look", Ok(arguments.parse().unwrap())) }
}

fn result(id: &str, content: Content) -> ToolResult {
    ToolResult { call_id: id.into(), name: "look".into(), content, outcome: Outcome::Ok }
}

fn stream(chat: &Chat, events: &[&str]) -> (Vec<StreamPart>, Result<ModelReply, ProviderError>) {
    sample::stream(chat.decoder(), events.iter().map(|event| (String::new(), (*event).to_owned())))
}

#[test]
fn writes_a_whole_conversation() {
    let said = AssistantMessage {
        content: "Let me look.".into(),
        calls: vec![call("a", Some("a"), r#"{"n":123456789012345678901234567890}"#), call("b", None, "{}")],
        native: None,
    };
    let mut request = request(vec![
        Message::user("go"),
        Message::Assistant(said),
        Message::Tool { results: vec![result("a", "1".into()), result("stray", "0".into())] },
        Message::system("Be brief."),
        Message::Assistant(AssistantMessage::default()),
        Message::user("and?"),
    ]);
    request.tools = Arc::from([tool("look")]);
    request.options = Arc::new(ModelOptions { max_tokens: Some(9), temperature: Some(0.5), ..ModelOptions::default() });
    let text = String::from_utf8(chat("openai", "gpt-4o").encode(&request, true).unwrap()).unwrap();
    assert!(text.contains(r#""arguments":"{\"n\":123456789012345678901234567890}""#), "{text}");
    let body: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        body,
        json!({
            "model": "gpt-4o",
            "messages": [
                {"role": "system", "content": "Be kind."},
                {"role": "user", "content": "go"},
                {"role": "assistant", "content": "Let me look.", "tool_calls": [
                    {"id": "a", "type": "function", "function": {
                        "name": "look", "arguments": "{\"n\":123456789012345678901234567890}"}},
                    {"id": "b", "type": "function", "function": {"name": "look", "arguments": "{}"}},
                ]},
                {"role": "tool", "content": "1", "tool_call_id": "a"},
                {"role": "tool", "content": "no result was recorded for this call", "tool_call_id": "b"},
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "and?"},
            ],
            "max_completion_tokens": 9,
            "temperature": 0.5,
            "tools": [{"type": "function", "function": {
                "name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {}}}}],
            "stream": true,
            "stream_options": {"include_usage": true},
        })
    );
}

#[test]
fn each_provider_gets_its_own_words() {
    let mut request = request(vec![Message::user("go"), Message::system("Be brief.")]);
    request.tools = Arc::from([tool("look")]);
    request.tool_choice = ToolChoice::Required;
    request.options = Arc::new(ModelOptions {
        max_tokens: Some(9),
        thinking_budget: 8000,
        temperature: Some(0.5),
        ..ModelOptions::default()
    });
    let openai = body(&chat("openai", "gpt-5"), &request);
    assert_eq!(openai["reasoning_effort"], "medium");
    assert_eq!(openai["tool_choice"], "required");
    assert_eq!((&openai["max_completion_tokens"], &openai["temperature"]), (&json!(9), &Value::Null));

    let mistral = body(&chat("mistral", "mistral-small-latest"), &request);
    assert_eq!(mistral["messages"][0]["content"], "Be kind.\n\nBe brief.");
    assert_eq!(mistral["messages"].as_array().unwrap().len(), 2);
    assert_eq!((&mistral["tool_choice"], &mistral["reasoning_effort"]), (&json!("any"), &json!("high")));
    assert_eq!(mistral["max_tokens"], 9);

    let deepseek = body(&chat("deepseek", "deepseek-v4-flash"), &request);
    assert_eq!((&deepseek["tool_choice"], &deepseek["thinking"]), (&json!("required"), &json!({"type": "disabled"})));
    let reasoner = body(&chat("deepseek", "deepseek-reasoner"), &request);
    assert_eq!((&reasoner["tool_choice"], &reasoner["thinking"]), (&Value::Null, &json!({"type": "enabled"})));

    assert_eq!(body(&chat("openrouter", "x/y"), &request)["reasoning"], json!({"max_tokens": 8000}));
    let local = body(&chat("ollama", "llama3.1"), &request);
    assert_eq!((&local["tool_choice"], &local["max_tokens"]), (&Value::Null, &json!(9)));
    let custom = body(&chat("elsewhere", "some-model"), &request);
    assert_eq!((&custom["reasoning_effort"], &custom["max_tokens"]), (&Value::Null, &json!(9)));

    request.tool_choice = ToolChoice::Tool { name: "look".into() };
    assert_eq!(
        body(&chat("groq", "llama"), &request)["tool_choice"],
        json!({"type": "function", "function": {"name": "look"}})
    );
    request.tool_choice = ToolChoice::None;
    assert_eq!(body(&chat("openai", "gpt-4o"), &request)["tool_choice"], "none");
    let local = body(&chat("ollama", "llama3.1"), &request);
    assert_eq!((&local["tools"], &local["tool_choice"]), (&Value::Null, &Value::Null));
    let streamed: Value = serde_json::from_slice(&chat("mistral", "m").encode(&request, true).unwrap()).unwrap();
    assert_eq!((&streamed["stream"], &streamed["stream_options"]), (&json!(true), &Value::Null));
}

#[test]
fn ids_of_other_providers_are_rewritten_alike_on_both_sides() {
    let said = AssistantMessage { calls: vec![call("toolu_01", Some("toolu_01"), "{}")], ..Default::default() };
    let request =
        request(vec![Message::Assistant(said), Message::Tool { results: vec![result("toolu_01", "ok".into())] }]);
    let body = body(&chat("mistral", "m"), &request);
    let id = body["messages"][1]["tool_calls"][0]["id"].as_str().unwrap();
    assert_eq!(id.len(), 9);
    assert_eq!(body["messages"][2]["tool_call_id"], id);
    assert_eq!(body["messages"][1]["content"], "");
}

#[test]
fn reasoning_goes_back_to_the_model_that_made_it() {
    let wire = chat("deepseek", "deepseek-v4-flash");
    let reply = wire
        .decode(
            br#"{"choices":[{"message":{"content":"","reasoning_content":"Hm \"x\".","tool_calls":[{"id":"a",
            "function":{"name":"look","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#,
        )
        .unwrap();
    assert_eq!(reply.thinking.as_deref(), Some("Hm \"x\"."));
    let said = AssistantMessage { calls: vec![call("a", Some("a"), "{}")], native: reply.native, ..Default::default() };
    let request = request(vec![Message::Assistant(said), Message::Tool { results: vec![result("a", "ok".into())] }]);
    assert_eq!(body(&wire, &request)["messages"][1]["reasoning_content"], "Hm \"x\".");
    assert_eq!(body(&chat("deepseek", "deepseek-v4-pro"), &request)["messages"][1]["reasoning_content"], "");
    assert_eq!(body(&chat("openai", "gpt-4o"), &request)["messages"][1]["reasoning_content"], Value::Null);

    let wire = chat("mistral", "magistral-small");
    let chunks = r#"[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]},{"type":"text","text":"4"}]"#;
    let reply = wire
        .decode(format!(r#"{{"choices":[{{"message":{{"content":{chunks}}},"finish_reason":"stop"}}]}}"#).as_bytes())
        .unwrap();
    assert_eq!((reply.text.as_str(), reply.thinking.as_deref()), ("4", Some("Hm.")));
    let said = AssistantMessage { content: "4".into(), native: reply.native, ..Default::default() };
    let request = self::request(vec![Message::Assistant(said)]);
    let expected: Value = serde_json::from_str(chunks).unwrap();
    assert_eq!(body(&wire, &request)["messages"][1]["content"], expected);
    assert_eq!(body(&chat("groq", "magistral-small"), &request)["messages"][1]["content"], "4");
}

#[test]
fn images_and_files_go_where_each_provider_takes_them() {
    let image = || Part::Image { media_type: "image/png".into(), data: Data::Base64("AAAA".into()) };
    let file = |media_type: &str| Part::File {
        media_type: media_type.into(),
        name: "a.x".into(),
        data: Data::Base64("aGk=".into()),
    };
    let url = json!({"url": "data:image/png;base64,AAAA"});
    let asked = request(vec![Message::User {
        content: Content::Parts(vec![Part::text("see"), image(), file("application/pdf"), file("text/csv")]),
    }]);
    let sent = body(&chat("openai", "gpt-4o"), &asked);
    assert_eq!(
        sent["messages"][1]["content"],
        json!([
            {"type": "text", "text": "see"},
            {"type": "image_url", "image_url": url},
            {"type": "file", "file": {"filename": "a.x", "file_data": "data:application/pdf;base64,aGk="}},
            {"type": "text", "text": "[file a.x]\nhi\n[end of a.x]"},
        ])
    );
    assert_eq!(body(&chat("mistral", "m"), &asked)["messages"][1]["content"][2]["type"], "document_url");
    for provider in ["deepseek", "groq"] {
        let error = chat(provider, "m").encode(&asked, false).unwrap_err();
        assert_eq!(error.kind, ProviderErrorKind::InvalidRequest);
        assert!(error.message.contains(provider), "{}", error.message);
    }

    let said = AssistantMessage { calls: vec![call("a", None, "{}"), call("b", None, "{}")], ..Default::default() };
    let seen = request(vec![
        Message::Assistant(said),
        Message::Tool {
            results: vec![
                result("a", Content::Parts(vec![Part::text("shot"), image()])),
                result("b", Content::Parts(vec![image()])),
            ],
        },
    ]);
    let roles = |body: &Value| -> Vec<String> {
        body["messages"].as_array().unwrap().iter().map(|line| line["role"].as_str().unwrap().to_owned()).collect()
    };
    let openai = body(&chat("openai", "gpt-4o"), &seen);
    assert_eq!(roles(&openai), ["system", "assistant", "tool", "tool", "user"]);
    assert_eq!(openai["messages"][2]["content"], "shot");
    assert_eq!(openai["messages"][4]["content"][1]["image_url"], url);
    let mistral = body(&chat("mistral", "m"), &seen);
    assert_eq!(roles(&mistral), ["system", "assistant", "tool", "tool"]);
    assert_eq!(mistral["messages"][2]["content"][1]["image_url"], url);
    let deepseek = body(&chat("deepseek", "m"), &seen);
    assert_eq!(roles(&deepseek), ["system", "assistant", "tool", "tool"]);
    assert_eq!(deepseek["messages"][2]["content"], "shot[left out: an image or a file that this model cannot read]");
}

#[test]
fn reads_whole_replies() {
    let wire = chat("openai", "gpt-4o");
    let read = |message: &str, finish: &str| {
        wire.decode(format!(r#"{{"choices":[{{"message":{message},"finish_reason":{finish}}}]}}"#).as_bytes()).unwrap()
    };
    let plain = read(r#"{"content":"hi","tool_calls":null}"#, "\"stop\"");
    assert_eq!((plain.text.as_str(), plain.stop, plain.usage.input_tokens), ("hi", StopReason::Stop, None));
    let refusal = read(r#"{"content":null,"refusal":"No."}"#, "\"stop\"");
    assert_eq!((refusal.stop, refusal.refusal.as_deref()), (StopReason::Refusal, Some("No.")));
    assert_eq!(read(r#"{"content":"x"}"#, "\"brand_new\"").stop, StopReason::Other);
    assert_eq!(read(r#"{"content":"x"}"#, "null").stop_raw, None);
    // A call beside text; an object instead of text; two calls with one id.
    let calls = read(
        r#"{"content":"plan","tool_calls":[{"id":"a","function":{"name":"look","arguments":{"path":"x"}}},
            {"id":"a","function":{"name":"look","arguments":""}},{"function":{"name":"look"}}]}"#,
        "\"stop\"",
    );
    assert_eq!((calls.text.as_str(), calls.stop, calls.calls.len()), ("plan", StopReason::ToolCalls, 3));
    assert_eq!(calls.calls[0].arguments.as_str(), r#"{"path":"x"}"#);
    assert_eq!((calls.calls[1].arguments.clone(), calls.calls[2].provider_id.clone()), (Arguments::empty(), None));
    let cut = read(r#"{"tool_calls":[{"id":"a","function":{"name":"look","arguments":"{\"a"}}]}"#, "\"length\"");
    assert_eq!(cut.calls[0].fault.as_deref(), Some(&CallFault::Cut { raw: "{\"a".into() }));
    assert_eq!(cut.stop, StopReason::Length);
}

#[test]
fn whole_bodies_that_are_no_reply_are_errors() {
    let wire = chat("custom", "m");
    for (body, kind, words) in [
        ("", ProviderErrorKind::Server, "an empty body"),
        ("<html>Oops</html>", ProviderErrorKind::Server, "Oops"),
        ("{}", ProviderErrorKind::Server, "no choice"),
        ("[]", ProviderErrorKind::Server, "no choice"),
        ("null", ProviderErrorKind::Server, "another form"),
        (r#"{"choices":[]}"#, ProviderErrorKind::Server, "no choice"),
        (r#"{"error":{"message":"slow down","code":429}}"#, ProviderErrorKind::RateLimit, "slow down"),
        (r#"{"error":"bad thing"}"#, ProviderErrorKind::Server, "bad thing"),
        (
            r#"{"object":"error","message":"no","code":"1500","type":"invalid_model"}"#,
            ProviderErrorKind::InvalidRequest,
            "no",
        ),
    ] {
        let error = wire.decode(body.as_bytes()).unwrap_err();
        assert_eq!(error.kind, kind, "{body}");
        assert!(error.message.contains(words), "{body}: {}", error.message);
    }
    assert!(wire.decode(br#"{"error":{},"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}"#).is_ok());
}

#[test]
fn puts_streamed_calls_together() {
    let wire = chat("openai", "m");
    let read = |deltas: &[&str]| -> Vec<(String, String)> {
        let mut events: Vec<String> = deltas
            .iter()
            .map(|calls| format!(r#"{{"choices":[{{"index":0,"delta":{{"tool_calls":{calls}}}}}]}}"#))
            .collect();
        events.push(r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#.into());
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        let (_, reply) = stream(&wire, &events);
        reply.unwrap().calls.iter().map(|call| (call.name.to_string(), call.arguments.to_string())).collect()
    };
    let two = [("a".to_owned(), r#"{"x":1}"#.to_owned()), ("b".to_owned(), r#"{"y":2}"#.to_owned())];
    // By index, interleaved, with gaps, with empty ids and names later.
    assert_eq!(
        read(&[
            r#"[{"index":1,"id":"1","function":{"name":"a","arguments":""}},
                {"index":4,"id":"2","function":{"name":"b","arguments":"{\"y\""}}]"#,
            r#"[{"index":1,"id":"","function":{"name":"","arguments":"{\"x\":1"}},{"index":4,"function":{"arguments":":2}"}}]"#,
            r#"[{"index":1,"id":null,"function":{"name":null,"arguments":"}"}}]"#,
        ]),
        two
    );
    // One index for all, told apart by ids; the id repeated in every part.
    assert_eq!(
        read(&[
            r#"[{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\""}}]"#,
            r#"[{"index":0,"id":"1","function":{"name":"a","arguments":":1}"}}]"#,
            r#"[{"index":0,"id":"2","function":{"name":"b","arguments":"{\"y\":2}"}}]"#,
        ]),
        two
    );
    // No index, no id, whole.
    assert_eq!(
        read(&[
            r#"[{"function":{"name":"a","arguments":"{\"x\":1}"}},{"function":{"name":"b","arguments":"{\"y\":2}"}}]"#
        ]),
        two
    );
    // No index: parts without anything belong to the last call.
    assert_eq!(
        read(&[
            r#"[{"id":"1","function":{"name":"a"}}]"#,
            r#"[{"function":{"arguments":"{\"x\":1}"}}]"#,
            r#"[{"id":"2","function":{"name":"b","arguments":{"y":2}}}]"#,
        ]),
        [two[0].clone(), ("b".into(), r#"{"y":2}"#.into())]
    );
    assert_eq!(read(&["[{}]", "null"]), []);
}

#[test]
fn a_stream_ends_well_only_with_a_finish_reason() {
    let wire = chat("openai", "m");
    let text = r#"{"choices":[{"delta":{"content":"Hi"}}]}"#;
    let end = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
    let usage = r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}"#;
    let (parts, reply) = stream(&wire, &[text, end, usage, "[DONE]"]);
    let reply = reply.unwrap();
    assert_eq!(parts, [StreamPart::Text("Hi".into())]);
    assert_eq!((reply.usage.input_tokens, reply.usage.cache_read_tokens), (Some(3), None));
    assert!(stream(&wire, &[text, end]).1.is_ok());
    for events in [&[text][..], &[text, "[DONE]"], &[]] {
        let error = stream(&wire, events).1.unwrap_err();
        assert_eq!((error.kind, error.retryable, error.status), (ProviderErrorKind::Server, true, None));
    }
    let (parts, reply) = stream(&wire, &[text, r#"{"error":{"message":"overloaded","type":"overloaded_error"}}"#]);
    assert_eq!(parts.len(), 1);
    assert_eq!(reply.unwrap_err().kind, ProviderErrorKind::Overloaded);
    assert_eq!(stream(&wire, &[text, "{\"choices\":[{\"del"]).1.unwrap_err().kind, ProviderErrorKind::Server);
}

#[test]
fn text_that_may_be_a_call_is_held_back() {
    let wire = chat("ollama", "qwen2.5:7b");
    let piece = |text: &str| format!(r#"{{"choices":[{{"delta":{{"content":{}}}}}]}}"#, Value::from(text));
    let texts = |pieces: &[&str]| {
        let mut decoder = wire.decoder();
        let mut parts = Vec::new();
        for text in pieces {
            decoder.event("", &piece(text), &mut parts).unwrap();
        }
        parts
    };
    assert_eq!(texts(&["<tool", "_call>{"]), []);
    let told = [StreamPart::Text("<tool-box".into()), StreamPart::Text(" is".into())];
    assert_eq!(texts(&["<tool", "-box", " is"]), told);
    assert_eq!(texts(&["Hello"]), [StreamPart::Text("Hello".into())]);
}
