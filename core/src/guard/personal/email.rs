//! Addresses for mail, found from the sign in their middle; also spelled out to hide them from machines.
//!
//! From every `@` the local part is read backwards and the domain forwards, each at most as long as it may be and
//! never across another `@`, so the time is in proportion to the text.

use super::super::fold::chars::{Script, is_mark, script};
use super::number::before;
use super::{Personal, PersonalSort};
use memchr::memmem;
use std::ops::Range;

/// Bytes of the longest local part that is read.
const LOCAL: usize = 64;
/// Bytes of the longest domain that is read.
const DOMAIN: usize = 253;
/// What an address that is spelled out scores: people write so, but so do they other things.
const SPELLED: u8 = 45;

/// Endings of files and units that follow an `@` without being domains.
const FILES: [&str; 36] = [
    "avif", "bmp", "conf", "cpp", "css", "csv", "device", "dll", "docx", "exe", "gif", "htm", "html", "ico", "jpeg",
    "jpg", "js", "json", "jsx", "lock", "log", "mount", "pdf", "php", "png", "scss", "service", "slice", "socket",
    "svg", "target", "timer", "toml", "txt", "webp", "xml",
];
/// Names of services, not of people, before the `@` of a remote repository.
const REMOTES: [&str; 4] = ["git", "hg", "svn", "gitea"];
/// Endings of domains that are believed when an address is spelled in words alone.
const COMMON: [&str; 22] = [
    "at", "biz", "ch", "co", "com", "de", "dev", "edu", "es", "eu", "example", "fr", "gov", "info", "io", "it", "jp",
    "me", "net", "nl", "org", "uk",
];

/// The addresses in a folded text, in order, without overlaps. `is_upper` tells whether a letter was a capital.
pub(super) fn scan(text: &str, is_upper: impl Fn(usize) -> bool) -> Vec<Personal> {
    let mut found: Vec<Personal> = Vec::new();
    let mut after = 0;
    for sign in memchr::memchr_iter(b'@', text.as_bytes()) {
        if let Some(span) = address(text, sign, &is_upper).filter(|span| span.start >= after) {
            after = span.end;
            found.push(Personal::sure(PersonalSort::Email, span));
        }
    }
    let spelled = spelled(text);
    if spelled.is_empty() { found } else { super::merged(found, spelled) }
}

/// The address around the sign at a place.
fn address(text: &str, sign: usize, is_upper: &impl Fn(usize) -> bool) -> Option<Range<usize>> {
    let start = local(text, sign)?;
    let end = domain(text, sign + 1, is_upper)?;
    let (name, host) = (text.get(start..sign)?, text.get(sign + 1..end)?);
    let person = !REMOTES.contains(&name)
        && !is_version(host)
        && !is_remote(text, end)
        && !is_login(text, start)
        && !is_handle(text, start);
    person.then_some(start..end)
}

/// Where the local part before a sign begins.
fn local(text: &str, sign: usize) -> Option<usize> {
    let head = text.get(..sign)?;
    if let Some(inner) = head.strip_suffix('"') {
        return quoted(inner);
    }
    // A word of another script may touch an address; it is part of it only when the whole part is written so.
    let letter = head.chars().rev().take(LOCAL).take_while(|c| is_part(*c)).find(|c| c.is_alphabetic());
    let latin = letter.is_none_or(is_latin);
    let mut start = sign;
    for (place, c) in head.char_indices().rev() {
        if !is_part(c) || (latin && !c.is_ascii() && !is_latin(c)) || head.get(place..place + 2) == Some("..") {
            break;
        }
        if c == '%' && head.get(place + 1..place + 3).is_some_and(is_hex) {
            start = place + 3;
            break;
        }
        if sign - place > LOCAL {
            return None;
        }
        start = place;
    }
    // The letter of an escape such as `\n` is none of the address.
    if before(text, start) == Some('\\') {
        start += match text.as_bytes().get(start..) {
            Some([b'u', digits @ ..]) if digits.get(..4).is_some_and(|code| code.iter().all(u8::is_ascii_hexdigit)) => {
                5
            }
            Some([b'n' | b'r' | b't' | b'b' | b'f' | b'v', ..]) => 1,
            _ => 0,
        };
    }
    let name = text.get(start..sign)?;
    let trimmed = name.trim_start_matches(['.', '-', '+', '\'', '%']);
    let start = sign - trimmed.len();
    (!trimmed.is_empty() && trimmed.chars().any(char::is_alphanumeric)).then_some(start)
}

