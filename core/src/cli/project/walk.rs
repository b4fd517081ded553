//! Walks through the folders of a project, in order and within limits.
//!
//! It follows no links, and leaves out secrets, hidden files, and what is inside folders that tools make.

use super::root::is_secret;
use crate::tool::ToolError;
use std::path::{Path, PathBuf};

/// Entries that are looked at.
pub(super) const MAX_ENTRIES: usize = 20_000;
/// Depth that is looked at.
const MAX_DEPTH: usize = 32;
/// Folders of what tools have made or fetched.
const MADE_BY_TOOLS: [&str; 8] =
    ["__pycache__", "build", "dist", "node_modules", "storage", "target", "vendor", "venv"];

/// A file or folder on the way.
pub(super) struct Found {
    /// Where it is.
    pub(super) path: PathBuf,
    /// Its name.
    pub(super) name: String,
    /// Its path from where the walk was said to start.
    pub(super) shown: String,
    /// How deep it is, from 1.
    pub(super) level: usize,
    pub(super) kind: Kind,
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A file of so many bytes.
    File(u64),
    /// A folder.
    Folder {
        /// Whether the walk goes on inside.
        entered: bool,
    },
}

/// Whether a walk goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    On,
    Stop,
}

/// How a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// Everything was seen, or the visitor has seen enough.
    Done,
    /// There is more than the limit.
    Cut,
}

struct Walk<'a> {
    entries: usize,
    given_up: &'a dyn Fn() -> bool,
    visit: &'a mut dyn FnMut(&Found) -> Flow,
}

/// Visits everything below a folder: folders before files, both by name.
///
/// # Errors
/// In words for the model, when the folder cannot be read or the work was given up.
pub(super) fn walk(
    folder: &Path,
    shown: &str,
    given_up: &dyn Fn() -> bool,
    visit: &mut dyn FnMut(&Found) -> Flow,
) -> Result<Ended, ToolError> {
    let mut walk = Walk { entries: 0, given_up, visit };
    let prefix = if shown.is_empty() { String::new() } else { format!("{shown}/") };
    walk.folder(folder, &prefix, 1)?;
    Ok(if walk.entries < MAX_ENTRIES { Ended::Done } else { Ended::Cut })
}

impl Walk<'_> {
    fn folder(&mut self, path: &Path, prefix: &str, level: usize) -> Result<Flow, ToolError> {
        if (self.given_up)() {
            return Err(ToolError::failed("looking around was given up"));
        }
        let listing = match std::fs::read_dir(path) {
            Ok(listing) => listing,
            Err(error) if level == 1 => return Err(ToolError::internal("cannot list the folder", error)),
            // One closed folder does not hide the others.
            Err(_) => return Ok(Flow::On),
        };
        let mut found = Vec::new();
        for entry in listing.flatten() {
            if self.entries >= MAX_ENTRIES {
                break;
            }
            self.entries += 1;
            // The kind of a link is link, so links are neither followed nor shown.
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name();
            if is_secret(&name) || !(kind.is_dir() || kind.is_file()) {
                continue;
            }
            let name = name.to_string_lossy().into_owned();
            let kind = match kind.is_dir() {
                true => Kind::Folder { entered: level < MAX_DEPTH && !MADE_BY_TOOLS.contains(&name.as_str()) },
                false => Kind::File(entry.metadata().map_or(0, |metadata| metadata.len())),
            };
            found.push(Found { path: entry.path(), shown: format!("{prefix}{name}"), name, level, kind });
        }
        let is_file = |found: &Found| matches!(found.kind, Kind::File(_));
        found.sort_by(|one, other| (is_file(one), &one.name).cmp(&(is_file(other), &other.name)));
        for found in found {
            if (self.visit)(&found) == Flow::Stop {
                return Ok(Flow::Stop);
            }
            if found.kind == (Kind::Folder { entered: true })
                && self.folder(&found.path, &format!("{}/", found.shown), level + 1)? == Flow::Stop
            {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::On)
    }
}
