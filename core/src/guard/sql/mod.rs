//! SQL that destroys or changes data.
//!
//! Statements are read the way a database reads them ([`statement`]), orders in everyday words by what they name
//! ([`order`]). A question around a statement lowers the score; a quote that breaks out of a value raises it. Nothing
//! here parses whole queries: that is the business of the SQL tool.

mod lexer;
mod order;
mod statement;
mod words;

use super::code::frame::{Frame, Frames};
use super::{Finding, Folded, GuardKind, View, ViewKind};
use order::Subject;
use statement::Statement;
use std::cell::OnceCell;

/// Findings of one view that are worth telling; a text with more is told by these.
const MOST: usize = 100;
/// Scores below this are not worth a note.
const WORTH: u8 = 25;

/// Adds what is found, in the order of the text.
pub(super) fn scan(folded: &Folded<'_>, found: &mut Vec<Finding>) {
    let first = found.len();
    for view in folded.views() {
        scan_view(folded.original(), view, first, found);
    }
    if let Some(own) = found.get_mut(first..) {
        own.sort_by_key(|finding| finding.span.start);
    }
}

fn scan_view(original: &str, view: &View, first: usize, found: &mut Vec<Finding>) {
    let frames = Frames::new(view);
    let subject = OnceCell::new();
    let (mut count, mut end) = (0, 0);
    for token in &view.tokens().tokens {
        let range = token.range();
        if range.start < end || !(2..=9).contains(&range.len()) {
            continue;
        }
        let verb = view.word(*token);
        if !words::VERBS.contains(verb) {
            continue;
        }
        let statement = statement::read(verb, view.text(), range.end);
        let order = || {
            if !words::ORDER_VERBS.contains(verb) {
                return None;
            }
            order::read(verb, view.text(), range.end, *subject.get_or_init(|| Subject::of(view)))
        };
        let Some(statement) = statement.or_else(order) else { continue };
        let subject = *subject.get_or_init(|| Subject::of(view));
        let place = Place { original, view, start: range.start, subject };
        let score = place.score(&statement, &frames);
        if score < WORTH {
            continue;
        }
        let span = view.origin(range.start..statement.end.max(range.end));
        let told = found.get(first..).unwrap_or_default().iter().any(|earlier| {
            earlier.rule == statement.rule && earlier.span.start < span.end && span.start < earlier.span.end
        });
        if told && view.kind() != ViewKind::Plain {
            continue;
        }
        end = statement.end;
        found.push(Finding {
            guard: GuardKind::DestructiveSql,
            rule: statement.rule.into(),
            span,
            score,
            pattern: statement.head,
        });
        count += 1;
        if count == MOST {
            break;
        }
    }
}

/// Where a statement stands.
struct Place<'a> {
    original: &'a str,
    view: &'a View,
    start: usize,
    subject: Subject,
}

impl Place<'_> {
    /// The score of a statement, given what stands around it.
    fn score(&self, statement: &Statement, frames: &Frames<'_>) -> u8 {
        let mut score = i32::from(statement.score);
        let order = statement.rule.starts_with("sql.order");
        let written = !order && self.is_written_as_sql(statement);
        if written {
            // Capitals tell SQL from a sentence.
            score = score.max(72).min(score + 35);
        }
        if !order && self.breaks_out() {
            score += 10;
        }
        if self.subject.is_elsewhere() && !written && statement.score < 85 {
            score -= 30;
        }
        let [before, earlier, _] = lexer::words_before(self.view.text(), self.start);
        let negated = [before, earlier].iter().any(|word| words::NEGATIONS.contains(word));
        if negated || is_noun_after(before) && !written {
            score -= 40;
        } else if before == "to"
            && !written
            && !matches!(earlier, "want" | "need" | "you" | "have" | "going" | "like" | "ask" | "me" | "us")
        {
            score -= 30;
        }
        match frames.at(self.start) {
            Frame::Asked => score /= 2,
            Frame::Ordered => score += 8,
            Frame::Bare => {}
        }
        u8::try_from(score.clamp(0, 100)).unwrap_or_default()
    }

    /// Whether the head is in capitals, in a text that is not all in capitals.
    fn is_written_as_sql(&self, statement: &Statement) -> bool {
        let end = self.start + statement.head.len().min(statement.end - self.start);
        let head = self.original.get(self.view.origin(self.start..end)).unwrap_or_default();
        head.bytes().any(|byte| byte.is_ascii_uppercase()) && !head.bytes().any(|byte| byte.is_ascii_lowercase())
    }

    /// Whether a quote or another statement was closed right before.
    fn breaks_out(&self) -> bool {
        let before = self.view.text().get(..self.start).unwrap_or_default().trim_end();
        before.ends_with([';', '\'']) || before.ends_with(");") || before.ends_with("');")
    }
}

/// Whether the word before makes the verb a noun: "a drop", "the update".
fn is_noun_after(word: &str) -> bool {
    matches!(
        word,
        "a" | "an" | "the" | "this" | "that" | "every" | "each" | "any" | "no" | "price" | "security" | "last" | "next"
    )
}

#[cfg(test)]
mod tests;
