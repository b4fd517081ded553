//! An answer as it is made.

use super::pipeline::Turn;
use super::{AgentResponse, Conversation};
use crate::error::{Error, ProviderError, ProviderErrorKind};
use crate::hooks::{Event, RunEvent};
use crate::message::{Outcome, Usage};
use futures::future::BoxFuture;
use serde::Serialize;
use serde_json::value::RawValue;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Something that happened in a run, as the reader of a stream sees it.
///
/// All `text_delta` pieces that no `text_discarded` took back, joined, are exactly the response's text.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum StreamEvent {
    /// The message was accepted.
    RunStarted {
        /// The run.
        run_id: Arc<str>,
    },
    /// A piece of the answer.
    TextDelta {
        /// The text.
        text: String,
        /// The iteration that wrote it.
        iteration: u32,
        /// The attempt within the iteration.
        attempt: u32,
    },
    /// A piece of readable reasoning.
    ThinkingDelta {
        /// The text.
        text: String,
        /// The iteration that wrote it.
        iteration: u32,
        /// The attempt within the iteration.
        attempt: u32,
    },
    /// The pieces of this iteration and attempt are not part of the answer.
    TextDiscarded {
        /// The iteration.
        iteration: u32,
        /// The attempt.
        attempt: u32,
    },
    /// A tool call is about to be decided and run.
    ToolCallStarted {
        /// The call.
        call_id: Arc<str>,
        /// The tool.
        name: Arc<str>,
        /// The tidied arguments.
        arguments: Box<RawValue>,
        /// The iteration.
        iteration: u32,
    },
    /// A tool tells how far it is.
    ToolCallProgress {
        /// The call.
        call_id: Arc<str>,
        /// The tool.
        name: Arc<str>,
        /// What the tool says.
        message: Arc<str>,
    },
    /// A tool call has its result.
    ToolCallFinished {
        /// The call.
        call_id: Arc<str>,
        /// The tool.
        name: Arc<str>,
        /// The text of the cleaned and capped result.
        result: Arc<str>,
        /// How it ended.
        outcome: Outcome,
        /// How long it took.
        duration_ms: u64,
    },
    /// An iteration starts.
    Iteration {
        /// Its number, from 1.
        iteration: u32,
    },
    /// Tokens of one model call.
    Usage {
        /// The iteration.
        iteration: u32,
        /// The counts, as far as the provider reported them.
        usage: Usage,
    },
    /// The answer is complete. Nothing follows.
    Finished {
        /// The answer.
        response: Box<AgentResponse>,
    },
    /// There is no answer. Nothing follows. [`AgentStream::next`] gives the error itself in its place.
    Failed {
        /// The error's code.
        code: &'static str,
        /// The error in words.
        message: String,
        /// The error's data.
        details: serde_json::Map<String, serde_json::Value>,
    },
}

impl StreamEvent {
    /// The event that ends a stream without an answer.
    pub fn failed(error: &Error) -> Self {
        Self::Failed { code: error.code(), message: error.to_string(), details: error.details() }
    }

    /// The stream's view of a run event; `None` for events that a stream does not show. The last event is made of the
    /// run's result, so that it is the same on every path.
    fn of(event: RunEvent) -> Option<Self> {
        let iteration = event.iteration.unwrap_or_default();
        let attempt = event.attempt.unwrap_or(1);
        let call_id = event.call_id.unwrap_or_default();
        Some(match event.kind {
            Event::AgentBefore { .. } => Self::RunStarted { run_id: event.run_id },
            Event::AgentIteration { iteration, .. } => Self::Iteration { iteration },
            Event::ProviderToken { token, .. } => Self::TextDelta { text: token, iteration, attempt },
            Event::ThinkingDelta { text } => Self::ThinkingDelta { text, iteration, attempt },
            Event::RunTextDiscarded {} => Self::TextDiscarded { iteration, attempt },
            Event::ToolBefore { tool_name, tool_input, iteration } => {
                Self::ToolCallStarted { call_id, name: tool_name, arguments: tool_input, iteration }
            }
            Event::ToolProgress { tool_name, message } => Self::ToolCallProgress { call_id, name: tool_name, message },
            Event::ToolAfter { tool_name, tool_result, outcome, duration_ms, .. } => {
                Self::ToolCallFinished { call_id, name: tool_name, result: tool_result, outcome, duration_ms }
            }
            Event::ProviderResponse {
                input_tokens,
                output_tokens,
                cache_read_tokens,
                cache_write_tokens,
                reasoning_tokens,
                input_tokens_total,
                ..
            } => {
                let usage = Usage {
                    input_tokens,
                    output_tokens,
                    cache_read_tokens,
                    cache_write_tokens,
                    reasoning_tokens,
                    input_tokens_total,
                };
                Self::Usage { iteration, usage }
            }
            _ => return None,
        })
    }
}

