//! The `cheliped` command as its users meet it: a process with arguments, pipes and signals.

// A step that goes wrong ends its test.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod answers;
mod chat;
mod check;
mod configuration;
#[cfg(unix)]
mod terminal;

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// A folder with a script in it, in which the command runs.
pub(crate) struct Stage {
    folder: tempfile::TempDir,
}

/// What a run left.
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Stage {
    /// A folder with `script.json`.
    pub(crate) fn new(script: &str) -> Self {
        let stage = Self { folder: tempfile::tempdir().unwrap() };
        stage.write("script.json", script);
        stage
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// The command in this folder, with an environment that has no keys.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cheliped"));
        command.args(arguments).current_dir(self.path()).env_clear().env("HOME", self.path().join("home"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs `cheliped agent --provider scripted:script.json` with more arguments.
    pub(crate) fn agent(&self, arguments: &[&str]) -> Ended {
        let mut all = vec!["agent", "--provider", "scripted:script.json"];
        all.extend(arguments);
        self.run(&all)
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        self.command(arguments).output().unwrap().into()
    }

    /// Runs with something on standard input.
    pub(crate) fn run_with(&self, arguments: &[&str], input: &[u8]) -> Ended {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        feed(&mut child, input);
        child.wait_with_output().unwrap().into()
    }
}

/// Writes all of the input from a thread, so that nobody waits for the other.
fn feed(child: &mut Child, input: &[u8]) {
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ended {
    /// Asserts the exit code, and shows everything when it is another.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "\nstdout: {}\nstderr: {}", self.out, self.err);
        self
    }

    /// Standard output as lines of JSON.
    pub(crate) fn events(&self) -> Vec<serde_json::Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}
