//! Cleans the answer: PHP tags and dangerous function calls are taken out, in any case of letters.
//!
//! The stateful [`AnswerFilter`] gives the same bytes however the text is cut into pieces: it holds back only what
//! may still become a match. The longest pattern has ten bytes, so at most nine are held back.

/// Tags that become [`TAG_REMOVED`]; the order in which findings are reported.
pub const TAGS: [&str; 3] = ["<?php", "<?=", "?>"];
/// Calls that become [`CALL_REDACTED`], anywhere in the text, also inside longer names: `shell_exec(` comes out as
/// `shell_[REDACTED](`.
pub const CALLS: [&str; 5] = ["eval(", "system(", "exec(", "passthru(", "proc_open("];
/// Bytes of the longest pattern.
const LONGEST: usize = 10;
/// What stands in place of a tag.
pub const TAG_REMOVED: &str = "[PHP_REMOVED]";
/// What stands in place of a call's name and parenthesis.
pub const CALL_REDACTED: &str = "[REDACTED](";

/// What was found in an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    tags: [bool; TAGS.len()],
    calls: [bool; CALLS.len()],
}

impl Findings {
    /// The tags found, each once, in the order of [`TAGS`].
    pub fn tags(self) -> impl Iterator<Item = &'static str> {
        TAGS.into_iter().zip(self.tags).filter_map(|(tag, found)| found.then_some(tag))
    }

    /// The calls found, each once, in the order of [`CALLS`].
    pub fn calls(self) -> impl Iterator<Item = &'static str> {
        CALLS.into_iter().zip(self.calls).filter_map(|(call, found)| found.then_some(call))
    }
}

/// Cleans a whole answer.
///
/// ```
/// use cheliped::guard::answer::clean;
/// let (text, findings) = clean("<?PHP Shell_Exec('ls'); ?>".into());
/// assert_eq!(text, "[PHP_REMOVED] Shell_[REDACTED]('ls'); [PHP_REMOVED]");
/// assert_eq!(findings.calls().collect::<Vec<_>>(), ["exec("]);
/// ```
pub fn clean(text: String) -> (String, Findings) {
    let mut findings = Findings::default();
    let mut cleaned = String::new();
    let rest = clean_matches(&text, &mut cleaned, &mut findings);
    if rest == 0 {
        return (text, findings);
    }
    cleaned.push_str(text.get(rest..).unwrap_or_default());
    (cleaned, findings)
}

/// Copies the text up to the end of its last match, matches replaced, and gives the place where that is.
fn clean_matches(text: &str, cleaned: &mut String, findings: &mut Findings) -> usize {
    let mut rest = 0;
    while let Some(found) = next_match(text.as_bytes(), rest) {
        cleaned.push_str(text.get(rest..found.start).unwrap_or_default());
        cleaned.push_str(found.pattern.replacement());
        found.pattern.note(findings);
        rest = found.end;
    }
    rest
}

/// Cleans an answer that comes in pieces.
#[derive(Debug, Default)]
pub struct AnswerFilter {
    held: String,
    findings: Findings,
}

impl AnswerFilter {
    /// Takes a piece and gives what can be shown now.
    pub fn push(&mut self, piece: impl Into<String>) -> String {
        let mut text = piece.into();
        if !self.held.is_empty() {
            text.insert_str(0, &self.held);
            self.held.clear();
        }
        let mut cleaned = String::new();
        let rest = clean_matches(&text, &mut cleaned, &mut self.findings);
        // Only what follows the last match can still grow into another one.
        let tail = text.get(rest..).unwrap_or_default();
        let keep = open_suffix(tail.as_bytes());
        if keep > 0 {
            self.held = text.split_off(text.len() - keep);
        }
        if rest == 0 {
            return text;
        }
        cleaned.push_str(text.get(rest..).unwrap_or_default());
        cleaned
    }

    /// The text is over: gives what was held back.
    pub fn finish(&mut self) -> String {
        // What is held is the beginning of a pattern, and so holds none.
        std::mem::take(&mut self.held)
    }

    /// What was found so far.
    pub fn findings(&self) -> Findings {
        self.findings
    }
}

#[derive(Clone, Copy)]
enum Pattern {
    Tag(usize),
    Call(usize),
}

impl Pattern {
    fn replacement(self) -> &'static str {
        match self {
            Self::Tag(_) => TAG_REMOVED,
            Self::Call(_) => CALL_REDACTED,
        }
    }

    fn note(self, findings: &mut Findings) {
        let slot = match self {
            Self::Tag(index) => findings.tags.get_mut(index),
            Self::Call(index) => findings.calls.get_mut(index),
        };
        if let Some(slot) = slot {
            *slot = true;
        }
    }
}

struct Match {
    start: usize,
    end: usize,
    pattern: Pattern,
}

/// The first match that starts at or after `from`. Patterns cannot overlap: a call ends in its only parenthesis, and
/// no tag's beginning is another tag's end before it.
fn next_match(bytes: &[u8], from: usize) -> Option<Match> {
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
fn open_suffix(bytes: &[u8]) -> usize {
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
    use proptest::prelude::*;

    #[test]
    fn the_longest_pattern_is_known() {
        assert_eq!(TAGS.iter().chain(CALLS.iter()).map(|pattern| pattern.len()).max(), Some(LONGEST));
    }

    #[test]
    fn the_documented_cases() {
        let cases = [
            ("<?php echo 1; ?>", "[PHP_REMOVED] echo 1; [PHP_REMOVED]"),
            ("<?= $x ?>", "[PHP_REMOVED] $x [PHP_REMOVED]"),
            ("shell_exec('x') pcntl_exec(1)", "shell_[REDACTED]('x') pcntl_[REDACTED](1)"),
            ("a filesystem(", "a file[REDACTED]("),
            ("eval (x)", "eval (x)"),
            ("EVAL(x) Proc_Open(", "[REDACTED](x) [REDACTED]("),
            ("<?=?>", "[PHP_REMOVED][PHP_REMOVED]"),
            ("<?<?php", "<?[PHP_REMOVED]"),
            ("", ""),
        ];
        for (before, after) in cases {
            assert_eq!(clean(before.into()).0, after, "{before}");
        }
    }

    #[test]
    fn only_what_may_become_a_match_is_held_back() {
        let mut filter = AnswerFilter::default();
        assert_eq!(filter.push("Hello sys"), "Hello ");
        assert_eq!(filter.push("tematic"), "systematic");
        assert_eq!(filter.push(" shell_ex"), " shell_");
        assert_eq!(filter.push("ec("), "[REDACTED](");
        assert_eq!(filter.finish(), "");
        assert_eq!(filter.findings().calls().collect::<Vec<_>>(), ["exec("]);
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same_bytes(pieces in prop::collection::vec("(?:<\\?php|<\\?=|\\?>|eval\\(|SYSTEM\\(|shell_exec\\(|proc_|open\\(|[<?>(exys é]){0,4}", 0..12)) {
            let whole = pieces.concat();
            let mut filter = AnswerFilter::default();
            let mut streamed: String = pieces.iter().map(|piece| filter.push(piece.as_str())).collect();
            streamed.push_str(&filter.finish());
            let (cleaned, findings) = clean(whole.clone());
            prop_assert_eq!(&streamed, &cleaned);
            prop_assert_eq!(filter.findings(), findings);
            // One character at a time.
            let mut filter = AnswerFilter::default();
            let mut streamed: String = whole.chars().map(|c| filter.push(c)).collect();
            streamed.push_str(&filter.finish());
            prop_assert_eq!(&streamed, &cleaned);
        }
    }
}
