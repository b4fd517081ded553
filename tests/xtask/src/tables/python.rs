//! Payloads of events as Python's typed dictionaries.

use super::{COMMON, Event, class_name};
use std::fmt::Write as _;

/// Words of the language that could be the name of a key.
const KEYWORDS: &[&str] =
    &["as", "class", "def", "for", "from", "global", "import", "in", "is", "lambda", "pass", "with"];

fn type_of(kind: &str, optional: bool) -> String {
    let plain = match kind {
        "text" => "str",
        "integer" => "int",
        "boolean" => "bool",
        "names" => "list[str]",
        "messages" => "list[dict[str, Any]]",
        "object" => "dict[str, Any]",
        _ => "Any",
    };
    if optional { format!("{plain} | None") } else { plain.to_owned() }
}

/// The module `cheliped.payloads`.
pub(super) fn payloads(events: &[Event]) -> String {
    // Writing into memory cannot fail.
    let mut text = String::from(
        "\"\"\"Payloads of events, as hooks get them: one typed dictionary for each event.\n\n\
         Made by `cargo xtask tables` from the table of events; do not edit.\n\n\
         Example:\n\n    \
         from cheliped.payloads import GuardBlocked\n\n    \
         def report(event: GuardBlocked) -> None:\n        \
         print(event[\"guard\"], event[\"reason\"])\n\
         \"\"\"\n\nfrom __future__ import annotations\n\nfrom typing import Any, Literal, TypedDict\n\n",
    );
    text.push_str("EventName = Literal[\n");
    for event in events {
        let _ = writeln!(text, "    \"{}\",", event.name);
    }
    text.push_str("]\n\"\"\"The dotted name of an event.\"\"\"\n\n\nclass Common(TypedDict, total=False):\n");
    text.push_str("    \"\"\"Keys that the payload of any event can have.\"\"\"\n\n");
    for (name, kind) in COMMON {
        let _ = writeln!(text, "    {name}: {}", type_of(kind, false));
    }
    for event in events {
        let class = class_name(&event.name);
        // A word of the language cannot be the name of a field in a class.
        let words: Vec<_> = event.keys.iter().filter(|key| KEYWORDS.contains(&key.name.as_str())).collect();
        let mut bases = String::from("Common");
        if !words.is_empty() {
            let fields: Vec<_> =
                words.iter().map(|key| format!("\"{}\": {}", key.name, type_of(&key.kind, key.optional))).collect();
            let _ = write!(text, "\n\n_{class} = TypedDict(\"_{class}\", {{{}}})", fields.join(", "));
            let _ = write!(bases, ", _{class}");
            text.push('\n');
        }
        let _ = write!(text, "\n\nclass {class}({bases}):\n");
        let _ = writeln!(text, "    \"\"\"{}\"\"\"\n", event.doc);
        let _ = writeln!(text, "    event: Literal[\"{}\"]", event.name);
        for key in event.keys.iter().filter(|key| !COMMON.iter().any(|(name, _)| *name == key.name)) {
            if words.iter().any(|word| word.name == key.name) {
                continue;
            }
            let _ = writeln!(text, "    {}: {}", key.name, type_of(&key.kind, key.optional));
        }
    }
    text
}
