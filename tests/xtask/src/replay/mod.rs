//! `cargo xtask replay DIR`: serves recorded exchanges from a loopback server to the real provider code and compares
//! what it makes of them with what each exchange expects.
//!
//! Every exchange runs as recorded; every stream runs again cut into single bytes; where an exchange shows the shape
//! of a request, the request that the provider code sends is compared with the recorded one.

mod check;
mod exchange;
mod shape;

use crate::progress::Progress;
use check::Got;
use cheliped::env::Variables;
use cheliped::message::{AssistantMessage, Message, Outcome, ToolCall, ToolResult};
use cheliped::provider::{
    self, ModelOptions, ModelRequest, Provider, ProviderConfig, StreamPart, ToolChoice, ToolSpec,
};
use cheliped_test_support::{Answer, Cut, Ending, Server};
use exchange::{Exchange, Loaded};
use futures::StreamExt;
use serde_json::Value;
use shape::{Api, Step};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The most that one exchange may take.
const LIMIT: Duration = Duration::from_secs(20);
/// How long the provider code waits for the next byte where the server falls silent on purpose.
const SHORT: Duration = Duration::from_secs(1);
/// Exchanges at the same time.
const AT_ONCE: usize = 8;

/// A key that opens nothing.
const KEY: &str = "no-key-at-all";

/// How one exchange is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// As recorded.
    Whole,
    /// The stream cut into single bytes.
    Bytes,
    /// For the shape of the request.
    Request,
}

/// How a replay went.
pub(crate) struct Outcomes {
    pub(crate) passed: usize,
    /// A line for each difference.
    pub(crate) misses: Vec<String>,
    pub(crate) failed: usize,
}

/// Runs the exchanges under `folder` whose id contains `only`.
///
/// # Errors
/// When the folder cannot be used.
pub(crate) fn replay(folder: &Path, only: Option<&str>) -> Result<Outcomes, String> {
    let loaded = exchange::load(folder, only)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start a runtime: {error}"))?;
    Ok(runtime.block_on(replay_all(loaded)))
}

async fn replay_all(loaded: Vec<Loaded>) -> Outcomes {
    let mut outcomes = Outcomes { passed: 0, misses: Vec::new(), failed: 0 };
    let mut jobs = Vec::new();
    for Loaded { name, exchange } in loaded {
        match exchange {
            Err(problem) => {
                outcomes.failed += 1;
                outcomes.misses.push(format!("{name} {problem}"));
            }
            Ok(exchange) => {
                let exchange = Arc::new(exchange);
                let bytes = exchange.is_stream().then_some(Mode::Bytes);
                let request = exchange.shows_request().then_some(Mode::Request);
                let modes = std::iter::once(Mode::Whole).chain(bytes).chain(request);
                jobs.extend(modes.map(|mode| (exchange.clone(), mode)));
            }
        }
    }
    let mut progress = Progress::new("replay", jobs.len());
    let mut results = futures::stream::iter(jobs)
        .map(|(exchange, mode)| async move {
            let name = format!("{} [{}]", exchange.id, mode.name());
            // A task of its own, so that a panic is a miss and not the end.
            let lines = match tokio::spawn(tokio::time::timeout(LIMIT, run(exchange, mode))).await {
                Ok(Ok(Ok(lines))) => lines,
                Ok(Ok(Err(problem))) => vec![problem],
                Ok(Err(_)) => vec![format!("did not end within {} s", LIMIT.as_secs())],
                Err(panic) => vec![format!("ended the task: {panic}")],
            };
            (name, lines)
        })
        .buffered(AT_ONCE);
    while let Some((name, lines)) = results.next().await {
        progress.step();
        if lines.is_empty() {
            outcomes.passed += 1;
        } else {
            outcomes.failed += 1;
            outcomes.misses.extend(lines.into_iter().map(|line| format!("{name} {line}")));
        }
    }
    outcomes
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Bytes => "bytes",
            Self::Request => "request",
        }
    }
}

async fn run(exchange: Arc<Exchange>, mode: Mode) -> Result<Vec<String>, String> {
    let api = Api::of(&exchange.api).ok_or_else(|| format!("the API {:?} is not known", exchange.api))?;
    match mode {
        Mode::Whole => run_answer(&exchange, api, answer_of(&exchange)?).await,
        Mode::Bytes => run_answer(&exchange, api, answer_of(&exchange)?.single_bytes()).await,
        Mode::Request => run_request(&exchange, api).await,
    }
}

