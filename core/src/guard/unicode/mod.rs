//! Hidden and misleading characters, in the text as it was given.
//!
//! What people's languages and emoji need passes: joiners in the scripts that use them, balanced isolates, variation
//! selectors after characters that take them, flags of regions. Everything that no reader sees and no script asks for
//! is found. Character classes after the Unicode Character Database; flags after Unicode Technical Standard 51.

mod bidi;
mod class;
mod strip;

use super::fold::chars::{is_ignorable, is_mark, is_unspaced};
use super::{Finding, GuardKind};
use class::{is_control, is_emoji, is_hangul_part, is_private, is_rtl, joins, takes_selector};
use std::borrow::Cow;
use std::ops::Range;
pub(super) use strip::strip;

/// A character that is not there by accident.
const CERTAIN: u8 = 90;
/// One that splits what belongs together.
const SPLIT: u8 = 80;
/// One that may have come with pasted text.
const DOUBTFUL: u8 = 60;
/// Marks on one letter from which on they hide it.
const STACKED: usize = 3;
/// Letters with a stroke through them from which on it is no style any more.
const STRUCK: usize = 3;
/// Letters of a word in which a soft hyphen makes sense.
const HYPHENATED: usize = 8;

/// Finds of one kind that are told apart in one text; all that follow the last are told with it, as one.
const MOST: usize = 10_000;

/// Adds what is found, in the order of the text.
pub(super) fn scan(text: &str, found: &mut Vec<Finding>) {
    search(text, MOST, found);
}

/// Adds what is found, of each kind so many at most.
fn search(text: &str, most: usize, found: &mut Vec<Finding>) {
    let before = found.len();
    if text.is_empty() {
        return;
    }
    if text.chars().all(|c| c.is_whitespace() || is_ignorable(c) || c == '\u{2800}') {
        found.push(finding("unicode.invisible", 0..text.len(), 100, "invisible characters"));
        return;
    }
    if text.is_ascii() {
        // Without a branch for each byte: most texts have none.
        if !text.bytes().fold(false, |any, byte| any | is_control_byte(byte)) {
            return;
        }
        let full = before.saturating_add(most);
        for (at, byte) in text.bytes().enumerate() {
            if is_control(char::from(byte)) {
                add(found, full, finding("unicode.hidden.control", at..at + 1, CERTAIN, "control character"));
            }
        }
        return;
    }
    bidi::scan(text, most, found);
    hidden(text, most, found);
    marks(text, most, found);
    if let Some(new) = found.get_mut(before..) {
        new.sort_by_key(|finding| finding.span.start);
    }
}

/// Whether a byte may be one of [`is_control`].
fn is_control_byte(byte: u8) -> bool {
    byte < b' ' && byte != b'\n' && byte != b'\t' || byte == 0x7F
}

fn finding(rule: &'static str, span: Range<usize>, score: u8, pattern: &'static str) -> Finding {
    Finding { guard: GuardKind::Unicode, rule: Cow::Borrowed(rule), span, score, pattern: Cow::Borrowed(pattern) }
}

/// Adds a find, or lets the last one cover it when there are as many as there may be.
fn add(found: &mut Vec<Finding>, full: usize, new: Finding) {
    let is_full = found.len() >= full;
    match found.last_mut() {
        Some(last) if is_full => last.span.end = last.span.end.max(new.span.end),
        _ => found.push(new),
    }
}

/// Characters that are looked at here: nobody sees them, or nobody should.
fn is_special(c: char) -> bool {
    is_ignorable(c)
        || is_control(c)
        || is_private(c)
        || class::is_noncharacter(c)
        || matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{2800}')
}

/// What stands around a run of special characters.
struct Around {
    before: Option<char>,
    after: Option<char>,
    /// Bytes of the text before the run.
    start: usize,
}

