//! What a programmer writes without an engine: typed bodies, one loop, reqwest.

use crate::{MESSAGE, SYSTEM};
use futures::StreamExt;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub struct Maker {
    http: reqwest::Client,
    url: String,
}

pub struct Agent {
    http: reqwest::Client,
    url: String,
    model: String,
    tools: Vec<Value>,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Message {
    role: String,
    content: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool_calls: Option<Vec<Call>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<String>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Call {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    function: Function,
}

#[derive(Clone, Serialize, Deserialize)]
struct Function {
    name: String,
    arguments: String,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: &'a [Message],
    tools: &'a [Value],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stream: bool,
}

#[derive(Deserialize)]
struct Reply {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
}

#[derive(Deserialize)]
struct Chunk {
    choices: Vec<ChunkChoice>,
}

#[derive(Deserialize)]
struct ChunkChoice {
    delta: Delta,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<String>,
}

#[derive(Deserialize)]
struct Operands {
    a: i64,
    b: i64,
}

impl Message {
    fn new(role: &str, content: String) -> Self {
        Self { role: role.into(), content: Some(content), tool_calls: None, tool_call_id: None }
    }
}

impl Maker {
    pub fn new(url: &str) -> Self {
        Self { http: reqwest::Client::new(), url: format!("{url}/v1/chat/completions") }
    }

    pub fn agent(&self, model: &str, tools: usize) -> Agent {
        let number = json!({"type": "integer"});
        let add = json!({"type": "object", "properties": {"a": number, "b": number}, "required": ["a", "b"]});
        let tool = |name: &str, description: &str, parameters: Value| {
            json!({"type": "function",
                "function": {"name": name, "description": description, "parameters": parameters}})
        };
        let mut list = vec![tool("add", "Adds two numbers.", add)];
        for index in 1..tools {
            let look = json!({"type": "object", "properties": {"path": {"type": "string"},
                "limit": {"type": "integer"}, "deep": {"type": "boolean"}}, "required": ["path"]});
            list.push(tool(&format!("look_{index}"), "Looks something up.", look));
        }
        Agent { http: self.http.clone(), url: self.url.clone(), model: model.into(), tools: list }
    }
}

impl Agent {
    fn body<'a>(&'a self, messages: &'a [Message], stream: bool) -> Body<'a> {
        Body { model: &self.model, messages, tools: &self.tools, stream }
    }

    pub async fn run(&self) -> String {
        let mut messages = vec![Message::new("system", SYSTEM.into()), Message::new("user", MESSAGE.into())];
        loop {
            let sent = self.http.post(&self.url).json(&self.body(&messages, false)).send().await.expect("an answer");
            let bytes = sent.bytes().await.expect("a body");
            let mut reply: Reply = serde_json::from_slice(&bytes).expect("a reply");
            let message = reply.choices.swap_remove(0).message;
            let Some(calls) = message.tool_calls.clone() else {
                return message.content.unwrap_or_default();
            };
            messages.push(message);
            for call in calls {
                let operands: Operands = serde_json::from_str(&call.function.arguments).expect("arguments");
                let mut result = Message::new("tool", (operands.a + operands.b).to_string());
                result.tool_call_id = Some(call.id);
                messages.push(result);
            }
        }
    }

    pub async fn stream(&self) -> (String, usize) {
        let messages = [Message::new("system", SYSTEM.into()), Message::new("user", MESSAGE.into())];
        let body = self.body(&messages, true);
        let mut chunks = self.http.post(&self.url).json(&body).send().await.expect("an answer").bytes_stream();
        let (mut text, mut pieces, mut unread) = (String::new(), 0, Vec::new());
        while let Some(chunk) = chunks.next().await {
            unread.extend_from_slice(&chunk.expect("bytes"));
            let mut start = 0;
            while let Some(length) = unread[start..].windows(2).position(|pair| pair == b"\n\n") {
                let data = &unread[start + b"data: ".len()..start + length];
                start += length + 2;
                if data == b"[DONE]" {
                    continue;
                }
                let chunk: Chunk = serde_json::from_slice(data).expect("a chunk");
                let content = chunk.choices.into_iter().next().and_then(|choice| choice.delta.content);
                if let Some(content) = content.filter(|content| !content.is_empty()) {
                    text.push_str(&content);
                    pieces += 1;
                }
            }
            unread.drain(..start);
        }
        (text, pieces)
    }
}

pub fn conversation(texts: impl Iterator<Item = String>) -> Vec<Message> {
    let role = |index| if index % 2 == 0 { "user" } else { "assistant" };
    texts.enumerate().map(|(index, text)| Message::new(role(index), text)).collect()
}
