//! Reads streams: blocks grow by deltas until the message stops.

use super::decode::{Reading, WireBlock, told_error};
use crate::message::Arguments;
use crate::provider::wire::{Decoder, failure};
use crate::provider::{ModelReply, ProviderError, StreamPart};
use serde::Deserialize;
use serde_json::error::Category;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Reads one streamed reply.
pub(crate) struct AnthropicDecoder {
    model: Box<str>,
    reading: Reading,
    /// Blocks in the order of their start.
    blocks: Vec<Growing>,
    /// The newest block of each index.
    by_index: BTreeMap<u64, usize>,
    stopped: bool,
}

/// A block that grows.
struct Growing {
    kind: Kind,
    /// The block as it started, JSON.
    start: Box<str>,
    /// Text, thinking or the input's JSON.
    body: String,
    signature: String,
    citations: Vec<Box<RawValue>>,
    id: Option<String>,
    name: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Thinking,
    Call,
    /// Anything else; it may have an input that comes in deltas.
    Other,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", default)]
    kind: Option<String>,
    #[serde(default)]
    index: Option<u64>,
    #[serde(default, borrow)]
    message: Option<Start<'a>>,
    #[serde(default, borrow)]
    content_block: Option<&'a RawValue>,
    #[serde(default, borrow)]
    delta: Option<Delta<'a>>,
    #[serde(default, borrow)]
    usage: Option<&'a RawValue>,
    #[serde(default, borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Start<'a> {
    #[serde(default, borrow)]
    usage: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Delta<'a> {
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    partial_json: Option<String>,
    citation: Option<Box<RawValue>>,
    stop_reason: Option<String>,
    #[serde(borrow)]
    stop_details: Option<&'a RawValue>,
}

impl AnthropicDecoder {
    pub(super) fn new(model: &str) -> Self {
        Self {
            model: model.into(),
            reading: Reading::default(),
            blocks: Vec::new(),
            by_index: BTreeMap::new(),
            stopped: false,
        }
    }

    fn start_block(&mut self, index: u64, raw: &RawValue, parts: &mut Vec<StreamPart>) -> Result<(), ProviderError> {
        let block = WireBlock::read(raw)?;
        let kind = match block.kind.as_str() {
            "text" => Kind::Text,
            "thinking" => Kind::Thinking,
            "tool_use" => Kind::Call,
            _ => Kind::Other,
        };
        let growing = Growing {
            kind,
            start: raw.get().into(),
            body: String::new(),
            signature: block.signature.unwrap_or_default(),
            citations: Vec::new(),
            id: block.id,
            name: block.name,
        };
        self.by_index.insert(index, self.blocks.len());
        self.blocks.push(growing);
        match kind {
            Kind::Text => self.more_text(index, block.text.unwrap_or_default(), parts),
            Kind::Thinking => self.more_thinking(index, block.thinking.unwrap_or_default(), parts),
            Kind::Call | Kind::Other => {}
        }
        Ok(())
    }

    /// The block of a delta; one that never started is started by its first delta.
    fn growing(&mut self, index: u64, kind: Kind) -> Option<&mut Growing> {
        let place = *self.by_index.entry(index).or_insert_with(|| {
            self.blocks.push(Growing {
                kind,
                start: "{}".into(),
                body: String::new(),
                signature: String::new(),
                citations: Vec::new(),
                id: None,
                name: None,
            });
            self.blocks.len() - 1
        });
        self.blocks.get_mut(place)
    }

    fn more_text(&mut self, index: u64, text: String, parts: &mut Vec<StreamPart>) {
        if let Some(block) = self.growing(index, Kind::Text).filter(|_| !text.is_empty()) {
            block.body.push_str(&text);
            self.reading.text.push_str(&text);
            parts.push(StreamPart::Text(text));
        }
    }

    fn more_thinking(&mut self, index: u64, thinking: String, parts: &mut Vec<StreamPart>) {
        if let Some(block) = self.growing(index, Kind::Thinking).filter(|_| !thinking.is_empty()) {
            block.body.push_str(&thinking);
            self.reading.thinking.push_str(&thinking);
            parts.push(StreamPart::Thinking(thinking));
        }
    }

