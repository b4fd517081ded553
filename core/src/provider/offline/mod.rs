//! A model without a network, for a first look at the engine: rules instead of a language model.
//!
//! It calls the offered tool that fits the message, fills its arguments from what the message says, and answers from
//! the result. It invents nothing: where a detail is missing, it says which; where nothing fits, it says what it is.

mod answer;
mod fill;
mod meaning;
mod phrases;
mod rank;
mod reading;
mod statements;
mod tools;

use super::{ModelReply, ModelRequest, Provider, ProviderError, StreamPart, ToolChoice};
use crate::limits;
use crate::message::{Arguments, Message, ToolCall, ToolResult, Usage};
use fill::Earlier;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream, StreamExt};
use rank::{ENOUGH, Ranked};
use reading::{After, Reading};
use serde_json::Value;
use std::borrow::Cow;
use tools::{Role, ToolView};

/// Most characters of a message that are read; the rest cannot name another tool.
const READ_CHARS: usize = 8_000;
/// Points of arguments alone that leave no doubt: an address, a statement, a command.
const CERTAIN: f64 = 4.0;
/// Points by which the words of one tool are clearly ahead of another's.
const CLEARLY: f64 = 2.0;

/// A deterministic model that needs no network, key or weights.
///
/// It is no language model and says so. It serves a first run of an agent, demonstrations and tests of a tool's words:
/// when it picks your tool for a plain request, the name, the description and the schema are clear. For exact replies
/// use [`ScriptedProvider`](super::ScriptedProvider).
///
/// ```
/// use cheliped::message::Message;
/// use cheliped::provider::{ModelRequest, OfflineProvider, Provider, ToolSpec};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let schema = serde_json::json!({
///     "type": "object",
///     "properties": {"path": {"type": "string"}},
///     "required": ["path"],
/// });
/// let tool = ToolSpec {
///     name: "file_read".into(),
///     description: "Reads a file of the workspace.".into(),
///     schema: serde_json::value::to_raw_value(&schema).unwrap().into(),
/// };
/// let request = ModelRequest {
///     system: "".into(),
///     messages: vec![Message::user("What is in notes.txt?")].into(),
///     tools: [tool].into(),
///     tool_choice: Default::default(),
///     options: Default::default(),
/// };
/// let reply = OfflineProvider::new().send(&request).await?;
/// assert_eq!(reply.calls[0].arguments.as_str(), r#"{"path":"notes.txt"}"#);
/// # Ok::<(), cheliped::provider::ProviderError>(()) }).unwrap();
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct OfflineProvider;

impl OfflineProvider {
    /// The provider's name.
    pub const NAME: &'static str = "offline";

    /// The model. It has no settings.
    pub fn new() -> Self {
        Self
    }
}

impl Provider for OfflineProvider {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn model(&self) -> &str {
        "offline-1"
    }

    fn send<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelReply, ProviderError>> {
        Box::pin(async move { Ok(reply(request)) })
    }

    fn stream<'a>(&'a self, request: &'a ModelRequest) -> BoxStream<'a, Result<StreamPart, ProviderError>> {
        let parts = async move {
            let reply = reply(request);
            let words = reply.text.split_inclusive(char::is_whitespace).map(|word| StreamPart::Text(word.to_owned()));
            let mut parts: Vec<_> = words.map(Ok).collect();
            parts.push(Ok(StreamPart::Reply(Box::new(reply))));
            stream::iter(parts)
        };
        stream::once(parts).flatten().boxed()
    }
}

/// What the model does next.
#[derive(Debug)]
enum Move {
    Say(String),
    Call { name: String, arguments: Arguments },
}

fn reply(request: &ModelRequest) -> ModelReply {
    let mut reply = match next_move(request) {
        Move::Say(text) => ModelReply::text(text),
        Move::Call { name, arguments } => {
            let id = format!("offline_{}", request.messages.len());
            ModelReply::calls(vec![ToolCall::from_wire(Some(&id), &name, Ok(arguments))])
        }
    };
    reply.usage = usage(request, &reply);
    reply
}

