//! One message through the six steps.

use super::augment::{Augmented, augment, source};
use super::{AgentResponse, Conversation, Inner};
use crate::context::RunContext;
use crate::error::{Error, GuardFinding};
use crate::hooks::{Emitter, Event, EventName, Place};
use crate::message::{Content, Message, Part};
use crate::run::{Outcome, Run, RunState, Task};
use crate::screening::{OnContextFinding, Piece, Refusal, SharedVault, Source};
use crate::tool::call::CallDesk;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// How long hooks may take to hear that a run was cancelled.
const LAST_WORDS: Duration = Duration::from_millis(30);

/// What is to be run.
pub(super) struct Job {
    start: Start,
    context: Arc<RunContext>,
    conversation: Option<Conversation>,
}

enum Start {
    Message(Content),
    Saved(Box<RunState>),
}

/// What came of it.
pub(super) struct Turn {
    pub(super) response: AgentResponse,
    pub(super) conversation: Option<Conversation>,
}

impl Job {
    pub(super) fn message(content: Content, context: RunContext) -> Self {
        Self { start: Start::Message(content), context: Arc::new(context), conversation: None }
    }

    /// Makes the message the next turn of a conversation.
    pub(super) fn in_conversation(mut self, conversation: &Conversation) -> Self {
        self.conversation = Some(conversation.clone());
        self
    }

    pub(super) fn resume(state: RunState, context: RunContext) -> Self {
        Self { start: Start::Saved(Box::new(state)), context: Arc::new(context), conversation: None }
    }
}

/// Runs a job to its end, with the hooks beside it. Dropping the future ends everything.
pub(super) async fn run(
    inner: Arc<Inner>,
    job: Job,
    stream: Option<mpsc::Sender<crate::hooks::RunEvent>>,
) -> Result<Turn, Error> {
    let Job { start, context, conversation } = job;
    let (run_id, parent) = match &start {
        Start::Message(_) => (inner.env.ids.next_id(), context.parent_run_id.clone()),
        Start::Saved(state) => (Arc::clone(&state.run_id), state.task.parent_run_id.clone()),
    };
    let (emitter, delivery) = Emitter::new(
        run_id,
        parent,
        conversation.as_ref().map(|conversation| Arc::clone(conversation.id())),
        Arc::clone(&inner.env.clock),
        Arc::clone(&inner.hooks),
        stream,
    );
    // Tools on other threads learn from this token that nobody waits for them any more.
    let signal = context.signal.child_token();
    let _ends_with_the_run = signal.clone().drop_guard();
    let conversation_id = match &start {
        Start::Message(_) => conversation.as_ref().map(|conversation| conversation.id()),
        Start::Saved(state) => state.task.conversation_id.as_ref(),
    };
    let vault = inner.guards.reversible.then(|| inner.vaults.of(conversation_id));
    let journey = Journey { inner: &inner, context, emitter, signal, vault, started: inner.env.clock.monotonic() };
    tokio::select! {
        biased;
        result = journey.run(start, conversation) => result,
        () = delivery.run() => Err(Error::Internal { detail: "the delivery of events ended before the run".into() }),
    }
}

/// One message under way.
struct Journey<'a> {
    inner: &'a Inner,
    context: Arc<RunContext>,
    emitter: Emitter,
    signal: CancellationToken,
    /// Where personal data waits for the answer.
    vault: Option<SharedVault>,
    started: Duration,
}

/// How far a message came; decides which events an error has.
#[derive(Default)]
struct Progress {
    /// Set once `agent.before` was sent.
    accepted: Option<Arc<str>>,
}

