//! `cargo xtask bench`: measures the engine, a hand-written loop and a peer side by side, in turns, each measurement
//! in a process of its own, against one local model server.
//!
//! Only ratios within one run of this task mean something; times of another run or machine do not compare.

mod guards;

use crate::languages::{Node, Python};
use crate::progress::Progress;
use crate::workspace::{self, Ended, cargo};
use serde::Deserialize;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

/// The most that building the drivers may take.
const BUILD_LIMIT: Duration = Duration::from_secs(60 * 60);
/// The most that one measurement may take.
const LIMIT: Duration = Duration::from_secs(10 * 60);
/// Who is measured; the ratios are to the hand-written loop in Rust.
const PEERS: [Peer; 7] = [
    Peer { name: "cheliped", driver: Driver::Rust("cheliped") },
    Peer { name: HAND, driver: Driver::Rust("hand loop") },
    Peer { name: "rig", driver: Driver::Rust("rig") },
    Peer { name: "Python", driver: Driver::Python("cheliped") },
    Peer { name: "Python client loop", driver: Driver::Python("client") },
    Peer { name: "Node", driver: Driver::Node("cheliped") },
    Peer { name: "Node fetch loop", driver: Driver::Node("client") },
];
const HAND: &str = "hand loop";
/// The letter of the guards, which are measured beside something else.
const GUARDS: char = 'G';

/// One of those that are measured.
struct Peer {
    name: &'static str,
    driver: Driver,
}

