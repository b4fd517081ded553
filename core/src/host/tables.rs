//! The tables of the engine as one JSON text: what every language must have.

use crate::agent::{AgentOptions, OPTIONS, OptionRow, PARTS};
use crate::error::ErrorKind;
use crate::hooks::EventName;
use serde_json::{Value, json};

/// `{"errors": [{code, class, doc}], "events": [{name, stream, keys, doc}], "options": [{name, kind, default, doc}],
/// "parts": [{name, kind, doc}]}`, in the order of the tables.
pub fn tables() -> String {
    let errors: Vec<Value> = ErrorKind::ALL
        .iter()
        .map(|kind| json!({"code": kind.code(), "class": kind.class(), "doc": kind.doc()}))
        .collect();
    let events: Vec<Value> = EventName::ALL
        .iter()
        .map(|event| {
            let keys = event.keys().iter();
            let keys: Vec<Value> =
                keys.map(|key| json!({"name": key.name, "kind": key.kind, "optional": key.optional})).collect();
            json!({"name": event.as_str(), "stream": event.stream_name(), "keys": keys, "doc": event.doc()})
        })
        .collect();
    let defaults = serde_json::to_value(AgentOptions::default()).unwrap_or_default();
    let options: Vec<Value> = OPTIONS
        .iter()
        .map(|row| json!({"name": row.name, "kind": row.kind, "default": defaults.get(row.name), "doc": doc(row)}))
        .collect();
    let parts: Vec<Value> =
        PARTS.iter().map(|row| json!({"name": row.name, "kind": row.kind, "doc": doc(row)})).collect();
    json!({"errors": errors, "events": events, "options": options, "parts": parts}).to_string()
}

/// The words of a documentation comment on one line.
fn doc(row: &OptionRow) -> String {
    row.doc.split_whitespace().collect::<Vec<_>>().join(" ")
}
