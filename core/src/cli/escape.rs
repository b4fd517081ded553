//! Text of models and tools, made harmless for a terminal.
//!
//! Control characters could move the cursor, change the window's title or hide what was written; characters that
//! change the direction of writing could show another text than there is. They come out as `\u{1b}`.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a terminal could act on the character, or show other text because of it.
pub(super) fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Text of several lines: line breaks and tabs stay, a carriage return before a line break goes.
pub(super) fn lines(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => escaped.push(c),
            '\r' => {}
            c => push(&mut escaped, c),
        }
    }
    escaped
}

/// Text on one line of at most so many characters; what is more is cut with `…`.
pub(super) fn line(text: &str, limit: usize) -> String {
    let mut escaped = String::new();
    for (place, c) in text.chars().enumerate() {
        if place >= limit {
            escaped.push('…');
            break;
        }
        match c {
            '\n' | '\r' | '\t' => escaped.push(' '),
            c => push(&mut escaped, c),
        }
    }
    escaped
}

/// JSON text, in which such characters are written as JSON writes them. They can only stand inside strings.
pub(super) fn json(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_unsafe(c) {
            // All of them are in the basic plane.
            true => write!(escaped, "\\u{:04x}", u32::from(c)).unwrap_or_default(),
            false => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}

fn push(text: &mut String, c: char) {
    match is_unsafe(c) {
        true => write!(text, "\\u{{{:x}}}", u32::from(c)).unwrap_or_default(),
        false => text.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_a_terminal_acts_on_is_left() {
        let nasty = "a\x1b]0;title\x07b\u{9b}2Jc\u{202e}d\x7f\x08e\r\nf\tg";
        assert_eq!(lines(nasty), "a\\u{1b}]0;title\\u{7}b\\u{9b}2Jc\\u{202e}d\\u{7f}\\u{8}e\nf\tg");
        assert_eq!(line("one\ntwo\x1b[0m", 40), "one two\\u{1b}[0m");
        assert_eq!(line("abcdef", 3), "abc…");
        assert_eq!(line("abc", 3), "abc");
    }

    #[test]
    fn json_stays_json() {
        let text = "\u{9b}31m\u{202e}\x7f é";
        let written = serde_json::to_string(text).unwrap();
        let escaped = json(&written);
        assert!(!escaped.contains(is_unsafe));
        assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
        assert!(matches!(json("{\"a\":1}"), Cow::Borrowed(_)));
    }
}
