//! The border to other languages: the engine as a host language sees it.
//!
//! Everything crosses as JSON text, once in and once out. A binding implements [`HostFunction`] for the functions of its
//! language, hands them to an [`Assembly`], and reads streams with [`stream`]. All meaning is here: what a payload holds,
//! what an answer says, what an unreadable answer counts as. A binding converts, calls and converts.
//!
//! # Payloads and answers
//!
//! | kind | settings | payload | answer |
//! |---|---|---|---|
//! | tool | `name`, `description`, `schema`, `mutating`, `idempotent`, `listed` | `run_id`, `call_id`, `idempotency_key`, `iteration`, `arguments` | `{"ok": content}`, `{"refusal": {"content", "message"}}` or `{"error": {"kind", "message"}}` with the kinds `failed`, `retry`, `denied` |
//! | hook | `event`, `priority` | the payload of the event | not read |
//! | guard | `name`, `typed_only`, `priority`, `replace` | `source`, `text` | `null` passes, a text blocks for that reason |
//! | approval | `all` | `run_id`, `call_id`, `tool`, `description`, `arguments`, `mutating`, `findings` | `true`, `false`, `{"deny": reason}`, `{"allow_with": arguments}`, `"suspend"` |
//! | interceptor | `name`, `points`, `priority` | `point`, `value` | `null` allows, `{"block": reason}`, `{"replace": value}` |
//! | checkpoint | `can_suspend` | `what`, `state`, `call`, `idempotency_key` | not read |
//! | provider | `name`, `model` | `system`, `messages`, `tools`, `tool_choice`, `options`, `stream` | a step as [`Script`](crate::provider::Script) describes it |
//!
//! A key of the settings that is left out has the engine's default. An answer that cannot be read is an error of the
//! function, and an error means the stricter outcome.

mod approval;
mod assembly;
mod check;
mod checkpoint;
mod conversation;
mod interceptor;
mod provider;
mod pump;
mod request;
mod tables;
mod tool;
mod watch;

pub use assembly::Assembly;
pub use check::check;
pub use conversation::{conversation, message, written_conversation};
pub use provider::{provider, requests, script};
pub use pump::{Batch, Demand, stream};
pub use request::{Request, Resumption, request, resume, resumption, send};
pub use tables::tables;
pub use tool::{Progress, tool};

use crate::error::{BoxError, Error};
use futures::future::BoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// A function of the host language.
pub trait HostFunction: Send + Sync {
    /// Calls it with a JSON payload; the answer is JSON too. Dropping the future tells the host to stop.
    ///
    /// # Errors
    /// Whatever the function raised. The error is kept as a source, so that the host finds its own object again.
    fn call(&self, call: HostCall) -> BoxFuture<'static, Result<String, BoxError>>;
}

/// A function that several places share.
pub type Function = Arc<dyn HostFunction>;

/// One call of a host function.
#[derive(Debug)]
pub struct HostCall {
    /// The payload as JSON text.
    pub payload: String,
    /// Where a tool tells how far it is; `None` for everything that is no tool.
    pub progress: Option<Progress>,
}

/// An error as it crosses the border.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The stable code.
    pub code: &'static str,
    /// The error in words.
    pub message: String,
    /// The error's data as JSON text.
    pub details: String,
    /// Whether the same message can succeed later.
    pub retryable: bool,
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        let details = serde_json::Value::Object(error.details()).to_string();
        Self { code: error.code(), message: error.to_string(), details, retryable: error.is_retryable() }
    }
}

/// Reads JSON that the host wrote.
fn read<T: DeserializeOwned>(what: &str, json: &str) -> Result<T, Error> {
    serde_json::from_str(json).map_err(|error| Error::configuration(format!("{what}: {error}")))
}

/// Writes JSON for the host.
fn written<T: Serialize>(value: &T) -> Result<String, BoxError> {
    Ok(serde_json::to_string(value)?)
}

/// Calls a function that is no tool.
async fn ask<T: Serialize>(function: &Function, payload: &T) -> Result<String, BoxError> {
    function.call(HostCall { payload: written(payload)?, progress: None }).await
}

/// An answer that cannot be read.
fn unreadable(what: &str, answer: &str) -> BoxError {
    // An answer may be long and may hold what only the host should see.
    format!("{what} gave an answer that cannot be read ({} bytes of JSON)", answer.len()).into()
}
