//! The text that the caller sees: cleaned, streamed, taken back when it was not the answer after all.

use crate::guard::Restorer;
use crate::guard::answer::{AnswerFilter, AnswerMode};
use crate::hooks::{Emitter, Event, EventName, Place};
use crate::screening::SharedVault;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Characters of one piece when a finished answer is replayed.
const REPLAY_CHARS: usize = 10;

/// How an answer reaches the reader of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamMode {
    /// As the model writes it, also between tool calls; text that was not the answer is taken back. The default.
    Live,
    /// Only when it is complete, in pieces of ten characters.
    Replay,
}

/// The answer of one run on its way to the reader.
pub(crate) struct AnswerText {
    emitter: Emitter,
    mode: AnswerMode,
    live: bool,
    iteration: u32,
    attempt: u32,
    filter: AnswerFilter,
    /// Gives personal data back, after the cleaning.
    vault: Option<SharedVault>,
    restorer: Restorer,
    /// Cleans the reasoning on its own.
    thinking: AnswerFilter,
    /// Whether the model thinks, and more of the same thought may come.
    thinks: bool,
    /// What this iteration and attempt gave so far.
    shown: String,
    /// Whether they gave readable reasoning.
    thought: bool,
    pub(crate) provider: Arc<str>,
    pub(crate) model: Arc<str>,
}

impl AnswerText {
    pub(crate) fn new(emitter: Emitter, mode: AnswerMode, stream: StreamMode, vault: Option<SharedVault>) -> Self {
        let live = stream == StreamMode::Live
            && (emitter.wants(EventName::ProviderToken) || emitter.wants(EventName::ThinkingDelta));
        Self {
            emitter,
            mode,
            live,
            iteration: 0,
            attempt: 1,
            filter: AnswerFilter::new(mode),
            vault,
            restorer: Restorer::default(),
            thinking: AnswerFilter::new(mode),
            thinks: false,
            shown: String::new(),
            thought: false,
            provider: Arc::from(""),
            model: Arc::from(""),
        }
    }

    /// Whether the model should be asked for a stream.
    pub(crate) fn is_live(&self) -> bool {
        self.live
    }

    /// A new model call starts.
    pub(crate) fn start(&mut self, iteration: u32) {
        self.iteration = iteration;
        self.reset(1);
    }

    fn reset(&mut self, attempt: u32) {
        self.attempt = attempt;
        self.filter = AnswerFilter::new(self.mode);
        self.restorer = Restorer::default();
        self.forget_thought();
        self.shown.clear();
        self.thought = false;
    }

    /// The model wrote a piece.
    pub(crate) async fn push(&mut self, piece: String, attempt: u32) {
        if attempt != self.attempt {
            self.reset(attempt);
        }
        self.end_thinking().await;
        let text = self.filter.push(piece);
        let text = match &self.vault {
            Some(vault) => self.restorer.push(&text, &vault.lock()),
            None => text,
        };
        self.show(text).await;
    }

    /// The model thought aloud.
    pub(crate) async fn think(&mut self, text: String, attempt: u32) {
        if attempt != self.attempt {
            self.reset(attempt);
        }
        self.thinks = true;
        let text = self.thinking.push(text);
        self.show_thinking(text).await;
    }

    /// The model stopped thinking, or begins to speak: shows what was held back.
    pub(crate) async fn end_thinking(&mut self) {
        if std::mem::take(&mut self.thinks) {
            let text = self.thinking.finish();
            self.show_thinking(text).await;
        }
    }

    fn forget_thought(&mut self) {
        self.thinking = AnswerFilter::new(self.mode);
        self.thinks = false;
    }

    async fn show_thinking(&mut self, text: String) {
        if text.is_empty() {
            return;
        }
        self.thought = true;
        let place = Place::attempt(self.iteration, self.attempt);
        self.emitter.emit(EventName::ThinkingDelta, place, || Event::ThinkingDelta { text }).await;
    }

    /// What the present attempt gave is not the answer; its reasoning stays.
    pub(crate) async fn take_back(&mut self) {
        if self.shown.is_empty() {
            self.filter = AnswerFilter::new(self.mode);
            self.restorer = Restorer::default();
            self.restorer = Restorer::default();
            return;
        }
        self.discard().await;
    }

    /// The present attempt broke off: nothing of it counts.
    pub(crate) async fn void(&mut self) {
        if self.thought || !self.shown.is_empty() {
            self.discard().await;
        }
        self.filter = AnswerFilter::new(self.mode);
        self.restorer = Restorer::default();
        self.forget_thought();
    }

    async fn discard(&mut self) {
        let place = Place::attempt(self.iteration, self.attempt);
        self.emitter.emit(EventName::RunTextDiscarded, place, || Event::RunTextDiscarded {}).await;
        // Whatever follows must not be taken for a part of what was taken back.
        self.reset(self.attempt.saturating_add(1));
    }

    /// Shows the final text, as far as it was not shown yet.
    pub(crate) async fn finish(&mut self, text: &str) {
        if !self.emitter.wants(EventName::ProviderToken) {
            return;
        }
        if let Some(rest) = text.strip_prefix(self.shown.as_str()) {
            let rest = rest.to_owned();
            if self.live {
                self.show(rest).await;
            } else {
                self.replay(&rest).await;
            }
            return;
        }
        self.take_back().await;
        self.show(text.to_owned()).await;
    }

    async fn replay(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let piece = crate::limits::prefix(rest, REPLAY_CHARS);
            rest = rest.get(piece.len()..).unwrap_or_default();
            self.show(piece.to_owned()).await;
        }
    }

    async fn show(&mut self, text: String) {
        if text.is_empty() {
            return;
        }
        self.shown.push_str(&text);
        let event = || Event::ProviderToken {
            token: text,
            provider: Arc::clone(&self.provider),
            model: Arc::clone(&self.model),
        };
        let place = Place::attempt(self.iteration, self.attempt);
        self.emitter.emit(EventName::ProviderToken, place, event).await;
    }
}
