//! Rules as data, and the one way they are run.
//!
//! A rule names pieces of text that must be there, and the shape around them. All pieces of all rules are looked for in
//! one pass; only where one stands is a shape tried, over a bounded window, so a text takes time in proportion to its
//! length however it is made.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex::bytes::{Regex, RegexBuilder};
use std::ops::Range;
use std::sync::OnceLock;

/// A shape that is made ready when it is first needed.
pub(super) struct Shape {
    source: &'static str,
    ready: OnceLock<Option<Regex>>,
}

impl Shape {
    pub(super) const fn new(source: &'static str) -> Self {
        Self { source, ready: OnceLock::new() }
    }

    /// Where it begins and ends in a piece of a text.
    pub(super) fn find(&self, bytes: &[u8]) -> Option<Range<usize>> {
        let made = || {
            RegexBuilder::new(self.source).unicode(false).dot_matches_new_line(true).size_limit(1 << 21).build().ok()
        };
        self.ready.get_or_init(made).as_ref()?.find(bytes).map(|found| found.range())
    }

    pub(super) fn is_match(&self, bytes: &[u8]) -> bool {
        self.find(bytes).is_some()
    }

    #[cfg(test)]
    pub(super) fn is_sound(&self) -> bool {
        self.is_match(b"");
        self.ready.get().is_some_and(Option::is_some)
    }
}

/// Bytes from the piece on that a shape may look at.
const REACH: usize = 400;
/// Bytes on both sides in which words speak against a rule.
const AROUND: usize = 300;

/// How much the words around it change what a rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// Ordinary in code: lowered in a code fence and where it is asked about.
    Plain,
    /// No ordinary code: lowered only where it is asked about.
    Hostile,
    /// An attack whatever is said about it.
    Firm,
}

/// What must stand before a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    /// No letter or digit, when the piece begins with one.
    Boundary,
    /// The end of another command, or the start of a substitution.
    Separator,
    /// The start of a tag, somewhere before.
    Tag,
}

/// A rule.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub(super) name: &'static str,
    /// What people are told: a short name of the construct.
    pub(super) pattern: &'static str,
    pub(super) score: u8,
    pub(super) weight: Weight,
    /// Pieces of which one must be there, in lower case.
    pieces: &'static [&'static str],
    /// The shape, from the piece on; with `back`, anywhere in the window.
    shape: &'static str,
    before: Before,
    back: usize,
    unless: &'static [&'static str],
    /// What it finds and what it leaves alone.
    #[cfg_attr(not(test), allow(dead_code, reason = "the tests run them"))]
    pub(super) hits: &'static [&'static str],
    #[cfg_attr(not(test), allow(dead_code, reason = "the tests run them"))]
    pub(super) misses: &'static [&'static str],
}

/// A rule of a name, a name for people, a score and a weight.
pub(super) const fn rule(name: &'static str, pattern: &'static str, score: u8, weight: Weight) -> Rule {
    Rule {
        name,
        pattern,
        score,
        weight,
        pieces: &[],
        shape: "",
        before: Before::Boundary,
        back: 0,
        unless: &[],
        hits: &[],
        misses: &[],
    }
}

impl Rule {
    /// The pieces to look for and the shape that begins with them.
    pub(super) const fn at(self, pieces: &'static [&'static str], shape: &'static str) -> Self {
        Self { pieces, shape, ..self }
    }

    /// The command must follow another one.
    pub(super) const fn after_separator(self) -> Self {
        Self { before: Before::Separator, ..self }
    }

    /// The piece must stand inside a tag.
    pub(super) const fn in_tag(self) -> Self {
        Self { before: Before::Tag, ..self }
    }

    /// The shape may begin up to this many bytes before the piece.
    pub(super) const fn back(self, back: usize) -> Self {
        Self { back, ..self }
    }

    /// Words near by that speak against it.
    pub(super) const fn unless(self, unless: &'static [&'static str]) -> Self {
        Self { unless, ..self }
    }

    /// What it must find and what it must leave alone.
    pub(super) const fn examples(self, hits: &'static [&'static str], misses: &'static [&'static str]) -> Self {
        Self { hits, misses, ..self }
    }
}

