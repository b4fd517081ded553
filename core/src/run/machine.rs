//! The loop as a pure step machine: `step(state, input)` changes the state and says what to do next.
//!
//! Nothing here waits, reads a clock or talks to anybody, so sending, streaming, resuming and tests all drive the
//! same machine. [`Step::notices`] are the events that the step stands for, in order.

use super::batch;
use super::state::{CallStatus, LastReply, Phase, RunState};
use crate::limits;
use crate::message::{AssistantMessage, Content, Message, ToolCall, ToolResult, Usage};
use crate::provider::{ModelReply, StopReason};
use crate::tool::Registry;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// Characters of a tool's name that are kept: no tool has a longer one, and it would only fill errors and events.
const LONGEST_NAME: usize = 256;
/// Characters of the unknown names of a batch that an event tells.
const NAMES_TOLD: usize = 1000;

/// What a run may do.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The registered tools.
    pub registry: Arc<Registry>,
    /// Model calls at most.
    pub max_iterations: u32,
    /// Tokens that the run may spend; `None` for no limit.
    pub max_tokens_spent: Option<u64>,
    /// Read-only calls of a batch that may run side by side, at least 1.
    pub parallel_tools: usize,
    /// What happens to a name that no tool has.
    pub unknown_tool: UnknownTool,
}

/// What happens when a model calls a tool that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownTool {
    /// A nearly right name is answered with the right ones, at most twice a run; otherwise as documented. The default.
    Corrected,
    /// The whole batch is dropped and the model asked once more without tools.
    Documented,
}

/// What happened.
#[derive(Clone, Debug)]
pub enum Input {
    /// The model replied.
    ModelReply {
        /// The reply.
        reply: Box<ModelReply>,
        /// The provider that served.
        provider: Arc<str>,
        /// The model that served.
        model: Arc<str>,
    },
    /// The model could not be asked.
    ModelFailed {
        /// The provider refused because of a wrong tool call.
        rejected_tool_call: bool,
        /// The provider's words.
        detail: String,
    },
    /// A call has its result.
    CallDone {
        /// The call's place in the batch.
        place: usize,
        /// The result.
        result: ToolResult,
        /// Why it failed, when it failed.
        failure: Option<String>,
        /// Whether this failure counts towards a repeated one.
        counts: bool,
    },
    /// The user says more while the run is busy.
    Steer(Content),
    /// The caller gives up.
    Cancel,
    /// Time passed.
    Tick {
        /// Since the run started.
        elapsed: Duration,
        /// The time that the run may take.
        deadline: Option<Duration>,
    },
}

/// The outcome of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What to tell hooks and streams, in order.
    pub notices: Vec<Notice>,
    /// What to do.
    pub next: Next,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Ask the model, with tools or without.
    Ask {
        /// Whether tools are offered.
        tools: bool,
    },
    /// Start these calls of the batch: admit them in order, then run them side by side.
    Call {
        /// Places in the batch.
        places: Vec<usize>,
    },
    /// Wait for calls that run, or for the model.
    Wait,
    /// The answer is in the state.
    Finish,
    /// The run ends without an answer.
    Fail(Failure),
}

/// Why a run ends without an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// The iteration cap.
    MaxIterations {
        /// The cap.
        limit: u32,
    },
    /// The token budget.
    TokenBudget {
        /// Spent by the calls so far; with the estimate of the next one it passes the budget.
        spent: u64,
        /// The budget.
        budget: u64,
    },
    /// An unregistered tool was called again.
    UnknownTool {
        /// Its name.
        name: Arc<str>,
        /// Its arguments.
        arguments: crate::message::Arguments,
    },
    /// The model could not be asked.
    Provider,
    /// The caller gave up.
    Cancelled,
    /// The deadline passed.
    Timeout {
        /// How long the run took.
        after: Duration,
    },
}

