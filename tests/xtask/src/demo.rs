//! `cargo xtask demo`: sets up the three languages and runs the demonstration of the examples in each: questions about a
//! sample project.
//!
//! Without `--live` the offline model answers: no key, no network. With it the provider is the one that the
//! environment names.

use crate::languages::{Node, Python};
use crate::progress::Ticker;
use crate::workspace;
use std::process::{Command, ExitCode};

/// Which model answers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Model {
    /// Rules instead of a model.
    Offline,
    /// What the environment names.
    Live,
}

/// Builds the demonstrations and runs them.
pub(crate) fn demo(model: Model) -> ExitCode {
    println!("Three languages, one engine. Everything is built first; the first time takes some minutes.\n");
    let arguments: &[&str] = if model == Model::Live { &["--live"] } else { &[] };
    let shown = rust(arguments).and_then(|()| python(arguments)).and_then(|()| node(arguments));
    match shown {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("demo: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn rust(arguments: &[&str]) -> Result<(), String> {
    println!("Building the Rust example …");
    let run = ["run", "--quiet", "--package", "cheliped-examples", "--bin", "demo", "--"];
    shown("Rust", workspace::cargo(&run).args(arguments))
}

fn python(arguments: &[&str]) -> Result<(), String> {
    println!("Building the Python package …");
    let mut ticker = Ticker::new("Python package");
    let python = Python::ready("", &mut |line| ticker.tell(line))?;
    ticker.clear();
    shown("Python", python.command("python").arg("examples/python/demo.py").args(arguments))
}

fn node(arguments: &[&str]) -> Result<(), String> {
    println!("Building the Node package …");
    let mut ticker = Ticker::new("Node package");
    let node = Node::ready(&mut |line| ticker.tell(line))?;
    ticker.clear();
    shown("Node", node.command().arg("examples/node/demo.mjs").args(arguments))
}

/// Runs a program whose output is for the reader.
fn shown(language: &str, command: &mut Command) -> Result<(), String> {
    println!("── {language} ──\n");
    match command.status() {
        Ok(status) if status.success() => {
            println!();
            Ok(())
        }
        Ok(status) => Err(format!("the {language} demonstration ended with {status}")),
        Err(error) => Err(format!("cannot run the {language} demonstration: {error}")),
    }
}
