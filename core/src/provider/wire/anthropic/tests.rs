use super::*;
use crate::message::{CallFault, Content, Data, Message, Outcome, Part, ToolResult};
use crate::provider::wire::Decoder;
use crate::provider::wire::sample::{
    arguments, call, json, native, request, result, said, stream, with_options, with_tools,
};
use crate::provider::{ProviderErrorKind, StopReason, StreamPart, ToolChoice};
use serde_json::{Value, json};

const MODEL: &str = "claude-sonnet-4-5";

fn wire(model: &str) -> Anthropic {
    Anthropic::new("https://api.anthropic.com", Some("sk-secret".into()), model)
}

fn body(model: &str, request: &ModelRequest) -> Value {
    json(&wire(model).encode(request, false).unwrap())
}

/// The messages without their cache marks.
fn messages(model: &str, request: ModelRequest) -> Value {
    let request = with_options(request, |options| options.prompt_cache = false);
    body(model, &request)["messages"].take()
}

#[test]
fn a_plain_request() {
    let request = with_options(request(vec![Message::user("hi")]), |options| {
        options.prompt_cache = false;
        options.temperature = Some(0.5);
    });
    let bytes = wire(MODEL).encode(&request, true).unwrap();
    let expected = json!({
        "model": MODEL, "max_tokens": 16000, "system": "Be kind.", "temperature": 0.5, "stream": true,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
    });
    assert_eq!(json(&bytes), expected);
    let headers = wire(MODEL).headers(&request);
    let expected = [("anthropic-version", "2023-06-01".to_owned()), ("x-api-key", "sk-secret".to_owned())];
    assert_eq!(headers, expected);
}

#[test]
fn addresses_gain_what_they_lack() {
    for base in ["https://h", "https://h/", "https://h/v1", "https://h/v1/", "https://h/v1/messages"] {
        assert_eq!(Anthropic::new(base, None, MODEL).url(false), "https://h/v1/messages");
    }
    assert_eq!(Anthropic::new("https://h/?a=1", None, MODEL).url(false), "https://h/v1/messages?a=1");
    assert_eq!(Anthropic::new("https://h/anthropic", None, MODEL).url(true), "https://h/anthropic/v1/messages");
}

#[test]
fn four_places_at_most_are_marked_for_the_cache() {
    let history = vec![
        Message::user("one"),
        said("two", vec![call("c1", Some("c1"), "look", "{}")]),
        Message::Tool { results: vec![result("c1", "three")] },
    ];
    let body = body(MODEL, &with_tools(request(history), &["look", "read"]));
    let mark = json!({"type": "ephemeral"});
    assert_eq!(body["system"], json!([{"type": "text", "text": "Be kind.", "cache_control": mark}]));
    assert_eq!(body["tools"][0].get("cache_control"), None);
    assert_eq!(body["tools"][1]["cache_control"], mark);
    assert_eq!(body["messages"][0]["content"][0]["cache_control"], mark);
    assert_eq!(body["messages"][2]["content"][0]["cache_control"], mark);
    assert_eq!(body.to_string().matches("cache_control").count(), 4);
}

