//! The normal form of a request's history.

use super::Api;
use serde_json::{Map, Value};
use std::fmt;

/// One message (or, on the Responses API, one item).
#[derive(Debug, PartialEq)]
pub(crate) struct Turn {
    pub(crate) role: &'static str,
    pub(crate) blocks: Vec<Block>,
}

/// One piece of a message.
#[derive(Debug, PartialEq)]
pub(crate) enum Block {
    Text(String),
    /// An image or a file, as its JSON.
    Media(String),
    Thinking(String),
    /// A signature on the block before it, or encrypted reasoning.
    Signature(String),
    Call {
        id: Option<String>,
        name: String,
        arguments: Value,
    },
    Result {
        id: Option<String>,
        name: Option<String>,
        text: String,
        is_error: bool,
    },
    /// Something this reader does not know, as its JSON.
    Other(String),
}

impl Turn {
    /// Whether `got` says the same. An id or a name that was not recorded may be there.
    pub(crate) fn matches(&self, got: &Self) -> bool {
        self.role == got.role
            && self.blocks.len() == got.blocks.len()
            && self.blocks.iter().zip(&got.blocks).all(|(expected, got)| expected.matches(got))
    }
}

impl Block {
    fn matches(&self, got: &Self) -> bool {
        let same = |expected: &Option<String>, got: &Option<String>| expected.is_none() || expected == got;
        match (self, got) {
            (
                Self::Call { id, name, arguments },
                Self::Call { id: got_id, name: got_name, arguments: got_arguments },
            ) => same(id, got_id) && name == got_name && arguments == got_arguments,
            (
                Self::Result { id, name, text, is_error },
                Self::Result { id: got_id, name: got_name, text: got_text, is_error: got_error },
            ) => same(id, got_id) && same(name, got_name) && text == got_text && is_error == got_error,
            (expected, got) => expected == got,
        }
    }

    pub(crate) fn id_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Call { id, .. } | Self::Result { id, .. } => id.as_mut(),
            Self::Text(_) | Self::Media(_) | Self::Thinking(_) | Self::Signature(_) | Self::Other(_) => None,
        }
    }
}

impl fmt::Display for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.role)?;
        for block in &self.blocks {
            write!(f, " {block}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let brief = |text: &str| super::super::check::short(&Value::from(text));
        match self {
            Self::Text(text) => write!(f, "[text {}]", brief(text)),
            Self::Media(json) => write!(f, "[media {}]", brief(json)),
            Self::Thinking(text) => write!(f, "[thinking {}]", brief(text)),
            Self::Signature(text) => write!(f, "[signature {}]", brief(text)),
            Self::Call { id, name, arguments } => write!(f, "[call {name} id={id:?} {arguments}]"),
            Self::Result { id, name, text, is_error } => {
                let error = if *is_error { " error" } else { "" };
                write!(f, "[result{error} id={id:?} name={name:?} {}]", brief(text))
            }
            Self::Other(json) => write!(f, "[other {}]", brief(json)),
        }
    }
}

/// The history of a request body in the normal form.
pub(crate) fn turns_of(api: Api, body: &Value) -> Vec<Turn> {
    let mut turns = match api {
        Api::Messages => messages(body),
        Api::Chat | Api::Ollama => items(body, "messages").iter().map(chat_turn).collect(),
        Api::Responses => responses(body),
        Api::Gemini => gemini(body),
    };
    for turn in &mut turns {
        turn.blocks.retain(|block| !matches!(block, Block::Text(text) if text.is_empty()));
    }
    turns.retain(|turn| turn.role != "system" || !turn.blocks.is_empty());
    turns
}

fn messages(body: &Value) -> Vec<Turn> {
    let system = body.get("system").map(|system| Turn { role: "system", blocks: vec![Block::Text(text_of(system))] });
    let turn = |message: &Value| {
        let blocks = match message.get("content") {
            Some(Value::Array(blocks)) => blocks.iter().flat_map(messages_block).collect(),
            content => vec![Block::Text(content.map(text_of).unwrap_or_default())],
        };
        Turn { role: role_of(message), blocks }
    };
    system.into_iter().chain(items(body, "messages").iter().map(turn)).collect()
}

