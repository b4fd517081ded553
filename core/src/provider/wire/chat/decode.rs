//! What a chat completion holds, whole or in chunks, and how it becomes a reply.

use super::dialect::{Dialect, Replay};
use crate::message::{Native, ToolCall, Usage};
use crate::provider::wire::lenient::{Count, Rare, Text, skip_map};
use crate::provider::wire::{MAX_CALLS, arguments, failure};
use crate::provider::{ModelReply, ProviderError, StopReason};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A whole reply, or one chunk of a stream.
#[derive(Deserialize)]
pub(super) struct Completion<'a> {
    #[serde(borrow, default)]
    choices: Choices<'a>,
    #[serde(default)]
    usage: Option<Box<Tokens>>,
    #[serde(default)]
    x_groq: Option<Box<GroqExtra>>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

/// The choices of a reply. There is nearly always one, which is kept without a list: a stream has thousands of them.
#[derive(Default)]
struct Choices<'a> {
    first: Option<Choice<'a>>,
    more: Vec<Choice<'a>>,
}

struct Choice<'a> {
    index: Count,
    /// The delta, or else the message.
    piece: Option<(Form, Piece<'a>)>,
    finish_reason: Rare<'a>,
}

/// The message, or a part of it. Most of it is empty in nearly every chunk and kept small: a chunk is moved more often
/// than it is read.
#[derive(Default, Deserialize)]
struct Piece<'a> {
    #[serde(borrow, default)]
    content: Words<'a>,
    #[serde(borrow, default)]
    reasoning_content: Rare<'a>,
    #[serde(borrow, default)]
    reasoning: Rare<'a>,
    #[serde(borrow, default)]
    reasoning_details: Option<Box<[&'a RawValue]>>,
    #[serde(borrow, default)]
    refusal: Rare<'a>,
    #[serde(borrow, default)]
    tool_calls: Option<Box<[CallPiece<'a>]>>,
    #[serde(borrow, default)]
    function_call: Option<Box<Function<'a>>>,
}

#[derive(Default, Deserialize)]
struct CallPiece<'a> {
    #[serde(default)]
    index: Count,
    #[serde(borrow, default)]
    id: Text<'a>,
    #[serde(borrow, default)]
    function: Option<Function<'a>>,
}

#[derive(Default, Deserialize)]
struct Function<'a> {
    #[serde(borrow, default)]
    name: Text<'a>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct Tokens {
    #[serde(default)]
    prompt_tokens: Count,
    #[serde(default)]
    completion_tokens: Count,
    #[serde(default)]
    prompt_cache_hit_tokens: Count,
    #[serde(default)]
    prompt_tokens_details: Option<PromptDetails>,
    #[serde(default)]
    completion_tokens_details: Option<CompletionDetails>,
}

#[derive(Default, Deserialize)]
struct PromptDetails {
    #[serde(default)]
    cached_tokens: Count,
    #[serde(default)]
    cache_write_tokens: Count,
}

#[derive(Default, Deserialize)]
struct CompletionDetails {
    #[serde(default)]
    reasoning_tokens: Count,
}

#[derive(Deserialize)]
struct GroqExtra {
    #[serde(default)]
    usage: Option<Box<Tokens>>,
}

/// Content: a string, or a list of text and thinking chunks.
#[derive(Default)]
enum Words<'a> {
    #[default]
    Nothing,
    Text(Cow<'a, str>),
    Chunks(Vec<Chunk<'a>>),
}

#[derive(Default, Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default)]
    text: Text<'a>,
    #[serde(borrow, default)]
    thinking: Option<Vec<ThoughtChunk<'a>>>,
}