/// The rules of all files, ready to be run.
pub(super) struct Engine {
    rules: Vec<(&'static Rule, Shape)>,
    search: Option<AhoCorasick>,
    /// The rules of each piece.
    of_piece: Vec<Vec<usize>>,
}

/// A rule that was met.
pub(super) struct Met {
    pub(super) rule: &'static Rule,
    pub(super) range: Range<usize>,
}

impl Engine {
    pub(super) fn new(files: &[&'static [Rule]]) -> Self {
        let rules: Vec<_> =
            files.iter().flat_map(|file| file.iter()).map(|rule| (rule, Shape::new(rule.shape))).collect();
        let (mut pieces, mut of_piece): (Vec<&str>, Vec<Vec<usize>>) = (Vec::new(), Vec::new());
        for (index, (rule, _)) in rules.iter().enumerate() {
            for piece in rule.pieces {
                match pieces.iter().position(|known| known == piece) {
                    Some(known) => {
                        if let Some(of) = of_piece.get_mut(known) {
                            of.push(index);
                        }
                    }
                    None => {
                        pieces.push(piece);
                        of_piece.push(vec![index]);
                    }
                }
            }
        }
        let search =
            AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).match_kind(MatchKind::Standard).build(pieces);
        Self { rules, search: search.ok(), of_piece }
    }

    /// Tells of every rule that a folded text meets, in the order of the pieces; ends early when `tell` says so.
    pub(super) fn run(&self, text: &str, mut tell: impl FnMut(Met) -> bool) {
        let Some(search) = &self.search else { return };
        // Where the last hit of each rule ended, so that a text of nothing but pieces is not read over and over.
        let mut ends = vec![0; self.rules.len()];
        for found in search.find_overlapping_iter(text) {
            for &index in self.of_piece.get(found.pattern().as_usize()).map(Vec::as_slice).unwrap_or_default() {
                let (Some((rule, shape)), Some(end)) = (self.rules.get(index), ends.get_mut(index)) else { continue };
                if found.start() < *end || !stands(text.as_bytes(), found.start(), rule.before) {
                    continue;
                }
                let Some(range) = matched(text, rule, shape, found.range()) else { continue };
                *end = range.end;
                if !tell(Met { rule, range }) {
                    return;
                }
            }
        }
    }

    #[cfg(test)]
    pub(super) fn rules(&self) -> impl Iterator<Item = (&'static Rule, &Shape)> {
        self.rules.iter().map(|(rule, shape)| (*rule, shape))
    }
}

/// The range that a rule's shape takes around a piece.
fn matched(text: &str, rule: &'static Rule, shape: &Shape, piece: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let from = piece.start.saturating_sub(rule.back);
    let window = bytes.get(from..bytes.len().min(piece.start + REACH))?;
    let found = shape.find(window)?;
    // A shape begins with its piece, or takes it in.
    let here = if rule.back == 0 { found.start == 0 } else { from + found.end >= piece.end };
    if !here {
        return None;
    }
    let range = from + found.start..from + found.end;
    if !rule.unless.is_empty() {
        let around = bytes.get(range.start.saturating_sub(AROUND)..bytes.len().min(range.end + AROUND))?;
        if rule.unless.iter().any(|word| memchr::memmem::find(around, word.as_bytes()).is_some()) {
            return None;
        }
    }
    Some(on_characters(text, range))
}

/// Widens a range until it ends between characters.
fn on_characters(text: &str, range: Range<usize>) -> Range<usize> {
    let (mut start, mut end) = (range.start, range.end.max(range.start + 1).min(text.len()));
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    start..end
}

fn stands(bytes: &[u8], start: usize, before: Before) -> bool {
    let previous = start.checked_sub(1).and_then(|at| bytes.get(at)).copied();
    let begins = bytes.get(start).copied().is_some_and(is_word);
    if begins && previous.is_some_and(is_word) {
        return false;
    }
    let near = |length: usize| bytes.get(start.saturating_sub(length)..start).unwrap_or_default().iter().rev();
    match before {
        Before::Boundary => true,
        Before::Separator => near(16)
            .find(|byte| !matches!(byte, b' ' | b'\t'))
            .is_some_and(|byte| matches!(byte, b';' | b'|' | b'&' | b'`' | b'(' | b'\n')),
        Before::Tag => near(160).find(|byte| matches!(byte, b'<' | b'>')) == Some(&b'<'),
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
