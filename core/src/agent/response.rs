//! What a run gives back.

use crate::message::Usage;
use crate::provider::StopReason;
use crate::run::{Phase, RunState};
use serde::Serialize;
use std::sync::Arc;

/// The answer to a message, with what it took.
///
/// The token counts without `total` in their name are those of the last model call; [`usage`](Self::usage) holds the
/// whole run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AgentResponse {
    /// The cleaned answer.
    pub text: String,
    /// The provider that answered last.
    pub provider: Arc<str>,
    /// Its model.
    pub model: Arc<str>,
    /// Model calls that were made.
    pub iterations: u32,
    /// Prompt tokens of the last call, when the provider reported them.
    pub input_tokens: Option<u64>,
    /// Reply tokens of the last call, when the provider reported them.
    pub output_tokens: Option<u64>,
    /// Milliseconds from the message to the answer, in this process.
    pub duration_ms: u64,
    /// Names of the tools called, in order, repeats kept.
    pub tools_called: Vec<Arc<str>>,
    /// Prompt tokens of the last call that came from the provider's cache.
    pub cache_read_tokens: Option<u64>,
    /// Prompt tokens of the last call that were written to the provider's cache.
    pub cache_write_tokens: Option<u64>,
    /// Readable reasoning of the last call.
    pub thinking: Option<String>,
    /// The run.
    pub run_id: Arc<str>,
    /// Why the last reply ended: `length` means that the text may be cut.
    pub stop_reason: StopReason,
    /// Whether the text is a failure that ended the run, and not an answer of the model.
    pub failed: bool,
    /// Tokens of the whole run.
    pub usage: Usage,
    /// Tokens of each model call.
    pub steps: Vec<Usage>,
    /// Why a conversation was not changed by this turn, when an interceptor stopped that.
    pub persist_error: Option<String>,
}

impl AgentResponse {
    pub(super) fn new(state: RunState, text: String, duration_ms: u64) -> Self {
        let usage = state.usage();
        let failed = match state.phase {
            Phase::Done { from_model, .. } => !from_model,
            Phase::Ready | Phase::Asking | Phase::Calling(_) | Phase::Failed { .. } => true,
        };
        // A failure that ended the run is no reply, so it has no counts of its own.
        let last = state.steps.last().copied().filter(|_| !failed).unwrap_or_default();
        let (provider, model, thinking, stop_reason) = match state.last {
            Some(last) => (last.provider, last.model, last.thinking, last.stop),
            None => (Arc::from(""), Arc::from(""), None, StopReason::Other),
        };
        Self {
            text,
            provider,
            model,
            iterations: state.iteration,
            input_tokens: last.input_tokens,
            output_tokens: last.output_tokens,
            duration_ms,
            tools_called: state.tools_called,
            cache_read_tokens: last.cache_read_tokens,
            cache_write_tokens: last.cache_write_tokens,
            thinking: thinking.filter(|_| !failed).map(Into::into),
            run_id: state.run_id,
            stop_reason,
            failed,
            usage,
            steps: state.steps,
            persist_error: None,
        }
    }

    /// Whether the provider reported both counts of the last call.
    pub fn has_usage(&self) -> bool {
        self.input_tokens.is_some() && self.output_tokens.is_some()
    }

    /// Prompt and reply tokens of the last call; `None` when either is missing.
    pub fn total_tokens(&self) -> Option<u64> {
        Some(self.input_tokens?.saturating_add(self.output_tokens?))
    }

    /// Whether part of the last prompt came from the provider's cache.
    pub fn cache_hit(&self) -> bool {
        self.cache_read_tokens.is_some_and(|tokens| tokens > 0)
    }

    /// Whether tools were called.
    pub fn used_tools(&self) -> bool {
        !self.tools_called.is_empty()
    }

    /// Names of the tools called, each once, in order of their first call.
    pub fn unique_tools_called(&self) -> Vec<Arc<str>> {
        let mut unique: Vec<Arc<str>> = Vec::new();
        for name in &self.tools_called {
            if !unique.contains(name) {
                unique.push(Arc::clone(name));
            }
        }
        unique
    }

    /// Whether there is readable reasoning.
    pub fn has_thinking(&self) -> bool {
        self.thinking.as_ref().is_some_and(|thinking| !thinking.is_empty())
    }

    /// Whether more than one model call was made.
    pub fn is_multi_step(&self) -> bool {
        self.iterations > 1
    }

    /// The response as JSON, with the field names as keys.
    pub fn to_json(&self) -> serde_json::Value {
        // Every field can be written as JSON.
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl std::fmt::Display for AgentResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}
