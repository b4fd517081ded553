//! Continues a saved run of a vector: the other process of the tests that stop a run and go on elsewhere.
//!
//! It reads one JSON value from standard input, `{"file", "case", "state", "world"}`, and writes one line of JSON for
//! it, `{"outcome", "world"}` or `{"problem"}`; then it reads the next one.

use cheliped_tests::vector::{World, read, resume};
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{BufRead, Write};
use std::path::PathBuf;

#[derive(Deserialize)]
struct Job {
    file: PathBuf,
    case: String,
    state: String,
    world: World,
}

fn main() -> std::io::Result<()> {
    for line in std::io::stdin().lock().lines() {
        let answer = go_on(&line?).unwrap_or_else(|problem| json!({"problem": problem}));
        let mut out = std::io::stdout().lock();
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn go_on(job: &str) -> Result<Value, String> {
    let Job { file, case, state, world } = serde_json::from_str(job).map_err(|error| error.to_string())?;
    let file = read(&file)?;
    let case = file.cases.iter().find(|found| found.name == case).ok_or("no such case")?;
    let played = resume(case, &state, world)?;
    Ok(json!({"outcome": played.outcome, "world": played.world}))
}
