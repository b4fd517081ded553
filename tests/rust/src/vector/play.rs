//! Runs a vector and writes down everything that can be seen from outside.

use super::build::{Made, agent, context, conversation};
use super::format::{Case, Mode};
use super::world::{Shared, World};
use cheliped::agent::{AgentStream, Conversation, ResumeOptions, StreamEvent};
use cheliped::error::BoxError;
use cheliped::hooks::{Hook, RunEvent};
use cheliped::message::{Message, ToolCall};
use cheliped::provider::ScriptedProvider;
use cheliped::run::{CallStarted, Checkpoint, RunState};
use cheliped::{AgentResponse, Error};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Where a run is stopped as if its process had ended there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Nowhere.
    Nowhere,
    /// Right after this save, counted from 0.
    Save(usize),
    /// While this event is told, counted from 0.
    Event(usize),
}

/// A run as seen from outside.
#[derive(Debug)]
pub struct Played {
    /// What can be compared with an expectation; `None` when the run was cut.
    pub outcome: Option<Map<String, Value>>,
    /// The saves, in order.
    pub saves: Vec<Saved>,
    /// Dotted names of the events, in order.
    pub events: Vec<String>,
    /// The outside afterwards.
    pub world: World,
}

/// One save.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Saved {
    /// Name of the checkpoint's method.
    pub what: String,
    /// The state as JSON.
    pub state: String,
    /// The idempotency key, when a call is about to run.
    pub key: Option<String>,
}

/// Watches a run: hook and checkpoint at once.
struct Recorder {
    events: Mutex<Vec<(String, Map<String, Value>)>>,
    saves: Mutex<Vec<Saved>>,
    cut: Cut,
    stop: CancellationToken,
    can_suspend: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Recorder {
    fn new(cut: Cut, can_suspend: bool) -> Arc<Self> {
        let (events, saves) = (Mutex::default(), Mutex::default());
        Arc::new(Self { events, saves, cut, stop: CancellationToken::new(), can_suspend })
    }

    fn save<'a>(&'a self, what: &str, state: &RunState, key: Option<&str>) -> BoxFuture<'a, Result<(), Error>> {
        let failed = |error: serde_json::Error| Error::Memory { detail: error.to_string(), source: None };
        let saved = serde_json::to_string(state).map_err(failed).map(|state| {
            let mut saves = lock(&self.saves);
            saves.push(Saved { what: what.to_owned(), state, key: key.map(str::to_owned) });
            saves.len() - 1
        });
        Box::pin(async move {
            if self.cut == Cut::Save(saved?) {
                self.stop.cancel();
                std::future::pending::<()>().await;
            }
            Ok(())
        })
    }
}

impl Hook for Recorder {
    fn handle<'a>(&'a self, event: &'a RunEvent) -> BoxFuture<'a, Result<(), BoxError>> {
        let place = {
            let mut events = lock(&self.events);
            events.push((event.name().to_owned(), event.payload()));
            events.len() - 1
        };
        Box::pin(async move {
            if self.cut == Cut::Event(place) {
                self.stop.cancel();
                std::future::pending::<()>().await;
            }
            Ok(())
        })
    }
}

impl Checkpoint for Recorder {
    fn run_started<'a>(&'a self, state: &'a RunState) -> BoxFuture<'a, Result<(), Error>> {
        self.save("run_started", state, None)
    }

    fn call_started<'a>(&'a self, state: &'a RunState, started: CallStarted<'a>) -> BoxFuture<'a, Result<(), Error>> {
        self.save("call_started", state, Some(started.idempotency_key))
    }

    fn call_finished<'a>(&'a self, state: &'a RunState, _: &'a ToolCall) -> BoxFuture<'a, Result<(), Error>> {
        self.save("call_finished", state, None)
    }

    fn step_finished<'a>(&'a self, state: &'a RunState) -> BoxFuture<'a, Result<(), Error>> {
        self.save("step_finished", state, None)
    }

    fn suspended<'a>(&'a self, state: &'a RunState, _: &'a ToolCall) -> BoxFuture<'a, Result<(), Error>> {
        self.save("suspended", state, None)
    }

    fn can_suspend(&self) -> bool {
        self.can_suspend
    }
}

