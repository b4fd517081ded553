//! A tool of your own: an async function whose argument type says what the model may send.
//!
//! The schema comes from the type, descriptions from its doc comments. Arguments are checked before the function runs;
//! an error goes back to the model, which can do better.

use cheliped::Agent;
use cheliped::provider::ScriptedProvider;
use cheliped::tool::{ToolError, tool_fn};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// What the model sends.
#[derive(Deserialize, JsonSchema)]
struct Steep {
    /// The tea, for example sencha.
    tea: String,
    /// Cups to make.
    #[schemars(range(min = 1, max = 8))]
    cups: u32,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let steep = tool_fn("steep", "Tells how to make some cups of a tea.", |args: Steep, _context| async move {
        let (degrees, minutes) = match args.tea.as_str() {
            "sencha" => (70, 2),
            "assam" => (98, 4),
            // The model reads this and can call again with a tea that there is.
            other => return Err(ToolError::failed(format!("no tea is called {other}; there are sencha and assam"))),
        };
        let grams = args.cups * 2;
        Ok(json!({"grams": grams, "degrees": degrees, "minutes": minutes}))
    })?
    // Said aloud, because it lets calls run side by side and without asking anybody.
    .read_only();

    // A script in place of a model, so that the program always runs the same way.
    let model = ScriptedProvider::new()
        .call("steep", json!({"tea": "senchaa", "cups": 3}))
        .call("steep", json!({"tea": "sencha", "cups": 3}))
        .reply("Take 6 grams of sencha, water of 70 degrees, and wait for 2 minutes.");

    let agent = Agent::builder().provider(model.clone()).tool(steep).build()?;
    let response = agent.send("How do I make three cups of sencha?").await?;

    println!("{}", response.text);
    println!("After {} model calls. What the tool said:", response.iterations);
    // The last request holds the whole history, with the results of both calls.
    for request in model.requests().iter().skip(1) {
        println!("  {}", request.texts.last().map_or("", String::as_str));
    }
    Ok(())
}
