//! The arguments of a tool call as providers write them: text, an object, nothing at all.
//!
//! One reading for every wire format. It never guesses: what is no object becomes a fault that the model is told of.

use crate::message::{Arguments, CallFault};
use serde_json::value::RawValue;

/// Reads arguments that came as text. Nothing, blank text and `null` are `{}`; text in text is read once more.
///
/// `cut` says that the reply ended because it was full: arguments that are empty or broken are then cut ones.
///
/// # Errors
/// [`CallFault`] when the call must not run.
pub(crate) fn from_text(text: &str, cut: bool) -> Result<Arguments, CallFault> {
    let fault = || {
        let raw = Box::from(text);
        if cut { CallFault::Cut { raw } } else { CallFault::Malformed { raw } }
    };
    match text.trim() {
        "" | "null" if cut => Err(fault()),
        "" | "null" => Ok(Arguments::empty()),
        quoted if quoted.starts_with('"') => {
            let inner: String = serde_json::from_str(quoted).map_err(|_| fault())?;
            match inner.trim() {
                "" | "null" => Ok(Arguments::empty()),
                object => object.parse().map_err(|_| fault()),
            }
        }
        object => object.parse().map_err(|_| fault()),
    }
}

/// Reads arguments that came as a JSON value: an object, a string that holds one, or nothing.
///
/// # Errors
/// [`CallFault`] when the call must not run.
pub(crate) fn from_json(value: Option<&RawValue>, cut: bool) -> Result<Arguments, CallFault> {
    let json = value.map_or("", RawValue::get);
    // The usual form: a string that holds the object.
    match serde_json::from_str::<String>(json) {
        Ok(text) => from_text(&text, cut),
        Err(_) => from_text(json, cut),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_providers_write() {
        for (text, object) in [
            ("", "{}"),
            ("  ", "{}"),
            ("null", "{}"),
            ("{}", "{}"),
            (r#" {"a":1} "#, r#"{"a":1}"#),
            (r#""{\"a\":1}""#, r#"{"a":1}"#),
            (r#""""#, "{}"),
            (r#"{"n":123456789012345678901234567890}"#, r#"{"n":123456789012345678901234567890}"#),
        ] {
            assert_eq!(from_text(text, false).unwrap().as_str(), object, "{text}");
        }
        for text in ["{'a':1}", "[]", "7", r#"{"a":"#, r#""text""#, r#""[]""#, "true", r#"""#] {
            assert_eq!(from_text(text, false), Err(CallFault::Malformed { raw: text.into() }), "{text}");
        }
    }

    #[test]
    fn a_full_reply_cuts_empty_and_broken_arguments_only() {
        for text in ["", "null", r#"{"a":"#] {
            assert_eq!(from_text(text, true), Err(CallFault::Cut { raw: text.into() }));
        }
        assert_eq!(from_text(r#"{"a":1}"#, true).unwrap().as_str(), r#"{"a":1}"#);
    }

    #[test]
    fn takes_objects_as_well_as_text() {
        let read = |json: &str| from_json(Some(&serde_json::from_str::<Box<RawValue>>(json).unwrap()), false);
        assert_eq!(read(r#"{"a":1}"#).unwrap().as_str(), r#"{"a":1}"#);
        assert_eq!(read(r#""{\"a\":1}""#).unwrap().as_str(), r#"{"a":1}"#);
        assert_eq!(read(r#""\"{\\\"a\\\":1}\"""#).unwrap().as_str(), r#"{"a":1}"#);
        assert_eq!(read("null").unwrap(), Arguments::empty());
        assert_eq!(from_json(None, false).unwrap(), Arguments::empty());
        assert_eq!(read(r#""{'a'""#), Err(CallFault::Malformed { raw: "{'a'".into() }));
        assert_eq!(read("[1]"), Err(CallFault::Malformed { raw: "[1]".into() }));
    }
}