impl Journey<'_> {
    async fn run(&self, start: Start, conversation: Option<Conversation>) -> Result<Turn, Error> {
        let mut progress = Progress::default();
        let result = tokio::select! {
            biased;
            error = self.interrupted() => Err(error),
            result = self.steps(start, conversation, &mut progress) => result,
        };
        if let Err(error) = &result {
            self.tell_error(error, progress).await;
        }
        result
    }

    /// The six steps.
    async fn steps(
        &self,
        start: Start,
        conversation: Option<Conversation>,
        progress: &mut Progress,
    ) -> Result<Turn, Error> {
        let (state, resumed) = match start {
            Start::Message(content) => {
                let content = self.intercept(content).await?;
                let mut augmented = augment(content, &self.context.pieces);
                self.guard(&mut augmented, conversation.as_ref()).await?;
                (self.state(augmented, conversation.as_ref()), false)
            }
            Start::Saved(state) => (*state, true),
        };
        if resumed {
            let event = || Event::RunResumed { status: "running", iteration: state.iteration };
            self.emitter.emit(EventName::RunResumed, Place::default(), event).await;
        }
        self.accept(&state, conversation.as_ref(), progress).await;
        let message = Arc::clone(&state.task.message);
        let typed = Arc::clone(&state.task.typed);
        let outcome = Run::new(&self.inner.engine, self.desk(), state).drive(resumed).await?;
        self.respond(outcome, typed, message, conversation).await
    }

    /// Resolves when the caller gives up or the time is over.
    async fn interrupted(&self) -> Error {
        match self.context.deadline {
            None => {
                self.context.signal.cancelled().await;
                Error::Cancelled
            }
            Some(deadline) => tokio::select! {
                biased;
                () = self.context.signal.cancelled() => Error::Cancelled,
                () = tokio::time::sleep(deadline) => Error::Timeout { after: self.elapsed() },
            },
        }
    }

    async fn intercept(&self, content: Content) -> Result<Content, Error> {
        if self.inner.interceptors.is_empty() {
            return Ok(content);
        }
        let typed: Arc<str> = content.as_text().into();
        match self.inner.interceptors.before_run(&self.context, content).await {
            Ok(content) => Ok(content),
            Err(blocked) => {
                self.tell_blocked(&typed, &blocked.by, &blocked.reason).await;
                Err(blocked.into())
            }
        }
    }

    /// What the user typed must pass; a piece of context that does not pass is left out.
    async fn guard(&self, augmented: &mut Augmented, conversation: Option<&Conversation>) -> Result<(), Error> {
        let guards = &self.inner.guards;
        if guards.is_empty() {
            return Ok(());
        }
        let typed = Piece { source: &Source::Typed, text: &augmented.typed };
        match guards.scan(typed, &self.context, self.vault.as_ref()).await {
            Ok(passed) => {
                self.tell_findings(&passed.findings).await;
                if let Some(redacted) = passed.redacted {
                    augmented.content = self.redacted(&augmented.content, redacted);
                    augmented.typed = augmented.content.as_text().into();
                }
            }
            Err(refusal) => return Err(self.refused(&augmented.typed, refusal).await),
        }
        // Parts may be read with or without something between them.
        if let Some(apart) = augmented.content.as_text_apart()
            && let Some(refusal) = guards.screened(Piece { source: &Source::Typed, text: &apart })
        {
            return Err(self.refused(&augmented.typed, refusal).await);
        }
        if guards.scan_history {
            self.guard_history(&augmented.typed, conversation).await?;
        }
        let mut kept = Vec::with_capacity(augmented.pieces.len());
        for mut piece in std::mem::take(&mut augmented.pieces) {
            if piece.trusted {
                kept.push(piece);
                continue;
            }
            let source = source(&piece);
            match guards
                .scan_context(Piece { source: &source, text: &piece.text }, &self.context, self.vault.as_ref())
                .await
            {
                Ok(passed) => {
                    self.tell_findings(&passed.findings).await;
                    if let Some(redacted) = passed.redacted {
                        piece.text = redacted;
                    }
                    kept.push(piece);
                }
                Err(refusal) if guards.on_context_finding == OnContextFinding::Block => {
                    return Err(self.refused(&augmented.typed, refusal).await);
                }
                Err(refusal) => {
                    let event = || Event::GuardContextDropped {
                        guard: refusal.guard.clone(),
                        source: source.to_string(),
                        reason: refusal.reason.clone(),
                    };
                    self.emitter.emit(EventName::GuardContextDropped, Place::default(), event).await;
                }
            }
        }
        augmented.pieces = kept;
        Ok(())
    }

    /// Scans what was said before, as far as it is text.
    async fn guard_history(&self, typed: &Arc<str>, conversation: Option<&Conversation>) -> Result<(), Error> {
        let Some(conversation) = conversation else { return Ok(()) };
        for message in conversation.history().iter() {
            let text = match message {
                Message::User { content } => content.as_text(),
                Message::Assistant(message) => Cow::Borrowed(&*message.content),
                Message::System { .. } | Message::Tool { .. } => continue,
            };
            let piece = Piece { source: &Source::History, text: &text };
            if let Err(refusal) = self.inner.guards.scan_context(piece, &self.context, None).await {
                return Err(self.refused(typed, refusal).await);
            }
        }
        Ok(())
    }

    /// A message without what had to be redacted. Parts are redacted one by one, so that pictures stay in their places.
    fn redacted(&self, content: &Content, whole: String) -> Content {
        match content {
            Content::Text(_) => Content::text(whole),
            Content::Parts(parts) => {
                let guards = &self.inner.guards;
                let redact = |part: &Part| match part {
                    Part::Text { text } => {
                        let redacted = guards.redacted(&Source::Typed, text, self.vault.as_ref());
                        Part::text(redacted.unwrap_or_else(|| text.to_string()))
                    }
                    other => other.clone(),
                };
                Content::Parts(parts.iter().map(redact).collect())
            }
        }
    }

    async fn refused(&self, typed: &Arc<str>, refusal: Refusal) -> Error {
        if let Some(breach) = &refusal.breach {
            let event = || Event::GuardRateLimitExceeded {
                caller_id: breach.caller_id.clone(),
                count: breach.count,
                max_requests: breach.limit.max_requests.into(),
                window_seconds: breach.limit.window_seconds.into(),
            };
            self.emitter.emit(EventName::GuardRateLimitExceeded, Place::default(), event).await;
        }
        self.tell_blocked(typed, &refusal.guard, &refusal.reason).await;
        refusal.into()
    }

    async fn tell_findings(&self, findings: &[GuardFinding]) {
        for finding in findings {
            let event = || Event::GuardFinding {
                guard: finding.guard.clone(),
                rule: finding.rule.clone(),
                source: finding.source.clone(),
                severity: finding.severity,
                action: finding.action,
            };
            self.emitter.emit(EventName::GuardFinding, Place::default(), event).await;
        }
    }

    fn state(&self, augmented: Augmented, conversation: Option<&Conversation>) -> RunState {
        let typed = Arc::clone(&augmented.typed);
        let content = augmented.into_content();
        let message: Arc<str> = match &content {
            Content::Text(text) if **text == *typed => Arc::clone(&typed),
            content => content.as_text().into(),
        };
        let task = Task {
            typed,
            message,
            conversation_id: conversation.map(|conversation| Arc::clone(conversation.id())),
            parent_run_id: self.context.parent_run_id.clone(),
        };
        let mut history = conversation.map(|conversation| Arc::clone(conversation.history())).unwrap_or_default();
        let start = history.len();
        Arc::make_mut(&mut history).push(Message::User { content });
        // Only a run that is saved needs to know what configured it.
        let fingerprint = if self.inner.engine.checkpoint.is_active() { self.inner.fingerprint() } else { "" };
        RunState::new(Arc::clone(self.emitter.run_id()), fingerprint.into(), task, history, start)
    }

    async fn accept(&self, state: &RunState, conversation: Option<&Conversation>, progress: &mut Progress) {
        if let Some(conversation) = conversation.filter(|conversation| conversation.is_empty()) {
            let event = || Event::ConversationStart { metadata: conversation.metadata().clone() };
            self.emitter.emit(EventName::ConversationStart, Place::default(), event).await;
        }
        let typed = &state.task.typed;
        progress.accepted = Some(Arc::clone(typed));
        let event = || Event::AgentBefore { message: Arc::clone(typed) };
        self.emitter.emit(EventName::AgentBefore, Place::default(), event).await;
        if self.emitter.is_streaming() {
            let (provider, model) = self.names();
            let message = Arc::clone(&state.task.message);
            let event = || Event::StreamStart { message, provider, model };
            self.emitter.emit(EventName::StreamStart, Place::default(), event).await;
        }
    }

    fn desk(&self) -> CallDesk {
        CallDesk {
            registry: Arc::clone(&self.inner.registry),
            interceptors: Arc::clone(&self.inner.interceptors),
            guards: Arc::clone(&self.inner.guards),
            gate: self.inner.gate.clone(),
            limits: self.inner.call_limits.clone(),
            vault: self.vault.clone(),
            flags: Arc::default(),
            context: Arc::clone(&self.context),
            emitter: self.emitter.clone(),
            signal: self.signal.clone(),
            can_suspend: self.inner.engine.checkpoint.can_suspend(),
        }
    }

    async fn respond(
        &self,
        outcome: Outcome,
        typed: Arc<str>,
        message: Arc<str>,
        conversation: Option<Conversation>,
    ) -> Result<Turn, Error> {
        let duration_ms = u64::try_from(self.elapsed().as_millis()).unwrap_or(u64::MAX);
        let Outcome { state, text } = outcome;
        let mut response = AgentResponse::new(state, text, duration_ms);
        if self.emitter.is_streaming() {
            let event = || Event::StreamEnd {
                message,
                provider: Arc::clone(&response.provider),
                model: Arc::clone(&response.model),
                duration_ms,
                chars: response.text.chars().count(),
            };
            self.emitter.emit(EventName::StreamEnd, Place::default(), event).await;
        }
        let conversation = match conversation {
            None => None,
            Some(conversation) => Some(self.persist(conversation, &typed, &mut response).await),
        };
        let event = || Event::AgentAfter {
            message: Arc::clone(&typed),
            text: response.text.as_str().into(),
            provider: Arc::clone(&response.provider),
            model: Arc::clone(&response.model),
            iterations: response.iterations,
            duration_ms,
            tools_called: response.tools_called.clone(),
            cache_read_tokens: response.cache_read_tokens,
            cache_write_tokens: response.cache_write_tokens,
        };
        self.emitter.emit(EventName::AgentAfter, Place::default(), event).await;
        if let Some(conversation) = &conversation {
            let event = || Event::ConversationEnd {
                turn_count: conversation.message_count(),
                turns: conversation.turns(),
                message: Arc::clone(&typed),
                response: response.text.as_str().into(),
                duration_ms,
            };
            self.emitter.emit(EventName::ConversationEnd, Place::default(), event).await;
        }
        Ok(Turn { response, conversation })
    }

    /// Adds the turn to the conversation, unless an interceptor stops that. The answer is returned either way.
    async fn persist(&self, conversation: Conversation, typed: &str, response: &mut AgentResponse) -> Conversation {
        // What is said again to the model has names, as it had the first time.
        let answer = match &self.vault {
            Some(vault) => vault.lock().hide_known(&response.text).into_owned(),
            None => response.text.clone(),
        };
        let turn = vec![Message::user(typed), Message::assistant(answer)];
        let turn = match self.inner.interceptors.before_persist(&self.context, turn).await {
            Ok(turn) => turn,
            Err(blocked) => {
                response.persist_error = Some(format!("{}: {}", blocked.by, blocked.reason));
                return conversation;
            }
        };
        turn.into_iter().fold(conversation, Conversation::with_message)
    }

    async fn tell_blocked(&self, typed: &Arc<str>, guard: &str, reason: &str) {
        let event = || Event::GuardBlocked {
            message: Arc::clone(typed),
            reason: reason.to_owned(),
            guard: Some(guard.to_owned()),
        };
        self.emitter.emit(EventName::GuardBlocked, Place::default(), event).await;
    }

    async fn tell_error(&self, error: &Error, progress: Progress) {
        let Some(message) = progress.accepted else { return };
        let telling = async {
            if self.emitter.is_streaming() {
                let (provider, model) = self.names();
                let event = || Event::StreamAbort { provider, model, error: error.to_string() };
                self.emitter.emit(EventName::StreamAbort, Place::default(), event).await;
            }
            let event = || Event::AgentError { message, error: error.to_string(), class: error.kind().class() };
            self.emitter.emit(EventName::AgentError, Place::default(), event).await;
        };
        match error {
            // A pause is no error.
            Error::RunSuspended { .. } => {}
            // Whoever gives up does not want to wait for a hook that may be what hangs.
            Error::Cancelled | Error::Timeout { .. } => {
                let _ = tokio::time::timeout(LAST_WORDS, telling).await;
            }
            _ => telling.await,
        }
    }

    fn names(&self) -> (Arc<str>, Arc<str>) {
        let chain = &self.inner.engine.chain;
        (Arc::clone(chain.provider_name()), Arc::clone(chain.model_name()))
    }

    fn elapsed(&self) -> Duration {
        self.inner.env.clock.monotonic().saturating_sub(self.started)
    }
}
