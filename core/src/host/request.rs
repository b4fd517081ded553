//! A message, or a saved run, with the host's values for its run.

use super::read;
use crate::Agent;
use crate::agent::{Conversation, ResumeOptions};
use crate::context::{Caller, CancellationToken, ContextPiece, RunContext};
use crate::error::Error;
use crate::message::Content;
use crate::run::RunState;
use futures::FutureExt;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::panic::AssertUnwindSafe;
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
    pieces: Vec<ContextPiece>,
}

/// Reads `{"message": text or parts, "context": {"tenant", "user", "scopes", "deadline_ms", "parent_run_id",
/// "metadata", "pieces"}}`; every key of the context may be left out.
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
    let RawRequest { message, context } = read("the message or its context", json)?;
    Ok(Request { message, context: context.into() })
}

/// Sends a message, as the next turn of a conversation when there is one, and gives the response as JSON with the new
/// conversation.
///
/// # Errors
/// As [`Agent::send`].
pub async fn send(
    agent: &Agent,
    request: Request,
    conversation: Option<&Conversation>,
) -> Result<(String, Option<Conversation>), Error> {
    let Request { message, context } = request;
    whole(async {
        let (response, conversation) = match conversation {
            None => (agent.send_with(message, context).await?, None),
            Some(conversation) => {
                let turn = agent.send_in_conversation(conversation, message, context).await?;
                (turn.response, Some(turn.conversation))
            }
        };
        Ok((response.to_json().to_string(), conversation))
    })
    .await
}

/// Goes on with a saved run and gives the response as JSON.
///
/// # Errors
/// As [`Agent::resume`].
pub async fn resume(agent: &Agent, resumption: Resumption) -> Result<String, Error> {
    whole(async { Ok(agent.resume(resumption.state, resumption.options).await?.to_json().to_string()) }).await
}

/// A panic of the engine as an error, so that a host which waits for an end gets one.
async fn whole<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| Err(panicked()))
}

/// The error for a panic.
pub(super) fn panicked() -> Error {
    Error::Internal { detail: "the run panicked; standard error says where".into() }
}

/// A saved run that goes on.
#[derive(Debug)]
pub struct Resumption {
    /// The run as its checkpoint saved it.
    pub state: RunState,
    /// How it goes on.
    pub options: ResumeOptions,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawResumption {
    state: RunState,
    #[serde(default)]
    context: RawContext,
    #[serde(default)]
    accept_changed_config: bool,
}

/// Reads `{"state": …, "context": {…}, "accept_changed_config": false}`; the state is the one that a checkpoint got.
///
/// # Errors
/// `configuration` when the text is not of this shape, or holds pieces of context, which belong to a message.
pub fn resumption(json: &str) -> Result<Resumption, Error> {
    let RawResumption { state, context, accept_changed_config } = read("the saved run", json)?;
    if !context.pieces.is_empty() {
        let problem = "a run that goes on takes no pieces of context: give them with the message that starts a run";
        return Err(Error::configuration(problem));
    }
    Ok(Resumption { state, options: ResumeOptions { context: context.into(), accept_changed_config } })
}

impl From<RawContext> for RunContext {
    fn from(raw: RawContext) -> Self {
        let mut context = Self::new().signal(CancellationToken::new());
        if raw.tenant.is_some() || raw.user.is_some() || !raw.scopes.is_empty() {
            context = context.caller(Caller { tenant: raw.tenant, user: raw.user, scopes: raw.scopes });
        }
        context.deadline = raw.deadline_ms.map(Duration::from_millis);
        context.parent_run_id = raw.parent_run_id.map(Into::into);
        context.metadata = raw.metadata;
        context.pieces = raw.pieces;
        context
    }
}
