//! `cargo xtask tables`: writes what the languages share from the tables in core.
//!
//! Core is the only source. The files are committed, so that readers and type checkers see them; `--check` only says
//! which are out of date.

mod python;
mod typescript;

use crate::workspace;
use serde::Deserialize;
use serde_json::Value;
use std::path::PathBuf;
use std::process::ExitCode;

/// The tables as the host room gives them.
#[derive(Deserialize)]
struct Tables {
    events: Vec<Event>,
}

/// An event of the table.
#[derive(Deserialize)]
struct Event {
    name: String,
    doc: String,
    keys: Vec<Key>,
}

/// A key of an event's payload.
#[derive(Deserialize)]
struct Key {
    name: String,
    kind: String,
    optional: bool,
}

/// Keys that every payload can have, beside its own; all may be missing.
const COMMON: &[(&str, &str)] = &[
    ("run_id", "text"),
    ("parent_run_id", "text"),
    ("streaming", "boolean"),
    ("conversation_id", "text"),
    ("iteration", "integer"),
    ("attempt", "integer"),
    ("call_id", "text"),
    ("seq", "integer"),
    ("at_ms", "integer"),
];

/// `guard.blocked` as the name of a class.
fn class_name(event: &str) -> String {
    event
        .split(['.', '_'])
        .map(|word| {
            let mut letters = word.chars();
            letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str()).unwrap_or_default()
        })
        .collect()
}

/// The files and what they must hold.
fn files() -> Result<Vec<(PathBuf, String)>, String> {
    let json = cheliped::host::tables();
    let tables: Tables = serde_json::from_str(&json).map_err(|error| error.to_string())?;
    let value: Value = serde_json::from_str(&json).map_err(|error| error.to_string())?;
    let pretty = serde_json::to_string_pretty(&value).map_err(|error| error.to_string())? + "\n";
    let root = workspace::root();
    Ok(vec![
        (root.join("tests/vectors/tables.json"), pretty),
        (root.join("bindings-python/python/cheliped/payloads.py"), python::payloads(&tables.events)),
        (root.join("bindings-node/src/payloads.ts"), typescript::payloads(&tables.events)),
    ])
}

/// Paths of the files that are out of date.
///
/// # Errors
/// The tables cannot be read.
pub(crate) fn stale() -> Result<Vec<String>, String> {
    let stale = files()?.into_iter().filter(|(path, text)| std::fs::read_to_string(path).ok().as_ref() != Some(text));
    let root = workspace::root();
    Ok(stale.map(|(path, _)| path.strip_prefix(&root).unwrap_or(&path).display().to_string()).collect())
}

/// Writes the files.
pub(crate) fn write() -> ExitCode {
    let written = files().and_then(|files| {
        files.into_iter().try_for_each(|(path, text)| {
            let failed = |error: std::io::Error| format!("{}: {error}", path.display());
            path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(failed)?;
            std::fs::write(&path, text).map_err(failed)
        })
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("tables: {problem}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_classes_come_of_dotted_names() {
        assert_eq!(class_name("guard.rate_limit_exceeded"), "GuardRateLimitExceeded");
    }

    #[test]
    fn every_event_has_its_class_in_both_languages() {
        for (path, text) in files().unwrap() {
            for name in cheliped::hooks::EventName::ALL {
                assert!(text.contains(&format!("\"{}\"", name.as_str())), "{}: {name:?}", path.display());
            }
        }
    }
}
