//! What can go wrong for the caller of `send`, and the only table of error codes.
//!
//! Failures of tools are not here: they become results for the model (see [`crate::tool::ToolError`]).

mod guard;
mod provider;

pub use guard::GuardFinding;
pub use provider::{ProviderError, ProviderErrorKind};

use serde_json::{Map, Value, json};
use std::sync::Arc;

/// An error of outside code: a tool, a hook, a gate, a host language.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Everything that building an agent, or sending a message to it, can fail with.
///
/// ```
/// use cheliped::{Agent, Error};
/// let error = Agent::builder().provider("nobody").build().unwrap_err();
/// assert_eq!(error.code(), "configuration");
/// assert!(error.to_string().contains("nobody"));
/// # let _: Error = error;
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A guard or an interceptor refused the message; no model call was made with it.
    #[error("{reason}")]
    Guard {
        /// The guard's or interceptor's label.
        guard: String,
        /// What it found, in its own words.
        reason: String,
        /// Everything that the built-in guards found in the text.
        findings: Vec<GuardFinding>,
        /// The guard's own error, when it refused because it failed.
        #[source]
        source: Option<BoxError>,
    },
    /// The model API failed after all retries and fallbacks.
    #[error(transparent)]
    Provider(Box<ProviderError>),
    /// The model kept calling tools until the cap.
    #[error("Agent hit the maximum iteration limit of {limit} without returning a text response.")]
    MaxIterations {
        /// The cap.
        limit: u32,
    },
    /// The next request would spend more tokens than the run may.
    #[error("Token budget exceeded: {spent} tokens spent against a budget of {budget}.")]
    TokenBudgetExceeded {
        /// Tokens spent so far; with the estimate of the next request they would pass the budget.
        spent: u64,
        /// The budget.
        budget: u64,
    },
    /// The model named an unregistered tool again after the one retry without tools. Nothing of that batch has run.
    #[error(
        "the model called {name:?}, which is not registered, again after one retry without tools; \
         registered tools: {}", .available.join(", ")
    )]
    UnknownTool {
        /// The name as the model wrote it.
        name: String,
        /// Names of the registered tools.
        available: Vec<String>,
    },
    /// One or more settings cannot be used. All problems found are listed.
    #[error("{}", .problems.join("; "))]
    Configuration {
        /// Each problem with what to do about it.
        problems: Vec<String>,
    },
    /// A durable run stopped on purpose and can be resumed.
    #[error("Run {run_id} stopped with status {status}.")]
    RunSuspended {
        /// The run to resume.
        run_id: Arc<str>,
        /// Why it stopped, for example `awaiting_approval`.
        status: &'static str,
    },
    /// Another process changed the run first.
    #[error("run {run_id} was changed by another process: {detail}; load it again before going on")]
    RunConflict {
        /// The run.
        run_id: Arc<str>,
        /// What differs.
        detail: String,
    },
    /// A saved run cannot be continued as it is.
    #[error("cannot continue run {run_id}: {detail}")]
    RunState {
        /// The run.
        run_id: Arc<str>,
        /// What stands in the way and what to do.
        detail: String,
    },
    /// A checkpoint or a store could not save or load.
    #[error("cannot save the run: {detail}")]
    Memory {
        /// What was attempted.
        detail: String,
        /// The store's own error.
        #[source]
        source: Option<BoxError>,
    },
    /// A skill cannot be used.
    #[error("skill {name:?}: {detail}")]
    Skill {
        /// The skill's name.
        name: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The caller's signal ended the run.
    #[error("run cancelled by the caller")]
    Cancelled,
    /// The run reached its deadline.
    #[error("run stopped after {} ms: its deadline passed", .after.as_millis())]
    Timeout {
        /// How long it ran.
        after: std::time::Duration,
    },
    /// A defect of the engine. Please report it.
    #[error("internal error: {detail}")]
    Internal {
        /// What was found to be impossible.
        detail: String,
    },
}

macro_rules! error_kinds {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal),* $(,)?) => {
        /// The kind of an [`Error`]: one for each code of the public contract.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorKind { $($(#[doc = $doc])+ $name),* }

        impl ErrorKind {
            /// Every kind, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The stable code, the same in every language.
            pub const fn code(self) -> &'static str {
                match self { $(Self::$name => $code),* }
            }

            /// Name of the class that carries the code in Python and Node.
            pub const fn class(self) -> &'static str {
                match self { $(Self::$name => concat!(stringify!($name), "Error")),* }
            }

            /// What it means, in a sentence.
            pub const fn doc(self) -> &'static str {
                match self { $(Self::$name => concat!($($doc),+).trim_ascii()),* }
            }
        }
    };
}

