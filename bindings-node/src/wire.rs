//! Errors on their way to JavaScript, as JSON text.

use cheliped::Error;
use cheliped::host::Failure;
use napi::Status;
use serde_json::{Value, json};

/// What a function of JavaScript threw. The object itself stays in JavaScript; this is its number there.
#[derive(Debug)]
pub(crate) struct Thrown {
    pub(crate) number: u32,
    pub(crate) text: String,
}

impl std::fmt::Display for Thrown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Thrown {}

/// Number of the JavaScript object that an error comes of.
fn thrown(error: &Error) -> Option<u32> {
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        if let Some(thrown) = inner.downcast_ref::<Thrown>() {
            return Some(thrown.number);
        }
        source = inner.source();
    }
    None
}

/// `{"code", "message", "details", "retryable", "cause"}`.
pub(crate) fn error(error: &Error) -> String {
    let failure = Failure::from(error);
    let details: Value = serde_json::from_str(&failure.details).unwrap_or_default();
    json!({
        "code": failure.code,
        "message": failure.message,
        "details": details,
        "retryable": failure.retryable,
        "cause": thrown(error),
    })
    .to_string()
}

/// An error of the engine as the exception of a synchronous call: its message is the JSON.
pub(crate) fn exception(told: Error) -> napi::Error {
    napi::Error::new(Status::GenericFailure, error(&told))
}

/// How a run ended: `{"ok": value}` or `{"error": …}`.
pub(crate) fn outcome(result: Result<&str, &Error>) -> String {
    match result {
        Ok(json) => format!("{{\"ok\":{json}}}"),
        Err(told) => format!("{{\"error\":{}}}", error(told)),
    }
}
