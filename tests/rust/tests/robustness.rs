//! Bad input of every kind: a typed error that says what to do, or a result that the model can work with.

#![allow(clippy::unwrap_used, clippy::panic, reason = "what the tests share is test code too")]

use cheliped::agent::Conversation;
use cheliped::approval::{ApprovalGate, ApprovalRequest, Decision};
use cheliped::context::RunContext;
use cheliped::env::{Env, Variables};
use cheliped::error::BoxError;
use cheliped::hooks::{Decided, Hook, Interceptor, RunEvent};
use cheliped::message::{Arguments, Content, Data, Message, Part};
use cheliped::provider::{ProviderConfig, ScriptedProvider, Step};
use cheliped::schema::Schema;
use cheliped::screening::GuardOptions;
use cheliped::screening::{Guard, Piece, Verdict};
use cheliped::tool::{Effect, FnTool, Tool, ToolContext, ToolDefinition, ToolError, ToolOutput, tool_fn_with_schema};
use cheliped::{Agent, Error};
use cheliped_test_support::{Answer, Server};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;

struct NoVariables;

impl Variables for NoVariables {
    fn get(&self, _: &str) -> Option<String> {
        None
    }
}

fn bare() -> Env {
    Env { variables: Arc::new(NoVariables), ..Env::default() }
}

fn echo(name: &str) -> FnTool {
    let schema = Schema::empty().unwrap();
    tool_fn_with_schema(name, "Echoes.", schema, |arguments, _| async move { Ok(arguments.as_str().to_owned()) })
}

/// The error of building an agent: its code, and words that tell what to do.
#[track_caller]
fn refused(built: Result<Agent, Error>, words: &[&str]) {
    let error = built.unwrap_err();
    assert_eq!(error.code(), "configuration");
    let message = error.to_string();
    for word in words {
        assert!(message.contains(word), "{message:?} does not say {word:?}");
    }
    assert!(error.details()["problems"].as_array().is_some_and(|problems| !problems.is_empty()));
}

#[test]
fn settings_that_cannot_be_used() {
    let with = |provider: &str| Agent::builder().provider(provider).env(bare()).build();
    refused(with("nobody"), &["nobody", "anthropic", "openai"]);
    refused(with("nobody:model-1"), &["nobody"]);
    refused(with("openai:gpt-5"), &["OPENAI_API_KEY"]);
    refused(with("anthropic:claude-sonnet-4-5"), &["ANTHROPIC_API_KEY"]);
    refused(with(""), &[]);
    refused(Agent::builder().env(bare()).build(), &["ANTHROPIC_API_KEY"]);
    let scripted = || Agent::builder().provider(ScriptedProvider::new());
    refused(scripted().tool(echo("look")).tool(echo("look")).build(), &["two tools", "\"look\"", "rename"]);
    refused(scripted().tool(echo("")).build(), &["1 to 64"]);
    refused(scripted().tool(echo(&"x".repeat(65))).build(), &["1 to 64"]);
    refused(scripted().tool(echo("naïve")).build(), &["1 to 64"]);
    refused(scripted().always_include_tools(["look"]).build(), &["always_include_tools", "\"look\""]);
    let config = ProviderConfig::named("openai").api_key("k").base_url("no address");
    refused(Agent::builder().provider(config).env(bare()).build(), &["base_url", "https://host"]);
    let real = ProviderConfig::named("openai").model("gpt-5").api_key("sk-secret");
    let built = Agent::builder().provider(real).allow_real_providers(false).env(bare()).build();
    let message = built.as_ref().unwrap_err().to_string();
    assert!(!message.contains("sk-secret"));
    refused(built, &["forbidden", "scripted"]);
}

#[test]
fn schemas_that_cannot_be_used() {
    for (schema, word) in [
        (json!([]), "object"),
        (json!({"type": "array"}), "object"),
        (json!({"type": ["object", "null"]}), "object"),
        (json!({"properties": 7}), "properties"),
        (json!({"properties": {"a": {"type": "text"}}}), "text"),
        (json!({"properties": {"a": {"pattern": "(?<=x)y"}}}), "/properties/a/pattern: "),
        (json!({"properties": {"a": {"pattern": "(?<=x)y"}}}), "look-around"),
        (json!({"properties": {"a": {"pattern": "("}}}), ""),
        (json!({"properties": {"a": {"$ref": "https://example.com/schema.json"}}}), "example.com"),
        (json!({"properties": {"a": {"minimum": "low"}}}), ""),
        (json!({"required": "a"}), ""),
    ] {
        let error = Schema::new(schema.clone()).unwrap_err();
        assert!(error.to_string().starts_with("schema cannot be used: "), "{schema}");
        assert!(error.problem.contains(word), "{schema}: {error}");
        assert_eq!(Error::from(error).code(), "configuration");
    }
    assert!(Schema::new(json!({"properties": []})).is_ok(), "an empty list is another language's empty map");
}

