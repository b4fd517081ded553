//! A model that says what a test wrote down for it.
//!
//! It opens no connection and decides nothing: replies, tool calls, delays and failures come from the script, in
//! order. What it was asked is kept for the test to look at.

mod script;

pub use script::{Script, ScriptedError, Step};

use super::{ModelReply, ModelRequest, Provider, ProviderError, ProviderErrorKind, StreamPart, ToolChoice};
use crate::message::{Message, Role};
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream, StreamExt};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Requests that are kept beyond the number of steps.
const EXTRA_RECORDS: usize = 256;

/// A provider with canned replies, for tests of agents.
///
/// Each request gets the next step. Clones share their place in the script and what they recorded, so a test gives
/// one clone to the agent and asks the other what was sent.
///
/// ```
/// use cheliped::message::Message;
/// use cheliped::provider::{ModelRequest, Provider, ProviderErrorKind, ScriptedProvider};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let model = ScriptedProvider::new()
///     .call("clock", json!({"zone": "UTC"}))
///     .reply("It is noon.")
///     .fail(ProviderErrorKind::Overloaded);
///
/// let request = ModelRequest {
///     system: "".into(),
///     messages: vec![Message::user("What time is it?")].into(),
///     tools: [].into(),
///     tool_choice: Default::default(),
///     options: Default::default(),
/// };
/// assert_eq!(&*model.send(&request).await?.calls[0].name, "clock");
/// assert_eq!(model.send(&request).await?.text, "It is noon.");
/// assert!(model.send(&request).await.is_err());
/// assert_eq!(model.requests()[0].texts, ["What time is it?"]);
///
/// // The script is over: the error says so.
/// let error = model.send(&request).await.unwrap_err();
/// assert_eq!(error.kind, ProviderErrorKind::InvalidRequest);
/// assert!(error.message.contains("call number 4"));
/// # Ok::<(), cheliped::provider::ProviderError>(()) }).unwrap();
/// ```
#[derive(Clone)]
pub struct ScriptedProvider {
    name: Arc<str>,
    model: Arc<str>,
    source: Source,
    place: Place,
    repeat: bool,
    latency: Duration,
    record: bool,
    log: Arc<Log>,
}

#[derive(Clone)]
enum Source {
    Steps(Vec<Arc<Step>>),
    Function(Arc<StepFunction>),
}

type StepFunction = dyn Fn(&ModelRequest, usize) -> Step + Send + Sync;

/// How the step for a request is found.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// By counting all calls of this provider and its clones.
    ByCall,
    /// By counting the assistant messages since the last user message.
    ByTurn,
}

#[derive(Default)]
struct Log {
    calls: AtomicUsize,
    requests: Mutex<Vec<RecordedRequest>>,
}

/// A request as a [`ScriptedProvider`] got it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RecordedRequest {
    /// Who speaks, message by message.
    pub roles: Vec<Role>,
    /// The text of each message; for tool messages the texts of the results, a line each.
    pub texts: Vec<String>,
    /// Names of the tools on offer.
    pub tools: Vec<String>,
    /// Whether a tool had to be called.
    pub tool_choice: ToolChoice,
    /// Whether the reply was asked for in pieces.
    pub streamed: bool,
    /// The whole request.
    pub request: ModelRequest,
}

impl RecordedRequest {
    fn new(request: &ModelRequest, streamed: bool) -> Self {
        Self {
            roles: request.messages.iter().map(Message::role).collect(),
            texts: request.messages.iter().map(text_of).collect(),
            tools: request.tools.iter().map(|tool| tool.name.to_string()).collect(),
            tool_choice: request.tool_choice.clone(),
            streamed,
            request: request.clone(),
        }
    }
}

fn text_of(message: &Message) -> String {
    match message {
        Message::System { .. } | Message::User { .. } | Message::Assistant(_) => message.text().into_owned(),
        Message::Tool { results } => {
            results.iter().map(|result| result.content.as_text().into_owned()).collect::<Vec<_>>().join("\n")
        }
    }
}

impl Default for ScriptedProvider {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for ScriptedProvider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScriptedProvider")
            .field("name", &self.name)
            .field("model", &self.model)
            .field("place", &self.place)
            .field("calls", &self.request_count())
            .finish_non_exhaustive()
    }
}

impl ScriptedProvider {
    /// A script without steps. Its names are `scripted` and `scripted-1`.
    pub fn new() -> Self {
        Self::with_source(Source::Steps(Vec::new()))
    }

