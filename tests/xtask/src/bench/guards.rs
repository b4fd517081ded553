//! The guards: how long they take beside one bare search for the documented phrases in the same text, and how that grows.

use super::{BUILD_LIMIT, LIMIT};
use crate::workspace::{self, Ended, cargo};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::process::Command;

/// Microseconds for 4 KB, and how many times the bare search, at most.
const FOUR_KB: f64 = 60.0;
const TIMES_BARE: f64 = 12.0;
/// How many times 1 MB 2 MB may take.
const GROWTH: f64 = 2.2;

#[derive(Deserialize)]
struct Report {
    first_scan: f64,
    #[serde(rename = "4_kb")]
    small: Beside,
    #[serde(rename = "1_mb")]
    large: Beside,
    growth: BTreeMap<String, Growth>,
    cleaning: BTreeMap<String, Growth>,
}

/// Microseconds of both, and their ratio.
#[derive(Deserialize)]
struct Beside {
    bare: f64,
    guards: f64,
    ratio: f64,
}

#[derive(Deserialize)]
struct Growth {
    one_mb: f64,
    ratio: f64,
}

/// Builds and runs the measurement, `rounds` times; of each figure the median counts.
pub(super) fn measure(rounds: usize) -> Result<(), String> {
    let target = workspace::target().join("bench");
    let mut build = cargo(&["build", "--release", "--quiet", "--bin", "guards"]);
    build.current_dir(workspace::root().join("tests/bench")).env("CARGO_TARGET_DIR", &target);
    run(&mut build, BUILD_LIMIT)?;
    let program = target.join("release").join(format!("guards{}", std::env::consts::EXE_SUFFIX));
    let mut reports = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let output = run(&mut Command::new(&program), LIMIT)?;
        let report: Report = serde_json::from_str(output.trim()).map_err(|error| format!("{output:?}: {error}"))?;
        reports.push(report);
    }
    println!("G  the guards without the limit of length, beside one search for the 14 documented phrases");
    let median = |value: fn(&Report) -> f64| super::median(&reports.iter().map(value).collect::<Vec<_>>());
    let line = |what: &str, guards: f64, bare: f64, ratio: f64, verdict: String| {
        println!("   {what:<18} {guards:>12.1} us   bare {bare:.1} us, {ratio:.1} times{verdict}");
    };
    let (small, ratio) = (median(|report| report.small.guards), median(|report| report.small.ratio));
    let verdict =
        format!("  {} {FOUR_KB:.0} us, {} {TIMES_BARE:.0} times", said(small <= FOUR_KB), said(ratio <= TIMES_BARE));
    line("4 KB", small, median(|report| report.small.bare), ratio, verdict);
    let (large, ratio) = (median(|report| report.large.guards), median(|report| report.large.ratio));
    line("1 MB", large, median(|report| report.large.bare), ratio, String::new());
    println!("   {:<18} {:>12.1} ms", "first scan", median(|report| report.first_scan) / 1e3);
    for (title, of) in [
        ("the guards", (|report| &report.growth) as fn(&Report) -> &BTreeMap<String, Growth>),
        ("the cleaning of results", |report| &report.cleaning),
    ] {
        println!("   {title}, 2 MB over 1 MB:");
        for name in reports.first().map(of).into_iter().flat_map(BTreeMap::keys) {
            let all = |value: fn(&Growth) -> f64| {
                let values: Vec<f64> = reports.iter().filter_map(|report| of(report).get(name).map(value)).collect();
                super::median(&values)
            };
            let ratio = all(|growth| growth.ratio);
            let one = all(|growth| growth.one_mb) / 1e3;
            println!("   {name:<18} {one:>12.1} ms   {ratio:.2}  {} {GROWTH}", said(ratio <= GROWTH));
        }
    }
    Ok(())
}

fn said(within: bool) -> &'static str {
    if within { "within" } else { "OVER" }
}

fn run(command: &mut Command, limit: std::time::Duration) -> Result<String, String> {
    match workspace::run(command, limit, |_| {}) {
        Ended::Ran { success: true, output } => Ok(output),
        Ended::Ran { output, .. } => Err(format!("{command:?} failed:\n{output}")),
        Ended::TimedOut { output } => Err(format!("{command:?} did not end in {} s:\n{output}", limit.as_secs())),
        Ended::NotStarted(error) => Err(format!("{command:?}: {error}")),
    }
}
