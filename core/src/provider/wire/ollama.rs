//! Ollama's own chat API: one JSON value a line, arguments as objects, results by tool name.
//!
//! The compatible side of Ollama is a dialect of [`chat`](super::chat).

use super::chat::Tools;
use super::failure::{self, Failure, not_a_reply};
use super::lenient::{Count, Text};
use super::raw::Raw;
use super::turns::{Answer, NO_RESULT, answers};
use super::{Decoder, Framing, MAX_CALLS, Wire, arguments, attachment, body};
use crate::message::{AssistantMessage, Content, Data, Message, Native, Part, ToolCall, Usage};
use crate::provider::{ModelReply, ModelRequest, ProviderError, StopReason, StreamPart, ToolChoice};
use secrecy::SecretString;
use serde::ser::{Error as _, SerializeSeq};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// Name of this format in [`Native::wire`].
const NAME: &str = "ollama-chat";
/// Budgets below this are off.
const LEAST_BUDGET: u32 = 1024;

/// Ollama's own API of one server and model.
pub(crate) struct Ollama {
    url: String,
    key: Option<SecretString>,
    model: Arc<str>,
}

impl Ollama {
    /// Speaks to the full address `url`; a key is for Ollama's cloud only.
    pub(crate) fn new(url: String, key: Option<SecretString>, model: &str) -> Self {
        Self { url, key, model: model.into() }
    }
}

impl Wire for Ollama {
    type Decoder = OllamaDecoder;

    fn url(&self, _stream: bool) -> String {
        self.url.clone()
    }

    fn headers(&self, _request: &ModelRequest) -> Vec<(&'static str, String)> {
        body::bearer(self.key.as_ref())
    }

    fn encode(&self, request: &ModelRequest, stream: bool) -> Result<Vec<u8>, ProviderError> {
        let options = &request.options;
        // There is no tool choice here: a tool that may not be called is not listed.
        let tools = if request.tool_choice == ToolChoice::None { &[] } else { &*request.tools };
        body::written(&Body {
            model: &self.model,
            messages: Messages { model: &self.model, request },
            // Left out it would mean true.
            stream,
            think: (options.thinking_budget >= LEAST_BUDGET).then_some(true),
            tools: Tools(tools),
            options: Options { num_predict: options.max_tokens, temperature: options.temperature },
        })
    }

    fn decode(&self, body: &[u8]) -> Result<ModelReply, ProviderError> {
        let line: Line<'_> = serde_json::from_slice(body).map_err(|error| not_a_reply(body, &error))?;
        let is_reply = line.message.is_some();
        let mut draft = Draft::default();
        draft.add(line, &mut Vec::new())?;
        if !is_reply {
            return Err(failure::unusable(None, "the reply holds no message"));
        }
        Ok(draft.reply(&self.model))
    }

    fn decoder(&self) -> OllamaDecoder {
        OllamaDecoder { model: Arc::clone(&self.model), draft: Draft::default() }
    }

    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn decode_error(&self, status: u16, body: &[u8], retry_after: Option<Duration>) -> ProviderError {
        Failure::from_body(status, body).into_error(Some(status), retry_after)
    }
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Messages<'a>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    think: Option<bool>,
    #[serde(skip_serializing_if = "Tools::is_empty")]
    tools: Tools<'a>,
    #[serde(skip_serializing_if = "Options::is_empty")]
    options: Options,
}

#[derive(Serialize)]
struct Options {
    #[serde(skip_serializing_if = "Option::is_none")]
    num_predict: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
}

impl Options {
    fn is_empty(&self) -> bool {
        self.num_predict.is_none() && self.temperature.is_none()
    }
}

struct Messages<'a> {
    model: &'a str,
    request: &'a ModelRequest,
}

#[derive(Default, Serialize)]
struct Sent<'a> {
    role: &'static str,
    content: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    images: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<SentCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<&'a str>,
}

#[derive(Serialize)]
struct SentCall<'a> {
    function: SentFunction<'a>,
}

