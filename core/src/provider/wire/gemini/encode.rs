//! Writes requests: the history becomes contents of user and model, and the responses to all calls of one turn stand
//! in one content of their own, directly after the calls.

use super::WIRE;
use crate::message::{AssistantMessage, Content, Data, Part, ToolCall};
use crate::provider::capability::{Capability, Effort, Thinking};
use crate::provider::wire::body::written;
use crate::provider::wire::raw::Raw;
use crate::provider::wire::turns::{Answer, Conversation, GO_ON, LEFT_OUT, NO_RESULT, Turn, legal_name};
use crate::provider::{ModelRequest, ProviderError, ToolChoice};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// What the API takes in place of the signature of a call that it did not make.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";
/// Budgets below this are no thinking.
const LEAST_BUDGET: u32 = 1024;
/// Tokens that a reply has beside its thinking, at least.
const ROOM_BESIDE_THINKING: u32 = 1000;
/// Characters of a tool name beside letters, digits and `_`.
const NAME_CHARS: &[char] = &['-', '.', ':'];

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Instruction<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<[Tools<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<ToolConfig<'a>>,
    contents: Vec<Said<'a>>,
    generation_config: GenerationConfig,
}

#[derive(Serialize)]
struct Instruction<'a> {
    parts: [WirePart<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<Declaration<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Declaration<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    parameters_json_schema: &'a RawValue,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolConfig<'a> {
    function_calling_config: CallingConfig<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallingConfig<'a> {
    mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed_function_names: Option<[&'a str; 1]>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig {
    max_output_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<ThinkingConfig>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ThinkingConfig {
    include_thoughts: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_budget: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_level: Option<&'static str>,
}

#[derive(Serialize)]
struct Said<'a> {
    role: Speaker,
    parts: Vec<WirePart<'a>>,
    /// Holds responses to calls: nothing else may join it.
    #[serde(skip)]
    closed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Speaker {
    User,
    Model,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum WirePart<'a> {
    Text(Cow<'a, str>),
    InlineData(Inline<'a>),
    FileData(Linked<'a>),
    FunctionResponse(Response<'a>),
    #[serde(untagged, rename_all = "camelCase")]
    Call {
        function_call: FunctionCall<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        thought_signature: Option<&'static str>,
    },
    /// A part that the API made, sent back as it came.
    #[serde(untagged)]
    Native(&'a RawValue),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Inline<'a> {
    mime_type: &'a str,
    data: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Linked<'a> {
    mime_type: &'a str,
    file_uri: &'a str,
}

#[derive(Serialize)]
struct FunctionCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: Cow<'a, str>,
    args: Raw<'a>,
}

#[derive(Serialize)]
struct Response<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: Cow<'a, str>,
    response: Given<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<WirePart<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Given<'a> {
    Output(Cow<'a, str>),
    Error(Cow<'a, str>),
}

/// Writes the body of a request.
pub(super) fn encode(model: &str, capability: &Capability, request: &ModelRequest) -> Result<Vec<u8>, ProviderError> {
    let options = &*request.options;
    let conversation = Conversation::of(request);
    let mut draft = Draft { model, capability, contents: Vec::with_capacity(conversation.turns.len()) };
    for (place, turn) in conversation.turns.iter().enumerate() {
        draft.turn(turn, conversation.turns.get(place + 1));
    }
    draft.close();
    let thinking = thinking(capability, options.thinking_budget);
    let least = if thinking.is_some() { options.thinking_budget.saturating_add(ROOM_BESIDE_THINKING) } else { 1 };
    let declarations = request.tools.iter().map(|tool| Declaration {
        name: &tool.name,
        description: &tool.description,
        parameters_json_schema: &tool.schema,
    });
    written(&Body {
        system_instruction: match conversation.system.as_ref() {
            blank if blank.trim().is_empty() => None,
            text => Some(Instruction { parts: [WirePart::Text(text.into())] }),
        },
        tools: (!request.tools.is_empty()).then(|| [Tools { function_declarations: declarations.collect() }]),
        tool_config: choice(request).map(|function_calling_config| ToolConfig { function_calling_config }),
        contents: draft.contents,
        generation_config: GenerationConfig {
            max_output_tokens: options.max_tokens.unwrap_or(capability.reply_tokens).max(least),
            temperature: options.temperature.filter(|_| capability.temperature),
            thinking_config: thinking,
        },
    })
}

/// How the model is asked to think; without it the model does what it does by default.
fn thinking(capability: &Capability, budget: u32) -> Option<ThinkingConfig> {
    if budget < LEAST_BUDGET {
        return None;
    }
    let (thinking_budget, thinking_level) = match capability.thinking {
        Thinking::None => return None,
        Thinking::Budget { least, most } => (Some(budget.clamp(least, most)), None),
        Thinking::Level { medium } => match Effort::of_budget(budget) {
            Effort::Medium if !medium => (None, Some(Effort::High.name())),
            effort => (None, Some(effort.name())),
        },
        Thinking::Adaptive { .. } => (None, Some(Effort::of_budget(budget).name())),
    };
    Some(ThinkingConfig { include_thoughts: true, thinking_budget, thinking_level })
}

fn choice(request: &ModelRequest) -> Option<CallingConfig<'_>> {
    if request.tools.is_empty() {
        return None;
    }
    match &request.tool_choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(CallingConfig { mode: "NONE", allowed_function_names: None }),
        ToolChoice::Required => Some(CallingConfig { mode: "ANY", allowed_function_names: None }),
        ToolChoice::Tool { name } => Some(CallingConfig { mode: "ANY", allowed_function_names: Some([name]) }),
    }
}

/// The part of a native part that tells whose call it is.
#[derive(Deserialize)]
struct Peek<'a> {
    #[serde(rename = "functionCall", default, borrow)]
    call: Option<PeekCall<'a>>,
}

#[derive(Deserialize)]
struct PeekCall<'a> {
    #[serde(default, borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    id: Option<Cow<'a, str>>,
}

/// The parts of a reply that this very model made, when the calls of the message are still theirs.
fn native<'a>(model: &str, said: &'a AssistantMessage) -> Option<Vec<&'a RawValue>> {
    let native = said.native.as_deref().filter(|native| &*native.wire == WIRE && &*native.model == model)?;
    let parts: Vec<&RawValue> = serde_json::from_str(&native.blocks).ok()?;
    let mut calls = said.calls.iter();
    for part in &parts {
        let peek: Peek<'_> = serde_json::from_str(part.get()).ok()?;
        if let Some(made) = peek.call {
            let call = calls.next()?;
            let id = made.id.as_deref().filter(|id| !id.is_empty());
            // Where the provider gave no id, calls and responses meet by name and order.
            let id_fits = id == call.provider_id.as_deref() && id.is_none_or(|id| id == &*call.id);
            if made.name.as_deref().unwrap_or_default() != &*call.name || !id_fits {
                return None;
            }
        }
    }
    (calls.next().is_none() && !parts.is_empty()).then_some(parts)
}

/// The id of a call on the wire: only where its provider gave one.
fn id_of(call: &ToolCall) -> Option<&str> {
    call.provider_id.as_deref().map(|given| if call.id.is_empty() { given } else { &*call.id })
}

/// How the calls of a turn are named on the wire, and so their responses.
#[derive(Clone, Copy)]
enum Names {
    AsTheyCame,
    Legal,
}

/// The contents as far as they are written.
struct Draft<'a, 'c> {
    model: &'c str,
    capability: &'c Capability,
    contents: Vec<Said<'a>>,
}

impl<'a> Draft<'a, '_> {
    fn turn(&mut self, turn: &Turn<'a>, next: Option<&Turn<'a>>) {
        match turn {
            Turn::User(content) => self.say(Speaker::User, parts_of(content), false),
            Turn::Assistant(said) => {
                let names = self.model_turn(said);
                if let Some(Turn::Results(answers)) = next {
                    self.responses(answers, names);
                }
            }
            // Written with the calls.
            Turn::Results(_) => {}
        }
    }

    /// Writes what the model said; tells how its calls are named.
    fn model_turn(&mut self, said: &'a AssistantMessage) -> Names {
        if let Some(parts) = native(self.model, said) {
            self.say(Speaker::Model, parts.into_iter().map(WirePart::Native).collect(), false);
            return Names::AsTheyCame;
        }
        let mut parts = Vec::with_capacity(said.calls.len() + 1);
        if !said.content.is_empty() {
            parts.push(WirePart::Text(said.content.as_ref().into()));
        }
        for (place, call) in said.calls.iter().enumerate() {
            parts.push(WirePart::Call {
                function_call: FunctionCall {
                    id: id_of(call),
                    name: legal_name(&call.name, NAME_CHARS),
                    args: Raw(call.arguments.as_str()),
                },
                // Of calls made together only the first is signed.
                thought_signature: (place == 0 && self.capability.signed_calls).then_some(NO_SIGNATURE),
            });
        }
        self.say(Speaker::Model, parts, false);
        Names::Legal
    }

    fn responses(&mut self, answers: &[Answer<'a>], names: Names) {
        let mut responses = Vec::with_capacity(answers.len());
        let mut beside = Vec::new();
        for answer in answers {
            let mut parts = Vec::new();
            let response = match answer.result {
                None => Given::Error(NO_RESULT.into()),
                Some(result) => {
                    if let Content::Parts(list) = &result.content {
                        parts.extend(list.iter().filter_map(media));
                    }
                    let text = result.content.as_text();
                    if result.is_error() { Given::Error(text) } else { Given::Output(text) }
                }
            };
            if !self.capability.media_in_results {
                beside.append(&mut parts);
            }
            let name = match names {
                Names::AsTheyCame => Cow::Borrowed(&*answer.call.name),
                Names::Legal => legal_name(&answer.call.name, NAME_CHARS),
            };
            responses.push(WirePart::FunctionResponse(Response { id: id_of(answer.call), name, response, parts }));
        }
        responses.append(&mut beside);
        self.say(Speaker::User, responses, true);
    }

    fn say(&mut self, role: Speaker, parts: Vec<WirePart<'a>>, closed: bool) {
        if parts.is_empty() {
            return;
        }
        if self.contents.is_empty() && role == Speaker::Model {
            self.contents.push(said_by_user(LEFT_OUT));
        }
        match self.contents.last_mut() {
            Some(last) if last.role == role && !last.closed && !closed => last.parts.extend(parts),
            Some(_) | None => self.contents.push(Said { role, parts, closed }),
        }
    }

    /// Gives the last content a form that the API takes.
    fn close(&mut self) {
        match self.contents.last() {
            None => self.contents.push(said_by_user(LEFT_OUT)),
            Some(last) if last.role == Speaker::Model => self.contents.push(said_by_user(GO_ON)),
            Some(_) => {}
        }
    }
}

fn said_by_user(text: &'static str) -> Said<'static> {
    Said { role: Speaker::User, parts: vec![WirePart::Text(text.into())], closed: false }
}

fn parts_of(content: &Content) -> Vec<WirePart<'_>> {
    let text = |text: &'_ str| -> Option<()> { (!text.is_empty()).then_some(()) };
    match content {
        Content::Text(words) => text(words).map(|()| WirePart::Text(words.as_ref().into())).into_iter().collect(),
        Content::Parts(parts) => parts
            .iter()
            .filter_map(|part| match part {
                Part::Text { text: words } => text(words).map(|()| WirePart::Text(words.as_ref().into())),
                Part::Image { .. } | Part::File { .. } => media(part),
            })
            .collect(),
    }
}

fn media(part: &Part) -> Option<WirePart<'_>> {
    let (mime_type, data) = match part {
        Part::Text { .. } => return None,
        Part::Image { media_type, data } | Part::File { media_type, data, .. } => (media_type.as_ref(), data),
    };
    Some(match data {
        Data::Base64(data) => WirePart::InlineData(Inline { mime_type, data }),
        Data::Url(url) => WirePart::FileData(Linked { mime_type, file_uri: url }),
    })
}
