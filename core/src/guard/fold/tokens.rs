//! Words and sentences of a folded text.

use super::chars::{is_unspaced, is_word};

/// A word, or one character of a script without spaces.
#[derive(Clone, Copy, Debug)]
pub(in crate::guard) struct Token {
    /// Where it starts.
    pub(in crate::guard) start: u32,
    /// Where it ends.
    pub(in crate::guard) end: u32,
    /// The sentence it stands in, from 0.
    pub(in crate::guard) sentence: u32,
}

impl Token {
    /// Its bytes.
    pub(in crate::guard) fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    fn len(self) -> usize {
        self.range().len()
    }
}

/// A sentence.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::guard) struct Sentence {
    /// Its first token.
    pub(in crate::guard) first: u32,
    /// Whether it ends in a question mark.
    pub(in crate::guard) question: bool,
}

/// What a text is cut into, and what in it asks for another look.
#[derive(Clone, Debug, Default)]
pub(in crate::guard) struct Tokens {
    pub(in crate::guard) tokens: Vec<Token>,
    pub(in crate::guard) sentences: Vec<Sentence>,
    /// Four or more single letters in a row: `i g n o r e`.
    pub(super) spelled: bool,
    /// Words with digits among their letters: `1gn0r3`.
    pub(super) mixed: u32,
    /// The longest word has this many bytes.
    pub(super) longest: usize,
}

/// Classes of ASCII bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    Digit,
    /// Ends a sentence when white space or nothing follows.
    Stop,
    /// Ends a sentence always.
    End,
    Newline,
    Other,
    Wide,
}

const CLASSES: [Class; 256] = classes();

const fn classes() -> [Class; 256] {
    let mut table = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
            b'0'..=b'9' => Class::Digit,
            b'.' | b'!' | b'?' => Class::Stop,
            b';' => Class::End,
            b'\n' => Class::Newline,
            128..=255 => Class::Wide,
            _ => Class::Other,
        };
        byte += 1;
    }
    table
}

/// Cuts a folded text.
pub(super) fn tokenise(text: &str) -> Tokens {
    let bytes = text.as_bytes();
    let mut cut = Cutter { found: Tokens::default(), singles: 0, pending: Break::None, question: false };
    cut.found.tokens.reserve(bytes.len() / 6);
    cut.found.sentences.push(Sentence::default());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match CLASSES[usize::from(byte)] {
            Class::Letter | Class::Digit => at = cut.word(text, at),
            Class::Wide => {
                let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) else { break };
                let end = at + c.len_utf8();
                if is_unspaced(c) {
                    cut.push(at, end);
                    at = end;
                } else if is_word(c) {
                    at = cut.word(text, at);
                } else {
                    match c {
                        '。' | '！' | '।' | '॥' | '۔' | '…' | '｡' => cut.end(false),
                        '？' | '؟' | '\u{37e}' => cut.end(true),
                        _ => {}
                    }
                    at = end;
                }
            }
            Class::Stop => {
                let next = bytes.get(at + 1);
                if next.is_none_or(|next| {
                    next.is_ascii_whitespace() || matches!(next, b'"' | b'\'' | b')' | b'.' | b'!' | b'?' | b'<' | b'*')
                }) {
                    cut.end(byte == b'?');
                }
                at += 1;
            }
            Class::End => {
                cut.end(false);
                at += 1;
            }
            Class::Newline => {
                let blank =
                    bytes.get(at + 1..).unwrap_or_default().iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r'));
                if blank == Some(&b'\n') {
                    cut.end(false);
                }
                at += 1;
            }
            Class::Other => at += 1,
        }
    }
    cut.close()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Break {
    None,
    Sentence,
}

struct Cutter {
    found: Tokens,
    singles: u32,
    pending: Break,
    question: bool,
}

impl Cutter {
    /// Takes a word of a spaced script and gives its end.
    fn word(&mut self, text: &str, start: usize) -> usize {
        let bytes = text.as_bytes();
        let (mut letters, mut digits) = (false, false);
        let mut at = start;
        while let Some(&byte) = bytes.get(at) {
            match CLASSES[usize::from(byte)] {
                Class::Letter => {
                    letters = true;
                    at += 1;
                }
                Class::Digit => {
                    digits = true;
                    at += 1;
                }
                Class::Wide => {
                    let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) else { break };
                    if is_unspaced(c) || !is_word(c) {
                        break;
                    }
                    letters = true;
                    at += c.len_utf8();
                }
                Class::Stop | Class::End | Class::Newline | Class::Other => break,
            }
        }
        if letters && digits {
            self.found.mixed += 1;
        }
        self.push(start, at);
        at
    }

    fn push(&mut self, start: usize, end: usize) {
        if self.pending == Break::Sentence {
            self.pending = Break::None;
            if let Some(sentence) = self.found.sentences.last_mut() {
                sentence.question = self.question;
            }
            self.question = false;
            let first = u32::try_from(self.found.tokens.len()).unwrap_or(u32::MAX);
            self.found.sentences.push(Sentence { first, question: false });
        }
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let sentence = place(self.found.sentences.len().saturating_sub(1));
        let token = Token { start: place(start), end: place(end), sentence };
        self.singles = if token.len() == 1 { self.singles + 1 } else { 0 };
        self.found.spelled |= self.singles >= 4;
        self.found.longest = self.found.longest.max(token.len());
        self.found.tokens.push(token);
    }

    fn end(&mut self, question: bool) {
        if !self.found.tokens.is_empty() {
            self.pending = Break::Sentence;
            self.question |= question;
        }
    }

    fn close(mut self) -> Tokens {
        if let Some(sentence) = self.found.sentences.last_mut() {
            sentence.question = self.question;
        }
        self.found
    }
}
