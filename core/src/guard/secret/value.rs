//! Whether a value is a secret, or stands where one will be.

use super::name::Sort;

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writing {
    /// In quotes.
    Quoted,
    /// Alone on its line after the name: settings.
    Line,
    /// Inside a line: code or prose, where a word may be the name of a variable.
    Bare,
}

/// Words that stand for a value, that tell its type, or that are none.
const WORDS: [&str; 60] = [
    "any",
    "bool",
    "boolean",
    "bytes",
    "char",
    "credentials",
    "default",
    "disabled",
    "empty",
    "enabled",
    "false",
    "hidden",
    "int",
    "integer",
    "invalid",
    "key",
    "masked",
    "mandatory",
    "missing",
    "n/a",
    "na",
    "nil",
    "no",
    "none",
    "null",
    "number",
    "object",
    "off",
    "ok",
    "on",
    "optional",
    "pass",
    "passed",
    "passwd",
    "password",
    "passwort",
    "present",
    "prompt",
    "pwd",
    "redacted",
    "removed",
    "required",
    "secret",
    "secretstr",
    "secretstring",
    "set",
    "some",
    "str",
    "string",
    "tbd",
    "text",
    "todo",
    "token",
    "true",
    "undefined",
    "unknown",
    "unset",
    "valid",
    "value",
    "yes",
];
/// Parts that only what stands for a value has.
const PARTS: [&str; 19] = [
    "your",
    "example",
    "placeholder",
    "xxxx",
    "****",
    "....",
    "0000000000",
    "redacted",
    "insert",
    "replace",
    "goes_here",
    "goes-here",
    "my_password",
    "mypassword",
    "my-password",
    "some_secret",
    "dummy",
    "sample",
    "fill_me",
];
/// Where code reads a value from elsewhere.
const READS: [&str; 24] = [
    "process.env",
    "os.environ",
    "getenv",
    "import.meta",
    "secrets.",
    "vault:",
    "vault_",
    "config.",
    "settings.",
    "options.",
    "self.",
    "this.",
    "args.",
    "params.",
    "req.",
    "request.",
    "user.",
    "ref+",
    "op://",
    "arn:",
    "keyring",
    "file:",
    "env.",
    "ssm:",
];
/// Passwords that are words: the first that anybody tries.
const COMMON: [&str; 20] = [
    "admin",
    "administrator",
    "changeit",
    "changeme",
    "default1",
    "dragon",
    "guest",
    "hunter",
    "iloveyou",
    "letmein",
    "master",
    "monkey",
    "opensesame",
    "postgres",
    "qwerty",
    "root",
    "sunshine",
    "superman",
    "toor",
    "welcome",
];

/// Whether something is written where a value will be: `<your key>`, `${KEY}`, `xxxx`.
pub(super) fn is_stand_in(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let mut chars = lower.chars();
    let (first, second) = (chars.next(), chars.next());
    let opened = match first {
        Some('<' | '[' | '…' | '•') => true,
        Some('$') => second.is_none_or(|c| c.is_ascii_alphabetic() || matches!(c, '{' | '(' | '_')),
        Some('{') => lower.ends_with('}'),
        Some('%') => second.is_some_and(|c| matches!(c, '(' | 's' | '{')) || (lower.len() > 2 && lower.ends_with('%')),
        Some('#' | '@') => second == Some('{'),
        Some(c) => second.is_some() && lower.chars().all(|other| other == c),
        None => true,
    };
    opened
        || lower.contains("${")
        || lower.contains("{{")
        || lower.contains("$(")
        || PARTS.iter().any(|part| lower.contains(part))
}

/// Whether a value, under a name that says so, is a secret.
pub(super) fn is_secret(value: &str, sort: Sort, writing: Writing) -> bool {
    if is_stand_in(value) || is_read(value, writing) || WORDS.contains(&value.to_ascii_lowercase().as_str()) {
        return false;
    }
    if value.contains([' ', '\t']) {
        return sort == Sort::Phrase && writing == Writing::Quoted && value.split_whitespace().count() >= 3;
    }
    match sort {
        Sort::Token => is_token(value, writing),
        Sort::MaybePassword => writing != Writing::Bare && value.len() >= 6 && is_password(value, writing),
        Sort::Password | Sort::Phrase => is_password(value, writing),
    }
}

