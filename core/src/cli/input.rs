//! The message of `cheliped agent`: from the arguments or from standard input, checked once.

use super::failure::Failure;
use std::ffi::OsString;
use std::io::Read;

/// Largest message, in bytes.
pub(super) const MAX_MESSAGE: u64 = 16 << 20;

/// Standard input, and whether a person sits at it.
pub(super) struct Stdin<'a> {
    pub(super) reader: &'a mut dyn Read,
    pub(super) is_terminal: bool,
}

/// The message.
///
/// # Errors
/// A usage error when there is none, it is empty, too large, or no UTF-8.
pub(super) fn message(words: Vec<OsString>, stdin: Stdin<'_>) -> Result<String, Failure> {
    let text = text(words, stdin)?;
    if text.trim().is_empty() {
        return Err(Failure::usage("the message is empty: write what you want to know"));
    }
    Ok(text)
}

/// A text, which may be blank.
///
/// # Errors
/// A usage error when there is none, it is too large, or no UTF-8.
pub(super) fn text(words: Vec<OsString>, stdin: Stdin<'_>) -> Result<String, Failure> {
    let piped = words.is_empty() && !stdin.is_terminal;
    match words.as_slice() {
        [] if piped => read(stdin.reader),
        [only] if only == "-" => read(stdin.reader),
        [] => {
            let problem = "no message: write it after the command, as in: cheliped agent \"What is in this project?\"; \
                           \"-\" reads it from standard input";
            Err(Failure::usage(problem))
        }
        _ => {
            let mut text = Vec::new();
            for word in words {
                if !text.is_empty() {
                    text.push(b' ');
                }
                text.extend(word.into_encoded_bytes());
            }
            checked(text, "the message")
        }
    }
}

fn read(reader: &mut dyn Read) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    reader
        .take(MAX_MESSAGE + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::usage(format!("cannot read the message from standard input: {error}")))?;
    let mut text = checked(bytes, "standard input")?;
    text.truncate(text.trim_end_matches(['\n', '\r']).len());
    Ok(text)
}

/// Bytes as text.
///
/// # Errors
/// A usage error that says where the bytes are no UTF-8, or that there are too many.
pub(super) fn checked(bytes: Vec<u8>, what: &str) -> Result<String, Failure> {
    if bytes.len() as u64 > MAX_MESSAGE {
        let limit = MAX_MESSAGE >> 20;
        return Err(Failure::usage(format!("{what} has over {limit} MiB, the limit of a message: send less")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to() + 1;
        Failure::usage(format!(
            "{what} is not UTF-8, from byte {place} on: convert it first, for example with iconv -f LATIN1 -t UTF-8"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(words: &[&str], piped: Option<&[u8]>) -> Result<String, String> {
        let mut reader = piped.unwrap_or_default();
        let stdin = Stdin { reader: &mut reader, is_terminal: piped.is_none() };
        message(words.iter().map(OsString::from).collect(), stdin).map_err(|failure| match failure {
            Failure::Error(error) => error.to_string(),
            other => format!("{other:?}"),
        })
    }

    #[test]
    fn a_message_comes_from_words_or_from_a_pipe() {
        assert_eq!(take(&["how", "many?"], None).unwrap(), "how many?");
        assert_eq!(take(&["words"], Some(b"ignored")).unwrap(), "words");
        assert_eq!(take(&["-"], Some(b"piped\r\n")).unwrap(), "piped");
        assert_eq!(take(&[], Some(b"a\nb\n\n")).unwrap(), "a\nb");
    }

    #[test]
    fn a_message_that_cannot_be_sent_is_named() {
        assert!(take(&[], None).unwrap_err().contains("cheliped agent"));
        assert!(take(&["  "], None).unwrap_err().contains("empty"));
        assert!(take(&[], Some(b"\n")).unwrap_err().contains("empty"));
        assert!(take(&["-"], Some(b"caf\xe9")).unwrap_err().contains("from byte 4 on"));
        let large = vec![b'a'; MAX_MESSAGE as usize + 1];
        assert!(take(&["-"], Some(&large)).unwrap_err().contains("16 MiB"));
    }
}