    /// Reads a script from JSON; [`Script`] describes the format.
    ///
    /// ```
    /// use cheliped::provider::ScriptedProvider;
    /// let model = ScriptedProvider::from_json(r#"[
    ///     {"calls": [{"name": "file_read", "arguments": {"path": "notes.txt"}}]},
    ///     {"text": "Three notes.", "usage": {"input_tokens": 40, "output_tokens": 4}}
    /// ]"#)?;
    /// assert!(ScriptedProvider::from_json(r#"[{"txt": "a slip"}]"#).is_err());
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    /// The JSON or one of its keys is wrong, with line and column.
    pub fn from_json(json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str::<Script>(json).map(Self::from)
    }

    /// Asks a function for every step. Its number counts calls from 0, or the place in the conversation with
    /// [`by_turn`](Self::by_turn).
    ///
    /// ```
    /// use cheliped::provider::{ScriptedProvider, Step};
    /// let model = ScriptedProvider::from_fn(|request, n| {
    ///     Step::text(format!("call {n} with {} messages", request.messages.len()))
    /// });
    /// ```
    pub fn from_fn<F, S>(reply: F) -> Self
    where
        F: Fn(&ModelRequest, usize) -> S + Send + Sync + 'static,
        S: Into<Step>,
    {
        Self::with_source(Source::Function(Arc::new(move |request, n| reply(request, n).into())))
    }

    fn with_source(source: Source) -> Self {
        Self {
            name: "scripted".into(),
            model: "scripted-1".into(),
            source,
            place: Place::ByCall,
            repeat: false,
            latency: Duration::ZERO,
            record: true,
            log: Arc::default(),
        }
    }

    /// Adds a reply of text.
    #[must_use]
    pub fn reply(self, text: impl Into<String>) -> Self {
        self.step(Step::text(text))
    }

    /// Adds a reply that calls one tool; see [`Step::call`] for `arguments`.
    #[must_use]
    pub fn call(self, name: &str, arguments: Value) -> Self {
        self.step(Step::default().call(name, arguments))
    }

