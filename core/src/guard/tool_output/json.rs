//! Cleans the texts in a JSON document and leaves every other byte as it is.

use super::{Desk, Edit, Marker, ROUNDS, apply};
use memchr::memchr2_iter;
use serde::de::IgnoredAny;
use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

/// What may stand around a document.
const SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

/// Whether the whole text is an object or a list.
pub(super) fn is_json(text: &str) -> bool {
    let text = text.trim_matches(SPACE);
    let closed = text.starts_with('{') && text.ends_with('}') || text.starts_with('[') && text.ends_with(']');
    // Skipping does not nest calls, however deep the document is.
    closed && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Cleans a document that [`is_json`] accepts. Keys stay as they are; orders in them are flagged.
pub(super) fn clean<'a>(document: &'a str, desk: &mut Desk<'_>) -> Cow<'a, str> {
    let mut cleaned = String::new();
    let mut rest = 0;
    let mut keys = HashSet::new();
    // The last text, when it is a key: its value may be a text that stands behind it.
    let mut key: Option<(&str, usize)> = None;
    for span in texts(document) {
        let raw = document.get(span.clone()).unwrap_or_default();
        let after = document.get(span.end + 1..).unwrap_or_default();
        if after.trim_start_matches(SPACE).starts_with(':') {
            if keys.insert(raw) {
                desk.look_only(&Decoded::of(raw).text);
            }
            key = Some((raw, span.end));
            continue;
        }
        let called = key
            .take()
            .filter(|(_, end)| document.get(end + 1..span.start - 1).is_some_and(|gap| gap.trim_matches(SPACE) == ":"));
        if let Some(text) = clean_text(raw, called.map(|(key, _)| Decoded::of(key).text).as_deref(), desk) {
            cleaned.push_str(document.get(rest..span.start).unwrap_or_default());
            cleaned.push_str(&text);
            rest = span.end;
        }
    }
    if rest == 0 {
        return Cow::Borrowed(document);
    }
    cleaned.push_str(document.get(rest..).unwrap_or_default());
    Cow::Owned(cleaned)
}

/// Cleans what stands between the quotes of a text; `None` when nothing changes.
fn clean_text(raw: &str, key: Option<&str>, desk: &mut Desk<'_>) -> Option<String> {
    let mut changed = strip(raw, desk);
    for _ in 0..ROUNDS {
        let now = changed.as_deref().unwrap_or(raw);
        let decoded = Decoded::of(now);
        let mut edits = desk.look(&decoded.text, key);
        for edit in &mut edits {
            edit.span = decoded.behind(edit.span.clone());
        }
        match apply(now, &edits) {
            Some(edited) => changed = Some(edited),
            None => break,
        }
    }
    changed
}

/// Takes hidden characters out of a text, also those that are written as escapes.
fn strip(raw: &str, desk: &Desk<'_>) -> Option<String> {
    let decoded = Decoded::of(raw);
    let Cow::Owned(stripped) = (desk.detectors.strip)(&decoded.text) else { return None };
    if stripped == decoded.text {
        return None;
    }
    match removed(&decoded.text, &stripped) {
        Some(spans) => {
            let edit = |span| Edit { span: decoded.behind(span), marker: Marker::Nothing };
            apply(raw, &spans.into_iter().map(edit).collect::<Vec<_>>())
        }
        None => {
            let written = serde_json::Value::from(stripped).to_string();
            written.get(1..written.len() - 1).map(str::to_owned)
        }
    }
}

/// The bytes that are gone; `None` when the text was changed in another way.
fn removed(before: &str, after: &str) -> Option<Vec<Range<usize>>> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut left = after.chars().peekable();
    for (at, c) in before.char_indices() {
        if left.next_if_eq(&c).is_some() {
            continue;
        }
        let end = at + c.len_utf8();
        match spans.last_mut() {
            Some(last) if last.end == at => last.end = end,
            _ => spans.push(at..end),
        }
    }
    left.next().is_none().then_some(spans)
}

/// The texts of a valid document, without their quotes.
fn texts(document: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = document.as_bytes();
    let mut marks = memchr2_iter(b'"', b'\\', bytes);
    std::iter::from_fn(move || {
        // Outside of texts there are no backslashes.
        let start = marks.next()? + 1;
        let mut escaped = None;
        loop {
            let mark = marks.next()?;
            if escaped == Some(mark) {
                continue;
            }
            match bytes.get(mark) {
                Some(b'\\') => escaped = Some(mark + 1),
                _ => return Some(start..mark),
            }
        }
    })
}

/// A text of a document as it reads, with the way back to how it is written.
struct Decoded<'a> {
    text: Cow<'a, str>,
    /// Where escapes end, as bytes of the read and of the written text.
    escapes: Vec<(usize, usize)>,
}

impl<'a> Decoded<'a> {
    fn of(raw: &'a str) -> Self {
        if memchr::memchr(b'\\', raw.as_bytes()).is_none() {
            return Self { text: Cow::Borrowed(raw), escapes: Vec::new() };
        }
        let mut text = String::with_capacity(raw.len());
        let (mut escapes, mut at) = (Vec::new(), 0);
        while let Some(start) =
            memchr::memchr(b'\\', raw.as_bytes().get(at..).unwrap_or_default()).map(|next| at + next)
        {
            text.push_str(raw.get(at..start).unwrap_or_default());
            let (c, length) = escape(raw.get(start + 1..).unwrap_or_default());
            text.push(c);
            at = start + 1 + length;
            escapes.push((text.len(), at));
        }
        text.push_str(raw.get(at..).unwrap_or_default());
        Self { text: Cow::Owned(text), escapes }
    }

    /// The bytes of the written text behind some of the read one.
    fn behind(&self, span: Range<usize>) -> Range<usize> {
        self.place(span.start)..self.place(span.end)
    }

    fn place(&self, read: usize) -> usize {
        match self
            .escapes
            .partition_point(|(end, _)| *end <= read)
            .checked_sub(1)
            .and_then(|last| self.escapes.get(last))
        {
            Some((end, written)) => written + (read - end),
            None => read,
        }
    }
}

/// The character that an escape stands for, and the length of what follows its backslash. Half a pair of surrogates is
/// U+FFFD.
fn escape(after: &str) -> (char, usize) {
    let simple = match after.bytes().next() {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'u') => return unicode_escape(after),
        Some(other) => char::from(other),
        None => return (char::REPLACEMENT_CHARACTER, 0),
    };
    (simple, 1)
}

fn unicode_escape(after: &str) -> (char, usize) {
    let unit = |at: usize| after.get(at..at + 4).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let Some(first) = unit(1) else { return (char::REPLACEMENT_CHARACTER, 1) };
    if let Some(c) = char::from_u32(first) {
        return (c, 5);
    }
    let second = after.get(5..7).filter(|begin| *begin == "\\u").and_then(|_| unit(7));
    match (first, second) {
        (0xD800..0xDC00, Some(second @ 0xDC00..0xE000)) => {
            let c = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
            (char::from_u32(c).unwrap_or(char::REPLACEMENT_CHARACTER), 11)
        }
        _ => (char::REPLACEMENT_CHARACTER, 5),
    }
}
