//! What a scripted model says: the steps, from code or from JSON.
//!
//! Only data and its checks. Counting calls, waiting and streaming live one file up.

use super::super::{ModelReply, ProviderError, ProviderErrorKind, StopReason};
use crate::message::{ToolCall, Usage};
use crate::provider::wire::arguments;
use serde::de::{self, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::time::Duration;

/// A whole script, usually read from JSON with [`ScriptedProvider::from_json`](super::ScriptedProvider::from_json).
///
/// In JSON it is a list of steps, or an object:
///
/// | key | meaning | default |
/// |---|---|---|
/// | `steps` | the steps in order | none |
/// | `repeat` | after the last step, give the last one again and again | `false` |
/// | `by_turn` | take the step by the place in the conversation, not by counting calls | `false` |
/// | `provider`, `model` | the names it goes by | `scripted`, `scripted-1` |
///
/// A step:
///
/// | key | meaning | default |
/// |---|---|---|
/// | `text` | the visible text | empty |
/// | `thinking` | readable reasoning | none |
/// | `calls` | tool calls `{name, arguments, id}`; `arguments` is an object, or a string that is read as providers' are, broken JSON included: with `stop` `length` it counts as cut; `id` may be left out or empty | none |
/// | `stop` | `stop`, `length`, `tool_calls`, `content_filter`, `refusal`, `pause`, `error`, `other` | `tool_calls` with calls, `refusal` with one, else `stop` |
/// | `refusal` | the provider's words of refusal | none |
/// | `usage` | `input_tokens`, `output_tokens`, `cache_read_tokens`, `cache_write_tokens`, `reasoning_tokens`, `input_tokens_total` | not reported |
/// | `chunks` | how the text is cut when it is streamed; joined they must be the text, which may be left out | words |
/// | `latency_ms` | wait before the reply, or before its first piece | 0 |
/// | `gap_ms` | wait between two pieces of a stream | 0 |
/// | `error` | fail instead: `{kind, status, message, code, retryable, retry_after_ms, rejected_tool_call, failed_generation}`; `kind` is `auth`, `rate_limit`, `overloaded`, `invalid_request`, `server` or `timeout` | none |
/// | `fail_after_chunks` | stream so many pieces, then fail with `error` (or a broken connection) | at once |
///
/// An unknown key is an error, so that a slip of the pen does not pass for a step.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// The steps in order.
    pub steps: Vec<Step>,
    /// Whether the last step answers every later call too.
    pub repeat: bool,
    /// Whether the step is chosen by the place in the conversation.
    pub by_turn: bool,
    /// Name of the provider; `None` for `scripted`.
    pub provider: Option<String>,
    /// Name of the model; `None` for `scripted-1`.
    pub model: Option<String>,
}

/// What is said in answer to one request.
///
/// ```
/// use cheliped::provider::{Step, StopReason};
/// use std::time::Duration;
/// let step = Step::text("half an ans").stop(StopReason::Length).latency(Duration::from_millis(20));
/// let called = Step::text("I look first.").call("file_read", serde_json::json!({"path": "a.txt"}));
/// # let _ = (step, called);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    pub(super) reply: ModelReply,
    pub(super) chunks: Option<Vec<String>>,
    pub(super) latency: Option<Duration>,
    pub(super) gap: Duration,
    pub(super) failure: Option<Failure>,
}

/// A failure in place of a reply.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Failure {
    pub(super) error: ScriptedError,
    /// Pieces of the stream that are given before it.
    pub(super) after_chunks: usize,
}

/// An error that a scripted model gives instead of a reply.
///
/// ```
/// use cheliped::provider::{ProviderErrorKind, ScriptedError};
/// use std::time::Duration;
/// let busy = ScriptedError::new(ProviderErrorKind::RateLimit, "slow down").status(429);
/// let later = ScriptedError { retry_after: Some(Duration::from_secs(2)), ..busy };
/// # let _ = later;
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptedError {
    /// The sort of failure.
    pub kind: ProviderErrorKind,
    /// HTTP status, if it came with one.
    pub status: Option<u16>,
    /// What happened.
    pub message: String,
    /// The provider's own error code.
    pub code: Option<String>,
    /// Whether the same request can succeed later; `None` follows the kind.
    pub retryable: Option<bool>,
    /// How long the provider asks to wait.
    pub retry_after: Option<Duration>,
    /// Whether the provider refused the model's tool call.
    pub rejected_tool_call: bool,
    /// What the model wrote when its tool call was refused.
    pub failed_generation: Option<String>,
}

