//! What is assigned to a name that says that it is secret, in any usual notation: settings, code, JSON, XML, command
//! lines, login files and connection strings.

use super::name::{self, Sort};
use super::value::{self, Writing};
use super::{Secret, is_after_escape};
use aho_corasick::AhoCorasick;
use std::ops::Range;
use std::sync::LazyLock;

/// Bytes of the longest name, space around a sign, and value that are read.
const LONGEST_NAME: usize = 64;
const LONGEST_SPACE: usize = 32;
const LONGEST_VALUE: usize = 4096;

/// Pieces, of which every name that [`name::sort`] knows has one.
const PIECES: [&str; 16] = [
    "pass",
    "pwd",
    "psw",
    "pw",
    "pin",
    "mnemonic",
    "phrase",
    "kennwort",
    "contrasena",
    "motdepasse",
    "key",
    "secret",
    "token",
    "credential",
    "_auth",
    "passwort",
];

static NAMES: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::builder().ascii_case_insensitive(true).build(PIECES).ok());

/// Adds what is found.
pub(super) fn scan(text: &str, found: &mut Vec<Secret>) {
    let mut after = 0;
    if let Some(names) = NAMES.as_ref() {
        for hit in names.find_iter(text) {
            if hit.start() < after {
                continue;
            }
            let name = name_at(text, hit.start());
            after = name.end.max(hit.end());
            let Some(sort) = text.get(name.clone()).and_then(name::sort).filter(|_| !is_variable(text, name.start))
            else {
                continue;
            };
            if let Some(span) = value_of(text, &name, sort) {
                after = after.max(span.end);
                let kind = match sort {
                    Sort::Phrase => "passphrase",
                    Sort::Token => "token",
                    Sort::Password | Sort::MaybePassword => "password",
                };
                found.push(Secret { kind, span });
            }
        }
    }
    logins(text, found);
}

/// The name around a place.
fn name_at(text: &str, at: usize) -> Range<usize> {
    let bytes = text.as_bytes();
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let head = bytes.get(at.saturating_sub(LONGEST_NAME)..at).unwrap_or_default();
    let before = head.iter().rev().take_while(|byte| is_part(**byte)).count();
    let rest = bytes.get(at..).unwrap_or_default();
    let behind = rest.iter().take(LONGEST_NAME).take_while(|byte| is_part(**byte)).count();
    let mut start = at - before;
    // The letter of `\n` belongs to no name.
    if is_after_escape(bytes, start + 1) && start < at {
        start += 1;
    }
    while start < at && bytes.get(start).is_some_and(|byte| matches!(byte, b'-' | b'.')) {
        start += 1;
    }
    start..at + behind
}

/// Whether a name is read here: `${DB_PASSWORD:?…}`.
fn is_variable(text: &str, start: usize) -> bool {
    let head = text.get(..start).unwrap_or_default();
    head.ends_with("${") || head.ends_with("{{") || head.ends_with("{{ ") || head.ends_with("$(")
}

/// A text that is read from left to right.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn take(&mut self, prefix: &str) -> bool {
        let is = self.rest().starts_with(prefix);
        self.at += if is { prefix.len() } else { 0 };
        is
    }

    fn take_any(&mut self, prefixes: &[&str]) -> bool {
        prefixes.iter().any(|prefix| self.take(prefix))
    }

    /// Skips blanks; tells how many.
    fn blanks(&mut self) -> usize {
        let count = self.rest().bytes().take(LONGEST_SPACE).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        self.at += count;
        count
    }

    /// A quote, also an escaped one; what it is written as.
    fn quote(&mut self) -> Option<&'static str> {
        ["\\\\\"", "\\\"", "\\'", "\"\"\"", "\"", "'", "`", "&quot;"].into_iter().find(|quote| self.take(quote))
    }
}

