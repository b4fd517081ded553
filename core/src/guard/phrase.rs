//! Rules over words: concepts of the [lexicon](super::lexicon) that stand close together in one sentence.
//!
//! A rule has an anchor and what must stand near it. Negations cancel an order; a question, talk about words and
//! quotation marks lower the score, because then somebody speaks of an attack instead of making one.

use super::lexicon::{
    self, ASK, Concepts, ENGLISH, HARMLESS, Hit, IGNORE, KEEP, META, NOT, OTHERS, OUTRANK, PROMPT, REVEAL,
};
use super::{Finding, Folded, GuardKind, View};
use std::borrow::Cow;
use std::ops::Range;

/// Bytes of the words that a finding names.
const NAMED: usize = 80;
/// Hits before and after one that may overlap it: phrases have few words.
const OVERLAPS: usize = 8;
/// What a sentence loses that starts like a question.
const ASKED: u8 = 30;
/// What a sentence loses that ends in a question mark.
const QUESTION: u8 = 20;
/// What an order loses that words such as "phrase" or "example" speak about.
const SPOKEN_OF: u8 = 15;
/// And once more when it stands in quotation marks.
const QUOTED: u8 = 20;
/// What "a system prompt" loses against "the system prompt".
const ANY_PROMPT: u8 = 35;

/// A rule.
pub(super) struct Rule {
    /// Its name: `override.rules`.
    pub(super) name: &'static str,
    /// The concept that it starts from.
    pub(super) anchor: Concepts,
    /// Concepts that must stand near it, each at most [`reach`](Self::reach) bytes away.
    pub(super) with: &'static [Concepts],
    pub(super) reach: usize,
    pub(super) score: u8,
    /// In English the first of [`with`](Self::with) follows the anchor.
    pub(super) in_order: bool,
    /// Whether the message names the words of the anchor only.
    pub(super) names_anchor: bool,
    /// Texts that it finds, for the test.
    #[cfg(test)]
    pub(super) hits: &'static [&'static str],
    /// Texts in which it finds nothing that strict settings would block, for the test.
    #[cfg(test)]
    pub(super) misses: &'static [&'static str],
}

/// The known words of a text, found once for all guards that need them.
pub(super) struct Words<'a> {
    views: Vec<(&'a View, Vec<Hit>)>,
}

impl<'a> Words<'a> {
    pub(super) fn of(folded: &'a Folded<'_>) -> Self {
        Self { views: folded.views().map(|view| (view, lexicon::hits(view))).collect() }
    }
}

/// Adds what the rules find. Rules stand in the order of their weight: the first that fits a place counts.
pub(super) fn scan(words: &Words<'_>, guard: GuardKind, rules: &[Rule], found: &mut Vec<Finding>) {
    let before = found.len();
    for (view, hits) in &words.views {
        for sentence in hits.chunk_by(|a, b| a.sentence == b.sentence) {
            Sentence::new(view, sentence).apply(guard, rules, found, before);
        }
    }
    if let Some(new) = found.get_mut(before..) {
        new.sort_by_key(|finding| finding.span.start);
    }
}

struct Sentence<'a> {
    view: &'a View,
    hits: &'a [Hit],
    all: Concepts,
    /// What the frame of the sentence takes from a score.
    frame: u8,
    spoken_of: bool,
}

impl<'a> Sentence<'a> {
    fn new(view: &'a View, hits: &'a [Hit]) -> Self {
        let all = hits.iter().fold(Concepts::default(), |all, hit| all.or(hit.concepts));
        let mut frame = 0;
        if let Some(first) = hits.first() {
            let sentence = lexicon::sentence(view, first);
            // Languages without spaces, and Korean, ask at the end.
            let late = |hit: &Hit| {
                let word = view.text().get(hit.range()).and_then(|word| word.chars().next());
                word.is_some_and(|c| super::fold::chars::is_unspaced(c) || matches!(c, '\u{AC00}'..='\u{D7A3}'))
            };
            if hits.iter().any(|hit| hit.concepts.any(ASK) && (hit.first == sentence.first || late(hit))) {
                frame += ASKED;
            }
            if sentence.question {
                frame += QUESTION;
            }
        }
        Self { view, hits, all, frame, spoken_of: all.any(META) }
    }

