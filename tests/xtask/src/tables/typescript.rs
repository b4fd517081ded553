//! Payloads of events as TypeScript's interfaces.

use super::{COMMON, Event, class_name};
use std::fmt::Write as _;

fn type_of(kind: &str, optional: bool) -> String {
    let plain = match kind {
        "text" => "string",
        "integer" => "number",
        "boolean" => "boolean",
        "names" => "string[]",
        "messages" => "Record<string, unknown>[]",
        "object" => "Record<string, unknown>",
        _ => "unknown",
    };
    if optional { format!("{plain} | null") } else { plain.to_owned() }
}

/// The module `payloads.ts`.
pub(super) fn payloads(events: &[Event]) -> String {
    // Writing into memory cannot fail.
    let mut text = String::from(
        "// Payloads of events, as hooks get them: one interface for each event. Keys are those of every language.\n\
         // Made by `cargo xtask tables` from the table of events; do not edit.\n\n\
         /** Keys that the payload of any event can have. */\nexport interface Common {\n",
    );
    for (name, kind) in COMMON {
        let _ = writeln!(text, "  {name}?: {};", type_of(kind, false));
    }
    text.push_str("}\n");
    for event in events {
        let _ =
            write!(text, "\n/** {} */\nexport interface {} extends Common {{\n", event.doc, class_name(&event.name));
        let _ = writeln!(text, "  event: \"{}\";", event.name);
        for key in event.keys.iter().filter(|key| !COMMON.iter().any(|(name, _)| *name == key.name)) {
            let _ = writeln!(text, "  {}: {};", key.name, type_of(&key.kind, key.optional));
        }
        text.push_str("}\n");
    }
    text.push_str("\n/** The payload of each event by its dotted name. */\nexport interface Payloads {\n");
    for event in events {
        let _ = writeln!(text, "  \"{}\": {};", event.name, class_name(&event.name));
    }
    text.push_str("}\n\n/** The dotted name of an event. */\nexport type EventName = keyof Payloads;\n");
    text
}
