//! What a model API can answer instead of a reply.

use serde_json::{Value, json};
use std::time::Duration;

/// The sort of failure, the same for every provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProviderErrorKind {
    /// The key is missing, wrong or may not do this.
    Auth,
    /// Too many requests or tokens, or a quota is used up.
    RateLimit,
    /// The provider has no capacity now.
    Overloaded,
    /// The provider does not accept the request: unknown model, too long, wrong shape.
    InvalidRequest,
    /// The provider failed, its reply cannot be used, or the connection broke.
    Server,
    /// No byte came in time.
    Timeout,
}

impl ProviderErrorKind {
    /// Every kind.
    pub const ALL: &'static [Self] =
        &[Self::Auth, Self::RateLimit, Self::Overloaded, Self::InvalidRequest, Self::Server, Self::Timeout];

    /// Stable name in lower snake case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::RateLimit => "rate_limit",
            Self::Overloaded => "overloaded",
            Self::InvalidRequest => "invalid_request",
            Self::Server => "server",
            Self::Timeout => "timeout",
        }
    }
}

/// Words by which providers say that they refused a reply over its tool call.
const REJECTIONS: [&str; 3] = ["tool call validation failed", "not in request.tools", "Failed to call a function"];

/// A failed model call. It never holds the key.
#[derive(Debug, thiserror::Error)]
#[error("{provider}/{model}: {message}")]
pub struct ProviderError {
    /// The sort of failure.
    pub kind: ProviderErrorKind,
    /// HTTP status; `None` when the request or the reply did not arrive whole.
    pub status: Option<u16>,
    /// Name of the provider.
    pub provider: String,
    /// The model that was asked.
    pub model: String,
    /// What happened and, where it helps, what to do.
    pub message: String,
    /// The provider's own error code, where it has one.
    pub code: Option<String>,
    /// Whether the same request can succeed later.
    pub retryable: bool,
    /// How long the provider asked to wait.
    pub retry_after: Option<Duration>,
    /// What the model wrote when the provider refused its tool call (Groq's `failed_generation`).
    pub failed_generation: Option<String>,
    /// The provider refused the request because the model called a tool wrongly or one that was not offered.
    pub rejected_tool_call: bool,
    /// The error underneath.
    #[source]
    pub source: Option<super::BoxError>,
}

impl ProviderError {
    /// An error of this kind. `retryable` follows the kind, `rejected_tool_call` the words of the message; both may be
    /// changed afterwards.
    pub fn new(kind: ProviderErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        let rejected_tool_call = REJECTIONS.iter().any(|words| message.contains(words));
        Self {
            kind,
            status: None,
            provider: String::new(),
            model: String::new(),
            message,
            code: None,
            retryable: match kind {
                ProviderErrorKind::Auth | ProviderErrorKind::InvalidRequest => false,
                ProviderErrorKind::RateLimit
                | ProviderErrorKind::Overloaded
                | ProviderErrorKind::Server
                | ProviderErrorKind::Timeout => true,
            },
            retry_after: None,
            failed_generation: None,
            rejected_tool_call,
            source: None,
        }
    }

    /// Names who failed, where that is not yet known.
    #[must_use]
    pub fn from_model(mut self, provider: &str, model: &str) -> Self {
        if self.provider.is_empty() {
            self.provider = provider.to_owned();
            self.model = model.to_owned();
        }
        self
    }

    /// Adds the HTTP status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// Adds the error underneath.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<super::BoxError>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The data for machines.
    pub(super) fn details(&self) -> Value {
        json!({
            "kind": self.kind.name(),
            "status": self.status,
            "provider": self.provider,
            "model": self.model,
            "provider_code": self.code,
            "retryable": self.retryable,
            "retry_after_ms": self.retry_after.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)),
        })
    }
}
