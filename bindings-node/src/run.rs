//! Runs: started for an environment, told of through its border, stopped by their handle.

use crate::border::{Bridge, Message};
use crate::parts::Agent;
use crate::wire::{exception, outcome};
use cheliped::Error;
use cheliped::context::CancellationToken;
use cheliped::host::{self, Batch, Demand};
use napi_derive::napi;
use std::future::Future;
use std::sync::Arc;

/// A conversation.
#[napi]
pub struct Conversation(cheliped::agent::Conversation);

#[napi]
impl Conversation {
    /// Reads a conversation.
    #[napi(constructor, catch_unwind)]
    pub fn new(json: String) -> napi::Result<Self> {
        host::conversation(&json).map(Self).map_err(exception)
    }

    /// The whole conversation as JSON.
    #[napi(catch_unwind)]
    pub fn to_json(&self) -> String {
        host::written_conversation(&self.0)
    }

    /// How many turns there are.
    #[napi(getter)]
    pub fn turns(&self) -> u32 {
        u32::try_from(self.0.turns()).unwrap_or(u32::MAX)
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

/// A response as JSON, with the conversation when the message belonged to one.
type Answer = (String, Option<cheliped::agent::Conversation>);

#[napi]
impl Bridge {
    /// Sends a message; the run goes by the number `run` in what is told of it.
    #[napi(catch_unwind)]
    pub fn send(
        &self,
        run: u32,
        agent: &Agent,
        request: String,
        conversation: Option<&Conversation>,
    ) -> napi::Result<Run> {
        let request = host::request(&request).map_err(exception)?;
        let (agent, conversation) = (agent.0.clone(), conversation.map(|conversation| conversation.0.clone()));
        let signal = request.context.signal.clone();
        self.answer(run, signal, async move { host::send(&agent, request, conversation.as_ref()).await })
    }

    /// Goes on with a run that a checkpoint saved.
    #[napi(catch_unwind)]
    pub fn resume(&self, run: u32, agent: &Agent, resumption: String) -> napi::Result<Run> {
        let resumption = host::resumption(&resumption).map_err(exception)?;
        let (agent, signal) = (agent.0.clone(), resumption.options.context.signal.clone());
        self.answer(run, signal, async move { Ok((host::resume(&agent, resumption).await?, None)) })
    }

    /// Sends a message and tells its events in batches, with `plain` only those of plain text. `Run::more` asks for
    /// another batch.
    #[napi(catch_unwind)]
    pub fn stream(
        &self,
        run: u32,
        agent: &Agent,
        request: String,
        conversation: Option<&Conversation>,
        plain: bool,
    ) -> napi::Result<Run> {
        let request = host::request(&request).map_err(exception)?;
        let (agent, conversation) = (agent.0.clone(), conversation.map(|conversation| conversation.0.clone()));
        let (signal, demand) = (request.context.signal.clone(), Demand::default());
        let (border, asked) = (Arc::clone(&self.border), demand.clone());
        let deliver = move |batch| {
            let (events, end) = match batch {
                Batch::Events(events) => (events, None),
                Batch::Finished(events, conversation) => (events, Some((outcome(Ok("null")), conversation))),
                Batch::Failed(events, error) => (events, Some((outcome(Err(&error)), None))),
            };
            border.tell(Message::Events { run, events });
            if let Some((outcome, conversation)) = end {
                border.tell(Message::Done { run, outcome, conversation: conversation.map(Conversation) });
            }
        };
        self.spawn(run, async move {
            host::stream(&agent, request, conversation.as_ref(), plain, asked, deliver).await;
        })?;
        Ok(Run { signal, demand })
    }

    /// Works on a run that is answered at once.
    fn answer(
        &self,
        run: u32,
        signal: CancellationToken,
        work: impl Future<Output = Result<Answer, Error>> + Send + 'static,
    ) -> napi::Result<Run> {
        let border = Arc::clone(&self.border);
        self.spawn(run, async move {
            let (outcome, conversation) = match work.await {
                Ok((response, conversation)) => (outcome(Ok(&response)), conversation),
                Err(error) => (outcome(Err(&error)), None),
            };
            border.tell(Message::Done { run, outcome, conversation: conversation.map(Conversation) });
        })?;
        Ok(Run { signal, demand: Demand::default() })
    }

    fn spawn(&self, run: u32, work: impl Future<Output = ()> + Send + 'static) -> napi::Result<()> {
        let failed = |error| napi::Error::from_reason(format!("no thread for the run could be started: {error}"));
        Arc::clone(&self.border).spawn(run, work).map_err(failed)
    }
}
