//! Writes requests: the history becomes turns of user and assistant, every tool call is answered in the user turn that
//! follows it, and at most four places are marked for the cache.

use super::block::{Block, Mark, blocks_of, result_block, text, text_block};
use super::{LEAST_BUDGET, WIRE};
use crate::message::{Arguments, AssistantMessage};
use crate::provider::capability::{Capability, Effort, Thinking};
use crate::provider::wire::body::written;
use crate::provider::wire::raw::Raw;
use crate::provider::wire::turns::{Answer, Conversation, GO_ON, LEFT_OUT, Turn, legal_id, legal_name};
use crate::provider::{ModelRequest, ProviderError, ToolChoice, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashSet;

/// Tokens that a reply has beside its thinking, at least.
const ROOM_BESIDE_THINKING: u32 = 1000;
/// Keys that the API refuses at the root of a tool's schema. Arguments are checked against the whole schema anyway.
const REFUSED_AT_ROOT: &[&str] = &["anyOf", "oneOf", "allOf", "$ref"];

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<System<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Choice<'a>>,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<ThinkingConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stream: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum System<'a> {
    Plain(&'a str),
    Marked([Block<'a>; 1]),
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    input_schema: Cow<'a, RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Mark>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Choice<'a> {
    Auto,
    None,
    Any,
    Tool { name: &'a str },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ThinkingConfig {
    Enabled {
        budget_tokens: u32,
    },
    Adaptive {
        #[serde(skip_serializing_if = "Option::is_none")]
        display: Option<&'static str>,
    },
}

#[derive(Serialize)]
struct OutputConfig {
    effort: &'static str,
}

#[derive(Serialize)]
struct Message<'a> {
    role: Speaker,
    content: Vec<Block<'a>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Speaker {
    User,
    Assistant,
}

/// Writes the body of a request.
pub(super) fn encode(
    model: &str,
    capability: &Capability,
    request: &ModelRequest,
    stream: bool,
) -> Result<Vec<u8>, ProviderError> {
    let options = &*request.options;
    let conversation = Conversation::of(request);
    let plan = Plan::of(model, capability, request, &conversation.turns);
    let mark = options.prompt_cache.then_some(Mark {});
    let mut draft = Draft { model, messages: Vec::with_capacity(conversation.turns.len()), ids: HashSet::new() };
    for (place, turn) in conversation.turns.iter().enumerate() {
        draft.turn(turn, conversation.turns.get(place + 1));
    }
    draft.close(capability.prefill && matches!(plan, Plan::Off));
    if let Some(mark) = mark {
        draft.mark(mark);
    }
    let least = match plan {
        Plan::Off => 1,
        Plan::Budget(budget) | Plan::Adaptive { budget, .. } => budget.saturating_add(ROOM_BESIDE_THINKING),
    };
    let last_tool = request.tools.len().saturating_sub(1);
    let tool = |(place, tool)| Tool::of(tool, mark.filter(|_| place == last_tool));
    written(&Body {
        model,
        max_tokens: options.max_tokens.unwrap_or(capability.reply_tokens).max(least),
        system: match conversation.system.as_ref() {
            blank if blank.trim().is_empty() => None,
            text if mark.is_some() => Some(System::Marked([Block::Text { text: text.into(), cache_control: mark }])),
            text => Some(System::Plain(text)),
        },
        tools: request.tools.iter().enumerate().map(tool).collect(),
        tool_choice: choice(capability, request),
        messages: draft.messages,
        thinking: plan.config(),
        output_config: match plan {
            Plan::Off | Plan::Budget(_) => None,
            Plan::Adaptive { budget, .. } => Some(OutputConfig { effort: Effort::of_budget(budget).name() }),
        },
        temperature: options.temperature.filter(|_| capability.temperature && matches!(plan, Plan::Off)),
        stream,
    })
}

fn choice<'a>(capability: &Capability, request: &'a ModelRequest) -> Option<Choice<'a>> {
    if request.tools.is_empty() {
        return None;
    }
    Some(match &request.tool_choice {
        ToolChoice::Auto => Choice::Auto,
        ToolChoice::None => Choice::None,
        // A model that refuses to be forced still has the tools before it.
        ToolChoice::Required | ToolChoice::Tool { .. } if !capability.forced_tools => Choice::Auto,
        ToolChoice::Required => Choice::Any,
        ToolChoice::Tool { name } => Choice::Tool { name },
    })
}

impl<'a> Tool<'a> {
    fn of(tool: &'a ToolSpec, cache_control: Option<Mark>) -> Self {
        Self { name: &tool.name, description: &tool.description, input_schema: plain_root(&tool.schema), cache_control }
    }
}

/// The schema without what the API refuses at its root.
fn plain_root(schema: &RawValue) -> Cow<'_, RawValue> {
    let text = schema.get();
    // Most schemas hold none of the words anywhere and are not parsed.
    if !REFUSED_AT_ROOT.iter().any(|key| text.contains(key)) {
        return Cow::Borrowed(schema);
    }
    let Ok(root) = text.parse::<Arguments>() else { return Cow::Borrowed(schema) };
    let members = root.members();
    let kept = members.iter().filter(|(key, _)| !REFUSED_AT_ROOT.contains(&key.as_str()));
    let plain = Arguments::from_members(kept.map(|(key, value)| (key.as_str(), value.get())));
    RawValue::from_string(plain.as_str().to_owned()).map_or(Cow::Borrowed(schema), Cow::Owned)
}

/// How the model is asked to think in one request.
#[derive(Clone, Copy)]
enum Plan {
    Off,
    Budget(u32),
    Adaptive { budget: u32, hidden: bool },
}

impl Plan {
    fn of(model: &str, capability: &Capability, request: &ModelRequest, turns: &[Turn<'_>]) -> Self {
        let budget = request.options.thinking_budget;
        if budget < LEAST_BUDGET {
            return Self::Off;
        }
        match capability.thinking {
            Thinking::None | Thinking::Level { .. } => Self::Off,
            Thinking::Adaptive { hidden } => Self::Adaptive { budget, hidden },
            Thinking::Budget { least, most } => {
                let forced = match request.tool_choice {
                    ToolChoice::Required | ToolChoice::Tool { .. } => !request.tools.is_empty(),
                    ToolChoice::Auto | ToolChoice::None => false,
                };
                // With a budget the API refuses to force a tool, and refuses a tool loop whose last assistant turn
                // does not start with thinking; such a turn comes from another model.
                if forced || loop_without_thinking(model, turns) {
                    Self::Off
                } else {
                    Self::Budget(budget.clamp(least, most))
                }
            }
        }
    }

    fn config(self) -> Option<ThinkingConfig> {
        match self {
            Self::Off => None,
            Self::Budget(budget_tokens) => Some(ThinkingConfig::Enabled { budget_tokens }),
            Self::Adaptive { hidden, .. } => Some(ThinkingConfig::Adaptive { display: hidden.then_some("summarized") }),
        }
    }
}

fn loop_without_thinking(model: &str, turns: &[Turn<'_>]) -> bool {
    for turn in turns.iter().rev() {
        match turn {
            Turn::User(content) if content.is_blank() => {}
            Turn::User(_) => return false,
            Turn::Results(_) => {}
            Turn::Assistant(said) => {
                let first = native(model, said).and_then(|blocks| blocks.first().and_then(|block| Peek::at(block)));
                return !first.is_some_and(|first| matches!(first.kind, "thinking" | "redacted_thinking"));
            }
        }
    }
    false
}

/// The parts of a native block that decide whether it can go back.
#[derive(Deserialize)]
struct Peek<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(default, borrow)]
    id: Option<Cow<'a, str>>,
}

impl<'a> Peek<'a> {
    fn at(block: &'a RawValue) -> Option<Self> {
        serde_json::from_str(block.get()).ok()
    }
}

/// The blocks of a reply that this very model made, when the calls of the message are still theirs.
fn native<'a>(model: &str, said: &'a AssistantMessage) -> Option<Vec<&'a RawValue>> {
    let native = said.native.as_deref().filter(|native| &*native.wire == WIRE && &*native.model == model)?;
    let blocks: Vec<&RawValue> = serde_json::from_str(&native.blocks).ok()?;
    let mut calls = said.calls.iter();
    for block in &blocks {
        let peek = Peek::at(block)?;
        if peek.kind == "tool_use" {
            let call = calls.next()?;
            let id = peek.id.as_deref()?;
            if call.provider_id.as_deref() != Some(id) || &*call.id != id {
                return None;
            }
        }
    }
    (calls.next().is_none() && !blocks.is_empty()).then_some(blocks)
}