/// Counted by characters, like every estimate of the crate.
fn usage(request: &ModelRequest, reply: &ModelReply) -> Usage {
    let tools: usize =
        request.tools.iter().map(|tool| tool.name.len() + tool.description.len() + tool.schema.get().len()).sum();
    let history: usize = request.messages.iter().map(Message::chars).sum();
    let calls: usize = reply.calls.iter().map(|call| call.name.len() + call.arguments.as_str().len()).sum();
    let input = limits::tokens_of_chars(request.system.chars().count() + tools + history);
    let output = limits::tokens_of_chars(reply.text.chars().count() + calls).max(1);
    Usage {
        input_tokens: Some(input),
        output_tokens: Some(output),
        input_tokens_total: Some(input),
        ..Usage::default()
    }
}

fn next_move(request: &ModelRequest) -> Move {
    let messages = request.messages.as_slice();
    let last_question = messages.iter().rposition(|message| matches!(message, Message::User { .. }));
    let (before, since) = messages.split_at_checked(last_question.map_or(0, |at| at + 1)).unwrap_or((messages, &[]));
    let question = before.last().map(|message| asked(&message.text()).to_owned()).unwrap_or_default();
    let question = limits::prefix(&question, READ_CHARS);
    let results: Vec<&ToolResult> = since.iter().flat_map(results_of).collect();
    let rounds = since.iter().filter(|message| calls_of(message).next().is_some()).count();
    let opening = !before.iter().any(|message| matches!(message, Message::Assistant(_)));
    let steps = steps(question);
    let failed = results.last().is_some_and(|result| result.is_error());
    let answer = || Move::Say(answer::from_results(question, &results, opening));
    let Some(step) = steps.get(rounds).filter(|_| !failed && !request.tools.is_empty()) else {
        return if results.is_empty() { Move::Say(answer::without_tool(question, &request.tools)) } else { answer() };
    };
    let views: Vec<ToolView<'_>> = match &request.tool_choice {
        ToolChoice::Auto | ToolChoice::Required => request.tools.iter().map(ToolView::new).collect(),
        ToolChoice::Tool { name } => {
            request.tools.iter().filter(|tool| *tool.name == **name).map(ToolView::new).collect()
        }
        ToolChoice::None => Vec::new(),
    };
    let reading = Reading::new(step);
    let earlier = earlier(messages, &request.tools);
    let forced = rounds == 0 && matches!(request.tool_choice, ToolChoice::Required | ToolChoice::Tool { .. });
    match choose(rank::rank(&views, &reading, &earlier), forced, question) {
        Choice::Call { name, arguments } if !repeats(since, &name, &arguments) => Move::Call { name, arguments },
        Choice::Call { .. } | Choice::Nothing | Choice::Missing { .. } if !results.is_empty() => answer(),
        Choice::Missing { tool, missing } => Move::Say(answer::missing(&tool, &missing)),
        Choice::Call { .. } | Choice::Nothing => Move::Say(answer::without_tool(question, &request.tools)),
    }
}

#[derive(Debug)]
enum Choice {
    Call {
        name: String,
        arguments: Arguments,
    },
    /// A tool fits, but the message leaves out what it needs.
    Missing {
        tool: String,
        missing: Vec<String>,
    },
    Nothing,
}

/// A tool that is meant but lacks an argument.
struct Lacking {
    words: f64,
    /// Whether it has an argument for all that the message gives.
    takes_all: bool,
    tool: String,
    missing: Vec<String>,
}

