//! Drives the machine: does what it wants, tells what happened, saves between steps.
//!
//! Everything runs inside the caller's future. Dropping it drops model calls, tools and waits with it.

use super::answer::{AnswerText, StreamMode};
use super::batch;
use super::checkpoint::{CallStarted, Checkpoint};
use super::machine::{Failure, Input, Next, Notice, Rules, Step};
use super::select::{Selecting, offer};
use super::state::{CallStatus, Phase, RunState};
use crate::context::RunContext;
use crate::error::Error;
use crate::guard::answer::{AnswerMode, Findings, clean};
use crate::hooks::{Emitter, Event, EventName, InterceptorSet, Place};
use crate::message::{Arguments, Message, ToolCall};
use crate::provider::{ChainSession, ModelChain, ModelOptions, ProviderError, ToolChoice, ToolSpec};
use crate::tool::Effect;
use crate::tool::call::{self, Admission, CallDesk, Finished, raw};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use std::sync::Arc;
use std::time::Duration;
use tracing::Instrument;

/// What every run of an agent shares.
pub(crate) struct Engine {
    pub(crate) rules: Rules,
    pub(crate) chain: ModelChain,
    pub(crate) interceptors: Arc<InterceptorSet>,
    pub(crate) system: Arc<str>,
    pub(crate) options: Arc<ModelOptions>,
    pub(crate) tool_choice: ToolChoice,
    pub(crate) selecting: Selecting,
    pub(crate) checkpoint: Arc<dyn Checkpoint>,
    pub(crate) cleaning: AnswerMode,
    pub(crate) stream_mode: StreamMode,
}

/// One run under way.
pub(crate) struct Run<'a> {
    pub(super) engine: &'a Engine,
    pub(super) context: Arc<RunContext>,
    pub(super) emitter: Emitter,
    pub(super) state: RunState,
    pub(super) session: ChainSession,
    pub(super) offered: Arc<[ToolSpec]>,
    pub(super) answer: AnswerText,
    pub(super) provider_error: Option<ProviderError>,
    desk: Arc<CallDesk>,
}

/// A run that has its answer.
pub(crate) struct Outcome {
    pub(crate) state: RunState,
    /// The cleaned text.
    pub(crate) text: String,
}

impl<'a> Run<'a> {
    pub(crate) fn new(engine: &'a Engine, desk: CallDesk, state: RunState) -> Self {
        let emitter = desk.emitter.clone();
        let context = Arc::clone(&desk.context);
        let session = ChainSession::default();
        let (provider, model) = engine.chain.serving(&session);
        let offered = offer(&engine.selecting, &engine.rules.registry, &state, (provider, model), &engine.system);
        let answer = AnswerText::new(emitter.clone(), engine.cleaning, engine.stream_mode, desk.vault.clone());
        let desk = Arc::new(desk);
        Self { engine, context, emitter, state, session, offered, answer, provider_error: None, desk }
    }

    /// Runs to the end. The state lives here, so whoever drops this future drops the run.
    pub(crate) async fn drive(mut self, resumed: bool) -> Result<Outcome, Error> {
        let run_id = Arc::clone(&self.state.run_id);
        let span = tracing::info_span!("run", run_id = &*run_id);
        async move {
            let mut step = if resumed {
                self.engine.rules.resume(&mut self.state)
            } else {
                if self.engine.checkpoint.is_active() {
                    self.engine.checkpoint.run_started(&self.state).await?;
                }
                let start = Input::Tick { elapsed: Duration::ZERO, deadline: None };
                self.engine.rules.step(&mut self.state, start)
            };
            loop {
                self.tell(std::mem::take(&mut step.notices)).await?;
                step = match step.next {
                    Next::Ask { tools } => {
                        let mut asked = self.ask(tools).await?;
                        if asked.next != Next::Finish {
                            // What was shown is the text beside a call, or a lost reply.
                            self.answer.take_back().await;
                        }
                        self.tell(std::mem::take(&mut asked.notices)).await?;
                        asked
                    }
                    Next::Call { places } => self.call(places).await?,
                    Next::Finish => return self.finish().await,
                    Next::Fail(failure) => return Err(self.fail(failure).await),
                    Next::Wait => {
                        let phase = format!("{:?}", std::mem::discriminant(&self.state.phase));
                        return Err(Error::Internal { detail: format!("the run waits for nothing in phase {phase}") });
                    }
                };
            }
        }
        .instrument(span)
        .await
    }

