//! Errors that providers report, in all the shapes that they have: read once, sorted into one set of kinds.
//!
//! Used for answers that are no 2xx, for 2xx bodies that hold an error, and for errors inside a stream.

use crate::limits::prefix;
use crate::provider::{ProviderError, ProviderErrorKind, retry_hint};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::time::Duration;

/// Characters of a body without JSON that are shown.
const SHOWN: usize = 200;
/// Characters of a provider's message that are kept.
const MESSAGE: usize = 4000;

/// What an error says about itself.
#[derive(Debug, Default)]
pub(crate) struct Failure {
    /// The provider's message.
    pub(crate) message: String,
    /// Its code: the most exact word or number that it gives.
    pub(crate) code: Option<String>,
    /// Its type, such as `invalid_request_error`.
    pub(crate) kind: Option<String>,
    /// A status inside the body, for errors on a 200.
    pub(crate) status: Option<u16>,
    /// What the model wrote when its tool call was refused.
    pub(crate) failed_generation: Option<String>,
}

impl Failure {
    /// Reads the body of an answer that is no 2xx. Any bytes give something that can be shown.
    pub(crate) fn from_body(status: u16, body: &[u8]) -> Self {
        let parsed = serde_json::from_slice::<Value>(body.trim_ascii()).ok();
        let mut failure = parsed.as_ref().map(Self::from_value).unwrap_or_default();
        if failure.message.is_empty() {
            failure.message = match parsed {
                Some(_) => format!("HTTP {status}"),
                None => plain_text(body).unwrap_or_else(|| format!("HTTP {status} with an empty body")),
            };
        }
        failure
    }

    /// Reads an error from JSON: the whole body, or what stands under its `error` key.
    pub(crate) fn from_value(value: &Value) -> Self {
        match value {
            Value::String(message) => Self { message: shorten(message), ..Self::default() },
            Value::Array(list) => list.first().map(Self::from_value).unwrap_or_default(),
            Value::Object(map) => match map.get("error") {
                Some(inner @ (Value::Object(_) | Value::Array(_))) => {
                    let mut failure = Self::from_value(inner);
                    failure.code = failure.code.or_else(|| word(map, "code"));
                    failure
                }
                Some(Value::String(message)) => Self { message: shorten(message), ..Self::from_fields(map) },
                Some(Value::Null | Value::Bool(_) | Value::Number(_)) | None => Self::from_fields(map),
            },
            Value::Null | Value::Bool(_) | Value::Number(_) => Self::default(),
        }
    }

    fn from_fields(map: &Map<String, Value>) -> Self {
        let message = ["message", "detail", "msg", "title"]
            .iter()
            .find_map(|key| map.get(*key).and_then(message_of))
            .unwrap_or_default();
        let number = ["status_code", "raw_status_code", "status", "code"]
            .iter()
            .find_map(|key| map.get(*key).and_then(number))
            .and_then(|status| u16::try_from(status).ok())
            .filter(|status| (400..600).contains(status));
        Self {
            message: shorten(&message),
            // Google keeps the word in `status` and the HTTP number in `code`.
            code: word(map, "code")
                .filter(|code| code.parse::<u64>().is_err())
                .or_else(|| word(map, "status").filter(|status| status.parse::<u64>().is_err()))
                .or_else(|| word(map, "code")),
            kind: word(map, "type"),
            status: number,
            failed_generation: word(map, "failed_generation"),
        }
    }

    /// The error for the caller. `status` is the answer's, `None` inside a stream or a 2xx body.
    pub(crate) fn into_error(self, status: Option<u16>, retry_after: Option<Duration>) -> ProviderError {
        let (kind, retryable) = self.sort(status);
        let rejected_tool_call = self.says("tool_use_failed");
        let retry_after = retry_after.or_else(|| retryable.then(|| retry_hint::from_text(&self.message)).flatten());
        let message = if self.message.is_empty() {
            self.code.clone().or_else(|| self.kind.clone()).unwrap_or_else(|| "error without a message".to_owned())
        } else {
            self.message
        };
        let mut error = ProviderError::new(kind, message);
        error.status = status;
        error.retryable = retryable;
        error.retry_after = retry_after;
        error.code = self.code.or(self.kind);
        error.failed_generation = self.failed_generation;
        error.rejected_tool_call |= rejected_tool_call;
        error
    }