fn choose(mut ranked: Vec<Ranked<'_>>, forced: bool, question: &str) -> Choice {
    // The tool whose words fit best may be one that lacks something.
    let lacking = ranked
        .iter()
        .filter(|tool| tool.words >= ENOUGH && !tool.filled.missing.is_empty())
        .reduce(|best, tool| if tool.words > best.words { tool } else { best })
        .map(|tool| Lacking {
            words: tool.words,
            takes_all: tool.filled.unused == 0,
            tool: tool.view.spec.name.to_string(),
            missing: tool.filled.missing.clone(),
        });
    if ranked.is_empty() {
        return Choice::Nothing;
    }
    let best = ranked.remove(0);
    let name = best.view.spec.name.to_string();
    let mut arguments = best.filled.arguments;
    if forced {
        for property in best.view.properties.iter().filter(|property| property.required) {
            if !arguments.contains_key(&property.name) {
                arguments.insert(property.name.clone(), fill::stand_in(property, question));
            }
        }
    } else {
        let fits = best.points >= ENOUGH && best.filled.missing.is_empty();
        let certain = best.filled.fit >= CERTAIN;
        let ahead = |lacking: &Lacking| lacking.takes_all && lacking.words >= best.words + CLEARLY;
        match lacking {
            Some(lacking) if !fits || (!certain && ahead(&lacking)) => {
                return Choice::Missing { tool: lacking.tool, missing: lacking.missing };
            }
            Some(_) | None if !fits => return Choice::Nothing,
            Some(_) | None => {}
        }
    }
    match Arguments::try_from(&Value::Object(arguments)) {
        Ok(arguments) => Choice::Call { name, arguments },
        Err(_) => Choice::Nothing,
    }
}

/// The user's own words, without reference material that was put in front of them.
fn asked(text: &str) -> &str {
    text.rsplit_once("[User message]\n").map_or(text, |(_, asked)| asked).trim()
}

fn results_of(message: &Message) -> &[ToolResult] {
    match message {
        Message::Tool { results } => results,
        Message::System { .. } | Message::User { .. } | Message::Assistant(_) => &[],
    }
}

fn calls_of(message: &Message) -> impl DoubleEndedIterator<Item = &ToolCall> {
    let calls: &[ToolCall] = match message {
        Message::Assistant(message) => &message.calls,
        Message::System { .. } | Message::User { .. } | Message::Tool { .. } => &[],
    };
    calls.iter()
}

fn repeats(since: &[Message], name: &str, arguments: &Arguments) -> bool {
    let canonical = arguments.canonical();
    since.iter().flat_map(calls_of).any(|call| &*call.name == name && call.arguments.canonical() == canonical)
}

/// The steps of a message that says "then"; one for any other.
fn steps(question: &str) -> Vec<Cow<'_, str>> {
    const THEN: &str = "then afterwards danach anschließend puis ensuite luego después затем потом";
    let reading = Reading::new(question);
    if reading.has("if when wenn falls si если") {
        return vec![question.into()];
    }
    let mut steps = Vec::new();
    let mut start = 0;
    for (index, item) in reading.items.iter().enumerate() {
        if !item.is_any_of(THEN) {
            continue;
        }
        let leads = |item: &reading::Item<'_>| item.is_any_of("and und et y и e");
        let end = index.checked_sub(1).and_then(|before| reading.get(before)).filter(|item| leads(item));
        let end = end.map_or(item.start, |lead| lead.start);
        // "then" opens a step only after one that has words.
        let separate = end == item.start
            && index > 0
            && reading.get(index - 1).is_some_and(|before| before.after == After::Nothing);
        if question.get(start..end).is_some_and(|step| step.split_whitespace().count() > 1) && !separate {
            steps.extend(question.get(start..end).map(|step| Cow::from(step.trim().trim_end_matches([',', ';', '.']))));
            start = item.end;
        }
    }
    steps.extend(question.get(start..).map(|step| Cow::from(step.trim_start_matches([',', ' ']))));
    steps
}

/// The last path and address that a call used, by the purpose of the argument.
fn earlier(messages: &[Message], tools: &[super::ToolSpec]) -> Earlier {
    let mut earlier = Earlier::default();
    for call in messages.iter().rev().flat_map(|message| calls_of(message).rev()) {
        let Some(view) = tools.iter().find(|tool| tool.name == call.name).map(ToolView::new) else { continue };
        let arguments = call.arguments.value();
        let value = |roles: &[Role]| {
            let property = view.properties.iter().find(|property| roles.contains(&property.role))?;
            arguments.get(&property.name)?.as_str().map(str::to_owned)
        };
        earlier.path = earlier.path.or_else(|| value(&[Role::Path, Role::Source]));
        earlier.url = earlier.url.or_else(|| value(&[Role::Url]));
    }
    earlier
}

#[cfg(test)]
mod tests;