/// A run whose events are read one by one. It goes on only while it is read; dropping it ends the run.
pub struct AgentStream {
    events: mpsc::Receiver<RunEvent>,
    run: Option<BoxFuture<'static, Result<Turn, Error>>>,
    result: Option<Result<Turn, Error>>,
    conversation: Option<Conversation>,
    may_take_back: bool,
    plain: Option<Plain>,
}

/// What a reader of plain text has still to get.
#[derive(Default)]
struct Plain {
    /// Text that may be taken back.
    held: String,
    /// Iteration and attempt of the text that was passed on last.
    passed: Option<(u32, u32)>,
    last: Option<StreamEvent>,
}

impl AgentStream {
    pub(super) fn new(
        events: mpsc::Receiver<RunEvent>,
        run: BoxFuture<'static, Result<Turn, Error>>,
        may_take_back: bool,
    ) -> Self {
        Self { events, run: Some(run), result: None, conversation: None, may_take_back, plain: None }
    }

    /// Gives only what a reader of plain text can use: `text_delta` and `finished`. Such a reader cannot take anything
    /// back, so while the agent has tools or interceptors the text of a reply is held until it is the answer; without
    /// them it passes at once. When the model then has to be asked again, the stream ends with an error.
    #[must_use]
    pub fn plain_text(mut self) -> Self {
        self.plain = Some(Plain::default());
        self
    }

    /// The next event; `None` after the last one. Waiting for it can be given up and taken up again.
    ///
    /// # Errors
    /// The error that ended the run, once, as the last item.
    pub async fn next(&mut self) -> Option<Result<StreamEvent, Error>> {
        loop {
            if let Some(last) = self.plain.as_mut().and_then(|plain| plain.last.take()) {
                return Some(Ok(last));
            }
            let event = self.next_event().await;
            let Some(plain) = &mut self.plain else { return event };
            match event? {
                Ok(StreamEvent::TextDelta { text, .. }) if self.may_take_back => plain.held.push_str(&text),
                Ok(StreamEvent::TextDiscarded { iteration, attempt }) => {
                    plain.held.clear();
                    if plain.passed == Some((iteration, attempt)) {
                        self.run = None;
                        return Some(Err(taken_back()));
                    }
                }
                Ok(StreamEvent::TextDelta { text, iteration, attempt }) => {
                    plain.passed = Some((iteration, attempt));
                    return Some(Ok(StreamEvent::TextDelta { text, iteration, attempt }));
                }
                Ok(last @ StreamEvent::Finished { .. }) if !plain.held.is_empty() => {
                    let StreamEvent::Finished { response } = &last else { continue };
                    let (text, iteration) = (std::mem::take(&mut plain.held), response.iterations);
                    plain.last = Some(last);
                    return Some(Ok(StreamEvent::TextDelta { text, iteration, attempt: 1 }));
                }
                Ok(event @ StreamEvent::Finished { .. }) => return Some(Ok(event)),
                Ok(_) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }

    async fn next_event(&mut self) -> Option<Result<StreamEvent, Error>> {
        loop {
            let event = match &mut self.run {
                Some(run) => tokio::select! {
                    // Events first: the result comes after all of them.
                    biased;
                    event = self.events.recv() => event,
                    result = run => {
                        self.result = Some(result);
                        self.run = None;
                        continue;
                    }
                },
                None => self.events.try_recv().ok(),
            };
            match event {
                Some(event) => {
                    if let Some(event) = StreamEvent::of(event) {
                        return Some(Ok(event));
                    }
                }
                // The channel is empty and closed while the run still works on its result.
                None if self.run.is_some() => {
                    if let Some(run) = &mut self.run {
                        self.result = Some(run.await);
                    }
                    self.run = None;
                }
                None => {
                    let Turn { response, conversation } = match self.result.take()? {
                        Ok(turn) => turn,
                        Err(error) => return Some(Err(error)),
                    };
                    self.conversation = conversation;
                    return Some(Ok(StreamEvent::Finished { response: Box::new(response) }));
                }
            }
        }
    }

    /// The conversation with this turn added, once the stream has given its last event; `None` before, and for a
    /// message without a conversation.
    pub fn conversation(&self) -> Option<&Conversation> {
        self.conversation.as_ref()
    }

    /// Reads the rest and gives the response.
    ///
    /// # Errors
    /// Whatever ended the run.
    pub async fn response(mut self) -> Result<AgentResponse, Error> {
        loop {
            match self.next().await {
                Some(Ok(StreamEvent::Finished { response })) => return Ok(*response),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error),
                None => return Err(Error::Internal { detail: "the stream was read to its end before".into() }),
            }
        }
    }
}

fn taken_back() -> Error {
    let message = "the model had to be asked again after part of its reply was passed on as plain text; send the message \
                   again, or read the events of the stream";
    ProviderError::new(ProviderErrorKind::Server, message).into()
}

impl std::fmt::Debug for AgentStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentStream").field("running", &self.run.is_some()).finish()
    }
}
