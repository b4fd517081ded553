//! A thousand runs at once, five times: right answers, and no memory that stays behind.
//!
//! Alone in its file, because it looks at the memory of the whole process.

#![allow(clippy::unwrap_used, clippy::panic, reason = "what the tests share is test code too")]

use cheliped::Agent;
use cheliped::provider::ScriptedProvider;
use cheliped::schema::Schema;
use cheliped::tool::tool_fn_with_schema;
use futures::future::join_all;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const RUNS: usize = 1000;
const ROUNDS: usize = 5;
const LATENCY: Duration = Duration::from_millis(20);

/// Resident memory in bytes.
fn resident() -> Option<u64> {
    let pages: u64 = std::fs::read_to_string("/proc/self/statm").ok()?.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

#[tokio::test]
async fn a_thousand_runs_at_once() {
    // Three rounds of tools, each with the number of the round; the answer holds the last result.
    let model = ScriptedProvider::from_fn(|request, turn| {
        let mut said = request.messages.iter().filter_map(|message| match message {
            cheliped::message::Message::Tool { results } => results.first().map(|result| result.content.as_text()),
            _ => None,
        });
        match (turn, said.next_back()) {
            (3, Some(last)) => cheliped::provider::Step::text(format!("{}: {last}", request.messages[0].text())),
            (turn, _) => cheliped::provider::Step::default().call("count", json!({"n": turn})),
        }
    });
    let model = model.by_turn().latency(LATENCY).without_recording();
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let schema = Schema::new(json!({"properties": {"n": {"type": "integer"}}, "required": ["n"]})).unwrap();
    let count = tool_fn_with_schema("count", "Counts.", schema, move |arguments, _| {
        counted.fetch_add(1, Ordering::Relaxed);
        async move { Ok(format!("{} {}", arguments.value()["n"], "x".repeat(1000))) }
    });
    let agent = Agent::builder().provider(model).tool(count.read_only()).build().unwrap();

    let mut memory = Vec::new();
    for round in 0..ROUNDS {
        let started = Instant::now();
        let runs = (0..RUNS).map(|number| {
            let agent = agent.clone();
            tokio::spawn(async move { agent.send(format!("run {number}")).await })
        });
        for (number, run) in join_all(runs).await.into_iter().enumerate() {
            let response = run.unwrap().unwrap();
            assert_eq!(response.text, format!("run {number}: 2 {}", "x".repeat(1000)));
            assert_eq!((response.iterations, response.tools_called.len()), (4, 3));
        }
        assert_eq!(calls.load(Ordering::Relaxed), RUNS * 3 * (round + 1));
        memory.push(resident());
        println!("round {}: {:?}, {:?} bytes", round + 1, started.elapsed(), memory[round]);
    }
    let alive = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    assert!(alive <= 1, "{alive} tasks are left");
    if let (Some(second), Some(last)) = (memory[1], memory[ROUNDS - 1]) {
        assert!(last * 100 <= second * 105, "memory grew from {second} to {last} bytes");
    }
}