    pub(super) fn serving(&self) -> (Arc<str>, Arc<str>) {
        let (provider, model) = self.engine.chain.serving(&self.session);
        (Arc::clone(provider), Arc::clone(model))
    }

    pub(super) fn has_calls(&self) -> bool {
        self.state.history.iter().any(|message| match message {
            Message::Assistant(message) => !message.calls.is_empty(),
            Message::System { .. } | Message::User { .. } | Message::Tool { .. } => false,
        })
    }

    /// Admits the calls of a group one after the other, then runs the admitted ones side by side.
    async fn call(&mut self, places: Vec<usize>) -> Result<Step, Error> {
        let iteration = self.state.iteration;
        let mut admitted = Vec::with_capacity(places.len());
        for place in places {
            let Some(mut call) = self.call_at(place) else { continue };
            let denied = &self.state.denied;
            let told = |call: &ToolCall| denied.get(&batch::signature(call)).map(ToString::to_string);
            let admission = self.desk.admit(&mut call, iteration, told);
            match admission.await {
                Admission::Run => admitted.push((place, call)),
                Admission::Suspend => return Err(self.suspend(&call).await),
                Admission::Refused(finished) => {
                    if let Phase::Calling(batch) = &mut self.state.phase {
                        batch.keep(place, call.clone());
                    }
                    let step = self.finished(place, &call, finished).await?;
                    // Either the group goes on, or a repeated failure ends the batch before anything has started.
                    if step.next != Next::Wait {
                        return Ok(step);
                    }
                }
            }
        }
        // An interceptor or a gate may have made a harmless call one that changes something.
        let effect = |call: &ToolCall| {
            let tool = self.engine.rules.registry.get(&call.name);
            tool.map_or(Effect::Unspecified, |tool| call::effect(tool.as_ref(), &call.arguments))
        };
        let admitted: Vec<_> = admitted.into_iter().map(|(place, call)| (place, effect(&call), call)).collect();
        let harmless = admitted.iter().all(|(_, effect, _)| *effect == Effect::ReadOnly);
        let side_by_side = if harmless { admitted.len() } else { 1 };
        let mut last = None;
        for group in admitted.chunks(side_by_side.max(1)) {
            let step = self.execute(group).await?;
            if step.next != Next::Wait {
                return Ok(step);
            }
            last = Some(step);
        }
        last.ok_or_else(|| Error::Internal { detail: "a group of calls was empty".into() })
    }

    /// Runs admitted calls side by side.
    async fn execute(&mut self, admitted: &[(usize, Effect, ToolCall)]) -> Result<Step, Error> {
        // All of them first: a stop between two saves must not tear the group.
        for (place, effect, call) in admitted {
            if let Phase::Calling(batch) = &mut self.state.phase {
                batch.start(*place, call.clone(), *effect);
            }
        }
        for (_, _, call) in admitted {
            self.save_start(call).await?;
        }
        let iteration = self.state.iteration;
        if let [(place, _, call)] = admitted {
            let finished = self.desk.execute(call, iteration).await;
            return self.finished(*place, call, finished).await;
        }
        let desk = Arc::clone(&self.desk);
        let execute = async |place: usize, call| {
            let finished = desk.execute(call, iteration).await;
            (place, call, finished)
        };
        let mut running: FuturesUnordered<_> = admitted.iter().map(|(place, _, call)| execute(*place, call)).collect();
        let mut last = None;
        while let Some((place, call, finished)) = running.next().await {
            last = Some(self.finished(place, call, finished).await?);
        }
        last.ok_or_else(|| Error::Internal { detail: "a group of calls was empty".into() })
    }

