//! Reads a statement word by word, the way a database does: comments and newlines are spaces, names may be quoted.
//!
//! A reader sees a bounded piece of the text, so no unclosed comment or quote makes it run to the end.

use super::words::Words;
use std::ops::Range;

/// Bytes of a statement that are read, from its first word on.
const REACH: usize = 400;

/// What a reader meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lexeme<'a> {
    /// A bare word, with its underscores.
    Word(&'a str),
    /// A name or a string in quotes or brackets.
    Quoted(&'a str),
    /// Digits.
    Number,
    /// Any other character.
    Sign(char),
    /// The end of the text, or of what is read.
    End,
}

/// A place in a folded text.
#[derive(Clone, Debug)]
pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Whether the last lexeme was led up to by a newline.
    pub(super) newline: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, at: usize) -> Self {
        let mut limit = text.len().min(at.saturating_add(REACH));
        while !text.is_char_boundary(limit) {
            limit -= 1;
        }
        Self { text: text.get(..limit).unwrap_or_default(), at, newline: false }
    }

    /// The byte after the last lexeme.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The next lexeme.
    pub(super) fn next(&mut self) -> Lexeme<'a> {
        self.skip();
        let rest = self.text.get(self.at..).unwrap_or_default();
        let Some(first) = rest.chars().next() else { return Lexeme::End };
        let close = match first {
            '"' | '`' | '\'' => Some(first),
            '[' => Some(']'),
            _ => None,
        };
        if let Some(close) = close
            && let Some(length) = rest.get(1..).unwrap_or_default().find(close).filter(|length| *length <= 64)
        {
            self.at += length + 2;
            return Lexeme::Quoted(rest.get(1..=length).unwrap_or_default());
        }
        let length = word_length(rest);
        if length == 0 {
            self.at += first.len_utf8();
            return Lexeme::Sign(first);
        }
        self.at += length;
        let word = rest.get(..length).unwrap_or_default();
        if word.bytes().all(|byte| byte.is_ascii_digit()) { Lexeme::Number } else { Lexeme::Word(word) }
    }

    /// The next lexeme, without taking it.
    pub(super) fn peek(&self) -> Lexeme<'a> {
        self.clone().next()
    }

    /// The next lexeme and whether a newline leads up to it, without taking it.
    pub(super) fn peek_line(&self) -> (Lexeme<'a>, bool) {
        let mut ahead = self.clone();
        let lexeme = ahead.next();
        (lexeme, ahead.newline)
    }

    /// Takes the next lexeme when it is this word.
    pub(super) fn take(&mut self, word: &str) -> bool {
        let mut ahead = self.clone();
        let found = ahead.next() == Lexeme::Word(word);
        if found {
            *self = ahead;
        }
        found
    }

    /// Takes these words when they come next.
    pub(super) fn take_all(&mut self, words: &[&str]) -> bool {
        let mut ahead = self.clone();
        let found = words.iter().all(|word| ahead.take(word));
        if found {
            *self = ahead;
        }
        found
    }

    /// Takes the next lexeme when it is one of these words.
    pub(super) fn take_one(&mut self, words: &impl Words) -> Option<&'static str> {
        let mut ahead = self.clone();
        let Lexeme::Word(next) = ahead.next() else { return None };
        let found = words.find(next)?;
        *self = ahead;
        Some(found)
    }

    /// Takes the next lexeme when it is this sign.
    pub(super) fn take_sign(&mut self, sign: char) -> bool {
        let mut ahead = self.clone();
        let found = ahead.next() == Lexeme::Sign(sign);
        if found {
            *self = ahead;
        }
        found
    }

    /// Skips spaces, comments, and the plus signs that forms write for spaces.
    fn skip(&mut self) {
        self.newline = false;
        loop {
            let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
            let skipped = match rest {
                [b'\n' | b'\r', ..] => {
                    self.newline = true;
                    1
                }
                [byte, ..] if byte.is_ascii_whitespace() || *byte == 0x0B || *byte == 0 => 1,
                [b'+', next, ..] if next.is_ascii_alphanumeric() => 1,
                [b'/', b'*', b'!', ..] => {
                    3 + rest.iter().skip(3).take(6).take_while(|byte| byte.is_ascii_digit()).count()
                }
                [b'/', b'*', ..] => match rest.windows(2).skip(2).position(|pair| pair == b"*/") {
                    Some(length) => length + 4,
                    None => return,
                },
                [b'*', b'/', ..] => 2,
                [b'-', b'-', next, ..] if *next != b'\'' => match rest.iter().position(|byte| *byte == b'\n') {
                    Some(length) => length,
                    None => return,
                },
                _ => match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
                    Some(c) if !c.is_ascii() && c.is_whitespace() => c.len_utf8(),
                    _ => return,
                },
            };
            self.at += skipped;
        }
    }
}

fn word_length(text: &str) -> usize {
    text.char_indices().find(|(_, c)| !(c.is_alphanumeric() || *c == '_')).map_or(text.len(), |(at, _)| at)
}

/// The words before a byte, nearest first, at most three.
pub(super) fn words_before(text: &str, at: usize) -> [&str; 3] {
    let mut words = [""; 3];
    let mut end = at;
    for word in &mut words {
        let range = word_before(text, end);
        end = range.start;
        *word = text.get(range).unwrap_or_default();
    }
    words
}

/// The word that ends before a byte, with nothing but spaces and quotes between.
fn word_before(text: &str, at: usize) -> Range<usize> {
    let bytes = text.as_bytes();
    let from = at.saturating_sub(48);
    let gap = bytes.get(from..at).unwrap_or_default().iter().rev().take_while(|byte| is_gap(**byte)).count();
    let end = at - gap;
    let letters = bytes.get(from..end).unwrap_or_default().iter().rev();
    let length = letters.take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    end - length..end
}

fn is_gap(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'`' | b'"' | b'\'' | b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_newlines_and_plus_signs_are_spaces() {
        for text in
            ["drop table", "drop/**/table", "drop\n\ttable", "drop -- x\n table", "drop+table", "drop/*!50000 table*/"]
        {
            let mut reader = Reader::new(text, 0);
            assert_eq!((reader.next(), reader.next()), (Lexeme::Word("drop"), Lexeme::Word("table")), "{text}");
            assert_eq!(reader.next(), Lexeme::End, "{text}");
        }
    }

    #[test]
    fn names_may_be_quoted() {
        for text in ["\"my table\"", "`my table`", "[my table]"] {
            assert_eq!(Reader::new(text, 0).next(), Lexeme::Quoted("my table"));
        }
    }

    #[test]
    fn an_open_comment_ends_within_reach() {
        let text = format!("drop /*{}", "x".repeat(5000));
        let mut reader = Reader::new(&text, 0);
        assert_eq!((reader.next(), reader.next()), (Lexeme::Word("drop"), Lexeme::Sign('/')));
    }
}
