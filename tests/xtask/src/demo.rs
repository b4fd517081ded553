//! `cargo xtask demo`: builds and runs the demonstration of the examples, three questions about a sample project.
//!
//! Without `--live` the offline model answers: no key, no network. With it the provider is the one that the
//! environment names.

use crate::workspace;
use std::process::ExitCode;

/// Which model answers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Model {
    /// Rules instead of a model.
    Offline,
    /// What the environment names.
    Live,
}

/// Builds the demonstration and runs it.
pub(crate) fn demo(model: Model) -> ExitCode {
    println!("Building the demonstration; the first time takes a few minutes …");
    let mut command = workspace::cargo(&["run", "--quiet", "--package", "cheliped-examples", "--bin", "demo", "--"]);
    if model == Model::Live {
        command.arg("--live");
    }
    match command.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(status) => {
            eprintln!("demo: it ended with {status}");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("demo: cannot run cargo: {error}");
            ExitCode::FAILURE
        }
    }
}
