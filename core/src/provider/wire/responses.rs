//! OpenAI's Responses API.
//!
//! Nothing is stored at the provider: reasoning comes back encrypted and goes with the next request, directly before
//! what it led to. Server tools and background responses are not spoken.

use super::chat::dialect::is_reasoning;
use super::failure::{self, Failure, not_a_reply};
use super::lenient::{Count, Text};
use super::raw::Raw;
use super::turns::{Answer, NO_RESULT, answers};
use super::{Decoder, Wire, arguments, attachment, body};
use crate::message::{AssistantMessage, Content, Data, Message, Native, Part, ToolCall, Usage};
use crate::provider::{ModelReply, ModelRequest, ProviderError, StopReason, StreamPart, ToolChoice, ToolSpec};
use secrecy::SecretString;
use serde::ser::SerializeSeq;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

/// Name of this format in [`Native::wire`].
const NAME: &str = "openai-responses";
/// Most characters of a call id.
const LONGEST_ID: usize = 64;
/// Items that one reply may hold; far more than any model makes.
const MAX_ITEMS: usize = 4096;

/// The Responses API of one server and model.
pub(crate) struct Responses {
    url: String,
    key: Option<SecretString>,
    model: Arc<str>,
}

impl Responses {
    /// Speaks to the full address `url`.
    pub(crate) fn new(url: String, key: Option<SecretString>, model: &str) -> Self {
        Self { url, key, model: model.into() }
    }
}

impl Wire for Responses {
    type Decoder = ResponsesDecoder;

    fn url(&self, _stream: bool) -> String {
        self.url.clone()
    }

    fn headers(&self, _request: &ModelRequest) -> Vec<(&'static str, String)> {
        body::bearer(self.key.as_ref())
    }

    fn encode(&self, request: &ModelRequest, stream: bool) -> Result<Vec<u8>, ProviderError> {
        let options = &request.options;
        let reasons = is_reasoning(&self.model);
        let effort = match options.thinking_budget {
            0..1024 => None,
            1024..4096 => Some("low"),
            4096..16384 => Some("medium"),
            _ => Some("high"),
        };
        body::written(&Body {
            model: &self.model,
            instructions: &request.system,
            input: Input { model: &self.model, request },
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

    fn decode(&self, body: &[u8]) -> Result<ModelReply, ProviderError> {
        let response: Response<'_> = serde_json::from_slice(body).map_err(|error| not_a_reply(body, &error))?;
        if let Some(error) = response.failure() {
            return Err(error);
        }
        let Some(output) = &response.output else {
            return Err(failure::bare(body, "the reply holds no output"));
        };
        reply_of(&self.model, &response, output)
    }

    fn decoder(&self) -> ResponsesDecoder {
        ResponsesDecoder { model: Arc::clone(&self.model), items: Vec::new(), last: None }
    }

    fn decode_error(&self, status: u16, body: &[u8], retry_after: Option<Duration>) -> ProviderError {
        Failure::from_body(status, body).into_error(Some(status), retry_after)
    }
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
        let is_own = *native.wire == *NAME && *native.model == *self.model;
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

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(borrow, default)]
    status: Text<'a>,
    #[serde(borrow, default)]
    output: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default)]
    incomplete_details: Option<Incomplete<'a>>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
    #[serde(default)]
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Incomplete<'a> {
    #[serde(borrow, default)]
    reason: Text<'a>,
}

#[derive(Deserialize)]
struct Tokens {
    #[serde(default)]
    input_tokens: Count,
    #[serde(default)]
    output_tokens: Count,
    #[serde(default)]
    input_tokens_details: Option<InputDetails>,
    #[serde(default)]
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Deserialize)]
struct InputDetails {
    #[serde(default)]
    cached_tokens: Count,
    #[serde(default)]
    cache_write_tokens: Count,
}

#[derive(Deserialize)]
struct OutputDetails {
    #[serde(default)]
    reasoning_tokens: Count,
}