async fn run_answer(exchange: &Exchange, api: Api, answer: Answer) -> Result<Vec<String>, String> {
    // A whole answer leaves its connection to the next request; any other closes it.
    let kept = usize::from(answer.ending == Ending::Clean);
    let server = Server::start(move |_| answer.clone()).await.map_err(|error| format!("no server: {error}"))?;
    let provider = provider_for(exchange, api, &server)?;
    let got = ask(provider.as_ref(), &plain_request(), exchange.is_stream()).await;
    let mut lines = check::check(exchange, &got);
    if server.requests().len() != 1 {
        lines.push(format!("expected one request, the server got {}", server.requests().len()));
    }
    if kept == 0 && tokio::time::timeout(SHORT, server.all_closed()).await.is_err() || server.open_connections() > 1 {
        lines.push(format!("{} connections are still open", server.open_connections()));
    }
    Ok(lines)
}

async fn ask(provider: &dyn Provider, request: &ModelRequest, stream: bool) -> Got {
    let mut got = Got { streamed_text: String::new(), streamed_thinking: String::new(), went_on: false, end: None };
    if !stream {
        got.end = Some(provider.send(request).await);
        return got;
    }
    let mut parts = provider.stream(request);
    while let Some(part) = parts.next().await {
        got.went_on |= got.end.is_some();
        match part {
            Ok(StreamPart::Text(text)) => got.streamed_text.push_str(&text),
            Ok(StreamPart::Thinking(text)) => got.streamed_thinking.push_str(&text),
            Ok(StreamPart::Reply(reply)) => got.end = Some(Ok(*reply)),
            Err(error) => got.end = Some(Err(error)),
        }
    }
    got
}

/// Sends the recorded history and compares what arrives.
async fn run_request(exchange: &Exchange, api: Api) -> Result<Vec<String>, String> {
    let reply = Arc::new(Mutex::new(Value::Null));
    let next = reply.clone();
    let server = Server::start(move |_| Answer::json(200, &next.lock().unwrap_or_else(PoisonError::into_inner)))
        .await
        .map_err(|error| format!("no server: {error}"))?;
    let provider = provider_for(exchange, api, &server)?;
    let recorded = shape::history_of(api, &exchange.model, &exchange.request.body)?;
    let mut system = String::new();
    let mut messages: Vec<Message> = Vec::new();
    for (index, step) in recorded.steps.into_iter().enumerate() {
        match step {
            Step::System(text) if index == 0 => system = text,
            Step::System(text) => messages.push(Message::system(text)),
            Step::User(content) => messages.push(Message::User { content }),
            Step::Reply(body) => {
                *reply.lock().unwrap_or_else(PoisonError::into_inner) = body;
                let read = provider.send(&plain_request()).await;
                let read = read.map_err(|error| format!("cannot read back a recorded assistant turn: {error}"))?;
                let calls = read.calls.into_iter().enumerate().map(|(at, call)| with_id(call, messages.len(), at));
                messages.push(Message::Assistant(AssistantMessage {
                    content: read.text.into(),
                    calls: calls.collect(),
                    native: read.native,
                }));
            }
            Step::Result(result) => push_result(&mut messages, result)?,
        }
    }
    server.take_requests();
    let request = ModelRequest {
        system: system.into(),
        messages: Arc::new(messages),
        tools: recorded.tools.into(),
        tool_choice: recorded.tool_choice,
        options: Arc::new(recorded.options),
    };
    // The answer is of no interest here; an error before anything was sent is.
    let answer = provider.send(&request).await;
    match server.take_requests().as_slice() {
        [sent] => Ok(shape::compare(exchange, api, &sent.json())),
        sent => Err(format!(
            "expected one request, got {} ({})",
            sent.len(),
            answer.err().map_or_else(String::new, |error| error.to_string())
        )),
    }
}

/// Gives a call the unique id that a run would give it.
fn with_id(mut call: ToolCall, turn: usize, at: usize) -> ToolCall {
    if call.id.is_empty() {
        call.id = call.provider_id.clone().unwrap_or_else(|| format!("own_{turn}_{at}").into());
    }
    call
}