/// Something that hooks and streams should know.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// An iteration starts.
    Iteration {
        /// Its number, from 1.
        iteration: u32,
    },
    /// The next request would pass the budget.
    BudgetExceeded {
        /// Spent by the calls so far; with the estimate of the next one it passes the budget.
        spent: u64,
        /// The budget.
        budget: u64,
    },
    /// The cap was reached.
    MaxIterations,
    /// The model is asked once more without tools.
    RetryWithoutTools {
        /// The iteration that was lost.
        iteration: u32,
        /// The unknown names, `(empty-response)` or `(provider-rejected)`.
        tool_name: Arc<str>,
        /// Why.
        error: String,
    },
    /// A wrong tool name was answered with the right ones.
    NameCorrected {
        /// The wrong name.
        name: Arc<str>,
        /// The right ones.
        matches: Vec<Arc<str>>,
    },
    /// A call that started before a stop is not run again.
    OutcomeUnknown {
        /// The iteration that it belongs to.
        iteration: u32,
        /// The call.
        call: Box<ToolCall>,
    },
    /// A batch is over and its results are in the history.
    BatchDone,
}

impl Rules {
    /// Takes one input. Inputs that do not fit the phase change nothing and ask to wait, so a late result of a call
    /// cannot disturb a run that is over.
    pub fn step(&self, state: &mut RunState, input: Input) -> Step {
        let mut notices = Vec::new();
        let next = self.advance(state, input, &mut notices);
        Step { notices, next }
    }

    /// Goes on with a saved run: what was under way is asked or run again where that does no harm.
    pub fn resume(&self, state: &mut RunState) -> Step {
        let mut notices = Vec::new();
        let next = match &mut state.phase {
            Phase::Ready => self.ask(state, &mut notices),
            Phase::Asking => {
                notices.push(Notice::Iteration { iteration: state.iteration });
                Next::Ask { tools: !state.tools_off }
            }
            Phase::Calling(batch) => {
                notices.push(Notice::Iteration { iteration: state.iteration });
                for call in batch::recover(batch, &self.registry) {
                    notices.push(Notice::OutcomeUnknown { iteration: state.iteration, call: Box::new(call) });
                }
                match batch.group.clone() {
                    again if again.is_empty() => self.go_on(state, &mut notices),
                    places => Next::Call { places },
                }
            }
            Phase::Done { .. } => Next::Finish,
            Phase::Failed { .. } => Next::Wait,
        };
        Step { notices, next }
    }

    fn advance(&self, state: &mut RunState, input: Input, notices: &mut Vec<Notice>) -> Next {
        match input {
            Input::Cancel => fail(state, Failure::Cancelled),
            Input::Tick { elapsed, deadline } => match deadline {
                Some(deadline) if elapsed >= deadline => fail(state, Failure::Timeout { after: elapsed }),
                Some(_) | None => match &state.phase {
                    Phase::Ready => self.ask(state, notices),
                    Phase::Asking | Phase::Calling(_) | Phase::Failed { .. } => Next::Wait,
                    Phase::Done { .. } => Next::Finish,
                },
            },
            Input::Steer(content) => {
                if !state.is_over() {
                    state.steering.push(content);
                }
                Next::Wait
            }
            Input::ModelReply { reply, provider, model } => match &state.phase {
                Phase::Asking => self.reply(state, *reply, provider, model, notices),
                Phase::Ready | Phase::Calling(_) | Phase::Done { .. } | Phase::Failed { .. } => Next::Wait,
            },
            Input::ModelFailed { rejected_tool_call, detail } => match &state.phase {
                Phase::Asking => self.model_failed(state, rejected_tool_call, &detail, notices),
                Phase::Ready | Phase::Calling(_) | Phase::Done { .. } | Phase::Failed { .. } => Next::Wait,
            },
            Input::CallDone { place, result, failure, counts } => {
                let taken = match &mut state.phase {
                    Phase::Calling(batch) => {
                        batch::record(batch, &mut state.failed, &mut state.denied, place, result, failure, counts)
                    }
                    Phase::Ready | Phase::Asking | Phase::Done { .. } | Phase::Failed { .. } => false,
                };
                if taken { self.go_on(state, notices) } else { Next::Wait }
            }
        }
    }