error_kinds! {
    /// A guard or interceptor refused the message.
    Guard = "guard",
    /// The model API failed.
    Provider = "provider",
    /// The iteration cap was reached.
    MaxIterations = "max_iterations",
    /// A store failed.
    Memory = "memory",
    /// Settings cannot be used.
    Configuration = "configuration",
    /// The token budget would be passed.
    TokenBudgetExceeded = "token_budget_exceeded",
    /// A structured reply never matched its schema.
    StructuredOutput = "structured_output",
    /// A schema uses what is not supported.
    UnsupportedSchema = "unsupported_schema",
    /// A durable run stopped and can be resumed.
    RunSuspended = "run_suspended",
    /// Another process changed the run.
    RunConflict = "run_conflict",
    /// The run does not exist or is in the wrong state.
    RunState = "run_state",
    /// An unregistered tool was called again.
    UnknownTool = "unknown_tool",
    /// A prompt template lacks a value.
    PromptTemplate = "prompt_template",
    /// A graph is wrong.
    Graph = "graph",
    /// A skill cannot be used.
    Skill = "skill",
    /// The caller ended the run.
    Cancelled = "cancelled",
    /// A deadline passed.
    Timeout = "timeout",
    /// The session is running another message.
    SessionBusy = "session_busy",
    /// A defect of the engine.
    Internal = "internal",
}

impl Error {
    /// A configuration error of one problem.
    pub(crate) fn configuration(problem: impl Into<String>) -> Self {
        Self::Configuration { problems: vec![problem.into()] }
    }

    /// The kind, for a `match` that ignores the data.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Guard { .. } => ErrorKind::Guard,
            Self::Provider(_) => ErrorKind::Provider,
            Self::MaxIterations { .. } => ErrorKind::MaxIterations,
            Self::TokenBudgetExceeded { .. } => ErrorKind::TokenBudgetExceeded,
            Self::UnknownTool { .. } => ErrorKind::UnknownTool,
            Self::Configuration { .. } => ErrorKind::Configuration,
            Self::RunSuspended { .. } => ErrorKind::RunSuspended,
            Self::RunConflict { .. } => ErrorKind::RunConflict,
            Self::RunState { .. } => ErrorKind::RunState,
            Self::Memory { .. } => ErrorKind::Memory,
            Self::Skill { .. } => ErrorKind::Skill,
            Self::Cancelled => ErrorKind::Cancelled,
            Self::Timeout { .. } => ErrorKind::Timeout,
            Self::Internal { .. } => ErrorKind::Internal,
        }
    }

    /// The stable code: part of the public contract, the same in every language.
    pub fn code(&self) -> &'static str {
        self.kind().code()
    }

    /// Whether sending the same message again can help.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Provider(error) => error.retryable,
            Self::Timeout { .. } | Self::RunConflict { .. } => true,
            Self::Guard { .. }
            | Self::MaxIterations { .. }
            | Self::TokenBudgetExceeded { .. }
            | Self::UnknownTool { .. }
            | Self::Configuration { .. }
            | Self::RunSuspended { .. }
            | Self::RunState { .. }
            | Self::Memory { .. }
            | Self::Skill { .. }
            | Self::Cancelled
            | Self::Internal { .. } => false,
        }
    }

    /// The data of the error for machines, with the same keys in every language.
    pub fn details(&self) -> Map<String, Value> {
        let details = match self {
            Self::Guard { guard, reason, findings, .. } => {
                json!({"guard": guard, "reason": reason, "findings": findings})
            }
            Self::Provider(error) => error.details(),
            Self::MaxIterations { limit } => json!({"limit": limit}),
            Self::TokenBudgetExceeded { spent, budget } => json!({"spent": spent, "budget": budget}),
            Self::UnknownTool { name, available } => json!({"name": name, "available": available}),
            Self::Configuration { problems } => json!({"problems": problems}),
            Self::RunSuspended { run_id, status } => json!({"run_id": run_id, "status": status}),
            Self::RunConflict { run_id, detail } | Self::RunState { run_id, detail } => {
                json!({"run_id": run_id, "detail": detail})
            }
            Self::Memory { detail, .. } | Self::Internal { detail } => json!({"detail": detail}),
            Self::Skill { name, detail } => json!({"name": name, "detail": detail}),
            Self::Timeout { after } => json!({"after_ms": u64::try_from(after.as_millis()).unwrap_or(u64::MAX)}),
            Self::Cancelled => json!({}),
        };
        match details {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }
}

impl From<ProviderError> for Error {
    fn from(error: ProviderError) -> Self {
        Self::Provider(Box::new(error))
    }
}

impl From<crate::schema::SchemaError> for Error {
    fn from(error: crate::schema::SchemaError) -> Self {
        Self::configuration(error.to_string())
    }
}