/// Looks at every run of characters that nobody sees.
fn hidden(text: &str, most: usize, found: &mut Vec<Finding>) {
    let full = found.len().saturating_add(most);
    let mut before = None;
    let mut chars = text.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        if !is_special(c) {
            before = Some(c);
            continue;
        }
        let mut run = vec![(start, c)];
        while let Some(next) = chars.next_if(|(_, c)| is_special(*c)) {
            run.push(next);
        }
        let around = Around { before, after: chars.peek().map(|(_, c)| *c), start };
        let mut at = 0;
        while let Some((place, c)) = run.get(at).copied() {
            let rest = run.get(at..).unwrap_or_default();
            if around.before == Some('\u{1F3F4}')
                && at == 0
                && let Some(length) = flag(rest)
            {
                at += length;
                continue;
            }
            let first = at == 0;
            let last = at + 1 == run.len();
            let alone = first && last;
            let previous = at.checked_sub(1).and_then(|at| run.get(at)).map(|(_, c)| *c);
            if let Some((rule, score, pattern)) = judge(c, previous, alone, &around, rest, text) {
                add(found, full, finding(rule, place..place + c.len_utf8(), score, pattern));
            }
            at += 1;
        }
    }
}

/// Tag characters that spell a region after a black flag: their number, with the one that ends them.
fn flag(run: &[(usize, char)]) -> Option<usize> {
    let letters =
        run.iter().take_while(|(_, c)| matches!(c, '\u{E0030}'..='\u{E0039}' | '\u{E0061}'..='\u{E007A}')).count();
    let ends = run.get(letters).is_some_and(|(_, c)| *c == '\u{E007F}');
    ((3..=6).contains(&letters) && ends).then_some(letters + 1)
}

type Verdict = Option<(&'static str, u8, &'static str)>;

fn judge(c: char, previous: Option<char>, alone: bool, around: &Around, rest: &[(usize, char)], text: &str) -> Verdict {
    let Around { before, after, start } = *around;
    // The character that this one belongs to, when another special one stands between.
    let base =
        previous.filter(|previous| matches!(previous, '\u{FE0F}' | '\u{FE0E}')).and(before).or(previous).or(before);
    let visible = |c: Option<char>| c.is_some_and(|c| !c.is_whitespace());
    let inside = visible(before) && visible(after);
    let both = |is: fn(char) -> bool| before.is_some_and(is) && after.is_some_and(is);
    let either = |is: fn(char) -> bool| before.is_some_and(is) || after.is_some_and(is);
    match c {
        '\u{FEFF}' if start == 0 && alone => None,
        '\u{200B}' if both(is_unspaced) => None,
        '\u{200B}' if alone && after.is_none() => None,
        '\u{200B}' | '\u{2060}' | '\u{FEFF}' | '\u{2061}'..='\u{2065}' | '\u{206A}'..='\u{206F}' => {
            Some(("unicode.hidden.separator", if inside { SPLIT } else { DOUBTFUL }, "hidden separator"))
        }
        '\u{180E}' | '\u{180B}'..='\u{180D}' | '\u{180F}' if either(class::is_mongolian) => None,
        '\u{180E}' | '\u{34F}' => Some(("unicode.hidden.separator", SPLIT, "hidden separator")),
        '\u{AD}' => hyphen(text, start, rest),
        '\u{200E}' | '\u{200F}' | '\u{61C}' if either(is_rtl) || class::near_rtl(text, start) || !inside => None,
        '\u{200E}' | '\u{200F}' | '\u{61C}' => Some(("unicode.hidden.separator", SPLIT, "direction mark")),
        '\u{200C}' | '\u{200D}' if base.is_some_and(joins) => None,
        '\u{200D}' if base.is_some_and(is_emoji) && after.is_some_and(is_emoji) => None,
        '\u{200C}' | '\u{200D}' => Some(("unicode.hidden.joiner", if inside { SPLIT } else { DOUBTFUL }, "joiner")),
        '\u{115F}' | '\u{1160}' if either(is_hangul_part) => None,
        '\u{115F}' | '\u{1160}' | '\u{3164}' | '\u{FFA0}' => Some(("unicode.hidden.filler", SPLIT, "Hangul filler")),
        '\u{2800}' if either(|c| matches!(c, '\u{2801}'..='\u{28FF}')) => None,
        '\u{2800}' => Some(("unicode.hidden.filler", DOUBTFUL, "braille blank")),
        '\u{E0100}'..='\u{E01EF}' if previous.is_none() && before.is_some_and(class::is_ideograph) => None,
        '\u{FE00}'..='\u{FE0F}' if previous.is_none() && before.is_some_and(|base| takes_selector(base, c)) => None,
        // The keycap's enclosing mark, or a joiner, may stand between two selectors of an emoji sequence.
        '\u{FE0F}' if previous == Some('\u{200D}') => None,
        '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}' => {
            Some(("unicode.hidden.selector", CERTAIN, "variation selectors"))
        }
        '\u{E0000}'..='\u{E0FFF}' => Some(("unicode.hidden.tag", CERTAIN, "tag characters")),
        '\u{FFF9}'..='\u{FFFB}' => Some(("unicode.hidden.annotation", CERTAIN, "interlinear annotation")),
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => None,
        '\u{85}' | '\u{2028}' | '\u{2029}' => Some(("unicode.hidden.line", DOUBTFUL, "line separator")),
        c if is_control(c) => Some(("unicode.hidden.control", CERTAIN, "control character")),
        c if class::is_noncharacter(c) => Some(("unicode.hidden.noncharacter", SPLIT, "noncharacter")),
        c if is_private(c) => {
            both(char::is_alphanumeric).then_some(("unicode.hidden.private", DOUBTFUL, "private use character"))
        }
        c if is_ignorable(c) && !either(joins) => Some(("unicode.hidden.ignorable", SPLIT, "invisible character")),
        _ => None,
    }
}

