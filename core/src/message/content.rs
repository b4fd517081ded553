//! What a message or a tool result holds: text, images, files.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Content of a user message or of a tool result.
///
/// In JSON, plain text is a string and anything else a list of parts.
///
/// ```
/// use cheliped::message::{Content, Data, Part};
/// let content = Content::Parts(vec![
///     Part::text("What is on this picture?"),
///     Part::Image { media_type: "image/png".into(), data: Data::Base64("iVBORw0KGgo=".into()) },
/// ]);
/// assert_eq!(content.as_text(), "What is on this picture?");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Content {
    /// Plain text.
    Text(Box<str>),
    /// Text, images and files in order.
    Parts(Vec<Part>),
}

/// One piece of [`Content`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Text.
    Text {
        /// The text.
        text: Box<str>,
    },
    /// A picture.
    Image {
        /// For example `image/png`.
        media_type: Box<str>,
        /// Where its bytes are.
        data: Data,
    },
    /// A document.
    File {
        /// For example `application/pdf`.
        media_type: Box<str>,
        /// A name for the model, without a path.
        name: Box<str>,
        /// Where its bytes are.
        data: Data,
    },
}

/// Where the bytes of an image or a file are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Data {
    /// The bytes, in standard base64 with padding.
    Base64(Box<str>),
    /// An address that the provider fetches by itself.
    Url(Box<str>),
}

impl Part {
    /// A text part.
    pub fn text(text: impl Into<Box<str>>) -> Self {
        Self::Text { text: text.into() }
    }
}

impl Content {
    /// Plain text.
    pub fn text(text: impl Into<Box<str>>) -> Self {
        Self::Text(text.into())
    }

    /// All text joined; borrowed when there is one piece.
    pub fn as_text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Parts(parts) => {
                let mut texts = parts.iter().filter_map(Part::as_text);
                match (texts.next(), texts.next()) {
                    (None, _) => Cow::Borrowed(""),
                    (Some(only), None) => Cow::Borrowed(only),
                    (Some(first), Some(second)) => {
                        Cow::Owned([first, second].into_iter().chain(texts).collect::<String>())
                    }
                }
            }
        }
    }

    /// All text and the names of files, each on its own line; `None` when there is but one text.
    pub(crate) fn as_text_apart(&self) -> Option<String> {
        let Self::Parts(parts) = self else { return None };
        let texts: Vec<&str> = parts
            .iter()
            .filter_map(|part| match part {
                Part::Text { text } => Some(&**text),
                Part::File { name, .. } => Some(&**name),
                Part::Image { .. } => None,
            })
            .collect();
        let named = parts.iter().any(|part| matches!(part, Part::File { .. }));
        (texts.len() > 1 || named).then(|| texts.join("\n"))
    }

    /// Whether there is nothing in it but blank text.
    pub fn is_blank(&self) -> bool {
        match self {
            Self::Text(text) => text.trim().is_empty(),
            Self::Parts(parts) => parts.iter().all(|part| part.as_text().is_some_and(|text| text.trim().is_empty())),
        }
    }

    /// Characters of its text; images and files count as nothing here.
    pub fn chars(&self) -> usize {
        match self {
            Self::Text(text) => text.chars().count(),
            Self::Parts(parts) => parts.iter().filter_map(Part::as_text).map(|text| text.chars().count()).sum(),
        }
    }
}

impl Part {
    fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            Self::Image { .. } | Self::File { .. } => None,
        }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}
