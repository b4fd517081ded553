//! Passwords inside addresses: `scheme://user:PASSWORD@host`.

use super::{Secret, value};
use memchr::memmem;

/// Bytes of the longest user and password that are read.
const LONGEST: usize = 512;

/// Adds what is found.
pub(super) fn scan(text: &str, found: &mut Vec<Secret>) {
    for at in memmem::find_iter(text.as_bytes(), "://") {
        if let Some(span) = password(text, at + 3) {
            found.push(Secret { kind: "connection_password", span });
        }
    }
}

/// The password in the address whose user begins at a place.
fn password(text: &str, start: usize) -> Option<std::ops::Range<usize>> {
    let rest = text.as_bytes().get(start..)?;
    // Several hosts, and a password with a bare sign in it, make the last sign the one before the host.
    let (mut colon, mut sign) = (None, None);
    for (place, byte) in rest.iter().enumerate().take(LONGEST) {
        match byte {
            b':' if colon.is_none() => colon = Some(place),
            b'@' if colon.is_some() => sign = Some(place),
            b'/' | b'?' | b'#' if sign.is_some() => break,
            b'/' => break,
            b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | 0..=b' ' => break,
            b',' | b';' if sign.is_some() => break,
            _ => {}
        }
    }
    let (colon, sign) = (colon?, sign?);
    let span = start + colon + 1..start + sign;
    let host = rest
        .get(sign + 1)
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'[' | b'$' | b'{' | b'%'));
    let password = text.get(span.clone())?;
    (host
        && !password.is_empty()
        && !value::is_stand_in(password)
        && !WORDS.contains(&password.to_ascii_lowercase().as_str()))
    .then_some(span)
}

/// What manuals write where the password goes.
const WORDS: [&str; 8] = ["pass", "passwd", "password", "pw", "pwd", "secret", "token", "x-oauth-basic"];