    fn sort(&self, status: Option<u16>) -> (ProviderErrorKind, bool) {
        use ProviderErrorKind as Kind;
        let by_number = |status: u16| match status {
            401 | 403 => Some((Kind::Auth, false)),
            408 | 504 => Some((Kind::Timeout, true)),
            // Another request holds a lock; a too early request.
            409 | 425 => Some((Kind::InvalidRequest, true)),
            429 => Some((Kind::RateLimit, !self.is_final())),
            498 | 503 | 529 => Some((Kind::Overloaded, true)),
            400 if self.is_bad_key() => Some((Kind::Auth, false)),
            400..=499 => Some((Kind::InvalidRequest, false)),
            500..=599 => Some((Kind::Server, true)),
            _ => None,
        };
        let by_word = || {
            if self.is_bad_key() || self.says("authentication") || self.says("permission") {
                (Kind::Auth, false)
            } else if self.says("rate_limit") || self.says("insufficient_quota") || self.says("resource_exhausted") {
                (Kind::RateLimit, !self.is_final())
            } else if self.says("overloaded") || self.says("unavailable") || self.says("capacity") {
                (Kind::Overloaded, true)
            } else if self.says("timeout") || self.says("deadline") {
                (Kind::Timeout, true)
            } else if [
                "invalid",
                "not_found",
                "unsupported",
                "too_large",
                "tool_use_failed",
                "billing",
                "context_length",
            ]
            .iter()
            .any(|word| self.says(word))
            {
                (Kind::InvalidRequest, false)
            } else {
                (Kind::Server, true)
            }
        };
        status.and_then(by_number).or_else(|| self.status.and_then(by_number)).unwrap_or_else(by_word)
    }

    /// A quota or a single request over the limit: the same request fails again after any wait.
    fn is_final(&self) -> bool {
        self.says("insufficient_quota")
            || self.says("billing")
            || ["request too large", "exceeded your current quota", "insufficient balance", "credit balance"]
                .iter()
                .any(|words| contains(&self.message, words))
    }

    fn is_bad_key(&self) -> bool {
        ["invalid_api_key", "api_key_invalid", "authentication_error"].iter().any(|word| self.says(word))
            || ["incorrect api key", "invalid api key", "api key not valid", "api key expired"]
                .iter()
                .any(|words| contains(&self.message, words))
    }

    /// Whether code or type hold this word.
    fn says(&self, word: &str) -> bool {
        [&self.code, &self.kind].into_iter().flatten().any(|own| contains(own, word))
    }
}

/// The error for a reply that no rule of its format explains.
pub(crate) fn unusable(status: Option<u16>, what: impl Into<String>) -> ProviderError {
    let mut error = ProviderError::new(ProviderErrorKind::Server, what);
    error.status = status;
    error
}

/// The error for a reply that has more than `most` of something. The same request would give the same again.
pub(crate) fn too_many(most: usize, what: &str) -> ProviderError {
    let mut error = unusable(None, format!("the reply has more than {most} {what}"));
    error.retryable = false;
    error
}

/// The error for a body that does not have the form of a reply.
pub(crate) fn not_a_reply(body: &[u8], error: &serde_json::Error) -> ProviderError {
    match serde_json::from_slice::<Value>(body) {
        Ok(_) => bare(body, &format!("the reply has another form than expected: {error}")),
        Err(_) => unusable(None, format!("expected a reply in JSON, got {}", describe(body))),
    }
}

/// The error for a body that lacks what makes a reply: perhaps it is an error without its usual wrapping.
pub(crate) fn bare(body: &[u8], missing: &str) -> ProviderError {
    match serde_json::from_slice::<Value>(body).map(|value| Failure::from_value(&value)) {
        Ok(failure) if !failure.message.is_empty() => failure.into_error(None, None),
        Ok(_) | Err(_) => unusable(None, missing),
    }
}

