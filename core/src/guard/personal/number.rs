//! Groups of digits, the chains that they stand in, and who is asked what a chain is.
//!
//! Digits of every script count. A chain is never longer than the text between two other characters, and every rule
//! looks at a bounded part of it, so the time is in proportion to the text.

use super::super::fold::chars::{Script, script};
use super::{Personal, PersonalSort, card, iban, phone, ssn};

/// What stands between two groups of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gap {
    /// Nothing of the kind: the first group.
    Start,
    /// One space.
    Space,
    /// One hyphen or dash.
    Hyphen,
    /// One dot.
    Dot,
    /// One slash.
    Slash,
    /// An opening parenthesis, perhaps after a space.
    Open,
    /// A closing parenthesis, perhaps before a space or a hyphen.
    Close,
    /// A hyphen or slash between spaces.
    Wide,
}

/// A run of digits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// Its first byte.
    pub(super) start: usize,
    /// The byte after it.
    pub(super) end: usize,
    /// Number of digits.
    pub(super) digits: usize,
    /// What leads to it.
    pub(super) gap: Gap,
}

/// Groups with nothing but a gap between one and the next.
pub(super) struct Chain<'a> {
    /// The whole text.
    pub(super) text: &'a str,
    groups: Vec<Group>,
}

impl<'a> Chain<'a> {
    /// The group at a place of the chain.
    pub(super) fn group(&self, index: usize) -> Option<Group> {
        self.groups.get(index).copied()
    }

    /// Digits in the group at a place; 0 where there is none.
    pub(super) fn len(&self, index: usize) -> usize {
        self.group(index).map_or(0, |group| group.digits)
    }

    /// The gap before a group.
    pub(super) fn gap(&self, index: usize) -> Gap {
        self.group(index).map_or(Gap::Start, |group| group.gap)
    }

    /// The values of the digits of some groups, at most `N` of them, and how many there are.
    pub(super) fn digits<const N: usize>(&self, first: usize, last: usize) -> ([u8; N], usize) {
        let (mut values, mut count) = ([0; N], 0);
        for group in self.groups.iter().take(last + 1).skip(first) {
            for value in self.text.get(group.start..group.end).unwrap_or_default().chars().filter_map(digit) {
                let Some(slot) = values.get_mut(count) else { return (values, count) };
                *slot = value;
                count += 1;
            }
        }
        (values, count)
    }

    /// The first digits of a group as one number.
    pub(super) fn leading(&self, index: usize, count: usize) -> u32 {
        let Some(group) = self.group(index) else { return 0 };
        let text = self.text.get(group.start..group.end).unwrap_or_default();
        text.chars().filter_map(digit).take(count).fold(0, |number, value| number * 10 + u32::from(value))
    }

    /// The character before a group.
    pub(super) fn before(&self, index: usize) -> Option<char> {
        self.group(index).and_then(|group| before(self.text, group.start))
    }

    /// The text after a group.
    pub(super) fn rest(&self, index: usize) -> &'a str {
        self.group(index).and_then(|group| self.text.get(group.end..)).unwrap_or_default()
    }

    /// The letters and digits that a group is glued to on its left: nothing for most.
    pub(super) fn glued(&self, index: usize) -> &'a str {
        self.group(index).map_or("", |group| glued(self.text, group.start))
    }

    /// Whether the chain's last group runs on into a word.
    pub(super) fn runs_on(&self, index: usize) -> bool {
        self.rest(index).chars().next().is_some_and(is_glue)
    }

    /// Whether a hyphen ties what stands before a group to it, as in `a716-4466`.
    pub(super) fn tied_before(&self, index: usize) -> bool {
        let Some(head) = self.group(index).and_then(|group| self.text.get(..group.start)) else { return false };
        let head = head.strip_suffix('-').unwrap_or_default();
        let word = glued(head, head.len());
        word.bytes().any(|byte| byte.is_ascii_digit())
    }

    /// Whether a hyphen ties a word to the end of a group.
    pub(super) fn tied_after(&self, index: usize) -> bool {
        let mut rest = self.rest(index).chars();
        rest.next() == Some('-') && rest.next().is_some_and(|c| c.is_ascii_alphanumeric())
    }
}

/// The character before a place.
pub(super) fn before(text: &str, at: usize) -> Option<char> {
    text.get(..at).and_then(|head| head.chars().next_back())
}

/// Letters of scripts with spaces between words, digits and underscores: with one of them at its side a number is part
/// of something longer.
fn is_glue(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || matches!(script(c), Script::Latin | Script::Similar)
}

/// The word that ends at a place, at most so many bytes of it.
pub(super) fn glued(text: &str, at: usize) -> &str {
    const LONGEST: usize = 24;
    let head = text.get(..at).unwrap_or_default();
    let (mut start, mut chars) = (head.len(), head.char_indices());
    while let Some((place, c)) = chars.next_back().filter(|(place, c)| is_glue(*c) && at - place <= LONGEST) {
        start = place;
        debug_assert!(is_glue(c));
    }
    head.get(start..).unwrap_or_default()
}

