//! Cleans the answer: PHP tags and dangerous function calls are taken out or escaped, in any case of letters.
//!
//! The stateful [`AnswerFilter`] gives the same bytes however the text is cut into pieces: it holds back only what
//! may still become a match, and with [`AnswerMode::OutsideCodeFences`] what may still turn out to be code.

mod markdown;
mod mode;
mod outside;
mod pattern;

pub use mode::AnswerMode;
use outside::Outside;
pub use pattern::{CALL_REDACTED, CALLS, TAG_REMOVED, TAGS};
use pattern::{next_match, open_suffix};

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

    /// What was found here or there.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        for (here, there) in self.tags.iter_mut().zip(other.tags).chain(self.calls.iter_mut().zip(other.calls)) {
            *here |= there;
        }
        self
    }
}

/// Cleans a whole answer. Takes time in proportion to its length.
///
/// ```
/// use cheliped::guard::answer::{AnswerMode, clean};
/// let (text, findings) = clean("<?PHP Shell_Exec('ls'); ?>".into(), AnswerMode::Documented);
/// assert_eq!(text, "[PHP_REMOVED] Shell_[REDACTED]('ls'); [PHP_REMOVED]");
/// assert_eq!(findings.calls().collect::<Vec<_>>(), ["exec("]);
/// let (text, _) = clean("<?php eval($x); ?>".into(), AnswerMode::Escape);
/// assert_eq!(text, "&lt;?php eval&#40;$x); ?&gt;");
/// let (text, _) = clean("Never use `eval(x)` like eval(x)".into(), AnswerMode::OutsideCodeFences);
/// assert_eq!(text, "Never use `eval(x)` like [REDACTED](x)");
/// ```
pub fn clean(text: String, mode: AnswerMode) -> (String, Findings) {
    // Most answers hold nothing.
    if mode == AnswerMode::Off || next_match(text.as_bytes(), 0).is_none() {
        return (text, Findings::default());
    }
    let mut filter = AnswerFilter::new(mode);
    let mut cleaned = filter.push(text);
    cleaned.push_str(&filter.finish());
    (cleaned, filter.findings)
}

/// Cleans an answer that comes in pieces.
///
/// ```
/// use cheliped::guard::answer::{AnswerFilter, AnswerMode};
/// let mut filter = AnswerFilter::new(AnswerMode::Documented);
/// assert_eq!(filter.push("run shell_ex"), "run shell_");
/// assert_eq!(filter.push("ec('ls') or sys"), "[REDACTED]('ls') or ");
/// assert_eq!(filter.finish(), "sys");
/// ```
#[derive(Debug)]
pub struct AnswerFilter {
    rule: Rule,
    findings: Findings,
}

#[derive(Debug)]
enum Rule {
    Off,
    /// Everywhere alike; the text is what was held back.
    Everywhere {
        held: String,
        escape: bool,
    },
    Outside(Box<Outside>),
}

impl AnswerFilter {
    /// A filter at the beginning of a text.
    pub fn new(mode: AnswerMode) -> Self {
        let rule = match mode {
            AnswerMode::Off => Rule::Off,
            AnswerMode::Documented => Rule::Everywhere { held: String::new(), escape: false },
            AnswerMode::Escape => Rule::Everywhere { held: String::new(), escape: true },
            AnswerMode::OutsideCodeFences => Rule::Outside(Box::default()),
        };
        Self { rule, findings: Findings::default() }
    }

    /// Takes a piece and gives what can be shown now.
    pub fn push(&mut self, piece: impl Into<String>) -> String {
        let piece = piece.into();
        match &mut self.rule {
            Rule::Off => piece,
            Rule::Everywhere { held, escape } => everywhere(held, *escape, piece, &mut self.findings),
            Rule::Outside(outside) => outside.push(&piece, &mut self.findings),
        }
    }

    /// The text is over: gives what was held back. The filter is then as if it were new, but for its findings.
    pub fn finish(&mut self) -> String {
        match &mut self.rule {
            Rule::Off => String::new(),
            // What is held is the beginning of a pattern, and so holds none.
            Rule::Everywhere { held, .. } => std::mem::take(held),
            Rule::Outside(outside) => std::mem::take(outside).finish(&mut self.findings),
        }
    }

    /// What was found so far.
    pub fn findings(&self) -> Findings {
        self.findings
    }
}

/// Cleans a piece and what was held before it; what may still become a match is held.
fn everywhere(held: &mut String, escape: bool, piece: String, findings: &mut Findings) -> String {
    let mut text = piece;
    if !held.is_empty() {
        text.insert_str(0, held);
        held.clear();
    }
    let mut cleaned = String::new();
    let mut rest = 0;
    while let Some(found) = next_match(text.as_bytes(), rest) {
        cleaned.push_str(text.get(rest..found.start).unwrap_or_default());
        if escape {
            found.pattern.escape(text.get(found.start..found.end).unwrap_or_default(), &mut cleaned);
        } else {
            found.pattern.replace(&mut cleaned);
        }
        found.pattern.note(findings);
        rest = found.end;
    }
    // Only what follows the last match can still grow into another one.
    let keep = open_suffix(text.as_bytes().get(rest..).unwrap_or_default());
    if keep > 0 {
        *held = text.split_off(text.len() - keep);
    }
    if rest == 0 {
        return text;
    }
    cleaned.push_str(text.get(rest..).unwrap_or_default());
    cleaned
}

#[cfg(test)]
mod tests;
