//! Controls of the writing direction (Unicode Standard Annex 9): overrides, and what is opened and not closed.

use super::{CERTAIN, add, finding};
use crate::guard::Finding;

/// Openings that may wait for their end. What is deeper is itself suspicious.
const DEPTH: usize = 125;

/// Adds overrides, ends without a beginning, and beginnings without an end.
pub(super) fn scan(text: &str, most: usize, found: &mut Vec<Finding>) {
    let full = found.len().saturating_add(most);
    let mut open: Vec<(usize, char)> = Vec::new();
    for (at, c) in text.char_indices() {
        let wrong = match c {
            '\u{202D}' | '\u{202E}' => {
                add(
                    found,
                    full,
                    finding("unicode.bidi.override", at..at + c.len_utf8(), CERTAIN, "direction override"),
                );
                open.push((at, c));
                continue;
            }
            '\u{202A}' | '\u{202B}' | '\u{2066}'..='\u{2068}' => {
                open.push((at, c));
                open.len() > DEPTH
            }
            '\u{202C}' => open.pop_if(|(_, c)| matches!(c, '\u{202A}'..='\u{202E}')).is_none(),
            '\u{2069}' => open.pop_if(|(_, c)| matches!(c, '\u{2066}'..='\u{2068}')).is_none(),
            // A paragraph ends whatever is open.
            '\n' => false,
            _ => continue,
        };
        if wrong {
            add(found, full, unbalanced(at, c));
        }
        if c == '\n' {
            unclosed(&mut open, full, found);
        }
    }
    unclosed(&mut open, full, found);
}

fn unbalanced(at: usize, c: char) -> Finding {
    finding("unicode.bidi.unbalanced", at..at + c.len_utf8(), CERTAIN, "unbalanced direction control")
}

fn unclosed(open: &mut Vec<(usize, char)>, full: usize, found: &mut Vec<Finding>) {
    for (at, c) in open.drain(..) {
        if !matches!(c, '\u{202D}' | '\u{202E}') {
            add(found, full, unbalanced(at, c));
        }
    }
}
