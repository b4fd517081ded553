//! How an answer is cleaned.

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// How PHP tags and dangerous calls are taken out of an answer. In JSON also `true` and `false`, which are
/// `documented` and `off`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerMode {
    /// Nothing is changed.
    Off,
    /// As documented, but Markdown's fenced blocks and code spans stay as they are. For assistants that show code to
    /// people; what is written to a file that PHP runs needs `documented` or `escape`.
    OutsideCodeFences,
    /// Everywhere: tags become `[PHP_REMOVED]`, calls `[REDACTED](`. The default.
    #[default]
    Documented,
    /// Everywhere, and nothing is lost: `<?php` becomes `&lt;?php`, `?>` becomes `?&gt;`, `eval(` becomes
    /// `eval&#40;`.
    Escape,
}

impl AnswerMode {
    /// The names, as settings have them.
    const NAMES: &[(&str, Self)] = &[
        ("off", Self::Off),
        ("outside_code_fences", Self::OutsideCodeFences),
        ("documented", Self::Documented),
        ("escape", Self::Escape),
    ];
}

impl From<bool> for AnswerMode {
    fn from(clean: bool) -> Self {
        if clean { Self::Documented } else { Self::Off }
    }
}

impl<'de> Deserialize<'de> for AnswerMode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl Visitor<'_> for Reader {
    type Value = AnswerMode;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true, false")?;
        AnswerMode::NAMES.iter().try_for_each(|(name, _)| write!(f, ", `{name}`"))
    }

    fn visit_bool<E: de::Error>(self, clean: bool) -> Result<AnswerMode, E> {
        Ok(clean.into())
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<AnswerMode, E> {
        let known = AnswerMode::NAMES.iter().find(|(known, _)| *known == name);
        known.map(|(_, mode)| *mode).ok_or_else(|| E::invalid_value(de::Unexpected::Str(name), &self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_the_old_switch_are_read() {
        let read = |json: &str| serde_json::from_str::<AnswerMode>(json);
        for (json, mode) in [
            ("true", AnswerMode::Documented),
            ("false", AnswerMode::Off),
            (r#""off""#, AnswerMode::Off),
            (r#""outside_code_fences""#, AnswerMode::OutsideCodeFences),
            (r#""documented""#, AnswerMode::Documented),
            (r#""escape""#, AnswerMode::Escape),
        ] {
            assert_eq!(read(json).unwrap(), mode);
        }
        for wrong in [r#""Escape""#, r#""on""#, "1", "null", "{}"] {
            let error = read(wrong).unwrap_err().to_string();
            assert!(error.contains("`outside_code_fences`"), "{error}");
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for (name, mode) in AnswerMode::NAMES {
            assert_eq!(serde_json::to_value(mode).unwrap(), *name);
            assert_eq!(serde_json::from_value::<AnswerMode>((*name).into()).unwrap(), *mode);
        }
    }
}
