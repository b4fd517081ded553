//! `cargo xtask demo`: three questions about a sample project, asked from the command line.
//!
//! Without `--live` the offline model answers: no key, no network. With it the provider is the one that the
//! environment names, as for every `cheliped` command.

use crate::workspace;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

/// What is asked, and what the offline model's answer must hold.
const QUESTIONS: [(&str, &str); 3] = [
    ("What kind of project is this?", "Python project"),
    ("How many lines in logs/app.log contain \"ERROR\"?", "3 of 13 lines"),
    ("What is the port in config/app.toml?", "8090"),
];

/// Which model answers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Model {
    /// Rules instead of a model.
    Offline,
    /// What the environment names.
    Live,
}

/// Builds the command and asks the questions.
pub(crate) fn demo(model: Model) -> ExitCode {
    match run(model) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("demo: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn run(model: Model) -> Result<(), String> {
    println!("Building the cheliped command …");
    let program = build()?;
    let sample = workspace::root().join("examples/sample");
    if !sample.is_dir() {
        return Err(format!("the sample project is missing: {}", sample.display()));
    }
    println!("\nThe sample project is a made-up tea shop in {}.", sample.display());
    println!("The agent gets two tools that can only look: project_info and file_read.");
    match model {
        Model::Offline => println!(
            "Answers come from `offline`, which is no language model: rules pick a tool, fill in its arguments from \
             the question,\nand quote the result. Everything else is what a real model would go through. \
             `--live` asks a real one."
        ),
        Model::Live => println!("Answers come from the provider that your environment names."),
    }
    let total = QUESTIONS.len();
    for (number, (question, expected)) in QUESTIONS.iter().enumerate() {
        let mut command = Command::new(&program);
        command.args(["agent", question]).current_dir(&sample);
        let shown = match model {
            Model::Offline => {
                command.args(["--provider", "offline"]);
                " --provider offline"
            }
            Model::Live => "",
        };
        println!("\n── Question {} of {total} ──\n$ cheliped agent '{question}'{shown}", number + 1);
        ask(&mut command, (model == Model::Offline).then_some(*expected))?;
        println!("{}", explained(number));
    }
    println!(
        "\nThat was the main job: a message, the choice of tools, the loop of asking and acting, the cleaned answer.\n\
         Ask your own: cargo run --package cheliped --features cli -- agent 'What is in README.md?' --provider offline"
    );
    Ok(())
}

fn explained(number: usize) -> &'static str {
    match number {
        0 => {
            "→ The model asked for project_info. The engine ran it, gave the result back, and the answer streamed here."
        }
        1 => "→ The path and the quoted word of the question became arguments; they were checked before the call.",
        _ => {
            "→ The tool line above went to standard error, the answer to standard output: a pipe gets the answer only."
        }
    }
}

/// Runs one question; what the program writes is shown as it comes.
fn ask(command: &mut Command, expected: Option<&str>) -> Result<(), String> {
    use std::io::{Read as _, Write as _};
    let failed = |error: std::io::Error| format!("cannot run the command: {error}");
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(failed)?;
    let mut answer = Vec::new();
    if let Some(out) = &mut child.stdout {
        let mut piece = [0; 1024];
        loop {
            let length = out.read(&mut piece).map_err(failed)?;
            let Some(piece) = piece.get(..length).filter(|piece| !piece.is_empty()) else { break };
            answer.extend_from_slice(piece);
            let mut shown = std::io::stdout();
            shown.write_all(piece).and_then(|()| shown.flush()).map_err(failed)?;
        }
    }
    let status = child.wait().map_err(failed)?;
    if !status.success() {
        return Err(format!("the command ended with {status}"));
    }
    let answer = String::from_utf8_lossy(&answer);
    match expected {
        Some(expected) if !answer.contains(expected) => {
            Err(format!("the answer should contain {expected:?}; the sample or the offline model has changed"))
        }
        Some(_) | None => Ok(()),
    }
}

/// Builds the command and says where it is.
fn build() -> Result<PathBuf, String> {
    let mut command = workspace::cargo(&["build", "--quiet", "--package", "cheliped", "--features", "cli"]);
    // Errors and warnings of the build go straight to the reader.
    let status = command.status().map_err(|error| format!("cannot run cargo: {error}"))?;
    if !status.success() {
        return Err("the command cannot be built".into());
    }
    Ok(workspace::program("cheliped"))
}
