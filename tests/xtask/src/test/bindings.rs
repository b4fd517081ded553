//! The steps of Python and Node: their packages are built from this checkout, checked and tested.

use super::{Outcome, Report, readme};
use crate::languages::{Node, Python};
use crate::workspace;
use std::path::Path;
use std::process::Command;

/// Everything of Python.
pub(super) fn python(report: &mut Report) {
    let mut ready = None;
    report.step("Python package", |ticker| match Python::ready("[test]", &mut |line| ticker.tell(line)) {
        Ok(python) => {
            ready = Some(python);
            Outcome::Passed(String::new())
        }
        Err(problem) => Outcome::Failed(problem),
    });
    let Some(python) = ready else { return };
    let folders = ["bindings-python", "examples/python", "tests/python"];
    let config = ["--config", "bindings-python/pyproject.toml"];
    let mut step = |name: &str, program: &str, arguments: &[&str]| {
        report.step(&format!("Python {name}"), |ticker| ticker.run(python.command(program).args(arguments)));
    };
    step("format", "ruff", &[&["format", "--check", "--quiet"], &config[..], &folders[..]].concat());
    step("lints", "ruff", &[&["check", "--quiet"], &config[..], &folders[..]].concat());
    let package = "bindings-python/python/cheliped";
    step("types (mypy)", "mypy", &["--config-file", "bindings-python/pyproject.toml", package]);
    step("types (pyright)", "pyright", &["--project", "bindings-python", package]);
    step("types of users", "mypy", &["--strict", "--python-version", "3.11", "tests/python/types_of_users.py"]);
    step("stubs", "python", &["-m", "mypy.stubtest", "cheliped._native"]);
    step("tests", "pytest", &["-q", "-rs", "-p", "no:cacheprovider", "tests/python"]);
    readme_blocks(report, "python", &workspace::target().join("readme.py"), || python.command("python"));
}

/// Runs the blocks of the README that are in a language, each as a file of its own in a folder.
fn readme_blocks(report: &mut Report, language: &str, file: &Path, command: impl Fn() -> Command) {
    report.step(&format!("README, {language}"), |ticker| {
        let blocks = readme::code(language);
        for block in &blocks {
            if let Err(error) = std::fs::write(file, block) {
                return Outcome::Failed(format!("{}: {error}", file.display()));
            }
            match ticker.run(command().arg(file)) {
                Outcome::Passed(_) => {}
                other => return other,
            }
        }
        match blocks.len() {
            0 => Outcome::Failed(format!("the README shows nothing in {language}")),
            count => Outcome::Passed(format!("{count} blocks")),
        }
    });
}

/// Everything of Node.
pub(super) fn node(report: &mut Report) {
    let mut ready = None;
    report.step("Node package", |ticker| match Node::ready(&mut |line| ticker.tell(line)) {
        Ok(node) => {
            ready = Some(node);
            Outcome::Passed(String::new())
        }
        Err(problem) => Outcome::Failed(problem),
    });
    let Some(node) = ready else { return };
    report.step("Node format and lints", |ticker| ticker.run(&mut node.npm(&["run", "--silent", "lint"])));
    report.step("Node tests", |ticker| {
        let folder = workspace::root().join("tests/node");
        let mut files: Vec<_> = std::fs::read_dir(&folder)
            .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
            .unwrap_or_default();
        files.retain(|file: &std::path::PathBuf| file.to_string_lossy().ends_with(".test.mjs"));
        files.sort();
        // Files by name, because folders mean different things to different versions of Node.
        ticker.run(node.command().args(["--test", "--test-reporter=tap"]).args(files))
    });
    // Inside the package its own name can be imported.
    let file = workspace::root().join("bindings-node/dist/readme.mjs");
    readme_blocks(report, "js", &file, || node.command());
}
