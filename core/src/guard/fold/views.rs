//! Other readings of a text, each made only when the text shows signs of it.
//!
//! One layer of encoding is undone. Every reading is at most as long as the text, so all of them together stay linear.

use super::map::Map;
use super::tokens::Tokens;
use super::{View, ViewKind};
use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use memchr::memmem;
use std::ops::Range;

/// Characters that a run of base64 or hexadecimal digits needs before it is read.
const ENCODED: usize = 16;
/// Words with digits among their letters that make a text look like leet. One alone is a part number.
const LEET_WORDS: u32 = 2;

/// The readings that a text gives reason for.
pub(super) fn of(original: &str, plain: &View) -> Vec<View> {
    let mut views = Vec::new();
    let mut add = |kind, reading: Option<Reading>| {
        if let Some(Reading { text, map }) = reading {
            // What was made of the folded text goes back through the folding.
            let back = match kind {
                ViewKind::Spelled | ViewKind::Leet => vec![map, plain.maps.first().cloned().unwrap_or_default()],
                _ => vec![map],
            };
            views.push(View::new(kind, &text, back));
        }
    };
    add(ViewKind::Decoded, decoded(original, plain.tokens().longest));
    add(ViewKind::Joined, joined(original));
    if plain.tokens().spelled {
        add(ViewKind::Spelled, Some(spelled(plain)));
    }
    if leet_signs(&plain.text, plain.tokens()) {
        add(ViewKind::Leet, leet(&plain.text));
    }
    let bytes = plain.text.as_bytes();
    let says = |word: &str| memmem::find(bytes, word.as_bytes()).is_some();
    if says("rot13") || says("rot-13") || says("rot 13") {
        add(ViewKind::Rot13, Some(rot13(original)));
    }
    if says("backward") || says("reverse") || says("right to left") {
        add(ViewKind::Reversed, Some(reversed(original)));
    }
    views
}

/// A changed text and the way back.
#[derive(Default)]
struct Reading {
    text: String,
    map: Map,
}

impl Reading {
    fn copy(&mut self, source: &str, range: Range<usize>) {
        if let Some(part) = source.get(range.clone()).filter(|part| !part.is_empty()) {
            self.map.copy(self.text.len(), range.start);
            self.text.push_str(part);
        }
    }

    fn replace(&mut self, with: &str, range: Range<usize>) {
        self.map.replace(self.text.len(), range.start, range.len());
        self.text.push_str(with);
    }
}

/// Undoes one layer of `%20`, `&#105;`, `&lt;`, `\u0069`, `\x69`, base64, hexadecimal digits and tag characters.
fn decoded(source: &str, longest: usize) -> Option<Reading> {
    let bytes = source.as_bytes();
    let signs = memchr::memchr3(b'%', b'&', b'\\', bytes).is_some()
        || longest >= ENCODED
        || (!source.is_ascii() && memmem::find(bytes, "\u{E0061}".get(..3).unwrap_or_default().as_bytes()).is_some());
    if !signs {
        return None;
    }
    let mut reading = Reading::default();
    let (mut at, mut kept, mut changed) = (0, 0, false);
    while let Some(&byte) = bytes.get(at) {
        let found = match byte {
            b'%' => percent(bytes, at),
            b'&' => entity(source, at),
            b'\\' => escape(source, at),
            0xF3 => tag(source, at),
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                let length = bytes.get(at..).unwrap_or_default().iter().take_while(|byte| is_code(**byte)).count();
                let run = at..at + length;
                match encoded(source, run.clone()) {
                    Some(text) => Some((text, run.end)),
                    None => {
                        at = run.end;
                        continue;
                    }
                }
            }
            _ => None,
        };
        match found {
            Some((text, end)) => {
                reading.copy(source, kept..at);
                reading.replace(&text, at..end);
                changed = true;
                at = end;
                kept = end;
            }
            None => at += 1,
        }
    }
    reading.copy(source, kept..source.len());
    changed.then_some(reading)
}

fn is_code(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
}