impl ScriptedError {
    /// An error of this kind.
    pub fn new(kind: ProviderErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            status: None,
            message: message.into(),
            code: None,
            retryable: None,
            retry_after: None,
            rejected_tool_call: false,
            failed_generation: None,
        }
    }

    /// With this HTTP status.
    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    pub(super) fn build(&self) -> ProviderError {
        let mut error = ProviderError::new(self.kind, self.message.clone());
        error.status = self.status;
        error.code.clone_from(&self.code);
        error.retryable = self.retryable.unwrap_or(error.retryable);
        error.retry_after = self.retry_after;
        error.rejected_tool_call |= self.rejected_tool_call;
        error.failed_generation.clone_from(&self.failed_generation);
        error
    }
}

impl From<ProviderErrorKind> for ScriptedError {
    fn from(kind: ProviderErrorKind) -> Self {
        Self::new(kind, format!("scripted {} failure", kind.name()))
    }
}

impl Step {
    /// A reply of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { reply: ModelReply::text(text), ..Self::default() }
    }

    /// A failure before the first piece.
    pub fn fail(error: impl Into<ScriptedError>) -> Self {
        Self { failure: Some(Failure { error: error.into(), after_chunks: 0 }), ..Self::default() }
    }

    /// Adds a tool call. `arguments` is an object; a JSON string is taken as the raw text of the arguments, so that
    /// `json!("{broken")` makes a call whose arguments cannot be read; after [`stop`](Self::stop) with `Length` they
    /// count as cut.
    #[must_use]
    pub fn call(self, name: &str, arguments: Value) -> Self {
        let raw = match arguments {
            Value::String(raw) => raw,
            other => other.to_string(),
        };
        self.push_call(None, name, &raw)
    }

    /// Adds readable reasoning.
    #[must_use]
    pub fn thinking(mut self, thinking: impl Into<String>) -> Self {
        self.reply.thinking = Some(thinking.into());
        self
    }

    /// Ends the reply for this reason.
    #[must_use]
    pub fn stop(mut self, stop: StopReason) -> Self {
        self.reply.stop = stop;
        self
    }

    /// Reports these token counts.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.reply.usage = usage;
        self
    }

    /// Streams the text in these pieces, which become the text.
    #[must_use]
    pub fn chunks<T: Into<String>>(mut self, chunks: impl IntoIterator<Item = T>) -> Self {
        let chunks: Vec<String> = chunks.into_iter().map(Into::into).collect();
        self.reply.text = chunks.concat();
        self.chunks = Some(chunks);
        self
    }

    /// Waits this long before the reply or its first piece.
    #[must_use]
    pub fn latency(mut self, latency: Duration) -> Self {
        self.latency = Some(latency);
        self
    }

    /// Waits this long between two pieces of a stream.
    #[must_use]
    pub fn gap(mut self, gap: Duration) -> Self {
        self.gap = gap;
        self
    }

    /// Fails in mid-stream, after so many pieces of the text. Not streamed, it fails without a reply.
    #[must_use]
    pub fn fail_after(mut self, chunks: usize, error: impl Into<ScriptedError>) -> Self {
        self.failure = Some(Failure { error: error.into(), after_chunks: chunks });
        self
    }

    /// The reply, or the failure that stands in its place.
    ///
    /// # Errors
    /// The scripted failure, without the name of a provider.
    pub fn into_reply(self) -> Result<ModelReply, ProviderError> {
        match self.failure {
            None => Ok(self.reply),
            Some(failure) => Err(failure.error.build()),
        }
    }

    fn push_call(mut self, id: Option<&str>, name: &str, raw: &str) -> Self {
        let cut = self.reply.stop == StopReason::Length;
        let arguments = arguments::from_text(raw, cut);
        self.reply.calls.push(ToolCall::from_wire(id, name, arguments));
        if self.reply.stop == StopReason::Stop {
            self.reply.stop = StopReason::ToolCalls;
        }
        self
    }
}

