//! Models: the [`Provider`] contract, what is asked and what comes back.
//!
//! A provider turns a neutral [`ModelRequest`] into one model's words. It knows nothing of tools running, guards or
//! the loop. Wire formats live one module each in `wire`; `chain` adds retries and fallbacks around any
//! provider.

pub mod capability;
pub(crate) mod chain;
pub(crate) mod client;
mod config;
mod endpoint;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzz;
pub(crate) mod http;
mod offline;
mod presets;
pub(crate) mod retry;
pub(crate) mod retry_hint;
mod scripted;
pub(crate) mod sse;
pub(crate) mod throttle;
pub(crate) mod wire;

use crate::message::{History, Native, ToolCall, Usage};
use futures::future::BoxFuture;
use futures::stream::{BoxStream, StreamExt};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::sync::Arc;

pub use crate::error::{ProviderError, ProviderErrorKind};
pub(crate) use chain::{ChainSession, Fallback, ModelChain, Observer, Retry, Served};
pub use config::{Api, ProviderConfig};
pub use offline::OfflineProvider;
pub use scripted::{RecordedRequest, Script, ScriptedError, ScriptedProvider, Step};

/// A model behind an API, or something that behaves like one.
///
/// Implement [`send`](Self::send); add [`stream`](Self::stream) when the model can give its text piece by piece.
///
/// ```
/// use cheliped::provider::{ModelReply, ModelRequest, Provider, ProviderError};
/// use futures::future::BoxFuture;
///
/// struct Echo;
///
/// impl Provider for Echo {
///     fn name(&self) -> &str { "echo" }
///     fn model(&self) -> &str { "echo-1" }
///     fn send<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelReply, ProviderError>> {
///         let said = request.messages.last().map(|message| message.text().into_owned()).unwrap_or_default();
///         Box::pin(async move { Ok(ModelReply::text(said)) })
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let agent = cheliped::Agent::builder().provider(Echo).build()?;
/// assert_eq!(agent.send("hello").await?.text, "hello");
/// # Ok::<(), cheliped::Error>(()) }).unwrap();
/// ```
pub trait Provider: Send + Sync {
    /// Name of the provider, for example `anthropic`.
    fn name(&self) -> &str;

    /// Name of the model.
    fn model(&self) -> &str;

    /// Asks for a whole reply.
    ///
    /// Dropping the future gives the request up and closes its connection.
    ///
    /// # Errors
    /// A [`ProviderError`] whose kind says whether a retry or another provider can help.
    fn send<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelReply, ProviderError>>;

    /// Asks for a reply in pieces. The last item of a stream without an error is [`StreamPart::Reply`], which holds
    /// the whole reply; the text pieces before it, joined, are its text. The default sends and gives one piece.
    fn stream<'a>(&'a self, request: &'a ModelRequest) -> BoxStream<'a, Result<StreamPart, ProviderError>> {
        futures::stream::once(self.send(request)).flat_map(|reply| futures::stream::iter(parts_of(reply))).boxed()
    }

    /// Whether a call goes over the network to a real model, which a test can forbid (see
    /// [`AgentBuilder::allow_real_providers`](crate::agent::AgentBuilder::allow_real_providers)).
    fn is_real(&self) -> bool {
        false
    }
}

fn parts_of(reply: Result<ModelReply, ProviderError>) -> Vec<Result<StreamPart, ProviderError>> {
    match reply {
        Err(error) => vec![Err(error)],
        Ok(reply) => {
            let thinking = reply.thinking.clone().filter(|thinking| !thinking.is_empty());
            let text = Some(reply.text.clone()).filter(|text| !text.is_empty());
            let mut parts = Vec::with_capacity(3);
            parts.extend(thinking.map(|thinking| Ok(StreamPart::Thinking(thinking))));
            parts.extend(text.map(|text| Ok(StreamPart::Text(text))));
            parts.push(Ok(StreamPart::Reply(Box::new(reply))));
            parts
        }
    }
}

/// What a model is asked. Cloning copies references only.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// The system prompt; empty for none.
    pub system: Arc<str>,
    /// The conversation so far.
    pub messages: History,
    /// The tools on offer.
    pub tools: Arc<[ToolSpec]>,
    /// Whether a tool must or may not be called.
    pub tool_choice: ToolChoice,
    /// Settings of the agent.
    pub options: Arc<ModelOptions>,
}

/// Settings that a provider maps to its own parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelOptions {
    /// Most tokens of one reply. Default `None`: the provider's or the model's own.
    pub max_tokens: Option<u32>,
    /// Tokens the model may think before it answers. Default 0, off; below 1024 is off.
    pub thinking_budget: u32,
    /// Marks the prompt for the provider's cache where that has to be asked for (Anthropic). Default on.
    pub prompt_cache: bool,
    /// Sampling temperature. Default `None`: the provider's own.
    pub temperature: Option<f64>,
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self { max_tokens: None, thinking_budget: 0, prompt_cache: true, temperature: None }
    }
}

/// A tool as the model sees it.
#[derive(Clone, Debug)]
pub struct ToolSpec {
    /// The name.
    pub name: Arc<str>,
    /// What it does and when to use it.
    pub description: Arc<str>,
    /// The JSON Schema of its arguments, an object schema, as JSON text.
    pub schema: Arc<RawValue>,
}

/// Whether the model must call a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// No tool, though tools are listed.
    None,
    /// Some tool.
    Required,
    /// This tool.
    #[serde(untagged)]
    Tool {
        /// Its name.
        name: String,
    },
}

/// A whole reply of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelReply {
    /// The visible text; text beside tool calls is kept.
    pub text: String,
    /// Readable reasoning, where the provider shows it.
    pub thinking: Option<String>,
    /// Tool calls in the model's order, made with [`ToolCall::from_wire`].
    pub calls: Vec<ToolCall>,
    /// Why the reply ended.
    pub stop: StopReason,
    /// The provider's own word for that.
    pub stop_raw: Option<String>,
    /// The provider's words of refusal.
    pub refusal: Option<String>,
    /// Token counts.
    pub usage: Usage,
    /// The reply in the provider's own form, only when it must go back unchanged.
    pub native: Option<Box<Native>>,
}

impl ModelReply {
    /// A reply of plain text without token counts.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A reply that calls tools.
    pub fn calls(calls: Vec<ToolCall>) -> Self {
        Self { calls, stop: StopReason::ToolCalls, ..Self::default() }
    }
}

/// Why a reply ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model was done.
    #[default]
    Stop,
    /// The reply or the context was full: what there is may be cut.
    Length,
    /// The model waits for tool results.
    ToolCalls,
    /// A filter of the provider stopped it.
    ContentFilter,
    /// The model refused.
    Refusal,
    /// The provider paused a long turn: the history is sent back to go on.
    Pause,
    /// The provider reports an error of the generation.
    Error,
    /// A word that is not known here.
    Other,
}

/// One piece of a streamed reply.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamPart {
    /// More visible text.
    Text(String),
    /// More readable reasoning.
    Thinking(String),
    /// The end: the whole reply.
    Reply(Box<ModelReply>),
}