#[derive(Serialize)]
struct SentFunction<'a> {
    name: &'a str,
    arguments: Raw<'a>,
}

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        let system: &str = &self.request.system;
        if !system.is_empty() {
            list.serialize_element(&Sent { role: "system", content: system.into(), ..Sent::default() })?;
        }
        for (place, message) in self.request.messages.iter().enumerate() {
            match message {
                Message::System { content } if content.trim().is_empty() => {}
                Message::System { content } => {
                    let content = Cow::Borrowed(&**content);
                    list.serialize_element(&Sent { role: "system", content, ..Sent::default() })?;
                }
                Message::User { content } => {
                    let (content, images) = split(content).map_err(S::Error::custom)?;
                    list.serialize_element(&Sent { role: "user", content, images, ..Sent::default() })?;
                }
                Message::Assistant(said) => {
                    if !said.content.is_empty() || !said.calls.is_empty() {
                        list.serialize_element(&self.assistant(said))?;
                    }
                    let after = self.request.messages.get(place + 1..).unwrap_or_default();
                    for answer in answers(&said.calls, after) {
                        list.serialize_element(&result(&answer))?;
                    }
                }
                // Written with the calls that they belong to; results without a call are left out.
                Message::Tool { .. } => {}
            }
        }
        list.end()
    }
}

impl Messages<'_> {
    fn assistant<'m>(&self, said: &'m AssistantMessage) -> Sent<'m> {
        let native = said.native.as_deref().filter(|native| *native.wire == *NAME && *native.model == *self.model);
        let call = |call: &'m ToolCall| SentCall {
            function: SentFunction { name: &call.name, arguments: Raw(call.arguments.as_str()) },
        };
        Sent {
            role: "assistant",
            content: Cow::Borrowed(&said.content),
            thinking: native.and_then(|native| serde_json::from_str(&native.blocks).ok()),
            tool_calls: said.calls.iter().map(call).collect(),
            ..Sent::default()
        }
    }
}

fn result<'a>(answer: &Answer<'a>) -> Sent<'a> {
    let (content, images) = match answer.result {
        None => (Cow::Borrowed(NO_RESULT), Vec::new()),
        Some(result) => shown(&result.content),
    };
    Sent { role: "tool", content, images, tool_name: Some(&answer.call.name), ..Sent::default() }
}

/// The text and the images of a result, with a note for what cannot be sent.
fn shown(content: &Content) -> (Cow<'_, str>, Vec<&str>) {
    let parts = match content {
        Content::Text(text) => return (Cow::Borrowed(text), Vec::new()),
        Content::Parts(parts) => parts,
    };
    let (mut text, mut images) = (String::new(), Vec::new());
    for part in parts {
        if add(part, &mut text, &mut images).is_err() {
            text.push_str(attachment::LEFT_OUT);
        }
    }
    (Cow::Owned(text), images)
}

/// The text of a content and the bytes of its images.
fn split(content: &Content) -> Result<(Cow<'_, str>, Vec<&str>), String> {
    let parts = match content {
        Content::Text(text) => return Ok((Cow::Borrowed(text), Vec::new())),
        Content::Parts(parts) => parts,
    };
    let (mut text, mut images) = (String::new(), Vec::new());
    for part in parts {
        add(part, &mut text, &mut images)?;
    }
    Ok((Cow::Owned(text), images))
}

fn add<'a>(part: &'a Part, text: &mut String, images: &mut Vec<&'a str>) -> Result<(), String> {
    match part {
        Part::Text { text: more } => text.push_str(more),
        Part::Image { data: Data::Base64(bytes), .. } => images.push(bytes),
        Part::Image { data: Data::Url(_), .. } => {
            return Err("ollama fetches no images; send the bytes as base64".to_owned());
        }
        Part::File { media_type, name, data } => match attachment::text_of(media_type, data) {
            Some(file) => text.push_str(&attachment::quoted(name, &file)),
            None => return Err(format!("ollama takes no files of type {media_type}; send their text")),
        },
    }
    Ok(())
}

/// A whole reply, or one line of a stream.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, default)]
    message: Option<Said<'a>>,
    #[serde(default)]
    done: bool,
    #[serde(borrow, default)]
    done_reason: Text<'a>,
    #[serde(default)]
    prompt_eval_count: Count,
    #[serde(default)]
    eval_count: Count,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Said<'a> {
    #[serde(borrow, default)]
    content: Text<'a>,
    #[serde(borrow, default)]
    thinking: Text<'a>,
    #[serde(borrow, default)]
    tool_calls: Option<Vec<Call<'a>>>,
}

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow, default)]
    id: Text<'a>,
    #[serde(borrow, default)]
    function: Option<Function<'a>>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(borrow, default)]
    id: Text<'a>,
    #[serde(borrow, default)]
    name: Text<'a>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

