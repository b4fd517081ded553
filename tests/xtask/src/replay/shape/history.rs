//! Takes a recorded request apart: what the operator, the user and the tools said, and each assistant turn as the
//! reply it once was.

use super::turns::{items, string, text_of, unwrapped};
use cheliped::message::{Content, Data, Part};
use cheliped::provider::{ModelOptions, ToolChoice, ToolSpec};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The APIs whose requests and answers are known here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    Messages,
    Chat,
    Responses,
    Gemini,
    Ollama,
}

impl Api {
    /// The API of this name in an exchange.
    pub(crate) fn of(name: &str) -> Option<Self> {
        match name {
            "messages" => Some(Self::Messages),
            "chat" => Some(Self::Chat),
            "responses" => Some(Self::Responses),
            "generateContent" => Some(Self::Gemini),
            "ollama-chat" => Some(Self::Ollama),
            _ => None,
        }
    }
}

/// One step of a recorded history.
#[derive(Debug)]
pub(crate) enum Step {
    System(String),
    User(Content),
    /// A reply as the provider sent it, put together from the turn that went back.
    Reply(Value),
    Result(StepResult),
}

/// One tool result of a recorded history.
#[derive(Debug)]
pub(crate) struct StepResult {
    pub(crate) id: Option<String>,
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

/// A recorded request in neutral words.
pub(crate) struct Recorded {
    pub(crate) steps: Vec<Step>,
    pub(crate) tools: Vec<ToolSpec>,
    pub(crate) tool_choice: ToolChoice,
    pub(crate) options: ModelOptions,
}

/// Reads a recorded request body.
///
/// # Errors
/// When it holds something that has no neutral word.
pub(crate) fn history_of(api: Api, model: &str, body: &Value) -> Result<Recorded, String> {
    let steps = match api {
        Api::Messages => messages(model, body)?,
        Api::Chat => chat(body, |message| {
            let reason = if items(message, "tool_calls").is_empty() { "stop" } else { "tool_calls" };
            json!({"id": "r", "object": "chat.completion", "model": model,
                "choices": [{"index": 0, "message": message, "finish_reason": reason}]})
        })?,
        Api::Ollama => {
            chat(body, |message| json!({"model": model, "message": message, "done": true, "done_reason": "stop"}))?
        }
        Api::Responses => responses(model, body)?,
        Api::Gemini => gemini(body)?,
    };
    Ok(Recorded { steps, tools: tools(body)?, tool_choice: tool_choice(body), options: options(body) })
}

fn messages(model: &str, body: &Value) -> Result<Vec<Step>, String> {
    let mut steps: Vec<Step> = body.get("system").map(|system| Step::System(text_of(system))).into_iter().collect();
    for message in items(body, "messages") {
        let content = message.get("content").cloned().unwrap_or_default();
        let blocks = match content {
            Value::Array(blocks) => blocks,
            content => vec![json!({"type": "text", "text": text_of(&content)})],
        };
        match string(message, "role").as_deref() {
            Some("assistant") => {
                let calls = blocks.iter().any(|block| string(block, "type").as_deref() == Some("tool_use"));
                let reason = if calls { "tool_use" } else { "end_turn" };
                steps.push(Step::Reply(json!({"id": "msg_r", "type": "message", "role": "assistant", "model": model,
                    "content": blocks, "stop_reason": reason, "usage": {"input_tokens": 1, "output_tokens": 1}})));
            }
            Some("user") => {
                let mut parts = Vec::new();
                for block in &blocks {
                    match string(block, "type").as_deref() {
                        Some("tool_result") => steps.push(Step::Result(StepResult {
                            id: string(block, "tool_use_id"),
                            text: block.get("content").map(text_of).unwrap_or_default(),
                            is_error: block.get("is_error").and_then(Value::as_bool).unwrap_or(false),
                        })),
                        Some("text") => parts.push(Part::text(text_of(block))),
                        Some("image") => parts.push(source(block)?),
                        _ => return Err(format!("cannot read the block {block}")),
                    }
                }
                if !parts.is_empty() {
                    steps.push(Step::User(content_of(parts)));
                }
            }
            _ => steps.push(Step::System(blocks.iter().map(text_of).collect())),
        }
    }
    Ok(steps)
}

fn source(block: &Value) -> Result<Part, String> {
    let source = block.get("source").unwrap_or(block);
    let data = match (string(source, "data"), string(source, "url")) {
        (Some(data), _) => Data::Base64(data.into()),
        (None, Some(url)) => Data::Url(url.into()),
        (None, None) => return Err(format!("cannot read the image {block}")),
    };
    let media_type = string(source, "media_type").unwrap_or_else(|| "image/png".into());
    Ok(Part::Image { media_type: media_type.into(), data })
}

fn chat(body: &Value, reply: impl Fn(&Value) -> Value) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    for message in items(body, "messages") {
        let content = message.get("content").cloned().unwrap_or_default();
        steps.push(match string(message, "role").as_deref() {
            Some("system" | "developer") => Step::System(text_of(&content)),
            Some("user") => Step::User(chat_content(&content)?),
            Some("assistant") => Step::Reply(reply(message)),
            Some("tool" | "function") => Step::Result(StepResult {
                id: string(message, "tool_call_id"),
                text: text_of(&content),
                is_error: false,
            }),
            _ => return Err(format!("cannot read the message {message}")),
        });
    }
    Ok(steps)
}