/// Whether code or a setting leads to the value elsewhere: a call, a variable, a path, an address.
fn is_read(value: &str, writing: Writing) -> bool {
    let lower = value.to_ascii_lowercase();
    let path = ["/", "./", "../", "~/"].iter().any(|start| value.starts_with(start))
        && value.matches('/').count() >= 2
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-~".contains(&byte))
        && !value.ends_with('=');
    let call = writing != Writing::Quoted && (value.contains('(') || value.contains("::") || value.contains("->"));
    let pattern = value.starts_with('^') || value.contains("(?");
    path || call
        || pattern
        || lower.contains("://")
        || READS.iter().any(|part| lower.starts_with(part))
        || (writing != Writing::Quoted && READS.iter().any(|part| lower.contains(part)))
}

/// What machines make: letters and digits mixed, no words.
fn is_token(value: &str, writing: Writing) -> bool {
    const SHORTEST: usize = 8;
    let mix = Mix::of(value);
    if value.len() < SHORTEST || mix.digits == 0 || mix.digits == value.len() || is_words(value) {
        // Letters alone are random when their case changes all the time.
        return value.len() >= 20 && mix.digits == 0 && mix.turns * 3 > value.len() && entropy(value) > 3.5;
    }
    if writing == Writing::Bare && is_identifier(value) {
        return value.len() >= 16 && mix.digits >= 3 && entropy(value) > 3.0;
    }
    value.len() >= 16 && entropy(value) > 2.5 || (mix.digits >= 2 && entropy(value) > 2.5)
}

/// What people choose: anything with a digit or a sign in it, or one of the words that everybody tries.
fn is_password(value: &str, writing: Writing) -> bool {
    const SHORTEST: usize = 4;
    let mix = Mix::of(value);
    if value.len() < SHORTEST {
        return false;
    }
    if mix.digits == value.len() {
        return value.len() >= 6;
    }
    if writing == Writing::Bare && is_identifier(value) {
        let inside = value.trim_end_matches(|c: char| c.is_ascii_digit()).bytes().any(|byte| byte.is_ascii_digit());
        return value.len() >= 6 && mix.digits > 0 && (inside || !value.contains('_'));
    }
    if mix.digits > 0 || mix.signs > 0 {
        return true;
    }
    let lower = value.to_ascii_lowercase();
    writing != Writing::Bare
        && (COMMON.contains(&lower.as_str()) || (value.len() >= 16 && mix.turns <= 1) || mix.turns * 3 > value.len())
}

/// A name in code.
fn is_identifier(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'))
        && value.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
}

/// Words and small numbers between signs: `my-secret-v2`, `AES-256-GCM`, `2026-01-31`.
fn is_words(value: &str) -> bool {
    let parts = || value.split(['-', '_', '.', '/', ':']).filter(|part| !part.is_empty());
    let plain = |part: &str| {
        let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = part.len() - letters.len();
        letters.bytes().all(|byte| byte.is_ascii_alphabetic())
            && digits <= 4
            && (letters.len() > 2 || digits == 0 || letters.len() <= 1)
            && Mix::of(letters).turns <= 3
    };
    parts().count() > 1 && parts().all(plain)
}

/// What a value is made of.
#[derive(Default)]
struct Mix {
    digits: usize,
    /// Characters that names in code and addresses do not have.
    signs: usize,
    /// Changes between capitals and small letters.
    turns: usize,
}

impl Mix {
    fn of(value: &str) -> Self {
        let mut mix = Self::default();
        let mut upper = None;
        for byte in value.bytes() {
            match byte {
                b'0'..=b'9' => mix.digits += 1,
                b'A'..=b'Z' | b'a'..=b'z' => {
                    let is = byte.is_ascii_uppercase();
                    mix.turns += usize::from(upper.is_some_and(|was| was != is));
                    upper = Some(is);
                }
                b'_' | b'-' | b'.' | b'/' | b':' => {}
                _ => mix.signs += 1,
            }
        }
        mix
    }
}

/// Bits of each character, were they all as likely as they are frequent here (Shannon).
fn entropy(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let length = f64::from(u32::try_from(value.len()).unwrap_or(u32::MAX).max(1));
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / length)
        .map(|share| -share * share.log2())
        .sum()
}
