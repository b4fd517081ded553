//! An interceptor may change or stop what the engine is about to do.
//!
//! This one keeps the model out of a folder, and takes customers' addresses out of what tools give back. One that
//! fails, panics or takes too long blocks: what was not allowed does not happen.

use cheliped::Agent;
use cheliped::context::RunContext;
use cheliped::hooks::{Decided, Intercept, Interceptor};
use cheliped::message::{Arguments, Content, ToolCall, ToolResult};
use cheliped::provider::ScriptedProvider;
use cheliped_examples::{ProjectRoot, project_tools, sample_project};
use serde_json::json;

struct House;

impl Interceptor for House {
    fn name(&self) -> &str {
        "house rules"
    }

    fn before_tool<'a>(&'a self, _: &'a RunContext, call: &'a ToolCall) -> Decided<'a, Arguments> {
        let path = call.arguments.value()["path"].as_str().unwrap_or_default().to_owned();
        Box::pin(async move {
            Ok(match path.starts_with("data/") {
                true => Intercept::Block { reason: "orders are none of your business".into() },
                false => Intercept::Allow,
            })
        })
    }

    fn after_tool<'a>(&'a self, _: &'a RunContext, result: &'a ToolResult) -> Decided<'a, Content> {
        let text = result.content.as_text().replace("shop@teahouse.example", "(address)");
        Box::pin(async move { Ok(Intercept::Replace(text.into())) })
    }
}

#[tokio::main]
async fn main() -> Result<(), cheliped::Error> {
    let model = ScriptedProvider::new()
        .call("file_read", json!({"path": "data/orders.csv"}))
        .call("file_read", json!({"path": "config/app.toml", "search": "from"}))
        .reply("I may not see the orders. Mail comes from the shop's own address.");
    let root = ProjectRoot::open(sample_project())?;
    let agent = Agent::builder().provider(model.clone()).tools(project_tools(&root)?).interceptor(House).build()?;

    println!("{}", agent.send("Who ordered what, and who sends the mail?").await?.text);
    println!("What the model saw:");
    for request in model.requests().iter().skip(1) {
        println!("  {}", request.texts.last().map_or("", String::as_str).replace('\n', "\n  "));
    }
    Ok(())
}