#[test]
fn results_answer_their_calls_before_anything_else_is_said() {
    let history = vec![
        Message::user("go"),
        said(
            "I look.",
            vec![
                call("c:1", Some("c:1"), "look", r#"{"n":12345678901234567890123}"#),
                call("c2", None, "my tool", "{}"),
            ],
        ),
        Message::user("and?"),
        Message::Tool { results: vec![result("gone", "x"), result("c:1", "seen")] },
    ];
    let request = with_options(request(history), |options| options.prompt_cache = false);
    let bytes = wire(MODEL).encode(&request, false).unwrap();
    // Numbers keep every digit.
    assert!(String::from_utf8(bytes.clone()).unwrap().contains(r#""input":{"n":12345678901234567890123}"#));
    let messages = json(&bytes)["messages"].take();
    assert_eq!(messages[1]["content"][0], json!({"type": "text", "text": "I look."}));
    assert_eq!(messages[1]["content"][1]["id"], "c_1");
    assert_eq!(messages[1]["content"][2], json!({"type": "tool_use", "id": "c2", "name": "my_tool", "input": {}}));
    let answers = json!({"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "c_1", "content": "seen"},
        {"type": "tool_result", "tool_use_id": "c2", "content": "no result was recorded for this call", "is_error": true},
        {"type": "text", "text": "and?"},
    ]});
    assert_eq!(messages[2], answers);
    assert_eq!(messages.as_array().unwrap().len(), 3);
}

#[test]
fn ids_that_become_equal_stay_apart() {
    let history = vec![
        said("", vec![call("a.b", None, "look", "{}"), call("a:b", None, "look", "{}")]),
        Message::Tool { results: vec![result("a:b", "2"), result("a.b", "1")] },
    ];
    let messages = messages(MODEL, request(history));
    let ids: Vec<_> = messages[1]["content"].as_array().unwrap().iter().map(|block| block["id"].clone()).collect();
    assert_eq!(ids, ["a_b", "a_b_2"]);
    assert_eq!(messages[2]["content"][0], json!({"type": "tool_result", "tool_use_id": "a_b", "content": "1"}));
    assert_eq!(messages[2]["content"][1], json!({"type": "tool_result", "tool_use_id": "a_b_2", "content": "2"}));
}

#[test]
fn odd_histories_become_legal() {
    let text = |role: &str, text: &str| json!({"role": role, "content": [{"type": "text", "text": text}]});
    // The model speaks first and last; blank messages, neighbours of one role, system text in between.
    let history =
        vec![said("Hello.", vec![]), Message::user(" "), said("Yes? \n", vec![]), Message::system("Be brief.")];
    let request_ = with_options(request(history), |options| options.prompt_cache = false);
    let body_ = body(MODEL, &request_);
    assert_eq!(body_["system"], "Be kind.\n\nBe brief.");
    let both =
        json!({"role": "assistant", "content": [{"type": "text", "text": "Hello."}, {"type": "text", "text": "Yes?"}]});
    assert_eq!(body_["messages"], json!([text("user", "(earlier messages are left out)"), both]));
    // Newer models do not go on with their own words.
    assert_eq!(body("claude-opus-4-8", &request_)["messages"][2], text("user", "Go on."));
    assert_eq!(messages(MODEL, request(vec![])), json!([text("user", "(earlier messages are left out)")]));
}

#[test]
fn thinking_follows_the_family() {
    let ask = |model: &str, budget: u32| {
        let request = with_options(request(vec![Message::user("hi")]), |options| {
            options.thinking_budget = budget;
            options.temperature = Some(1.0);
        });
        body(model, &request)
    };
    let old = ask("claude-sonnet-4-5", 20000);
    assert_eq!(old["thinking"], json!({"type": "enabled", "budget_tokens": 20000}));
    assert_eq!((&old["max_tokens"], old.get("temperature")), (&json!(21000), None));
    let middle = ask("claude-sonnet-4-6", 2000);
    assert_eq!(middle["thinking"], json!({"type": "adaptive"}));
    assert_eq!((&middle["output_config"], &middle["max_tokens"]), (&json!({"effort": "low"}), &json!(16000)));
    let new = ask("claude-opus-4-8", 1_000_000);
    assert_eq!(new["thinking"], json!({"type": "adaptive", "display": "summarized"}));
    assert_eq!((&new["output_config"], new.get("temperature")), (&json!({"effort": "high"}), None));
    for (model, budget) in [("claude-sonnet-4-5", 1023), ("claude-3-5-haiku-20241022", 5000)] {
        let off = ask(model, budget);
        assert_eq!((off.get("thinking"), &off["max_tokens"]), (None, &json!(capability::of(model).reply_tokens)));
        assert_eq!(off["temperature"], json!(1.0));
    }
    assert_eq!(ask("claude-opus-4-7", 0).get("temperature"), None);
    assert_eq!(ask("brand-new", 0)["max_tokens"], 4096);
}

#[test]
fn a_budget_gives_way_where_the_api_refuses_it() {
    let thinking = |mut request: ModelRequest, choice: ToolChoice| {
        request.tool_choice = choice;
        let request = with_options(with_tools(request, &["look"]), |options| options.thinking_budget = 2000);
        body(MODEL, &request).get("thinking").is_some()
    };
    let hi = || request(vec![Message::user("hi")]);
    assert!(thinking(hi(), ToolChoice::Auto));
    assert!(!thinking(hi(), ToolChoice::Required));
    let blocks = r#"[{"type":"thinking","thinking":"t","signature":"s"},{"type":"tool_use","id":"c1","name":"look","input":{}}]"#;
    let in_loop = |model: &str| {
        request(vec![
            Message::user("go"),
            native("anthropic", model, blocks, "", vec![call("c1", Some("c1"), "look", "{}")]),
            Message::Tool { results: vec![result("c1", "seen")] },
        ])
    };
    assert!(thinking(in_loop(MODEL), ToolChoice::Auto));
    assert!(!thinking(in_loop("claude-opus-4-1"), ToolChoice::Auto));
    let request = with_options(with_tools(hi(), &["look"]), |options| options.thinking_budget = 2000);
    let beta = ("anthropic-beta", "interleaved-thinking-2025-05-14".to_owned());
    assert!(wire(MODEL).headers(&request).contains(&beta));
    assert!(!wire("claude-sonnet-4-6").headers(&request).contains(&beta));
}

#[test]
fn own_blocks_go_back_unchanged_or_not_at_all() {
    let thought = r#"{"type":"thinking","thinking":"hm","signature":"sig"}"#;
    let used = r#"{"type":"tool_use","id":"c1","name":"look","input":{"n":1.0}, "caller":{"type":"direct"}}"#;
    let blocks = format!("[{thought},{used}]");
    let history = |made_by: &str, id: &str, provider_id: &str, blocks: &str| {
        request(vec![
            Message::user("go"),
            native("anthropic", made_by, blocks, "", vec![call(id, Some(provider_id), "look", r#"{"n":1.0}"#)]),
            Message::Tool { results: vec![result(id, "seen")] },
        ])
    };
    let sent = |request: &ModelRequest| String::from_utf8(wire(MODEL).encode(request, false).unwrap()).unwrap();
    let own = sent(&history(MODEL, "c1", "c1", &blocks));
    assert!(own.contains(&format!("{thought},{used}")), "{own}");
    for other in [
        history("claude-opus-4-1", "c1", "c1", &blocks),
        history(MODEL, "own_1", "c1", &blocks),
        history(MODEL, "c1", "c1", &format!("[{thought}]")),
        history(MODEL, "c1", "c1", "[]"),
        history(MODEL, "c1", "c1", "no JSON"),
    ] {
        let sent = sent(&other);
        assert!(!sent.contains("thinking"), "{sent}");
        let id = if sent.contains("own_1") { "own_1" } else { "c1" };
        let messages = json(sent.as_bytes())["messages"].take();
        assert_eq!(
            messages[1]["content"][0],
            json!({"type": "tool_use", "id": id, "name": "look", "input": {"n": 1.0}})
        );
        assert_eq!(messages[2]["content"][0]["tool_use_id"], id);
    }
}

#[test]
fn a_paused_turn_goes_back_as_the_last_message() {
    let blocks = r#"[{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{"query":"x"}}]"#;
    let request = request(vec![Message::user("go"), native("anthropic", "claude-opus-4-8", blocks, "", vec![])]);
    let messages = messages("claude-opus-4-8", request);
    assert_eq!(messages[1], json!({"role": "assistant", "content": serde_json::from_str::<Value>(blocks).unwrap()}));
    assert_eq!(messages.as_array().unwrap().len(), 2);
}

#[test]
fn images_and_files() {
    let image = |media_type: &str| Part::Image { media_type: media_type.into(), data: Data::Base64("AA==".into()) };
    let file = |media_type: &str, data: &str| Part::File {
        media_type: media_type.into(),
        name: "a.x".into(),
        data: Data::Base64(data.into()),
    };
    let parts = vec![
        Part::text("look"),
        Part::text(" "),
        image("image/png"),
        Part::Image { media_type: "image/png".into(), data: Data::Url("https://h/i.png".into()) },
        file("application/pdf", "JVBERg=="),
        Part::File {
            media_type: "application/pdf".into(),
            name: "b".into(),
            data: Data::Url("https://h/b.pdf".into()),
        },
        file("application/json; charset=utf-8", "e30="),
        image("image/bmp"),
        file("application/zip", "AA=="),
    ];
    let messages = messages(MODEL, request(vec![Message::User { content: Content::Parts(parts) }]));
    let expected = json!([
        {"type": "text", "text": "look"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
        {"type": "image", "source": {"type": "url", "url": "https://h/i.png"}},
        {"type": "document", "title": "a.x", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="}},
        {"type": "document", "title": "b", "source": {"type": "url", "url": "https://h/b.pdf"}},
        {"type": "document", "title": "a.x", "source": {"type": "text", "media_type": "text/plain", "data": "{}"}},
        {"type": "text", "text": "[an image of type image/bmp, which this model cannot see]"},
        {"type": "text", "text": "[the file \"a.x\" of type application/zip, which this model cannot read]"},
    ]);
    assert_eq!(messages[0]["content"], expected);
}

#[test]
fn results_with_images_errors_and_nothing() {
    let content = Content::Parts(vec![
        Part::text("a picture"),
        Part::Image { media_type: "image/png".into(), data: Data::Base64("AA==".into()) },
    ]);
    let give = |id: &str, content: Content, outcome| ToolResult { content, outcome, ..result(id, "") };
    let calls = ["a", "b", "c", "d"].map(|id| call(id, None, "look", "{}")).into();
    let results = vec![
        give("a", content.clone(), Outcome::Ok),
        give("b", content, Outcome::Error),
        give("c", "".into(), Outcome::Ok),
        give("d", " ".into(), Outcome::Denied),
    ];
    let messages = messages(MODEL, request(vec![Message::user("go"), said("", calls), Message::Tool { results }]));
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}});
    let expected = json!([
        {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "a picture"}, image]},
        {"type": "tool_result", "tool_use_id": "b", "content": "a picture", "is_error": true},
        {"type": "tool_result", "tool_use_id": "c"},
        {"type": "tool_result", "tool_use_id": "d", "content": "the tool gave an error without a message", "is_error": true},
    ]);
    assert_eq!(messages[2]["content"], expected);
}

#[test]
fn tools_and_choices() {
    let choose = |model: &str, choice: ToolChoice| {
        let mut request = with_tools(request(vec![Message::user("hi")]), &["look"]);
        request.tool_choice = choice;
        body(model, &request)["tool_choice"].take()
    };
    let look = || ToolChoice::Tool { name: "look".into() };
    assert_eq!(choose(MODEL, ToolChoice::Auto), json!({"type": "auto"}));
    assert_eq!(choose(MODEL, ToolChoice::None), json!({"type": "none"}));
    assert_eq!(choose(MODEL, ToolChoice::Required), json!({"type": "any"}));
    assert_eq!(choose(MODEL, look()), json!({"type": "tool", "name": "look"}));
    assert_eq!(choose("claude-fable-5", look()), json!({"type": "auto"}));
    let mut request = with_tools(request(vec![Message::user("hi")]), &["look"]);
    let schema = r#"{"type":"object","anyOf":[{"required":["a"]}],"properties":{"anyOf":{"anyOf":[{}]}}}"#;
    request.tools = request
        .tools
        .iter()
        .map(|tool| crate::provider::ToolSpec {
            schema: serde_json::value::RawValue::from_string(schema.to_owned()).unwrap().into(),
            ..tool.clone()
        })
        .collect();
    let expected = json!({"type": "object", "properties": {"anyOf": {"anyOf": [{}]}}});
    assert_eq!(body(MODEL, &request)["tools"][0]["input_schema"], expected);
    request.tools = [].into();
    assert_eq!(body(MODEL, &request).get("tool_choice"), None);
}

fn read(events: &[Value]) -> (Vec<StreamPart>, Result<ModelReply, ProviderError>) {
    let name = |event: &Value| event["type"].as_str().unwrap_or_default().to_owned();
    stream(wire(MODEL).decoder(), events.iter().map(|event| (name(event), event.to_string())))
}

fn start(index: u64, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u64, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn stop(reason: &str) -> Value {
    json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}})
}

