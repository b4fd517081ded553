//! Code that a message brings along to be run.

pub(in crate::guard) mod frame;

#[cfg(test)]
pub(in crate::guard) mod corpus;

use super::{Finding, Folded};

/// Adds what is found, in the order of the text.
pub(super) fn scan(_folded: &Folded<'_>, _found: &mut Vec<Finding>) {}