/// Whether a character may stand in a local part.
fn is_part(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '%' | '+' | '-' | '\'')
    } else {
        c.is_alphanumeric()
    }
}

fn is_latin(c: char) -> bool {
    script(c) == Script::Latin
}

fn is_hex(code: &str) -> bool {
    code.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Where a local part in quotes begins, given the text before its closing quote.
fn quoted(inner: &str) -> Option<usize> {
    let near =
        inner.char_indices().rev().take(LOCAL).take_while(|(_, c)| !matches!(c, '\n' | '@' | '<' | '>' | ':' | ','));
    let start = near.filter(|(_, c)| *c == '"').map(|(place, _)| place).next()?;
    (inner.len() - start > 1).then_some(start)
}

/// Where the domain that begins at a place ends.
fn domain(text: &str, start: usize, is_upper: &impl Fn(usize) -> bool) -> Option<usize> {
    let mut labels: Vec<Range<usize>> = Vec::new();
    let mut at = start;
    loop {
        let end = label(text, at)?;
        labels.push(at..end);
        let more = text.get(end..)?.strip_prefix('.').and_then(|rest| rest.chars().next());
        if end - start > DOMAIN || !more.is_some_and(|c| c.is_alphanumeric()) {
            break;
        }
        at = end + 1;
    }
    // `example.com.Please`: the next sentence.
    while let [.., previous, last] = labels.as_slice() {
        if labels.len() > 2 && is_upper(last.start) && !is_upper(previous.start) {
            labels.pop();
        } else {
            break;
        }
    }
    let last = labels.last()?.clone();
    let name = text.get(last.clone())?;
    let end = if name.starts_with("xn--") { last.end } else { last.start + name.find('-').unwrap_or(name.len()) };
    let top = text.get(last.start..end)?;
    let known =
        top.starts_with("xn--") || (top.chars().all(|c| c.is_alphabetic() || is_mark(c)) && top.chars().count() >= 2);
    (labels.len() > 1 && known && end - start <= DOMAIN && FILES.binary_search(&top).is_err()).then_some(end)
}

/// Where the label that begins at a place ends.
fn label(text: &str, start: usize) -> Option<usize> {
    const LONGEST: usize = 190;
    let rest = text.get(start..)?;
    let mut end = start;
    let mut latin = true;
    for c in rest.chars() {
        let part = if c.is_ascii() {
            c.is_ascii_alphanumeric() || c == '-'
        } else {
            c.is_alphanumeric() && (is_latin(c) || !latin || end == start)
        };
        if !part {
            break;
        }
        latin &= c.is_ascii() || is_latin(c);
        end += c.len_utf8();
        if end - start > LONGEST {
            return None;
        }
    }
    let kept = text.get(start..end)?.trim_end_matches('-');
    (!kept.is_empty() && !kept.starts_with('-')).then_some(start + kept.len())
}

/// `1.2.3-beta.rc`, `v2.0`: what follows a package.
fn is_version(host: &str) -> bool {
    let mut labels = host.split('.');
    let number = |label: Option<&str>| {
        label.is_some_and(|label| {
            let bare = label.strip_prefix('v').unwrap_or(label);
            bare.bytes().next().is_some_and(|byte| byte.is_ascii_digit())
                && bare.bytes().take_while(|byte| *byte != b'-').all(|byte| byte.is_ascii_digit())
        })
    };
    number(labels.next()) && number(labels.next())
}

/// `host:path/to` after a domain.
fn is_remote(text: &str, end: usize) -> bool {
    const FAR: usize = 64;
    let Some(path) = text.get(end..).and_then(|rest| rest.strip_prefix(':')) else { return false };
    let path = path.bytes().take(FAR).take_while(|byte| byte.is_ascii_graphic());
    let mut length = 0;
    for byte in path {
        if matches!(byte, b'/' | b'~') {
            return true;
        }
        if !(byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-')) {
            return false;
        }
        length += 1;
    }
    length == FAR
}

/// `scheme://user:word@host`: the name and the word are no address.
fn is_login(text: &str, start: usize) -> bool {
    const FAR: usize = 128;
    let from = (start.saturating_sub(FAR)..=start).find(|place| text.is_char_boundary(*place)).unwrap_or(start);
    let near = text.get(from..start).unwrap_or_default();
    let Some((_, name)) = near.rsplit_once("://") else { return false };
    name.chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '~' | '%' | '!' | '$' | '*' | '+' | ':' | '='))
}

