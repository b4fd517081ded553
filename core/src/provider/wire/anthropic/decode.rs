//! Reads whole replies and their blocks.

use super::WIRE;
use crate::message::{Arguments, CallFault, ToolCall, Usage};
use crate::provider::wire::arguments;
use crate::provider::wire::failure::{Failure, describe, unusable};
use crate::provider::wire::lenient::Count;
use crate::provider::wire::raw::own_form;
use crate::provider::{ModelReply, ProviderError, StopReason};
use serde::Deserialize;
use serde_json::error::Category;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Reply<'a> {
    #[serde(default, borrow)]
    content: Option<Vec<&'a RawValue>>,
    #[serde(default)]
    stop_reason: Option<String>,
    #[serde(default, borrow)]
    stop_details: Option<&'a RawValue>,
    #[serde(default, borrow)]
    usage: Option<&'a RawValue>,
    #[serde(default, borrow)]
    error: Option<&'a RawValue>,
}

/// Reads a whole reply.
pub(super) fn decode(model: &str, body: &[u8]) -> Result<ModelReply, ProviderError> {
    let reply: Reply<'_> = serde_json::from_slice(body).map_err(|error| {
        unusable(None, format!("the reply is no message but {}", describe(body))).with_source(error)
    })?;
    if let Some(error) = reply.error.filter(|error| error.get() != "null") {
        return Err(told_error(error));
    }
    let blocks = reply.content.ok_or_else(|| unusable(None, "the reply has no content"))?;
    let mut reading = Reading::default();
    for block in blocks {
        reading.whole_block(block)?;
    }
    reading.stop = reply.stop_reason;
    reading.details(reply.stop_details);
    reading.count(reply.usage);
    Ok(reading.reply(model))
}

/// A block as it stands in a reply or at the start of a streamed block.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct WireBlock<'a> {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) text: Option<String>,
    pub(super) thinking: Option<String>,
    pub(super) signature: Option<String>,
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    #[serde(borrow)]
    pub(super) input: Option<&'a RawValue>,
}

impl<'a> WireBlock<'a> {
    /// A block of an unknown shape reads as an empty one: it is kept for the next request and means nothing else.
    pub(super) fn read(raw: &'a RawValue) -> Result<Self, ProviderError> {
        match serde_json::from_str(raw.get()) {
            Ok(block) => Ok(block),
            Err(error) if error.classify() == Category::Data => Ok(Self::default()),
            Err(error) => Err(unusable(None, format!("a block of the reply is broken: {error}")).with_source(error)),
        }
    }
}

/// What a reply has given so far, whole or streamed.
#[derive(Default)]
pub(super) struct Reading {
    pub(super) text: String,
    pub(super) thinking: String,
    calls: Vec<WireCall>,
    /// The blocks in the API's own form.
    blocks: Vec<String>,
    /// Some block must go back unchanged.
    keep: bool,
    pub(super) stop: Option<String>,
    refusal: Option<String>,
    usage: Usage,
}

struct WireCall {
    id: String,
    name: String,
    arguments: String,
}

impl Reading {
    fn whole_block(&mut self, raw: &RawValue) -> Result<(), ProviderError> {
        let block = WireBlock::read(raw)?;
        match block.kind.as_str() {
            "text" => {
                let text = block.text.unwrap_or_default();
                self.text.push_str(&text);
                self.keep_text(&text, raw.get().to_owned());
            }
            "thinking" => {
                self.thinking.push_str(&block.thinking.unwrap_or_default());
                self.keep_as_is(raw.get().to_owned());
            }
            "tool_use" => {
                let input = block.input.map_or("", RawValue::get);
                self.call(block.id, block.name, input.to_owned(), raw.get());
            }
            _ => self.keep_as_is(raw.get().to_owned()),
        }
        Ok(())
    }

    /// Takes a text block; blank ones cannot be sent back.
    pub(super) fn keep_text(&mut self, text: &str, raw: String) {
        if !text.trim().is_empty() {
            self.blocks.push(raw);
        }
    }

    /// Takes a block that has to go back unchanged.
    pub(super) fn keep_as_is(&mut self, raw: String) {
        self.keep = true;
        self.blocks.push(raw);
    }

