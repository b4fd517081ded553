//! `project_info`: what a project is, at a glance.
//!
//! Walks the folder once and counts. Of the files it reads only the start of the README.

use super::read::bytes;
use super::root::ProjectRoot;
use super::walk::{Ended, Flow, Found, Kind, MAX_ENTRIES, walk};
use crate::limits;
use crate::tool::ToolError;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// Lines of the tree.
const MAX_TREE: usize = 150;
/// Bytes of a README that are looked at for its title.
const README_BYTES: u64 = 4096;
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
    files: u64,
    folders: u64,
    size: u64,
    languages: BTreeMap<&'static str, u64>,
    largest: Option<(u64, String)>,
    tree: Vec<String>,
    tree_cut: bool,
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
    let ended = walk(root.path(), "", given_up, &mut |found| {
        survey.add(found, depth);
        Flow::On
    })?;
    let mut text = format!("project: {}\n", root.name());
    if let Some(title) = readme_title(root.path()) {
        text.push_str(&format!("project title: {title}\n"));
    }
    let mut kinds: Vec<&str> = Vec::new();
    for (file, kind) in MARKERS {
        if !kinds.contains(&kind) && root.path().join(file).is_file() {
            kinds.push(kind);
        }
    }
    if !kinds.is_empty() {
        text.push_str(&format!("project kind: {}\n", kinds.join(", ")));
    }
    let (files, folders, size) = (survey.files, survey.folders, bytes(survey.size));
    text.push_str(&format!("project files: {files} in {folders} folders, {size} in all\n"));
    if let Some((size, path)) = &survey.largest {
        text.push_str(&format!("largest file: {path}, {}\n", bytes(*size)));
    }
    let mut languages: Vec<_> = survey.languages.iter().collect();
    languages.sort_by_key(|(name, files)| (std::cmp::Reverse(**files), **name));
    if !languages.is_empty() {
        let names: Vec<_> = languages.iter().map(|(name, files)| format!("{name} {files}")).collect();
        text.push_str(&format!("project languages, with files: {}\n", names.join(", ")));
    }
    text.push_str("tree:\n");
    for line in &survey.tree {
        text.push_str(line);
        text.push('\n');
    }
    if survey.tree_cut {
        text.push_str("[the tree is cut: ask with a smaller depth]\n");
    }
    if ended == Ended::Cut {
        text.push_str(&format!("[the project is large: only {MAX_ENTRIES} entries were counted]\n"));
    }
    Ok(text)
}

impl Survey {
    fn add(&mut self, found: &Found, depth: usize) {
        let (indent, name) = ("  ".repeat(found.level), &found.name);
        let wanted = found.level <= depth;
        match found.kind {
            Kind::Folder { entered } => {
                self.folders += 1;
                let note = if entered { "" } else { " (not looked into)" };
                self.line(wanted, || format!("{indent}{name}/{note}"));
            }
            Kind::File(size) => {
                self.file(&found.shown, size);
                self.line(wanted, || format!("{indent}{name} ({})", bytes(size)));
            }
        }
    }

    fn file(&mut self, path: &str, size: u64) {
        self.files += 1;
        self.size = self.size.saturating_add(size);
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
