//! Reads replies, whole or in chunks of the same shape, and errors.

use super::WIRE;
use crate::message::{CallFault, ToolCall, Usage};
use crate::provider::wire::failure::{Failure, broken_stream, describe, unusable};
use crate::provider::wire::lenient::Count;
use crate::provider::wire::raw::own_form;
use crate::provider::wire::{Decoder, arguments};
use crate::provider::{ModelReply, ProviderError, ProviderErrorKind, StopReason, StreamPart, retry_hint};
use serde::Deserialize;
use serde_json::Value;
use serde_json::error::Category;
use serde_json::value::RawValue;
use std::time::Duration;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk<'a> {
    #[serde(default, borrow)]
    candidates: Option<Vec<Candidate<'a>>>,
    #[serde(default)]
    prompt_feedback: Option<Feedback>,
    #[serde(default, borrow)]
    usage_metadata: Option<&'a RawValue>,
    #[serde(default, borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(default)]
    index: Option<u64>,
    #[serde(default, borrow)]
    content: Option<Said<'a>>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Said<'a> {
    #[serde(default, borrow)]
    parts: Option<Vec<&'a RawValue>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Feedback {
    block_reason: Option<String>,
    block_reason_message: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WirePart<'a> {
    text: Option<String>,
    thought: Option<bool>,
    thought_signature: Option<String>,
    #[serde(borrow)]
    function_call: Option<FunctionCall<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct FunctionCall<'a> {
    id: Option<String>,
    name: Option<String>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Counts {
    prompt_token_count: Count,
    cached_content_token_count: Count,
    candidates_token_count: Count,
    thoughts_token_count: Count,
}

/// Reads a whole reply. A list is a stream's chunks in one body.
pub(super) fn decode(model: &str, body: &[u8]) -> Result<ModelReply, ProviderError> {
    let problem = |error: serde_json::Error| {
        unusable(None, format!("the reply is no generated content but {}", describe(body))).with_source(error)
    };
    let body = body.trim_ascii();
    let chunks: Vec<Chunk<'_>> = if body.first() == Some(&b'[') {
        serde_json::from_slice(body).map_err(problem)?
    } else {
        vec![serde_json::from_slice(body).map_err(problem)?]
    };
    let mut reader = GeminiDecoder::new(model);
    let mut parts = Vec::new();
    for chunk in chunks {
        reader.chunk(chunk, &mut parts)?;
    }
    if reader.has_candidate || reader.blocked.is_some() {
        Ok(reader.reply())
    } else {
        Err(unusable(None, "the reply holds no candidate and no reason for that"))
    }
}

/// Reads an answer that is no 2xx. The wait stands in the details, not in a header.
pub(super) fn decode_error(status: u16, body: &[u8], retry_after: Option<Duration>) -> ProviderError {
    let mut error = Failure::from_body(status, body).into_error(Some(status), retry_after);
    if let Ok(value) = serde_json::from_slice::<Value>(body) {
        refine(&mut error, &value, retry_after);
    }
    error
}

/// Reads what Google says beside message and status.
fn refine(error: &mut ProviderError, body: &Value, header: Option<Duration>) {
    let body = body.get(0).unwrap_or(body);
    let inner = body.get("error").unwrap_or(body);
    let details = inner.get("details").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let text = |detail: &Value, key: &str| detail.get(key).and_then(Value::as_str).map(str::to_owned);
    if details.iter().any(|detail| text(detail, "reason").as_deref() == Some("API_KEY_INVALID")) {
        error.kind = ProviderErrorKind::Auth;
        error.retryable = false;
        error.code = Some("API_KEY_INVALID".to_owned());
    }
    let delay =
        details.iter().find_map(|detail| text(detail, "retryDelay").and_then(|text| retry_hint::duration(&text)));
    if delay.is_some() {
        error.retry_after = header.max(delay);
    }
    if error.kind == ProviderErrorKind::RateLimit {
        let violations =
            details.iter().filter_map(|detail| detail.get("violations").and_then(Value::as_array)).flatten();
        let mut quotas = violations.filter_map(|violation| text(violation, "quotaId")).peekable();
        // A quota of the day comes back tomorrow; one of a minute is worth the wait, whatever the message says.
        error.retryable = if quotas.peek().is_some() {
            !quotas.any(|quota| quota.contains("PerDay"))
        } else {
            error.retryable || error.retry_after.is_some()
        };
    }
}

/// The error that a 2xx body or a stream tells.
fn told_error(raw: &RawValue) -> ProviderError {
    let value: Value = serde_json::from_str(raw.get()).unwrap_or_default();
    let mut error = Failure::from_value(&value).into_error(None, None);
    refine(&mut error, &value, None);
    error
}

/// Reads one reply, whole or streamed.
pub(crate) struct GeminiDecoder {
    model: Box<str>,
    text: String,
    thinking: String,
    calls: Vec<WireCall>,
    /// The parts in the API's own form.
    parts: Vec<Kept>,
    /// Some part must go back unchanged.
    keep: bool,
    has_candidate: bool,
    finish: Option<String>,
    /// Why the prompt was not answered.
    blocked: Option<String>,
    counts: LastCounts,
}

struct WireCall {
    id: Option<String>,
    name: String,
    arguments: String,
}

/// A part for the next request.
enum Kept {
    /// Text without a signature; pieces of a stream are joined.
    Words { text: String, thought: bool },
    /// Anything else, as it came.
    AsIs(Box<str>),
}

impl GeminiDecoder {
    pub(super) fn new(model: &str) -> Self {
        Self {
            model: model.into(),
            text: String::new(),
            thinking: String::new(),
            calls: Vec::new(),
            parts: Vec::new(),
            keep: false,
            has_candidate: false,
            finish: None,
            blocked: None,
            counts: LastCounts::default(),
        }
    }

    fn chunk(&mut self, chunk: Chunk<'_>, parts: &mut Vec<StreamPart>) -> Result<(), ProviderError> {
        if let Some(error) = chunk.error.filter(|error| error.get() != "null") {
            return Err(told_error(error));
        }
        if let Some(Feedback { block_reason: Some(reason), block_reason_message }) = chunk.prompt_feedback {
            self.blocked = Some(block_reason_message.unwrap_or(reason));
        }
        if let Some(usage) = chunk.usage_metadata {
            let later: Counts = serde_json::from_str(usage.get()).unwrap_or_default();
            later.update(&mut self.counts);
        }
        // One candidate is asked for.
        let candidate = chunk.candidates.unwrap_or_default().into_iter().find(|one| one.index.unwrap_or(0) == 0);
        let Some(candidate) = candidate else { return Ok(()) };
        self.has_candidate = true;
        for part in candidate.content.and_then(|said| said.parts).unwrap_or_default() {
            self.part(part, parts)?;
        }
        self.finish = candidate.finish_reason.or(self.finish.take());
        Ok(())
    }

    fn part(&mut self, raw: &RawValue, parts: &mut Vec<StreamPart>) -> Result<(), ProviderError> {
        let part: WirePart<'_> = match serde_json::from_str(raw.get()) {
            Ok(part) => part,
            // A part of an unknown shape is kept for the next request and means nothing else.
            Err(error) if error.classify() == Category::Data => WirePart::default(),
            Err(error) => {
                return Err(unusable(None, format!("a part of the reply is broken: {error}")).with_source(error));
            }
        };
        let signed = part.thought_signature.is_some();
        if let Some(call) = part.function_call {
            self.calls.push(WireCall {
                id: call.id,
                name: call.name.unwrap_or_default(),
                arguments: call.args.map_or("", RawValue::get).to_owned(),
            });
            self.keep |= signed;
            self.parts.push(Kept::AsIs(raw.get().into()));
        } else if let Some(text) = part.text {
            let thought = part.thought.unwrap_or(false);
            if signed {
                self.keep = true;
                self.parts.push(Kept::AsIs(raw.get().into()));
            } else if let Some(Kept::Words { text: words, .. }) = self
                .parts
                .last_mut()
                .filter(|kept| matches!(kept, Kept::Words { thought: other, .. } if *other == thought))
            {
                words.push_str(&text);
            } else if !text.is_empty() {
                self.parts.push(Kept::Words { text: text.clone(), thought });
            }
            if text.is_empty() {
                return Ok(());
            }
            if thought {
                self.thinking.push_str(&text);
                parts.push(StreamPart::Thinking(text));
            } else {
                self.text.push_str(&text);
                parts.push(StreamPart::Text(text));
            }
        } else {
            self.keep = true;
            self.parts.push(Kept::AsIs(raw.get().into()));
        }
        Ok(())
    }

    fn reply(self) -> ModelReply {
        let stop = match (&self.finish, &self.blocked) {
            (None, Some(_)) => StopReason::ContentFilter,
            (finish, _) => stop_reason(finish.as_deref(), !self.calls.is_empty()),
        };
        let cut = stop == StopReason::Length;
        let calls = self.calls.into_iter().map(|call| {
            let arguments = match arguments::from_text(&call.arguments, cut) {
                Ok(_) if cut && call.arguments.trim() == "{}" => Err(CallFault::Cut { raw: call.arguments.into() }),
                other => other,
            };
            ToolCall::from_wire(call.id.as_deref(), &call.name, arguments)
        });
        let parts = self.parts.into_iter().map(Kept::into_json);
        let native = self
            .keep
            .then(|| own_form(WIRE, &self.model, format!("[{}]", parts.collect::<Vec<_>>().join(","))))
            .flatten();
        ModelReply {
            text: self.text,
            thinking: Some(self.thinking).filter(|thinking| !thinking.is_empty()),
            calls: calls.collect(),
            stop,
            stop_raw: self.finish,
            refusal: self.blocked,
            usage: self.counts.usage(),
            native,
        }
    }
}