#[tokio::test]
async fn a_message_of_a_megabyte() {
    let message = "ü".repeat(1 << 19);
    let model = ScriptedProvider::new().call("look", json!({})).reply("Long.");
    let mut long = GuardOptions::default();
    long.max_message_length = 1 << 20;
    let agent = Agent::builder().provider(model.clone()).tool(echo("look")).guard_rules(long).build().unwrap();
    assert_eq!(agent.send(message.as_str()).await.unwrap().text, "Long.");
    assert_eq!(model.requests()[1].texts[0].len(), 1 << 20);

    // An answer of that size streams in pieces that are its bytes.
    let answer = "word ".repeat(200_000);
    let model = ScriptedProvider::new().reply(answer.as_str());
    let agent = Agent::builder().provider(model).build().unwrap();
    let mut stream = agent.stream("go");
    let mut joined = String::new();
    while let Some(event) = stream.next().await {
        match event.unwrap() {
            cheliped::agent::StreamEvent::TextDelta { text, .. } => joined.push_str(&text),
            cheliped::agent::StreamEvent::Finished { response } => assert_eq!(response.text.len(), answer.len()),
            _ => {}
        }
    }
    assert_eq!(joined, answer);

    // Arguments and pictures of that size, too.
    let arguments = json!({"text": "x".repeat(1 << 20)});
    let model = ScriptedProvider::new().call("look", arguments).reply("ok");
    let agent = Agent::builder().provider(model.clone()).tool(echo("look")).build().unwrap();
    let picture = Part::Image { media_type: "image/png".into(), data: Data::Base64("A".repeat(1 << 20).into()) };
    assert_eq!(agent.send(Content::Parts(vec![Part::text("see"), picture])).await.unwrap().text, "ok");
    let result = model.requests()[1].texts.last().unwrap().clone();
    // 2500 tokens by default, at four characters each, and the note.
    assert!(result.starts_with("{\"text\":\"xxx") && result.contains("\n[cheliped: tool output cut at 2500 tokens."));
    assert_eq!(result.find('\n'), Some(10_000));
}

#[tokio::test]
async fn what_is_exactly_the_default_cap_stays() {
    let schema = Schema::empty().unwrap();
    let long = tool_fn_with_schema("long", "", schema, |_, _| async { Ok(format!("{}é", "a".repeat(9999))) });
    let model = ScriptedProvider::new().call("long", json!({})).reply("ok");
    let agent = Agent::builder().provider(model.clone()).tool(long).build().unwrap();
    agent.send("go").await.unwrap();
    assert_eq!(model.requests()[1].texts[2], format!("{}é", "a".repeat(9999)));
}

/// What the model gets for one call with these arguments, as it wrote them.
async fn result_of(tool: impl Tool + 'static, raw: &str) -> String {
    let name = tool.definition().name().to_owned();
    let model = ScriptedProvider::new().call(&name, Value::from(raw)).reply("ok");
    let agent = Agent::builder().provider(model.clone()).tool(tool).build().unwrap();
    assert_eq!(agent.send("go").await.unwrap().text, "ok", "{raw}");
    model.requests()[1].texts[2].clone()
}

#[tokio::test]
async fn arguments_that_cannot_be_used() {
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(500), "]".repeat(500));
    for raw in
        ["{", "[]", "7", "true", "{'a':1}", "{\"a\":NaN}", "{\"a\":1e999}", "{\"a\":\"\\ud800\"}", "{} {}", &deep]
    {
        let result = result_of(echo("look"), raw).await;
        assert!(result.starts_with("{\"error\":\"the arguments of `look` are not a JSON object"), "{raw}: {result}");
        assert!(result.len() < 500, "{raw}: the model is not flooded with its own words");
    }
}