    fn call_at(&self, place: usize) -> Option<ToolCall> {
        match &self.state.phase {
            Phase::Calling(batch) => batch
                .calls
                .get(place)
                .filter(|state| state.status == CallStatus::Pending)
                .map(|state| state.call.clone()),
            Phase::Ready | Phase::Asking | Phase::Done { .. } | Phase::Failed { .. } => None,
        }
    }

    async fn save_start(&self, call: &ToolCall) -> Result<(), Error> {
        if !self.engine.checkpoint.is_active() {
            return Ok(());
        }
        let arguments_hash = batch::signature(call);
        let idempotency_key = format!("{}:{}", self.state.run_id, call.id);
        let started = CallStarted { call, arguments_hash: &arguments_hash, idempotency_key: &idempotency_key };
        self.engine.checkpoint.call_started(&self.state, started).await
    }

    /// Records a result and saves it.
    async fn finished(&mut self, place: usize, call: &ToolCall, finished: Finished) -> Result<Step, Error> {
        let (failure, counts) = match finished.failure {
            Some(failure) => (Some(failure.message), failure.counts),
            None => (None, false),
        };
        let input = Input::CallDone { place, result: finished.result, failure, counts };
        let step = self.engine.rules.step(&mut self.state, input);
        if self.engine.checkpoint.is_active() {
            self.engine.checkpoint.call_finished(&self.state, call).await?;
        }
        Ok(step)
    }

    async fn suspend(&mut self, call: &ToolCall) -> Error {
        if let Err(error) = self.engine.checkpoint.suspended(&self.state, call).await {
            return error;
        }
        let status = "awaiting_approval";
        let event = || Event::RunSuspended {
            status,
            iteration: self.state.iteration,
            tool_name: Arc::clone(&call.name),
            call_id: Arc::clone(&call.id),
        };
        self.emitter.emit(EventName::RunSuspended, Place::default(), event).await;
        Error::RunSuspended { run_id: Arc::clone(&self.state.run_id), status }
    }