/// One item of the output; of each kind only its own fields are filled.
#[derive(Deserialize)]
struct OutputItem<'a> {
    #[serde(borrow, default)]
    r#type: Text<'a>,
    #[serde(borrow, default)]
    content: Option<Vec<Said<'a>>>,
    #[serde(borrow, default)]
    summary: Option<Vec<Said<'a>>>,
    #[serde(borrow, default)]
    encrypted_content: Text<'a>,
    #[serde(borrow, default)]
    call_id: Text<'a>,
    #[serde(borrow, default)]
    name: Text<'a>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Said<'a> {
    #[serde(borrow, default)]
    r#type: Text<'a>,
    #[serde(borrow, default)]
    text: Text<'a>,
    #[serde(borrow, default)]
    refusal: Text<'a>,
}

impl Response<'_> {
    /// The error that the response tells of, in whatever way.
    fn failure(&self) -> Option<ProviderError> {
        let is_failed = self.status.as_str() == "failed";
        self.error.and_then(failure::told).or_else(|| {
            let what = "the provider reports that the response failed, without a reason";
            is_failed.then(|| failure::unusable(None, what))
        })
    }
}

/// Puts the items of an output together.
fn reply_of(model: &str, response: &Response<'_>, items: &[&RawValue]) -> Result<ModelReply, ProviderError> {
    let reason = response.incomplete_details.as_ref().map(|details| details.reason.as_str()).unwrap_or_default();
    let mut reply = ModelReply {
        stop: match (response.status.as_str(), reason) {
            ("completed" | "", _) => StopReason::Stop,
            ("incomplete", "content_filter") => StopReason::ContentFilter,
            ("incomplete", _) => StopReason::Length,
            _ => StopReason::Other,
        },
        stop_raw: response.status.filled().map(str::to_owned),
        usage: response.usage.as_ref().map(usage_of).unwrap_or_default(),
        ..ModelReply::default()
    };
    let cut = reply.stop == StopReason::Length;
    let (mut thinking, mut refusal, mut encrypted) = (String::new(), String::new(), false);
    for item in items {
        let item: OutputItem<'_> = serde_json::from_str(item.get()).map_err(|error| {
            failure::unusable(None, format!("an item of the reply has another form than expected: {error}"))
        })?;
        match item.r#type.as_str() {
            "message" => {
                for said in item.content.iter().flatten() {
                    reply.text.push_str(said.text.as_str());
                    refusal.push_str(said.refusal.as_str());
                }
            }
            "function_call" => {
                let arguments = arguments::from_json(item.arguments, cut);
                reply.calls.push(ToolCall::from_wire(item.call_id.filled(), item.name.as_str(), arguments));
            }
            "reasoning" => {
                encrypted |= item.encrypted_content.filled().is_some();
                let shown = item.summary.iter().flatten().chain(item.content.iter().flatten());
                for said in shown.filter(|said| !said.r#type.as_str().contains("encrypted")) {
                    thinking.push_str(said.text.as_str());
                }
            }
            // Items of server tools and of later versions.
            _ => {}
        }
    }
    if reply.stop == StopReason::Stop {
        if !reply.calls.is_empty() {
            reply.stop = StopReason::ToolCalls;
        } else if !refusal.is_empty() {
            reply.stop = StopReason::Refusal;
        }
    }
    reply.thinking = Some(thinking).filter(|thinking| !thinking.is_empty());
    reply.refusal = Some(refusal).filter(|refusal| !refusal.is_empty());
    // Reasoning that is not here cannot be sent back, for nothing is stored there. A cut call cannot either.
    if encrypted && !cut {
        let blocks: Vec<&str> = items.iter().map(|item| item.get()).collect();
        let blocks = format!("[{}]", blocks.join(",")).into();
        reply.native = Some(Box::new(Native { wire: NAME.into(), model: model.into(), blocks }));
    }
    Ok(reply)
}

