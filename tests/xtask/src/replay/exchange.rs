//! One recorded or written exchange: a request, the provider's answer, and what a client must make of it.

use serde::Deserialize;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// An exchange as its file holds it.
#[derive(Debug, Deserialize)]
pub(crate) struct Exchange {
    pub(crate) id: String,
    pub(crate) provider: String,
    pub(crate) api: String,
    pub(crate) model: String,
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    #[serde(default)]
    pub(crate) request: Recorded,
    pub(crate) response: Response,
    pub(crate) expect: Expect,
}

/// The request as it was recorded.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Recorded {
    #[serde(default)]
    pub(crate) body: Value,
}

/// The answer. Exactly one of `body`, `sse` and `raw` is there.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Response {
    pub(crate) status: u16,
    #[serde(default)]
    pub(crate) headers: Value,
    #[serde(default, deserialize_with = "present")]
    pub(crate) body: Option<Value>,
    #[serde(default)]
    pub(crate) sse: Option<String>,
    #[serde(default)]
    pub(crate) raw: Option<String>,
    #[serde(default)]
    pub(crate) transport: Option<Transport>,
}

/// How the answer travels.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Transport {
    #[serde(default)]
    pub(crate) split_at: Vec<usize>,
    #[serde(default)]
    pub(crate) close_after_bytes: Option<usize>,
    #[serde(default)]
    pub(crate) hang_ms: Option<u64>,
}

/// What a client must make of it. An unknown field is refused: it would be a demand that nobody checks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expect {
    #[serde(default)]
    pub(crate) text: Option<String>,
    #[serde(default)]
    pub(crate) thinking: Option<String>,
    #[serde(default)]
    pub(crate) signatures: Option<usize>,
    #[serde(default)]
    pub(crate) tool_calls: Vec<ExpectedCall>,
    #[serde(default)]
    pub(crate) finish_reason: Option<String>,
    #[serde(default)]
    pub(crate) finish_reason_raw: Option<String>,
    #[serde(default)]
    pub(crate) input_tokens: Option<u64>,
    #[serde(default)]
    pub(crate) output_tokens: Option<u64>,
    #[serde(default)]
    pub(crate) cache_read_tokens: Option<u64>,
    #[serde(default)]
    pub(crate) cache_write_tokens: Option<u64>,
    #[serde(default)]
    pub(crate) reasoning_tokens: Option<u64>,
    #[serde(default)]
    pub(crate) input_tokens_total: Option<u64>,
    #[serde(default)]
    pub(crate) refusal: Option<String>,
    #[serde(default)]
    pub(crate) error_kind: Option<String>,
    #[serde(default)]
    pub(crate) error_kind_any_of: Option<Vec<Option<String>>>,
    #[serde(default)]
    pub(crate) error_message: Option<String>,
    #[serde(default)]
    pub(crate) error_code: Option<String>,
    #[serde(default)]
    pub(crate) retryable: Option<bool>,
    #[serde(default)]
    pub(crate) retryable_any: bool,
    #[serde(default)]
    pub(crate) retry_after_ms: Option<u64>,
    #[serde(default)]
    pub(crate) retry_after_ms_any_of: Option<Vec<u64>>,
    #[serde(default)]
    pub(crate) failed_generation_contains: Option<String>,
    #[serde(default)]
    pub(crate) complete: Option<bool>,
    #[serde(default)]
    pub(crate) generated_ids: bool,
    #[serde(default)]
    pub(crate) ignore: Vec<String>,
}

/// A tool call that must come out.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectedCall {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) arguments: Value,
    #[serde(default)]
    pub(crate) id: Option<String>,
    #[serde(default)]
    pub(crate) arguments_raw: Option<String>,
    #[serde(default)]
    pub(crate) arguments_error: Option<String>,
}

impl Exchange {
    /// Whether the answer is a stream.
    pub(crate) fn is_stream(&self) -> bool {
        self.response.sse.is_some()
    }

    /// Whether the request's own shape is to be compared.
    pub(crate) fn shows_request(&self) -> bool {
        self.tags.iter().any(|tag| tag == "request-shape") && self.request.body.is_object()
    }

    /// The bytes of the answer's body.
    pub(crate) fn body(&self) -> Vec<u8> {
        let response = &self.response;
        match (&response.sse, &response.raw, &response.body) {
            (Some(text), _, _) | (None, Some(text), _) => text.clone().into_bytes(),
            (None, None, Some(value)) => value.to_string().into_bytes(),
            (None, None, None) => Vec::new(),
        }
    }
}

impl Expect {
    /// The kinds of error that are acceptable; `None` among them means that a reply is.
    pub(crate) fn kinds(&self) -> Vec<Option<&str>> {
        match (&self.error_kind_any_of, &self.error_kind) {
            (Some(any), _) => any.iter().map(Option::as_deref).collect(),
            (None, Some(kind)) => vec![Some(kind)],
            // A broken stream without a kind is an error of any kind.
            (None, None) if self.complete == Some(false) => {
                cheliped::provider::ProviderErrorKind::ALL.iter().map(|kind| Some(kind.name())).collect()
            }
            (None, None) => vec![None],
        }
    }

    pub(crate) fn ignores(&self, field: &str) -> bool {
        self.ignore.iter().any(|ignored| ignored == field)
    }
}

/// A file and what is in it, or why it cannot be read.
pub(crate) struct Loaded {
    pub(crate) name: String,
    pub(crate) exchange: Result<Exchange, String>,
}

/// Reads every exchange under `folder` whose name contains `only`, in the order of their paths.
///
/// # Errors
/// When there is no such folder, it cannot be read, or it holds no exchange.
pub(crate) fn load(folder: &Path, only: Option<&str>) -> Result<Vec<Loaded>, String> {
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    files.sort();
    let mut loaded = Vec::new();
    for file in files {
        let name = file.strip_prefix(folder).unwrap_or(&file).with_extension("").to_string_lossy().into_owned();
        let text =
            std::fs::read_to_string(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        // A list of the exchanges may stand beside them.
        if name == "index" && text.trim_start().starts_with('[') {
            continue;
        }
        let exchange = serde_json::from_str::<Exchange>(&text).map_err(|error| format!("is no exchange: {error}"));
        let name = exchange.as_ref().map_or(name, |exchange| exchange.id.clone());
        if only.is_none_or(|only| name.contains(only)) {
            loaded.push(Loaded { name, exchange });
        }
    }
    match (loaded.is_empty(), only) {
        (true, None) => Err(format!("{} holds no exchange (*.json)", folder.display())),
        (true, Some(only)) => Err(format!("{} holds no exchange whose id contains {only:?}", folder.display())),
        (false, _) => Ok(loaded),
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot read the folder {}: {error}", folder.display());
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    Ok(())
}

/// Tells a body of JSON `null` from a body that is not there.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}