/// Adds a result to the tool message behind the last assistant message.
fn push_result(messages: &mut Vec<Message>, result: shape::StepResult) -> Result<(), String> {
    let answered = match messages.last() {
        Some(Message::Tool { results }) => results.len(),
        _ => 0,
    };
    let calls = messages.iter().rev().find_map(|message| match message {
        Message::Assistant(message) => Some(message.calls.as_slice()),
        Message::System { .. } | Message::User { .. } | Message::Tool { .. } => None,
    });
    let calls = calls.unwrap_or_default();
    let call = match &result.id {
        Some(id) => calls.iter().find(|call| call.provider_id.as_deref() == Some(id)),
        None => calls.get(answered),
    };
    let call = call.ok_or_else(|| format!("the recorded result {:?} answers no call", result.id))?;
    let outcome = if result.is_error { Outcome::Error } else { Outcome::Ok };
    let content = result.text.into();
    let result = ToolResult { call_id: call.id.clone(), name: call.name.clone(), content, outcome };
    match messages.last_mut() {
        Some(Message::Tool { results }) => results.push(result),
        _ => messages.push(Message::Tool { results: vec![result] }),
    }
    Ok(())
}

fn plain_request() -> ModelRequest {
    ModelRequest {
        system: "You answer briefly.".into(),
        messages: Arc::new(vec![Message::user("Hello.")]),
        tools: Vec::<ToolSpec>::new().into(),
        tool_choice: ToolChoice::Auto,
        options: Arc::new(ModelOptions::default()),
    }
}

fn answer_of(exchange: &Exchange) -> Result<Answer, String> {
    let response = &exchange.response;
    let headers = match &response.headers {
        Value::Object(headers) => headers
            .iter()
            .map(|(name, value)| (name.clone(), value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
            .collect(),
        Value::Null => Vec::new(),
        other => return Err(format!("headers are no object: {other}")),
    };
    let transport = response.transport.clone().unwrap_or_default();
    let cut = match (transport.split_at.is_empty(), exchange.is_stream()) {
        (false, _) => Cut::At(transport.split_at),
        (true, true) => Cut::Chunk,
        (true, false) => Cut::Whole,
    };
    let ending = match (transport.close_after_bytes, transport.hang_ms) {
        (Some(bytes), None) => Ending::CloseAfter(bytes),
        (None, Some(silence)) => Ending::Hang(Duration::from_millis(silence)),
        (None, None) => Ending::Clean,
        (Some(_), Some(_)) => return Err("transport both closes and hangs".into()),
    };
    let gap = if matches!(cut, Cut::At(_)) { Duration::from_millis(5) } else { Duration::ZERO };
    Ok(Answer { headers, cut, ending, gap, ..Answer::new(response.status).body(exchange.body()) })
}

/// The real provider code, pointed at the server.
fn provider_for(exchange: &Exchange, api: Api, server: &Server) -> Result<Arc<dyn Provider>, String> {
    let name = if exchange.provider == "compatible" { "custom" } else { exchange.provider.as_str() };
    let api = match api {
        Api::Messages => provider::Api::Messages,
        Api::Chat => provider::Api::Chat,
        Api::Responses => provider::Api::Responses,
        Api::Gemini => provider::Api::GenerateContent,
        Api::Ollama => provider::Api::OllamaChat,
    };
    let config = ProviderConfig::named(name).api(api).model(&exchange.model).api_key(KEY).base_url(server.url());
    // Long enough for a busy machine, short where the server falls silent on purpose.
    let silent = exchange.response.transport.as_ref().is_some_and(|transport| transport.hang_ms.is_some());
    let wait = if silent { SHORT } else { LIMIT };
    let config = config.connect_timeout(LIMIT).first_byte_timeout(wait).idle_timeout(wait).call_timeout(wait);
    config.build(&NoVariables).map_err(|error| format!("cannot make the provider: {error}"))
}

/// An empty environment: a replay depends on nothing outside its folder.
struct NoVariables;

impl Variables for NoVariables {
    fn get(&self, _: &str) -> Option<String> {
        None
    }
}

#[cfg(test)]
mod tests;
