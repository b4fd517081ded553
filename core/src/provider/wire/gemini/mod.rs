//! Gemini's generateContent format.
//!
//! Requests are written in [`encode`], replies and streams read in [`decode`]. Schemas of tools go out as they are, in
//! `parametersJsonSchema`: the older `parameters` field knows a part of JSON Schema only, and what it does not know
//! would have to be taken out of the tool's contract with the model. The key travels in a header, never in the URL.

mod decode;
mod encode;

use super::Wire;
use crate::provider::capability::{self, Capability};
use crate::provider::{ModelReply, ModelRequest, ProviderError};
use secrecy::{ExposeSecret, SecretString};
use std::fmt::Write as _;
use std::time::Duration;

/// The name under which replies are kept in their own form.
const WIRE: &str = "gemini";

/// The generateContent format of one endpoint, key and model.
pub(crate) struct Gemini {
    /// Up to the method, without it.
    url: String,
    /// What the address asks for beside, without its question mark.
    query: Box<str>,
    key: Option<SecretString>,
    model: Box<str>,
    capability: &'static Capability,
}

impl Gemini {
    /// `base` is the address of the API up to its version, with or without `/models`.
    pub(crate) fn new(base: &str, key: Option<SecretString>, model: &str) -> Self {
        let (base, query) = base.split_once('?').unwrap_or((base, ""));
        let base = base.trim_end_matches('/');
        let base = base.strip_suffix("/models").unwrap_or(base);
        let has_path = base.split_once("://").map_or(base, |(_, rest)| rest).contains('/');
        let version = if has_path { "" } else { "/v1beta" };
        // Tuned models have a folder of their own.
        let folder = if model.contains('/') { "" } else { "models/" };
        let url = format!("{base}{version}/{folder}{}", path_of(model));
        Self { url, query: query.into(), key, model: model.into(), capability: capability::of(model) }
    }
}

/// The model id as part of a path: nothing in it can leave the path.
fn path_of(model: &str) -> String {
    let mut path = String::with_capacity(model.len());
    for byte in model.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/' => path.push(char::from(byte)),
            other => {
                // Writing to a string cannot fail.
                let _ = write!(path, "%{other:02X}");
            }
        }
    }
    path
}

impl Wire for Gemini {
    type Decoder = decode::GeminiDecoder;

    fn url(&self, stream: bool) -> String {
        let method = if stream { "streamGenerateContent" } else { "generateContent" };
        let asked = [if stream { "alt=sse" } else { "" }, &self.query];
        let query: Vec<&str> = asked.into_iter().filter(|part| !part.is_empty()).collect();
        let mark = if query.is_empty() { "" } else { "?" };
        format!("{}:{method}{mark}{}", self.url, query.join("&"))
    }

    fn headers(&self, _request: &ModelRequest) -> Vec<(&'static str, String)> {
        self.key.iter().map(|key| ("x-goog-api-key", key.expose_secret().to_owned())).collect()
    }

    fn encode(&self, request: &ModelRequest, _stream: bool) -> Result<Vec<u8>, ProviderError> {
        encode::encode(&self.model, self.capability, request)
    }

    fn decode(&self, body: &[u8]) -> Result<ModelReply, ProviderError> {
        decode::decode(&self.model, body)
    }

    fn decoder(&self) -> Self::Decoder {
        decode::GeminiDecoder::new(&self.model)
    }

    fn decode_error(&self, status: u16, body: &[u8], retry_after: Option<Duration>) -> ProviderError {
        decode::decode_error(status, body, retry_after)
    }
}

#[cfg(test)]
mod tests;
