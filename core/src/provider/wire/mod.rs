//! Wire formats, one module each: how a request is written and a reply is read. No I/O here.

pub(crate) mod anthropic;
pub(crate) mod arguments;
pub(crate) mod attachment;
pub(crate) mod body;
pub(crate) mod chat;
pub(crate) mod failure;
pub(crate) mod gemini;
#[cfg(test)]
pub(crate) mod histories;
pub(crate) mod lenient;
pub(crate) mod ollama;
pub(crate) mod raw;
#[cfg(test)]
mod recorded;
pub(crate) mod responses;
#[cfg(test)]
pub(crate) mod sample;
pub(crate) mod turns;

use super::{ModelReply, ModelRequest, ProviderError, StreamPart};
use std::time::Duration;

/// Tool calls that one reply may hold; far more than any model makes.
const MAX_CALLS: usize = 1024;

/// One provider API's way of writing requests and reading replies. Pure: bytes in, values out.
pub(crate) trait Wire: Send + Sync {
    /// The reader of one streamed reply.
    type Decoder: Decoder;

    /// Where a request goes, relative to nothing: the full URL.
    fn url(&self, stream: bool) -> String;

    /// Headers that this API wants, the key's among them. Values are secrets: they are never printed.
    fn headers(&self, request: &ModelRequest) -> Vec<(&'static str, String)>;

    /// The body of a request as JSON.
    ///
    /// # Errors
    /// `invalid_request` when the history holds what this API cannot say.
    fn encode(&self, request: &ModelRequest, stream: bool) -> Result<Vec<u8>, ProviderError>;

    /// Reads a whole reply of a 2xx answer.
    ///
    /// # Errors
    /// `server` when the body is no reply; the kind of the error that the body tells, where it tells one.
    fn decode(&self, body: &[u8]) -> Result<ModelReply, ProviderError>;

    /// Looks at a whole reply with its request at hand, before the caller sees it.
    fn settle(&self, _request: &ModelRequest, reply: ModelReply) -> ModelReply {
        reply
    }

    /// Starts reading a streamed reply.
    fn decoder(&self) -> Self::Decoder;

    /// How the stream is cut into events.
    fn framing(&self) -> Framing {
        Framing::Sse
    }

    /// Reads an answer that is no 2xx. `retry_after` is what the headers asked for.
    fn decode_error(&self, status: u16, body: &[u8], retry_after: Option<Duration>) -> ProviderError;
}

/// How a streamed body is cut into events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events.
    Sse,
    /// One JSON value a line.
    Lines,
}

/// Reads one streamed reply, event by event.
pub(crate) trait Decoder: Send {
    /// Takes one event: its name (empty where the framing has none) and its data. Pieces for the reader of the stream
    /// go to `parts`.
    ///
    /// # Errors
    /// An error that the provider reports inside the stream.
    fn event(&mut self, name: &str, data: &str, parts: &mut Vec<StreamPart>) -> Result<(), ProviderError>;

    /// The stream is over, by its end or because the connection closed.
    ///
    /// # Errors
    /// `server` when the sign that ends a reply never came.
    fn finish(self) -> Result<ModelReply, ProviderError>;

    /// Whether the reply is complete and the rest of the body need not be waited for.
    fn is_done(&self) -> bool {
        false
    }
}
