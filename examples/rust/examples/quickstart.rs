//! An agent with two tools answers a question about a project.
//!
//! The model here is `offline`, which follows rules and needs no key. For a real one, write its name instead, for
//! example `.provider("anthropic:claude-haiku-4-5-20251001")`, and set its key in the environment.

use cheliped::{Agent, Error};
use cheliped_examples::{ProjectRoot, project_tools, sample_project};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let root = ProjectRoot::open(sample_project())?;
    let agent = Agent::builder()
        .provider("offline")
        .system_prompt("You help people to find their way around a project.")
        .tools(project_tools(&root)?)
        .build()?;

    let response = agent.send("Which lines of logs/app.log contain \"ERROR\"?").await?;

    println!("{}", response.text);
    println!("Tools called: {}", response.tools_called.join(", "));
    Ok(())
}
