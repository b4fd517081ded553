//! The blocks that messages consist of: text, images, documents, calls and their results.

use crate::message::{Content, Data, Part, ToolResult};
use crate::provider::wire::attachment::text_of;
use crate::provider::wire::raw::Raw;
use crate::provider::wire::turns::NO_RESULT;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Image types that the API takes.
const IMAGES: &[&str] = &["image/jpeg", "image/png", "image/gif", "image/webp"];

/// Asks the provider to cache everything up to here.
#[derive(Clone, Copy, Serialize)]
#[serde(tag = "type", rename = "ephemeral")]
pub(super) struct Mark {}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Block<'a> {
    Text {
        text: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Mark>,
    },
    Image {
        source: Source<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Mark>,
    },
    Document {
        source: Source<'a>,
        #[serde(skip_serializing_if = "str::is_empty")]
        title: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Mark>,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        input: Raw<'a>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        #[serde(skip_serializing_if = "Given::is_nothing")]
        content: Given<'a>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Mark>,
    },
    /// A block that the API made, sent back as it came.
    #[serde(untagged)]
    Native(&'a RawValue),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Source<'a> {
    Base64 { media_type: &'a str, data: &'a str },
    Url { url: &'a str },
    Text { media_type: &'static str, data: String },
}

/// What a tool gave.
pub(super) enum Given<'a> {
    Text(Cow<'a, str>),
    Blocks(Vec<Block<'a>>),
}

impl Given<'_> {
    fn is_nothing(&self) -> bool {
        match self {
            // Blank text is refused, no content is not.
            Self::Text(text) => text.trim().is_empty(),
            Self::Blocks(blocks) => blocks.is_empty(),
        }
    }
}

impl Serialize for Given<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Blocks(blocks) => blocks.serialize(serializer),
        }
    }
}

pub(super) fn text(text: &'static str) -> Block<'static> {
    Block::Text { text: text.into(), cache_control: None }
}

/// The API refuses blank text.
pub(super) fn text_block(text: Cow<'_, str>) -> Option<Block<'_>> {
    (!text.trim().is_empty()).then_some(Block::Text { text, cache_control: None })
}

pub(super) fn blocks_of(content: &Content) -> Vec<Block<'_>> {
    match content {
        Content::Text(text) => text_block(text.as_ref().into()).into_iter().collect(),
        Content::Parts(parts) => parts.iter().filter_map(part_block).collect(),
    }
}

fn part_block(part: &Part) -> Option<Block<'_>> {
    match part {
        Part::Text { text } => text_block(text.as_ref().into()),
        Part::Image { media_type, data } => Some(image(media_type, data)),
        Part::File { media_type, name, data } => Some(document(media_type, name, data)),
    }
}

fn image<'a>(media_type: &'a str, data: &'a Data) -> Block<'a> {
    match data {
        Data::Base64(data) if IMAGES.contains(&media_type) => {
            Block::Image { source: Source::Base64 { media_type, data }, cache_control: None }
        }
        Data::Base64(_) => unseen(format!("[an image of type {media_type}, which this model cannot see]")),
        Data::Url(url) => Block::Image { source: Source::Url { url }, cache_control: None },
    }
}

fn document<'a>(media_type: &'a str, name: &'a str, data: &'a Data) -> Block<'a> {
    let bare = media_type.split(';').next().unwrap_or(media_type).trim();
    let document = |source| Block::Document { source, title: name, cache_control: None };
    match data {
        Data::Base64(data) if bare == "application/pdf" => document(Source::Base64 { media_type: bare, data }),
        Data::Url(url) if bare == "application/pdf" => document(Source::Url { url }),
        Data::Url(url) => unseen(format!("[the file {name:?} of type {media_type} at {url}]")),
        Data::Base64(_) => match text_of(media_type, data).filter(|text| !text.trim().is_empty()) {
            Some(data) => document(Source::Text { media_type: "text/plain", data }),
            None => unseen(format!("[the file {name:?} of type {media_type}, which this model cannot read]")),
        },
    }
}

fn unseen<'a>(note: String) -> Block<'a> {
    Block::Text { text: Cow::Owned(note), cache_control: None }
}

pub(super) fn result_block<'a>(tool_use_id: Cow<'a, str>, result: Option<&'a ToolResult>) -> Block<'a> {
    let (content, is_error) = match result {
        None => (Given::Text(NO_RESULT.into()), true),
        // An error must have content, and only text.
        Some(result) if result.is_error() => match result.content.as_text() {
            text if text.trim().is_empty() => (Given::Text("the tool gave an error without a message".into()), true),
            text => (Given::Text(text), true),
        },
        Some(ToolResult { content: Content::Text(text), .. }) => (Given::Text(text.as_ref().into()), false),
        Some(result) => (Given::Blocks(blocks_of(&result.content)), false),
    };
    Block::ToolResult { tool_use_id, content, is_error, cache_control: None }
}
