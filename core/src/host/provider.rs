//! Providers: named ones, scripted ones, and functions of the host language.

use super::{Function, ask, read};
use crate::agent::{IntoProvider, ProviderChoice};
use crate::error::{BoxError, Error};
use crate::message::{History, Message};
use crate::provider::{
    ModelOptions, ModelReply, ModelRequest, Provider, ProviderConfig, ProviderError, ProviderErrorKind,
    ScriptedProvider, Step, ToolChoice, ToolSpec,
};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::sync::Arc;

/// A provider of a text such as `"openai:MODEL"`, or of an object with the settings of [`ProviderConfig`].
///
/// # Errors
/// `configuration` when the JSON has another shape. Settings that cannot be used are told when the agent is built.
pub fn provider(json: &str) -> Result<ProviderChoice, Error> {
    if let Ok(name) = serde_json::from_str::<String>(json) {
        return Ok(name.into_choice());
    }
    Ok(read::<ProviderConfig>("the provider", json)?.into_choice())
}

/// A scripted provider of JSON, see [`Script`](crate::provider::Script).
///
/// # Errors
/// `configuration` with line and column of what is wrong.
pub fn script(json: &str) -> Result<ScriptedProvider, Error> {
    ScriptedProvider::from_json(json).map_err(|error| Error::configuration(format!("the script: {error}")))
}

/// What a scripted provider was asked, oldest first, as a JSON list of `{provider, model, system, roles, messages, last,
/// tools, descriptions, tool_choice, streamed, options}`; `last` is the text of the last message.
pub fn requests(model: &ScriptedProvider) -> String {
    let asked = model.requests().into_iter().map(|asked| {
        json!({
            "provider": model.name(),
            "model": model.model(),
            "system": &*asked.request.system,
            "roles": asked.roles,
            "messages": &*asked.request.messages,
            "last": asked.texts.last(),
            "tools": asked.tools,
            "descriptions": asked.request.tools.iter().map(|tool| &*tool.description).collect::<Vec<_>>(),
            "tool_choice": asked.tool_choice,
            "streamed": asked.streamed,
            "options": &*asked.request.options,
        })
    });
    Value::Array(asked.collect()).to_string()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProviderSettings {
    name: String,
    model: String,
}

/// A model that is a function of the host language.
pub(super) struct HostProvider {
    pub(super) settings: ProviderSettings,
    pub(super) function: Function,
}

#[derive(Serialize)]
pub(super) struct WrittenRequest<'a> {
    system: &'a str,
    messages: &'a [Message],
    tools: Vec<WrittenTool<'a>>,
    tool_choice: &'a ToolChoice,
    options: &'a ModelOptions,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
}

#[derive(Serialize)]
struct WrittenTool<'a> {
    name: &'a str,
    description: &'a str,
    schema: &'a RawValue,
}

impl<'a> WrittenRequest<'a> {
    pub(super) fn of(request: &'a ModelRequest, stream: Option<bool>) -> Self {
        let tools = request.tools.iter();
        Self {
            system: &request.system,
            messages: &request.messages,
            tools: tools
                .map(|tool| WrittenTool { name: &tool.name, description: &tool.description, schema: &tool.schema })
                .collect(),
            tool_choice: &request.tool_choice,
            options: &request.options,
            stream,
        }
    }
}

/// A request as a host gives it back.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WireRequest {
    system: String,
    messages: Vec<Message>,
    tools: Vec<WireTool>,
    tool_choice: ToolChoice,
    options: ModelOptions,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireTool {
    name: String,
    description: String,
    schema: Box<RawValue>,
}

impl From<WireRequest> for ModelRequest {
    fn from(wire: WireRequest) -> Self {
        let tools = wire.tools.into_iter().map(|tool| ToolSpec {
            name: tool.name.into(),
            description: tool.description.into(),
            schema: tool.schema.into(),
        });
        Self {
            system: wire.system.into(),
            messages: History::new(wire.messages),
            tools: tools.collect(),
            tool_choice: wire.tool_choice,
            options: Arc::new(wire.options),
        }
    }
}

impl HostProvider {
    fn failed(&self, error: BoxError) -> ProviderError {
        let mut failed = ProviderError::new(ProviderErrorKind::Server, "the provider raised an error");
        // Nobody knows whether a second try would do better.
        failed.retryable = false;
        failed.with_source(error).from_model(&self.settings.name, &self.settings.model)
    }
}

impl Provider for HostProvider {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn model(&self) -> &str {
        &self.settings.model
    }

    fn send<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelReply, ProviderError>> {
        Box::pin(async move {
            let answer = ask(&self.function, &WrittenRequest::of(request, Some(false))).await;
            let answer = answer.map_err(|error| self.failed(error))?;
            let step: Step = serde_json::from_str(&answer).map_err(|error| self.failed(error.into()))?;
            step.into_reply().map_err(|error| error.from_model(&self.settings.name, &self.settings.model))
        })
    }
}
