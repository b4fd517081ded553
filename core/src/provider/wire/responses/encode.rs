//! Writes requests: the history becomes a list of items, and every call is followed by its output.

use super::WIRE;
use crate::message::{AssistantMessage, Content, Data, Message, Part};
use crate::provider::wire::attachment;
use crate::provider::wire::body::written;
use crate::provider::wire::chat::dialect::is_reasoning;
use crate::provider::wire::raw::Raw;
use crate::provider::wire::turns::{Answer, NO_RESULT, answers};
use crate::provider::{ModelRequest, ProviderError, ToolChoice, ToolSpec};
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fmt::Write as _;

/// Most characters of a call id.
const LONGEST_ID: usize = 64;

/// Writes the body of a request.
pub(super) fn encode(model: &str, request: &ModelRequest, stream: bool) -> Result<Vec<u8>, ProviderError> {
    let options = &request.options;
    let reasons = is_reasoning(model);
    let effort = match options.thinking_budget {
        0..1024 => None,
        1024..4096 => Some("low"),
        4096..16384 => Some("medium"),
        _ => Some("high"),
    };
    written(&Body {
        model,
        instructions: &request.system,
        input: Input { model, request },
        max_output_tokens: options.max_tokens,
        temperature: options.temperature.filter(|_| !reasons),
        reasoning: effort.filter(|_| reasons).map(|effort| Reasoning { effort, summary: "auto" }),
        // Other models refuse to be asked for it.
        include: if reasons { &["reasoning.encrypted_content"] } else { &[] },
        store: false,
        tools: Tools(&request.tools),
        tool_choice: match &request.tool_choice {
            _ if request.tools.is_empty() => None,
            ToolChoice::Auto => None,
            ToolChoice::None => Some(Choice::Word("none")),
            ToolChoice::Required => Some(Choice::Word("required")),
            ToolChoice::Tool { name } => Some(Choice::Named { r#type: "function", name }),
        },
        stream,
    })
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    instructions: &'a str,
    input: Input<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    include: &'static [&'static str],
    store: bool,
    #[serde(skip_serializing_if = "Tools::is_empty")]
    tools: Tools<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Choice<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stream: bool,
}

#[derive(Serialize)]
struct Reasoning {
    effort: &'static str,
    summary: &'static str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Choice<'a> {
    Word(&'static str),
    Named { r#type: &'static str, name: &'a str },
}

struct Tools<'a>(&'a [ToolSpec]);

impl Tools<'_> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Tools<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Tool<'a> {
            r#type: &'static str,
            name: &'a str,
            description: &'a str,
            parameters: &'a RawValue,
            // Left out it would mean true, which few schemas are made for.
            strict: bool,
        }
        serializer.collect_seq(self.0.iter().map(|tool| Tool {
            r#type: "function",
            name: &tool.name,
            description: &tool.description,
            parameters: &tool.schema,
            strict: false,
        }))
    }
}

struct Input<'a> {
    model: &'a str,
    request: &'a ModelRequest,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Item<'a> {
    Message { role: &'static str, content: Words<'a> },
    Call { r#type: &'static str, call_id: Cow<'a, str>, name: &'a str, arguments: &'a str },
    Output { r#type: &'static str, call_id: Cow<'a, str>, output: Words<'a> },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Words<'a> {
    Text(Cow<'a, str>),
    Pieces(Vec<Piece<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Piece<'a> {
    InputText {
        text: Cow<'a, str>,
    },
    OutputText {
        text: &'a str,
    },
    InputImage {
        image_url: Cow<'a, str>,
    },
    InputFile {
        filename: &'a str,
        file_data: Cow<'a, str>,
    },
    #[serde(rename = "input_file")]
    FileAddress {
        file_url: &'a str,
    },
}

impl Serialize for Input<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for (place, message) in self.request.messages.iter().enumerate() {
            match message {
                Message::System { content } if content.trim().is_empty() => {}
                Message::System { content } => {
                    list.serialize_element(&Item::Message {
                        role: "system",
                        content: Words::Text(Cow::Borrowed(content)),
                    })?;
                }
                Message::User { content } => {
                    list.serialize_element(&Item::Message { role: "user", content: words(content) })?;
                }
                Message::Assistant(said) => {
                    self.assistant(said, &mut list)?;
                    let after = self.request.messages.get(place + 1..).unwrap_or_default();
                    for answer in answers(&said.calls, after) {
                        list.serialize_element(&output(&answer))?;
                    }
                }
                // Written with the calls that they belong to; results without a call are left out.
                Message::Tool { .. } => {}
            }
        }
        list.end()
    }
}

impl Input<'_> {
    fn assistant<L: SerializeSeq>(&self, said: &AssistantMessage, list: &mut L) -> Result<(), L::Error> {
        if let Some(items) = self.own_items(said) {
            for item in items {
                list.serialize_element(&Raw(item.get()))?;
            }
            return Ok(());
        }
        if !said.content.is_empty() {
            let content = Words::Pieces(vec![Piece::OutputText { text: &said.content }]);
            list.serialize_element(&Item::Message { role: "assistant", content })?;
        }
        for call in &said.calls {
            list.serialize_element(&Item::Call {
                r#type: "function_call",
                call_id: wire_id(&call.id),
                name: &call.name,
                arguments: call.arguments.as_str(),
            })?;
        }
        Ok(())
    }

    /// The items as the model gave them, if this model gave them and the results will still find their calls.
    fn own_items<'m>(&self, said: &'m AssistantMessage) -> Option<Vec<&'m RawValue>> {
        let native = said.native.as_deref()?;
        let is_own = *native.wire == *WIRE && *native.model == *self.model;
        let keeps_ids = said.calls.iter().all(|call| call.provider_id.as_deref() == Some(&*call.id));
        // Arguments that could not be read are sent as `{}`, not as they came.
        let is_whole = said.calls.iter().all(|call| call.fault.is_none());
        (is_own && keeps_ids && is_whole).then(|| serde_json::from_str(&native.blocks).ok()).flatten()
    }
}