/// The messages as far as they are written.
struct Draft<'a> {
    model: &'a str,
    messages: Vec<Message<'a>>,
    /// Ids that calls have in this request.
    ids: HashSet<Cow<'a, str>>,
}

impl<'a> Draft<'a> {
    fn turn(&mut self, turn: &Turn<'a>, next: Option<&Turn<'a>>) {
        match turn {
            Turn::User(content) => self.say(Speaker::User, blocks_of(content)),
            Turn::Assistant(said) => {
                let answers = match next {
                    Some(Turn::Results(answers)) => answers.as_slice(),
                    Some(Turn::User(_) | Turn::Assistant(_)) | None => &[],
                };
                self.assistant(said, answers);
            }
            // Written with the calls, whose ids they share.
            Turn::Results(_) => {}
        }
    }

    fn assistant(&mut self, said: &'a AssistantMessage, answers: &[Answer<'a>]) {
        let mut seen = HashSet::new();
        let fresh = said.calls.iter().all(|call| !self.ids.contains(&*call.id) && seen.insert(&*call.id));
        let native = native(self.model, said).filter(|_| fresh);
        let (blocks, ids) = match native {
            Some(blocks) => {
                let ids: Vec<Cow<'a, str>> = said.calls.iter().map(|call| Cow::Borrowed(call.id.as_ref())).collect();
                self.ids.extend(ids.iter().cloned());
                (blocks.into_iter().map(Block::Native).collect(), ids)
            }
            None => {
                let ids: Vec<Cow<'a, str>> = said.calls.iter().map(|call| self.unused(legal_id(&call.id))).collect();
                let text = text_block(said.content.as_ref().into());
                let calls = said.calls.iter().zip(&ids).map(|(call, id)| Block::ToolUse {
                    id: id.clone(),
                    name: legal_name(&call.name, &['-']),
                    input: Raw(call.arguments.as_str()),
                });
                (text.into_iter().chain(calls).collect(), ids)
            }
        };
        self.say(Speaker::Assistant, blocks);
        let results = answers.iter().zip(ids).map(|(answer, id)| result_block(id, answer.result)).collect();
        self.say(Speaker::User, results);
    }

    /// The id, with a number behind it where another call of the request has it already.
    fn unused(&mut self, id: Cow<'a, str>) -> Cow<'a, str> {
        let mut unused = id.clone();
        let mut number = 2_u32;
        while !self.ids.insert(unused.clone()) {
            unused = Cow::Owned(format!("{id}_{number}"));
            number = number.saturating_add(1);
        }
        unused
    }

    fn say(&mut self, role: Speaker, content: Vec<Block<'a>>) {
        if content.is_empty() {
            return;
        }
        if self.messages.is_empty() && role == Speaker::Assistant {
            self.messages.push(Message { role: Speaker::User, content: vec![text(LEFT_OUT)] });
        }
        match self.messages.last_mut() {
            Some(last) if last.role == role => last.content.extend(content),
            Some(_) | None => self.messages.push(Message { role, content }),
        }
    }

    /// Gives the last message a form that the API takes.
    fn close(&mut self, prefill: bool) {
        if self.messages.is_empty() {
            self.say(Speaker::User, vec![text(LEFT_OUT)]);
        }
        let Some(last) = self.messages.last_mut().filter(|last| last.role == Speaker::Assistant) else { return };
        match last.content.last_mut() {
            // A reply that was paused goes back as it is.
            Some(Block::Native(_)) => {}
            Some(Block::Text { text, .. }) if prefill => {
                let end = text.trim_end().len();
                match text {
                    Cow::Borrowed(text) => *text = text.get(..end).unwrap_or(text),
                    Cow::Owned(text) => text.truncate(end),
                }
            }
            Some(_) | None => self.say(Speaker::User, vec![text(GO_ON)]),
        }
    }

    /// Marks the end of the last user turn, and of the one before it: the next request finds that one even when the
    /// turn between them has more blocks than the provider looks back over.
    fn mark(&mut self, mark: Mark) {
        let turns = self.messages.iter_mut().rev().filter(|message| message.role == Speaker::User);
        for block in turns.take(2).filter_map(|message| message.content.last_mut()) {
            match block {
                Block::Text { cache_control, .. }
                | Block::Image { cache_control, .. }
                | Block::Document { cache_control, .. }
                | Block::ToolResult { cache_control, .. } => *cache_control = Some(mark),
                Block::ToolUse { .. } | Block::Native(_) => {}
            }
        }
    }
}