/// `@name@host`: a handle in a network of many hosts.
fn is_handle(text: &str, start: usize) -> bool {
    let head = text.get(..start).and_then(|head| head.strip_suffix('@'));
    head.is_some_and(|head| !head.chars().next_back().is_some_and(char::is_alphanumeric))
}

/// Addresses with words for their signs: `jane (at) shop (dot) com`, `jane at shop dot com`.
fn spelled(text: &str) -> Vec<Personal> {
    let bytes = text.as_bytes();
    let mut spans: Vec<Range<usize>> = Vec::new();
    for open in memchr::memchr3_iter(b'(', b'[', b'{', bytes) {
        spans.extend(bracketed(text, open));
    }
    let mut words: Vec<Range<usize>> = Vec::new();
    for dot in memmem::find_iter(bytes, " dot ") {
        words.extend(worded(text, dot).filter(|span| words.last().is_none_or(|last| last.end <= span.start)));
    }
    let all = |spans: Vec<Range<usize>>| {
        let mut kept: Vec<Personal> = Vec::new();
        for span in spans {
            if kept.last().is_none_or(|last| last.span.end <= span.start) {
                kept.push(Personal { sort: PersonalSort::Email, span, score: SPELLED });
            }
        }
        kept
    };
    super::merged(all(spans), all(words))
}

/// The address around an `(at)` whose bracket opens at a place.
fn bracketed(text: &str, open: usize) -> Option<Range<usize>> {
    let after = sign(text, open, &["at", "@", "arroba", "ät", "a t"])?;
    let name = text.get(..open)?.trim_end_matches(' ');
    let start = word_start(name, name.len())?;
    if open - name.len() > 2 {
        return None;
    }
    let mut end = word_end(text, after)?;
    let mut dots = text.get(after..end)?.matches('.').count();
    loop {
        let place = end + text.get(end..)?.len() - text.get(end..)?.trim_start_matches(' ').len();
        let next = sign(text, place, &["dot", ".", "punkt", "point", "punto", "ponto"])
            .or_else(|| text.get(end..)?.strip_prefix(" dot ").map(|_| end + 5));
        let Some(next) = next.filter(|_| place - end <= 2) else { break };
        let Some(last) = word_end(text, next) else { break };
        end = last;
        dots += 1;
    }
    let top = text.get(start..end)?.rsplit(|c: char| !c.is_alphanumeric()).next()?;
    (dots > 0 && top.len() >= 2 && top.chars().all(char::is_alphabetic)).then_some(start..end)
}

/// The place after a word in brackets, and after the spaces that follow.
fn sign(text: &str, open: usize, words: &[&str]) -> Option<usize> {
    let close = match text.as_bytes().get(open)? {
        b'(' => ')',
        b'[' => ']',
        b'{' => '}',
        _ => return None,
    };
    let inner = text.get(open + 1..)?;
    let length = inner.bytes().take(12).position(|byte| byte == u8::try_from(close).unwrap_or_default())?;
    if !words.contains(&inner.get(..length)?.trim_matches(' ')) {
        return None;
    }
    let rest = inner.get(length + 1..)?;
    let spaces = rest.bytes().take(2).take_while(|byte| *byte == b' ').count();
    Some(open + length + 2 + spaces)
}

/// The address whose first ` dot ` is at a place.
fn worded(text: &str, dot: usize) -> Option<Range<usize>> {
    let host = word_start(text.get(..dot)?, dot)?;
    let head = text.get(..host)?.strip_suffix(" at ")?;
    let start = word_start(head, head.len())?;
    let mut end = word_end(text, dot + 5)?;
    while text.get(end..)?.starts_with(" dot ") {
        end = word_end(text, end + 5)?;
    }
    let top = text.get(..end)?.rsplit(' ').next()?;
    COMMON.binary_search(&top).is_ok().then_some(start..end)
}

/// Where the word that ends at a place begins.
fn word_start(text: &str, end: usize) -> Option<usize> {
    let head = text.get(..end)?.as_bytes();
    let length = head.iter().rev().take(LOCAL).take_while(|byte| is_word(**byte)).count();
    (length > 0).then_some(end - length)
}

/// Where the word that starts at a place ends.
fn word_end(text: &str, start: usize) -> Option<usize> {
    let rest = text.as_bytes().get(start..)?;
    let length = rest.iter().take(LOCAL).take_while(|byte| is_word(**byte)).count();
    let word = text.get(start..start + length)?.trim_end_matches(['.', '-', '_', '+']);
    (!word.is_empty()).then_some(start + word.len())
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'+')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_in_order() {
        assert!(FILES.is_sorted() && COMMON.is_sorted());
    }
}