/// Percent signs: as many in a row as make whole characters.
fn percent(bytes: &[u8], start: usize) -> Option<(String, usize)> {
    let mut raw = Vec::new();
    let mut at = start;
    while let Some([b'%', high, low]) = bytes.get(at..at + 3) {
        raw.push(hex_digit(*high)? << 4 | hex_digit(*low)?);
        at += 3;
    }
    (at > start).then(|| (String::from_utf8_lossy(&raw).into_owned(), at))
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// `&#105;`, `&#x69;` and the entities of characters that are written as entities.
fn entity(source: &str, start: usize) -> Option<(String, usize)> {
    const LONGEST: usize = 10;
    let rest = source.as_bytes().get(start + 1..)?;
    let length = rest.iter().take(LONGEST).position(|byte| *byte == b';')?;
    let name = source.get(start + 1..start + 1 + length)?;
    let text = match name {
        "lt" => "<".to_owned(),
        "gt" => ">".to_owned(),
        "amp" => "&".to_owned(),
        "quot" => "\"".to_owned(),
        "apos" => "'".to_owned(),
        "nbsp" => " ".to_owned(),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)?.to_string()
        }
    };
    Some((text, start + length + 2))
}

/// `\u0069`, `\u{69}`, `\x69`, `\n`, `\t`, `\"`.
fn escape(source: &str, start: usize) -> Option<(String, usize)> {
    let rest = source.get(start + 1..)?;
    let digits = |from: usize, to: usize| rest.get(from..to).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let (code, length) = match rest.as_bytes().first()? {
        b'u' if rest.as_bytes().get(1) == Some(&b'{') => {
            let end = rest.bytes().take(10).position(|byte| byte == b'}')?;
            (digits(2, end)?, end + 1)
        }
        b'u' => (digits(1, 5)?, 5),
        b'x' => (digits(1, 3)?, 3),
        b'n' | b'r' | b't' => return Some((" ".to_owned(), start + 2)),
        b'"' | b'\'' | b'/' => return rest.get(..1).map(|text| (text.to_owned(), start + 2)),
        _ => return None,
    };
    Some((char::from_u32(code)?.to_string(), start + 1 + length))
}

/// Tag characters stand for ASCII ones.
fn tag(source: &str, start: usize) -> Option<(String, usize)> {
    let c = source.get(start..)?.chars().next()?;
    let ascii = u32::from(c).checked_sub(0xE0000).filter(|code| (0x20..0x7F).contains(code))?;
    Some((char::from_u32(ascii)?.to_string(), start + c.len_utf8()))
}

/// Base64 in either alphabet, with or without padding.
const BASE64: [GeneralPurpose; 2] = {
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    [GeneralPurpose::new(&STANDARD, config), GeneralPurpose::new(&URL_SAFE, config)]
};

/// The text behind a run of base64 or hexadecimal digits, set apart by spaces; nothing when it is no text.
fn encoded(source: &str, run: Range<usize>) -> Option<String> {
    let run = source.get(run)?;
    if run.len() < ENCODED {
        return None;
    }
    let raw = if run.len() % 2 == 0 && run.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let pairs = run.as_bytes().chunks(2);
        pairs
            .map(|pair| Some(hex_digit(*pair.first()?)? << 4 | hex_digit(*pair.last()?)?))
            .collect::<Option<Vec<u8>>>()?
    } else {
        BASE64.iter().find_map(|engine| engine.decode(run).ok())?
    };
    let text = String::from_utf8(raw).ok()?;
    let legible =
        text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '\n' | '.' | ',' | '-' | '_')).count();
    // Text is letters and spaces; random bytes that happen to be valid UTF-8 are not.
    (legible * 10 >= text.chars().count() * 8).then(|| format!(" {text} "))
}

/// Takes out what stands between two letters of a word: marks of Markdown, empty tags, the seams of joined strings.
fn joined(source: &str) -> Option<Reading> {
    let bytes = source.as_bytes();
    let mut reading = Reading::default();
    let (mut kept, mut at, mut seams) = (0, 0, 0);
    while let Some(found) = memchr::memchr3(b'*', b'"', b'\'', bytes.get(at..).unwrap_or_default()) {
        let start = at + found;
        let length = bytes.get(start..).unwrap_or_default().iter().take_while(|byte| is_seam(**byte)).count();
        let seam = bytes.get(start..start + length).unwrap_or_default();
        let inside = start > 0
            && bytes.get(start - 1).is_some_and(u8::is_ascii_alphabetic)
            && bytes.get(start + length).is_some_and(u8::is_ascii_alphabetic);
        let first = seam.first().copied().unwrap_or_default();
        let strings = first != b'*'
            && length >= 3
            && seam.last() == Some(&first)
            && seam.iter().any(|byte| matches!(byte, b'+' | b'.'));
        let emphasis = first == b'*' && seam.iter().all(|byte| *byte == b'*');
        if inside && (strings || emphasis) {
            reading.copy(source, kept..start);
            kept = start + length;
            seams += 1;
        }
        at = start + length.max(1);
    }
    reading.copy(source, kept..source.len());
    // One is a slip or an emphasised prefix; a disguise needs more.
    (seams >= 2).then_some(reading)
}

