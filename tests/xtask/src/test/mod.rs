//! `cargo xtask test`: sets everything up and runs every test, one summary line a step.

mod bindings;
mod readme;
mod steps;

use crate::progress::Ticker;
use crate::workspace::{self, Ended};
use std::io::Write as _;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// The most that one program of a step may take.
const LIMIT: Duration = Duration::from_secs(25 * 60);

/// How a step ended.
pub(crate) enum Outcome {
    /// Good; a word about what was done, or nothing.
    Passed(String),
    /// Not done, and why.
    Skipped(String),
    /// Not good: what was written.
    Failed(String),
}

/// Runs every step and says how each went.
pub(crate) fn test(services: bool) -> ExitCode {
    let mut report = Report::default();
    steps::all(&mut report, services);
    println!("{} passed, {} failed, {} skipped", report.passed, report.failed, report.skipped);
    if report.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Counts the steps.
#[derive(Default)]
pub(crate) struct Report {
    passed: usize,
    failed: usize,
    skipped: usize,
}

impl Report {
    /// Runs one step and writes its line.
    pub(crate) fn step(&mut self, name: &str, work: impl FnOnce(&mut Ticker<'_>) -> Outcome) {
        let started = Instant::now();
        let mut ticker = Ticker::new(name);
        let outcome = work(&mut ticker);
        ticker.clear();
        let seconds = started.elapsed().as_secs_f64();
        match outcome {
            Outcome::Passed(what) if what.is_empty() => {
                self.passed += 1;
                println!("ok   {name} ({seconds:.1} s)");
            }
            Outcome::Passed(what) => {
                self.passed += 1;
                println!("ok   {name}: {what} ({seconds:.1} s)");
            }
            Outcome::Skipped(why) => {
                self.skipped += 1;
                println!("skip {name}: {why}");
            }
            Outcome::Failed(output) => {
                self.failed += 1;
                println!("FAIL {name} ({seconds:.1} s)");
                for line in output.trim_end().lines() {
                    println!("     {line}");
                }
            }
        }
        // A reader that went away misses the rest; the exit code still tells.
        let _ = std::io::stdout().flush();
    }
}

impl Ticker<'_> {
    /// Runs a program of this step to its end.
    pub(crate) fn run(&mut self, command: &mut Command) -> Outcome {
        let line = format!("{command:?}");
        match workspace::run(command, LIMIT, |line| self.tell(line)) {
            Ended::Ran { success: true, output } => Outcome::Passed(counted(&output)),
            Ended::Ran { success: false, output } => Outcome::Failed(format!("{line}\n{}", telling(&output))),
            Ended::TimedOut { output } => {
                Outcome::Failed(format!("{line}\n{output}\nstopped after {} minutes", LIMIT.as_secs() / 60))
            }
            Ended::NotStarted(problem) => Outcome::Failed(format!("{line}\n{problem}")),
        }
    }
}

/// The lines that tell what went wrong: without those that say that something is fine or being built.
fn telling(output: &str) -> String {
    let is_noise = |line: &str| {
        let line = line.trim_start();
        let starts = ["Compiling ", "Checking ", "Running ", "Finished ", "Doc-tests ", "running ", "Blocking "];
        starts.iter().any(|start| line.starts_with(start)) || line.starts_with("test ") && line.ends_with("... ok")
    };
    let mut lines: Vec<&str> = output.lines().filter(|line| !is_noise(line)).collect();
    lines.dedup();
    lines.join("\n")
}

/// The number of tests in the output of a test runner; nothing when there is none.
fn counted(output: &str) -> String {
    let number_before = |line: &str, word: &str| {
        let before = line.split(word).next()?;
        before.rsplit(|char: char| !char.is_ascii_digit()).find(|digits| !digits.is_empty())?.parse::<usize>().ok()
    };
    let results: Vec<&str> = output.lines().filter(|line| line.starts_with("test result:")).collect();
    if results.is_empty() {
        return elsewhere(output);
    }
    let sum = |word: &str| results.iter().filter_map(|line| number_before(line, word)).sum::<usize>();
    match (sum(" passed"), sum(" ignored")) {
        (passed, 0) => format!("{passed} tests"),
        (passed, ignored) => format!("{passed} tests, {ignored} ignored"),
    }
}

/// The closing line of pytest, or the counts of Node's test runner.
fn elsewhere(output: &str) -> String {
    let node = |word: &str| output.lines().find_map(|line| line.strip_prefix(&format!("# {word} ")));
    match (node("pass"), node("skipped")) {
        (Some(passed), Some("0") | None) => return format!("{passed} tests"),
        (Some(passed), Some(skipped)) => return format!("{passed} tests, {skipped} skipped"),
        (None, _) => {}
    }
    let last = output.lines().rfind(|line| line.contains(" passed") && line.contains(" in "));
    let counts = last.and_then(|line| line.split(" in ").next()).map(|line| line.trim_matches(['=', ' ']));
    // What was skipped stands in lines such as `SKIPPED [2] tests/a.py:3: needs Python 3.12`.
    let skipped = output.lines().filter(|line| line.starts_with("SKIPPED "));
    let reasons: std::collections::BTreeSet<&str> = skipped.filter_map(|line| line.splitn(3, ": ").last()).collect();
    let reasons: Vec<&str> = reasons.into_iter().map(|reason| reason.rsplit(": ").next().unwrap_or(reason)).collect();
    match (counts, reasons.is_empty()) {
        (None, _) => String::new(),
        (Some(counts), true) => counts.to_owned(),
        (Some(counts), false) => format!("{counts} ({})", reasons.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_counts_are_added_up() {
        let output = "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured\nnoise 4 passed\n\
                      test result: ok. 30 passed; 0 failed; 0 ignored; 0 measured";
        assert_eq!(counted(output), "42 tests, 1 ignored");
        assert_eq!(counted("Finished"), "");
        assert_eq!(counted("....\n179 passed, 1 skipped in 4.74s"), "179 passed, 1 skipped");
        let skipped = "SKIPPED [2] tests/a.py:3: needs Python 3.12\n1 passed, 2 skipped in 0.1s";
        assert_eq!(counted(skipped), "1 passed, 2 skipped (needs Python 3.12)");
        assert_eq!(counted("# tests 12\n# pass 12\n# fail 0\n# skipped 0"), "12 tests");
    }

    #[test]
    fn what_is_fine_is_left_out() {
        let output = "   Compiling a v1\nrunning 2 tests\ntest a ... ok\ntest b ... FAILED\n\n\nb panicked";
        assert_eq!(telling(output), "test b ... FAILED\n\nb panicked");
    }
}
