//! Runs: started for an environment, told of through its border, stopped by their handle.

use crate::border::{Border, Bridge, Message};
use crate::parts::Agent;
use crate::wire::{exception, outcome};
use cheliped::agent::ResumeOptions;
use cheliped::context::CancellationToken;
use cheliped::host::{self, Batch, Demand, pump, request};
use cheliped::{AgentResponse, Error};
use futures::FutureExt;
use napi_derive::napi;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// A conversation.
#[napi]
pub struct Conversation(cheliped::agent::Conversation);

#[napi]
impl Conversation {
    /// An empty conversation, with an id of its own unless one is given.
    #[napi(constructor, catch_unwind)]
    pub fn new(id: Option<String>) -> Self {
        Self(id.map_or_else(Default::default, cheliped::agent::Conversation::with_id))
    }

    /// Reads what `toJson` wrote.
    #[napi(factory, catch_unwind)]
    pub fn from_json(json: String) -> napi::Result<Self> {
        let wrong = |error| Error::Configuration { problems: vec![format!("the conversation: {error}")] };
        serde_json::from_str(&json).map(Self).map_err(|error| exception(wrong(error)))
    }

    /// The whole conversation as JSON.
    #[napi(catch_unwind)]
    pub fn to_json(&self) -> napi::Result<String> {
        serde_json::to_string(&self.0).map_err(unwritable)
    }

    /// How many turns there are.
    #[napi(getter)]
    pub fn turns(&self) -> napi::Result<u32> {
        u32::try_from(self.0.turns()).map_err(|_| napi::Error::from_reason("too many turns"))
    }
}

/// A run that is under way.
#[napi]
pub struct Run {
    signal: CancellationToken,
    demand: Demand,
}

#[napi]
impl Run {
    /// Ends the run. Does nothing once it is over.
    #[napi(catch_unwind)]
    pub fn cancel(&self) {
        self.signal.cancel();
    }

    /// A batch of events was read; another may come.
    #[napi(catch_unwind)]
    pub fn more(&self) {
        self.demand.more();
    }
}

/// A response, with the conversation when the message belonged to one.
type Answer = (AgentResponse, Option<cheliped::agent::Conversation>);

#[napi]
impl Bridge {
    /// Sends a message; the run goes by the number `run` in what is told of it.
    #[napi(catch_unwind)]
    pub fn send(
        &self,
        run: u32,
        agent: &Agent,
        message: String,
        conversation: Option<&Conversation>,
    ) -> napi::Result<Run> {
        let host::Request { message, context } = request(&message).map_err(exception)?;
        let (agent, conversation) = (agent.0.clone(), conversation.map(|conversation| conversation.0.clone()));
        let signal = context.signal.clone();
        let work = async move {
            match conversation {
                None => Ok((agent.send_with(message, context).await?, None)),
                Some(conversation) => {
                    let turn = agent.send_in_conversation(&conversation, message, context).await?;
                    Ok((turn.response, Some(turn.conversation)))
                }
            }
        };
        self.begin(run, signal, work)
    }

    /// Goes on with a run that a checkpoint saved. `context` is a message whose text is not read.
    #[napi(catch_unwind)]
    pub fn resume(
        &self,
        run: u32,
        agent: &Agent,
        context: String,
        state: String,
        accept_changed_config: bool,
    ) -> napi::Result<Run> {
        let host::Request { context, .. } = request(&context).map_err(exception)?;
        let wrong = |error| Error::Configuration { problems: vec![format!("the state of a run: {error}")] };
        let state = serde_json::from_str(&state).map_err(|error| exception(wrong(error)))?;
        let (agent, signal) = (agent.0.clone(), context.signal.clone());
        let options = ResumeOptions { context, accept_changed_config };
        self.begin(run, signal, async move { Ok((agent.resume(state, options).await?, None)) })
    }

    /// Sends a message and tells its events in batches; `Run::more` asks for another batch.
    #[napi(catch_unwind)]
    pub fn stream(
        &self,
        run: u32,
        agent: &Agent,
        message: String,
        conversation: Option<&Conversation>,
    ) -> napi::Result<Run> {
        let host::Request { message, context } = request(&message).map_err(exception)?;
        let (signal, demand) = (context.signal.clone(), Demand::default());
        let stream = match conversation {
            None => agent.0.stream_with(message, context),
            Some(conversation) => agent.0.stream_in_conversation(&conversation.0, message, context),
        };
        let border = Arc::clone(&self.border);
        let deliver = move |batch| match batch {
            Batch::Events(events) => {
                border.tell(Message::Events { run, events });
            }
            Batch::Finished(events, conversation) => {
                border.tell(Message::Events { run, events });
                let conversation = conversation.map(Conversation);
                border.tell(Message::Done { run, outcome: outcome(Ok("null")), conversation });
            }
            Batch::Failed(events, error) => {
                border.tell(Message::Events { run, events });
                border.tell(Message::Done { run, outcome: outcome(Err(&error)), conversation: None });
            }
        };
        self.work(run, pump(stream, demand.clone(), signal.clone(), deliver))?;
        Ok(Run { signal, demand })
    }

    /// Works on a run that is answered at once.
    fn begin(
        &self,
        run: u32,
        signal: CancellationToken,
        work: impl Future<Output = Result<Answer, Error>> + Send + 'static,
    ) -> napi::Result<Run> {
        let border = Arc::clone(&self.border);
        self.work(run, async move {
            let (outcome, conversation) = match work.await {
                // Every response can be written as JSON.
                Ok((response, conversation)) => {
                    (outcome(Ok(&serde_json::to_string(&response).unwrap_or_default())), conversation)
                }
                Err(error) => (outcome(Err(&error)), None),
            };
            border.tell(Message::Done { run, outcome, conversation: conversation.map(Conversation) });
        })?;
        Ok(Run { signal, demand: Demand::default() })
    }

    /// Works on a run; one that panics ends with an error like any other.
    fn work(&self, run: u32, work: impl Future<Output = ()> + Send + 'static) -> napi::Result<()> {
        let border = Arc::clone(&self.border);
        let told = Arc::clone(&self.border);
        let work = async move {
            if AssertUnwindSafe(work).catch_unwind().await.is_err() {
                panicked(&told, run);
            }
        };
        let failed = |error| napi::Error::from_reason(format!("no thread for the run could be started: {error}"));
        border.spawn(run, work).map_err(failed)
    }
}

fn unwritable(error: serde_json::Error) -> napi::Error {
    napi::Error::from_reason(format!("the conversation cannot be written: {error}"))
}

fn panicked(border: &Border, run: u32) {
    let error = Error::Internal { detail: "the run panicked; the panic was written to standard error".into() };
    border.tell(Message::Done { run, outcome: outcome(Err(&error)), conversation: None });
}