#[tokio::test]
async fn numbers_of_any_size_stay_exact() {
    let raw =
        r#"{"id":123456789012345678901234567890,"min":-99999999999999999999,"f":0.12345678901234567890123,"e":1e300}"#;
    assert_eq!(result_of(echo("look"), raw).await, raw);

    // Through a conversation's history, a saved state, and back onto the wire.
    let model = ScriptedProvider::new().call("look", Value::from(raw)).reply("ok");
    let agent = Agent::builder().provider(model.clone()).tool(echo("look")).build().unwrap();
    agent.send("go").await.unwrap();
    let history = serde_json::to_string(&*model.requests()[1].request.messages).unwrap();
    let read: Vec<Message> = serde_json::from_str(&history).unwrap();
    let Message::Assistant(said) = &read[1] else { panic!("{history}") };
    assert_eq!(said.calls[0].arguments.as_str(), raw);
}

type Misbehaves = fn() -> BoxFuture<'static, Result<ToolOutput, ToolError>>;

/// A tool that misbehaves before its future is made, inside it, or when it is asked what it changes.
struct Bad {
    definition: ToolDefinition,
    effect: fn() -> Effect,
    call: Misbehaves,
}

impl Bad {
    fn new(effect: fn() -> Effect, call: Misbehaves) -> Self {
        Self { definition: ToolDefinition::new("bad", "", Schema::empty().unwrap()), effect, call }
    }
}

impl Tool for Bad {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn effect(&self, _: &Arguments) -> Effect {
        (self.effect)()
    }

    fn call<'a>(&'a self, _: Arguments, _: ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        (self.call)()
    }
}

const FAILED: &str = r#"{"error":"the tool failed; try something else or tell the user"}"#;

#[tokio::test(start_paused = true)]
async fn tools_that_misbehave() {
    let read_only = || Effect::ReadOnly;
    assert_eq!(result_of(Bad::new(read_only, || panic!("at once")), "{}").await, FAILED);
    assert_eq!(result_of(Bad::new(read_only, || Box::pin(async { panic!("later") })), "{}").await, FAILED);
    let never = || -> BoxFuture<'static, _> { Box::pin(std::future::pending()) };
    let result = result_of(Bad::new(read_only, never), "{}").await;
    assert_eq!(result, r#"{"error":"the tool did not finish in 180 s and was stopped"}"#);
    let leaky = || -> BoxFuture<'static, _> {
        Box::pin(async { Err(ToolError::internal("cannot open /srv/secret", "permission denied")) })
    };
    assert_eq!(result_of(Bad::new(read_only, leaky), "{}").await, FAILED);
    let fine = || -> BoxFuture<'static, _> { Box::pin(async { Ok("done".into()) }) };
    assert_eq!(result_of(Bad::new(|| panic!("who knows"), fine), "{}").await, "done");
}

/// Not knowing what a call changes, the gate is asked.
#[tokio::test]
async fn a_tool_that_cannot_say_what_it_changes_is_gated() {
    struct Count(Arc<Mutex<usize>>);
    impl ApprovalGate for Count {
        fn decide<'a>(&'a self, _: ApprovalRequest<'a>) -> BoxFuture<'a, Result<Decision, BoxError>> {
            *self.0.lock().unwrap() += 1;
            Box::pin(std::future::ready(Ok(Decision::Allow)))
        }
    }
    let asked = Arc::new(Mutex::new(0));
    let tool = Bad::new(|| panic!("who knows"), || Box::pin(async { Ok("done".into()) }));
    let model = ScriptedProvider::new().call("bad", json!({})).reply("ok");
    let agent = Agent::builder().provider(model).tool(tool).approval_gate(Count(Arc::clone(&asked))).build().unwrap();
    agent.send("go").await.unwrap();
    assert_eq!(*asked.lock().unwrap(), 1);
}

/// Outside code that panics where it makes its future, or in it, or hangs.
#[derive(Clone, Copy)]
enum Manner {
    PanicsAtOnce,
    PanicsLater,
    Hangs,
    Fails,
}

impl Manner {
    fn act<'a, T: Send + 'a>(self) -> BoxFuture<'a, Result<T, BoxError>> {
        match self {
            Self::PanicsAtOnce => panic!("at once"),
            Self::PanicsLater => Box::pin(async { panic!("later") }),
            Self::Hangs => Box::pin(std::future::pending()),
            Self::Fails => Box::pin(std::future::ready(Err("broken".into()))),
        }
    }
}