#[test]
fn a_stream_of_every_kind_of_block() {
    let search = json!({"type": "web_search_tool_result", "tool_use_id": "s1", "content": []});
    let (parts, reply) = read(&[
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 3, "cache_read_input_tokens": 4}}}),
        json!({"type": "ping"}),
        start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "hm"})),
        delta(0, json!({"type": "signature_delta", "signature": "sig"})),
        start(1, json!({"type": "redacted_thinking", "data": "secret"})),
        start(2, json!({"type": "text", "text": "I "})),
        delta(2, json!({"type": "text_delta", "text": "see"})),
        delta(2, json!({"type": "citations_delta", "citation": {"url": "u"}})),
        delta(2, json!({"type": "brand_new_delta", "x": 1})),
        start(3, json!({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}})),
        delta(3, json!({"type": "input_json_delta", "partial_json": "{\"query\":\"q\"}"})),
        start(4, search.clone()),
        start(5, json!({"type": "tool_use", "id": "c1", "name": "look", "input": {}, "caller": {"type": "direct"}})),
        delta(5, json!({"type": "input_json_delta", "partial_json": ""})),
        delta(5, json!({"type": "input_json_delta", "partial_json": "{\"n\":1"})),
        delta(5, json!({"type": "input_json_delta", "partial_json": ".10}"})),
        start(6, json!({"type": "tool_use", "id": "c2", "name": "whole", "input": {"a": 1}})),
        json!({"type": "brand_new_event"}),
        stop("tool_use"),
        json!({"type": "message_stop"}),
    ]);
    let reply = reply.unwrap();
    let thinking = || StreamPart::Thinking("hm".into());
    assert_eq!(parts, [thinking(), StreamPart::Text("I ".into()), StreamPart::Text("see".into())]);
    assert_eq!(
        (reply.text.as_str(), reply.thinking.as_deref(), reply.stop),
        ("I see", Some("hm"), StopReason::ToolCalls)
    );
    assert_eq!(arguments(&reply.calls[0]).as_str(), r#"{"n":1.10}"#);
    assert_eq!(arguments(&reply.calls[1]).as_str(), r#"{"a":1}"#);
    assert_eq!(reply.usage.input_tokens_total, Some(7));
    assert_eq!((reply.usage.output_tokens, reply.usage.cache_write_tokens), (Some(9), None));
    let native = reply.native.unwrap();
    assert_eq!((&*native.wire, &*native.model), ("anthropic", MODEL));
    let expected = json!([
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
        {"type": "redacted_thinking", "data": "secret"},
        {"type": "text", "text": "I see", "citations": [{"url": "u"}]},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}},
        search,
        {"type": "tool_use", "id": "c1", "name": "look", "input": {"n": 1.10}, "caller": {"type": "direct"}},
        {"type": "tool_use", "id": "c2", "name": "whole", "input": {"a": 1}},
    ]);
    assert_eq!(json(native.blocks.as_bytes()), expected);
}