    fn apply(&self, guard: GuardKind, rules: &[Rule], found: &mut Vec<Finding>, before: usize) {
        for rule in rules {
            if !self.all.any(rule.anchor) || !rule.with.iter().all(|with| self.all.any(*with)) {
                continue;
            }
            for (index, anchor) in self.hits.iter().enumerate() {
                if anchor.concepts.any(rule.anchor)
                    && !self.cancelled(index)
                    && let Some(finding) = self.fit(guard, rule, index)
                    && !found.iter().skip(before).rev().take(64).any(|other| overlap(&other.span, &finding.span))
                {
                    found.push(finding);
                }
            }
        }
    }

    /// Whether an order is taken back by a negation, or is no order because somebody else does it.
    fn cancelled(&self, index: usize) -> bool {
        let Some(anchor) = self.hits.get(index) else { return true };
        let covers = |hit: &Hit| hit.concepts.any(KEEP.or(HARMLESS)) && overlap(&hit.range(), &anchor.range());
        let around = self.hits.get(index.saturating_sub(OVERLAPS)..(index + OVERLAPS).min(self.hits.len()));
        if around.unwrap_or_default().iter().any(covers) {
            return true;
        }
        if !anchor.concepts.any(IGNORE) {
            return false;
        }
        if !anchor.concepts.any(OUTRANK) && self.has_subject(anchor) {
            return true;
        }
        let Some(before) = index.checked_sub(1).and_then(|index| self.hits.get(index)) else { return false };
        let gap = anchor.start.saturating_sub(before.end);
        before.concepts.any(NOT) && gap <= 12 || before.concepts.any(OTHERS) && gap <= 2
    }

    /// "The tests ignore …": a plural noun with its article before an English verb is who does it.
    fn has_subject(&self, anchor: &Hit) -> bool {
        let tokens = &self.view.tokens().tokens;
        let back = |places: usize| {
            let token = (anchor.first as usize).checked_sub(places).and_then(|index| tokens.get(index));
            token.filter(|token| token.sentence == anchor.sentence).map(|token| self.view.word(*token))
        };
        anchor.concepts.any(ENGLISH)
            && back(1).is_some_and(|noun| noun.len() > 3 && noun.ends_with('s') && !noun.ends_with("ss"))
            && back(2).is_some_and(|article| {
                matches!(article, "the" | "our" | "my" | "these" | "those" | "some" | "most" | "many")
            })
    }

    fn fit(&self, guard: GuardKind, rule: &Rule, index: usize) -> Option<Finding> {
        let anchor = self.hits.get(index)?;
        let mut span = anchor.range();
        let mut score = rule.score;
        for (place, with) in rule.with.iter().enumerate() {
            let ordered = rule.in_order && place == 0;
            let near = self.nearest(index, *with, rule.reach, ordered)?;
            if near.concepts.any(PROMPT) && with.any(PROMPT) && anchor.concepts.any(REVEAL) && self.is_any(near) {
                score = score.saturating_sub(ANY_PROMPT);
            }
            span = span.start.min(near.range().start)..span.end.max(near.range().end);
        }
        score = score.saturating_sub(self.frame);
        let spoken_of = self.spoken_of && self.hits.iter().take(index).any(|hit| hit.concepts.any(META));
        if spoken_of {
            score = score.saturating_sub(SPOKEN_OF);
            if self.quoted(&span) {
                score = score.saturating_sub(QUOTED);
            }
        }
        let named = if rule.names_anchor { anchor.range() } else { span.clone() };
        Some(Finding {
            guard,
            rule: Cow::Borrowed(rule.name),
            span: self.view.origin(span),
            score,
            pattern: Cow::Owned(name(self.view, named)),
        })
    }

