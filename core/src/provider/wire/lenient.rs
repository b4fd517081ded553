//! JSON fields as servers really fill them: null for text, a number for an id, a fraction for a count.
//!
//! A field of the wrong type reads as absent; it never makes a whole reply unreadable.

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;

/// Text, borrowed from the input where it has no escapes; empty when absent or null.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text<'a>(pub(crate) Cow<'a, str>);

impl Text<'_> {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The text, unless it is empty.
    pub(crate) fn filled(&self) -> Option<&str> {
        Some(self.as_str()).filter(|text| !text.is_empty())
    }
}

/// [`Text`] that is nearly always empty and then takes little room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rare<'a>(Option<Box<Text<'a>>>);

impl Rare<'_> {
    /// The text, unless it is empty.
    pub(crate) fn filled(&self) -> Option<&str> {
        self.0.as_ref().and_then(|text| text.filled())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Rare<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text::deserialize(deserializer)?;
        Ok(Self((!text.as_str().is_empty()).then(|| Box::new(text))))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("text")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
            fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text)))
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Text::default())
            }
            fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
                Ok(Text::default())
            }
            fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(number.to_string())))
            }
            fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(number.to_string())))
            }
            fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(number.to_string())))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                skip_map(map).map(|()| Text::default())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                skip_list(list).map(|()| Text::default())
            }
        }
        deserializer.deserialize_any(Read)
    }
}

/// A count; absent when it is no number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count(pub(crate) Option<u64>);

impl Count {
    /// Takes the later value of a counter that is sent more than once.
    pub(crate) fn update(self, last: &mut Option<u64>) {
        if self.0.is_some() {
            *last = self.0;
        }
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Count;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a count")
            }
            fn visit_u64<E>(self, number: u64) -> Result<Count, E> {
                Ok(Count(Some(number)))
            }
            fn visit_i64<E>(self, number: i64) -> Result<Count, E> {
                Ok(Count(u64::try_from(number).ok()))
            }
            fn visit_f64<E>(self, number: f64) -> Result<Count, E> {
                // 2^53, up to which a fraction is exact.
                Ok(Count((0.0..=9_007_199_254_740_992.0).contains(&number).then_some(number as u64)))
            }
            fn visit_unit<E>(self) -> Result<Count, E> {
                Ok(Count(None))
            }
            fn visit_bool<E>(self, _: bool) -> Result<Count, E> {
                Ok(Count(None))
            }
            fn visit_str<E>(self, text: &str) -> Result<Count, E> {
                Ok(Count(text.parse().ok()))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Count, A::Error> {
                skip_map(map).map(|()| Count(None))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Count, A::Error> {
                skip_list(list).map(|()| Count(None))
            }
        }
        deserializer.deserialize_any(Read)
    }
}

/// Reads over an object that stands where something else was expected.
pub(crate) fn skip_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<(), A::Error> {
    while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    Ok(())
}

/// Reads over a list that stands where something else was expected.
pub(crate) fn skip_list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<(), A::Error> {
    while list.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_type_is_an_absent_field() {
        let text = |json| serde_json::from_str::<Text<'_>>(json).unwrap().0.into_owned();
        for (json, read) in [
            (r#""a""#, "a"),
            (r#""a\n""#, "a\n"),
            ("null", ""),
            ("7", "7"),
            ("{\"a\":[1]}", ""),
            ("[1,{}]", ""),
            ("true", ""),
        ] {
            assert_eq!(text(json), read, "{json}");
        }
        let count = |json| serde_json::from_str::<Count>(json).unwrap().0;
        for (json, read) in [
            ("7", Some(7)),
            ("7.0", Some(7)),
            ("\"7\"", Some(7)),
            ("-1", None),
            ("null", None),
            ("{}", None),
            ("[1]", None),
            ("1e300", None),
        ] {
            assert_eq!(count(json), read, "{json}");
        }
    }

    #[test]
    fn plain_text_is_not_copied() {
        let read: Text<'_> = serde_json::from_str(r#""plain""#).unwrap();
        assert!(matches!(read.0, Cow::Borrowed("plain")));
    }
}
