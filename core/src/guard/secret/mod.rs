//! Secrets: keys, tokens, private keys, passwords in connection strings.

use std::ops::Range;

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// What it is: `github_token`.
    pub kind: &'static str,
    /// Bytes of the text.
    pub span: Range<usize>,
}

/// The secrets in a text, in order, without overlaps.
pub fn secrets(_text: &str) -> Vec<Secret> {
    Vec::new()
}
