//! The peer: rig, with the same tools and the same model.

use crate::{MESSAGE, SYSTEM};
use futures::StreamExt;
use rig::agent::{MultiTurnStreamItem, tool::ToolContext};
use rig::prelude::*;
use rig::providers::openai::{OpenAI, OpenAIConfig, Route};
use rig::streaming::{Item, StreamEvent};
use serde::Deserialize;
use serde_json::{Value, json};

pub struct Maker(OpenAI);

pub struct Agent(rig::prelude::Agent);

#[derive(Debug)]
struct Never;

impl std::fmt::Display for Never {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("never")
    }
}

impl std::error::Error for Never {}

#[derive(Deserialize)]
struct Operands {
    a: i64,
    b: i64,
}

struct Add;

impl Tool for Add {
    const NAME: &'static str = "add";
    type Args = Operands;
    type Output = i64;
    type Error = Never;

    fn description(&self) -> String {
        "Adds two numbers.".into()
    }

    fn parameters(&self) -> Value {
        let number = json!({"type": "integer"});
        json!({"type": "object", "properties": {"a": number, "b": number}, "required": ["a", "b"]})
    }

    async fn call(&self, _: &mut ToolContext, operands: Operands) -> Result<i64, Never> {
        Ok(operands.a + operands.b)
    }
}

#[derive(Deserialize)]
struct Place {
    path: String,
}

struct Look<const INDEX: usize>;

/// Names of the tools beside `add`; a name must be known when the program is built.
const NAMES: [&str; 10] =
    ["add", "look_1", "look_2", "look_3", "look_4", "look_5", "look_6", "look_7", "look_8", "look_9"];

impl<const INDEX: usize> Tool for Look<INDEX> {
    const NAME: &'static str = NAMES[INDEX];
    type Args = Place;
    type Output = String;
    type Error = Never;

    fn description(&self) -> String {
        "Looks something up.".into()
    }

    fn parameters(&self) -> Value {
        json!({"type": "object", "properties": {"path": {"type": "string"}, "limit": {"type": "integer"},
            "deep": {"type": "boolean"}}, "required": ["path"]})
    }

    async fn call(&self, _: &mut ToolContext, place: Place) -> Result<String, Never> {
        Ok(place.path)
    }
}

impl Maker {
    pub fn new(url: &str) -> Self {
        let config = OpenAIConfig::new("no key").with_base_url(format!("{url}/v1")).with_route(Route::Chat);
        Self(config.client())
    }

    pub fn agent(&self, model: &str, tools: usize) -> Agent {
        let one = AgentBuilder::new(self.0.completion(model)).preamble(SYSTEM).default_max_turns(20).tool(Add);
        if tools < 10 {
            return Agent(one.build());
        }
        let more = one.tool(Look::<1>).tool(Look::<2>).tool(Look::<3>).tool(Look::<4>).tool(Look::<5>);
        Agent(more.tool(Look::<6>).tool(Look::<7>).tool(Look::<8>).tool(Look::<9>).build())
    }
}

impl Agent {
    pub async fn run(&self) -> String {
        self.0.prompt(MESSAGE).await.expect("a run").output().to_string()
    }

    pub async fn stream(&self) -> (String, usize) {
        let (mut text, mut pieces) = (String::new(), 0);
        let mut items = self.0.prompt(MESSAGE).stream();
        while let Some(item) = items.next().await {
            if let MultiTurnStreamItem::StreamAssistantItem(Item::Event(StreamEvent::Text { text: piece, .. })) =
                item.expect("an item")
            {
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
