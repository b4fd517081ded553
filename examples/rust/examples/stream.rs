//! An answer as it is made: text piece by piece, tool calls as they start and end.
//!
//! A model may write some text and then call a tool after all. `TextDiscarded` says that this text is not part of the
//! answer; whoever shows pieces at once takes them back.

use cheliped::Agent;
use cheliped::agent::StreamEvent;
use cheliped::provider::{ScriptedProvider, Step};
use cheliped_examples::{ProjectRoot, project_tools, sample_project};
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), cheliped::Error> {
    let model = ScriptedProvider::new()
        .step(Step::text("Let me see.").call("file_read", json!({"path": "config/app.toml", "search": "port"})))
        .reply("The server listens on port 8090.");
    let root = ProjectRoot::open(sample_project())?;
    let agent = Agent::builder().provider(model).tools(project_tools(&root)?).build()?;

    let mut answer = String::new();
    // Nothing happens until the stream is read. Dropping it stops the run.
    let mut stream = agent.stream("Which port does the server use?");
    while let Some(event) = stream.next().await {
        match event? {
            StreamEvent::TextDelta { text, .. } => {
                println!("text   {text:?}");
                answer.push_str(&text);
            }
            StreamEvent::TextDiscarded { .. } => {
                println!("back   {answer:?}");
                answer.clear();
            }
            StreamEvent::ToolCallStarted { name, arguments, .. } => println!("call   {name} {arguments}"),
            StreamEvent::ToolCallFinished { name, outcome, .. } => println!("result {name} {outcome:?}"),
            StreamEvent::Finished { response } => {
                // What was not taken back is exactly the answer.
                println!("done   {:?}, the same: {}", response.text, response.text == answer);
            }
            // There are more kinds, and later versions may add some.
            _ => {}
        }
    }
    Ok(())
}