fn output<'a>(answer: &Answer<'a>) -> Item<'a> {
    let output = match answer.result {
        None => Words::Text(Cow::Borrowed(NO_RESULT)),
        Some(result) => words(&result.content),
    };
    Item::Output { r#type: "function_call_output", call_id: wire_id(&answer.call.id), output }
}

fn words(content: &Content) -> Words<'_> {
    match content {
        Content::Text(text) => Words::Text(Cow::Borrowed(text)),
        Content::Parts(parts) => Words::Pieces(parts.iter().map(piece).collect()),
    }
}

fn piece(part: &Part) -> Piece<'_> {
    match part {
        Part::Text { text } => Piece::InputText { text: Cow::Borrowed(text) },
        Part::Image { media_type, data } => Piece::InputImage { image_url: attachment::address(media_type, data) },
        Part::File { media_type, name, data } => match (attachment::text_of(media_type, data), data) {
            (Some(text), _) => Piece::InputText { text: attachment::quoted(name, &text).into() },
            (None, Data::Base64(_)) => {
                Piece::InputFile { filename: name, file_data: attachment::address(media_type, data) }
            }
            (None, Data::Url(file_url)) => Piece::FileAddress { file_url },
        },
    }
}

/// The id of a call, or a shorter one made from it.
fn wire_id(id: &str) -> Cow<'_, str> {
    if !id.is_empty() && id.len() <= LONGEST_ID {
        return Cow::Borrowed(id);
    }
    let mut made = String::from("call_");
    for byte in Sha256::digest(id.as_bytes()).iter().take(16) {
        // Writing into memory cannot fail.
        let _ = write!(made, "{byte:02x}");
    }
    Cow::Owned(made)
}