#[test]
fn plain_replies_keep_no_blocks_of_their_own() {
    let body = br#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"},
        {"type":"tool_use","id":"c1","name":"look","input":{}}],"stop_reason":"end_turn"}"#;
    let reply = wire(MODEL).decode(body).unwrap();
    assert_eq!((reply.text.as_str(), reply.stop, &reply.native), ("ab", StopReason::ToolCalls, &None));
    assert_eq!(reply.stop_raw.as_deref(), Some("end_turn"));
    assert_eq!(reply.usage, crate::message::Usage::default());
}

#[test]
fn stops_have_names() {
    for (raw, expected) in [
        ("end_turn", StopReason::Stop),
        ("stop_sequence", StopReason::Stop),
        ("max_tokens", StopReason::Length),
        ("model_context_window_exceeded", StopReason::Length),
        ("pause_turn", StopReason::Pause),
        ("refusal", StopReason::Refusal),
        ("brand_new", StopReason::Other),
    ] {
        let body = json!({"content": [{"type": "text", "text": "x"}], "stop_reason": raw}).to_string();
        let reply = wire(MODEL).decode(body.as_bytes()).unwrap();
        assert_eq!((reply.stop, reply.native.is_some()), (expected, raw == "pause_turn"), "{raw}");
    }
    let body = json!({"content": [], "stop_reason": "refusal", "stop_details": {"explanation": "no"}}).to_string();
    assert_eq!(wire(MODEL).decode(body.as_bytes()).unwrap().refusal.as_deref(), Some("no"));
}

