use super::*;
use crate::message::{AssistantMessage, CallFault, Content, Outcome, ToolResult, Usage};
use crate::provider::StopReason;
use serde_json::json;

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        system: "be brief".into(),
        messages: messages.into(),
        tools: [].into(),
        tool_choice: ToolChoice::Auto,
        options: Arc::default(),
    }
}

fn asked(text: &str) -> ModelRequest {
    request(vec![Message::user(text)])
}

async fn streamed(
    model: &ScriptedProvider,
    request: &ModelRequest,
) -> (Vec<String>, Result<ModelReply, ProviderError>) {
    let mut texts = Vec::new();
    let mut stream = model.stream(request);
    while let Some(part) = stream.next().await {
        match part {
            Ok(StreamPart::Text(text)) => texts.push(text),
            Ok(StreamPart::Thinking(_)) => {}
            Ok(StreamPart::Reply(reply)) => return (texts, Ok(*reply)),
            Err(error) => return (texts, Err(error)),
        }
    }
    panic!("the stream ended without a reply");
}

#[tokio::test]
async fn every_key_of_a_step_is_read() {
    let model = ScriptedProvider::from_json(
        r#"{"provider": "p", "model": "m", "steps": [
            {"text": "a b", "thinking": "hm", "calls": [
                {"name": "x", "arguments": {"n": 123456789012345678901234567890}},
                {"name": "y", "arguments": "{\"n\": tru", "id": "id-1"},
                {"name": "z", "id": ""}
            ], "usage": {"input_tokens": 3}},
            {"text": "cut", "stop": "length"},
            {"refusal": "no"},
            {"error": {"kind": "rate_limit", "status": 429, "message": "slow", "code": "tpm", "retryable": false,
                       "retry_after_ms": 10, "rejected_tool_call": true, "failed_generation": "f"}}
        ]}"#,
    )
    .unwrap();
    assert_eq!((model.name(), model.model()), ("p", "m"));
    let asked = asked("q");
    let reply = model.send(&asked).await.unwrap();
    assert_eq!(
        (reply.text.as_str(), reply.thinking.as_deref(), reply.stop),
        ("a b", Some("hm"), StopReason::ToolCalls)
    );
    assert_eq!(reply.usage, Usage { input_tokens: Some(3), ..Usage::default() });
    assert_eq!(reply.calls[0].arguments.as_str(), r#"{"n": 123456789012345678901234567890}"#);
    assert_eq!(reply.calls[1].fault.as_deref(), Some(&CallFault::Malformed { raw: "{\"n\": tru".into() }));
    assert_eq!(reply.calls[1].provider_id.as_deref(), Some("id-1"));
    assert_eq!((reply.calls[2].arguments.as_str(), reply.calls[2].provider_id.as_deref()), ("{}", None));
    assert_eq!(model.send(&asked).await.unwrap().stop, StopReason::Length);
    let refused = model.send(&asked).await.unwrap();
    assert_eq!((refused.stop, refused.refusal.as_deref()), (StopReason::Refusal, Some("no")));
    let error = model.send(&asked).await.unwrap_err();
    assert_eq!((error.kind, error.status, error.retryable), (ProviderErrorKind::RateLimit, Some(429), false));
    assert_eq!(error.retry_after, Some(Duration::from_millis(10)));
    assert_eq!((error.code.as_deref(), error.failed_generation.as_deref()), (Some("tpm"), Some("f")));
    assert!(error.rejected_tool_call);
    assert_eq!(error.to_string(), "p/m: slow");
}

