//! Values of the host for one run: who is asking, what tools may use, how to stop.
//!
//! Settings of the engine are fixed when the agent is built; this is the only thing that changes from call to call.

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

impl RunContext {
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