/// A reply that is being put together.
#[derive(Default)]
struct Draft {
    text: String,
    thinking: String,
    calls: Vec<DraftCall>,
    usage: Usage,
    stop_raw: String,
    is_done: bool,
}

struct DraftCall {
    id: String,
    name: String,
    /// JSON of the arguments, empty when there were none.
    arguments: Option<Box<RawValue>>,
}

impl Draft {
    fn add(&mut self, line: Line<'_>, parts: &mut Vec<StreamPart>) -> Result<(), ProviderError> {
        if let Some(error) = line.error.and_then(failure::told) {
            return Err(error);
        }
        line.prompt_eval_count.update(&mut self.usage.input_tokens);
        line.prompt_eval_count.update(&mut self.usage.input_tokens_total);
        line.eval_count.update(&mut self.usage.output_tokens);
        if let Some(reason) = line.done_reason.filled() {
            reason.clone_into(&mut self.stop_raw);
        }
        self.is_done |= line.done;
        let Some(said) = line.message else { return Ok(()) };
        if let Some(thinking) = said.thinking.filled() {
            self.thinking.push_str(thinking);
            parts.push(StreamPart::Thinking(thinking.to_owned()));
        }
        if let Some(text) = said.content.filled() {
            self.text.push_str(text);
            parts.push(StreamPart::Text(text.to_owned()));
        }
        for call in said.tool_calls.into_iter().flatten() {
            let Some(function) = call.function else { continue };
            if self.calls.len() >= MAX_CALLS {
                return Err(failure::too_many(MAX_CALLS, "tool calls"));
            }
            self.calls.push(DraftCall {
                id: call.id.filled().unwrap_or(function.id.as_str()).to_owned(),
                name: function.name.as_str().to_owned(),
                arguments: function.arguments.map(ToOwned::to_owned),
            });
        }
        Ok(())
    }

    fn reply(self, model: &str) -> ModelReply {
        let stop = match (self.stop_raw.as_str(), self.calls.is_empty()) {
            ("length", _) => StopReason::Length,
            ("stop" | "", true) => StopReason::Stop,
            ("stop" | "" | "tool_calls", false) => StopReason::ToolCalls,
            _ => StopReason::Other,
        };
        let calls: Vec<ToolCall> = self
            .calls
            .iter()
            .map(|call| {
                let arguments = arguments::from_json(call.arguments.as_deref(), stop == StopReason::Length);
                ToolCall::from_wire(Some(&call.id), &call.name, arguments)
            })
            .collect();
        // Models that think in a tool loop go on from their earlier thoughts.
        let native = (!calls.is_empty() && !self.thinking.is_empty()).then(|| {
            let blocks = Value::String(self.thinking.clone()).to_string().into();
            Box::new(Native { wire: NAME.into(), model: model.into(), blocks })
        });
        ModelReply {
            text: self.text,
            thinking: Some(self.thinking).filter(|thinking| !thinking.is_empty()),
            calls,
            stop,
            stop_raw: Some(self.stop_raw).filter(|raw| !raw.is_empty()),
            refusal: None,
            usage: self.usage,
            native,
        }
    }
}

/// Reads one stream of lines.
pub(crate) struct OllamaDecoder {
    model: Arc<str>,
    draft: Draft,
}

impl Decoder for OllamaDecoder {
    fn event(&mut self, _name: &str, data: &str, parts: &mut Vec<StreamPart>) -> Result<(), ProviderError> {
        let line: Line<'_> = serde_json::from_str(data).map_err(|error| not_a_reply(data.as_bytes(), &error))?;
        self.draft.add(line, parts)
    }

    fn finish(self) -> Result<ModelReply, ProviderError> {
        if !self.draft.is_done {
            return Err(failure::broken_stream());
        }
        Ok(self.draft.reply(&self.model))
    }

