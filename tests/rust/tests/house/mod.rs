//! Reads the paths out of source files and compares them with the floor plan.

mod paths;

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

/// The floors, from the ground up. A room may use every room below its floor.
const FLOORS: &[&[&str]] = &[
    &["error", "message", "limits", "env", "schema", "context"],
    &["guard", "sandbox"],
    &["screening", "hooks", "approval", "memory", "skills", "provider", "process", "fetch", "prompt"],
    &["tool"],
    &["run", "durable"],
    &["agent", "session", "graph", "jobs"],
    &["mcp", "gateway", "cli", "host", "fuzzing"],
];

/// Neighbours on one floor that may be used.
const NEIGHBOURS: &[(&str, &str)] = &[
    ("error", "schema"),
    ("schema", "message"),
    ("hooks", "provider"),
    ("screening", "hooks"),
    ("approval", "provider"),
    ("hooks", "fetch"),
    ("skills", "fetch"),
    ("durable", "run"),
    ("session", "agent"),
    ("graph", "agent"),
    ("jobs", "agent"),
];

/// Crates of the language bindings, which use the engine and are never used by it.
const BINDINGS: &[&str] = &["pyo3", "napi", "napi_derive", "cheliped_python", "cheliped_node"];
/// Rooms of pure functions.
const PURE: &[&str] = &["guard", "sandbox"];
/// The one file that may hold `unsafe`.
const UNSAFE: &str = "process/child.rs";
/// Most lines of a file, tests not counted.
const LINES: usize = 600;

/// A source file: its path below `core/src` and its text.
#[derive(Clone)]
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Every Rust file below a folder, in the order of their paths.
pub(crate) fn files_of(folder: &Path) -> std::io::Result<Vec<File>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().replace('\\', "/");
                files.push(File { path: name, text: std::fs::read_to_string(&path)? });
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// Every breach of the plan as `file:line: what`.
pub(crate) fn check(files: &[File]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut walks = Vec::new();
    for file in files {
        match paths::walk(&file.path, &file.text) {
            Ok(walk) => walks.push((file, walk)),
            Err(error) => problems.push(format!("{}: cannot be parsed: {error}", file.path)),
        }
    }
    let tests: BTreeSet<String> = walks.iter().flat_map(|(_, walk)| walk.test_modules.iter().cloned()).collect();
    let root: HashMap<String, String> =
        walks.iter().filter(|(file, _)| file.path == "lib.rs").flat_map(|(_, walk)| walk.exports.clone()).collect();
    for (file, walk) in &walks {
        let module = paths::module_of(&file.path);
        if tests.iter().any(|test| module == *test || module.starts_with(&format!("{test}::"))) {
            continue;
        }
        let at = |line: usize, what: String| format!("{}:{line}: {what}", file.path);
        if walk.lines > LINES {
            problems.push(format!("{}: {} lines without tests; the limit is {LINES}", file.path, walk.lines));
        }
        problems.extend(walk.hidden.iter().map(|(line, what)| at(*line, what.clone())));
        if file.path != UNSAFE {
            problems.extend(walk.unsafes.iter().map(|line| at(*line, format!("unsafe belongs in {UNSAFE} only"))));
        }
        // The root only opens doors, and the command is a door outside.
        let room = match file.path.as_str() {
            "lib.rs" => continue,
            "main.rs" => "cli",
            _ => module.split("::").next().unwrap_or_default(),
        };
        if floor_of(room).is_none() {
            problems.push(format!("{}: the room {room} has no floor; add it to the plan", file.path));
            continue;
        }
        if PURE.contains(&room) {
            let said = |line: &usize| at(*line, format!("{room} holds no async code"));
            problems.extend(walk.asyncs.iter().map(said));
        }
        for (line, name) in &walk.foreign {
            if BINDINGS.contains(&name.as_str()) {
                problems.push(at(*line, format!("the engine uses no binding ({name})")));
            }
        }
        let mut seen = BTreeSet::new();
        for (line, used) in &walk.used {
            let used = root.get(used).unwrap_or(used);
            if !may_use(room, used) && seen.insert((*line, used.clone())) {
                problems.push(at(*line, format!("{room} may not use {used}")));
            }
        }
    }
    problems
}

fn floor_of(room: &str) -> Option<usize> {
    FLOORS.iter().position(|rooms| rooms.contains(&room))
}

fn may_use(room: &str, used: &str) -> bool {
    match (floor_of(room), floor_of(used)) {
        _ if room == used => true,
        (Some(own), Some(other)) => other < own || (other == own && NEIGHBOURS.contains(&(room, used))),
        // A name that is no room: a macro or a function of the root. What it stands for is checked where it is.
        (_, None) | (None, _) => true,
    }
}
