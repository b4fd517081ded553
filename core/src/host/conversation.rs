//! Conversations and their messages as JSON.

use super::read;
use crate::agent::Conversation;
use crate::error::Error;
use crate::message::Message;
use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    id: Option<String>,
    created_at_ms: Option<u64>,
    #[serde(default)]
    metadata: Map<String, Value>,
    #[serde(default)]
    history: Vec<Message>,
}

/// A conversation of `{"id", "metadata", "history", "created_at_ms"}`, all of which may be left out: a new id and the time
/// of now are the defaults.
///
/// ```
/// let conversation = cheliped::host::conversation(r#"{"id": "c1"}"#)?;
/// assert_eq!(&**conversation.id(), "c1");
/// # Ok::<(), cheliped::Error>(())
/// ```
///
/// # Errors
/// `configuration` when the text is not of this shape.
pub fn conversation(json: &str) -> Result<Conversation, Error> {
    let raw: Raw = read("the conversation", json)?;
    let conversation = match raw.id {
        Some(id) => Conversation::with_id(id),
        None => Conversation::default(),
    };
    let conversation = match raw.created_at_ms {
        Some(time) => conversation.with_created_at_ms(time),
        None => conversation,
    };
    Ok(raw.history.into_iter().fold(conversation.with_metadata(raw.metadata), Conversation::with_message))
}

/// A conversation as JSON that [`conversation`] reads.
pub fn written_conversation(conversation: &Conversation) -> String {
    // Every conversation can be written as JSON.
    serde_json::to_string(conversation).unwrap_or_default()
}

/// A message of a conversation, for example `{"role": "user", "content": "Hi"}`.
///
/// # Errors
/// `configuration` when the text is no message.
pub fn message(json: &str) -> Result<Message, Error> {
    read("the message", json)
}