    /// Adds a reply that calls several tools at once.
    #[must_use]
    pub fn calls<'a>(self, calls: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        self.step(calls.into_iter().fold(Step::default(), |step, (name, arguments)| step.call(name, arguments)))
    }

    /// Adds a failure. A kind alone gives a plain error of that kind.
    #[must_use]
    pub fn fail(self, error: impl Into<ScriptedError>) -> Self {
        self.step(Step::fail(error))
    }

    /// Adds any step. A provider made by [`from_fn`](Self::from_fn) has no list to add to: the step is dropped.
    #[must_use]
    pub fn step(mut self, step: Step) -> Self {
        match &mut self.source {
            Source::Steps(steps) => steps.push(Arc::new(step)),
            Source::Function(_) => {}
        }
        self
    }

    /// Gives the last step again for every later call. Default off: a call without a step is an error.
    #[must_use]
    pub fn repeat_last(mut self) -> Self {
        self.repeat = true;
        self
    }

    /// Takes the step by the assistant messages since the last user message, so that many runs can share one script
    /// and a repeated request gets the same answer. Default off: one count over all calls.
    #[must_use]
    pub fn by_turn(mut self) -> Self {
        self.place = Place::ByTurn;
        self
    }

    /// Waits this long before every reply whose step has no latency of its own. Default none.
    #[must_use]
    pub fn latency(mut self, latency: Duration) -> Self {
        self.latency = latency;
        self
    }

    /// Goes by other names. Default `scripted` and `scripted-1`.
    #[must_use]
    pub fn named(mut self, provider: &str, model: &str) -> Self {
        self.name = provider.into();
        self.model = model.into();
        self
    }

    /// Keeps no requests, for load tests.
    #[must_use]
    pub fn without_recording(mut self) -> Self {
        self.record = false;
        self
    }

    /// The requests so far, oldest first: as many as there are steps and 256 more; later ones are counted only.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.log.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many requests came.
    pub fn request_count(&self) -> usize {
        self.log.calls.load(Ordering::Relaxed)
    }

    fn next_step(&self, request: &ModelRequest, streamed: bool) -> Result<Arc<Step>, ProviderError> {
        let call = self.log.calls.fetch_add(1, Ordering::Relaxed);
        if self.record {
            self.remember(request, streamed, call);
        }
        let place = match self.place {
            Place::ByCall => call,
            Place::ByTurn => {
                let turn = request.messages.iter().rev().take_while(|message| message.role() != Role::User);
                turn.filter(|message| message.role() == Role::Assistant).count()
            }
        };
        match &self.source {
            Source::Function(reply) => Ok(Arc::new(reply(request, place))),
            Source::Steps(steps) => {
                let last = if self.repeat { steps.last() } else { None };
                steps.get(place).or(last).cloned().ok_or_else(|| self.exhausted(place, steps.len()))
            }
        }
    }

    fn remember(&self, request: &ModelRequest, streamed: bool, call: usize) {
        let steps = match &self.source {
            Source::Steps(steps) => steps.len(),
            Source::Function(_) => 0,
        };
        if call < steps + EXTRA_RECORDS {
            let record = RecordedRequest::new(request, streamed);
            self.log.requests.lock().unwrap_or_else(PoisonError::into_inner).push(record);
        }
    }

    fn exhausted(&self, place: usize, steps: usize) -> ProviderError {
        let message = format!(
            "the script has no step for call number {}: it holds {steps}; add a step, or let the last one repeat",
            place + 1
        );
        ProviderError::new(ProviderErrorKind::InvalidRequest, message).from_model(&self.name, &self.model)
    }

    fn failure(&self, error: &ScriptedError) -> ProviderError {
        error.build().from_model(&self.name, &self.model)
    }

    fn parts(&self, step: &Step) -> VecDeque<Result<StreamPart, ProviderError>> {
        let reply = &step.reply;
        let words = || reply.text.split_inclusive(char::is_whitespace).map(str::to_owned).collect();
        let chunks: Vec<String> = step.chunks.clone().unwrap_or_else(words);
        let given = step.failure.as_ref().map_or(usize::MAX, |failure| failure.after_chunks);
        let thinking = reply.thinking.clone().filter(|thinking| given > 0 && !thinking.is_empty());
        let mut parts: VecDeque<_> = thinking.map(|thinking| Ok(StreamPart::Thinking(thinking))).into_iter().collect();
        parts.extend(
            chunks.into_iter().filter(|chunk| !chunk.is_empty()).take(given).map(|chunk| Ok(StreamPart::Text(chunk))),
        );
        parts.push_back(match &step.failure {
            None => Ok(StreamPart::Reply(Box::new(reply.clone()))),
            Some(failure) => Err(self.failure(&failure.error)),
        });
        parts
    }
}

impl From<Script> for ScriptedProvider {
    fn from(script: Script) -> Self {
        let mut provider = Self::with_source(Source::Steps(script.steps.into_iter().map(Arc::new).collect()));
        provider.repeat = script.repeat;
        provider.place = if script.by_turn { Place::ByTurn } else { Place::ByCall };
        if let Some(name) = script.provider {
            provider.name = name.into();
        }
        if let Some(model) = script.model {
            provider.model = model.into();
        }
        provider
    }
}

impl Provider for ScriptedProvider {
    fn name(&self) -> &str {
        &self.name
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn send<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelReply, ProviderError>> {
        Box::pin(async move {
            let step = self.next_step(request, false)?;
            wait(step.latency.unwrap_or(self.latency)).await;
            match &step.failure {
                Some(failure) => Err(self.failure(&failure.error)),
                None => Ok(step.reply.clone()),
            }
        })
    }

    fn stream<'a>(&'a self, request: &'a ModelRequest) -> BoxStream<'a, Result<StreamPart, ProviderError>> {
        let started = async move {
            match self.next_step(request, true) {
                Ok(step) => (step.latency.unwrap_or(self.latency), step.gap, self.parts(&step)),
                Err(error) => (Duration::ZERO, Duration::ZERO, VecDeque::from([Err(error)])),
            }
        };
        let pieces = |(latency, gap, parts): (Duration, Duration, VecDeque<_>)| {
            stream::unfold((latency, parts), move |(pause, mut parts)| async move {
                let part = parts.pop_front()?;
                wait(pause).await;
                Some((part, (gap, parts)))
            })
        };
        stream::once(started).flat_map(pieces).boxed()
    }
}

async fn wait(time: Duration) {
    if !time.is_zero() {
        tokio::time::sleep(time).await;
    }
}

#[cfg(test)]
mod tests;