impl Decoder for GeminiDecoder {
    fn event(&mut self, _name: &str, data: &str, parts: &mut Vec<StreamPart>) -> Result<(), ProviderError> {
        match serde_json::from_str::<Chunk<'_>>(data) {
            Ok(chunk) => self.chunk(chunk, parts),
            // A shape that is not known here says nothing; half a JSON text says that something is lost.
            Err(error) if error.classify() == Category::Data || data.trim() == "[DONE]" => Ok(()),
            Err(error) => {
                Err(unusable(None, format!("the stream has an event that is no JSON: {error}")).with_source(error))
            }
        }
    }

    fn finish(self) -> Result<ModelReply, ProviderError> {
        if self.finish.is_none() && self.blocked.is_none() {
            return Err(broken_stream());
        }
        Ok(self.reply())
    }
}

impl Kept {
    fn into_json(self) -> String {
        match self {
            Self::AsIs(raw) => raw.into(),
            Self::Words { text, thought } => {
                let text = Value::String(text);
                if thought { format!(r#"{{"text":{text},"thought":true}}"#) } else { format!(r#"{{"text":{text}}}"#) }
            }
        }
    }
}

fn stop_reason(raw: Option<&str>, calls: bool) -> StopReason {
    match raw {
        None | Some("STOP") => {
            if calls {
                StopReason::ToolCalls
            } else {
                StopReason::Stop
            }
        }
        Some("MAX_TOKENS") => StopReason::Length,
        Some(
            "SAFETY"
            | "RECITATION"
            | "LANGUAGE"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "MODEL_ARMOR"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT"
            | "IMAGE_RECITATION",
        ) => StopReason::ContentFilter,
        Some(
            "MALFORMED_FUNCTION_CALL"
            | "UNEXPECTED_TOOL_CALL"
            | "TOO_MANY_TOOL_CALLS"
            | "MISSING_THOUGHT_SIGNATURE"
            | "MALFORMED_RESPONSE",
        ) => StopReason::Error,
        Some(_) => StopReason::Other,
    }
}

impl Counts {
    fn update(&self, last: &mut LastCounts) {
        self.prompt_token_count.update(&mut last.prompt);
        self.cached_content_token_count.update(&mut last.cached);
        self.candidates_token_count.update(&mut last.candidates);
        self.thoughts_token_count.update(&mut last.thoughts);
    }
}

/// The last value of each count.
#[derive(Default)]
struct LastCounts {
    prompt: Option<u64>,
    cached: Option<u64>,
    candidates: Option<u64>,
    thoughts: Option<u64>,
}

impl LastCounts {
    fn usage(&self) -> Usage {
        let output = match (self.candidates, self.thoughts) {
            (None, None) => None,
            (words, thoughts) => Some(words.unwrap_or(0).saturating_add(thoughts.unwrap_or(0))),
        };
        Usage {
            input_tokens: self.prompt,
            output_tokens: output,
            cache_read_tokens: self.cached,
            cache_write_tokens: None,
            reasoning_tokens: self.thoughts,
            input_tokens_total: self.prompt,
        }
    }
}