fn is_seam(byte: u8) -> bool {
    matches!(byte, b'*' | b'"' | b'\'' | b'+' | b'.' | b' ')
}

/// Brings single letters together; what parts words is a wider gap than the one between their letters.
fn spelled(plain: &View) -> Reading {
    let (source, tokens) = (plain.text.as_str(), &plain.tokens().tokens);
    let mut reading = Reading::default();
    let (mut index, mut kept) = (0, 0);
    while let Some(first) = tokens.get(index) {
        let run = tokens.get(index..).unwrap_or_default().iter().take_while(|token| token.range().len() == 1).count();
        if run < 4 {
            index += run.max(1);
            continue;
        }
        let letters = tokens.get(index..index + run).unwrap_or_default();
        reading.copy(source, kept..first.range().start);
        let narrow = letters.windows(2).map(|pair| gap(pair).len()).min().unwrap_or(1);
        let spaced = |pair: &[super::Token]| source.get(gap(pair)).unwrap_or_default().contains(' ');
        let by_spaces = letters.get(..2).is_some_and(spaced);
        for (place, letter) in letters.iter().enumerate() {
            reading.copy(source, letter.range());
            let Some(pair) = letters.get(place..place + 2) else { continue };
            if gap(pair).len() > narrow || (spaced(pair) && !by_spaces) {
                reading.replace(" ", gap(pair));
            }
        }
        kept = letters.last().map_or(kept, |last| last.range().end);
        index += run;
    }
    reading.copy(source, kept..source.len());
    reading
}

fn gap(pair: &[super::Token]) -> Range<usize> {
    match pair {
        [left, right] => left.range().end..right.range().start,
        _ => 0..0,
    }
}

fn leet_signs(text: &str, tokens: &Tokens) -> bool {
    tokens.mixed >= LEET_WORDS
        || (tokens.mixed > 0 && text.len() < 200)
        || memchr::memchr2(b'@', b'$', text.as_bytes()).is_some()
}

/// Reads digits and signs inside words as letters.
fn leet(source: &str) -> Option<Reading> {
    let bytes = source.as_bytes();
    let part = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at)).is_some_and(|byte| byte.is_ascii_alphabetic() || leet_letter(*byte).is_some())
    };
    let mut reading = Reading::default();
    let (mut kept, mut changed) = (0, false);
    for (at, byte) in bytes.iter().enumerate() {
        let Some(letter) = leet_letter(*byte) else { continue };
        if part(at.checked_sub(1)) || part(Some(at + 1)) {
            reading.copy(source, kept..at);
            reading.replace(letter, at..at + 1);
            kept = at + 1;
            changed = true;
        }
    }
    reading.copy(source, kept..source.len());
    changed.then_some(reading)
}

fn leet_letter(byte: u8) -> Option<&'static str> {
    match byte {
        b'0' => Some("o"),
        b'1' | b'!' => Some("i"),
        b'3' => Some("e"),
        b'4' | b'@' => Some("a"),
        b'5' | b'$' => Some("s"),
        b'7' => Some("t"),
        _ => None,
    }
}

fn rot13(source: &str) -> Reading {
    let turn = |c: char| match c {
        'a'..='m' | 'A'..='M' => char::from_u32(u32::from(c) + 13).unwrap_or(c),
        'n'..='z' | 'N'..='Z' => char::from_u32(u32::from(c) - 13).unwrap_or(c),
        _ => c,
    };
    let mut map = Map::default();
    map.copy(0, 0);
    Reading { text: source.chars().map(turn).collect(), map }
}

fn reversed(source: &str) -> Reading {
    let mut reading = Reading::default();
    for (at, c) in source.char_indices().rev() {
        let to = reading.text.len();
        reading.text.push(c);
        reading.map.replace(to, at, c.len_utf8());
    }
    reading
}
