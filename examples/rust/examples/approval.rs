//! A callback decides whether a call that changes something may run.
//!
//! It sees the arguments exactly as they will run. There is no time limit, because people are slow; a callback that
//! fails has not approved.

use cheliped::Agent;
use cheliped::approval::{ApprovalGate, ApprovalRequest, Decision, DenyReason};
use cheliped::error::BoxError;
use cheliped::provider::ScriptedProvider;
use cheliped::tool::tool_fn;
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Refund {
    /// Number of the order.
    order: u32,
    /// Euro to give back.
    euro: f64,
}

/// Small refunds are fine; for large ones somebody must be asked, and here nobody is there.
struct SmallRefunds;

impl ApprovalGate for SmallRefunds {
    fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, Result<Decision, BoxError>> {
        Box::pin(async move {
            println!("asked about {} {}", request.tool, request.arguments);
            let euro = request.arguments.value()["euro"].as_f64().ok_or("the amount is missing")?;
            Ok(match euro <= 20.0 {
                true => Decision::Allow,
                false => Decision::Deny(DenyReason::Policy("refunds over 20 euro need a person".into())),
            })
        })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let refund = tool_fn("refund", "Gives money back for an order.", |args: Refund, _| async move {
        println!("refunded {:.2} euro for order {}", args.euro, args.order);
        Ok("done")
    })?
    // What changes something goes through the gate.
    .mutating();

    let model = ScriptedProvider::new()
        .call("refund", json!({"order": 5, "euro": 17}))
        .call("refund", json!({"order": 2, "euro": 500}))
        .reply("Order 5 is refunded. I was not allowed to refund 500 euro for order 2.");

    let agent = Agent::builder().provider(model).tool(refund).approval_gate(SmallRefunds).build()?;
    println!("{}", agent.send("Refund orders 5 and 2.").await?.text);
    Ok(())
}
