//! Hidden and misleading characters.

use super::Finding;

/// Adds what is found, in the order of the text.
pub(super) fn scan(_text: &str, _found: &mut Vec<Finding>) {}