struct Rude(Manner);

impl Hook for Rude {
    fn handle<'a>(&'a self, _: &'a RunEvent) -> BoxFuture<'a, Result<(), BoxError>> {
        self.0.act()
    }
}

impl Guard for Rude {
    fn name(&self) -> &str {
        "rude"
    }

    fn scan<'a>(&'a self, _: Piece<'a>, _: &'a RunContext) -> BoxFuture<'a, Result<Verdict, BoxError>> {
        self.0.act()
    }
}

impl ApprovalGate for Rude {
    fn decide<'a>(&'a self, _: ApprovalRequest<'a>) -> BoxFuture<'a, Result<Decision, BoxError>> {
        self.0.act()
    }
}

impl Interceptor for Rude {
    fn before_send<'a>(&'a self, _: &'a RunContext, _: &'a str) -> Decided<'a, String> {
        self.0.act()
    }

    fn before_persist<'a>(&'a self, _: &'a RunContext, _: &'a [Message]) -> Decided<'a, Vec<Message>> {
        self.0.act()
    }
}

const MANNERS: [Manner; 4] = [Manner::PanicsAtOnce, Manner::PanicsLater, Manner::Hangs, Manner::Fails];

#[tokio::test(start_paused = true)]
async fn outside_code_that_misbehaves() {
    for manner in MANNERS {
        let script = || ScriptedProvider::new().call("look", json!({})).reply("ok");
        let agent = || Agent::builder().provider(script()).tool(echo("look").mutating());

        // Hooks only watch: the run goes on.
        let response = agent().on_any(Rude(manner)).build().unwrap().send("go").await.unwrap();
        assert_eq!(response.text, "ok");

        // Guards, gates and interceptors that cannot answer have refused.
        let error = agent().guard(Rude(manner)).build().unwrap().send("go").await.unwrap_err();
        assert_eq!((error.code(), error.details()["guard"].as_str()), ("guard", Some("rude")));
        let blocked = agent().interceptor(Rude(manner)).build().unwrap();
        assert_eq!(blocked.send("go").await.unwrap().text, "");
        let conversation = Conversation::with_id("c");
        let blocked = agent().interceptor(Rude(manner)).build().unwrap();
        let turn = blocked.send_in_conversation(&conversation, "go", RunContext::new()).await.unwrap();
        assert!(turn.response.persist_error.is_some() && turn.conversation.is_empty());

        // A gate may take its time: people are slow. Only the deadline ends it.
        let context = RunContext::new().deadline(Duration::from_secs(3600));
        let gated = agent().approval_gate(Rude(manner)).build().unwrap().send_with("go", context).await;
        match manner {
            Manner::Hangs => assert_eq!(gated.unwrap_err().code(), "timeout"),
            Manner::PanicsAtOnce | Manner::PanicsLater | Manner::Fails => assert_eq!(gated.unwrap().text, "ok"),
        }
    }
}

#[tokio::test]
async fn a_script_that_is_over_says_so() {
    let agent = Agent::builder().provider(ScriptedProvider::new()).build().unwrap();
    let error = agent.send("go").await.unwrap_err();
    assert_eq!(error.code(), "provider");
    assert!(error.to_string().contains("add a step"));
}

async fn asked(answer: Answer) -> (Result<cheliped::AgentResponse, Error>, Server) {
    asked_with(vec![answer], false).await
}

async fn asked_with(answers: Vec<Answer>, streamed: bool) -> (Result<cheliped::AgentResponse, Error>, Server) {
    let server = Server::scripted(answers).await.unwrap();
    let config = ProviderConfig::named("openai").model("m").api_key("sk-secret").base_url(server.url());
    let agent = Agent::builder().provider(config).tool(echo("look")).env(bare()).build().unwrap();
    let result = if streamed { agent.stream("go").response().await } else { agent.send("go").await };
    (result, server)
}

/// A provider error: typed, with what can be told, and without the key.
#[track_caller]
fn provider_error(result: Result<cheliped::AgentResponse, Error>, kind: &str, status: Option<u16>) -> String {
    let error = result.unwrap_err();
    assert_eq!(error.code(), "provider");
    let details = error.details();
    assert_eq!(details["kind"], kind, "{error}");
    assert_eq!(details["status"], json!(status), "{error}");
    let told = format!("{error} {error:?} {details:?}");
    assert!(!told.contains("sk-secret"), "the key is told");
    error.to_string()
}