#[test]
fn cut_and_broken_calls_do_not_run() {
    let used = start(0, json!({"type": "tool_use", "id": "c1", "name": "look", "input": {}}));
    let args = |json: &str| delta(0, json!({"type": "input_json_delta", "partial_json": json}));
    let fault = |events: &[Value]| read(events).1.unwrap().calls[0].fault.clone().map(|fault| *fault);
    let cut = |raw: &str| Some(CallFault::Cut { raw: raw.into() });
    assert_eq!(fault(&[used.clone(), args("{\"a"), stop("max_tokens")]), cut("{\"a"));
    assert_eq!(fault(&[used.clone(), stop("max_tokens")]), cut(""));
    assert_eq!(fault(&[used.clone(), args("{\"a\":1}"), stop("max_tokens")]), None);
    assert_eq!(fault(&[used.clone(), args("{a}"), stop("tool_use")]), Some(CallFault::Malformed { raw: "{a}".into() }));
    assert_eq!(fault(&[used, stop("tool_use")]), None);
    let whole = br#"{"content":[{"type":"tool_use","id":"c","name":"look","input":{}}],"stop_reason":"max_tokens"}"#;
    assert_eq!(wire(MODEL).decode(whole).unwrap().calls[0].fault.as_deref(), cut("{}").as_ref());
}

