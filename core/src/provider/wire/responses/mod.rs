//! OpenAI's Responses API.
//!
//! Requests are written in [`encode`], whole replies read in [`decode`], streams in [`stream`]. Nothing is stored at
//! the provider: reasoning comes back encrypted and goes with the next request, directly before what it led to. Server
//! tools and background responses are not spoken.

mod decode;
mod encode;
mod stream;

use super::failure::Failure;
use super::{Wire, body};
use crate::provider::{ModelReply, ModelRequest, ProviderError};
use secrecy::SecretString;
use std::time::Duration;

/// The name under which replies are kept in their own form.
const WIRE: &str = "openai-responses";

/// The Responses API of one server and model.
pub(crate) struct Responses {
    url: String,
    key: Option<SecretString>,
    model: Box<str>,
}

impl Responses {
    /// Speaks to the full address `url`.
    pub(crate) fn new(url: String, key: Option<SecretString>, model: &str) -> Self {
        Self { url, key, model: model.into() }
    }
}

impl Wire for Responses {
    type Decoder = stream::ResponsesDecoder;

    fn url(&self, _stream: bool) -> String {
        self.url.clone()
    }

    fn headers(&self, _request: &ModelRequest) -> Vec<(&'static str, String)> {
        body::bearer(self.key.as_ref())
    }

    fn encode(&self, request: &ModelRequest, stream: bool) -> Result<Vec<u8>, ProviderError> {
        encode::encode(&self.model, request, stream)
    }

    fn decode(&self, body: &[u8]) -> Result<ModelReply, ProviderError> {
        decode::decode(&self.model, body)
    }

    fn decoder(&self) -> Self::Decoder {
        stream::ResponsesDecoder::new(&self.model)
    }

    fn decode_error(&self, status: u16, body: &[u8], retry_after: Option<Duration>) -> ProviderError {
        Failure::from_body(status, body).into_error(Some(status), retry_after)
    }
}

#[cfg(test)]
mod tests;
