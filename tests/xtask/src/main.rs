//! The project's tasks: `cargo xtask --help`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that people run and read")]

mod progress;
mod replay;
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
    /// Run every test: one summary line a step, exit code 1 when one fails.
    Test {
        /// Also run the tests that need services (databases, servers).
        #[arg(long)]
        services: bool,
    },
    /// Replay provider exchanges from a folder against the real provider code.
    Replay {
        /// Folder of exchanges (*.json, also in folders below).
        folder: PathBuf,
        /// Only exchanges whose id contains this.
        #[arg(long)]
        only: Option<String>,
    },
}

fn main() -> ExitCode {
    match Arguments::parse().task {
        Task::Test { services } => test::test(services),
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