fn chat_content(content: &Value) -> Result<Content, String> {
    let Value::Array(parts) = content else {
        return Ok(Content::text(text_of(content)));
    };
    let mut read = Vec::new();
    for part in parts {
        let url = part.pointer("/image_url/url").or_else(|| part.get("image_url")).and_then(Value::as_str);
        match (string(part, "type").as_deref(), url) {
            (Some("text" | "input_text"), _) => read.push(Part::text(text_of(part))),
            (Some("image_url" | "input_image"), Some(url)) => read.push(image(url)),
            _ => return Err(format!("cannot read the part {part}")),
        }
    }
    Ok(content_of(read))
}

fn image(url: &str) -> Part {
    match url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
        Some((media_type, data)) => Part::Image { media_type: media_type.into(), data: Data::Base64(data.into()) },
        None => Part::Image { media_type: "image/png".into(), data: Data::Url(url.into()) },
    }
}

fn responses(model: &str, body: &Value) -> Result<Vec<Step>, String> {
    let mut steps: Vec<Step> = string(body, "instructions").map(Step::System).into_iter().collect();
    if let Some(text) = string(body, "input") {
        steps.push(Step::User(Content::text(text)));
    }
    let mut output: Vec<Value> = Vec::new();
    let reply = |output: &mut Vec<Value>| {
        let items = std::mem::take(output);
        (!items.is_empty()).then(|| {
            Step::Reply(json!({"id": "resp_r", "object": "response", "status": "completed", "model": model,
                "output": items}))
        })
    };
    for item in items(body, "input") {
        let role = string(item, "role");
        match (string(item, "type").as_deref(), role.as_deref()) {
            (Some("reasoning" | "function_call"), _) | (_, Some("assistant")) => output.push(item.clone()),
            (Some("function_call_output"), _) => {
                steps.extend(reply(&mut output));
                steps.push(Step::Result(StepResult {
                    id: string(item, "call_id"),
                    text: item.get("output").map(text_of).unwrap_or_default(),
                    is_error: false,
                }));
            }
            (Some("message") | None, Some("user")) => {
                steps.extend(reply(&mut output));
                steps.push(Step::User(chat_content(item.get("content").unwrap_or(&Value::Null))?));
            }
            (Some("message") | None, Some(_)) => {
                steps.extend(reply(&mut output));
                steps.push(Step::System(item.get("content").map(text_of).unwrap_or_default()));
            }
            _ => return Err(format!("cannot read the item {item}")),
        }
    }
    steps.extend(reply(&mut output));
    Ok(steps)
}

