//! Step 1: what is added to a message before the model gets it.
//!
//! Nothing is added yet; memory and skills will be. The typed text and every added piece stay apart, so that guards
//! know where a text comes from.

use crate::message::Content;
use crate::screening::Source;
use std::sync::Arc;

/// A message on its way to the model.
pub(super) struct Augmented {
    /// As the user typed it.
    pub(super) typed: Arc<str>,
    /// As the model gets it.
    pub(super) content: Content,
    /// What was added, each piece with its source.
    pub(super) pieces: Vec<(Source, String)>,
}

/// Adds context to a message.
pub(super) fn augment(content: Content) -> Augmented {
    let typed: Arc<str> = content.as_text().into();
    Augmented { typed, content, pieces: Vec::new() }
}