fn usage_of(tokens: &Tokens) -> Usage {
    let input = tokens.input_tokens_details.as_ref();
    Usage {
        input_tokens: tokens.input_tokens.0,
        output_tokens: tokens.output_tokens.0,
        cache_read_tokens: input.and_then(|details| details.cached_tokens.0),
        cache_write_tokens: input.and_then(|details| details.cache_write_tokens.0),
        reasoning_tokens: tokens.output_tokens_details.as_ref().and_then(|details| details.reasoning_tokens.0),
        input_tokens_total: tokens.input_tokens.0,
    }
}

/// Reads one stream of response events.
pub(crate) struct ResponsesDecoder {
    model: Arc<str>,
    /// Finished items, kept because the final object may leave them out.
    items: Vec<Box<RawValue>>,
    /// The final object.
    last: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, default)]
    r#type: Text<'a>,
    #[serde(borrow, default)]
    delta: Text<'a>,
    #[serde(borrow, default)]
    item: Option<&'a RawValue>,
    #[serde(borrow, default)]
    response: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

impl Decoder for ResponsesDecoder {
    fn event(&mut self, name: &str, data: &str, parts: &mut Vec<StreamPart>) -> Result<(), ProviderError> {
        if matches!(data.trim(), "" | "[DONE]") {
            return Ok(());
        }
        let event: Event<'_> = serde_json::from_str(data).map_err(|error| not_a_reply(data.as_bytes(), &error))?;
        match event.r#type.filled().unwrap_or(name) {
            "response.output_text.delta" => {
                if let Some(text) = event.delta.filled() {
                    parts.push(StreamPart::Text(text.to_owned()));
                }
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                if let Some(text) = event.delta.filled() {
                    parts.push(StreamPart::Thinking(text.to_owned()));
                }
            }
            "response.output_item.done" => {
                if self.items.len() >= MAX_ITEMS {
                    return Err(failure::too_many(MAX_ITEMS, "items"));
                }
                self.items.extend(event.item.map(ToOwned::to_owned));
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.last = event.response.map(ToOwned::to_owned);
            }
            "error" => {
                let value = serde_json::from_str::<Value>(data).unwrap_or_default();
                return Err(Failure::from_value(&value).into_error(None, None));
            }
            // Events of progress, of server tools and of later versions.
            _ => {
                if let Some(error) = event.error.and_then(failure::told) {
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<ModelReply, ProviderError> {
        let Some(last) = &self.last else { return Err(failure::broken_stream()) };
        let response: Response<'_> =
            serde_json::from_str(last.get()).map_err(|error| not_a_reply(last.get().as_bytes(), &error))?;
        if let Some(error) = response.failure() {
            return Err(error);
        }
        let in_last = response.output.as_deref().unwrap_or_default();
        let finished: Vec<&RawValue> = self.items.iter().map(AsRef::as_ref).collect();
        reply_of(&self.model, &response, if in_last.len() > finished.len() { in_last } else { &finished })
    }

    fn is_done(&self) -> bool {
        self.last.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Outcome, ToolResult};
    use crate::provider::{ModelOptions, ProviderErrorKind};
    use serde_json::json;

    fn wire(model: &str) -> Responses {
        Responses::new("http://x/v1/responses".into(), None, model)
    }

    fn request(messages: Vec<Message>) -> ModelRequest {
        let schema = RawValue::from_string(r#"{"type":"object"}"#.into()).unwrap();
        ModelRequest {
            system: "Be kind.".into(),
            messages: Arc::new(messages),
            tools: Arc::from([ToolSpec { name: "look".into(), description: "Looks.".into(), schema: schema.into() }]),
            tool_choice: ToolChoice::Tool { name: "look".into() },
            options: Arc::new(ModelOptions { thinking_budget: 20_000, temperature: Some(1.0), ..Default::default() }),
        }
    }

    fn sent(wire: &Responses, request: &ModelRequest) -> Value {
        serde_json::from_slice(&wire.encode(request, false).unwrap()).unwrap()
    }

    fn turn(id: &str, provider_id: Option<&str>, native: Option<Box<Native>>) -> Vec<Message> {
        let arguments = Ok(r#"{"a":1}"#.parse().unwrap());
        let call = ToolCall { id: id.into(), ..ToolCall::from_wire(provider_id, "look", arguments) };
        let result = ToolResult {
            call_id: id.into(),
            name: "look".into(),
            content: Content::Parts(vec![
                Part::text("see"),
                Part::Image { media_type: "image/png".into(), data: Data::Base64("AAAA".into()) },
            ]),
            outcome: Outcome::Ok,
        };
        vec![
            Message::user("go"),
            Message::Assistant(AssistantMessage { content: "Plan.".into(), calls: vec![call], native }),
            Message::Tool { results: vec![result] },
        ]
    }

    const ITEMS: &str = r#"[{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Hm."}],
        "encrypted_content":"xyz"},{"type":"message","content":[{"type":"output_text","text":"Plan."}]},
        {"type":"function_call","id":"fc_1","call_id":"call_1","name":"look","arguments":"{\"a\":1}"}]"#;

    #[test]
    fn writes_items() {
        let body = sent(&wire("gpt-5"), &request(turn("call_1", None, None)));
        assert_eq!(
            body,
            json!({
                "model": "gpt-5",
                "instructions": "Be kind.",
                "input": [
                    {"role": "user", "content": "go"},
                    {"role": "assistant", "content": [{"type": "output_text", "text": "Plan."}]},
                    {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": "{\"a\":1}"},
                    {"type": "function_call_output", "call_id": "call_1", "output": [
                        {"type": "input_text", "text": "see"},
                        {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}]},
                ],
                "reasoning": {"effort": "high", "summary": "auto"},
                "include": ["reasoning.encrypted_content"],
                "store": false,
                "tools": [{"type": "function", "name": "look", "description": "Looks.",
                    "parameters": {"type": "object"}, "strict": false}],
                "tool_choice": {"type": "function", "name": "look"},
            })
        );
        let plain = sent(&wire("gpt-4o"), &request(vec![]));
        assert_eq!((&plain["reasoning"], &plain["include"]), (&Value::Null, &Value::Null));
        assert_eq!(plain["temperature"], 1.0);
    }

    #[test]
    fn reasoning_goes_back_before_what_it_led_to() {
        let text = format!(
            r#"{{"status":"completed","output":{ITEMS},"usage":{{"input_tokens":5,"output_tokens":6,
                "input_tokens_details":{{"cached_tokens":2}},"output_tokens_details":{{"reasoning_tokens":3}}}}}}"#
        );
        let reply = wire("gpt-5").decode(text.as_bytes()).unwrap();
        assert_eq!((reply.text.as_str(), reply.thinking.as_deref()), ("Plan.", Some("Hm.")));
        assert_eq!((reply.stop, reply.stop_raw.as_deref()), (StopReason::ToolCalls, Some("completed")));
        assert_eq!(reply.calls[0].provider_id.as_deref(), Some("call_1"));
        assert_eq!(reply.usage.cache_read_tokens, Some(2));
        assert_eq!(reply.usage.cache_write_tokens, None);

        let items: Value = serde_json::from_str(ITEMS).unwrap();
        let own = sent(&wire("gpt-5"), &request(turn("call_1", Some("call_1"), reply.native.clone())));
        assert_eq!(own["input"].as_array().unwrap()[1..4], items.as_array().unwrap()[..]);
        // Another model, or a call that got another id, does not get it.
        let other = sent(&wire("gpt-5.1"), &request(turn("call_1", Some("call_1"), reply.native.clone())));
        assert_eq!(other["input"][2]["type"], "function_call");
        let renamed = sent(&wire("gpt-5"), &request(turn("c7", Some("call_1"), reply.native)));
        assert_eq!((&renamed["input"][2]["call_id"], &renamed["input"][3]["call_id"]), (&json!("c7"), &json!("c7")));
    }