fn messages_block(block: &Value) -> Vec<Block> {
    match string(block, "type").as_deref() {
        Some("text") => vec![Block::Text(text_of(block))],
        Some("thinking") => {
            let signature = string(block, "signature").map(Block::Signature);
            let text = string(block, "thinking").unwrap_or_default();
            std::iter::once(Block::Thinking(text)).chain(signature).collect()
        }
        Some("redacted_thinking") => string(block, "data").map(Block::Signature).into_iter().collect(),
        Some("tool_use") => vec![Block::Call {
            id: string(block, "id"),
            name: string(block, "name").unwrap_or_default(),
            arguments: arguments_of(block.get("input")),
        }],
        Some("tool_result") => vec![Block::Result {
            id: string(block, "tool_use_id"),
            name: None,
            text: block.get("content").map(text_of).unwrap_or_default(),
            is_error: block.get("is_error").and_then(Value::as_bool).unwrap_or(false),
        }],
        Some("image" | "document") => vec![media(block)],
        _ => vec![Block::Other(block.to_string())],
    }
}

fn chat_turn(message: &Value) -> Turn {
    let role = role_of(message);
    if role == "tool" {
        let result = Block::Result {
            id: string(message, "tool_call_id"),
            name: string(message, "tool_name"),
            text: message.get("content").map(text_of).unwrap_or_default(),
            is_error: false,
        };
        return Turn { role, blocks: vec![result] };
    }
    let mut blocks = Vec::new();
    for field in ["reasoning_content", "reasoning", "thinking"] {
        blocks.extend(string(message, field).filter(|text| !text.is_empty()).map(Block::Thinking));
    }
    match message.get("content") {
        Some(Value::Array(parts)) => {
            for part in parts {
                match string(part, "type").as_deref() {
                    Some("text") => push_text(&mut blocks, text_of(part)),
                    Some("thinking") => {
                        blocks.push(Block::Thinking(part.get("thinking").map(text_of).unwrap_or_default()));
                    }
                    Some("image_url" | "file" | "input_audio") => blocks.push(media(part)),
                    _ => blocks.push(Block::Other(part.to_string())),
                }
            }
        }
        Some(content) => push_text(&mut blocks, text_of(content)),
        None => {}
    }
    for image in items(message, "images") {
        blocks.push(media(image));
    }
    for call in items(message, "tool_calls") {
        let function = call.get("function").unwrap_or(call);
        blocks.push(Block::Call {
            id: string(call, "id"),
            name: string(function, "name").unwrap_or_default(),
            arguments: arguments_of(function.get("arguments")),
        });
        let signature = call.pointer("/extra_content/google/thought_signature").and_then(Value::as_str);
        blocks.extend(signature.map(|signature| Block::Signature(signature.to_owned())));
    }
    Turn { role, blocks }
}

fn responses(body: &Value) -> Vec<Turn> {
    let system = string(body, "instructions").map(|text| Turn { role: "system", blocks: vec![Block::Text(text)] });
    let turn = |item: &Value| match string(item, "type").as_deref() {
        Some("reasoning") => {
            let summary = item.get("summary").map(text_of).filter(|text| !text.is_empty()).map(Block::Thinking);
            let hidden = string(item, "encrypted_content").map(Block::Signature);
            Turn { role: "assistant", blocks: summary.into_iter().chain(hidden).collect() }
        }
        Some("function_call") => {
            let call = Block::Call {
                id: string(item, "call_id"),
                name: string(item, "name").unwrap_or_default(),
                arguments: arguments_of(item.get("arguments")),
            };
            Turn { role: "assistant", blocks: vec![call] }
        }
        Some("function_call_output") => {
            let result = Block::Result {
                id: string(item, "call_id"),
                name: None,
                text: item.get("output").map(text_of).unwrap_or_default(),
                is_error: false,
            };
            Turn { role: "tool", blocks: vec![result] }
        }
        Some("message") | None => {
            let mut blocks = Vec::new();
            match item.get("content") {
                Some(Value::Array(parts)) => {
                    for part in parts {
                        match string(part, "type").as_deref() {
                            Some("input_text" | "output_text" | "text") => push_text(&mut blocks, text_of(part)),
                            Some("input_image" | "input_file") => blocks.push(media(part)),
                            _ => blocks.push(Block::Other(part.to_string())),
                        }
                    }
                }
                content => push_text(&mut blocks, content.map(text_of).unwrap_or_default()),
            }
            Turn { role: role_of(item), blocks }
        }
        Some(_) => Turn { role: "other", blocks: vec![Block::Other(item.to_string())] },
    };
    let input: Vec<Turn> = match body.get("input") {
        Some(Value::String(text)) => vec![Turn { role: "user", blocks: vec![Block::Text(text.clone())] }],
        _ => items(body, "input").iter().map(turn).collect(),
    };
    system.into_iter().chain(input).collect()
}

