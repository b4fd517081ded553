//! Tools that are functions of the host language.

use super::{Function, HostCall, read, unreadable, written};
use crate::error::{BoxError, Error};
use crate::message::{Arguments, Content};
use crate::schema::Schema;
use crate::tool::{Effect, Tool, ToolContext, ToolDefinition, ToolError, ToolOutput};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Words of progress that wait for the engine; more are dropped.
const WAITING: usize = 64;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawDefinition {
    name: String,
    #[serde(default)]
    description: String,
    schema: Value,
    mutating: Option<bool>,
    #[serde(default)]
    idempotent: bool,
    listed: Option<bool>,
}

/// A tool of its definition, whose schema is compiled here, and a function. `mutating` is `true`, `false` or left out,
/// which means that the tool does not say.
///
/// # Errors
/// `configuration` when the definition has another shape or its schema cannot be used.
pub fn tool(definition: &str, function: Function) -> Result<Arc<dyn Tool>, Error> {
    let raw: RawDefinition = read("the definition of a tool", definition)?;
    let schema =
        Schema::new(raw.schema).map_err(|error| Error::configuration(format!("tool {:?}: {error}", raw.name)))?;
    let mut definition = ToolDefinition::new(raw.name, raw.description, schema);
    if raw.idempotent {
        definition = definition.idempotent();
    }
    if raw.listed == Some(false) {
        definition = definition.unlisted();
    }
    let effect = match raw.mutating {
        None => Effect::Unspecified,
        Some(true) => Effect::Mutating,
        Some(false) => Effect::ReadOnly,
    };
    Ok(Arc::new(HostTool { definition, effect, function }))
}

struct HostTool {
    definition: ToolDefinition,
    effect: Effect,
    function: Function,
}

/// Tells the engine how far a tool is. Telling never waits: when the engine does not keep up, words are dropped.
#[derive(Clone, Debug)]
pub struct Progress(mpsc::Sender<String>);

impl Progress {
    /// Says something. Does nothing once the call is over.
    pub fn tell(&self, text: impl Into<String>) {
        // A full or closed channel means that nobody can or wants to know.
        let _ = self.0.try_send(text.into());
    }
}

#[derive(Serialize)]
struct Payload<'a> {
    run_id: &'a str,
    call_id: &'a str,
    idempotency_key: &'a str,
    iteration: u32,
    arguments: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Answer {
    Ok(Content),
    Refusal { content: Content, message: String },
    Error { kind: Kind, message: String },
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Failed,
    Retry,
    Denied,
}

impl HostTool {
    fn payload(arguments: &Arguments, context: &ToolContext) -> Result<String, BoxError> {
        written(&Payload {
            run_id: context.run_id(),
            call_id: context.call_id(),
            idempotency_key: context.idempotency_key(),
            iteration: context.iteration(),
            arguments: serde_json::from_str(arguments.as_str())?,
        })
    }

    async fn work(&self, arguments: Arguments, context: ToolContext) -> Result<ToolOutput, ToolError> {
        let raised = |error: BoxError| ToolError::internal(format!("the tool raised: {error}"), error);
        let (sender, mut told) = mpsc::channel(WAITING);
        let payload = Self::payload(&arguments, &context).map_err(raised)?;
        let mut running = self.function.call(HostCall { payload, progress: Some(Progress(sender)) });
        let answer = loop {
            tokio::select! {
                // Progress first: what was said before the answer comes before it.
                biased;
                Some(text) = told.recv() => context.progress(text).await,
                answer = &mut running => break answer,
            }
        };
        while let Ok(text) = told.try_recv() {
            context.progress(text).await;
        }
        let answer = answer.map_err(raised)?;
        match serde_json::from_str(&answer).map_err(|_| raised(unreadable("the tool", &answer)))? {
            Answer::Ok(content) => Ok(content.into()),
            Answer::Refusal { content, message } => Ok(ToolOutput::refusal(content, message)),
            Answer::Error { kind: Kind::Failed, message } => Err(ToolError::failed(message)),
            Answer::Error { kind: Kind::Retry, message } => Err(ToolError::retry(message)),
            Answer::Error { kind: Kind::Denied, message } => Err(ToolError::denied(message)),
        }
    }
}

impl Tool for HostTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn effect(&self, _: &Arguments) -> Effect {
        self.effect
    }

    fn call<'a>(&'a self, arguments: Arguments, context: ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(self.work(arguments, context))
    }
}