#[test]
fn streams_that_break_are_errors() {
    let text = start(0, json!({"type": "text", "text": "half"}));
    let (parts, reply) = read(std::slice::from_ref(&text));
    let error = reply.unwrap_err();
    assert_eq!((error.kind, error.retryable, parts.len()), (ProviderErrorKind::Server, true, 1));
    let failed = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let error = read(&[text.clone(), failed]).1.unwrap_err();
    assert_eq!(
        (error.kind, error.message.as_str(), error.retryable),
        (ProviderErrorKind::Overloaded, "Overloaded", true)
    );
    // The reason is enough of an end.
    assert_eq!(read(&[text, stop("end_turn")]).1.unwrap().text, "half");
    let mut decoder = wire(MODEL).decoder();
    assert!(decoder.event("content_block_delta", "{\"type\":", &mut Vec::new()).is_err());
    assert!(decoder.event("", "[DONE]", &mut Vec::new()).is_ok());
    assert!(decoder.event("", "[1]", &mut Vec::new()).is_ok());
    assert_eq!(decoder.event("error", "no capacity", &mut Vec::new()).unwrap_err().message, "no capacity");
}

#[test]
fn bodies_that_are_no_reply_are_errors() {
    for body in ["", "null", "[]", "<html>", "{}", r#"{"content":7}"#, "\u{feff}{"] {
        let error = wire(MODEL).decode(body.as_bytes()).unwrap_err();
        assert_eq!((error.kind, error.retryable), (ProviderErrorKind::Server, true), "{body}");
    }
    assert!(wire(MODEL).decode(b"\xff").is_err());
    let told = wire(MODEL).decode(br#"{"type":"error","error":{"type":"authentication_error","message":"no"}}"#);
    assert_eq!(told.unwrap_err().kind, ProviderErrorKind::Auth);
}