    fn delta(&mut self, index: u64, delta: Delta<'_>, parts: &mut Vec<StreamPart>) {
        if let Some(text) = delta.text {
            self.more_text(index, text, parts);
        }
        if let Some(thinking) = delta.thinking {
            self.more_thinking(index, thinking, parts);
        }
        if let Some(signature) = delta.signature
            && let Some(block) = self.growing(index, Kind::Thinking)
        {
            block.signature.push_str(&signature);
        }
        if let Some(json) = delta.partial_json
            && let Some(block) = self.growing(index, Kind::Other)
        {
            block.body.push_str(&json);
        }
        if let Some(citation) = delta.citation
            && let Some(block) = self.growing(index, Kind::Text)
        {
            block.citations.push(citation);
        }
    }
}

impl Decoder for AnthropicDecoder {
    fn event(&mut self, name: &str, data: &str, parts: &mut Vec<StreamPart>) -> Result<(), ProviderError> {
        let event: Event<'_> = match serde_json::from_str(data) {
            Ok(event) => event,
            Err(_) if name == "error" => return Err(failure::unusable(None, data)),
            // A shape that is not known here says nothing; half a JSON text says that something is lost.
            Err(error) if error.classify() == Category::Data => return Ok(()),
            Err(_) if data.trim() == "[DONE]" || data.trim().is_empty() => return Ok(()),
            Err(error) => {
                return Err(failure::unusable(None, format!("the stream has an event that is no JSON: {error}"))
                    .with_source(error));
            }
        };
        let index = event.index.unwrap_or(0);
        match event.kind.as_deref().unwrap_or(name) {
            "message_start" => self.reading.count(event.message.and_then(|message| message.usage)),
            "content_block_start" => {
                if let Some(block) = event.content_block {
                    self.start_block(index, block, parts)?;
                }
            }
            "content_block_delta" => self.delta(index, event.delta.unwrap_or_default(), parts),
            "message_delta" => {
                let delta = event.delta.unwrap_or_default();
                self.reading.stop = delta.stop_reason.or(self.reading.stop.take());
                self.reading.details(delta.stop_details);
                self.reading.count(event.usage);
            }
            "message_stop" => self.stopped = true,
            _ => {
                if let Some(error) = event.error.filter(|error| error.get() != "null") {
                    return Err(told_error(error));
                }
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<ModelReply, ProviderError> {
        if !self.stopped && self.reading.stop.is_none() {
            return Err(failure::broken_stream());
        }
        for block in self.blocks {
            block.finish(&mut self.reading);
        }
        Ok(self.reading.reply(&self.model))
    }

    fn is_done(&self) -> bool {
        self.stopped
    }
}

impl Growing {
    fn finish(self, reading: &mut Reading) {
        match self.kind {
            Kind::Text => {
                let citations =
                    format!("[{}]", self.citations.iter().map(|raw| raw.get()).collect::<Vec<_>>().join(","));
                let mut changes = vec![("text", json_string(&self.body))];
                if !self.citations.is_empty() {
                    changes.push(("citations", citations));
                }
                reading.keep_text(&self.body, with_members(&self.start, "text", &changes));
            }
            Kind::Thinking => {
                let changes = [("thinking", json_string(&self.body)), ("signature", json_string(&self.signature))];
                reading.keep_as_is(with_members(&self.start, "thinking", &changes));
            }
            Kind::Call => {
                let arguments = self.input();
                reading.call(self.id, self.name, arguments, &self.start);
            }
            Kind::Other => match self.body.parse::<Arguments>() {
                Ok(input) => reading.keep_as_is(super::decode::with_input(&self.start, input.as_str())),
                // A delta that belongs to no block cannot go back.
                Err(_) if &*self.start == "{}" => {}
                Err(_) => reading.keep_as_is(self.start.into()),
            },
        }
    }

    /// The arguments: the deltas, or the input of the start where no delta brought any.
    fn input(&self) -> String {
        if !self.body.is_empty() {
            return self.body.clone();
        }
        let start: WireBlock<'_> = serde_json::from_str(&self.start).unwrap_or_default();
        start.input.map(RawValue::get).filter(|input| *input != "{}").unwrap_or_default().to_owned()
    }
}

/// The block as it started with some members replaced, and its type where the start gave none.
fn with_members(start: &str, kind: &str, changes: &[(&str, String)]) -> String {
    let kind = json_string(kind);
    let members = start.parse::<Arguments>().unwrap_or_default().members();
    let others = members
        .iter()
        .map(|(key, value)| (key.as_str(), value.get()))
        .filter(|(key, _)| *key != "type" && !changes.iter().any(|(changed, _)| changed == key));
    let changed = changes.iter().map(|(key, value)| (*key, value.as_str()));
    Arguments::from_members([("type", kind.as_str())].into_iter().chain(others).chain(changed)).as_str().to_owned()
}

fn json_string(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}
