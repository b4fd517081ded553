//! The words of a conversation, neutral to every provider.
//!
//! Wire formats translate from and to these types; nothing here knows a provider. History is a list of [`Message`];
//! a model's reply that asks for tools is one assistant message with its calls, followed by one tool message that
//! holds a result for every call, in the model's order.

mod arguments;
mod call;
mod content;
mod usage;

pub use arguments::{Arguments, ArgumentsError};
pub use call::{CallFault, Outcome, ToolCall, ToolResult};
pub use content::{Content, Data, Part};
pub use usage::Usage;

use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Who speaks in a [`Message`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The operator. Providers get it where they want system text.
    System,
    /// The person, or the application on their behalf.
    User,
    /// The model.
    Assistant,
    /// Results of tool calls.
    Tool,
}

/// One turn of a conversation.
///
/// ```
/// use cheliped::message::{Message, Role};
/// let message = Message::user("How many errors are in the log?");
/// assert_eq!(message.role(), Role::User);
/// assert_eq!(message.text(), "How many errors are in the log?");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// Text of the operator inside the history.
    System {
        /// The text.
        content: Box<str>,
    },
    /// What the user sent.
    User {
        /// Text, images and files.
        content: Content,
    },
    /// What the model answered.
    Assistant(AssistantMessage),
    /// What the tools gave back, one result for every call of the assistant message before it.
    Tool {
        /// The results, in the order of the calls.
        results: Vec<ToolResult>,
    },
}

/// A reply of the model as it is kept in the history.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AssistantMessage {
    /// The visible text; empty when the model only called tools.
    pub content: Box<str>,
    /// The calls, in the model's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// What only the provider that made it understands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<Box<Native>>,
}

/// The reply in the provider's own form, kept when it holds signatures or encrypted reasoning that must go back
/// unchanged. It is sent only to the same wire format and model that made it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Native {
    /// Name of the wire format, for example `anthropic`.
    pub wire: Box<str>,
    /// The model that made it.
    pub model: Box<str>,
    /// JSON text of the provider's content blocks, parts or items.
    pub blocks: Box<str>,
}

impl Message {
    /// A user message of plain text.
    pub fn user(text: impl Into<Box<str>>) -> Self {
        Self::User { content: Content::text(text) }
    }

    /// An assistant message of plain text.
    pub fn assistant(text: impl Into<Box<str>>) -> Self {
        Self::Assistant(AssistantMessage { content: text.into(), ..AssistantMessage::default() })
    }

    /// A system message.
    pub fn system(text: impl Into<Box<str>>) -> Self {
        Self::System { content: text.into() }
    }

    /// Who speaks.
    pub fn role(&self) -> Role {
        match self {
            Self::System { .. } => Role::System,
            Self::User { .. } => Role::User,
            Self::Assistant(_) => Role::Assistant,
            Self::Tool { .. } => Role::Tool,
        }
    }

    /// The plain text: of a user message all its text parts joined, of a tool message nothing.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Self::System { content } => content.as_ref().into(),
            Self::User { content } => content.as_text(),
            Self::Assistant(message) => message.content.as_ref().into(),
            Self::Tool { .. } => "".into(),
        }
    }

    /// Characters that count towards a token estimate: text, calls and results.
    pub fn chars(&self) -> usize {
        match self {
            Self::System { content } => content.chars().count(),
            Self::User { content } => content.chars(),
            Self::Assistant(message) => {
                let calls: usize =
                    message.calls.iter().map(|call| call.name.len() + call.arguments.as_str().chars().count()).sum();
                message.content.chars().count() + calls
            }
            Self::Tool { results } => results.iter().map(|result| result.content.chars()).sum(),
        }
    }
}

/// A shared, read-only list of messages: a payload or a request holds a reference, never a copy.
pub type History = Arc<Vec<Message>>;