    /// Asks the model, unless a limit is reached.
    fn ask(&self, state: &mut RunState, notices: &mut Vec<Notice>) -> Next {
        for content in std::mem::take(&mut state.steering) {
            push(state, Message::User { content });
        }
        if state.iteration >= self.max_iterations {
            notices.push(Notice::MaxIterations);
            return fail(state, Failure::MaxIterations { limit: self.max_iterations });
        }
        state.iteration += 1;
        notices.push(Notice::Iteration { iteration: state.iteration });
        if let Some(budget) = self.max_tokens_spent {
            let spent = state.steps.iter().map(Usage::spent).fold(0, u64::saturating_add);
            if spent.saturating_add(limits::tokens_of_chars(state.chars)) > budget {
                notices.push(Notice::BudgetExceeded { spent, budget });
                return fail(state, Failure::TokenBudget { spent, budget });
            }
        }
        state.phase = Phase::Asking;
        Next::Ask { tools: !state.tools_off }
    }

    fn reply(
        &self,
        state: &mut RunState,
        mut reply: ModelReply,
        provider: Arc<str>,
        model: Arc<str>,
        notices: &mut Vec<Notice>,
    ) -> Next {
        state.steps.push(reply.usage);
        let thinking = reply.thinking.take().filter(|thinking| !thinking.is_empty()).map(Into::into);
        state.last = Some(LastReply { provider, model, thinking, stop: reply.stop });
        let offered = !state.tools_off && !self.registry.is_empty();
        if !reply.calls.is_empty() {
            return self.calls(state, reply, notices);
        }
        if reply.stop == StopReason::Pause {
            let message = AssistantMessage { content: reply.text.into(), calls: Vec::new(), native: reply.native };
            push(state, Message::Assistant(message));
            return self.ask(state, notices);
        }
        let blank = reply.text.trim().is_empty();
        if let Some(refusal) = reply.refusal.filter(|_| blank) {
            return done(state, refusal, true);
        }
        let filtered = matches!(reply.stop, StopReason::Refusal | StopReason::ContentFilter);
        if blank && offered && !filtered && reply.usage.output_tokens.is_some_and(|tokens| tokens > 0) {
            let error = "The model spent output tokens but gave neither text nor a tool call; asking once more \
                         without tools."
                .to_owned();
            return self.retry_without_tools(state, "(empty-response)".into(), error, notices);
        }
        done(state, reply.text, true)
    }

    fn model_failed(
        &self,
        state: &mut RunState,
        rejected_tool_call: bool,
        detail: &str,
        notices: &mut Vec<Notice>,
    ) -> Next {
        if rejected_tool_call && !state.tools_off {
            let error =
                format!("The provider rejected the request over a tool call; asking once more without tools: {detail}");
            return self.retry_without_tools(state, "(provider-rejected)".into(), error, notices);
        }
        fail(state, Failure::Provider)
    }

    fn retry_without_tools(
        &self,
        state: &mut RunState,
        tool_name: Arc<str>,
        error: String,
        notices: &mut Vec<Notice>,
    ) -> Next {
        state.tools_off = true;
        notices.push(Notice::RetryWithoutTools { iteration: state.iteration, tool_name, error });
        self.ask(state, notices)
    }