fn gemini(body: &Value) -> Result<Vec<Step>, String> {
    let system = body.get("systemInstruction").filter(|system| !system.is_null());
    let mut steps: Vec<Step> = system.map(|system| Step::System(text_of(system))).into_iter().collect();
    for content in items(body, "contents") {
        if string(content, "role").as_deref() == Some("model") {
            steps.push(Step::Reply(json!({"candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
                "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}})));
            continue;
        }
        let mut parts = Vec::new();
        for part in items(content, "parts") {
            if let Some(result) = part.get("functionResponse") {
                let response = result.get("response").unwrap_or(&Value::Null);
                let text = unwrapped(response);
                steps.push(Step::Result(StepResult { id: string(result, "id"), text, is_error: false }));
            } else if let Some(text) = string(part, "text") {
                parts.push(Part::text(text));
            } else if let Some(data) = part.get("inlineData") {
                let media_type = string(data, "mimeType").unwrap_or_default();
                let data = Data::Base64(string(data, "data").unwrap_or_default().into());
                parts.push(Part::Image { media_type: media_type.into(), data });
            } else {
                return Err(format!("cannot read the part {part}"));
            }
        }
        if !parts.is_empty() {
            steps.push(Step::User(content_of(parts)));
        }
    }
    Ok(steps)
}

fn content_of(mut parts: Vec<Part>) -> Content {
    match (parts.len(), parts.pop()) {
        (1, Some(Part::Text { text })) => Content::Text(text),
        (_, last) => Content::Parts(parts.into_iter().chain(last).collect()),
    }
}

fn tools(body: &Value) -> Result<Vec<ToolSpec>, String> {
    let mut specs = Vec::new();
    for tool in items(body, "tools") {
        let declared = match tool.get("functionDeclarations").and_then(Value::as_array) {
            Some(declarations) => declarations.as_slice(),
            None => std::slice::from_ref(tool.get("function").unwrap_or(tool)),
        };
        for function in declared {
            let schema = ["parameters", "input_schema", "parametersJsonSchema"]
                .into_iter()
                .find_map(|key| function.get(key))
                .cloned()
                .unwrap_or_else(|| json!({"type": "object", "properties": {}}));
            let schema = RawValue::from_string(schema.to_string()).map_err(|error| error.to_string())?;
            specs.push(ToolSpec {
                name: string(function, "name").ok_or_else(|| format!("a tool without a name: {tool}"))?.into(),
                description: string(function, "description").unwrap_or_default().into(),
                schema: schema.into(),
            });
        }
    }
    Ok(specs)
}

fn tool_choice(body: &Value) -> ToolChoice {
    let mode = body.pointer("/toolConfig/functionCallingConfig/mode");
    let choice = body.get("tool_choice").or(mode).unwrap_or(&Value::Null);
    let word = string(choice, "type").or_else(|| choice.as_str().map(str::to_owned));
    let name = string(choice, "name").or_else(|| choice.pointer("/function/name")?.as_str().map(str::to_owned));
    match (word.as_deref(), name) {
        (_, Some(name)) => ToolChoice::Tool { name },
        (Some("required" | "any" | "ANY"), None) => ToolChoice::Required,
        (Some("none" | "NONE"), None) => ToolChoice::None,
        (_, None) => ToolChoice::Auto,
    }
}

fn options(body: &Value) -> ModelOptions {
    let limits = ["/max_tokens", "/max_completion_tokens", "/max_output_tokens", "/generationConfig/maxOutputTokens"];
    let limit = limits.into_iter().find_map(|place| body.pointer(place)?.as_u64());
    let temperature = ["/temperature", "/generationConfig/temperature"].into_iter().find_map(|place| {
        let temperature = body.pointer(place)?;
        temperature.as_f64()
    });
    let thinks = ["thinking", "think", "reasoning", "reasoning_effort"].into_iter().any(|field| {
        let value = body.get(field).unwrap_or(&Value::Null);
        !value.is_null() && *value != json!(false) && *value != json!("none")
    });
    ModelOptions {
        max_tokens: limit.and_then(|limit| u32::try_from(limit).ok()),
        thinking_budget: if thinks { 1024 } else { 0 },
        temperature,
        ..ModelOptions::default()
    }
}
