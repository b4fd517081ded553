//! Taking out what no reader sees: control characters, terminal sequences, hidden and misleading characters.

use super::class::is_control;
use super::search;
use std::borrow::Cow;
use std::ops::Range;

/// What is taken out can leave what then stands alone: the end of an override, say. After so many rounds the rest stays.
const ROUNDS: usize = 4;

/// A text without control characters, terminal sequences (ECMA-48) and hidden characters. Tab, line breaks, joiners in
/// scripts and emoji that use them, and balanced isolates stay.
pub(in crate::guard) fn strip(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| byte.is_ascii() && !is_control(char::from(byte))) {
        return Cow::Borrowed(text);
    }
    let mut stripped = Cow::Borrowed(text);
    for _ in 0..ROUNDS {
        match strip_once(&stripped) {
            Some(once) => stripped = Cow::Owned(once),
            None => break,
        }
    }
    stripped
}

/// What is left when everything that is found is gone; `None` when there is nothing to take out.
fn strip_once(text: &str) -> Option<String> {
    if text.is_ascii() {
        return strip_ascii(text);
    }
    let mut gone = sequences(text);
    let mut found = Vec::new();
    search(text, usize::MAX, &mut found);
    // Marks and lines can be read; what stands alone in private use is an icon.
    let kept = ["unicode.hidden.marks", "unicode.hidden.line", "unicode.hidden.private", "unicode.invisible"];
    gone.extend(found.into_iter().filter(|found| !kept.contains(&&*found.rule)).map(|found| found.span));
    if gone.is_empty() {
        return None;
    }
    gone.sort_by_key(|span| span.start);
    let mut stripped = String::with_capacity(text.len());
    let mut at = 0;
    for span in gone {
        if span.start >= at {
            stripped.push_str(text.get(at..span.start).unwrap_or_default());
        }
        at = at.max(span.end);
    }
    stripped.push_str(text.get(at..).unwrap_or_default());
    Some(stripped)
}

/// The same for a text in which only control characters can be hidden: colours of a terminal, above all.
fn strip_ascii(text: &str) -> Option<String> {
    let mut stripped = String::with_capacity(text.len());
    let (mut at, mut kept) = (0, 0);
    while let Some(offset) = text.bytes().skip(at).position(|byte| is_control(char::from(byte))) {
        let start = at + offset;
        stripped.push_str(text.get(kept..start).unwrap_or_default());
        let rest = text.get(start..).unwrap_or_default();
        at = start + if rest.starts_with('\u{1B}') { sequence(rest).max(1) } else { 1 };
        kept = at;
    }
    if kept == 0 {
        return None;
    }
    stripped.push_str(text.get(kept..).unwrap_or_default());
    Some(stripped)
}

/// Terminal sequences, each whole: CSI (`ESC [ … letter`), OSC and other strings up to their terminator, two-byte ones.
fn sequences(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(offset) = text
        .get(at..)
        .and_then(|rest| rest.find(['\u{1B}', '\u{90}', '\u{98}', '\u{9B}', '\u{9D}', '\u{9E}', '\u{9F}']))
    {
        let start = at + offset;
        let rest = text.get(start..).unwrap_or_default();
        let length = sequence(rest);
        found.push(start..start + length);
        at = start + length;
    }
    found
}

/// Bytes of the sequence at the start of a text.
fn sequence(text: &str) -> usize {
    /// Bytes of a string sequence at most: an unclosed one does not swallow the text.
    const LONGEST: usize = 4096;
    let mut chars = text.char_indices();
    let (kind, body) = match chars.next() {
        Some((_, '\u{1B}')) => match chars.next() {
            Some((at, '[')) => ('[', at + 1),
            Some((at, c @ (']' | 'P' | 'X' | '^' | '_'))) => (c, at + 1),
            Some((at, c @ ' '..='/')) => {
                // An intermediate byte, then the final one.
                return chars.next().map_or(at + c.len_utf8(), |(at, c)| at + c.len_utf8());
            }
            Some((at, c @ '0'..='~')) => return at + c.len_utf8(),
            Some((at, _)) => return at,
            None => return text.len(),
        },
        Some((_, '\u{9B}')) => ('[', 2),
        Some((_, c)) => (']', c.len_utf8()),
        None => return 0,
    };
    let rest = text.get(body..).unwrap_or_default();
    if kind == '[' {
        let parameters = rest.bytes().take_while(|byte| (0x20..=0x3F).contains(byte)).count();
        let last = rest.as_bytes().get(parameters).is_some_and(|byte| (0x40..=0x7E).contains(byte));
        return body + parameters + usize::from(last);
    }
    for (at, c) in rest.char_indices().take_while(|(at, _)| *at < LONGEST) {
        match c {
            '\u{7}' | '\u{9C}' => return body + at + c.len_utf8(),
            '\u{1B}' => {
                return body + at + if rest.get(at + 1..).is_some_and(|rest| rest.starts_with('\\')) { 2 } else { 0 };
            }
            '\n' => break,
            _ => {}
        }
    }
    // Not closed on its line: only the beginning goes.
    body
}
