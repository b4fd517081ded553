//! A conversation as a value: what was said, and nothing of how it was found out.

use crate::env::Env;
use crate::message::{History, Message, Role};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Turns of a user and an agent. Immutable: a turn gives a new conversation.
///
/// Tool calls and results of a turn are not kept, only what the user typed and the final answer.
///
/// ```
/// use cheliped::agent::Conversation;
/// use cheliped::message::Message;
/// let conversation = Conversation::with_id("c1").with_message(Message::user("Hello"));
/// assert_eq!((conversation.message_count(), conversation.turns()), (1, 1));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    id: Arc<str>,
    created_at_ms: u64,
    #[serde(default)]
    metadata: Map<String, Value>,
    history: History,
}

impl Conversation {
    /// An empty conversation with an id of its own and the time of this environment.
    pub fn start(env: &Env) -> Self {
        Self {
            id: env.ids.next_id(),
            created_at_ms: env.clock.now_ms(),
            metadata: Map::new(),
            history: History::default(),
        }
    }

    /// An empty conversation with this id.
    pub fn with_id(id: impl Into<Arc<str>>) -> Self {
        Self { id: id.into(), ..Self::start(&Env::default()) }
    }

    /// The id.
    pub fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// When it started, in milliseconds since 1970-01-01 UTC.
    pub fn created_at_ms(&self) -> u64 {
        self.created_at_ms
    }

    /// The conversation with another time of its start, for one that is read again.
    #[must_use]
    pub fn with_created_at_ms(mut self, time: u64) -> Self {
        self.created_at_ms = time;
        self
    }

    /// The host's values.
    pub fn metadata(&self) -> &Map<String, Value> {
        &self.metadata
    }

    /// The messages.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The conversation with one more message.
    #[must_use]
    pub fn with_message(mut self, message: Message) -> Self {
        Arc::make_mut(&mut self.history).push(message);
        self
    }

    /// The conversation with these values added; new ones win.
    #[must_use]
    pub fn with_metadata(mut self, metadata: Map<String, Value>) -> Self {
        self.metadata.extend(metadata);
        self
    }

    /// The last message.
    pub fn last_message(&self) -> Option<&Message> {
        self.history.last()
    }

    /// The messages of one role.
    pub fn messages_by_role(&self, role: Role) -> impl Iterator<Item = &Message> {
        self.history.iter().filter(move |message| message.role() == role)
    }

    /// How many messages there are.
    pub fn message_count(&self) -> usize {
        self.history.len()
    }

    /// How many turns there are, counted by the user's messages.
    pub fn turns(&self) -> usize {
        self.messages_by_role(Role::User).count()
    }

    /// Whether nothing was said yet.
    pub fn is_empty(&self) -> bool {
        self.history.is_empty()
    }
}

impl Default for Conversation {
    fn default() -> Self {
        Self::start(&Env::default())
    }
}
