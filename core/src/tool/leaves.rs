//! The texts in the arguments of a call, wherever they stand.

use crate::guard::Vault;
use serde_json::Value;
use std::borrow::Cow;

/// Every text in a JSON value, joined with spaces, in its order. Keys are the schema's, not the model's.
pub(super) fn texts(value: &Value) -> String {
    let (mut texts, mut open) = (String::new(), vec![value]);
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => {
                if !texts.is_empty() {
                    texts.push(' ');
                }
                texts.push_str(text);
            }
            Value::Array(values) => open.extend(values.iter().rev()),
            Value::Object(map) => open.extend(map.values().rev()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    texts
}

/// Puts values back into every text of a JSON value.
pub(super) fn restore(value: &mut Value, vault: &Vault) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(restored) = vault.restore(text) {
                *text = restored;
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| restore(value, vault)),
        Value::Object(map) => map.values_mut().for_each(|value| restore(value, vault)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
