//! Secrets: keys and tokens of services, private keys, passwords in addresses, and what is assigned to a name that
//! says that it is secret.
//!
//! Every way of looking takes time in proportion to the text: what is read from one place is bounded, or read once.
//! Digests, identifiers, public keys and certificates are no secrets, and neither are the names of variables that
//! hold one.

mod address;
mod assignment;
mod key_block;
mod name;
mod service;
mod value;

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
///
/// ```
/// use cheliped::guard::secrets;
/// let text = "DATABASE_URL=postgres://app:Tr0ub4dor-42x@db.example/app";
/// let found = secrets(text);
/// assert_eq!(found[0].kind, "connection_password");
/// assert_eq!(&text[found[0].span.clone()], "Tr0ub4dor-42x");
/// assert_eq!(secrets("password: <your password here>"), []);
/// ```
pub fn secrets(text: &str) -> Vec<Secret> {
    let mut found = Vec::new();
    service::scan(text, &mut found);
    key_block::scan(text, &mut found);
    address::scan(text, &mut found);
    assignment::scan(text, &mut found);
    // The sort is stable: of two with one span the first way of looking names it.
    found.sort_by(|a, b| a.span.start.cmp(&b.span.start).then(b.span.end.cmp(&a.span.end)));
    found.dedup_by(|later, kept| {
        let overlaps = later.span.start < kept.span.end;
        if overlaps {
            kept.span.end = kept.span.end.max(later.span.end);
        }
        overlaps
    });
    found
}

/// Whether a byte belongs to words.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether the character before a place is the end of an escape, such as `\n` or `%3D`, and so belongs to nothing.
fn is_after_escape(bytes: &[u8], at: usize) -> bool {
    let head = bytes.get(..at).unwrap_or_default();
    match head {
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', a, b] => a.is_ascii_hexdigit() && b.is_ascii_hexdigit(),
        [.., b'\\', b'u', a, b, c, d] => [a, b, c, d].into_iter().all(u8::is_ascii_hexdigit),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