/// Runs a case from its message.
///
/// # Errors
/// The runtime cannot be made, the run hangs, or its script cannot be read.
pub fn play(case: &Case, mode: Mode, cut: Cut) -> Result<Played, String> {
    let world = Shared::default();
    let recorder = Recorder::new(cut, case.can_suspend);
    on_a_paused_clock(async {
        let made = agent(case, mode, &world, recorder.clone(), recorder.clone(), 0);
        let Made { agent, models } = match made {
            Ok(made) => made,
            Err(error) => return finish(Err(error), None, None, &[], &recorder, &world),
        };
        let (message, context, conversation) = (case.message.clone(), context(case), conversation(case));
        let mut stream = None;
        let running = async {
            match (mode, &conversation) {
                (Mode::Send, None) => (agent.send_with(message, context).await, None),
                (Mode::Send, Some(conversation)) => {
                    match agent.send_in_conversation(conversation, message, context).await {
                        Ok(turn) => (Ok(turn.response), Some(turn.conversation)),
                        Err(error) => (Err(error), None),
                    }
                }
                (Mode::Live | Mode::Replay, None) => {
                    read(agent.stream_with(message, context), stream.insert(Stream::default())).await
                }
                (Mode::Live | Mode::Replay, Some(conversation)) => {
                    let events = agent.stream_in_conversation(conversation, message, context);
                    read(events, stream.insert(Stream::default())).await
                }
            }
        };
        let (result, conversation) = tokio::select! {
            biased;
            () = recorder.stop.cancelled() => return Ok(cut_off(&recorder, &world)),
            done = running => done,
        };
        finish(result, conversation, stream, &models, &recorder, &world)
    })
}

/// Goes on with a saved run.
///
/// # Errors
/// The state cannot be read, or as [`play`].
pub fn resume(case: &Case, state: &str, world: World) -> Result<Played, String> {
    let state: RunState = serde_json::from_str(state).map_err(|error| format!("state: {error}"))?;
    let world = Shared::new(world);
    let recorder = Recorder::new(Cut::Nowhere, case.can_suspend);
    on_a_paused_clock(async {
        let skip = state.steps.len();
        let Made { agent, models } = agent(case, Mode::Send, &world, recorder.clone(), recorder.clone(), skip)
            .map_err(|error| error.to_string())?;
        let options = ResumeOptions { context: context(case), ..ResumeOptions::default() };
        let result = agent.resume(state, options).await;
        finish(result, None, None, &models, &recorder, &world)
    })
}

fn on_a_paused_clock<F: Future<Output = Result<Played, String>>>(running: F) -> Result<Played, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .map_err(|error| error.to_string())?;
    // Time jumps to the next timer when nothing else can go on, so a run that hangs ends here at once.
    let limit = Duration::from_secs(24 * 3600);
    let played = runtime.block_on(async { tokio::time::timeout(limit, running).await });
    played.map_err(|_| "the run hangs".to_owned())?
}

/// What the reader of a stream saw.
#[derive(Default)]
struct Stream {
    types: Vec<String>,
    discards: usize,
    deltas: Vec<(u32, u32, String)>,
}

async fn read(mut events: AgentStream, seen: &mut Stream) -> (Result<AgentResponse, Error>, Option<Conversation>) {
    loop {
        let Some(event) = events.next().await else {
            return (Err(Error::Internal { detail: "the stream ended without a last event".into() }), None);
        };
        let name = match &event {
            Ok(event) => match serde_json::to_value(event) {
                Ok(value) => value.get("type").and_then(Value::as_str).unwrap_or("?").to_owned(),
                Err(error) => error.to_string(),
            },
            Err(_) => "failed".to_owned(),
        };
        if seen.types.last() != Some(&name) || name != "text_delta" {
            seen.types.push(name);
        }
        match event {
            Ok(StreamEvent::TextDelta { text, iteration, attempt }) => {
                seen.deltas.push((iteration, attempt, text.to_string()));
            }
            Ok(StreamEvent::TextDiscarded { iteration, attempt }) => {
                seen.discards += 1;
                seen.deltas.retain(|(of, number, _)| (*of, *number) != (iteration, attempt));
            }
            Ok(StreamEvent::Finished { response }) => {
                return match events.next().await {
                    None => (Ok(*response), events.conversation().cloned()),
                    Some(_) => (Err(Error::Internal { detail: "an event after the last one".into() }), None),
                };
            }
            Ok(_) => {}
            Err(error) => return (Err(error), None),
        }
    }
}

