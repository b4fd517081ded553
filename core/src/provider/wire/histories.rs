//! Any history against the encoders: whatever it holds, the request is JSON that the API's rules allow.

use super::Wire;
use super::anthropic::Anthropic;
use super::chat::Chat;
use super::chat::dialect::Dialect;
use super::gemini::Gemini;
use super::ollama::Ollama;
use super::responses::Responses;
use super::sample::{json, with_tools};
use crate::message::{
    Arguments, AssistantMessage, CallFault, Content, Data, Message, Native, Outcome, Part, ToolCall, ToolResult,
};
use crate::provider::{ModelOptions, ModelRequest, ProviderErrorKind, ToolChoice};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

/// Texts that wire formats trip over, and any others.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just(" \n".to_owned()),
        Just("ends with space \t".to_owned()),
        Just("\u{0}\u{7f}\u{2028}\"\\ 🦀".to_owned()),
        ".{0,40}",
    ]
}

/// Few ids, so that they repeat; some that providers give, some that no provider takes.
fn id() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => Just("toolu_01".to_owned()),
        1 => Just("functions.look:0".to_owned()),
        1 => Just("functions.look/0".to_owned()),
        1 => Just(String::new()),
        1 => Just("x".repeat(200)),
        4 => "[a-c]",
        1 => ".{1,8}",
    ]
}

fn data() -> impl Strategy<Value = Data> {
    prop_oneof![
        Just(Data::Base64("aGk=".into())),
        Just(Data::Base64("no base64!".into())),
        Just(Data::Url("https://example.org/x".into())),
    ]
}

fn part() -> impl Strategy<Value = Part> {
    let media_type = prop_oneof![
        Just("image/png"),
        Just("application/pdf"),
        Just("text/plain; charset=utf-8"),
        Just("audio/x-odd"),
        Just("")
    ];
    prop_oneof![
        text().prop_map(Part::text),
        (media_type.clone(), data()).prop_map(|(kind, data)| Part::Image { media_type: kind.into(), data }),
        (media_type, text(), data()).prop_map(|(kind, name, data)| Part::File {
            media_type: kind.into(),
            name: name.into(),
            data
        }),
    ]
}

fn content() -> impl Strategy<Value = Content> {
    prop_oneof![text().prop_map(Content::from), prop::collection::vec(part(), 0..4).prop_map(Content::Parts)]
}

