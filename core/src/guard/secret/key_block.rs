//! Blocks of private keys: PEM, OpenPGP, SSH2 and PuTTY, also with line ends written as `\n`, also cut off.

use super::Secret;
use memchr::memmem;
use std::ops::Range;

/// Characters of key that a block must hold.
const FEWEST: usize = 16;

/// Bytes of a line that are read at once.
const LONGEST_LINE: usize = 1024;

/// Adds what is found.
pub(super) fn scan(text: &str, found: &mut Vec<Secret>) {
    let mut after = 0;
    for at in memmem::find_iter(text.as_bytes(), "PRIVATE KEY") {
        if at < after {
            continue;
        }
        if let Some(span) = block(text, at) {
            after = span.end;
            found.push(Secret { kind: "private_key", span });
        }
    }
    for at in memmem::find_iter(text.as_bytes(), "Private-Lines:") {
        if let Some(span) = putty(text, at) {
            found.push(Secret { kind: "private_key", span });
        }
    }
}

/// The body of the block whose first line has `PRIVATE KEY` at a place.
fn block(text: &str, at: usize) -> Option<Range<usize>> {
    const LONGEST_NAME: usize = 32;
    let head = text.as_bytes().get(at.saturating_sub(LONGEST_NAME)..at)?;
    let begin = memmem::rfind(head, b"-BEGIN ").or_else(|| memmem::rfind(head, b"- BEGIN "))?;
    let name = head.get(begin + 1..)?;
    if !name.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b' ') {
        return None;
    }
    let rest = text.get(at..)?;
    let line = rest.strip_prefix("PRIVATE KEY")?;
    let line = line.strip_prefix(" BLOCK").unwrap_or(line);
    let dashes = line.trim_start_matches(' ');
    let body = dashes.trim_start_matches('-');
    if dashes.len() - body.len() < 4 {
        return None;
    }
    let start = text.len() - body.len();
    let (mut end, mut first, mut signs) = (start, None, 0);
    let mut at = start;
    while at < text.len() {
        let gap = text.get(at..)?.len() - strip_line_ends(text.get(at..)?).len();
        at += gap;
        let line = line_at(text, at)?;
        // Lines of the body, and of its header: `Proc-Type: 4,ENCRYPTED`, `Comment: …`.
        if line.is_empty() || line.starts_with("--") || !(is_code(line) || is_header(line)) {
            break;
        }
        first.get_or_insert(at);
        signs += if is_code(line) { line.len() } else { 0 };
        at += line.len();
        end = at;
    }
    let span = first?..end;
    (signs >= FEWEST).then_some(span)
}

/// The lines of a PuTTY key that follow their number.
fn putty(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = text.get(at..)?.strip_prefix("Private-Lines:")?;
    let body = rest.trim_start_matches([' ', '\t']).trim_start_matches(|c: char| c.is_ascii_digit());
    let start = text.len() - strip_line_ends(body).len();
    let mut end = start;
    while let Some(line) = line_at(text, text.len() - strip_line_ends(text.get(end..)?).len()) {
        if line.is_empty() || !is_code(line) {
            break;
        }
        end = text.len() - strip_line_ends(text.get(end..)?).len() + line.len();
    }
    (end - start >= FEWEST).then_some(start..end)
}

/// The text after white space, line ends written as escapes, and marks of quotation.
fn strip_line_ends(text: &str) -> &str {
    let mut rest = text;
    loop {
        let next = rest.trim_start_matches([' ', '\t', '\r', '\n', '>', '|', '"', '\'', ',', '+']);
        let next = next.strip_prefix("\\\\").map_or(next, |_| next.get(1..).unwrap_or(next));
        let next = next.strip_prefix("\\n").or_else(|| next.strip_prefix("\\r")).unwrap_or(next);
        if next.len() == rest.len() {
            return rest;
        }
        rest = next;
    }
}

/// The line at a place: up to a line end, an escape or a quote.
fn line_at(text: &str, at: usize) -> Option<&str> {
    let rest = text.get(at..)?;
    let length = rest
        .bytes()
        .take(LONGEST_LINE)
        .position(|byte| matches!(byte, b'\n' | b'\r' | b'\\' | b'"' | b'\'' | b'<' | b'`'));
    let mut length = length.unwrap_or(rest.len().min(LONGEST_LINE));
    while !rest.is_char_boundary(length) {
        length -= 1;
    }
    let line = rest.get(..length)?;
    Some(line.trim_end_matches([' ', '\t']))
}

fn is_code(line: &str) -> bool {
    // A body on one line is parted by spaces.
    line.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b' '))
        && line.split(' ').any(|part| part.len() >= 4)
        && (line.len() > 40 || !line.contains(' '))
        || line.strip_prefix('=').is_some_and(|sum| sum.len() == 4)
}

fn is_header(line: &str) -> bool {
    const NAMES: [&str; 8] = ["Proc-Type", "DEK-Info", "Comment", "Version", "Hash", "Charset", "MessageID", "Subject"];
    line.split_once(": ").is_some_and(|(name, _)| NAMES.contains(&name))
}
