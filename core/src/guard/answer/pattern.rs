//! What is taken out of an answer, and where it stands in a text.

use super::Findings;

/// Tags that become [`TAG_REMOVED`]; the order in which findings are reported.
pub const TAGS: [&str; 3] = ["<?php", "<?=", "?>"];
/// Calls that become [`CALL_REDACTED`], anywhere in the text, also inside longer names: `shell_exec(` comes out as
/// `shell_[REDACTED](`.
pub const CALLS: [&str; 5] = ["eval(", "system(", "exec(", "passthru(", "proc_open("];
/// Bytes of the longest pattern.
pub(super) const LONGEST: usize = 10;
/// What stands in place of a tag.
pub const TAG_REMOVED: &str = "[PHP_REMOVED]";
/// What stands in place of a call's name and parenthesis.
pub const CALL_REDACTED: &str = "[REDACTED](";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    Tag(usize),
    Call(usize),
}

impl Pattern {
    /// Writes what stands in place of a match.
    pub(super) fn replace(self, cleaned: &mut String) {
        cleaned.push_str(match self {
            Self::Tag(_) => TAG_REMOVED,
            Self::Call(_) => CALL_REDACTED,
        });
    }

    /// Writes a match so that neither PHP nor a page takes it for code, and people can still read it.
    pub(super) fn escape(self, matched: &str, cleaned: &mut String) {
        for c in matched.chars() {
            match c {
                '<' => cleaned.push_str("&lt;"),
                '>' => cleaned.push_str("&gt;"),
                '(' => cleaned.push_str("&#40;"),
                other => cleaned.push(other),
            }
        }
    }

    pub(super) fn note(self, findings: &mut Findings) {
        let slot = match self {
            Self::Tag(index) => findings.tags.get_mut(index),
            Self::Call(index) => findings.calls.get_mut(index),
        };
        if let Some(slot) = slot {
            *slot = true;
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Match {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) pattern: Pattern,
}

/// The first match that starts at or after `from`. Patterns cannot overlap: a call ends in its only parenthesis, and
/// no tag's beginning is another tag's end before it.
pub(super) fn next_match(bytes: &[u8], from: usize) -> Option<Match> {
    let tail = bytes.get(from..)?;
    for (offset, byte) in tail.iter().enumerate() {
        let here = from + offset;
        match byte {
            b'<' | b'?' => {
                let rest = bytes.get(here..).unwrap_or_default();
                let tag = TAGS.iter().position(|tag| starts_with(rest, tag));
                if let Some(index) = tag {
                    let length = TAGS.get(index).map_or(0, |tag| tag.len());
                    return Some(Match { start: here, end: here + length, pattern: Pattern::Tag(index) });
                }
            }
            b'(' => {
                let before = bytes.get(from..=here).unwrap_or_default();
                let call = CALLS.iter().position(|call| ends_with(before, call));
                if let Some(index) = call {
                    let length = CALLS.get(index).map_or(0, |call| call.len());
                    return Some(Match { start: here + 1 - length, end: here + 1, pattern: Pattern::Call(index) });
                }
            }
            _ => {}
        }
    }
    None
}

fn starts_with(bytes: &[u8], pattern: &str) -> bool {
    bytes.get(..pattern.len()).is_some_and(|start| start.eq_ignore_ascii_case(pattern.as_bytes()))
}

fn ends_with(bytes: &[u8], pattern: &str) -> bool {
    bytes
        .len()
        .checked_sub(pattern.len())
        .and_then(|start| bytes.get(start..))
        .is_some_and(|end| end.eq_ignore_ascii_case(pattern.as_bytes()))
}

/// Length of the longest end of the text that a pattern could start with.
pub(super) fn open_suffix(bytes: &[u8]) -> usize {
    let from = bytes.len().saturating_sub(LONGEST - 1);
    let tail = bytes.get(from..).unwrap_or_default();
    for (start, byte) in tail.iter().enumerate() {
        if !matches!(byte.to_ascii_lowercase(), b'<' | b'?' | b'e' | b's' | b'p') {
            continue;
        }
        let end = tail.get(start..).unwrap_or_default();
        let open = |pattern: &str| {
            pattern.len() > end.len()
                && pattern.as_bytes().get(..end.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(end))
        };
        if TAGS.iter().chain(CALLS.iter()).any(|pattern| open(pattern)) {
            return end.len();
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_pattern_is_known() {
        assert_eq!(TAGS.iter().chain(CALLS.iter()).map(|pattern| pattern.len()).max(), Some(LONGEST));
    }
}