#[derive(Deserialize)]
struct ThoughtChunk<'a> {
    #[serde(borrow, default)]
    text: Text<'a>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Words<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Words<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("text or a list of chunks")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Words::Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Words::Text(Cow::Owned(text.to_owned())))
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Words::Nothing)
            }
            fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
                Ok(Words::Nothing)
            }
            fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
                Ok(Words::Text(Cow::Owned(number.to_string())))
            }
            fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
                Ok(Words::Text(Cow::Owned(number.to_string())))
            }
            fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
                Ok(Words::Text(Cow::Owned(number.to_string())))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                skip_map(map).map(|()| Words::Nothing)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut chunks = Vec::new();
                while let Some(chunk) = list.next_element()? {
                    chunks.push(chunk);
                }
                Ok(Words::Chunks(chunks))
            }
        }
        deserializer.deserialize_any(Read)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Choices<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Choices<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list of choices")
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Choices::default())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut choices = Choices { first: list.next_element()?, more: Vec::new() };
                while let Some(choice) = list.next_element()? {
                    choices.more.push(choice);
                }
                Ok(choices)
            }
        }
        deserializer.deserialize_any(Read)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Choice<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(field_identifier, rename_all = "snake_case")]
        enum Field {
            Index,
            Message,
            Delta,
            FinishReason,
            #[serde(other)]
            Unknown,
        }
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Choice<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a choice")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut choice = Choice { index: Count::default(), piece: None, finish_reason: Rare::default() };
                while let Some(field) = map.next_key()? {
                    match field {
                        Field::Index => choice.index = map.next_value()?,
                        Field::FinishReason => choice.finish_reason = map.next_value()?,
                        Field::Delta => {
                            if let Some(piece) = map.next_value()? {
                                choice.piece = Some((Form::Delta, piece));
                            }
                        }
                        Field::Message => {
                            if let (Some(piece), None) = (map.next_value()?, &choice.piece) {
                                choice.piece = Some((Form::Whole, piece));
                            }
                        }
                        Field::Unknown => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(choice)
            }
        }
        deserializer.deserialize_map(Read)
    }
}

/// How the calls of a piece are to be read.
#[derive(Clone, Copy)]
enum Form {
    /// Parts of calls, to be put together.
    Delta,
    /// Each a call of its own.
    Whole,
}

/// Where text goes as it arrives.
pub(super) trait Reader {
    fn text(&mut self, piece: &str);
    fn thinking(&mut self, piece: &str);
}

/// For a whole reply nobody waits.
impl Reader for () {
    fn text(&mut self, _: &str) {}
    fn thinking(&mut self, _: &str) {}
}

/// A reply that is being put together.
pub(super) struct Draft {
    dialect: &'static Dialect,
    text: String,
    thinking: String,
    refusal: String,
    calls: Vec<DraftCall>,
    usage: Usage,
    finish: Option<String>,
    /// Thinking and text in turn, where both go back as chunks.
    chunks: Vec<(bool, String)>,
    /// Reasoning of OpenRouter as it came.
    details: Vec<Box<RawValue>>,
    /// Whether any choice came at all.
    seen: bool,
}

#[derive(Default)]
struct DraftCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl Draft {
    pub(super) fn new(dialect: &'static Dialect) -> Self {
        Self {
            dialect,
            text: String::new(),
            thinking: String::new(),
            refusal: String::new(),
            calls: Vec::new(),
            usage: Usage::default(),
            finish: None,
            chunks: Vec::new(),
            details: Vec::new(),
            seen: false,
        }
    }

    /// The text so far.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether the sign that ends a reply has come.
    pub(super) fn has_ended(&self) -> bool {
        self.finish.is_some()
    }

    pub(super) fn is_seen(&self) -> bool {
        self.seen
    }

    /// Adds a chunk, or a whole reply.
    pub(super) fn add(&mut self, completion: &Completion<'_>, reader: &mut impl Reader) -> Result<(), ProviderError> {
        let groq = completion.x_groq.as_ref().and_then(|extra| extra.usage.as_ref());
        for tokens in groq.into_iter().chain(&completion.usage) {
            self.count(tokens);
        }
        for choice in completion.choices.first.iter().chain(&completion.choices.more) {
            // One reply was asked for; others of a server that sends more are not it.
            if choice.index.0.unwrap_or(0) != 0 {
                continue;
            }
            self.seen = true;
            if let Some((form, piece)) = &choice.piece {
                self.piece(piece, reader, *form)?;
            }
            if let Some(reason) = choice.finish_reason.filled() {
                self.finish = Some(reason.to_owned());
            }
        }
        Ok(())
    }