fn gemini(body: &Value) -> Vec<Turn> {
    let system = body.get("systemInstruction").filter(|system| !system.is_null());
    let system = system.map(|system| Turn { role: "system", blocks: vec![Block::Text(text_of(system))] });
    let turn = |content: &Value| Turn {
        role: role_of(content),
        blocks: items(content, "parts").iter().flat_map(gemini_part).collect(),
    };
    system.into_iter().chain(items(body, "contents").iter().map(turn)).collect()
}

fn gemini_part(part: &Value) -> Vec<Block> {
    let block = if let Some(call) = part.get("functionCall") {
        Block::Call {
            id: string(call, "id"),
            name: string(call, "name").unwrap_or_default(),
            arguments: arguments_of(call.get("args")),
        }
    } else if let Some(result) = part.get("functionResponse") {
        Block::Result {
            id: string(result, "id"),
            name: string(result, "name"),
            text: result.get("response").map(unwrapped).unwrap_or_default(),
            is_error: false,
        }
    } else if let Some(text) = string(part, "text") {
        match part.get("thought").and_then(Value::as_bool) {
            Some(true) => Block::Thinking(text),
            Some(false) | None => Block::Text(text),
        }
    } else if part.get("inlineData").is_some() || part.get("fileData").is_some() {
        media(part)
    } else {
        Block::Other(part.to_string())
    };
    // The value that Google documents for calls that Gemini did not make is no signature.
    let stand_in = "skip_thought_signature_validator";
    let signature = string(part, "thoughtSignature").filter(|signature| signature != stand_in);
    std::iter::once(block).chain(signature.map(Block::Signature)).collect()
}

/// A result is an object on the wire; the text in it is what counts.
pub(super) fn unwrapped(response: &Value) -> String {
    let wrapped = response
        .as_object()
        .filter(|members| members.len() == 1)
        .and_then(|members| ["result", "output", "content", "error"].into_iter().find_map(|key| members.get(key)));
    text_of(wrapped.unwrap_or(response))
}

/// The text in a string, in a part, in a list of parts; of anything else its JSON.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Array(items) => items.iter().map(text_of).collect(),
        Value::Object(members) => match members.get("text").or_else(|| members.get("parts")) {
            Some(text) => text_of(text),
            None => value.to_string(),
        },
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// Arguments as an object, whether they travel as an object or as text; nothing and `null` are `{}`.
fn arguments_of(arguments: Option<&Value>) -> Value {
    let value = match arguments {
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_else(|_| Value::from(text.as_str())),
        Some(value) => value.clone(),
        None => Value::Null,
    };
    match value {
        Value::Null => Value::Object(Map::new()),
        Value::String(text) if text.is_empty() => Value::Object(Map::new()),
        value => value,
    }
}

fn push_text(blocks: &mut Vec<Block>, more: String) {
    match blocks.last_mut() {
        Some(Block::Text(text)) => text.push_str(&more),
        _ => blocks.push(Block::Text(more)),
    }
}

fn media(part: &Value) -> Block {
    let mut part = part.clone();
    if let Value::Object(members) = &mut part {
        members.remove("cache_control");
    }
    Block::Media(part.to_string())
}

fn role_of(message: &Value) -> &'static str {
    match message.get("role").and_then(Value::as_str) {
        Some("system" | "developer") => "system",
        Some("user") => "user",
        Some("assistant" | "model") => "assistant",
        Some("tool" | "function") => "tool",
        _ => "unknown role",
    }
}

pub(super) fn items<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value.get(field).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

pub(super) fn string(value: &Value, field: &str) -> Option<String> {
    value.get(field).and_then(Value::as_str).map(str::to_owned)
}
