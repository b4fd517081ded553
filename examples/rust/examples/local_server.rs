//! Talks to a server on this machine that speaks OpenAI's chat format: llama.cpp, Ollama, vLLM.
//!
//! ```sh
//! OPENAI_BASE_URL=http://127.0.0.1:8000/v1 cargo run --example local_server -- MODEL
//! ```
//!
//! It asks for a text, for a stream, and for a forced tool call. Without `OPENAI_BASE_URL` it says so and does nothing.

use cheliped::Agent;
use cheliped::agent::StreamEvent;
use cheliped::provider::{ProviderConfig, ToolChoice};
use cheliped::tool::tool_fn;
use schemars::JsonSchema;
use serde::Deserialize;
use std::error::Error;
use std::io::Write as _;

#[derive(Deserialize, JsonSchema)]
struct Weather {
    /// The city.
    city: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let Ok(base_url) = std::env::var("OPENAI_BASE_URL") else {
        println!("OPENAI_BASE_URL is not set: start a server and say where it is");
        return Ok(());
    };
    let model = std::env::args().nth(1).unwrap_or_else(|| "local".to_owned());
    // A server on this machine needs no key, but the format has a place for one.
    let config = ProviderConfig::named("custom").model(model).base_url(base_url).api_key("none");

    let agent = Agent::builder().provider(config.clone()).max_tokens(60).build()?;
    let response = agent.send("Say hello in one short sentence.").await?;
    println!("text:   {response}");

    print!("stream: ");
    let mut stream = agent.stream("Name one animal.");
    while let Some(event) = stream.next().await {
        if let StreamEvent::TextDelta { text, .. } = event? {
            print!("{text}");
            std::io::stdout().flush()?;
        }
    }
    println!();

    let weather = tool_fn("get_weather", "Tells the weather in a city.", |args: Weather, _| async move {
        Ok(format!("Sunny in {}, 21 degrees.", args.city))
    })?
    .read_only();
    let agent = Agent::builder()
        .provider(config)
        .tool(weather)
        .tool_choice(ToolChoice::Tool { name: "get_weather".into() })
        .max_tokens(60)
        .max_iterations(3)
        .on("tool.after", cheliped::hooks::hook_fn(|event| println!("tool:   {}", event.payload()["tool_input"])))
        .build()?;
    // A very small model may go on calling; what counts here is the forced call.
    match agent.send("What is the weather in Paris?").await {
        Ok(response) => println!("answer: {response}"),
        Err(error) => println!("ended:  {error}"),
    }
    Ok(())
}
