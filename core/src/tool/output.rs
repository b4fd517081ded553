//! What a tool gives back.

use super::ToolError;
use crate::message::{Content, Part};
use serde::Serialize;
use serde_json::Value;

/// The result of a call: text, a JSON value as text, or parts with images and files.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutput {
    /// What the model gets.
    pub content: Content,
    /// Set when the tool did its work and the answer is a refusal or an error in the tool's own envelope; the text
    /// says in one line what failed. The engine counts it as a failure of the call.
    pub failure: Option<String>,
}

impl ToolOutput {
    /// A value as JSON text.
    ///
    /// # Errors
    /// A [`ToolError`] when the value cannot be written as JSON, for example a map with keys that are no strings.
    pub fn json<T: Serialize>(value: &T) -> Result<Self, ToolError> {
        match serde_json::to_string(value) {
            Ok(text) => Ok(text.into()),
            Err(error) => Err(ToolError::internal("the result cannot be written as JSON", error)),
        }
    }

    /// A refusal in the tool's own envelope: the model gets `content`, the engine counts a failure.
    pub fn refusal(content: impl Into<Content>, message: impl Into<String>) -> Self {
        Self { content: content.into(), failure: Some(message.into()) }
    }
}

impl From<Content> for ToolOutput {
    fn from(content: Content) -> Self {
        Self { content, failure: None }
    }
}

impl From<String> for ToolOutput {
    fn from(text: String) -> Self {
        Content::from(text).into()
    }
}

impl From<&str> for ToolOutput {
    fn from(text: &str) -> Self {
        Content::from(text).into()
    }
}

impl From<Vec<Part>> for ToolOutput {
    fn from(parts: Vec<Part>) -> Self {
        Content::Parts(parts).into()
    }
}

impl From<Value> for ToolOutput {
    /// A string is taken as text, anything else as JSON.
    fn from(value: Value) -> Self {
        match value {
            Value::String(text) => text.into(),
            other => other.to_string().into(),
        }
    }
}

impl From<()> for ToolOutput {
    fn from((): ()) -> Self {
        "null".into()
    }
}

macro_rules! from_display {
    ($($type:ty),*) => {$(
        impl From<$type> for ToolOutput {
            fn from(value: $type) -> Self {
                value.to_string().into()
            }
        }
    )*};
}

from_display!(bool, i32, i64, u32, u64, usize);