/// The value of a digit of any script.
pub(super) fn digit(c: char) -> Option<u8> {
    /// The zeros of the scripts, in order; nine digits follow each.
    const ZEROS: [u32; 37] = [
        0x30, 0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xDE6, 0xE50, 0xED0,
        0xF20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620,
        0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10,
    ];
    let code = u32::from(c);
    if code < 0x80 {
        return c.to_digit(10).and_then(|value| u8::try_from(value).ok());
    }
    let after = ZEROS.partition_point(|zero| *zero <= code);
    let value = code - ZEROS.get(after.checked_sub(1)?)?;
    u8::try_from(value).ok().filter(|value| *value < 10)
}

/// Everything in a text that is told by its digits, in order, without overlaps.
pub(super) fn scan(text: &str) -> Vec<Personal> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut chain = Chain { text, groups: Vec::new() };
    while let Some(first) = next_group(text, at) {
        if let Some(span) = iban::at(text, first, at) {
            at = span.end;
            found.push(Personal::sure(PersonalSort::Iban, span));
            continue;
        }
        chain.groups.clear();
        at = read(&mut chain, first);
        judge(&chain, &mut found);
    }
    found
}

/// Asks the rules about every part of a chain.
fn judge(chain: &Chain<'_>, found: &mut Vec<Personal>) {
    let mut index = 0;
    while let Some(group) = chain.group(index) {
        let end = |last: usize| chain.group(last).map_or(group.end, |group| group.end);
        if let Some(last) = card::at(chain, index) {
            found.push(Personal::sure(PersonalSort::CreditCard, group.start..end(last)));
            index = last;
        } else if let Some(last) = ssn::at(chain, index) {
            found.push(Personal::sure(PersonalSort::Ssn, group.start..end(last)));
            index = last;
        } else if let Some((start, last)) = phone::at(chain, index) {
            found.push(Personal::sure(PersonalSort::Phone, start..end(last)));
            index = last;
        }
        index += 1;
    }
}

/// Reads the chain that starts with a group and gives the place after it.
fn read(chain: &mut Chain<'_>, first: Group) -> usize {
    let mut at = first.end;
    chain.groups.push(first);
    while let Some((gap, length)) = gap(chain.text, at) {
        let Some(group) = group(chain.text, at + length, gap) else { break };
        at = group.end;
        chain.groups.push(group);
    }
    at
}

/// A gap at a place, and its length.
fn gap(text: &str, at: usize) -> Option<(Gap, usize)> {
    let rest = text.as_bytes().get(at..)?;
    Some(match rest {
        [b' ', b'(', ..] => (Gap::Open, 2),
        [b' ', b'-' | b'/', b' ', ..] => (Gap::Wide, 3),
        [b' ', ..] => (Gap::Space, 1),
        [b'-', b'(', ..] => (Gap::Open, 2),
        [b'-', ..] => (Gap::Hyphen, 1),
        [b'.', ..] => (Gap::Dot, 1),
        [b'/', ..] => (Gap::Slash, 1),
        [b'(', ..] => (Gap::Open, 1),
        [b')', b' ' | b'-' | b'.' | b'/', ..] => (Gap::Close, 2),
        [b')', ..] => (Gap::Close, 1),
        // The long mark of the kana stands for a hyphen between digits.
        [0xE3, 0x83, 0xBC, ..] => (Gap::Hyphen, 3),
        _ => return None,
    })
}

/// The group that starts at a place.
fn group(text: &str, start: usize, gap: Gap) -> Option<Group> {
    let bytes = text.as_bytes();
    let (mut end, mut digits) = (start, 0);
    while let Some(byte) = bytes.get(end) {
        if byte.is_ascii_digit() {
            end += 1;
        } else if *byte < FIRST_LEAD {
            break;
        } else {
            let Some(c) = text.get(end..).and_then(|rest| rest.chars().next()).filter(|c| digit(*c).is_some()) else {
                break;
            };
            end += c.len_utf8();
        }
        digits += 1;
    }
    (digits > 0).then_some(Group { start, end, digits, gap })
}

/// The first byte of the first digit beyond ASCII.
const FIRST_LEAD: u8 = 0xD9;

fn may_be_digit(byte: u8) -> bool {
    byte.is_ascii_digit() || byte >= FIRST_LEAD
}

/// The first group at or after a place.
fn next_group(text: &str, from: usize) -> Option<Group> {
    /// Bytes that are looked at together, without a branch for each.
    const BLOCK: usize = 32;
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        while bytes
            .get(at..at + BLOCK)
            .is_some_and(|block| !block.iter().fold(false, |any, byte| any | may_be_digit(*byte)))
        {
            at += BLOCK;
        }
        at += bytes.get(at..)?.iter().position(|byte| may_be_digit(*byte))?;
        if let Some(group) = group(text, at, Gap::Start) {
            return Some(group);
        }
        at += text.get(at..)?.chars().next()?.len_utf8();
    }
}
