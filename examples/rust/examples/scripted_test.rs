//! How to test an agent: the model is a script, everything else is real.
//!
//! The script says what the model answers, with tool calls, delays and failures. Afterwards it tells what the model was
//! asked, so a test can look at both sides. In your own crate the functions below would be `#[tokio::test]`s.

use cheliped::Agent;
use cheliped::provider::{ProviderErrorKind, ScriptedProvider};
use cheliped::tool::{FnTool, tool_fn};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

type Checked = Result<(), Box<dyn std::error::Error>>;

#[derive(Deserialize, JsonSchema)]
struct Lookup {
    /// Number of the order.
    order: u32,
}

fn lookup() -> Result<FnTool, Box<dyn std::error::Error>> {
    Ok(tool_fn(
        "lookup",
        "Finds an order.",
        |args: Lookup, _| async move { Ok(format!("order {} is sent", args.order)) },
    )?)
}

async fn the_tool_gets_the_number_and_the_model_its_result() -> Checked {
    let model = ScriptedProvider::new().call("lookup", json!({"order": 17})).reply("It is on its way.");
    let agent = Agent::builder().provider(model.clone()).tool(lookup()?).build()?;

    let response = agent.send("Where is order 17?").await?;

    assert_eq!(response.text, "It is on its way.");
    assert_eq!(response.tools_called, ["lookup".into()]);
    let requests = model.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(
        requests.last().map(|request| request.texts.clone()),
        Some(vec!["Where is order 17?".to_owned(), String::new(), "order 17 is sent".to_owned(),])
    );
    Ok(())
}

async fn an_overloaded_model_is_asked_again() -> Checked {
    let model = ScriptedProvider::new().fail(ProviderErrorKind::Overloaded).reply("Here I am.");
    let agent = Agent::builder().provider(model.clone()).max_retries(1).build()?;
    assert_eq!(agent.send("Are you there?").await?.text, "Here I am.");
    assert_eq!(model.request_count(), 2);
    Ok(())
}

async fn broken_arguments_are_told_to_the_model() -> Checked {
    // A script can be JSON too, for example a file beside the test.
    let model = ScriptedProvider::from_json(
        r#"[{"calls": [{"name": "lookup", "arguments": "{\"order\": "}]}, {"text": "Sorry, which order?"}]"#,
    )?;
    let agent = Agent::builder().provider(model.clone()).tool(lookup()?).build()?;
    assert_eq!(agent.send("Where is it?").await?.text, "Sorry, which order?");
    let told = model.requests().pop().and_then(|request| request.texts.last().cloned()).unwrap_or_default();
    assert!(told.contains("not a JSON object"), "{told}");
    Ok(())
}

#[tokio::main]
async fn main() -> Checked {
    the_tool_gets_the_number_and_the_model_its_result().await?;
    an_overloaded_model_is_asked_again().await?;
    broken_arguments_are_told_to_the_model().await?;
    println!("3 tests passed, without a key or a network");
    Ok(())
}