    fn count(&mut self, tokens: &Tokens) {
        let usage = &mut self.usage;
        tokens.prompt_tokens.update(&mut usage.input_tokens);
        tokens.prompt_tokens.update(&mut usage.input_tokens_total);
        tokens.completion_tokens.update(&mut usage.output_tokens);
        tokens.prompt_cache_hit_tokens.update(&mut usage.cache_read_tokens);
        if let Some(details) = &tokens.prompt_tokens_details {
            details.cached_tokens.update(&mut usage.cache_read_tokens);
            details.cache_write_tokens.update(&mut usage.cache_write_tokens);
        }
        if let Some(details) = &tokens.completion_tokens_details {
            details.reasoning_tokens.update(&mut usage.reasoning_tokens);
        }
    }

    fn piece(&mut self, piece: &Piece<'_>, reader: &mut impl Reader, form: Form) -> Result<(), ProviderError> {
        // Some servers send the same reasoning under both names.
        let reasoning = piece.reasoning_content.filled().or_else(|| piece.reasoning.filled());
        if let Some(reasoning) = reasoning {
            self.thinking.push_str(reasoning);
            reader.thinking(reasoning);
        }
        match &piece.content {
            Words::Nothing => {}
            Words::Text(text) => self.say(text, reader),
            Words::Chunks(chunks) => {
                for chunk in chunks {
                    for thought in chunk.thinking.iter().flatten() {
                        self.think(thought.text.as_str(), reader);
                    }
                    self.say(chunk.text.as_str(), reader);
                }
            }
        }
        self.refusal.push_str(piece.refusal.filled().unwrap_or_default());
        if self.dialect.replay == Replay::Details {
            let details = piece.reasoning_details.iter().flat_map(|details| details.iter());
            self.details.extend(details.map(|detail| RawValue::to_owned(detail)));
        }
        for call in piece.tool_calls.iter().flat_map(|calls| calls.iter()) {
            self.call(call.index.0, call.id.as_str(), call.function.as_ref(), form)?;
        }
        if let Some(function) = &piece.function_call {
            self.call(Some(0), "", Some(function), form)?;
        }
        Ok(())
    }

    fn say(&mut self, text: &str, reader: &mut impl Reader) {
        if !text.is_empty() {
            self.text.push_str(text);
            self.chunk(false, text);
            reader.text(text);
        }
    }

    fn think(&mut self, text: &str, reader: &mut impl Reader) {
        if !text.is_empty() {
            self.thinking.push_str(text);
            self.chunk(true, text);
            reader.thinking(text);
        }
    }

    fn chunk(&mut self, is_thinking: bool, text: &str) {
        if self.dialect.replay != Replay::Chunks {
            return;
        }
        match self.chunks.last_mut() {
            Some((kind, last)) if *kind == is_thinking => last.push_str(text),
            _ => self.chunks.push((is_thinking, text.to_owned())),
        }
    }