    /// The hit of a concept that is nearest to another hit; each may only serve within reach.
    fn nearest(&self, index: usize, concept: Concepts, reach: usize, after_only: bool) -> Option<&Hit> {
        let anchor = self.hits.get(index)?;
        let serves = |hit: &&Hit| hit.concepts.any(concept);
        let after = self
            .hits
            .get(index + 1..)?
            .iter()
            .take_while(|hit| hit.range().start.saturating_sub(anchor.range().end) <= reach)
            .find(serves);
        let before = self
            .hits
            .get(..index)?
            .iter()
            .rev()
            .take_while(|hit| anchor.range().start.saturating_sub(hit.range().end) <= reach)
            .find(serves)
            // English puts the verb first; other languages may not.
            .filter(|hit| !(after_only && hit.concepts.any(ENGLISH) && anchor.concepts.any(ENGLISH)));
        // A word may stand for two concepts: "your instructions" is one hit.
        if anchor.concepts.any(concept) && !after_only {
            return Some(anchor);
        }
        match (before, after) {
            (Some(before), Some(after)) => {
                let (left, right) = (anchor.start.saturating_sub(before.end), after.start.saturating_sub(anchor.end));
                Some(if left < right { before } else { after })
            }
            (before, after) => after.or(before),
        }
    }

    /// Whether a prompt is spoken of that is nobody's: "a system prompt", "our prompts".
    fn is_any(&self, hit: &Hit) -> bool {
        // "your instructions for returning a lamp" are those of a shop.
        let after = self.view.text().get(hit.range().end..).unwrap_or_default().trim_start_matches(' ');
        let others = ["for ", "on ", "about ", "regarding ", "when "].iter().any(|word| after.starts_with(word));
        if others && !after.starts_with("for you") && !after.starts_with("for this") {
            return true;
        }
        if self.view.text().get(hit.range()).is_some_and(|words| words.starts_with("your ") || words.contains(" you "))
        {
            return false;
        }
        let tokens = &self.view.tokens().tokens;
        let before = (hit.first as usize).checked_sub(1).and_then(|index| tokens.get(index));
        before.is_some_and(|token| {
            token.sentence == hit.sentence
                && matches!(
                    self.view.word(*token),
                    "a" | "an"
                        | "our"
                        | "my"
                        | "good"
                        | "better"
                        | "great"
                        | "best"
                        | "some"
                        | "any"
                        | "his"
                        | "her"
                        | "their"
                        | "own"
                        | "each"
                        | "every"
                        | "strange"
                        | "short"
                        | "long"
                        | "sample"
                        | "custom"
                        | "which"
                        | "different"
                        | "separate"
                        | "new"
                        | "writing"
                        | "effective"
                        | "simple"
                        | "called"
                        | "and"
                        | "of"
                        | "for"
                )
        })
    }

    /// Whether a span stands in quotation marks.
    fn quoted(&self, span: &Range<usize>) -> bool {
        let text = self.view.text();
        let near = |c: char| matches!(c, '"' | '\'' | '`' | '「' | '」' | '『' | '』');
        let before = text.get(..span.start).unwrap_or_default().chars().rev().take(24).any(near);
        let after = text.get(span.end..).unwrap_or_default().chars().take(24).any(near);
        before && after
    }
}

fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

/// The words of a range with single spaces between them.
fn name(view: &View, range: Range<usize>) -> String {
    let text = view.text().get(range).unwrap_or_default();
    let mut name = String::new();
    for word in text.split(|c: char| !super::fold::chars::is_word(c)).filter(|word| !word.is_empty()) {
        if name.len() + word.len() > NAMED {
            break;
        }
        if !name.is_empty() {
            name.push(' ');
        }
        name.push_str(word);
    }
    name
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Runs the examples of rules: each hit is found by its rule or a heavier one, no miss is blocked by strict settings.
    pub(in crate::guard) fn run_examples(rules: &[Rule], scan: impl Fn(&str) -> Vec<Finding>) {
        for rule in rules {
            assert!(!rule.hits.is_empty(), "{} has no example", rule.name);
            for text in rule.hits {
                let found = scan(text);
                assert!(found.iter().any(|finding| finding.rule == rule.name), "{}: {text:?}: {found:?}", rule.name);
            }
            for text in rule.misses {
                let found = scan(text);
                assert!(found.iter().all(|finding| finding.score < 50), "{}: {text:?}: {found:?}", rule.name);
            }
        }
    }
}
