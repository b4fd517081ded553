//! Anthropic's Messages format.
//!
//! Requests are written in [`encode`], whole replies read in [`decode`], streams in [`stream`]. No beta header is sent
//! but the one that older models need to think between tool calls.

mod block;
mod decode;
mod encode;
mod stream;

use super::Wire;
use super::failure::Failure;
use crate::provider::capability::{self, Capability};
use crate::provider::{ModelReply, ModelRequest, ProviderError};
use secrecy::{ExposeSecret, SecretString};
use std::time::Duration;

/// The name under which replies are kept in their own form.
const WIRE: &str = "anthropic";
/// The version of the format that is spoken here.
const VERSION: &str = "2023-06-01";
/// Thinking budgets below this are no thinking.
const LEAST_BUDGET: u32 = 1024;

/// The Messages format of one endpoint, key and model.
pub(crate) struct Anthropic {
    url: String,
    key: Option<SecretString>,
    model: Box<str>,
    capability: &'static Capability,
}

impl Anthropic {
    /// `base` is the address of the API with or without `/v1` and `/messages`.
    pub(crate) fn new(base: &str, key: Option<SecretString>, model: &str) -> Self {
        let (base, query) = base.split_at(base.find('?').unwrap_or(base.len()));
        let base = base.trim_end_matches('/');
        let end = match base {
            whole if whole.ends_with("/messages") => "",
            versioned if versioned.ends_with("/v1") => "/messages",
            _ => "/v1/messages",
        };
        let url = format!("{base}{end}{query}");
        Self { url, key, model: model.into(), capability: capability::of(model) }
    }
}

impl Wire for Anthropic {
    type Decoder = stream::AnthropicDecoder;

    fn url(&self, _stream: bool) -> String {
        self.url.clone()
    }

    fn headers(&self, request: &ModelRequest) -> Vec<(&'static str, String)> {
        let mut headers = vec![("anthropic-version", VERSION.to_owned())];
        if let Some(key) = &self.key {
            headers.push(("x-api-key", key.expose_secret().to_owned()));
        }
        if let Some(beta) = self.capability.interleaved
            && request.options.thinking_budget >= LEAST_BUDGET
            && !request.tools.is_empty()
        {
            headers.push(("anthropic-beta", beta.to_owned()));
        }
        headers
    }

    fn encode(&self, request: &ModelRequest, stream: bool) -> Result<Vec<u8>, ProviderError> {
        encode::encode(&self.model, self.capability, request, stream)
    }

    fn decode(&self, body: &[u8]) -> Result<ModelReply, ProviderError> {
        decode::decode(&self.model, body)
    }

    fn decoder(&self) -> Self::Decoder {
        stream::AnthropicDecoder::new(&self.model)
    }

    fn decode_error(&self, status: u16, body: &[u8], retry_after: Option<Duration>) -> ProviderError {
        Failure::from_body(status, body).into_error(Some(status), retry_after)
    }
}

#[cfg(test)]
mod tests;
