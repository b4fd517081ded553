//! Tidying: small, harmless repairs of what models write into optional and numeric arguments.
//!
//! Only top-level members that the schema knows with an object schema are touched, and of those only the ones that
//! change; every other token stays as the model wrote it.

use super::Schema;
use crate::message::Arguments;
use serde_json::{Number, Value};

/// Tidies arguments against a schema; `None` when nothing changes.
///
/// - a member that is not required and is null, blank, or exactly `*` or `%` without being one of the property's
///   `enum` values is dropped;
/// - a numeric value or numeric string for `type: integer` is truncated, for `type: number` taken as a number, and
///   both are clamped to `minimum` and `maximum`.
///
/// ```
/// use cheliped::schema::{Schema, tidy};
/// let schema = Schema::new(serde_json::json!({
///     "properties": {"limit": {"type": "integer", "maximum": 50}, "search": {"type": "string"}},
/// }))?;
/// let arguments = r#"{"limit": "100", "search": null}"#.parse().unwrap();
/// assert_eq!(tidy(&schema, &arguments).unwrap().as_str(), r#"{"limit":50}"#);
/// # Ok::<(), cheliped::schema::SchemaError>(())
/// ```
pub fn tidy(schema: &Schema, arguments: &Arguments) -> Option<Arguments> {
    let properties = schema.value().get("properties").and_then(Value::as_object)?;
    let required = schema.value().get("required").and_then(Value::as_array);
    let is_required = |key: &str| required.is_some_and(|list| list.iter().any(|item| item.as_str() == Some(key)));
    if properties.is_empty() {
        return None;
    }
    let members = arguments.members();
    let mut changed = false;
    let mut kept: Vec<(&str, std::borrow::Cow<'_, str>)> = Vec::with_capacity(members.len());
    for (key, raw) in &members {
        let raw = raw.get();
        let action = match properties.get(key.as_str()).filter(|property| property.is_object()) {
            Some(property) => tidy_member(property, is_required(key), raw),
            None => Action::Keep,
        };
        match action {
            Action::Keep => kept.push((key, raw.into())),
            Action::Drop => changed = true,
            Action::Replace(text) => {
                changed = true;
                kept.push((key, text.into()));
            }
        }
    }
    changed.then(|| Arguments::from_members(kept.iter().map(|(key, value)| (*key, value.as_ref()))))
}

enum Action {
    Keep,
    Drop,
    Replace(String),
}

fn tidy_member(property: &Value, required: bool, raw: &str) -> Action {
    let value: Value = serde_json::from_str(raw).unwrap_or(Value::Bool(true));
    if !required && is_filler(property, &value) {
        return Action::Drop;
    }
    let integer = match property.get("type").and_then(Value::as_str) {
        Some("integer") => true,
        Some("number") => false,
        _ => return Action::Keep,
    };
    let Some(token) = numeric_token(&value, raw) else { return Action::Keep };
    match tidy_number(property, integer, token) {
        Some(text) if text == raw => Action::Keep,
        Some(text) => Action::Replace(text),
        None => Action::Keep,
    }
}

/// Null, blank, or a wildcard that means "anything" and is no legal value.
fn is_filler(property: &Value, value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => match text.trim() {
            "" => true,
            wildcard @ ("*" | "%") => !property
                .get("enum")
                .and_then(Value::as_array)
                .is_some_and(|values| values.iter().any(|allowed| allowed.as_str() == Some(wildcard))),
            _ => false,
        },
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

/// The number as text, whether it came as a number or as a numeric string.
fn numeric_token<'a>(value: &'a Value, raw: &'a str) -> Option<&'a str> {
    match value {
        Value::Number(_) => Some(raw),
        Value::String(text) => {
            let text = text.trim();
            let plain = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
            (plain && text.parse::<f64>().is_ok_and(f64::is_finite)).then_some(text)
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The tidied number as JSON text; `None` when it cannot be written as JSON.
fn tidy_number(property: &Value, integer: bool, token: &str) -> Option<String> {
    let number: f64 = token.parse().ok()?;
    let bound = |key: &str| property.get(key).filter(|bound| bound.is_number());
    let clamped = bound("minimum")
        .filter(|low| low.as_f64().is_some_and(|low| number < low))
        .or_else(|| bound("maximum").filter(|high| high.as_f64().is_some_and(|high| number > high)));
    if let Some(bound) = clamped {
        return match (integer, bound.as_f64()) {
            // The nearest whole number inside the bounds.
            (true, Some(limit)) if limit.fract() != 0.0 => {
                whole(if number < limit { limit.ceil() } else { limit.floor() })
            }
            _ => Some(bound.to_string()),
        };
    }
    // A JSON integer keeps its digits however many it has.
    let digits = token.strip_prefix('+').unwrap_or(token);
    let is_json = serde_json::from_str::<Number>(digits).is_ok();
    let is_whole = !digits.contains(['.', 'e', 'E']);
    match (integer, is_json, is_whole) {
        (true, true, true) | (false, true, _) => Some(digits.to_owned()),
        (true, _, _) => whole(number.trunc()),
        (false, false, _) => Number::from_f64(number).map(|number| number.to_string()),
    }
}

fn whole(number: f64) -> Option<String> {
    number.is_finite().then(|| {
        let text = format!("{number:.0}");
        if text == "-0" { "0".to_owned() } else { text }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(schema: Value, before: &str, after: &str) {
        let schema = Schema::new(schema).unwrap();
        let arguments: Arguments = before.parse().unwrap();
        let tidied = tidy(&schema, &arguments).unwrap_or(arguments);
        assert_eq!(tidied.as_str(), after, "{before}");
    }

    fn schema() -> Value {
        json!({
            "properties": {
                "code": {"type": "string"},
                "extra": {"type": "string"},
                "search": {"type": "string"},
                "sort": {"enum": ["*", "name"]},
                "limit": {"type": "integer", "minimum": 1, "maximum": 50},
                "ratio": {"type": "number", "minimum": 0.5},
                "big": {"type": "integer"},
            },
            "required": ["code"],
        })
    }

    #[test]
    fn drops_fillers_of_optional_members_only() {
        check(schema(), r#"{"search":null,"code":"x"}"#, r#"{"code":"x"}"#);
        check(schema(), r#"{"search":"  ","code":"x"}"#, r#"{"code":"x"}"#);
        check(schema(), r#"{"search":"%","code":"x"}"#, r#"{"code":"x"}"#);
        check(schema(), r#"{"sort":"*","code":"x"}"#, r#"{"sort":"*","code":"x"}"#);
        check(schema(), r#"{"code":""}"#, r#"{"code":""}"#);
        check(schema(), r#"{"code":null,"other":null}"#, r#"{"code":null,"other":null}"#);
    }

    #[test]
    fn reads_truncates_and_clamps_numbers() {
        check(schema(), r#"{"limit":100}"#, r#"{"limit":50}"#);
        check(schema(), r#"{"limit":0}"#, r#"{"limit":1}"#);
        check(schema(), r#"{"limit":"7.9"}"#, r#"{"limit":7}"#);
        check(schema(), r#"{"limit":7.9}"#, r#"{"limit":7}"#);
        check(schema(), r#"{"limit":"many"}"#, r#"{"limit":"many"}"#);
        check(schema(), r#"{"ratio":0.1}"#, r#"{"ratio":0.5}"#);
        check(schema(), r#"{"ratio":"0.75"}"#, r#"{"ratio":0.75}"#);
        check(schema(), r#"{"ratio":1.500}"#, r#"{"ratio":1.500}"#);
    }

    #[test]
    fn keeps_the_digits_of_large_numbers() {
        check(schema(), r#"{"big":123456789012345678901234567890}"#, r#"{"big":123456789012345678901234567890}"#);
        check(schema(), r#"{"big":"18446744073709551617"}"#, r#"{"big":18446744073709551617}"#);
    }

    #[test]
    fn untouched_arguments_keep_their_white_space() {
        check(schema(), r#"{ "code" : "x", "limit": 5 }"#, r#"{ "code" : "x", "limit": 5 }"#);
    }
}