    fn is_done(&self) -> bool {
        self.draft.is_done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{CallFault, Outcome, ToolResult};
    use crate::provider::wire::sample;
    use crate::provider::{ModelOptions, ProviderErrorKind, ToolSpec};
    use serde_json::json;

    fn wire() -> Ollama {
        Ollama::new("http://x/api/chat".into(), None, "qwen3:4b")
    }

    fn stream(lines: &[&str]) -> (Vec<StreamPart>, Result<ModelReply, ProviderError>) {
        sample::stream(wire().decoder(), lines.iter().map(|line| (String::new(), (*line).to_owned())))
    }

    #[test]
    fn writes_arguments_as_objects_and_results_by_name() {
        let arguments = Ok(r#"{"n":123456789012345678901234567890}"#.parse().unwrap());
        let call = ToolCall { id: "a".into(), ..ToolCall::from_wire(None, "look", arguments) };
        let schema = RawValue::from_string(r#"{"type":"object"}"#.into()).unwrap();
        let native = Native { wire: NAME.into(), model: "qwen3:4b".into(), blocks: "\"Hm.\"".into() };
        let mut request = ModelRequest {
            system: "Be kind.".into(),
            messages: Arc::new(vec![
                Message::User {
                    content: Content::Parts(vec![
                        Part::text("see"),
                        Part::Image { media_type: "image/png".into(), data: Data::Base64("AAAA".into()) },
                    ]),
                },
                Message::Assistant(AssistantMessage {
                    content: "".into(),
                    calls: vec![call],
                    native: Some(Box::new(native)),
                }),
                Message::Tool {
                    results: vec![ToolResult {
                        call_id: "a".into(),
                        name: "look".into(),
                        content: "1".into(),
                        outcome: Outcome::Ok,
                    }],
                },
            ]),
            tools: Arc::from([ToolSpec { name: "look".into(), description: "Looks.".into(), schema: schema.into() }]),
            tool_choice: ToolChoice::Auto,
            options: Arc::new(ModelOptions { max_tokens: Some(9), thinking_budget: 2000, ..Default::default() }),
        };
        let text = String::from_utf8(wire().encode(&request, false).unwrap()).unwrap();
        assert!(text.contains(r#""arguments":{"n":123456789012345678901234567890}"#), "{text}");
        let body: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(body["messages"][1], json!({"role": "user", "content": "see", "images": ["AAAA"]}));
        assert_eq!(body["messages"][2]["thinking"], "Hm.");
        assert_eq!(body["messages"][3], json!({"role": "tool", "content": "1", "tool_name": "look"}));
        assert_eq!(body["options"], json!({"num_predict": 9}));
        assert_eq!((&body["stream"], &body["think"]), (&json!(false), &json!(true)));
        assert_eq!(body["tools"][0]["function"]["name"], "look");
        request.tool_choice = ToolChoice::None;
        let body: Value = serde_json::from_slice(&wire().encode(&request, true).unwrap()).unwrap();
        assert_eq!((&body["stream"], &body["tools"]), (&json!(true), &Value::Null));
    }

    #[test]
    fn reads_lines() {
        let (parts, reply) = stream(&[
            r#"{"message":{"content":"","thinking":"Hm."},"done":false}"#,
            r#"{"message":{"content":"Hi"},"done":false}"#,
            r#"{"message":{"content":"","tool_calls":[{"function":{"name":"a","arguments":{"x":1}}},
                {"id":"7","function":{"name":"b"}}]},"done":false}"#,
            r#"{"message":{"content":""},"done":true,"done_reason":"stop","prompt_eval_count":5}"#,
        ]);
        let reply = reply.unwrap();
        assert_eq!(parts, [StreamPart::Thinking("Hm.".into()), StreamPart::Text("Hi".into())]);
        assert_eq!((reply.stop, reply.stop_raw.as_deref()), (StopReason::ToolCalls, Some("stop")));
        assert_eq!((reply.usage.input_tokens, reply.usage.output_tokens), (Some(5), None));
        assert_eq!((reply.calls[0].provider_id.as_deref(), reply.calls[1].provider_id.as_deref()), (None, Some("7")));
        assert_eq!(reply.calls[0].arguments.as_str(), r#"{"x":1}"#);
    }

    #[test]
    fn tells_errors_apart() {
        let text = r#"{"message":{"content":"So"},"done":false}"#;
        let (parts, reply) = stream(&[text, r#"{"error":"unexpected EOF"}"#]);
        assert_eq!(parts.len(), 1);
        assert_eq!(reply.unwrap_err().message, "unexpected EOF");
        assert_eq!(stream(&[text]).1.unwrap_err().kind, ProviderErrorKind::Server);
        assert!(wire().decode(b"{}").is_err());
        assert!(wire().decode(b"").is_err());
        let cut = r#"{"message":{"tool_calls":[{"function":{"name":"a"}}]},"done":true,"done_reason":"length"}"#;
        let reply = wire().decode(cut.as_bytes()).unwrap();
        assert_eq!(reply.calls[0].fault.as_deref(), Some(&CallFault::Cut { raw: "".into() }));
    }
}
