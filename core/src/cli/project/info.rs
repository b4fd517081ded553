//! `project_info`: what a project is, at a glance.
//!
//! Walks the folder once, with limits on entries and depth. It follows no links, and leaves out hidden files, secrets
//! and folders that hold what tools have made.

use super::read::bytes;
use super::root::{ProjectRoot, is_secret};
use crate::limits;
use crate::tool::ToolError;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// Entries that are looked at.
const MAX_ENTRIES: usize = 20_000;
/// Depth that is looked at.
const MAX_DEPTH: usize = 32;
/// Lines of the tree.
const MAX_TREE: usize = 150;
/// Bytes of a README that are looked at for its title.
const README_BYTES: u64 = 4096;
/// Folders of what tools have made or fetched.
const MADE_BY_TOOLS: [&str; 8] =
    ["__pycache__", "build", "dist", "node_modules", "storage", "target", "vendor", "venv"];
/// Files by which the kind of a project is known.
const MARKERS: [(&str, &str); 12] = [
    ("Cargo.toml", "Rust package"),
    ("package.json", "Node package"),
    ("pyproject.toml", "Python project"),
    ("setup.py", "Python project"),
    ("requirements.txt", "Python project"),
    ("composer.json", "PHP package"),
    ("go.mod", "Go module"),
    ("pom.xml", "Maven project"),
    ("build.gradle", "Gradle project"),
    ("Gemfile", "Ruby project"),
    ("CMakeLists.txt", "CMake project"),
    ("Makefile", "Make project"),
];
/// Languages and formats by file extension.
const LANGUAGES: [(&str, &str); 34] = [
    ("c", "C"),
    ("cpp", "C++"),
    ("cs", "C#"),
    ("css", "CSS"),
    ("csv", "CSV"),
    ("go", "Go"),
    ("h", "C"),
    ("hpp", "C++"),
    ("html", "HTML"),
    ("java", "Java"),
    ("js", "JavaScript"),
    ("json", "JSON"),
    ("jsx", "JavaScript"),
    ("kt", "Kotlin"),
    ("log", "log"),
    ("lua", "Lua"),
    ("md", "Markdown"),
    ("mjs", "JavaScript"),
    ("php", "PHP"),
    ("py", "Python"),
    ("rb", "Ruby"),
    ("rs", "Rust"),
    ("sh", "shell"),
    ("sql", "SQL"),
    ("svelte", "Svelte"),
    ("swift", "Swift"),
    ("toml", "TOML"),
    ("ts", "TypeScript"),
    ("tsx", "TypeScript"),
    ("txt", "text"),
    ("vue", "Vue"),
    ("xml", "XML"),
    ("yaml", "YAML"),
    ("yml", "YAML"),
];

/// What the model asks for.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Request {
    /// Levels of folders to show, 1 to 4. Default 2.
    #[schemars(range(min = 1, max = 4))]
    depth: Option<u64>,
}

#[derive(Default)]
struct Survey {
    entries: usize,
    files: u64,
    folders: u64,
    size: u64,
    languages: BTreeMap<&'static str, u64>,
    largest: Option<(u64, String)>,
    tree: Vec<String>,
    tree_cut: bool,
    cut: bool,
}

/// Describes the project.
///
/// # Errors
/// In words for the model, when the folder cannot be read.
pub(super) fn describe(
    root: &ProjectRoot,
    request: &Request,
    given_up: &dyn Fn() -> bool,
) -> Result<String, ToolError> {
    let depth = usize::try_from(request.depth.unwrap_or(2)).unwrap_or(4).clamp(1, 4);
    let mut survey = Survey::default();
    survey.folder(root.path(), "", 1, depth, given_up)?;
    let mut text = format!("project: {}\n", root.name());
    if let Some(title) = readme_title(root.path()) {
        text.push_str(&format!("readme: {title}\n"));
    }
    let mut kinds: Vec<&str> = Vec::new();
    for (file, kind) in MARKERS {
        if !kinds.contains(&kind) && root.path().join(file).is_file() {
            kinds.push(kind);
        }
    }
    if !kinds.is_empty() {
        text.push_str(&format!("kind: {}\n", kinds.join(", ")));
    }
    let (files, folders, size) = (survey.files, survey.folders, bytes(survey.size));
    text.push_str(&format!("files: {files} in {folders} folders, {size} in all\n"));
    if let Some((size, path)) = &survey.largest {
        text.push_str(&format!("largest: {path}, {}\n", bytes(*size)));
    }
    let mut languages: Vec<_> = survey.languages.iter().collect();
    languages.sort_by_key(|(name, files)| (std::cmp::Reverse(**files), **name));
    if !languages.is_empty() {
        let names: Vec<_> = languages.iter().map(|(name, files)| format!("{name} {files}")).collect();
        text.push_str(&format!("languages, with files: {}\n", names.join(", ")));
    }
    text.push_str("tree:\n");
    for line in &survey.tree {
        text.push_str(line);
        text.push('\n');
    }
    if survey.tree_cut {
        text.push_str("[the tree is cut: ask with a smaller depth]\n");
    }
    if survey.cut {
        text.push_str(&format!("[the project is large: only {MAX_ENTRIES} entries were counted]\n"));
    }
    Ok(text)
}