    /// Takes a call. `raw` is its block, whose input is replaced by `arguments`.
    pub(super) fn call(&mut self, id: Option<String>, name: Option<String>, arguments: String, raw: &str) {
        let input = arguments::from_text(&arguments, false).unwrap_or_default();
        self.blocks.push(with_input(raw, input.as_str()));
        self.calls.push(WireCall { id: id.unwrap_or_default(), name: name.unwrap_or_default(), arguments });
    }

    /// Takes the details of a stop.
    pub(super) fn details(&mut self, raw: Option<&RawValue>) {
        #[derive(Deserialize)]
        struct Details {
            explanation: Option<String>,
        }
        if let Some(details) = raw.and_then(|raw| serde_json::from_str::<Option<Details>>(raw.get()).ok()).flatten() {
            self.refusal = details.explanation.or(self.refusal.take());
        }
    }

    /// Takes counts; of each the last one told counts.
    pub(super) fn count(&mut self, raw: Option<&RawValue>) {
        if let Some(counts) = raw.and_then(|raw| serde_json::from_str::<Option<Counts>>(raw.get()).ok()).flatten() {
            counts.update(&mut self.usage);
        }
    }

    /// The reply.
    pub(super) fn reply(self, model: &str) -> ModelReply {
        let stop = stop_reason(self.stop.as_deref(), !self.calls.is_empty());
        let cut = stop == StopReason::Length;
        let calls = self.calls.into_iter().map(|call| {
            let arguments = match arguments::from_text(&call.arguments, cut) {
                Ok(arguments) if cut && is_empty(&arguments) => Err(CallFault::Cut { raw: call.arguments.into() }),
                other => other,
            };
            ToolCall::from_wire(Some(&call.id), &call.name, arguments)
        });
        let native = (self.keep || stop == StopReason::Pause)
            .then(|| own_form(WIRE, model, format!("[{}]", self.blocks.join(","))))
            .flatten();
        ModelReply {
            text: self.text,
            thinking: Some(self.thinking).filter(|thinking| !thinking.is_empty()),
            calls: calls.collect(),
            stop,
            stop_raw: self.stop,
            refusal: self.refusal,
            usage: self.usage,
            native,
        }
    }
}

/// A full reply may cut a call before its first argument.
fn is_empty(arguments: &Arguments) -> bool {
    arguments.as_str().bytes().all(|byte| matches!(byte, b'{' | b'}') || byte.is_ascii_whitespace())
}

/// The block with its input replaced, every other member as it came.
pub(super) fn with_input(raw: &str, input: &str) -> String {
    let Ok(block) = raw.parse::<Arguments>() else { return raw.to_owned() };
    let members = block.members();
    let others = members.iter().filter(|(key, _)| key != "input").map(|(key, value)| (key.as_str(), value.get()));
    Arguments::from_members(others.chain([("input", input)])).as_str().to_owned()
}

fn stop_reason(raw: Option<&str>, calls: bool) -> StopReason {
    match raw {
        None | Some("end_turn" | "stop_sequence" | "tool_use") => {
            if calls {
                StopReason::ToolCalls
            } else {
                StopReason::Stop
            }
        }
        Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
        Some("pause_turn") => StopReason::Pause,
        Some("refusal") => StopReason::Refusal,
        Some(_) => StopReason::Other,
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Counts {
    input_tokens: Count,
    output_tokens: Count,
    cache_read_input_tokens: Count,
    cache_creation_input_tokens: Count,
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    thinking_tokens: Count,
}

impl Counts {
    fn update(self, usage: &mut Usage) {
        self.input_tokens.update(&mut usage.input_tokens);
        self.output_tokens.update(&mut usage.output_tokens);
        self.cache_read_input_tokens.update(&mut usage.cache_read_tokens);
        self.cache_creation_input_tokens.update(&mut usage.cache_write_tokens);
        self.output_tokens_details.unwrap_or_default().thinking_tokens.update(&mut usage.reasoning_tokens);
        usage.input_tokens_total = usage.input_tokens.map(|tokens| {
            let cached = [usage.cache_read_tokens, usage.cache_write_tokens];
            cached.into_iter().flatten().fold(tokens, u64::saturating_add)
        });
    }
}

/// The error that a 2xx body or a stream tells.
pub(super) fn told_error(error: &RawValue) -> ProviderError {
    let error = serde_json::from_str(error.get()).unwrap_or_default();
    Failure::from_value(&error).into_error(None, None)
}
