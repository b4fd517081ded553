//! What every request has, whatever its format: a body written as JSON, and the header that most servers take a key in.
//!
//! What a body holds is decided by the formats alone.

use crate::provider::{ProviderError, ProviderErrorKind};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;

/// Room for the body of a short conversation, so that it is written without growing.
const USUAL_SIZE: usize = 4096;

/// A body as JSON.
///
/// # Errors
/// `invalid_request` when the body holds what the format cannot say.
pub(crate) fn written(body: &impl Serialize) -> Result<Vec<u8>, ProviderError> {
    let mut bytes = Vec::with_capacity(USUAL_SIZE);
    match serde_json::to_writer(&mut bytes, body) {
        Ok(()) => Ok(bytes),
        Err(error) => Err(ProviderError::new(
            ProviderErrorKind::InvalidRequest,
            format!("the request cannot be written: {error}"),
        )),
    }
}

/// The header for a key, none without one.
pub(crate) fn bearer(key: Option<&SecretString>) -> Vec<(&'static str, String)> {
    key.map(|key| ("authorization", format!("Bearer {}", key.expose_secret()))).into_iter().collect()
}