fn cut_off(recorder: &Recorder, world: &Shared) -> Played {
    let events = lock(&recorder.events).iter().map(|(name, _)| name.clone()).collect();
    Played { outcome: None, saves: lock(&recorder.saves).clone(), events, world: world.lock().clone() }
}

fn finish(
    result: Result<AgentResponse, Error>,
    conversation: Option<Conversation>,
    stream: Option<Stream>,
    models: &[ScriptedProvider],
    recorder: &Recorder,
    world: &Shared,
) -> Result<Played, String> {
    let mut played = cut_off(recorder, world);
    let mut outcome = Map::new();
    match result {
        Ok(response) => {
            if let Value::Object(fields) = response.to_json() {
                outcome.extend(fields);
            }
            outcome.insert("error".into(), Value::Null);
        }
        Err(error) => {
            let (code, details) = (error.code(), error.details());
            let seen = json!({"code": code, "details": details, "message": error.to_string()});
            outcome.insert("error".into(), seen);
            outcome.insert("text".into(), Value::Null);
        }
    }
    outcome.insert("events".into(), json!(played.events));
    let payloads: Vec<_> =
        lock(&recorder.events).iter().map(|(name, payload)| json!({"event": name, "payload": payload})).collect();
    outcome.insert("event_payloads".into(), payloads.into());
    let requests: Vec<_> = models.iter().flat_map(requests).collect();
    outcome.insert("requests".into(), requests.into());
    let inputs = &played.world.tool_inputs;
    let inputs: Vec<_> = inputs.iter().map(|input| json!({"tool": input.tool, "arguments": input.arguments})).collect();
    outcome.insert("tool_inputs".into(), inputs.into());
    outcome.insert("gate".into(), serde_json::to_value(&played.world.gate).map_err(|error| error.to_string())?);
    let history = match played.saves.last() {
        None => Vec::new(),
        Some(saved) => {
            let state: RunState = serde_json::from_str(&saved.state).map_err(|error| format!("state: {error}"))?;
            state.history.to_vec()
        }
    };
    outcome.insert("results".into(), results(&history).into());
    outcome.insert("history".into(), serde_json::to_value(&history).map_err(|error| error.to_string())?);
    outcome.insert("saves".into(), played.saves.iter().map(|saved| saved.what.clone()).collect());
    if let Some(conversation) = conversation {
        let history = serde_json::to_value(conversation.history()).map_err(|error| error.to_string())?;
        outcome.insert("conversation".into(), history);
    }
    if let Some(stream) = stream {
        let joined: String = stream.deltas.iter().map(|(_, _, text)| text.as_str()).collect();
        let deltas: Vec<&str> = stream.deltas.iter().map(|(_, _, text)| text.as_str()).collect();
        let seen = json!({"types": stream.types, "discards": stream.discards, "deltas": deltas, "joined": joined});
        outcome.insert("stream".into(), seen);
    }
    played.outcome = Some(outcome);
    Ok(played)
}

fn requests(model: &ScriptedProvider) -> Vec<Value> {
    serde_json::from_str(&cheliped::host::requests(model)).unwrap_or_default()
}

fn results(history: &[Message]) -> Vec<Value> {
    let mut seen = Vec::new();
    for message in history {
        match message {
            Message::Tool { results } => seen.extend(results.iter().map(|result| {
                json!({
                    "call_id": &*result.call_id,
                    "name": &*result.name,
                    "outcome": result.outcome,
                    "content": result.content,
                })
            })),
            Message::System { .. } | Message::User { .. } | Message::Assistant(_) => {}
        }
    }
    seen
}