/// The error that an `error` key tells of: some servers always send the key.
pub(crate) fn told(error: &RawValue) -> Option<ProviderError> {
    let value: Value = serde_json::from_str(error.get()).ok()?;
    let is_error = match &value {
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(map) => !map.is_empty(),
    };
    is_error.then(|| Failure::from_value(&value).into_error(None, None))
}

/// The error for a stream that ended before its reply did.
pub(crate) fn broken_stream() -> ProviderError {
    unusable(None, "the stream ended before the reply was complete")
}

/// What a 2xx body without usable JSON is, for people.
pub(crate) fn describe(body: &[u8]) -> String {
    match plain_text(body) {
        None => "an empty body".to_owned(),
        Some(text) => format!("this: {text}"),
    }
}

/// A body as text on one line, without markup; `None` when nothing is left.
fn plain_text(body: &[u8]) -> Option<String> {
    // Only the first lines are shown, so only they are looked at.
    let text = String::from_utf8_lossy(body.get(..body.len().min(16 << 10)).unwrap_or_default());
    let mut plain = String::new();
    let mut rest: &str = &text;
    let markup = text.trim_start().starts_with('<');
    while markup && let Some(open) = rest.find('<') {
        plain.push_str(rest.get(..open).unwrap_or_default());
        plain.push(' ');
        rest = rest.get(open..).and_then(|tag| tag.find('>').and_then(|end| tag.get(end + 1..))).unwrap_or_default();
    }
    plain.push_str(rest);
    let line = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = prefix(&line, SHOWN);
    match (shown.is_empty(), shown.len() < line.len()) {
        (true, _) => None,
        (false, true) => Some(format!("{shown}...")),
        (false, false) => Some(line),
    }
}

fn message_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        // A list of `{loc, msg, type}`.
        Value::Array(list) => {
            let parts: Vec<String> = list.iter().filter_map(complaint).collect();
            Some(parts.join("; ")).filter(|text| !text.is_empty())
        }
        Value::Object(map) => ["message", "detail", "msg"].iter().find_map(|key| map.get(*key).and_then(message_of)),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

fn complaint(value: &Value) -> Option<String> {
    let message = message_of(value)?;
    let place: Vec<String> = match value.get("loc") {
        Some(Value::Array(steps)) => {
            steps.iter().map(|step| step.as_str().map_or_else(|| step.to_string(), str::to_owned)).collect()
        }
        _ => Vec::new(),
    };
    Some(if place.is_empty() { message } else { format!("{}: {message}", place.join(".")) })
}

