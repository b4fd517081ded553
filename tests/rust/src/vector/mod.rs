//! Run vectors: whole runs written down as JSON, with what must come of them.
//!
//! The format is described in `tests/vectors/README.md`. It names no language; this is its Rust reader. It uses the
//! public interface of the engine alone.

mod build;
mod compare;
mod format;
mod play;
mod stand_in;
mod world;

pub use build::{Made, make};
pub use compare::{check, differences};
pub use format::{Case, File, Mode};
pub use play::{Cut, Played, Saved, play, resume};
pub use world::World;

use std::path::{Path, PathBuf};

/// The folder of the vectors.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors/runs")
}

/// Reads one file of vectors.
///
/// # Errors
/// The file cannot be read, or a key in it is wrong.
pub fn read(path: &Path) -> Result<File, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Reads every file of vectors, by name.
///
/// # Errors
/// The folder or a file cannot be read, or a key in it is wrong.
pub fn read_all() -> Result<Vec<(PathBuf, File)>, String> {
    let entries = std::fs::read_dir(folder()).map_err(|error| format!("{}: {error}", folder().display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    paths.into_iter().map(|path| read(&path).map(|file| (path, file))).collect()
}
