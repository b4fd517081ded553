//! Hooks watch a run: for logs, for counting, for a bill. They cannot change anything.
//!
//! Every event has a dotted name and a payload; the names are listed with `cheliped::hooks::Event`.

use cheliped::Agent;
use cheliped::hooks::{Event, hook_fn};
use cheliped::provider::ScriptedProvider;
use cheliped_examples::{ProjectRoot, project_tools, sample_project};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[tokio::main]
async fn main() -> Result<(), cheliped::Error> {
    let model = ScriptedProvider::new()
        .calls([("project_info", json!({})), ("file_read", json!({"path": "docs/deploy.md"}))])
        .reply("Run the tests, copy two folders, restart, and watch the log.");
    let root = ProjectRoot::open(sample_project())?;

    let read = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&read);
    let agent = Agent::builder()
        .provider(model)
        .tools(project_tools(&root)?)
        // One event by name, with its data.
        .on(
            "tool.after",
            hook_fn(move |event| {
                if let Event::ToolAfter { tool_name, tool_result, .. } = &event.kind {
                    println!("  {tool_name} gave {} characters", tool_result.chars().count());
                    counter.fetch_add(1, Ordering::Relaxed);
                }
            }),
        )
        // All events, in order.
        .on_any(hook_fn(|event| println!("{}", event.name())))
        .build()?;

    let response = agent.send("How is the shop put online?").await?;
    println!("{}", response.text);
    println!("{} tool results were seen", read.load(Ordering::Relaxed));
    Ok(())
}
