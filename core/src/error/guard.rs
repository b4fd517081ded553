//! What a guard found, as errors carry it.

use serde::Serialize;

/// Something that a guard found in a text. It tells where, and never repeats what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GuardFinding {
    /// The guard's key: `injection`.
    pub guard: String,
    /// The rule: `override.rules`.
    pub rule: String,
    /// Where the text comes from: `typed`, `memory:KEY`, `skill:NAME`, `document:NAME`, `tool_arguments:TOOL`.
    pub source: String,
    /// `low`, `medium`, `high` or `critical`.
    pub severity: &'static str,
    /// How sure the rule is, 0 to 100.
    pub score: u8,
    /// The first byte of it in the UTF-8 text.
    pub start: usize,
    /// The byte after it.
    pub end: usize,
    /// What it leads to: `block`, `redact` or `warn`.
    pub action: &'static str,
}
