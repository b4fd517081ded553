//! SQL that destroys or changes data.

use super::{Finding, Folded};

/// Adds what is found, in the order of the text.
pub(super) fn scan(_folded: &Folded<'_>, _found: &mut Vec<Finding>) {}