/// What is assigned to a name, when it is a secret.
fn value_of(text: &str, name: &Range<usize>, sort: Sort) -> Option<Range<usize>> {
    let mut reader = Reader { text, at: name.end };
    let named_in_quotes = reader.quote().is_some();
    // `env["KEY"] = …`, `setenv("KEY", …)`.
    let indexed = named_in_quotes && reader.take_any(&["]", ")"]);
    let blanks = reader.blanks();
    let writing = match () {
        () if reader.take("=>") || reader.take(":=") || reader.take("===") || reader.take("==") => Writing::Bare,
        () if reader.take("=") || reader.take("%3D") => around(text, name.start),
        () if reader.take(":") => typed(&mut reader, text, name),
        () if named_in_quotes && !indexed && reader.take(",") => Writing::Quoted,
        () if reader.take(">") => return element(&reader, sort),
        () if named_in_quotes && reader.take_any(&["value=", "content="]) => Writing::Quoted,
        () if blanks > 0 && is_flag(text, name.start) => Writing::Line,
        () if blanks > 0 && sort != Sort::MaybePassword && reader.take_any(&["is: ", "is "]) => Writing::Bare,
        () if blanks > 1 && is_first(text, name.start) => Writing::Line,
        () => return None,
    };
    reader.blanks();
    let scheme = reader.take_any(&["Bearer ", "bearer ", "Basic ", "Token "]);
    let _ = reader.take_any(&["b\"", "r\"", "f\"", "u\""]) && {
        reader.at -= 1;
        true
    };
    if let Some(quote) = reader.quote() {
        let value = quoted(reader.rest(), quote)?;
        let is = value::is_secret(value, sort, Writing::Quoted) && (value.len() > 3 || sort == Sort::Password);
        return is.then(|| reader.at..reader.at + value.len());
    }
    if writing == Writing::Quoted {
        return None;
    }
    let value = bare(reader.rest(), if scheme { Writing::Bare } else { writing });
    value::is_secret(value, sort, writing).then(|| reader.at..reader.at + value.len())
}

/// What stands around a name before `=`: alone on its line, or a part of an address or a connection string, what
/// follows is a value; in code it may be a name.
fn around(text: &str, start: usize) -> Writing {
    let before = text.as_bytes().get(..start).and_then(<[u8]>::last);
    let is_part = matches!(before, Some(b';' | b'&' | b'?')) || is_flag(text, start);
    if is_part || is_first(text, start) { Writing::Line } else { Writing::Bare }
}

/// The line up to a place; of a long one, its end.
fn line_before(text: &str, at: usize) -> &str {
    let from = (at.saturating_sub(4 * LONGEST_NAME)..=at).find(|from| text.is_char_boundary(*from)).unwrap_or(at);
    text.get(from..at).unwrap_or_default().rsplit(['\n', '\r']).next().unwrap_or_default()
}

/// Whether a name is the first of its line, after words of shells, lists and settings.
fn is_first(text: &str, start: usize) -> bool {
    let line = line_before(text, start);
    if line.len() > LONGEST_NAME {
        return false;
    }
    let line = line
        .rsplit("\\n")
        .next()
        .unwrap_or_default()
        .trim_start_matches([' ', '\t', '-', '+', '>', '|', '"', '\'', ':', '#', ';', '/', '*']);
    matches!(line.trim_end(), "" | "export" | "set" | "setx" | "ENV" | "ARG" | "declare -x" | "$env:" | "$")
        || is_numbered(line)
}

/// `src/config.py:12:`, as searches write before a line.
fn is_numbered(line: &str) -> bool {
    let line = line.trim_end_matches([':', ' ', '\t', '-']);
    let digits = line.bytes().rev().take_while(u8::is_ascii_digit).count();
    let before = line.len().checked_sub(digits + 1).and_then(|at| line.as_bytes().get(at));
    digits > 0 && before.is_none_or(|byte| matches!(byte, b':' | b'-'))
}

/// Whether a name is an option of a command: `--token`.
fn is_flag(text: &str, start: usize) -> bool {
    let head = text.get(..start).unwrap_or_default();
    head.ends_with(" --") || head.ends_with("\n--") || head == "--" || head.ends_with(" -")
}