/// A soft hyphen makes sense in a long word, between letters, and nowhere else but at an end.
fn hyphen(text: &str, start: usize, rest: &[(usize, char)]) -> Verdict {
    let end = rest.first().map_or(start, |(at, c)| at + c.len_utf8());
    let part = |c: &char| c.is_alphabetic() || *c == '\u{AD}' || is_mark(*c);
    let left = text.get(..start).unwrap_or_default().chars().rev().take(64).take_while(part);
    let right = text.get(end..).unwrap_or_default().chars().take(64).take_while(part);
    let (left, right) = (left.filter(|c| *c != '\u{AD}').count(), right.filter(|c| *c != '\u{AD}').count());
    let splits = left > 0 && right > 0 && left + right < HYPHENATED;
    splits.then_some(("unicode.hidden.hyphen", SPLIT, "soft hyphen"))
}

/// Marks that cover the letters they stand on: strokes through several letters, heaps on one.
fn marks(text: &str, most: usize, found: &mut Vec<Finding>) {
    let full = found.len().saturating_add(most);
    let (mut base, mut heap, mut struck) = (None, 0, Vec::new());
    for (at, c) in text.char_indices() {
        if !is_mark(c) {
            base = Some((at, c));
            heap = 0;
            continue;
        }
        let Some((start, letter)) =
            base.filter(|(_, letter)| letter.is_alphanumeric() && !joins(*letter) && !is_rtl(*letter))
        else {
            continue;
        };
        heap += 1;
        if heap == STACKED && letter.is_alphabetic() {
            add(found, full, finding("unicode.hidden.marks", start..at + c.len_utf8(), DOUBTFUL, "stacked marks"));
        }
        if matches!(c, '\u{334}'..='\u{338}' | '\u{20D2}'..='\u{20D3}' | '\u{20E5}') {
            struck.push(start..at + c.len_utf8());
        }
    }
    if struck.len() >= STRUCK
        && let (Some(first), Some(last)) = (struck.first(), struck.last())
    {
        found.push(finding("unicode.hidden.marks", first.start..last.end, DOUBTFUL, "struck letters"));
    }
}

#[cfg(test)]
mod tests;
