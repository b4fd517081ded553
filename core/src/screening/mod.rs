//! Guards: outside and built-in code that looks at a message before the model does.
//!
//! What a user typed and each piece of context are scanned apart, so that a finding has a source. The chain is empty
//! until guards are registered; whoever cannot answer in time has refused.

mod policy;
mod screen;

pub use policy::{Action, GuardOptions, GuardRule, MAX_MESSAGE_CHARS, OnContextFinding, Preset};
pub use screen::{Judged, Report, Screen};

use crate::context::RunContext;
use crate::error::{BoxError, Error};
use crate::hooks::DEFAULT_PRIORITY;
use crate::limits;
use futures::FutureExt;
use futures::future::BoxFuture;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// Where a text comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// The user typed it.
    Typed,
    /// A memory entry, by its key.
    Memory(String),
    /// A skill, by its name.
    Skill(String),
    /// A document that the application added, by its name.
    Document(String),
    /// An earlier message of the conversation.
    History,
    /// The arguments of a tool call, by the tool's name.
    ToolArguments(String),
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Typed => f.write_str("typed"),
            Self::Memory(key) => write!(f, "memory:{key}"),
            Self::Skill(name) => write!(f, "skill:{name}"),
            Self::Document(name) => write!(f, "document:{name}"),
            Self::History => f.write_str("history"),
            Self::ToolArguments(name) => write!(f, "tool_arguments:{name}"),
        }
    }
}

/// One text to scan.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// Where it comes from.
    pub source: &'a Source,
    /// The text.
    pub text: &'a str,
}

/// What a guard says of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing found.
    Pass,
    /// The text must not go on.
    Block {
        /// Why. It reaches the caller, so it must not repeat a secret.
        reason: String,
    },
}

/// Looks at a text and decides. An error, a panic or a time-out (2 s) blocks.
pub trait Guard: Send + Sync {
    /// A label for errors and events.
    fn name(&self) -> &str;

    /// Whether only what the user typed is looked at, and no context or arguments. Default no.
    fn typed_only(&self) -> bool {
        false
    }

    /// Scans one text.
    ///
    /// # Errors
    /// Whatever kept the guard from answering; the text is then refused.
    fn scan<'a>(&'a self, piece: Piece<'a>, context: &'a RunContext) -> BoxFuture<'a, Result<Verdict, BoxError>>;
}

/// The guards of one agent, in order: lower priority first.
#[derive(Clone, Default)]
pub struct GuardChain(Vec<(i32, Arc<dyn Guard>)>);

/// A refused text.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) guard: String,
    pub(crate) reason: String,
    /// The guard's own error, when it refused because it failed.
    source: Option<BoxError>,
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Guard { guard: refusal.guard, reason: refusal.reason, findings: Vec::new(), source: refusal.source }
    }
}

impl GuardChain {
    /// Adds a guard at the default priority of 10.
    pub fn push(&mut self, guard: impl Guard + 'static) {
        self.add(DEFAULT_PRIORITY, Arc::new(guard));
    }

    /// Adds a guard at a priority: lower runs first.
    pub fn add(&mut self, priority: i32, guard: Arc<dyn Guard>) {
        let place = self.0.partition_point(|(other, _)| *other <= priority);
        self.0.insert(place, (priority, guard));
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Scans one text with every guard that looks at its source; the first refusal counts.
    pub(crate) async fn scan(&self, piece: Piece<'_>, context: &RunContext) -> Result<(), Refusal> {
        for (_, guard) in &self.0 {
            if guard.typed_only() && *piece.source != Source::Typed {
                continue;
            }
            let refuse = |reason: String| Refusal { guard: guard.name().to_owned(), reason, source: None };
            let asked = AssertUnwindSafe(async { guard.scan(piece, context).await }).catch_unwind();
            match tokio::time::timeout(limits::GUARD_TIMEOUT, asked).await {
                Ok(Ok(Ok(Verdict::Pass))) => {}
                Ok(Ok(Ok(Verdict::Block { reason }))) => return Err(refuse(reason)),
                Ok(failed) => {
                    // A panic is what other languages raise: one way to fail, told in the same words.
                    let source = failed.ok().and_then(Result::err);
                    tracing::warn!(guard = guard.name(), error = ?source, "guard failed; refused");
                    let reason = format!("guard {:?} failed, so the message was refused", guard.name());
                    return Err(Refusal { source, ..refuse(reason) });
                }
                Err(_) => {
                    return Err(refuse(format!(
                        "guard {:?} did not answer in 2 s, so the message was refused",
                        guard.name()
                    )));
                }
            }
        }
        Ok(())
    }
}

impl std::fmt::Debug for GuardChain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(priority, guard)| (guard.name(), priority))).finish()
    }
}