fn completion(message: Value) -> Value {
    json!({"id": "c", "object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
}

#[tokio::test]
async fn answers_of_a_server_that_cannot_be_used() {
    let html = "<html><head><title>502 Bad Gateway</title></head><body>".to_owned() + &"<p>nginx</p>".repeat(5000);
    let (result, _server) = asked(Answer::new(502).header("content-type", "text/html").body(html)).await;
    let message = provider_error(result, "server", Some(502));
    assert!(message.len() < 1000, "the whole page is told: {} bytes", message.len());

    let (result, _server) =
        asked(Answer::new(200).header("content-type", "text/html").body("<html>hello</html>")).await;
    provider_error(result, "server", Some(200));
    let (result, _server) = asked(Answer::new(200).body("")).await;
    provider_error(result, "server", Some(200));
    let (result, _server) =
        asked(Answer::new(200).body(b"{\"choices\":[{\"message\":{\"content\":\"\xff\xfe\"}}]}".to_vec())).await;
    match result {
        Ok(response) => assert!(response.text.contains('\u{fffd}'), "{}", response.text),
        Err(error) => assert_eq!(error.code(), "provider"),
    }
    let whole = completion(json!({"role": "assistant", "content": "hello"}));
    let (result, _server) = asked(Answer::json(200, &whole).close_after(20)).await;
    provider_error(result, "server", None);
    let (result, _server) =
        asked(Answer::json(401, &json!({"error": {"message": "Incorrect API key provided: sk-secret"}}))).await;
    provider_error(result, "auth", Some(401));
}

#[tokio::test]
async fn streams_that_break() {
    let piece = "data: {\"choices\":[{\"delta\":{\"content\":\"one \"}}]}\n\n";
    for (body, what) in [
        (piece.to_owned(), "no end"),
        (format!("{piece}data: {{\"choices\":[{{\"del"), "cut inside an event"),
        (format!("{piece}data: {{broken\n\n"), "no JSON"),
        (String::new(), "nothing at all"),
    ] {
        let (result, _server) = asked_with(vec![Answer::sse(body)], true).await;
        let error = result.unwrap_err();
        assert_eq!(error.code(), "provider", "{what}");
        assert!(error.is_retryable(), "{what}: {error}");
    }
}

#[tokio::test]
async fn calls_over_the_wire() {
    let call = |arguments: &str| {
        completion(json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "look", "arguments": arguments}}]}))
    };
    let answer = completion(json!({"role": "assistant", "content": "ok"}));
    let id = r#"{"id":123456789012345678901234567890}"#;
    for (arguments, sent_back, result) in [
        (id, id, id.to_owned()),
        ("{oops", "{}", String::new()),
        (r#""{\"a\":1}""#, r#"{"a":1}"#, r#"{"a":1}"#.to_owned()),
    ] {
        let answers = vec![Answer::json(200, &call(arguments)), Answer::json(200, &answer)];
        let (response, server) = asked_with(answers, false).await;
        assert_eq!(response.unwrap().text, "ok");
        let requests = server.requests();
        let second: Value = requests[1].json();
        let messages = second["messages"].as_array().unwrap();
        let said = messages.iter().find(|message| message["role"] == "assistant").unwrap();
        assert_eq!(said["tool_calls"][0]["function"]["arguments"], sent_back);
        let told = messages.iter().find(|message| message["role"] == "tool").unwrap()["content"].as_str().unwrap();
        if result.is_empty() {
            assert!(told.starts_with("{\"error\":"), "{told}");
        } else {
            assert_eq!(told, result);
        }
    }
}

#[tokio::test]
async fn steps_of_a_script_are_checked() {
    for wrong in [r#"[{"txt": "a"}]"#, r#"{"steps": [], "loop": true}"#, r#"[{"error": {"kind": "odd"}}]"#, "7", ""] {
        assert!(ScriptedProvider::from_json(wrong).is_err(), "{wrong}");
    }
    let step = Step::text("x");
    let agent = Agent::builder().provider(ScriptedProvider::new().step(step)).build().unwrap();
    assert_eq!(agent.send("go").await.unwrap().text, "x");
}