    /// Starts a batch, after looking at every name in it.
    fn calls(&self, state: &mut RunState, mut reply: ModelReply, notices: &mut Vec<Notice>) -> Next {
        for call in &mut reply.calls {
            if call.name.len() > LONGEST_NAME {
                call.name = limits::prefix(&call.name, LONGEST_NAME).into();
            }
        }
        let unknown: Vec<Arc<str>> = reply
            .calls
            .iter()
            .filter(|call| self.registry.get(&call.name).is_none())
            .map(|call| Arc::clone(&call.name))
            .collect();
        let corrections = u32::try_from(unknown.len()).unwrap_or(u32::MAX);
        let correctable = self.unknown_tool == UnknownTool::Corrected
            && state.corrections.saturating_add(corrections) <= limits::NAME_CORRECTIONS
            && unknown.iter().all(|name| !self.registry.similar(name).is_empty());
        if !unknown.is_empty() && !correctable {
            if state.tools_off {
                let call = reply.calls.into_iter().find(|call| self.registry.get(&call.name).is_none());
                let (name, arguments) = call.map(|call| (call.name, call.arguments)).unwrap_or_default();
                return fail(state, Failure::UnknownTool { name, arguments });
            }
            let error = "The model called tools that are not registered; asking once more without tools.".to_owned();
            return self.retry_without_tools(
                state,
                limits::prefix(&unknown.join(","), NAMES_TOLD).into(),
                error,
                notices,
            );
        }
        state.corrections += corrections;
        let mut batch = batch::start(reply, &state.history, &mut state.call_count, &self.registry);
        for (name, matches) in batch::correct_names(&mut batch, &self.registry) {
            notices.push(Notice::NameCorrected { name, matches });
        }
        state.phase = Phase::Calling(batch);
        self.go_on(state, notices)
    }

    /// Starts the next calls of the batch, or closes it.
    fn go_on(&self, state: &mut RunState, notices: &mut Vec<Notice>) -> Next {
        let Phase::Calling(batch) = &mut state.phase else { return Next::Wait };
        let stopping = !batch.repeated.is_empty();
        if batch.owes() || batch.calls.iter().any(|call| call.status == CallStatus::Started) {
            return Next::Wait;
        }
        if !stopping {
            if batch.group_is_open() {
                return Next::Wait;
            }
            let places = batch.next_group(self.parallel_tools);
            if !places.is_empty() {
                return Next::Call { places };
            }
        }
        let answer = batch.repeated.iter().min_by_key(|(place, _)| *place).map(|(_, message)| message.clone());
        let (assistant, results, called) = batch::close(batch, &self.registry);
        state.tools_called.extend(called);
        state.phase = Phase::Ready;
        push(state, Message::Assistant(assistant));
        push(state, Message::Tool { results });
        notices.push(Notice::BatchDone);
        match answer {
            Some(text) => done(state, text.into(), false),
            None => self.ask(state, notices),
        }
    }
}

fn push(state: &mut RunState, message: Message) {
    state.chars += message.chars();
    // Copies the list only when a hook kept an earlier one.
    Arc::make_mut(&mut state.history).push(message);
}

fn done(state: &mut RunState, text: String, from_model: bool) -> Next {
    state.phase = Phase::Done { text: text.into(), from_model };
    Next::Finish
}

fn fail(state: &mut RunState, failure: Failure) -> Next {
    if state.is_over() {
        return Next::Wait;
    }
    state.phase = Phase::Failed { code: failure.code().into() };
    Next::Fail(failure)
}

impl Failure {
    /// The code of the error that the caller gets.
    pub fn code(&self) -> &'static str {
        use crate::error::ErrorKind;
        match self {
            Self::MaxIterations { .. } => ErrorKind::MaxIterations.code(),
            Self::TokenBudget { .. } => ErrorKind::TokenBudgetExceeded.code(),
            Self::UnknownTool { .. } => ErrorKind::UnknownTool.code(),
            Self::Provider => ErrorKind::Provider.code(),
            Self::Cancelled => ErrorKind::Cancelled.code(),
            Self::Timeout { .. } => ErrorKind::Timeout.code(),
        }
    }
}

#[cfg(test)]
mod tests;
