//! The steps of `cargo xtask test`, in order: what fails quickly comes first.

use super::{Outcome, Report, bindings, readme};
use crate::progress::Ticker;
use crate::workspace::{self, cargo};
use crate::{corpus, fuzz, replay, tables};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Targets that the engine is built for. Those that are installed are checked, the others are named.
const TARGETS: &[&str] = &[
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
];

/// Where the recorded exchanges are, when there are any.
const FIXTURES: &str = "CHELIPED_FIXTURES";

pub(super) fn all(report: &mut Report, services: bool) {
    report.step("format", |ticker| with_component("rustfmt", "fmt", ticker, &["fmt", "--all", "--check"]));
    report.step("clippy", |ticker| {
        let arguments = ["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"];
        with_component("clippy", "clippy", ticker, &arguments)
    });
    report.step("build", |ticker| {
        ticker.run(&mut cargo(&["build", "--workspace", "--all-features", "--lib", "--bins", "--examples"]))
    });
    report.step("tests", |ticker| {
        let arguments = ["test", "--workspace", "--all-features", "--lib", "--bins", "--tests", "--no-fail-fast"];
        ticker.run(&mut cargo(&arguments))
    });
    report.step("documentation examples", |ticker| {
        ticker.run(&mut cargo(&["test", "--workspace", "--all-features", "--doc", "--no-fail-fast"]))
    });
    bare(report);
    report.step("tables", |_| match tables::stale() {
        Err(problem) => Outcome::Failed(problem),
        Ok(stale) if stale.is_empty() => Outcome::Passed(String::new()),
        Ok(stale) => Outcome::Failed(format!("run `cargo xtask tables`; out of date: {}", stale.join(", "))),
    });
    examples(report);
    report.step("demo", |ticker| {
        // Built by the build step, which has replaced the program that runs this test.
        ticker.run(Command::new(workspace::program("xtask")).arg("demo").current_dir(workspace::root()))
    });
    report.step("README", readme::check);
    vectors(report);
    bindings::python(report);
    bindings::node(report);
    report.step("written exchanges", |_| replayed(&workspace::root().join("tests/fixtures/providers")));
    report.step("recorded exchanges", |_| match std::env::var_os(FIXTURES).filter(|folder| !folder.is_empty()) {
        None => Outcome::Skipped(format!("{FIXTURES} is not set")),
        Some(folder) => replayed(Path::new(&folder)),
    });
    report.step("corpora", |_| match corpus::check(&workspace::root().join("tests/corpora")) {
        Ok(summary) => Outcome::Passed(summary),
        Err(problem) => Outcome::Failed(problem),
    });
    report.step("fuzz", |_| fuzzed());
    report.step("services", |_| match services {
        false => Outcome::Skipped("--services was not given".into()),
        true => Outcome::Skipped("no part needs a service yet".into()),
    });
}

/// Runs a cargo command of a component that a small Rust installation may lack.
fn with_component(component: &str, command: &str, ticker: &mut Ticker<'_>, arguments: &[&str]) -> Outcome {
    let there = cargo(&[command, "--version"]).output().is_ok_and(|output| output.status.success());
    match there {
        true => ticker.run(&mut cargo(arguments)),
        false => Outcome::Skipped(format!("{component} is not installed; rustup component add {component}")),
    }
}

/// The engine without its default features, which has no C in it, for every target that is installed.
fn bare(report: &mut Report) {
    let check = ["check", "--package", "cheliped", "--no-default-features"];
    report.step("without features", |ticker| ticker.run(&mut cargo(&check)));
    let said = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output();
        output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
    };
    let installed = said("rustup", &["target", "list", "--installed"]);
    let version = said("rustc", &["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
    let (here, missing): (Vec<&str>, Vec<&str>) = TARGETS
        .iter()
        .filter(|target| **target != host)
        .partition(|target| installed.lines().any(|line| line == **target));
    for target in here {
        let arguments: Vec<&str> = check.iter().copied().chain(["--target", target]).collect();
        report.step(&format!("without features, {target}"), |ticker| ticker.run(&mut cargo(&arguments)));
    }
    if !missing.is_empty() {
        report.step("without features, other targets", |_| {
            Outcome::Skipped(format!("not installed: {}", missing.join(", ")))
        });
    }
}

/// Every example program of `examples/rust`, run to its end.
fn examples(report: &mut Report) {
    let package = "cheliped-examples";
    let metadata = cargo(&["metadata", "--no-deps", "--format-version", "1"]).output();
    let metadata = metadata.ok().and_then(|output| serde_json::from_slice::<serde_json::Value>(&output.stdout).ok());
    let metadata = metadata.unwrap_or_default();
    let packages = metadata.get("packages").and_then(|packages| packages.as_array()).cloned().unwrap_or_default();
    let targets = packages.iter().filter(|found| found.get("name").is_some_and(|name| name == package));
    let targets = targets.filter_map(|package| package.get("targets")?.as_array()).flatten();
    let mut names: Vec<String> = targets
        .filter(|target| target.get("kind").is_some_and(|kind| kind.to_string().contains("example")))
        .filter_map(|target| target.get("name")?.as_str().map(str::to_owned))
        .collect();
    names.sort();
    if names.is_empty() {
        report.step("examples", |_| Outcome::Skipped("there are none yet".into()));
    }
    for name in names {
        report.step(&format!("example {name}"), |ticker| {
            // Built by the build step with the features of all other steps.
            let program =
                workspace::target().join("debug/examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
            ticker.run(Command::new(program).current_dir(workspace::root()))
        });
    }
}

/// The runs that every language must agree on.
fn vectors(report: &mut Report) {
    let root = workspace::root();
    let count = std::fs::read_dir(root.join("tests/vectors/runs"))
        .map(|entries| entries.flatten().filter(|entry| entry.path().extension().is_some_and(|e| e == "json")).count())
        .unwrap_or(0);
    report.step("run vectors", |ticker| {
        if count == 0 || !root.join("tests/rust/tests/vectors.rs").exists() {
            return Outcome::Skipped("there are none yet".into());
        }
        match ticker.run(&mut cargo(&["test", "--workspace", "--all-features", "--test", "vectors"])) {
            Outcome::Passed(_) => Outcome::Passed(format!("{count} files")),
            other => other,
        }
    });
}

fn replayed(folder: &Path) -> Outcome {
    match replay::replay(folder, None) {
        Err(problem) => Outcome::Failed(problem),
        Ok(outcomes) => {
            let summary = format!("{} passed, {} failed", outcomes.passed, outcomes.failed);
            match outcomes.failed {
                0 => Outcome::Passed(summary),
                _ => Outcome::Failed(format!("{}\n{summary}", outcomes.misses.join("\n"))),
            }
        }
    }
}

/// A short look with broken input at every parser; `cargo xtask fuzz` looks longer.
fn fuzzed() -> Outcome {
    let time = Duration::from_secs(2);
    let mut inputs = 0;
    for target in cheliped::fuzzing::TARGETS {
        let fuzzed = fuzz::fuzz_one(target, time, 1);
        inputs += fuzzed.inputs;
        if let Some(failure) = fuzzed.failure {
            return Outcome::Failed(format!("{}: {failure}", fuzzed.target));
        }
    }
    Outcome::Passed(format!("{} parsers, {inputs} inputs", cheliped::fuzzing::TARGETS.len()))
}