    async fn tell(&mut self, notices: Vec<Notice>) -> Result<(), Error> {
        for notice in notices {
            let iteration = self.state.iteration;
            let (provider, model) = self.serving();
            let message = Arc::clone(&self.state.task.message);
            match notice {
                Notice::Iteration { iteration } => {
                    let history = Arc::clone(&self.state.history);
                    let event = || Event::AgentIteration { iteration, message, provider, model, history };
                    self.emitter.emit(EventName::AgentIteration, Place::iteration(iteration), event).await;
                }
                Notice::BudgetExceeded { spent, budget } => {
                    let event = || Event::BudgetExceeded { tokens_spent: spent, budget };
                    self.emitter.emit(EventName::BudgetExceeded, Place::iteration(iteration), event).await;
                }
                Notice::MaxIterations => {
                    let max_iterations = self.engine.rules.max_iterations;
                    let event = || Event::AgentMaxIterations { message, max_iterations, provider, model };
                    self.emitter.emit(EventName::AgentMaxIterations, Place::default(), event).await;
                }
                Notice::RetryWithoutTools { iteration, tool_name, error } => {
                    let tool_input = raw(&Arguments::empty());
                    let event = || Event::ToolError { tool_name, tool_input, error };
                    self.emitter.emit(EventName::ToolError, Place::iteration(iteration), event).await;
                }
                Notice::NameCorrected { name, matches } => {
                    let event = || Event::ToolNameCorrected { tool_name: name, matches };
                    self.emitter.emit(EventName::ToolNameCorrected, Place::iteration(iteration), event).await;
                }
                Notice::OutcomeUnknown { iteration, call } => {
                    let place = Place::call(iteration, &call.id);
                    let event = || Event::ToolError {
                        tool_name: Arc::clone(&call.name),
                        tool_input: raw(&call.arguments),
                        error: "started before the stop, outcome unknown".into(),
                    };
                    self.emitter.emit(EventName::ToolError, place, event).await;
                }
                Notice::BatchDone => {
                    if self.engine.checkpoint.is_active() {
                        self.engine.checkpoint.step_finished(&self.state).await?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Cleans the answer and its reasoning, shows what was not shown yet, and lets the interceptors see it last.
    async fn finish(mut self) -> Result<Outcome, Error> {
        let text = match &self.state.phase {
            Phase::Done { text, .. } => text.to_string(),
            Phase::Ready | Phase::Asking | Phase::Calling(_) | Phase::Failed { .. } => String::new(),
        };
        let (mut text, findings) = clean(text, self.engine.cleaning);
        let reasoned = self.clean_reasoning();
        self.tell_findings(findings.and(reasoned)).await;
        if let Some(vault) = &self.desk.vault {
            text = vault.lock().restore(&text).into_owned();
        }
        if !self.engine.interceptors.is_empty() {
            text = match self.engine.interceptors.before_send(&self.context, text).await {
                Ok(text) => text,
                Err(blocked) => {
                    let event = || Event::GuardFlagged {
                        guard: blocked.by.clone(),
                        source: "answer".into(),
                        reason: blocked.reason.clone(),
                    };
                    self.emitter.emit(EventName::GuardFlagged, Place::default(), event).await;
                    String::new()
                }
            };
        }
        self.answer.finish(&text).await;
        if self.engine.checkpoint.is_active() {
            self.engine.checkpoint.step_finished(&self.state).await?;
        }
        Ok(Outcome { state: self.state, text })
    }

    /// Cleans the reasoning of the last reply.
    fn clean_reasoning(&mut self) -> Findings {
        let Some(thinking) = self.state.last.as_mut().and_then(|last| last.thinking.as_mut()) else {
            return Findings::default();
        };
        let (text, findings) = clean(std::mem::take(thinking).into(), self.engine.cleaning);
        *thinking = text.into();
        findings
    }

    async fn tell_findings(&self, findings: Findings) {
        for tag in findings.tags() {
            let event = || Event::GuardOutputPhpTagRemoved { tag };
            self.emitter.emit(EventName::GuardOutputPhpTagRemoved, Place::default(), event).await;
        }
        for function in findings.calls() {
            let event = || Event::GuardOutputFunctionRedacted { function };
            self.emitter.emit(EventName::GuardOutputFunctionRedacted, Place::default(), event).await;
        }
    }

    async fn fail(&mut self, failure: Failure) -> Error {
        match failure {
            Failure::MaxIterations { limit } => Error::MaxIterations { limit },
            Failure::TokenBudget { spent, budget } => Error::TokenBudgetExceeded { spent, budget },
            Failure::UnknownTool { name, arguments } => {
                let available = self.engine.rules.registry.names();
                let iteration = self.state.iteration;
                let before =
                    || Event::ToolBefore { tool_name: Arc::clone(&name), tool_input: raw(&arguments), iteration };
                self.emitter.emit(EventName::ToolBefore, Place::iteration(iteration), before).await;
                let event = || Event::ToolNotFound {
                    tool_name: Arc::clone(&name),
                    tool_input: raw(&arguments),
                    available_tools: available.clone(),
                };
                self.emitter.emit(EventName::ToolNotFound, Place::default(), event).await;
                let available = available.iter().map(ToString::to_string).collect();
                Error::UnknownTool { name: name.to_string(), available }
            }
            Failure::Provider => match self.provider_error.take() {
                Some(error) => error.into(),
                None => Error::Internal { detail: "a model call failed without an error".into() },
            },
            Failure::Cancelled => Error::Cancelled,
            Failure::Timeout { after } => Error::Timeout { after },
        }
    }
}