/// What follows `name:`. In typed code a type may stand first: `token: &str = "…"`.
fn typed(reader: &mut Reader<'_>, text: &str, name: &Range<usize>) -> Writing {
    let near = reader.rest().char_indices().map(|(at, c)| at + c.len_utf8()).take(2 * LONGEST_SPACE).last();
    let near = near.and_then(|end| reader.rest().get(..end)).unwrap_or_default();
    let line = near.split(['\n', '\r']).next().unwrap_or_default();
    if let Some((kind, _)) = line.split_once('=').filter(|(kind, _)| kind.ends_with(' ') && kind.starts_with(' ')) {
        let word = kind.trim().trim_start_matches(['&', '?']);
        if word.starts_with(|c: char| c.is_ascii_alphabetic())
            && word.len() <= LONGEST_SPACE
            && word.bytes().all(|byte| byte.is_ascii_alphabetic() || b"'[]<>_. |".contains(&byte))
        {
            reader.at += kind.len() + 1;
            return Writing::Bare;
        }
    }
    if is_first(text, name.start) { Writing::Line } else { Writing::Bare }
}

/// The text of `<password>…</password>`, and of `<property name="password">…</property>`.
fn element(reader: &Reader<'_>, sort: Sort) -> Option<Range<usize>> {
    let rest = reader.rest();
    let length = rest.bytes().take(LONGEST_VALUE).position(|byte| byte == b'<')?;
    let value = rest.get(..length)?;
    let closes = rest.get(length..)?.starts_with("</");
    let trimmed = value.trim();
    let start = reader.at + value.find(trimmed)?;
    (closes && value::is_secret(trimmed, sort, Writing::Line)).then(|| start..start + trimmed.len())
}

/// What stands before the closing quote.
fn quoted<'a>(rest: &'a str, quote: &str) -> Option<&'a str> {
    let bytes = rest.as_bytes();
    let mut at = 0;
    while at < LONGEST_VALUE.min(bytes.len()) {
        if rest.get(at..).is_some_and(|rest| rest.starts_with(quote)) {
            return rest.get(..at);
        }
        match bytes.get(at) {
            Some(b'\n') => return None,
            Some(b'\\') if !quote.starts_with('\\') => at += 2,
            _ => at += 1,
        }
    }
    None
}

/// A value without quotes.
fn bare(rest: &str, writing: Writing) -> &str {
    let ends = |byte: u8| match writing {
        // A connection string goes on after `;`, an address after `&`.
        Writing::Line => matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'<' | b';' | b'&'),
        _ => matches!(
            byte,
            b' ' | b'\t'
                | b'\n'
                | b'\r'
                | b'"'
                | b'\''
                | b'`'
                | b'<'
                | b'>'
                | b';'
                | b'&'
                | b','
                | b')'
                | b']'
                | b'}'
                | b'|'
        ),
    };
    let bytes = rest.as_bytes();
    let mut length = 0;
    while let Some(byte) = bytes.get(length).filter(|_| length < LONGEST_VALUE) {
        if ends(*byte)
            || bytes
                .get(length..)
                .is_some_and(|rest| rest.starts_with(b"\\n") || rest.starts_with(b"\\r") || rest.starts_with(b"\\\""))
        {
            break;
        }
        length += 1;
    }
    while !rest.is_char_boundary(length) {
        length -= 1;
    }
    rest.get(..length).unwrap_or_default().trim_end_matches([',', '.', ':'])
}

/// What names no password by a name: `curl -u name:password`, and `login … password …` of login files.
fn logins(text: &str, found: &mut Vec<Secret>) {
    for option in [" -u ", " -u", " --user ", " --user=", " --proxy-user "] {
        for at in memchr::memmem::find_iter(text.as_bytes(), option) {
            let mut reader = Reader { text, at: at + option.len() };
            let _ = reader.quote();
            let login = bare(reader.rest(), Writing::Line);
            let Some((user, password)) = login.split_once(':') else { continue };
            let is_name =
                !user.is_empty() && user.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-@+\\".contains(&byte));
            if is_name && value::is_secret(password, Sort::Password, Writing::Line) {
                let start = reader.at + user.len() + 1;
                found.push(Secret { kind: "password", span: start..start + password.len() });
            }
        }
    }
    for at in memchr::memmem::find_iter(text.as_bytes(), "password ") {
        let line = line_before(text, at);
        if line.contains("login ") || line.contains("machine ") {
            let start = at + "password ".len();
            let value = bare(text.get(start..).unwrap_or_default(), Writing::Line);
            if value::is_secret(value, Sort::Password, Writing::Line) {
                found.push(Secret { kind: "password", span: start..start + value.len() });
            }
        }
    }
}