    #[test]
    fn reasoning_that_is_not_here_is_left_out() {
        let body = br#"{"status":"completed","output":[{"type":"reasoning","id":"rs_1","summary":[]},
            {"type":"message","content":[{"type":"refusal","refusal":"No."}]}]}"#;
        let reply = wire("gpt-5").decode(body).unwrap();
        assert_eq!((reply.native, reply.stop, reply.refusal.as_deref()), (None, StopReason::Refusal, Some("No.")));
    }

    fn stream(events: &[(&str, Value)]) -> (Vec<StreamPart>, Result<ModelReply, ProviderError>) {
        let mut decoder = wire("gpt-5").decoder();
        let mut parts = Vec::new();
        for (kind, more) in events {
            let mut event = more.clone();
            event["type"] = (*kind).into();
            if let Err(error) = decoder.event(kind, &event.to_string(), &mut parts) {
                return (parts, Err(error));
            }
        }
        (parts, decoder.finish())
    }

    #[test]
    fn streams_text_and_keeps_finished_items() {
        let item = json!({"item": {"type": "function_call", "call_id": "c", "name": "look", "arguments": ""}});
        let (parts, reply) = stream(&[
            ("response.created", json!({"response": {"status": "in_progress", "output": []}})),
            ("response.reasoning_summary_text.delta", json!({"delta": "Hm."})),
            ("response.output_text.delta", json!({"delta": "Hi"})),
            ("response.brand_new", json!({"delta": {"x": 1}})),
            ("response.output_item.done", json!({"item": {"type": "message", "content": [{"text": "Hi"}]}})),
            ("response.output_item.done", item),
            ("response.completed", json!({"response": {"status": "completed"}})),
        ]);
        let reply = reply.unwrap();
        assert_eq!(parts, [StreamPart::Thinking("Hm.".into()), StreamPart::Text("Hi".into())]);
        assert_eq!((reply.text.as_str(), reply.calls.len(), reply.stop), ("Hi", 1, StopReason::ToolCalls));
        let only_last = json!({"response": {"status": "incomplete", "incomplete_details": {"reason": "content_filter"},
            "output": [{"type": "message", "content": [{"text": "Hi"}]}]}});
        let reply = stream(&[("response.incomplete", only_last)]).1.unwrap();
        assert_eq!((reply.text.as_str(), reply.stop), ("Hi", StopReason::ContentFilter));
    }

    #[test]
    fn tells_errors_apart() {
        let text = ("response.output_text.delta", json!({"delta": "Hi"}));
        assert_eq!(stream(std::slice::from_ref(&text)).1.unwrap_err().kind, ProviderErrorKind::Server);
        let limited = json!({"error": {"code": "rate_limit_exceeded", "message": "Try again in 2s."}});
        let error = stream(&[text.clone(), ("error", limited)]).1.unwrap_err();
        assert_eq!((error.kind, error.retry_after), (ProviderErrorKind::RateLimit, Some(Duration::from_secs(2))));
        let flat = json!({"code": "server_error", "message": "Sorry."});
        assert_eq!(stream(&[("error", flat)]).1.unwrap_err().message, "Sorry.");
        let failed = json!({"response": {"status": "failed", "error": {"code": "server_error", "message": "Sorry."}}});
        assert_eq!(stream(&[text, ("response.failed", failed)]).1.unwrap_err().message, "Sorry.");
        for body in ["", "{}", "[]", r#"{"status":"failed"}"#, r#"{"error":{"message":"x"}}"#] {
            assert_eq!(wire("m").decode(body.as_bytes()).unwrap_err().kind, ProviderErrorKind::Server, "{body}");
        }
    }
}
