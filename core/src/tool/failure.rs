//! How a tool fails: one text for the operator, one for the model.

use crate::error::BoxError;

/// A failed call. It never crosses `send`; the model gets it as a result and may do better.
///
/// ```
/// use cheliped::tool::ToolError;
/// let error = ToolError::failed("no order has the number 17");
/// assert_eq!(error.for_model(), "no order has the number 17");
///
/// let io = std::io::Error::other("/srv/secret/orders.db: permission denied");
/// let error = ToolError::internal("cannot open the order store", io);
/// assert!(!error.for_model().contains("secret"));
/// ```
#[derive(Debug, thiserror::Error)]
#[error("{operator}")]
pub struct ToolError {
    kind: ToolErrorKind,
    operator: String,
    model: Option<String>,
    #[source]
    source: Option<BoxError>,
}

/// The sort of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolErrorKind {
    /// The call cannot succeed as it is.
    Failed,
    /// The model should try again in another way; a repeat is not counted as a repeated failure.
    Retry,
    /// The tool refuses to do this.
    Denied,
    /// The tool is broken; the model gets a fixed sentence.
    Internal,
}

impl ToolError {
    /// The call cannot succeed; the message goes to the model.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ToolErrorKind::Failed, message)
    }

    /// Asks the model to try again in another way; the message says how.
    pub fn retry(message: impl Into<String>) -> Self {
        Self::new(ToolErrorKind::Retry, message)
    }

    /// The tool refuses; the message goes to the model.
    pub fn denied(message: impl Into<String>) -> Self {
        Self::new(ToolErrorKind::Denied, message)
    }

    /// The tool is broken. The operator gets the message and the source, the model a fixed sentence, so that nothing
    /// of the host leaks to the provider.
    pub fn internal(message: impl Into<String>, source: impl Into<BoxError>) -> Self {
        let mut error = Self::new(ToolErrorKind::Internal, message);
        error.model = Some(crate::prompt::notice::INTERNAL.to_owned());
        error.source = Some(source.into());
        error
    }

    fn new(kind: ToolErrorKind, message: impl Into<String>) -> Self {
        Self { kind, operator: message.into(), model: None, source: None }
    }

    /// The sort of failure.
    pub fn kind(&self) -> ToolErrorKind {
        self.kind
    }

    /// What the model is told.
    pub fn for_model(&self) -> &str {
        self.model.as_deref().unwrap_or(&self.operator)
    }
}
