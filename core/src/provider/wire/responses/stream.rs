//! Reads streams: pieces of text as they come, then the finished items and the final object.

use super::decode::{Response, reply_of};
use crate::provider::wire::Decoder;
use crate::provider::wire::failure::{self, Failure, not_a_reply};
use crate::provider::wire::lenient::Text;
use crate::provider::{ModelReply, ProviderError, StreamPart};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// Items that one reply may hold; far more than any model makes.
const MAX_ITEMS: usize = 4096;

/// Reads one stream of response events.
pub(crate) struct ResponsesDecoder {
    model: Box<str>,
    /// Finished items, kept because the final object may leave them out.
    items: Vec<Box<RawValue>>,
    /// The final object.
    last: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, default)]
    r#type: Text<'a>,
    #[serde(borrow, default)]
    delta: Text<'a>,
    #[serde(borrow, default)]
    item: Option<&'a RawValue>,
    #[serde(borrow, default)]
    response: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

impl ResponsesDecoder {
    pub(super) fn new(model: &str) -> Self {
        Self { model: model.into(), items: Vec::new(), last: None }
    }
}

impl Decoder for ResponsesDecoder {
    fn event(&mut self, name: &str, data: &str, parts: &mut Vec<StreamPart>) -> Result<(), ProviderError> {
        if matches!(data.trim(), "" | "[DONE]") {
            return Ok(());
        }
        let event: Event<'_> = serde_json::from_str(data).map_err(|error| not_a_reply(data.as_bytes(), &error))?;
        match event.r#type.filled().unwrap_or(name) {
            "response.output_text.delta" => {
                if let Some(text) = event.delta.filled() {
                    parts.push(StreamPart::Text(text.to_owned()));
                }
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                if let Some(text) = event.delta.filled() {
                    parts.push(StreamPart::Thinking(text.to_owned()));
                }
            }
            "response.output_item.done" => {
                if self.items.len() >= MAX_ITEMS {
                    return Err(failure::too_many(MAX_ITEMS, "items"));
                }
                self.items.extend(event.item.map(ToOwned::to_owned));
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.last = event.response.map(ToOwned::to_owned);
            }
            "error" => {
                let value = serde_json::from_str::<Value>(data).unwrap_or_default();
                return Err(Failure::from_value(&value).into_error(None, None));
            }
            // Events of progress, of server tools and of later versions.
            _ => {
                if let Some(error) = event.error.and_then(failure::told) {
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<ModelReply, ProviderError> {
        let Some(last) = &self.last else { return Err(failure::broken_stream()) };
        let response: Response<'_> =
            serde_json::from_str(last.get()).map_err(|error| not_a_reply(last.get().as_bytes(), &error))?;
        if let Some(error) = response.failure() {
            return Err(error);
        }
        let in_last = response.output.as_deref().unwrap_or_default();
        let finished: Vec<&RawValue> = self.items.iter().map(AsRef::as_ref).collect();
        reply_of(&self.model, &response, if in_last.len() > finished.len() { in_last } else { &finished })
    }

    fn is_done(&self) -> bool {
        self.last.is_some()
    }
}