impl From<&str> for Step {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Step {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<ModelReply> for Step {
    fn from(reply: ModelReply) -> Self {
        Self { reply, ..Self::default() }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScript {
    steps: Vec<Step>,
    #[serde(default)]
    repeat: bool,
    #[serde(default)]
    by_turn: bool,
    provider: Option<String>,
    model: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStep {
    text: Option<String>,
    thinking: Option<String>,
    #[serde(default)]
    calls: Vec<RawCall>,
    stop: Option<StopReason>,
    refusal: Option<String>,
    #[serde(default)]
    usage: Usage,
    chunks: Option<Vec<String>>,
    latency_ms: Option<u64>,
    #[serde(default)]
    gap_ms: u64,
    error: Option<RawError>,
    fail_after_chunks: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCall {
    name: String,
    arguments: Option<Box<RawValue>>,
    id: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawError {
    kind: String,
    status: Option<u16>,
    message: Option<String>,
    code: Option<String>,
    retryable: Option<bool>,
    retry_after_ms: Option<u64>,
    #[serde(default)]
    rejected_tool_call: bool,
    failed_generation: Option<String>,
}

impl TryFrom<RawError> for ScriptedError {
    type Error = String;

    fn try_from(raw: RawError) -> Result<Self, String> {
        let kind = ProviderErrorKind::ALL.iter().find(|kind| kind.name() == raw.kind).copied().ok_or_else(|| {
            let known: Vec<_> = ProviderErrorKind::ALL.iter().map(|kind| kind.name()).collect();
            format!("unknown error kind {:?}; known are {}", raw.kind, known.join(", "))
        })?;
        let plain = Self::from(kind);
        Ok(Self {
            status: raw.status,
            message: raw.message.unwrap_or(plain.message),
            code: raw.code,
            retryable: raw.retryable,
            retry_after: raw.retry_after_ms.map(Duration::from_millis),
            rejected_tool_call: raw.rejected_tool_call,
            failed_generation: raw.failed_generation,
            kind,
        })
    }
}

impl TryFrom<RawStep> for Step {
    type Error = String;

    fn try_from(raw: RawStep) -> Result<Self, String> {
        let cut = raw.stop == Some(StopReason::Length);
        let mut step = match (raw.text, raw.chunks) {
            (text, None) => Self::text(text.unwrap_or_default()),
            (text, Some(chunks)) => {
                let step = Self::default().chunks(chunks);
                if let Some(text) = text.filter(|text| *text != step.reply.text) {
                    return Err(format!("the chunks give {:?}, the text is {text:?}", step.reply.text));
                }
                step
            }
        };
        if cut {
            step.reply.stop = StopReason::Length;
        }
        for call in raw.calls {
            let given = call.arguments.as_deref().map_or("{}", RawValue::get);
            let unquoted = given.starts_with('"').then(|| serde_json::from_str::<String>(given).ok()).flatten();
            step = step.push_call(call.id.as_deref(), &call.name, unquoted.as_deref().unwrap_or(given));
        }
        if raw.refusal.is_some() {
            step.reply.stop = StopReason::Refusal;
        }
        step.reply.refusal = raw.refusal;
        step.reply.thinking = raw.thinking;
        step.reply.stop = raw.stop.unwrap_or(step.reply.stop);
        step.reply.usage = raw.usage;
        step.latency = raw.latency_ms.map(Duration::from_millis);
        step.gap = Duration::from_millis(raw.gap_ms);
        step.failure = match (raw.error, raw.fail_after_chunks) {
            (None, None) => None,
            (Some(error), after) => Some(Failure { error: error.try_into()?, after_chunks: after.unwrap_or_default() }),
            (None, Some(after_chunks)) => {
                let error = ScriptedError::new(ProviderErrorKind::Server, "the connection broke in mid-stream");
                Some(Failure { error, after_chunks })
            }
        };
        Ok(step)
    }
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        RawStep::deserialize(deserializer)?.try_into().map_err(de::Error::custom)
    }
}

// Written by hand, because the arguments must reach `RawValue` unbuffered to keep their exact text.
impl<'de> Deserialize<'de> for Script {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;
        impl<'de> Visitor<'de> for Visit {
            type Value = Script;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list of steps or an object with \"steps\"")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Script, A::Error> {
                let mut script = Script::default();
                while let Some(step) = seq.next_element()? {
                    script.steps.push(step);
                }
                Ok(script)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Script, A::Error> {
                let RawScript { steps, repeat, by_turn, provider, model } =
                    RawScript::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Script { steps, repeat, by_turn, provider, model })
            }
        }
        deserializer.deserialize_any(Visit)
    }
}