impl Survey {
    fn folder(
        &mut self,
        path: &Path,
        shown: &str,
        level: usize,
        depth: usize,
        given_up: &dyn Fn() -> bool,
    ) -> Result<(), ToolError> {
        let listing = match std::fs::read_dir(path) {
            Ok(listing) => listing,
            Err(error) if level == 1 => return Err(ToolError::internal("cannot list the project folder", error)),
            // One closed folder does not hide the others.
            Err(_) => return Ok(()),
        };
        if given_up() {
            return Err(ToolError::failed("looking around was given up"));
        }
        let mut entries = Vec::new();
        for entry in listing.flatten() {
            if self.entries >= MAX_ENTRIES {
                self.cut = true;
                break;
            }
            self.entries += 1;
            // The kind of a link is link, so links are neither followed nor counted.
            if let Ok(kind) = entry.file_type()
                && (kind.is_dir() || kind.is_file())
                && !is_secret(&entry.file_name())
            {
                entries.push((!kind.is_dir(), entry.file_name(), entry));
            }
        }
        entries.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
        for (is_file, name, entry) in entries {
            let name = name.to_string_lossy();
            let below = format!("{shown}{name}");
            let indent = "  ".repeat(level);
            if is_file {
                let size = entry.metadata().map_or(0, |metadata| metadata.len());
                self.file(&below, size);
                self.line(level <= depth, || format!("{indent}{name} ({})", bytes(size)));
                continue;
            }
            self.folders += 1;
            let skipped = MADE_BY_TOOLS.contains(&&*name);
            let note = if skipped { " (not looked into)" } else { "" };
            self.line(level <= depth, || format!("{indent}{name}/{note}"));
            if !skipped && level < MAX_DEPTH {
                self.folder(&entry.path(), &format!("{below}/"), level + 1, depth, given_up)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &str, size: u64) {
        self.files += 1;
        self.size += size;
        if self.largest.as_ref().is_none_or(|(largest, _)| size > *largest) {
            self.largest = Some((size, path.to_owned()));
        }
        let extension = path.rsplit_once('.').map(|(_, extension)| extension.to_lowercase()).unwrap_or_default();
        if let Some((_, language)) = LANGUAGES.iter().find(|(known, _)| *known == extension) {
            *self.languages.entry(language).or_default() += 1;
        }
    }

    fn line(&mut self, wanted: bool, line: impl FnOnce() -> String) {
        if wanted && self.tree.len() < MAX_TREE {
            self.tree.push(line());
        } else {
            self.tree_cut |= wanted;
        }
    }
}

/// The first heading of the README, or its first line.
fn readme_title(root: &Path) -> Option<String> {
    for name in ["README.md", "README", "README.txt", "README.rst", "readme.md"] {
        let path = root.join(name);
        if !path.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
            continue;
        }
        let mut start = Vec::new();
        std::fs::File::open(&path).ok()?.take(README_BYTES).read_to_end(&mut start).ok()?;
        let start = String::from_utf8_lossy(&start);
        let lines = || start.lines().map(str::trim).filter(|line| !line.is_empty());
        let title = lines().find(|line| line.starts_with("# ")).or_else(|| lines().next())?;
        return Some(limits::prefix(title.trim_start_matches('#').trim(), 200).to_owned());
    }
    None
}
