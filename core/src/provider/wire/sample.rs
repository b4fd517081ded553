//! Requests and messages for the tests of wire formats.

use crate::message::{Arguments, AssistantMessage, Message, Native, Outcome, ToolCall, ToolResult};
use crate::provider::wire::Decoder;
use crate::provider::{ModelOptions, ModelReply, ModelRequest, ProviderError, StreamPart, ToolChoice, ToolSpec};
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;

/// A request without tools.
pub(crate) fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        system: "Be kind.".into(),
        messages: Arc::new(messages),
        tools: Arc::from([]),
        tool_choice: ToolChoice::Auto,
        options: Arc::new(ModelOptions::default()),
    }
}

/// The same request with tools of these names.
pub(crate) fn with_tools(mut request: ModelRequest, names: &[&str]) -> ModelRequest {
    let schema = r#"{"type":"object","properties":{"path":{"type":"string"}}}"#;
    let tool = |name: &&str| ToolSpec {
        name: (*name).into(),
        description: "Looks.".into(),
        schema: Arc::from(RawValue::from_string(schema.to_owned()).unwrap()),
    };
    request.tools = names.iter().map(tool).collect();
    request
}

/// The same request with other options.
pub(crate) fn with_options(mut request: ModelRequest, change: impl FnOnce(&mut ModelOptions)) -> ModelRequest {
    let mut options = (*request.options).clone();
    change(&mut options);
    request.options = Arc::new(options);
    request
}

/// A call as it stands in a history.
pub(crate) fn call(id: &str, provider_id: Option<&str>, name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: id.into(), ..ToolCall::from_wire(provider_id, name, Ok(arguments.parse().unwrap())) }
}

/// A reply of the model as it stands in a history.
pub(crate) fn said(text: &str, calls: Vec<ToolCall>) -> Message {
    Message::Assistant(AssistantMessage { content: text.into(), calls, native: None })
}

/// The same with its own form.
pub(crate) fn native(wire: &str, model: &str, blocks: &str, text: &str, calls: Vec<ToolCall>) -> Message {
    let native = Native { wire: wire.into(), model: model.into(), blocks: blocks.into() };
    Message::Assistant(AssistantMessage { content: text.into(), calls, native: Some(Box::new(native)) })
}

/// A good result.
pub(crate) fn result(id: &str, text: &str) -> ToolResult {
    ToolResult { call_id: id.into(), name: "look".into(), content: text.into(), outcome: Outcome::Ok }
}

/// What a decoder makes of events, each a name and its data: the pieces, and the reply or the first error.
pub(crate) fn stream(
    mut decoder: impl Decoder,
    events: impl IntoIterator<Item = (String, String)>,
) -> (Vec<StreamPart>, Result<ModelReply, ProviderError>) {
    let mut parts = Vec::new();
    for (name, data) in events {
        if let Err(error) = decoder.event(&name, &data, &mut parts) {
            return (parts, Err(error));
        }
    }
    (parts, decoder.finish())
}

/// Bytes as a JSON value.
pub(crate) fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

/// The arguments of a call that can run.
pub(crate) fn arguments(call: &ToolCall) -> &Arguments {
    assert_eq!(call.fault, None);
    &call.arguments
}
