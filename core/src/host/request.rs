//! A message with the host's values for its run.

use super::read;
use crate::context::{Caller, CancellationToken, RunContext};
use crate::error::Error;
use crate::message::Content;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::time::Duration;

/// What is sent to an agent.
#[derive(Debug)]
pub struct Request {
    /// The message.
    pub message: Content,
    /// The host's values; [`RunContext::signal`] is new and stops only this run.
    pub context: RunContext,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRequest {
    message: Content,
    #[serde(default)]
    context: RawContext,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RawContext {
    tenant: Option<String>,
    user: Option<String>,
    scopes: Vec<String>,
    deadline_ms: Option<u64>,
    parent_run_id: Option<String>,
    metadata: Map<String, Value>,
}

/// Reads `{"message": text or parts, "context": {"tenant", "user", "scopes", "deadline_ms", "parent_run_id",
/// "metadata"}}`; every key of the context may be left out.
///
/// ```
/// let request = cheliped::host::request(r#"{"message": "Hi", "context": {"user": "ada"}}"#)?;
/// assert_eq!(request.context.caller.unwrap().user.as_deref(), Some("ada"));
/// # Ok::<(), cheliped::Error>(())
/// ```
///
/// # Errors
/// `configuration` when the text is not of this shape.
pub fn request(json: &str) -> Result<Request, Error> {
    let RawRequest { message, context: raw } = read("the message or its context", json)?;
    let mut context = RunContext::new().signal(CancellationToken::new());
    if raw.tenant.is_some() || raw.user.is_some() || !raw.scopes.is_empty() {
        context = context.caller(Caller { tenant: raw.tenant, user: raw.user, scopes: raw.scopes });
    }
    context.deadline = raw.deadline_ms.map(Duration::from_millis);
    context.parent_run_id = raw.parent_run_id.map(Into::into);
    context.metadata = raw.metadata;
    Ok(Request { message, context })
}
