//! Values of the host for one run: who is asking, what tools may use, how to stop.
//!
//! Settings of the engine are fixed when the agent is built; this is the only thing that changes from call to call.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;
pub use tokio_util::sync::CancellationToken;

/// What the host says about one run. The default says nothing.
///
/// ```
/// use cheliped::context::{Caller, RunContext};
/// use std::time::Duration;
///
/// let context = RunContext::new()
///     .caller(Caller { tenant: Some("acme".into()), user: Some("alice".into()), scopes: vec!["read".into()] })
///     .deadline(Duration::from_secs(60))
///     .deps(String::from("a database pool"));
/// assert_eq!(context.dep::<String>().map(String::as_str), Some("a database pool"));
/// ```
#[derive(Clone, Default)]
pub struct RunContext {
    /// Who is asking; scopes memory, limits and caches.
    pub caller: Option<Caller>,
    /// Cancelling it ends the run with [`Error::Cancelled`](crate::Error::Cancelled).
    pub signal: CancellationToken,
    /// Longest time for the whole run. Default `None`: no limit.
    pub deadline: Option<Duration>,
    /// The run that this one belongs to, when a tool runs an agent.
    pub parent_run_id: Option<Arc<str>>,
    /// Values for hooks and interceptors; the engine does not read them.
    pub metadata: Map<String, Value>,
    /// Pieces of context that the application adds to the message. They are scanned one by one, reach the model in front
    /// of the message as reference material, and do not become part of the conversation.
    pub pieces: Vec<ContextPiece>,
    deps: Option<Arc<dyn Any + Send + Sync>>,
}

/// Who is asking.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// The customer or organisation.
    pub tenant: Option<String>,
    /// The person.
    pub user: Option<String>,
    /// What they may do, in the host's own words.
    pub scopes: Vec<String>,
}

/// Where a piece of context comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextKind {
    /// An entry of a memory; its name is the key.
    Memory,
    /// A skill that the message names.
    Skill,
    /// A document that was looked up.
    Document,
}

/// A piece of context that is added to a message.
///
/// ```
/// use cheliped::context::{ContextPiece, RunContext};
/// let piece = ContextPiece::document("opening-hours.md", "We are open from 9 to 17.");
/// assert_eq!(RunContext::new().piece(piece).pieces.len(), 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextPiece {
    /// Where it comes from.
    pub kind: ContextKind,
    /// The key, the name of the skill or of the document.
    pub name: String,
    /// The text.
    pub text: String,
    /// Whether its author is trusted as much as the application's: then it is not scanned. Default no.
    #[serde(default)]
    pub trusted: bool,
}

impl ContextPiece {
    /// An entry of a memory.
    pub fn memory(key: impl Into<String>, text: impl Into<String>) -> Self {
        Self { kind: ContextKind::Memory, name: key.into(), text: text.into(), trusted: false }
    }

    /// A document.
    pub fn document(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { kind: ContextKind::Document, name: name.into(), text: text.into(), trusted: false }
    }
}

impl RunContext {
    /// Adds a piece of context to the message.
    #[must_use]
    pub fn piece(mut self, piece: ContextPiece) -> Self {
        self.pieces.push(piece);
        self
    }

    /// A context that says nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says who is asking.
    #[must_use]
    pub fn caller(mut self, caller: Caller) -> Self {
        self.caller = Some(caller);
        self
    }

    /// Ends the run when this token is cancelled.
    #[must_use]
    pub fn signal(mut self, signal: CancellationToken) -> Self {
        self.signal = signal;
        self
    }

    /// Ends the run with [`Error::Timeout`](crate::Error::Timeout) after this time.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Names the run that this one belongs to.
    #[must_use]
    pub fn parent_run_id(mut self, run_id: impl Into<Arc<str>>) -> Self {
        self.parent_run_id = Some(run_id.into());
        self
    }

    /// Adds a value for hooks and interceptors.
    #[must_use]
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// A value that tools can ask for by its type, for example a connection pool.
    #[must_use]
    pub fn deps<T: Any + Send + Sync>(mut self, deps: T) -> Self {
        self.deps = Some(Arc::new(deps));
        self
    }

    /// The value given with [`deps`](Self::deps), when it has this type.
    pub fn dep<T: Any>(&self) -> Option<&T> {
        self.deps.as_deref().and_then(|deps| (deps as &dyn Any).downcast_ref())
    }
}

impl std::fmt::Debug for RunContext {
    // The host's values may be secrets, so only their presence is shown.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunContext")
            .field("caller", &self.caller)
            .field("deadline", &self.deadline)
            .field("parent_run_id", &self.parent_run_id)
            .field("deps", &self.deps.is_some())
            .finish_non_exhaustive()
    }
}
