//! The arguments of a tool call, kept as the JSON text that came.
//!
//! Text, because numbers must stay exact: an integer over 2^64 or a decimal with twenty digits survives history,
//! hashing and the way to a tool untouched. A parsed value is a view made on demand.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A JSON object as text.
///
/// ```
/// use cheliped::message::Arguments;
/// let arguments: Arguments = r#"{"id": 123456789012345678901234567890}"#.parse()?;
/// assert_eq!(arguments.as_str(), r#"{"id": 123456789012345678901234567890}"#);
/// assert!("[1]".parse::<Arguments>().is_err());
/// # Ok::<(), cheliped::message::ArgumentsError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Arguments(Box<str>);

/// The text is no JSON object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("tool arguments must be a JSON object: {problem}")]
pub struct ArgumentsError {
    /// What the parser found, with line and column.
    pub problem: String,
}

impl Arguments {
    /// `{}`.
    pub fn empty() -> Self {
        Self("{}".into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A parsed view. Integers outside 64 bits become floating point here; the text keeps them exact.
    pub fn value(&self) -> Value {
        // The text was validated on the way in, so the fallback is never taken.
        serde_json::from_str(&self.0).unwrap_or_else(|_| Value::Object(serde_json::Map::new()))
    }

    /// The top-level members in order, each as its own JSON text. Of a repeated key the last member counts.
    pub fn members(&self) -> Vec<(String, Box<RawValue>)> {
        serde_json::from_str::<Members>(&self.0).map(|members| members.0).unwrap_or_default()
    }

    /// Puts members together again, each value as the JSON text that it is.
    pub fn from_members<'a>(members: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut text = String::from("{");
        for (key, value) in members {
            if text.len() > 1 {
                text.push(',');
            }
            push_json_string(&mut text, key);
            text.push(':');
            text.push_str(value);
        }
        text.push('}');
        Self(text.into())
    }

    /// The canonical form for hashes and comparisons: keys sorted at every level, no white space, numbers and
    /// strings as they came.
    ///
    /// ```
    /// use cheliped::message::Arguments;
    /// let a: Arguments = r#"{"b": 1.0, "a": {"y": 1, "x": 2}}"#.parse()?;
    /// assert_eq!(a.canonical(), r#"{"a":{"x":2,"y":1},"b":1.0}"#);
    /// # Ok::<(), cheliped::message::ArgumentsError>(())
    /// ```
    pub fn canonical(&self) -> String {
        let mut text = String::with_capacity(self.0.len());
        canonical_into(&self.0, &mut text);
        text
    }
}

impl Default for Arguments {
    fn default() -> Self {
        Self::empty()
    }
}

impl std::fmt::Debug for Arguments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::fmt::Display for Arguments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::str::FromStr for Arguments {
    type Err = ArgumentsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        // The whole value is parsed once, so that every later view of it succeeds: nesting, escapes and number
        // ranges are checked here.
        match serde_json::from_str::<Value>(text) {
            Ok(Value::Object(_)) => Ok(Self(text.into())),
            Ok(Value::Null) => Err(ArgumentsError { problem: "got null".into() }),
            Ok(Value::Bool(_)) => Err(ArgumentsError { problem: "got a boolean".into() }),
            Ok(Value::Number(_)) => Err(ArgumentsError { problem: "got a number".into() }),
            Ok(Value::String(_)) => Err(ArgumentsError { problem: "got a string".into() }),
            Ok(Value::Array(_)) => Err(ArgumentsError { problem: "got a list".into() }),
            Err(error) => Err(ArgumentsError { problem: error.to_string() }),
        }
    }
}

impl TryFrom<&Value> for Arguments {
    type Error = ArgumentsError;

    fn try_from(value: &Value) -> Result<Self, Self::Error> {
        match value {
            Value::Object(_) => Ok(Self(value.to_string().into())),
            other => Err(ArgumentsError { problem: format!("got {other}") }),
        }
    }
}

// In JSON the arguments are a string, so that a reader who parses the whole history keeps every digit.
impl Serialize for Arguments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Top-level members; a repeated key keeps its first place and its last value.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;
        impl<'de> serde::de::Visitor<'de> for Visit {
            type Value = Members;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a JSON object")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members: Vec<(String, Box<RawValue>)> = Vec::new();
                let mut places = std::collections::HashMap::new();
                while let Some((key, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    if let Some(&place) = places.get(&key) {
                        let slot: Option<&mut (String, Box<RawValue>)> = members.get_mut(place);
                        if let Some(slot) = slot {
                            slot.1 = value;
                        }
                    } else {
                        places.insert(key.clone(), members.len());
                        members.push((key, value));
                    }
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Visit)
    }
}

fn canonical_into(text: &str, out: &mut String) {
    let text = text.trim();
    match text.as_bytes().first() {
        Some(b'{') => {
            let members: Vec<_> = serde_json::from_str::<Members>(text).map(|members| members.0).unwrap_or_default();
            let sorted: BTreeMap<&str, &RawValue> =
                members.iter().map(|(key, value)| (key.as_str(), value.as_ref())).collect();
            out.push('{');
            for (index, (key, value)) in sorted.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                push_json_string(out, key);
                out.push(':');
                canonical_into(value.get(), out);
            }
            out.push('}');
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
            out.push('[');
            for (index, item) in items.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                canonical_into(item.get(), out);
            }
            out.push(']');
        }
        // A string may be escaped in several ways; one spelling makes equal strings equal.
        Some(b'"') => match serde_json::from_str::<String>(text) {
            Ok(string) => push_json_string(out, &string),
            Err(_) => out.push_str(text),
        },
        _ => out.push_str(text),
    }
}

fn push_json_string(out: &mut String, text: &str) {
    // Writing a string as JSON into memory cannot fail.
    let _ = write!(out, "{}", Value::String(text.to_owned()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keeps_every_digit() {
        let text = r#"{"n":123456789012345678901234567890,"f":0.1000}"#;
        let arguments: Arguments = text.parse().unwrap();
        let stored = serde_json::to_string(&arguments).unwrap();
        assert_eq!(serde_json::from_str::<Arguments>(&stored).unwrap().as_str(), text);
        assert_eq!(arguments.canonical(), r#"{"f":0.1000,"n":123456789012345678901234567890}"#);
    }

    #[test]
    fn the_last_of_a_repeated_key_counts() {
        let arguments: Arguments = r#"{"a":1,"b":2,"a":3}"#.parse().unwrap();
        assert_eq!(arguments.canonical(), r#"{"a":3,"b":2}"#);
        assert_eq!(arguments.value(), serde_json::json!({"a": 3, "b": 2}));
    }

    #[test]
    fn refuses_what_is_no_object() {
        for text in ["", "null", "[]", "\"{}\"", "{", "{} {}", "{'a':1}", r#"{"n":1e999}"#, r#"{"s":"\ud800"}"#] {
            assert!(text.parse::<Arguments>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_taken_or_refused(text in ".{0,200}") {
            if let Ok(arguments) = text.parse::<Arguments>() {
                prop_assert!(arguments.value().is_object());
                let canonical = arguments.canonical();
                prop_assert_eq!(canonical.parse::<Arguments>().unwrap().canonical(), canonical);
            }
        }
    }
}
