//! A tool call of the model and its result.

use super::{Arguments, Content};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A call that the model asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Unique within the run: the provider's id where that is unique, otherwise one of our own.
    pub id: Arc<str>,
    /// The provider's id, when it gave one; absent where providers send none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<Arc<str>>,
    /// The tool's name as the model wrote it.
    pub name: Arc<str>,
    /// The arguments as they came.
    pub arguments: Arguments,
    /// Why this call must not run, when its arguments could not be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Box<CallFault>>,
}

impl ToolCall {
    /// A call as a provider delivered it: the id is empty until the run gives it a unique one.
    pub fn from_wire(provider_id: Option<&str>, name: &str, arguments: Result<Arguments, CallFault>) -> Self {
        let (arguments, fault) = match arguments {
            Ok(arguments) => (arguments, None),
            Err(fault) => (Arguments::empty(), Some(Box::new(fault))),
        };
        Self {
            id: Arc::from(""),
            provider_id: provider_id.filter(|id| !id.is_empty()).map(Arc::from),
            name: name.into(),
            arguments,
            fault,
        }
    }
}

/// Why the arguments of a call cannot be used. Its `arguments` are then `{}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CallFault {
    /// The text is no JSON object.
    Malformed {
        /// The text as it came.
        raw: Box<str>,
    },
    /// The reply ended before the arguments were complete.
    Cut {
        /// The text as far as it came.
        raw: Box<str>,
    },
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The tool gave a result.
    Ok,
    /// The tool, the engine or an interceptor gave an error.
    Error,
    /// The approval gate refused it.
    Denied,
    /// The run ended before the call started.
    NotRun,
}

/// What the model gets back for one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// Id of the [`ToolCall`].
    pub call_id: Arc<str>,
    /// The tool's name.
    pub name: Arc<str>,
    /// The cleaned and capped result.
    pub content: Content,
    /// How the call ended.
    pub outcome: Outcome,
}

impl ToolResult {
    /// Whether providers that know the difference are told that this is an error.
    pub fn is_error(&self) -> bool {
        match self.outcome {
            Outcome::Ok => false,
            Outcome::Error | Outcome::Denied | Outcome::NotRun => true,
        }
    }
}
