//! JSON that is already text: written into a request as it is, kept from a reply as it came.

use crate::message::Native;
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// JSON text. Checked when it is written: what is no JSON is an error, never a broken request.
#[derive(Clone, Copy)]
pub(crate) struct Raw<'a>(pub(crate) &'a str);

impl Serialize for Raw<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::from_str::<&RawValue>(self.0).map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

/// A reply in the provider's own form, for the next request. `None` when it holds what strict readers refuse, such as
/// half a surrogate pair in a place that nobody looked at: it could be neither stored nor sent.
pub(crate) fn own_form(wire: &str, model: &str, blocks: String) -> Option<Box<Native>> {
    let is_sound = serde_json::from_str::<Value>(&blocks).is_ok();
    is_sound.then(|| Box::new(Native { wire: wire.into(), model: model.into(), blocks: blocks.into() }))
}