/// The program that measures it, and its name there.
#[derive(Clone, Copy)]
enum Driver {
    Rust(&'static str),
    Python(&'static str),
    Node(&'static str),
}

/// One workload.
struct Workload {
    letter: &'static str,
    what: &'static str,
    metric: Metric,
    /// Repetitions inside one measurement.
    runs: usize,
    /// The most that the engine may cost in Rust, as a multiple of the hand-written loop; `None` when it is only shown.
    limit: Option<f64>,
    /// The same for Python and Node.
    host_limit: Option<f64>,
}

#[derive(Clone, Copy)]
enum Metric {
    Cpu,
    Wall,
    Memory,
}

const WORKLOADS: [Workload; 6] = [
    Workload {
        letter: "A",
        what: "one run after the other, three tool rounds each",
        metric: Metric::Cpu,
        runs: 2000,
        limit: Some(1.5),
        host_limit: Some(3.5),
    },
    Workload {
        letter: "B",
        what: "64 runs at once, 20 ms a model call",
        metric: Metric::Wall,
        runs: 64,
        limit: Some(1.3),
        host_limit: None,
    },
    Workload {
        letter: "C",
        what: "streamed answers of 2,000 tokens",
        metric: Metric::Cpu,
        runs: 50,
        limit: Some(1.2),
        host_limit: None,
    },
    Workload {
        letter: "D",
        what: "memory after the start, client made",
        metric: Metric::Memory,
        runs: 1,
        limit: None,
        host_limit: None,
    },
    Workload {
        letter: "E",
        what: "making agents of 10 existing tools",
        metric: Metric::Cpu,
        runs: 5000,
        limit: Some(1.5),
        host_limit: None,
    },
    Workload {
        letter: "F",
        what: "1,000 conversations of 50 messages in memory",
        metric: Metric::Memory,
        runs: 1,
        limit: Some(1.0),
        host_limit: None,
    },
];

#[derive(Clone, Copy, Deserialize)]
struct Measured {
    cpu_s: f64,
    wall_s: f64,
    memory_mb: f64,
}

impl Metric {
    fn of(self, measured: Measured) -> f64 {
        match self {
            Self::Cpu => measured.cpu_s,
            Self::Wall => measured.wall_s,
            Self::Memory => measured.memory_mb,
        }
    }

    fn show(self, value: f64) -> String {
        match self {
            Self::Cpu => format!("{:.1} ms CPU", value * 1e3),
            Self::Wall => format!("{:.1} ms wall", value * 1e3),
            Self::Memory => format!("{value:.1} MB"),
        }
    }
}

/// Measures the workloads of these letters (all when there are none), `rounds` times each.
pub(crate) fn bench(letters: &[String], runs: Option<usize>, rounds: usize) -> ExitCode {
    match measure(letters, runs, rounds) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("bench: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn measure(letters: &[String], runs: Option<usize>, rounds: usize) -> Result<(), String> {
    let letters = letters.concat().to_uppercase().replace(',', "");
    let known = |letter: &char| *letter == GUARDS || WORKLOADS.iter().any(|known| known.letter.starts_with(*letter));
    if let Some(unknown) = letters.chars().find(|letter| !known(letter)) {
        return Err(format!("there is no workload {unknown:?}; there are A to {GUARDS}"));
    }
    let rounds = rounds.max(1);
    if letters.is_empty() || letters.contains(GUARDS) {
        guards::measure(rounds)?;
    }
    let chosen: Vec<&Workload> =
        WORKLOADS.iter().filter(|known| letters.is_empty() || letters.contains(known.letter)).collect();
    if chosen.is_empty() {
        return Ok(());
    }
    let programs = Programs::build()?;
    let server = Server::start(&programs.rust)?;
    let mut progress = Progress::new("bench", chosen.len() * rounds * PEERS.len());
    for workload in chosen {
        let count = runs.filter(|_| workload.letter == "A").unwrap_or(workload.runs);
        let mut values: Vec<Vec<f64>> = vec![Vec::new(); PEERS.len()];
        for round in 0..rounds {
            // Peers take turns, each round in another order, so that a busy moment of the machine hits all alike.
            for turn in 0..PEERS.len() {
                let index = (round + turn) % PEERS.len();
                let (Some(peer), Some(values)) = (PEERS.get(index), values.get_mut(index)) else { continue };
                let measured = programs.one(peer, workload.letter, &server.url, count)?;
                values.push(workload.metric.of(measured));
                progress.step();
            }
        }
        progress.clear();
        report(workload, count, &values);
    }
    println!("Lower is better. Ratios are to the {HAND} of the same round: median (least to most) of {rounds} rounds.");
    Ok(())
}

fn report(workload: &Workload, count: usize, values: &[Vec<f64>]) {
    let times = if count > 1 { format!(", {count} times") } else { String::new() };
    println!("{}  {}{times}", workload.letter, workload.what);
    let hand = PEERS.iter().position(|peer| peer.name == HAND).and_then(|index| values.get(index));
    for (peer, values) in PEERS.iter().zip(values) {
        let value = workload.metric.show(median(values));
        let ratios: Vec<f64> = hand.into_iter().flatten().zip(values).map(|(hand, value)| value / hand).collect();
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let most = ratios.iter().copied().fold(0.0, f64::max);
        let ratio = median(&ratios);
        let limit = match peer.driver {
            Driver::Rust("cheliped") => workload.limit,
            Driver::Python("cheliped") | Driver::Node("cheliped") => workload.host_limit,
            Driver::Rust(_) | Driver::Python(_) | Driver::Node(_) => None,
        };
        let verdict = match limit {
            Some(limit) if ratio <= limit => format!("  within {limit:.1}"),
            Some(limit) => format!("  OVER {limit:.1}"),
            None => String::new(),
        };
        println!("   {:<18} {value:>16}   {ratio:.2} ({least:.2} to {most:.2}){verdict}", peer.name);
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match (sorted.get(middle), middle.checked_sub(1).and_then(|before| sorted.get(before))) {
        (Some(upper), Some(lower)) if sorted.len().is_multiple_of(2) => f64::midpoint(*upper, *lower),
        (Some(middle), _) => *middle,
        (None, _) => f64::NAN,
    }
}

/// Builds the drivers, which are a workspace of their own.
fn build() -> Result<PathBuf, String> {
    let root = workspace::root();
    let target = workspace::target().join("bench");
    eprintln!("building the drivers in {} (minutes, the first time)", target.display());
    let mut command = cargo(&["build", "--release", "--quiet"]);
    command.current_dir(root.join("tests/bench")).env("CARGO_TARGET_DIR", &target);
    match workspace::run(&mut command, BUILD_LIMIT, |_| {}) {
        Ended::Ran { success: true, .. } => {
            Ok(target.join("release").join(format!("cheliped-bench{}", std::env::consts::EXE_SUFFIX)))
        }
        Ended::Ran { output, .. } => Err(format!("the drivers cannot be built:\n{output}")),
        Ended::TimedOut { .. } => Err("building the drivers took too long".into()),
        Ended::NotStarted(problem) => Err(problem),
    }
}

/// The programs that measure, built for release.
struct Programs {
    rust: PathBuf,
    python: Python,
    node: Node,
}

impl Programs {
    fn build() -> Result<Self, String> {
        eprintln!("building the packages of Python and Node (minutes, the first time)");
        let python = Python::released(&["openai"], &mut |_| {})?;
        let node = Node::released(&mut |_| {})?;
        Ok(Self { rust: build()?, python, node })
    }

    fn one(&self, peer: &Peer, letter: &str, url: &str, runs: usize) -> Result<Measured, String> {
        let folder = workspace::root().join("tests/bench");
        let (mut command, name) = match peer.driver {
            Driver::Rust(name) => (Command::new(&self.rust), name),
            Driver::Python(name) => {
                let mut command = self.python.command("python");
                command.arg(folder.join("python/driver.py"));
                (command, name)
            }
            Driver::Node(name) => {
                let mut command = self.node.command();
                command.arg("--expose-gc").arg(folder.join("node/driver.mjs"));
                (command, name)
            }
        };
        command.args([name, letter, url, &runs.to_string()]);
        let name = peer.name;
        match workspace::run(&mut command, LIMIT, |_| {}) {
            Ended::Ran { success: true, output } => serde_json::from_str(output.trim())
                .map_err(|error| format!("{name} printed no measurement in {letter}: {error}\n{output}")),
            Ended::Ran { output, .. } => Err(format!("{name} failed in {letter}:\n{output}")),
            Ended::TimedOut { .. } => Err(format!("{name} did not end in {letter} within {} s", LIMIT.as_secs())),
            Ended::NotStarted(problem) => Err(problem),
        }
    }
}

/// The model server in its own process.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(driver: &Path) -> Result<Self, String> {
        let mut child = Command::new(driver)
            .arg("serve")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start the model server {}: {error}", driver.display()))?;
        let mut url = String::new();
        let read = child.stdout.take().map(|out| BufReader::new(out).read_line(&mut url));
        let server = Self { child, url: url.trim().to_owned() };
        match read {
            Some(Ok(_)) if server.url.starts_with("http://127.0.0.1:") => Ok(server),
            _ => Err("the model server did not say where it is".into()),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Already gone is what we want.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_the_median() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0]), 2.5);
        assert!(median(&[]).is_nan());
    }
}
