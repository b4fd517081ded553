//! One model call of a run: the request, the events around it, the pieces of a streamed reply.

use super::answer::AnswerText;
use super::drive::Run;
use super::machine::{Input, Step};
use crate::error::Error;
use crate::hooks::{Emitter, Event, EventName, Place};
use crate::provider::{Fallback, ModelRequest, Observer, ProviderError, Retry, ToolChoice, ToolSpec};
use std::sync::Arc;
use tracing::Instrument;

impl Run<'_> {
    /// Asks the model and steps the machine with what came.
    pub(super) async fn ask(&mut self, tools: bool) -> Result<Step, Error> {
        let iteration = self.state.iteration;
        let place = Place::iteration(iteration);
        let (provider, model) = self.serving();
        let request = self.request(tools).await?;
        let tool_count = if request.tool_choice == ToolChoice::None { 0 } else { request.tools.len() };
        let history_len = request.messages.len();
        let event = || Event::ProviderRequest { provider, model, history_len, tool_count };
        self.emitter.emit(EventName::ProviderRequest, place.clone(), event).await;

        let span = tracing::info_span!("model_call", iteration, provider = %self.engine.chain.serving(&self.session).0);
        self.answer.start(iteration);
        (self.answer.provider, self.answer.model) = self.serving();
        let mut observer = Watcher {
            emitter: &self.emitter,
            answer: &mut self.answer,
            iteration,
            serving: self.engine.chain.serving(&self.session),
        };
        let live = observer.answer.is_live();
        let asked = self.engine.chain.ask(&mut self.session, &request, live, &mut observer);
        let served = asked.instrument(span).await;
        // The history must not be shared when the next message is added to it.
        drop(request);
        match served {
            Ok(served) => {
                self.answer.end_thinking().await;
                self.replied(&served).await;
                let (provider, model) = (served.provider, served.model);
                let reply = Box::new(served.reply);
                Ok(self.engine.rules.step(&mut self.state, Input::ModelReply { reply, provider, model }))
            }
            Err(error) => {
                let input =
                    Input::ModelFailed { rejected_tool_call: error.rejected_tool_call, detail: error.message.clone() };
                let step = self.engine.rules.step(&mut self.state, input);
                self.provider_error = Some(error);
                Ok(step)
            }
        }
    }

    async fn replied(&mut self, served: &crate::provider::Served) {
        let usage = served.reply.usage;
        let place = Place::attempt(self.state.iteration, served.attempt);
        let event = || Event::ProviderResponse {
            provider: Arc::clone(&served.provider),
            model: Arc::clone(&served.model),
            r#type: if served.reply.calls.is_empty() { "text" } else { "tool_use_batch" },
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cache_read_tokens: usage.cache_read_tokens,
            cache_write_tokens: usage.cache_write_tokens,
            reasoning_tokens: usage.reasoning_tokens,
            input_tokens_total: usage.input_tokens_total,
        };
        self.emitter.emit(EventName::ProviderResponse, place.clone(), event).await;
        if let Some(read) = usage.cache_read_tokens.filter(|read| *read > 0) {
            let event = || Event::ProviderCacheHit {
                provider: Arc::clone(&served.provider),
                model: Arc::clone(&served.model),
                cache_read_tokens: read,
                cache_write_tokens: usage.cache_write_tokens,
            };
            self.emitter.emit(EventName::ProviderCacheHit, place, event).await;
        }
    }

    /// The request of this iteration, after the interceptors.
    async fn request(&self, tools: bool) -> Result<ModelRequest, Error> {
        let none: Arc<[ToolSpec]> = Arc::from([]);
        let (tools, tool_choice) = if tools {
            let choice = if self.state.iteration == 1 { self.engine.tool_choice.clone() } else { ToolChoice::Auto };
            (Arc::clone(&self.offered), choice)
        } else if self.has_calls() {
            // Some APIs refuse a history with calls when no tools are listed.
            (Arc::clone(&self.offered), ToolChoice::None)
        } else {
            (none, ToolChoice::Auto)
        };
        let request = ModelRequest {
            system: Arc::clone(&self.engine.system),
            messages: Arc::clone(&self.state.history),
            tools,
            tool_choice,
            options: Arc::clone(&self.engine.options),
        };
        if self.engine.interceptors.is_empty() {
            return Ok(request);
        }
        match self.engine.interceptors.before_model(&self.context, request).await {
            Ok(request) => Ok(request),
            Err(blocked) => {
                let event = || Event::GuardBlocked {
                    message: Arc::clone(&self.state.task.typed),
                    reason: blocked.reason.clone(),
                    guard: Some(blocked.by.clone()),
                };
                let place = Place::iteration(self.state.iteration);
                self.emitter.emit(EventName::GuardBlocked, place, event).await;
                Err(blocked.into())
            }
        }
    }
}

/// Turns what happens during a model call into events.
struct Watcher<'a> {
    emitter: &'a Emitter,
    answer: &'a mut AnswerText,
    iteration: u32,
    serving: (&'a Arc<str>, &'a Arc<str>),
}

impl Observer for Watcher<'_> {
    async fn text(&mut self, text: String, attempt: u32) {
        self.answer.push(text, attempt).await;
    }

    async fn thinking(&mut self, thinking: String, attempt: u32) {
        self.answer.think(thinking, attempt).await;
    }

    async fn discard(&mut self, _: u32) {
        self.answer.void().await;
    }

    async fn retry(&mut self, retry: Retry<'_>) {
        let event = || Event::ProviderRetry {
            provider: retry.error.provider.as_str().into(),
            model: retry.error.model.as_str().into(),
            attempt: retry.attempt,
            error: retry.error.message.clone(),
            iteration: self.iteration,
            status: retry.error.status,
            wait_ms: u64::try_from(retry.wait.as_millis()).unwrap_or(u64::MAX),
        };
        let place = Place::attempt(self.iteration, retry.attempt);
        self.emitter.emit(EventName::ProviderRetry, place, event).await;
    }

    async fn fallback(&mut self, fallback: Fallback<'_>) {
        let event = || Event::ProviderFallback {
            from: fallback.from.to_owned(),
            to: fallback.to.to_owned(),
            status: fallback.status.unwrap_or(0),
        };
        self.emitter.emit(EventName::ProviderFallback, Place::iteration(self.iteration), event).await;
    }

    async fn failed(&mut self, error: &ProviderError) {
        let (provider, model) = self.serving;
        let event = || Event::ProviderError {
            provider: Arc::clone(provider),
            model: Arc::clone(model),
            error: error.message.clone(),
            iteration: self.iteration,
        };
        self.emitter.emit(EventName::ProviderError, Place::iteration(self.iteration), event).await;
    }
}