fn word(map: &Map<String, Value>, key: &str) -> Option<String> {
    match map.get(key)? {
        Value::String(text) => Some(prefix(text, MESSAGE).to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str().and_then(|text| text.parse().ok()))
}

fn shorten(text: &str) -> String {
    prefix(text, MESSAGE).to_owned()
}

/// Whether `text` holds `words`, which are in lower case.
fn contains(text: &str, words: &str) -> bool {
    text.to_ascii_lowercase().contains(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ProviderErrorKind as Kind;

    fn error(status: u16, body: &str) -> ProviderError {
        Failure::from_body(status, body.as_bytes()).into_error(Some(status), None)
    }

    #[test]
    fn reads_every_shape() {
        for (status, body, kind, message, code) in [
            (
                404,
                r#"{"error":{"message":"no such model","type":"invalid_request_error","code":"model_not_found"}}"#,
                Kind::InvalidRequest,
                "no such model",
                Some("model_not_found"),
            ),
            (404, r#"{"error":"model 'x' not found"}"#, Kind::InvalidRequest, "model 'x' not found", None),
            (401, r#"{"detail":"Invalid API Key"}"#, Kind::Auth, "Invalid API Key", None),
            (
                422,
                r#"{"detail":[{"loc":["body","messages",0],"msg":"field required","type":"missing"}]}"#,
                Kind::InvalidRequest,
                "body.messages.0: field required",
                None,
            ),
            (
                422,
                r#"{"object":"error","message":{"detail":[{"loc":["body"],"msg":"bad","type":"x"}]},"code":null}"#,
                Kind::InvalidRequest,
                "body: bad",
                None,
            ),
            (
                400,
                r#"{"object":"error","message":"Invalid model: x","type":"invalid_model","code":"1500"}"#,
                Kind::InvalidRequest,
                "Invalid model: x",
                Some("1500"),
            ),
            (
                400,
                r#"{"code":"bad","error":"Incorrect API key provided."}"#,
                Kind::Auth,
                "Incorrect API key provided.",
                Some("bad"),
            ),
            (
                400,
                r#"[{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}]"#,
                Kind::Auth,
                "API key not valid.",
                Some("INVALID_ARGUMENT"),
            ),
            (413, "Payload Too Large", Kind::InvalidRequest, "Payload Too Large", None),
            (502, "<html>\n<head><title>502 Bad Gateway</title></head></html>", Kind::Server, "502 Bad Gateway", None),
            (503, "", Kind::Overloaded, "HTTP 503 with an empty body", None),
            (500, "{}", Kind::Server, "HTTP 500", None),
            (500, "null", Kind::Server, "HTTP 500", None),
            (
                529,
                r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                Kind::Overloaded,
                "Overloaded",
                Some("overloaded_error"),
            ),
        ] {
            let error = error(status, body);
            assert_eq!((error.kind, error.message.as_str(), error.code.as_deref()), (kind, message, code), "{body}");
            assert_eq!(error.status, Some(status));
        }
        assert!(error(500, &"é".repeat(5000)).message.chars().count() < 250);
    }

    #[test]
    fn knows_what_a_retry_can_help() {
        for (status, body, retryable) in [
            (408, "", true),
            (409, "", true),
            (429, r#"{"error":{"message":"slow down","code":"rate_limit_exceeded"}}"#, true),
            (429, r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#, false),
            (413, r#"{"error":{"message":"Request too large","code":"rate_limit_exceeded"}}"#, false),
            (400, "", false),
            (401, "", false),
            (402, "", false),
            (500, "", true),
            (504, "", true),
        ] {
            assert_eq!(error(status, body).retryable, retryable, "{status} {body}");
        }
        let hint = error(429, r#"{"error":{"message":"Please try again in 7.66s.","code":"rate_limit_exceeded"}}"#);
        assert_eq!(hint.retry_after, Some(Duration::from_millis(7660)));
    }

    #[test]
    fn sorts_errors_without_a_status_by_their_words() {
        let sort = |json: &str| {
            let error = Failure::from_value(&serde_json::from_str(json).unwrap()).into_error(None, None);
            (error.kind, error.retryable)
        };
        assert_eq!(sort(r#"{"error":{"message":"Upstream timed out","code":504}}"#), (Kind::Timeout, true));
        assert_eq!(sort(r#"{"error":{"code":400,"message":"Token limit reached"}}"#), (Kind::InvalidRequest, false));
        assert_eq!(sort(r#"{"error":{"message":"failed","type":"server_error","code":null}}"#), (Kind::Server, true));
        assert_eq!(sort(r#"{"message":"Request too large","code":"rate_limit_exceeded"}"#), (Kind::RateLimit, false));
        assert_eq!(sort(r#"{"error":{"type":"overloaded_error","message":"x"}}"#), (Kind::Overloaded, true));
        assert_eq!(sort(r#"{"error":"an error was encountered while running the model"}"#), (Kind::Server, true));
        let groq = r#"{"error":{"message":"Tool call validation failed","type":"invalid_request_error",
            "code":"tool_use_failed","failed_generation":"{\"name\":\"x\"}","status_code":400}}"#;
        let error = Failure::from_value(&serde_json::from_str(groq).unwrap()).into_error(None, None);
        assert!(error.rejected_tool_call);
        assert_eq!(error.failed_generation.as_deref(), Some(r#"{"name":"x"}"#));
        assert!(!error.retryable);
    }
}