    /// Adds a part of a call to the call that it belongs to.
    fn call(
        &mut self,
        index: Option<u64>,
        id: &str,
        function: Option<&Function<'_>>,
        form: Form,
    ) -> Result<(), ProviderError> {
        let name = function.map_or("", |function| function.name.as_str());
        let written = function.and_then(|function| function.arguments).map(RawValue::get);
        let known = match form {
            Form::Delta => self.place_of(index, id, name),
            Form::Whole => None,
        };
        let place = match known {
            Some(place) => place,
            None if id.is_empty() && name.is_empty() && written.is_none() => return Ok(()),
            None if self.calls.len() >= MAX_CALLS => return Err(failure::too_many(MAX_CALLS, "tool calls")),
            None => {
                self.calls.push(DraftCall { index, ..DraftCall::default() });
                self.calls.len() - 1
            }
        };
        let Some(call) = self.calls.get_mut(place) else { return Ok(()) };
        if call.id.is_empty() {
            call.id.push_str(id);
        }
        if call.name.is_empty() {
            call.name.push_str(name);
        }
        if let Some(json) = written {
            // Text comes in parts; a server that sends an object sends it whole.
            match serde_json::from_str::<Text<'_>>(json) {
                Ok(text) if json.starts_with('"') => call.arguments.push_str(text.as_str()),
                _ => call.arguments.push_str(json),
            }
        }
        Ok(())
    }

    /// The call that a part belongs to; `None` when it starts a new one.
    fn place_of(&self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        // Searched from the end: where an index repeats, the last call with it is the one that grows.
        let place = match index {
            Some(_) => self.calls.iter().rposition(|call| call.index == index),
            None if id.is_empty() => self.calls.len().checked_sub(1),
            None => self.calls.iter().rposition(|call| call.id == id),
        }?;
        let call = self.calls.get(place)?;
        let starts_over = if id.is_empty() {
            // Without ids, a name where the arguments are already complete begins another call.
            !name.is_empty() && !call.name.is_empty() && (call.name != name || is_object(&call.arguments))
        } else if name.is_empty() {
            false
        } else {
            !call.id.is_empty() && (call.id != id || (index.is_none() && is_object(&call.arguments)))
        };
        (!starts_over).then_some(place)
    }

    /// The reply as far as it came.
    pub(super) fn reply(self, model: &str) -> ModelReply {
        let raw = self.finish.unwrap_or_default();
        let mut stop = stop_reason(&raw);
        let cut = stop == StopReason::Length;
        let native = native(self.dialect, model, &self.chunks, &self.details, &self.thinking, !self.calls.is_empty());
        let calls: Vec<ToolCall> = self
            .calls
            .into_iter()
            .map(|call| ToolCall::from_wire(Some(&call.id), &call.name, arguments::from_text(&call.arguments, cut)))
            .collect();
        match (stop, calls.is_empty()) {
            (StopReason::Stop, false) => stop = StopReason::ToolCalls,
            (StopReason::ToolCalls, true) => stop = StopReason::Stop,
            _ => {}
        }
        if !self.refusal.is_empty() && stop == StopReason::Stop {
            stop = StopReason::Refusal;
        }
        ModelReply {
            text: self.text,
            thinking: Some(self.thinking).filter(|thinking| !thinking.is_empty()),
            calls,
            stop,
            stop_raw: Some(raw).filter(|raw| !raw.is_empty()),
            refusal: Some(self.refusal).filter(|refusal| !refusal.is_empty()),
            usage: self.usage,
            native,
        }
    }
}

/// Whether arguments are complete. Asked for parts of calls without ids only, and not of large ones, so that a stream
/// of many parts is not read again and again.
fn is_object(text: &str) -> bool {
    text.len() <= 64 << 10
        && text.trim_start().starts_with('{')
        && text.trim_end().ends_with('}')
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

fn stop_reason(raw: &str) -> StopReason {
    match raw {
        "" | "stop" | "eos" | "end_turn" | "stop_sequence" => StopReason::Stop,
        "length" | "model_length" | "max_tokens" => StopReason::Length,
        "tool_calls" | "function_call" => StopReason::ToolCalls,
        "content_filter" => StopReason::ContentFilter,
        "error" | "insufficient_system_resource" => StopReason::Error,
        _ => StopReason::Other,
    }
}

/// What has to go back in the provider's own form.
fn native(
    dialect: &Dialect,
    model: &str,
    chunks: &[(bool, String)],
    details: &[Box<RawValue>],
    thinking: &str,
    has_calls: bool,
) -> Option<Box<Native>> {
    let blocks = match dialect.replay {
        Replay::Nothing => None,
        Replay::ReasoningContent => {
            (has_calls && !thinking.is_empty()).then(|| Value::String(thinking.to_owned()).to_string())
        }
        Replay::Details => (!details.is_empty()).then(|| {
            let items: Vec<&str> = details.iter().map(|item| item.get()).collect();
            format!("[{}]", items.join(","))
        }),
        Replay::Chunks => chunks.iter().any(|(is_thinking, _)| *is_thinking).then(|| {
            let list: Vec<Value> = chunks
                .iter()
                .map(|(is_thinking, text)| {
                    let text = serde_json::json!({"type": "text", "text": text});
                    if *is_thinking { serde_json::json!({"type": "thinking", "thinking": [text]}) } else { text }
                })
                .collect();
            Value::Array(list).to_string()
        }),
    }?;
    Some(Box::new(Native { wire: dialect.name.into(), model: model.into(), blocks: blocks.into() }))
}
