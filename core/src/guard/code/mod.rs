//! Code that a message brings along to be run.
//!
//! People paste code all day, so a language is no offence: what counts is a hostile shape, such as input of a stranger
//! handed to an interpreter, a command that destroys or carries secrets away, or code where only a value belongs. A
//! question around code lowers the score of all but the clearest attacks; nothing here is run or parsed as a language.

mod call;
#[cfg(test)]
pub(in crate::guard) mod corpus;
pub(in crate::guard) mod frame;
mod languages;
mod rule;
mod script;
mod shell;
mod template;
mod web;
mod windows;

use super::{Finding, Folded, GuardKind, View, ViewKind};
use frame::{Frame, Frames};
use memchr::memmem;
use rule::{Engine, Weight};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;
use std::sync::LazyLock;

/// Findings of one view that are worth telling; a text with more is told by these.
const MOST: usize = 100;
/// Scores below this are not worth a note.
const WORTH: u8 = 25;

static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
    Engine::new(&[shell::RULES, windows::RULES, web::RULES, script::RULES, template::RULES, languages::RULES])
});

/// Adds what is found, in the order of the text.
pub(super) fn scan(folded: &Folded<'_>, found: &mut Vec<Finding>) {
    let first = found.len();
    for view in folded.views() {
        // Digits read as letters make other code, not code in disguise.
        if view.kind() != ViewKind::Leet {
            scan_view(view, first, found);
        }
    }
    if let Some(own) = found.get_mut(first..) {
        own.sort_by_key(|finding| finding.span.start);
    }
}

fn scan_view(view: &View, first: usize, found: &mut Vec<Finding>) {
    let text = view.text();
    let around = Around { frames: Frames::new(view), fences: OnceCell::new(), text };
    let mut count = 0;
    let mut add = |hit: Hit| -> bool {
        let score = around.score(hit.score, hit.weight, hit.range.start);
        if score < WORTH {
            return true;
        }
        let span = view.origin(hit.range);
        let told = |earlier: &Finding| {
            earlier.rule == hit.rule && earlier.span.start < span.end && span.start < earlier.span.end
        };
        if view.kind() != ViewKind::Plain && found.get(first..).unwrap_or_default().iter().any(told) {
            return true;
        }
        found.push(Finding {
            guard: GuardKind::CodeInjection,
            rule: hit.rule.into(),
            span,
            score,
            pattern: hit.pattern,
        });
        count += 1;
        count < MOST
    };
    ENGINE.run(text, |met| {
        add(Hit {
            rule: met.rule.name,
            pattern: met.rule.pattern.into(),
            score: met.rule.score,
            weight: met.rule.weight,
            range: met.range,
        })
    });
    web::closing_tags(text, &mut add);
    call::calls(text, &mut add);
}

/// What a rule met, before the words around it are weighed.
struct Hit {
    rule: &'static str,
    pattern: Cow<'static, str>,
    score: u8,
    weight: Weight,
    range: Range<usize>,
}

/// The words around a place.
struct Around<'a> {
    frames: Frames<'a>,
    /// Where code fences begin and end.
    fences: OnceCell<Vec<usize>>,
    text: &'a str,
}

impl Around<'_> {
    fn score(&self, score: u8, weight: Weight, start: usize) -> u8 {
        let lowered = (u16::from(score) * 55 / 100).try_into().unwrap_or(score);
        match (weight, self.frames.at(start)) {
            (Weight::Firm, _) => score,
            (_, Frame::Asked) => lowered,
            (_, Frame::Ordered) => score.saturating_add(8).min(100),
            (Weight::Plain, Frame::Bare) if self.in_fence(start) => lowered,
            (_, Frame::Bare) => score,
        }
    }

    fn in_fence(&self, start: usize) -> bool {
        let fences = self.fences.get_or_init(|| memmem::find_iter(self.text.as_bytes(), "```").collect());
        fences.partition_point(|fence| *fence < start) % 2 == 1
    }
}

#[cfg(test)]
mod tests;
