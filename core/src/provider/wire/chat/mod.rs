//! OpenAI's chat completions and everything that speaks them: OpenAI, Groq, Mistral, DeepSeek, OpenRouter, Ollama's
//! compatible side, and any server at a base URL.
//!
//! What differs between them is data in [`dialect`]. Legacy text completions are not spoken.

mod decode;
pub(crate) mod dialect;
mod encode;
mod text_calls;

pub(in crate::provider::wire) use encode::Tools;

use super::failure::{self, Failure, not_a_reply};
use super::{Decoder, Wire, body};
use crate::provider::{ModelReply, ModelRequest, ProviderError, StreamPart};
use decode::{Completion, Draft, Reader};
use dialect::Dialect;
use secrecy::SecretString;
use std::sync::Arc;
use std::time::Duration;

/// The chat completions of one server and model.
pub(crate) struct Chat {
    dialect: &'static Dialect,
    url: String,
    key: Option<SecretString>,
    model: Arc<str>,
    text_calls: bool,
}

impl Chat {
    /// Speaks to the full address `url`.
    pub(crate) fn new(dialect: &'static Dialect, url: String, key: Option<SecretString>, model: &str) -> Self {
        let text_calls = dialect.reads_text_calls(model);
        Self { dialect, url, key, model: model.into(), text_calls }
    }

    /// Whether calls that the model writes as text count as calls. Default: for the models that need it.
    pub(crate) fn read_text_calls(mut self, read: Option<bool>) -> Self {
        self.text_calls = read.unwrap_or(self.text_calls);
        self
    }
}

impl Wire for Chat {
    type Decoder = ChatDecoder;

    fn url(&self, _stream: bool) -> String {
        self.url.clone()
    }

    fn headers(&self, _request: &ModelRequest) -> Vec<(&'static str, String)> {
        body::bearer(self.key.as_ref())
    }

    fn encode(&self, request: &ModelRequest, stream: bool) -> Result<Vec<u8>, ProviderError> {
        encode::encode(self.dialect, &self.model, request, stream)
    }

    fn decode(&self, body: &[u8]) -> Result<ModelReply, ProviderError> {
        let completion: Completion<'_> = serde_json::from_slice(body).map_err(|error| not_a_reply(body, &error))?;
        if let Some(error) = completion.error.and_then(failure::told) {
            return Err(error);
        }
        let mut draft = Draft::new(self.dialect);
        draft.add(&completion, &mut ())?;
        if !draft.is_seen() {
            return Err(failure::bare(body, "the reply holds no choice"));
        }
        Ok(draft.reply(&self.model))
    }

    fn decoder(&self) -> ChatDecoder {
        ChatDecoder {
            draft: Draft::new(self.dialect),
            model: Arc::clone(&self.model),
            is_done: false,
            hold: self.text_calls,
        }
    }

    fn decode_error(&self, status: u16, body: &[u8], retry_after: Option<Duration>) -> ProviderError {
        Failure::from_body(status, body).into_error(Some(status), retry_after)
    }

    fn settle(&self, request: &ModelRequest, reply: ModelReply) -> ModelReply {
        if self.text_calls { text_calls::read(request, reply) } else { reply }
    }
}

/// Reads one stream of chunks.
pub(crate) struct ChatDecoder {
    draft: Draft,
    model: Arc<str>,
    is_done: bool,
    /// Text is held back while it may turn out to be a call.
    hold: bool,
}

/// Collects pieces for the reader of the stream.
struct Pieces<'a> {
    parts: &'a mut Vec<StreamPart>,
    hold: bool,
}

impl Reader for Pieces<'_> {
    fn text(&mut self, piece: &str) {
        if !self.hold {
            self.parts.push(StreamPart::Text(piece.to_owned()));
        }
    }

    fn thinking(&mut self, piece: &str) {
        self.parts.push(StreamPart::Thinking(piece.to_owned()));
    }
}

impl Decoder for ChatDecoder {
    fn event(&mut self, name: &str, data: &str, parts: &mut Vec<StreamPart>) -> Result<(), ProviderError> {
        let data = data.trim();
        if data == "[DONE]" {
            self.is_done = true;
            return Ok(());
        }
        if data.is_empty() {
            return Ok(());
        }
        let completion: Completion<'_> =
            serde_json::from_str(data).map_err(|error| not_a_reply(data.as_bytes(), &error))?;
        if let Some(error) = completion.error.and_then(failure::told) {
            return Err(error);
        }
        if name == "error" {
            return Err(Failure::from_body(500, data.as_bytes()).into_error(None, None));
        }
        self.draft.add(&completion, &mut Pieces { parts, hold: self.hold })?;
        if self.hold && !text_calls::may_be(self.draft.text()) {
            self.hold = false;
            if !self.draft.text().is_empty() {
                parts.push(StreamPart::Text(self.draft.text().to_owned()));
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<ModelReply, ProviderError> {
        if !self.draft.has_ended() {
            return Err(failure::broken_stream());
        }
        Ok(self.draft.reply(&self.model))
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}

#[cfg(test)]
mod tests;
