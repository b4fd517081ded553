//! Runs every example and the demonstration as a process: exit code 0, and what a newcomer would look for.

// A step that goes wrong ends its test.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// A program with words that its output has, in this order.
const EXAMPLES: [(&str, &[&str]); 9] = [
    ("quickstart", &["3 of 13 lines contain \"ERROR\"", "disk is full", "Tools called: file_read"]),
    ("tools", &["Take 6 grams of sencha", "After 3 model calls", "no tea is called senchaa", "\"degrees\":70"]),
    (
        "stream",
        &[
            "text   \"Let ",
            "back   \"Let me see.\"",
            "call   file_read",
            "result file_read Ok",
            "done   \"The server listens on port 8090.\", the same: true",
        ],
    ),
    ("hooks", &["agent.before", "tool.before", "project_info gave", "agent.after", "2 tool results were seen"]),
    ("interceptor", &["I may not see the orders", "orders are none of your business", "from = \"(address)\""]),
    (
        "approval",
        &[
            "asked about refund",
            "refunded 17.00 euro for order 5",
            "asked about refund",
            "I was not allowed to refund 500 euro",
        ],
    ),
    ("local_server", &["OPENAI_BASE_URL is not set"]),
    ("custom_provider", &["(another try)", "counter/counter-1: That were 5 words."]),
    ("scripted_test", &["3 tests passed"]),
];

/// Where cargo put the examples.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        // This test is in `deps` of the same profile.
        let test = std::env::current_exe().unwrap();
        let profile = test.parent().and_then(Path::parent).unwrap();
        let folder = profile.join("examples");
        let is_there = |(name, _): &(&str, _)| folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX)).is_file();
        if !EXAMPLES.iter().all(is_there) {
            // Cargo builds examples with all tests of a package, but not with a single one.
            let mut build = Command::new(env!("CARGO"));
            build.args(["build", "--package", "cheliped-examples", "--examples"]);
            build.arg("--target-dir").arg(profile.parent().unwrap());
            assert!(build.status().unwrap().success());
        }
        folder
    })
}

fn run(mut command: Command) -> Output {
    // No key may turn a demonstration into a real call.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().ends_with("_API_KEY") || name.to_string_lossy().starts_with("CHELIPED_") {
            command.env_remove(name);
        }
    }
    command.env_remove("OLLAMA_HOST").env_remove("OPENAI_BASE_URL").output().unwrap()
}

#[track_caller]
fn expect(name: &str, output: &Output, words: &[&str]) {
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} ended with {}: {out}{err}", output.status);
    assert_eq!(err, "", "{name} complains");
    let mut rest = &*out;
    for word in words {
        let Some((_, after)) = rest.split_once(word) else {
            panic!("{name} does not say {word:?} in its place:\n{out}")
        };
        rest = after;
    }
}

#[test]
fn every_example_runs() {
    for (name, words) in EXAMPLES {
        let output = run(Command::new(folder().join(name)));
        expect(name, &output, words);
    }
}

#[test]
fn every_example_is_in_the_list() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let mut listed: Vec<&str> = EXAMPLES.iter().map(|(name, _)| *name).collect();
    listed.sort_unstable();
    assert_eq!(names, listed);
}

#[test]
fn the_demonstration_answers_three_questions() {
    let output = run(Command::new(env!("CARGO_BIN_EXE_demo")));
    expect(
        "demo",
        &output,
        &[
            "Question 1:",
            "the model asks for project_info",
            "Python project",
            "Question 2:",
            "the model asks for file_read with {\"path\":\"logs/app.log\"",
            "3 of 13 lines contain \"ERROR\"",
            "Question 3:",
            "the model asks for file_read with {\"path\":\"docs/notes.md\"",
            "Ask Mira",
            "That was one loop",
        ],
    );
}

#[test]
fn the_demonstration_asks_a_real_model_only_with_a_key() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_demo"));
    command.arg("--live");
    let output = run(command);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("ANTHROPIC_API_KEY"));
}
