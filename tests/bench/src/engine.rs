//! The engine: an agent over the chat-completions wire, as a user would set it up.

use crate::{MESSAGE, SYSTEM};
use cheliped::agent::StreamEvent;
use cheliped::env::ProcessVariables;
use cheliped::message::Message;
use cheliped::provider::{Provider, ProviderConfig};
use cheliped::schema::Schema;
use cheliped::tool::{Tool, ToolError, tool_fn_with_schema};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

pub struct Maker {
    url: String,
    /// One provider a model, made once and shared like an HTTP client.
    providers: Mutex<HashMap<String, Arc<dyn Provider>>>,
    tools: Vec<Arc<dyn Tool>>,
}

pub struct Agent(cheliped::Agent);

#[derive(Deserialize)]
struct Operands {
    a: i64,
    b: i64,
}

#[derive(Deserialize)]
struct Place {
    path: String,
}

fn schema(value: Value) -> Schema {
    Schema::new(value).expect("a schema")
}

fn add() -> Arc<dyn Tool> {
    let number = json!({"type": "integer"});
    let schema = schema(json!({"type": "object", "properties": {"a": number, "b": number}, "required": ["a", "b"]}));
    let tool = tool_fn_with_schema("add", "Adds two numbers.", schema, |arguments, _| async move {
        let operands: Operands =
            serde_json::from_str(arguments.as_str()).map_err(|error| ToolError::failed(error.to_string()))?;
        Ok((operands.a + operands.b).to_string())
    });
    Arc::new(tool.read_only())
}

fn look(index: usize) -> Arc<dyn Tool> {
    let schema = schema(json!({"type": "object", "properties": {"path": {"type": "string"},
        "limit": {"type": "integer"}, "deep": {"type": "boolean"}}, "required": ["path"]}));
    let name = format!("look_{index}");
    let tool = tool_fn_with_schema(name, "Looks something up.", schema, |arguments, _| async move {
        let place: Place =
            serde_json::from_str(arguments.as_str()).map_err(|error| ToolError::failed(error.to_string()))?;
        Ok(place.path)
    });
    Arc::new(tool.read_only())
}

impl Maker {
    pub fn new(url: &str) -> Self {
        let tools = std::iter::once(add()).chain((1..10).map(look)).collect();
        Self { url: url.to_owned(), providers: Mutex::default(), tools }
    }

    fn provider(&self, model: &str) -> Arc<dyn Provider> {
        let mut providers = self.providers.lock().expect("no panic before");
        let make = || {
            let config = ProviderConfig::named("custom").base_url(&*self.url).model(model).api_key("no key");
            config.build(&ProcessVariables).expect("a provider")
        };
        providers.entry(model.to_owned()).or_insert_with(make).clone()
    }

    pub fn agent(&self, model: &str, tools: usize) -> Agent {
        let tools = self.tools.iter().take(tools).cloned();
        let agent = cheliped::Agent::builder().provider(self.provider(model)).system_prompt(SYSTEM).tools(tools);
        Agent(agent.build().expect("an agent"))
    }
}

impl Agent {
    pub async fn run(&self) -> String {
        self.0.send(MESSAGE).await.expect("a run").text
    }

    pub async fn stream(&self) -> (String, usize) {
        let (mut text, mut pieces) = (String::new(), 0);
        let mut events = self.0.stream(MESSAGE);
        while let Some(event) = events.next().await {
            if let StreamEvent::TextDelta { text: piece, .. } = event.expect("an event") {
                text.push_str(&piece);
                pieces += 1;
            }
        }
        (text, pieces)
    }
}

pub fn conversation(texts: impl Iterator<Item = String>) -> Vec<Message> {
    let message = |(index, text)| if index % 2 == 0 { Message::user(text) } else { Message::assistant(text) };
    texts.enumerate().map(message).collect::<Vec<Message>>()
}