fn arguments() -> impl Strategy<Value = Result<Arguments, CallFault>> {
    prop_oneof![
        Just(Ok(Arguments::empty())),
        Just(Ok(r#" {"n":123456789012345678901234567890,"s":"\u00e9\ud83e\udd80","a":[{}, 1.50]} "#.parse().unwrap())),
        Just(Err(CallFault::Malformed { raw: "{oops".into() })),
        Just(Err(CallFault::Cut { raw: "".into() })),
    ]
}

fn call() -> impl Strategy<Value = ToolCall> {
    let name = prop_oneof![Just("look".to_owned()), Just("my tool.é".to_owned()), text()];
    (id(), prop::option::of(id()), prop::bool::weighted(0.8), name, arguments()).prop_map(
        |(id, provider_id, same, name, arguments)| {
            let provider_id = if same { Some(id.clone()) } else { provider_id };
            ToolCall { id: id.as_str().into(), ..ToolCall::from_wire(provider_id.as_deref(), &name, arguments) }
        },
    )
}

/// The same reply in some provider's own form, rightly or wrongly.
fn native(calls: &[ToolCall], wire: &str, model: &str, damaged: bool) -> Native {
    let mut blocks: Vec<Value> = calls
        .iter()
        .map(|call| match wire {
            "gemini" => {
                let mut made = serde_json::json!({"name": &*call.name, "args": call.arguments.value()});
                if let Some(id) = &call.provider_id {
                    made["id"] = Value::from(&**id);
                }
                serde_json::json!({"functionCall": made, "thoughtSignature": "sig"})
            }
            _ => serde_json::json!({
                "type": "tool_use", "id": call.provider_id.as_deref().unwrap_or(""), "name": &*call.name, "input": {},
            }),
        })
        .collect();
    let thought = match wire {
        "gemini" => serde_json::json!({"text": "hm", "thought": true}),
        _ => serde_json::json!({"type": "thinking", "thinking": "hm", "signature": "sig"}),
    };
    blocks.insert(0, thought);
    if damaged {
        blocks.truncate(calls.len());
    }
    Native { wire: wire.into(), model: model.into(), blocks: Value::from(blocks).to_string().into() }
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![Just(Outcome::Ok), Just(Outcome::Error), Just(Outcome::Denied), Just(Outcome::NotRun)]
}

/// A turn of the model with what follows it: results of all its calls, of some, in any order, of none.
fn round() -> impl Strategy<Value = Vec<Message>> {
    let makers = prop_oneof![
        3 => Just(("anthropic", "claude-sonnet-4-5")),
        3 => Just(("gemini", "gemini-3-flash-preview")),
        1 => Just(("anthropic", "other")),
        1 => Just(("openai", "other")),
    ];
    let own_form = prop::option::of((makers, prop::bool::weighted(0.2)));
    let calls = prop::collection::vec(call(), 0..4);
    let results = prop::collection::vec((content(), outcome()), 4);
    let given = (any::<usize>(), any::<bool>(), any::<bool>(), any::<bool>());
    (text(), calls, own_form, results, given).prop_map(|(text, calls, own_form, results, given)| {
        let native = own_form.map(|((wire, model), damaged)| Box::new(native(&calls, wire, model, damaged)));
        let mut answers: Vec<ToolResult> = calls
            .iter()
            .zip(results)
            .map(|(call, (content, outcome))| ToolResult {
                call_id: call.id.clone(),
                name: call.name.clone(),
                content,
                outcome,
            })
            .collect();
        let (skip, reversed, interrupted, twice) = given;
        // Mostly all results, as the engine keeps them.
        if skip % 4 == 0 {
            answers.truncate(skip % 3);
        }
        if reversed {
            answers.reverse();
        }
        if twice {
            answers.extend(answers.first().cloned());
        }
        let mut messages = vec![Message::Assistant(AssistantMessage { content: text.into(), calls, native })];
        if interrupted {
            messages.push(Message::user("wait"));
        }
        if !answers.is_empty() {
            messages.push(Message::Tool { results: answers });
        }
        messages
    })
}

fn history() -> impl Strategy<Value = Vec<Message>> {
    let step = prop_oneof![
        3 => round(),
        2 => content().prop_map(|content| vec![Message::User { content }]),
        1 => text().prop_map(|text| vec![Message::system(text)]),
        1 => content().prop_map(|content| {
            let result = ToolResult { call_id: "gone".into(), name: "look".into(), content, outcome: Outcome::Ok };
            vec![Message::Tool { results: vec![result] }]
        }),
    ];
    prop::collection::vec(step, 0..6).prop_map(|steps| steps.concat())
}

prop_compose! {
    fn request()(
        messages in history(),
        system in text(),
        tools in any::<bool>(),
        choice in 0..4,
        max_tokens in prop::option::of(any::<u32>()),
        thinking_budget in prop_oneof![Just(0), Just(2000), any::<u32>()],
        prompt_cache in any::<bool>(),
        temperature in prop::option::of(0.0..2.0),
    ) -> ModelRequest {
        let request = ModelRequest {
            system: system.into(),
            messages: Arc::new(messages),
            tools: Arc::from([]),
            tool_choice: match choice {
                0 => ToolChoice::Auto,
                1 => ToolChoice::None,
                2 => ToolChoice::Required,
                _ => ToolChoice::Tool { name: "look".into() },
            },
            options: Arc::new(ModelOptions { max_tokens, thinking_budget, prompt_cache, temperature }),
        };
        if tools { with_tools(request, &["look", "read"]) } else { request }
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn encoded<W: Wire>(wire: &W, request: &ModelRequest) -> Value {
    json(&wire.encode(request, true).unwrap())
}

fn check_anthropic(body: &Value) {
    let messages = list(&body["messages"]);
    assert!(!messages.is_empty());
    assert!(body.to_string().matches("\"cache_control\"").count() <= 4);
    if let Some(budget) = body["thinking"]["budget_tokens"].as_u64() {
        assert!(budget < body["max_tokens"].as_u64().unwrap() || budget == u64::from(u32::MAX));
        assert_eq!(body.get("temperature"), None);
    }
    let mut ids = HashSet::new();
    for (place, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap();
        assert_eq!(role, if place % 2 == 0 { "user" } else { "assistant" });
        let blocks = list(&message["content"]);
        assert!(!blocks.is_empty());
        for block in blocks {
            if block["type"] == "text" {
                assert!(!block["text"].as_str().unwrap().trim().is_empty());
            }
        }
        let of_type = |blocks: &[Value], kind: &str, key: &str| -> Vec<String> {
            let fits = blocks.iter().filter(|block| block["type"] == kind);
            fits.map(|block| block[key].as_str().unwrap().to_owned()).collect()
        };
        let calls = of_type(blocks, "tool_use", "id");
        for id in &calls {
            assert!(ids.insert(id.clone()), "{id} repeats");
        }
        for block in blocks.iter().filter(|block| block["type"] == "tool_use") {
            assert!(block["input"].is_object());
        }
        let next = messages.get(place + 1).map_or(&[][..], |next| list(&next["content"]));
        assert_eq!(of_type(next, "tool_result", "tool_use_id"), calls);
        assert!(next.iter().take(calls.len()).all(|block| block["type"] == "tool_result"), "results come first");
    }
    if let Some(last) = messages.last().filter(|last| last["role"] == "assistant")
        && let Some(text) = list(&last["content"]).last().and_then(|block| block["text"].as_str())
    {
        assert_eq!(text, text.trim_end());
    }
}

fn check_gemini(body: &Value, signed: bool) {
    let contents = list(&body["contents"]);
    assert_eq!(contents.first().unwrap()["role"], "user");
    assert_eq!(contents.last().unwrap()["role"], "user");
    let named = |content: Option<&Value>, kind: &str| -> Vec<(Value, Value)> {
        let parts = content.map_or(&[][..], |content| list(&content["parts"]));
        let fits = parts.iter().filter_map(|part| part.get(kind));
        fits.map(|part| (part["name"].clone(), part["id"].clone())).collect()
    };
    for (place, content) in contents.iter().enumerate() {
        let parts = list(&content["parts"]);
        assert!(!parts.is_empty());
        let calls = named(Some(content), "functionCall");
        assert!(calls.is_empty() || content["role"] == "model");
        assert_eq!(calls, named(contents.get(place + 1), "functionResponse"));
        let responds = parts.iter().any(|part| part.get("functionResponse").is_some());
        assert!(!responds || parts.iter().all(|part| part.get("text").is_none()), "responses stand alone");
        if let Some(first) = parts.iter().find(|part| part.get("functionCall").is_some())
            && signed
        {
            assert!(first["thoughtSignature"].is_string());
        }
    }
}

fn has_media(message: &Message) -> bool {
    let contents: Vec<&Content> = match message {
        Message::User { content } => vec![content],
        Message::Tool { results } => results.iter().map(|result| &result.content).collect(),
        Message::System { .. } | Message::Assistant(_) => vec![],
    };
    let media = |content: &&Content| match content {
        Content::Text(_) => false,
        Content::Parts(parts) => parts.iter().any(|part| !matches!(part, Part::Text { .. })),
    };
    contents.iter().any(media)
}

/// The same history as the engine keeps it: no id twice in a run.
fn distinct(mut request: ModelRequest) -> ModelRequest {
    let mut used = HashSet::new();
    let mut renamed: Vec<(Arc<str>, Arc<str>)> = Vec::new();
    let messages = request.messages.iter().cloned().map(|mut message| {
        match &mut message {
            Message::Assistant(said) => {
                renamed.clear();
                for call in &mut said.calls {
                    let mut id = Arc::clone(&call.id);
                    while id.is_empty() || !used.insert(Arc::clone(&id)) {
                        id = format!("{}~{}", call.id, used.len()).into();
                    }
                    renamed.push((std::mem::replace(&mut call.id, Arc::clone(&id)), id));
                }
            }
            Message::Tool { results } => {
                for result in results {
                    if let Some(place) = renamed.iter().position(|(old, _)| *old == result.call_id) {
                        result.call_id = renamed.remove(place).1;
                    }
                }
            }
            Message::System { .. } | Message::User { .. } => {}
        }
        message
    });
    request.messages = Arc::new(messages.collect());
    request
}

/// The request of a format that refuses what some of its models cannot see; `None` for such a refusal.
fn accepted<W: Wire>(wire: &W, request: &ModelRequest) -> Option<Value> {
    match wire.encode(request, true) {
        Ok(bytes) => Some(json(&bytes)),
        Err(error) => {
            assert_eq!((error.kind, error.retryable), (ProviderErrorKind::InvalidRequest, false));
            assert!(request.messages.iter().any(has_media), "{error}");
            None
        }
    }
}

/// Messages of the OpenAI family: results follow their calls at once, in their order, and stand nowhere else.
fn check_messages(body: &Value, id_of: impl Fn(&Value) -> Value, answers: impl Fn(&Value) -> Value) {
    let mut waiting = VecDeque::new();
    for message in list(&body["messages"]) {
        let role = message["role"].as_str().unwrap();
        assert!(["system", "developer", "user", "assistant", "tool"].contains(&role));
        if role == "tool" {
            assert_eq!(waiting.pop_front(), Some(answers(message)));
            continue;
        }
        assert!(waiting.is_empty(), "{waiting:?} are not answered before {message}");
        waiting.extend(list(&message["tool_calls"]).iter().map(&id_of));
    }
    assert!(waiting.is_empty(), "{waiting:?} are not answered");
}

fn check_chat(body: &Value, nine: bool) {
    check_messages(body, |call| call["id"].clone(), |message| message["tool_call_id"].clone());
    for message in list(&body["messages"]) {
        let mut ids = HashSet::new();
        for call in list(&message["tool_calls"]) {
            let id = call["id"].as_str().unwrap();
            assert!(ids.insert(id), "{id} repeats");
            assert!(!id.is_empty() && id.len() <= 40);
            assert!(!nine || id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric()), "{id}");
            let arguments = call["function"]["arguments"].as_str().unwrap();
            assert!(arguments.parse::<Arguments>().is_ok(), "{arguments}");
        }
    }
}

fn check_responses(body: &Value) {
    let mut waiting = HashSet::new();
    for item in list(&body["input"]) {
        let id = || item["call_id"].as_str().unwrap();
        match item["type"].as_str() {
            Some("function_call") => assert!(waiting.insert(id()), "{} repeats", id()),
            Some("function_call_output") => assert!(waiting.remove(id()), "{} was not called", id()),
            _ => {}
        }
    }
    assert!(waiting.is_empty(), "{waiting:?} are not answered");
}

fn anthropic_takes(request: &ModelRequest) {
    for model in ["claude-sonnet-4-5", "claude-opus-4-8", "other"] {
        check_anthropic(&encoded(&Anthropic::new("https://h", None, model), request));
    }
}

fn gemini_takes(request: &ModelRequest) {
    for model in ["gemini-2.5-flash", "gemini-3-flash-preview"] {
        check_gemini(&encoded(&Gemini::new("https://h", None, model), request), model.contains('3'));
    }
}

fn chat_takes(request: &ModelRequest) {
    for provider in ["openai", "groq", "mistral", "deepseek", "openrouter", "ollama", "custom"] {
        let wire = Chat::new(Dialect::of(provider), "https://h".into(), None, "other");
        if let Some(body) = accepted(&wire, request) {
            check_chat(&body, provider == "mistral");
        }
    }
}

fn responses_takes(request: &ModelRequest) {
    if let Some(body) = accepted(&Responses::new("https://h".into(), None, "other"), request) {
        check_responses(&body);
    }
}

fn ollama_takes(request: &ModelRequest) {
    if let Some(body) = accepted(&Ollama::new("https://h".into(), None, "other"), request) {
        check_messages(&body, |call| call["function"]["name"].clone(), |message| message["tool_name"].clone());
    }
}

/// Every wire format against a history that the engine keeps.
pub(crate) fn every_format_takes(request: &ModelRequest) {
    anthropic_takes(request);
    gemini_takes(request);
    chat_takes(request);
    responses_takes(request);
    ollama_takes(request);
}

proptest! {
    #[test]
    fn anthropic_takes_any_history(request in request()) {
        anthropic_takes(&request);
    }

    #[test]
    fn gemini_takes_any_history(request in request()) {
        gemini_takes(&request);
    }

    #[test]
    fn chat_takes_any_history(request in request().prop_map(distinct)) {
        chat_takes(&request);
    }

    #[test]
    fn responses_takes_any_history(request in request().prop_map(distinct)) {
        responses_takes(&request);
    }

    #[test]
    fn ollama_takes_any_history(request in request().prop_map(distinct)) {
        ollama_takes(&request);
    }
}
