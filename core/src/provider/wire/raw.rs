//! JSON that is already text, written into a request as it is.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// JSON text. Checked when it is written: what is no JSON is an error, never a broken request.
#[derive(Clone, Copy)]
pub(crate) struct Raw<'a>(pub(crate) &'a str);

impl Serialize for Raw<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::from_str::<&RawValue>(self.0).map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}
