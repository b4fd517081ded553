//! Reading a stream for a host, many events at a time, because every way over the border costs.

use super::Request;
use super::request::panicked;
use crate::Agent;
use crate::agent::{AgentStream, Conversation, StreamEvent};
use crate::context::CancellationToken;
use crate::error::Error;
use futures::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// Events in one batch at most.
const BATCH: usize = 256;
/// A stream that gives events faster than this is gathered for as long: nobody sees the difference, and every way over
/// the border costs as much as many events.
const GATHER: Duration = Duration::from_millis(4);
/// Batches that are made before the host asks for more. One at a time: what comes while the host reads is the next one,
/// so a host that is busy gets fewer and larger batches.
const AHEAD: usize = 1;

/// How many batches the host is ready to take. Cloning shares it.
#[derive(Clone, Debug)]
pub struct Demand(Arc<Semaphore>);

impl Default for Demand {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AHEAD)))
    }
}

impl Demand {
    /// The host has read a batch.
    pub fn more(&self) {
        // A host that asks more often than it reads gets no more than this.
        if self.0.available_permits() < AHEAD {
            self.0.add_permits(1);
        }
    }
}

/// Events that are ready, as a JSON list.
#[derive(Debug)]
pub enum Batch {
    /// Some events; more follow.
    Events(String),
    /// The last events; the very last is `finished`. With the conversation, when the message belonged to one.
    Finished(String, Option<Conversation>),
    /// The last events; the very last is `failed`. With the error itself.
    Failed(String, Error),
}

/// Streams a message and hands the events on in batches, as the host asks for them; with `plain` only those of
/// [`AgentStream::plain_text`]. Cancelling the request's signal ends the run without waiting for the host.
pub async fn stream(
    agent: &Agent,
    request: Request,
    conversation: Option<&Conversation>,
    plain: bool,
    demand: Demand,
    mut deliver: impl FnMut(Batch) + Send,
) {
    let Request { message, context } = request;
    let signal: CancellationToken = context.signal.clone();
    let stream = match conversation {
        None => agent.stream_with(message, context),
        Some(conversation) => agent.stream_in_conversation(conversation, message, context),
    };
    let mut stream = if plain { stream.plain_text() } else { stream };
    let mut delivered: Option<Instant> = None;
    loop {
        tokio::select! {
            permit = demand.0.acquire() => {
                // The semaphore is never closed.
                if let Ok(permit) = permit {
                    permit.forget();
                }
            }
            () = signal.cancelled() => {}
        }
        let until = delivered.map(|delivered| delivered + GATHER);
        let batch = AssertUnwindSafe(next(&mut stream, until)).catch_unwind().await;
        let batch = batch.unwrap_or_else(|_| failed(String::from("["), panicked()));
        let last = !matches!(batch, Batch::Events(_));
        if last || !signal.is_cancelled() {
            deliver(batch);
            delivered = Some(Instant::now());
        }
        if last {
            return;
        }
    }
}

/// Waits for one event and adds those that are ready by then, or come until this time.
async fn next(stream: &mut AgentStream, until: Option<Instant>) -> Batch {
    let mut events = String::from("[");
    let mut count = 0;
    loop {
        let event = match count {
            0 => stream.next().await,
            _ => match more(stream, until).await {
                Some(event) => event,
                None => break,
            },
        };
        match event {
            Some(Ok(event @ StreamEvent::Finished { .. })) => {
                push(&mut events, &event);
                events.push(']');
                return Batch::Finished(events, stream.conversation().cloned());
            }
            Some(Ok(event)) => push(&mut events, &event),
            Some(Err(error)) => return failed(events, error),
            // A stream ends with one of the two above.
            None => {
                return failed(events, Error::Internal { detail: "the stream ended without a last event".into() });
            }
        }
        count += 1;
        if count == BATCH {
            break;
        }
    }
    events.push(']');
    Batch::Events(events)
}

/// An event that is ready, or comes until this time; `None` when there is none.
async fn more(stream: &mut AgentStream, until: Option<Instant>) -> Option<Option<Result<StreamEvent, Error>>> {
    let ready = futures::poll!(std::pin::pin!(stream.next()));
    match (ready, until) {
        (Poll::Ready(event), _) => Some(event),
        (Poll::Pending, Some(until)) if until > Instant::now() => {
            tokio::time::timeout_at(until, stream.next()).await.ok()
        }
        (Poll::Pending, _) => None,
    }
}

/// The last batch of a run that failed.
fn failed(mut events: String, error: Error) -> Batch {
    push(&mut events, &StreamEvent::failed(&error));
    events.push(']');
    Batch::Failed(events, error)
}

fn push(events: &mut String, event: &StreamEvent) {
    if events.len() > 1 {
        events.push(',');
    }
    // Every event can be written as JSON.
    events.push_str(&serde_json::to_string(event).unwrap_or_default());
}
