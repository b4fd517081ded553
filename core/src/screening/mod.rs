//! Guards: outside and built-in code that looks at a message before the model does.
//!
//! What a user typed and each piece of context are scanned apart, so that a finding has a source. The built-in guards
//! are on by default ([`GuardOptions`]); a guard of the application that cannot answer in time has refused.

mod chain;
mod policy;
mod rate;
mod screen;
mod vaults;

pub use chain::GuardSet;
pub(crate) use chain::{GuardChain, Refusal};

pub use policy::{Action, GuardOptions, GuardRule, MAX_MESSAGE_CHARS, OnContextFinding, Preset};
pub use rate::{CallerId, ProcessRateStore, RateLimit, RateStore, RateVerdict};
pub use screen::{Judged, Report, Screen};
pub(crate) use vaults::{SharedVault, Vaults};

use crate::context::RunContext;
use crate::error::{BoxError, Error};
use futures::future::BoxFuture;

/// Where a text comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// The user typed it.
    Typed,
    /// A memory entry, by its key.
    Memory(String),
    /// A skill, by its name.
    Skill(String),
    /// A document that the application added, by its name.
    Document(String),
    /// An earlier message of the conversation.
    History,
    /// The arguments of a tool call, by the tool's name.
    ToolArguments(String),
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Typed => f.write_str("typed"),
            Self::Memory(key) => write!(f, "memory:{key}"),
            Self::Skill(name) => write!(f, "skill:{name}"),
            Self::Document(name) => write!(f, "document:{name}"),
            Self::History => f.write_str("history"),
            Self::ToolArguments(name) => write!(f, "tool_arguments:{name}"),
        }
    }
}

impl std::str::FromStr for Source {
    type Err = Error;

    /// Reads what [`Display`](std::fmt::Display) writes.
    fn from_str(text: &str) -> Result<Self, Error> {
        match text.split_once(':') {
            None if text == "typed" => Ok(Self::Typed),
            None if text == "history" => Ok(Self::History),
            Some(("memory", key)) => Ok(Self::Memory(key.to_owned())),
            Some(("skill", name)) => Ok(Self::Skill(name.to_owned())),
            Some(("document", name)) => Ok(Self::Document(name.to_owned())),
            Some(("tool_arguments", name)) => Ok(Self::ToolArguments(name.to_owned())),
            _ => Err(Error::configuration(format!(
                "{text:?} is no source of a text: write typed, history, memory:KEY, skill:NAME, document:NAME or \
                 tool_arguments:TOOL"
            ))),
        }
    }
}

/// One text to scan.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// Where it comes from.
    pub source: &'a Source,
    /// The text.
    pub text: &'a str,
}

/// What a guard says of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing found.
    Pass,
    /// The text must not go on.
    Block {
        /// Why. It reaches the caller, so it must not repeat a secret.
        reason: String,
    },
}

/// Looks at a text and decides. An error, a panic or a time-out (2 s) blocks.
pub trait Guard: Send + Sync {
    /// A label for errors and events.
    fn name(&self) -> &str;

    /// Whether only what the user typed is looked at, and no context or arguments. Default no.
    fn typed_only(&self) -> bool {
        false
    }

    /// Scans one text.
    ///
    /// # Errors
    /// Whatever kept the guard from answering; the text is then refused.
    fn scan<'a>(&'a self, piece: Piece<'a>, context: &'a RunContext) -> BoxFuture<'a, Result<Verdict, BoxError>>;
}