#[test]
fn wrong_scripts_are_refused_with_their_place() {
    for (json, part) in [
        (r#"[{"txt": "a"}]"#, "txt"),
        (r#"{"steps": [], "again": true}"#, "again"),
        (r#"[{"error": {"kind": "tired"}}]"#, "rate_limit"),
        (r#"[{"text": "ab", "chunks": ["a"]}]"#, "chunks"),
        (r#"[{"stop": "later"}]"#, "later"),
        ("7", "list of steps"),
    ] {
        let error = ScriptedProvider::from_json(json).unwrap_err().to_string();
        assert!(error.contains(part) && error.contains("line 1"), "{json}: {error}");
    }
}

#[tokio::test]
async fn a_script_also_comes_from_a_parsed_value() {
    let script: Script = serde_json::from_value(json!([{"calls": [{"name": "x", "arguments": {"a": 1}}]}])).unwrap();
    let reply = ScriptedProvider::from(script).send(&asked("q")).await.unwrap();
    assert_eq!(reply.calls[0].arguments.as_str(), r#"{"a":1}"#);
}

#[tokio::test]
async fn text_streams_in_words_or_in_the_given_pieces() {
    let model = ScriptedProvider::new().reply("one two\nthree").step(Step::default().chunks(["on", "e", "", "!"]));
    let (texts, reply) = streamed(&model, &asked("q")).await;
    assert_eq!(texts, ["one ", "two\n", "three"]);
    assert_eq!(reply.unwrap().text, "one two\nthree");
    let (texts, reply) = streamed(&model, &asked("q")).await;
    assert_eq!(texts, ["on", "e", "!"]);
    assert_eq!(reply.unwrap().text, "one!");
    assert_eq!(model.requests().iter().map(|request| request.streamed).collect::<Vec<_>>(), [true, true]);
}

#[tokio::test]
async fn a_stream_breaks_where_the_script_says() {
    let json =
        r#"[{"text": "a b c", "fail_after_chunks": 2}, {"text": "a", "error": {"kind": "server", "status": 500}}]"#;
    let model = ScriptedProvider::from_json(json).unwrap();
    let (texts, reply) = streamed(&model, &asked("q")).await;
    assert_eq!(texts, ["a ", "b "]);
    assert_eq!(reply.unwrap_err().kind, ProviderErrorKind::Server);
    let (texts, reply) = streamed(&model, &asked("q")).await;
    assert!(texts.is_empty());
    assert_eq!(reply.unwrap_err().status, Some(500));
}

#[tokio::test(start_paused = true)]
async fn latency_and_gaps_are_waited_for() {
    let model = ScriptedProvider::new()
        .latency(Duration::from_millis(20))
        .reply("slow")
        .step(Step::text("a b c").latency(Duration::from_millis(5)).gap(Duration::from_millis(3)));
    let start = tokio::time::Instant::now();
    model.send(&asked("q")).await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_millis(20));
    streamed(&model, &asked("q")).await.1.unwrap();
    // Three words and the reply: three gaps.
    assert_eq!(start.elapsed(), Duration::from_millis(20 + 5 + 9));
}

#[tokio::test]
async fn the_end_of_the_script_is_an_error_unless_the_last_step_repeats() {
    let model = ScriptedProvider::new().reply("only");
    model.send(&asked("q")).await.unwrap();
    let error = model.send(&asked("q")).await.unwrap_err();
    assert_eq!((error.kind, error.retryable), (ProviderErrorKind::InvalidRequest, false));
    assert!(error.message.contains("call number 2"), "{}", error.message);
    let (_, reply) = streamed(&model, &asked("q")).await;
    assert!(reply.unwrap_err().message.contains("call number 3"));

    let model = ScriptedProvider::new().reply("first").reply("rest").repeat_last();
    let mut texts = Vec::new();
    for _ in 0..3 {
        texts.push(model.send(&asked("q")).await.unwrap().text);
    }
    assert_eq!(texts, ["first", "rest", "rest"]);
    let empty = ScriptedProvider::new().repeat_last();
    assert!(empty.send(&asked("q")).await.is_err());
}

#[tokio::test]
async fn by_turn_the_conversation_names_the_step() {
    let model = ScriptedProvider::new().call("x", json!({})).reply("done").by_turn();
    let call = model.send(&asked("q")).await.unwrap().calls.remove(0);
    let result =
        ToolResult { call_id: "1".into(), name: "x".into(), content: Content::text("r"), outcome: Outcome::Ok };
    let later = request(vec![
        Message::user("earlier"),
        Message::assistant("earlier answer"),
        Message::user("q"),
        Message::Assistant(AssistantMessage { calls: vec![call], ..AssistantMessage::default() }),
        Message::Tool { results: vec![result] },
    ]);
    assert_eq!(model.send(&later).await.unwrap().text, "done");
    assert_eq!(model.send(&asked("q")).await.unwrap().calls.len(), 1);
    let record = &model.requests()[1];
    assert_eq!(record.roles, [Role::User, Role::Assistant, Role::User, Role::Assistant, Role::Tool]);
    assert_eq!(record.texts, ["earlier", "earlier answer", "q", "", "r"]);
}

#[tokio::test]
async fn a_function_sees_the_request_and_the_number() {
    let model = ScriptedProvider::from_fn(|request, n| format!("{n}: {}", request.messages[0].text()));
    model.send(&asked("a")).await.unwrap();
    assert_eq!(model.send(&asked("b")).await.unwrap().text, "1: b");
}

#[tokio::test]
async fn the_record_is_bounded_and_can_be_off() {
    let model = ScriptedProvider::new().reply("x").repeat_last();
    for _ in 0..EXTRA_RECORDS + 50 {
        model.send(&asked("q")).await.unwrap();
    }
    assert_eq!(model.requests().len(), EXTRA_RECORDS + 1);
    assert_eq!(model.request_count(), EXTRA_RECORDS + 50);
    let quiet = ScriptedProvider::new().reply("x").without_recording();
    quiet.clone().send(&asked("q")).await.unwrap();
    assert_eq!((quiet.requests().len(), quiet.request_count()), (0, 1));
}
