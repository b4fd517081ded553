//! A model of your own: anything that answers a request.
//!
//! `send` is enough. The engine then does the rest: tools, retries, fallbacks, events. Add `stream` when the model can
//! give its text piece by piece.

use cheliped::Agent;
use cheliped::message::Message;
use cheliped::provider::{ModelReply, ModelRequest, Provider, ProviderError, ProviderErrorKind};
use futures::future::BoxFuture;
use std::sync::atomic::{AtomicBool, Ordering};

/// Counts the words of the last message. The first call fails, as servers sometimes do.
#[derive(Default)]
struct WordCounter {
    was_asked: AtomicBool,
}

impl Provider for WordCounter {
    fn name(&self) -> &str {
        "counter"
    }

    fn model(&self) -> &str {
        "counter-1"
    }

    fn send<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelReply, ProviderError>> {
        Box::pin(async move {
            if !self.was_asked.swap(true, Ordering::Relaxed) {
                // The kind says whether another try can help; this one can.
                return Err(ProviderError::new(ProviderErrorKind::Overloaded, "come back in a moment"));
            }
            let message = request.messages.last().map(Message::text).unwrap_or_default();
            Ok(ModelReply::text(format!("That were {} words.", message.split_whitespace().count())))
        })
    }
}

#[tokio::main]
async fn main() -> Result<(), cheliped::Error> {
    let agent = Agent::builder()
        .provider(WordCounter::default())
        .max_retries(2)
        .on("provider.retry", cheliped::hooks::hook_fn(|_| println!("(another try)")))
        .build()?;
    let response = agent.send("How long is this sentence?").await?;
    println!("{}/{}: {}", response.provider, response.model, response.text);
    Ok(())
}
