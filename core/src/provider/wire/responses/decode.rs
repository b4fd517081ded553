//! Reads whole replies and their items.

use super::WIRE;
use crate::message::{Native, ToolCall, Usage};
use crate::provider::wire::arguments;
use crate::provider::wire::failure::{self, not_a_reply};
use crate::provider::wire::lenient::{Count, Text};
use crate::provider::{ModelReply, ProviderError, StopReason};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Reads a whole reply.
pub(super) fn decode(model: &str, body: &[u8]) -> Result<ModelReply, ProviderError> {
    let response: Response<'_> = serde_json::from_slice(body).map_err(|error| not_a_reply(body, &error))?;
    if let Some(error) = response.failure() {
        return Err(error);
    }
    let Some(output) = &response.output else {
        return Err(failure::bare(body, "the reply holds no output"));
    };
    reply_of(model, &response, output)
}

#[derive(Deserialize)]
pub(super) struct Response<'a> {
    #[serde(borrow, default)]
    status: Text<'a>,
    #[serde(borrow, default)]
    pub(super) output: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default)]
    incomplete_details: Option<Incomplete<'a>>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
    #[serde(default)]
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Incomplete<'a> {
    #[serde(borrow, default)]
    reason: Text<'a>,
}

#[derive(Deserialize)]
struct Tokens {
    #[serde(default)]
    input_tokens: Count,
    #[serde(default)]
    output_tokens: Count,
    #[serde(default)]
    input_tokens_details: Option<InputDetails>,
    #[serde(default)]
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Deserialize)]
struct InputDetails {
    #[serde(default)]
    cached_tokens: Count,
    #[serde(default)]
    cache_write_tokens: Count,
}

#[derive(Deserialize)]
struct OutputDetails {
    #[serde(default)]
    reasoning_tokens: Count,
}

/// One item of the output; of each kind only its own fields are filled.
#[derive(Deserialize)]
struct OutputItem<'a> {
    #[serde(borrow, default)]
    r#type: Text<'a>,
    #[serde(borrow, default)]
    content: Option<Vec<Said<'a>>>,
    #[serde(borrow, default)]
    summary: Option<Vec<Said<'a>>>,
    #[serde(borrow, default)]
    encrypted_content: Text<'a>,
    #[serde(borrow, default)]
    call_id: Text<'a>,
    #[serde(borrow, default)]
    name: Text<'a>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Said<'a> {
    #[serde(borrow, default)]
    r#type: Text<'a>,
    #[serde(borrow, default)]
    text: Text<'a>,
    #[serde(borrow, default)]
    refusal: Text<'a>,
}

impl Response<'_> {
    /// The error that the response tells of, in whatever way.
    pub(super) fn failure(&self) -> Option<ProviderError> {
        let is_failed = self.status.as_str() == "failed";
        self.error.and_then(failure::told).or_else(|| {
            let what = "the provider reports that the response failed, without a reason";
            is_failed.then(|| failure::unusable(None, what))
        })
    }
}

/// Puts the items of an output together.
pub(super) fn reply_of(model: &str, response: &Response<'_>, items: &[&RawValue]) -> Result<ModelReply, ProviderError> {
    let reason = response.incomplete_details.as_ref().map(|details| details.reason.as_str()).unwrap_or_default();
    let mut reply = ModelReply {
        stop: match (response.status.as_str(), reason) {
            ("completed" | "", _) => StopReason::Stop,
            ("incomplete", "content_filter") => StopReason::ContentFilter,
            ("incomplete", _) => StopReason::Length,
            _ => StopReason::Other,
        },
        stop_raw: response.status.filled().map(str::to_owned),
        usage: response.usage.as_ref().map(usage_of).unwrap_or_default(),
        ..ModelReply::default()
    };
    let cut = reply.stop == StopReason::Length;
    let (mut thinking, mut refusal, mut encrypted) = (String::new(), String::new(), false);
    for item in items {
        let item: OutputItem<'_> = serde_json::from_str(item.get()).map_err(|error| {
            failure::unusable(None, format!("an item of the reply has another form than expected: {error}"))
        })?;
        match item.r#type.as_str() {
            "message" => {
                for said in item.content.iter().flatten() {
                    reply.text.push_str(said.text.as_str());
                    refusal.push_str(said.refusal.as_str());
                }
            }
            "function_call" => {
                let arguments = arguments::from_json(item.arguments, cut);
                reply.calls.push(ToolCall::from_wire(item.call_id.filled(), item.name.as_str(), arguments));
            }
            "reasoning" => {
                encrypted |= item.encrypted_content.filled().is_some();
                let shown = item.summary.iter().flatten().chain(item.content.iter().flatten());
                for said in shown.filter(|said| !said.r#type.as_str().contains("encrypted")) {
                    thinking.push_str(said.text.as_str());
                }
            }
            // Items of server tools and of later versions.
            _ => {}
        }
    }
    if reply.stop == StopReason::Stop {
        if !reply.calls.is_empty() {
            reply.stop = StopReason::ToolCalls;
        } else if !refusal.is_empty() {
            reply.stop = StopReason::Refusal;
        }
    }
    reply.thinking = Some(thinking).filter(|thinking| !thinking.is_empty());
    reply.refusal = Some(refusal).filter(|refusal| !refusal.is_empty());
    // Reasoning that is not here cannot be sent back, for nothing is stored there. A cut call cannot either.
    if encrypted && !cut {
        let blocks: Vec<&str> = items.iter().map(|item| item.get()).collect();
        let blocks = format!("[{}]", blocks.join(",")).into();
        reply.native = Some(Box::new(Native { wire: WIRE.into(), model: model.into(), blocks }));
    }
    Ok(reply)
}

fn usage_of(tokens: &Tokens) -> Usage {
    let input = tokens.input_tokens_details.as_ref();
    Usage {
        input_tokens: tokens.input_tokens.0,
        output_tokens: tokens.output_tokens.0,
        cache_read_tokens: input.and_then(|details| details.cached_tokens.0),
        cache_write_tokens: input.and_then(|details| details.cache_write_tokens.0),
        reasoning_tokens: tokens.output_tokens_details.as_ref().and_then(|details| details.reasoning_tokens.0),
        input_tokens_total: tokens.input_tokens.0,
    }
}
