//! The project's tasks: `cargo xtask --help`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that people run and read")]

mod bench;
mod corpus;
mod demo;
mod fuzz;
mod languages;
mod progress;
mod replay;
mod tables;
mod test;
mod workspace;

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Tasks of the cheliped workspace.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Answer questions about a sample project with tools, in Rust, Python and Node; no key, no network.
    Demo {
        /// Ask the real provider that the environment names.
        #[arg(long)]
        live: bool,
    },
    /// Run every test: one summary line a step, exit code 1 when one fails.
    Test {
        /// Also run the tests that need services (databases, servers).
        #[arg(long)]
        services: bool,
    },
    /// Measure the engine beside a hand-written loop and a peer.
    Bench {
        /// Workloads, A to F, and G for the guards. Default all.
        workloads: Vec<String>,
        /// Runs in A. Default 2000.
        #[arg(long)]
        runs: Option<usize>,
        /// Rounds of which the median counts.
        #[arg(long, default_value_t = 5)]
        median: usize,
    },
    /// Feed parsers with broken input for a set time.
    Fuzz {
        /// One parser. Default all.
        target: Option<String>,
        /// Seconds for each parser.
        #[arg(long, default_value_t = 10)]
        seconds: u64,
        /// Start of the generator; the same number tries the same inputs.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Run labelled texts through the guards; the last line is one JSON object with the counts.
    Corpus {
        /// The layer: guards, unicode, pii, tool_output or output_sanitiser.
        layer: String,
        /// A file of labelled lines, one JSON object a line.
        file: Option<PathBuf>,
        /// The rules: strict, balanced or code_assistant.
        #[arg(long, default_value = "strict", value_parser = preset)]
        preset: cheliped::screening::Preset,
        /// A file of texts instead, one a line.
        #[arg(long, requires = "expect", conflicts_with = "file")]
        text: Option<PathBuf>,
        /// What is expected of all of them.
        #[arg(long, value_parser = ["allow", "block"])]
        expect: Option<String>,
    },
    /// Write the files that come of the tables in core.
    Tables,
    /// Replay provider exchanges from a folder against the real provider code.
    Replay {
        /// Folder of exchanges (*.json, also in folders below).
        folder: PathBuf,
        /// Only exchanges whose id contains this.
        #[arg(long)]
        only: Option<String>,
    },
}

/// Reads the name of a preset as settings spell it.
fn preset(name: &str) -> Result<cheliped::screening::Preset, String> {
    serde_json::from_value(name.into()).map_err(|error| error.to_string())
}

fn main() -> ExitCode {
    match Arguments::parse().task {
        Task::Demo { live } => demo::demo(if live { demo::Model::Live } else { demo::Model::Offline }),
        Task::Test { services } => test::test(services),
        Task::Bench { workloads, runs, median } => bench::bench(&workloads, runs, median),
        Task::Fuzz { target, seconds, seed } => fuzz::fuzz(target.as_deref(), seconds, seed),
        Task::Corpus { layer, file, preset, text, expect } => corpus::corpus(&corpus::Corpus {
            layer: &layer,
            file: file.as_deref(),
            text: text.as_deref().zip(expect.as_deref()),
            preset,
        }),
        Task::Tables => tables::write(),
        Task::Replay { folder, only } => match replay::replay(&folder, only.as_deref()) {
            Err(problem) => {
                eprintln!("replay: {problem}");
                ExitCode::from(2)
            }
            Ok(outcomes) => {
                for miss in &outcomes.misses {
                    println!("{miss}");
                }
                println!("{} passed, {} failed", outcomes.passed, outcomes.failed);
                if outcomes.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
            }
        },
    }
}
