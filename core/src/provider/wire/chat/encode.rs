//! Writes a request as chat completions want it, straight into bytes.

use super::dialect::{AskThinking, Dialect, Files, Ids, Limit, Replay, ResultMedia, SystemPlace};
use super::dialect::{is_reasoning, takes_effort};
use crate::message::{AssistantMessage, Content, Message, Native, Part, ToolCall};
use crate::provider::wire::attachment;
use crate::provider::wire::body::written;
use crate::provider::wire::raw::Raw;
use crate::provider::wire::turns::{Answer, NO_RESULT, answers};
use crate::provider::{ModelRequest, ProviderError, ToolChoice, ToolSpec};
use serde::ser::{Error as _, SerializeSeq};
use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};
use std::borrow::Cow;

/// Budgets below this are off.
const LEAST_BUDGET: u32 = 1024;

/// Writes the body of a request.
pub(super) fn encode(
    dialect: &'static Dialect,
    model: &str,
    request: &ModelRequest,
    stream: bool,
) -> Result<Vec<u8>, ProviderError> {
    let options = &request.options;
    let reasoning_model = is_reasoning(model);
    let budget = Some(options.thinking_budget).filter(|budget| *budget >= LEAST_BUDGET);
    let limit_is_general = match dialect.limit {
        Limit::MaxTokens => false,
        Limit::MaxCompletionTokens => true,
        Limit::ByModel => reasoning_model,
    };
    let hide_tools = request.tool_choice == ToolChoice::None && !dialect.tool_choice;
    let tools: &[ToolSpec] = if hide_tools { &[] } else { &request.tools };
    let forced = !tools.is_empty() && matches!(request.tool_choice, ToolChoice::Required | ToolChoice::Tool { .. });
    let effort = budget.and_then(|budget| effort(dialect, model, budget));
    written(&Body {
        model,
        messages: Messages { dialect, model, request },
        max_tokens: options.max_tokens.filter(|_| !limit_is_general),
        max_completion_tokens: options.max_tokens.filter(|_| limit_is_general),
        temperature: options.temperature.filter(|_| !reasoning_model),
        reasoning_effort: effort,
        thinking: match dialect.thinking {
            // With thinking on, a forced tool is refused, and being forced is what the caller relies on.
            AskThinking::Switch if forced && !always_thinks(model) => Some(Switch { r#type: "disabled" }),
            AskThinking::Switch => budget.map(|_| Switch { r#type: "enabled" }),
            AskThinking::Effort | AskThinking::EffortAlways | AskThinking::High | AskThinking::Budget => None,
        },
        reasoning: match dialect.thinking {
            AskThinking::Budget => budget.map(|max_tokens| Budget { max_tokens }),
            AskThinking::Effort | AskThinking::EffortAlways | AskThinking::High | AskThinking::Switch => None,
        },
        tools: Tools(tools),
        tool_choice: match &request.tool_choice {
            _ if tools.is_empty() || !dialect.tool_choice => None,
            ToolChoice::Auto => None,
            ToolChoice::None => Some(Choice::Word("none")),
            ToolChoice::Required | ToolChoice::Tool { .. }
                if dialect.thinking == AskThinking::Switch && always_thinks(model) =>
            {
                None
            }
            ToolChoice::Required => Some(Choice::Word(dialect.required)),
            ToolChoice::Tool { name } => Some(Choice::Named { r#type: "function", function: Named { name } }),
        },
        stream,
        stream_options: (stream && dialect.stream_usage).then_some(StreamOptions { include_usage: true }),
    })
}

/// DeepSeek's older model that cannot be told not to think.
fn always_thinks(model: &str) -> bool {
    model.ends_with("reasoner")
}

fn effort(dialect: &Dialect, model: &str, budget: u32) -> Option<&'static str> {
    let by_budget = match budget {
        0..4096 => "low",
        4096..16384 => "medium",
        _ => "high",
    };
    match dialect.thinking {
        AskThinking::Effort => takes_effort(model).then_some(by_budget),
        AskThinking::EffortAlways => Some(by_budget),
        // Magistral thinks without being asked and has no such setting.
        AskThinking::High => (!model.starts_with("magistral")).then_some("high"),
        AskThinking::Switch | AskThinking::Budget => None,
    }
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Messages<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Switch>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Budget>,
    #[serde(skip_serializing_if = "Tools::is_empty")]
    tools: Tools<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Choice<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
}

#[derive(Serialize)]
struct Switch {
    r#type: &'static str,
}

#[derive(Serialize)]
struct Budget {
    max_tokens: u32,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Choice<'a> {
    Word(&'static str),
    Named { r#type: &'static str, function: Named<'a> },
}

#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
}

/// The tools as `{type, function: {name, description, parameters}}`, which Ollama wants too.
pub(in crate::provider::wire) struct Tools<'a>(pub(in crate::provider::wire) &'a [ToolSpec]);

impl Tools<'_> {
    pub(in crate::provider::wire) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Tools<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Tool<'a> {
            r#type: &'static str,
            function: Function<'a>,
        }
        #[derive(Serialize)]
        struct Function<'a> {
            name: &'a str,
            description: &'a str,
            parameters: &'a serde_json::value::RawValue,
        }
        serializer.collect_seq(self.0.iter().map(|tool| Tool {
            r#type: "function",
            function: Function { name: &tool.name, description: &tool.description, parameters: &tool.schema },
        }))
    }
}

/// One message of the list.
#[derive(Default, Serialize)]
struct Line<'a> {
    role: &'static str,
    content: Words<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_details: Option<Raw<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<Calls<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<Cow<'a, str>>,
}

#[derive(Default, Serialize)]
#[serde(untagged)]
enum Words<'a> {
    #[default]
    Null,
    Text(Cow<'a, str>),
    Pieces(Vec<Piece<'a>>),
    Raw(Raw<'a>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Piece<'a> {
    Text { text: Cow<'a, str> },
    ImageUrl { image_url: Address<'a> },
    File { file: FileData<'a> },
    DocumentUrl { document_url: Cow<'a, str>, document_name: &'a str },
}

#[derive(Serialize)]
struct Address<'a> {
    url: Cow<'a, str>,
}

#[derive(Serialize)]
struct FileData<'a> {
    filename: &'a str,
    file_data: Cow<'a, str>,
}

struct Calls<'a> {
    ids: Ids,
    calls: &'a [ToolCall],
}

impl Serialize for Calls<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Call<'a> {
            id: Cow<'a, str>,
            r#type: &'static str,
            function: Function<'a>,
        }
        #[derive(Serialize)]
        struct Function<'a> {
            name: &'a str,
            arguments: &'a str,
        }
        serializer.collect_seq(self.calls.iter().map(|call| Call {
            id: wire_id(self.ids, &call.id),
            r#type: "function",
            function: Function { name: &call.name, arguments: call.arguments.as_str() },
        }))
    }
}

/// The id of a call as this provider takes it: its own where that fits, otherwise one made from it, so that a call
/// and its result agree and the same history always gives the same request.
fn wire_id(ids: Ids, id: &str) -> Cow<'_, str> {
    let made = |length: usize| {
        const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
        Sha256::digest(id.as_bytes())
            .iter()
            .take(length)
            .filter_map(|byte| LETTERS.get(usize::from(byte % 32)))
            .map(|letter| char::from(*letter))
            .collect::<String>()
    };
    match ids {
        Ids::Short if !id.is_empty() && id.len() <= 40 => Cow::Borrowed(id),
        Ids::Short => Cow::Owned(format!("call_{}", made(24))),
        Ids::Nine if id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) => Cow::Borrowed(id),
        Ids::Nine => Cow::Owned(made(9)),
    }
}

struct Messages<'a> {
    dialect: &'static Dialect,
    model: &'a str,
    request: &'a ModelRequest,
}

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        let system = self.first_system();
        if !system.is_empty() {
            list.serialize_element(&Line { role: "system", content: Words::Text(system), ..Line::default() })?;
        }
        for (place, message) in self.request.messages.iter().enumerate() {
            match message {
                Message::System { content } => {
                    if self.dialect.system == SystemPlace::InPlace && !content.trim().is_empty() {
                        let content = Words::Text(Cow::Borrowed(content));
                        list.serialize_element(&Line { role: "system", content, ..Line::default() })?;
                    }
                }
                Message::User { content } => {
                    let content = self.words(content).map_err(S::Error::custom)?;
                    list.serialize_element(&Line { role: "user", content, ..Line::default() })?;
                }
                Message::Assistant(said) => {
                    if let Some(line) = self.assistant(said) {
                        list.serialize_element(&line)?;
                    }
                    if !said.calls.is_empty() {
                        let after = self.request.messages.get(place + 1..).unwrap_or_default();
                        self.results(&answers(&said.calls, after), &mut list)?;
                    }
                }
                // Written with the calls that they belong to; results without a call are left out.
                Message::Tool { .. } => {}
            }
        }
        list.end()
    }
}

impl<'a> Messages<'a> {
    /// The system prompt, with the system messages of the history where they may not stand inside it.
    fn first_system(&self) -> Cow<'a, str> {
        let mut system = Cow::Borrowed(self.request.system.as_ref());
        if self.dialect.system == SystemPlace::First {
            for message in self.request.messages.iter() {
                match message {
                    Message::System { content } if !content.trim().is_empty() => {
                        if system.is_empty() {
                            system = Cow::Borrowed(content);
                        } else {
                            let all = system.to_mut();
                            all.push_str("\n\n");
                            all.push_str(content);
                        }
                    }
                    Message::System { .. } | Message::User { .. } | Message::Assistant(_) | Message::Tool { .. } => {}
                }
            }
        }
        system
    }

    /// An assistant message, or nothing when there is nothing in it.
    fn assistant(&self, said: &'a AssistantMessage) -> Option<Line<'a>> {
        let native = said.native.as_deref().filter(|native| self.is_own(native));
        let mut line = Line { role: "assistant", ..Line::default() };
        let has_calls = !said.calls.is_empty();
        if !said.content.is_empty() || (has_calls && self.dialect.empty_text) {
            line.content = Words::Text(Cow::Borrowed(&said.content));
        }
        match (self.dialect.replay, native) {
            (Replay::Chunks, Some(native)) => line.content = Words::Raw(Raw(&native.blocks)),
            (Replay::Details, Some(native)) => line.reasoning_details = Some(Raw(&native.blocks)),
            (Replay::ReasoningContent, Some(native)) if has_calls => {
                line.reasoning_content = serde_json::from_str::<String>(&native.blocks).ok().map(Cow::Owned);
            }
            // Calls of another model have no reasoning here, and a model that thinks wants the field all the same.
            (Replay::ReasoningContent, None) if has_calls && !is_old_deepseek(self.model) => {
                line.reasoning_content = Some(Cow::Borrowed(""));
            }
            (Replay::ReasoningContent, _) | (Replay::Nothing, _) | (Replay::Chunks | Replay::Details, None) => {}
        }
        line.tool_calls = has_calls.then_some(Calls { ids: self.dialect.ids, calls: &said.calls });
        let is_empty = matches!(line.content, Words::Null) && !has_calls;
        (!is_empty).then_some(line)
    }

    fn is_own(&self, native: &Native) -> bool {
        *native.wire == *self.dialect.name && *native.model == *self.model
    }

    /// One tool message for every call, then what of the results only a user message may hold.
    fn results<L: SerializeSeq>(&self, answers: &[Answer<'a>], list: &mut L) -> Result<(), L::Error> {
        let mut pieces = Vec::new();
        for answer in answers {
            let content = match answer.result.map(|result| &result.content) {
                None => Words::Text(Cow::Borrowed(NO_RESULT)),
                Some(Content::Text(text)) => Words::Text(Cow::Borrowed(text)),
                Some(Content::Parts(parts)) => self.result(parts, answer, &mut pieces),
            };
            let tool_call_id = Some(wire_id(self.dialect.ids, &answer.call.id));
            list.serialize_element(&Line { role: "tool", content, tool_call_id, ..Line::default() })?;
        }
        if !pieces.is_empty() {
            list.serialize_element(&Line { role: "user", content: Words::Pieces(pieces), ..Line::default() })?;
        }
        Ok(())
    }

    /// The text of a result with other parts; these go to `later`, or a note tells what is missing.
    fn result(&self, parts: &'a [Part], answer: &Answer<'a>, later: &mut Vec<Piece<'a>>) -> Words<'a> {
        let mut pieces = Vec::with_capacity(parts.len());
        let mut text = String::new();
        for part in parts {
            let piece = self.piece(part).unwrap_or(Piece::Text { text: attachment::LEFT_OUT.into() });
            match (&piece, self.dialect.result_media) {
                (Piece::Text { text: more }, _) => {
                    text.push_str(more);
                    pieces.push(piece);
                }
                (_, ResultMedia::Inline) => pieces.push(piece),
                (_, ResultMedia::AfterResults | ResultMedia::LeftOut) => {
                    let label = format!("[from the result of {} ({})]", answer.call.name, answer.call.id);
                    later.push(Piece::Text { text: label.into() });
                    later.push(piece);
                }
            }
        }
        let only_text = pieces.iter().all(|piece| matches!(piece, Piece::Text { .. }));
        if !only_text {
            Words::Pieces(pieces)
        } else if text.is_empty() {
            Words::Text(Cow::Borrowed("(the result follows in the next message)"))
        } else {
            Words::Text(Cow::Owned(text))
        }
    }

    fn words(&self, content: &'a Content) -> Result<Words<'a>, String> {
        let parts = match content {
            Content::Text(text) => return Ok(Words::Text(Cow::Borrowed(text))),
            Content::Parts(parts) => parts,
        };
        // Text alone is a string, which every server takes.
        if parts.iter().all(|part| matches!(part, Part::Text { .. })) {
            return Ok(Words::Text(content.as_text()));
        }
        parts.iter().map(|part| self.piece(part)).collect::<Result<_, _>>().map(Words::Pieces)
    }

    fn piece(&self, part: &'a Part) -> Result<Piece<'a>, String> {
        let name = self.dialect.name;
        match part {
            Part::Text { text } => Ok(Piece::Text { text: Cow::Borrowed(text) }),
            Part::Image { media_type, data } if self.dialect.images => {
                Ok(Piece::ImageUrl { image_url: Address { url: attachment::address(media_type, data) } })
            }
            Part::Image { .. } => Err(format!("{name} takes no images; use a provider that does")),
            Part::File { media_type, name: filename, data } => {
                if let Some(text) = attachment::text_of(media_type, data) {
                    return Ok(Piece::Text { text: attachment::quoted(filename, &text).into() });
                }
                let address = || attachment::address(media_type, data);
                match (self.dialect.files, data) {
                    (Files::Documents, _) => {
                        Ok(Piece::DocumentUrl { document_url: address(), document_name: filename })
                    }
                    (Files::Parts, crate::message::Data::Base64(_)) => {
                        Ok(Piece::File { file: FileData { filename, file_data: address() } })
                    }
                    (Files::Parts, crate::message::Data::Url(_)) => {
                        Err(format!("{name} fetches no files; send the bytes of {filename:?} as base64"))
                    }
                    (Files::None, _) => Err(format!("{name} takes no files of type {media_type}; send their text")),
                }
            }
        }
    }
}

/// The names under which DeepSeek refused reasoning that was sent back.
fn is_old_deepseek(model: &str) -> bool {
    matches!(model, "deepseek-chat" | "deepseek-reasoner")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_fit_and_agree() {
        assert_eq!(wire_id(Ids::Nine, "abcDEF123"), "abcDEF123");
        let made = wire_id(Ids::Nine, "call_1").into_owned();
        assert_eq!(made.len(), 9);
        assert!(made.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        assert_eq!(wire_id(Ids::Nine, "call_1"), made);
        assert_ne!(wire_id(Ids::Nine, "call_2"), made);
        assert_eq!(wire_id(Ids::Short, "functions.x:0"), "functions.x:0");
        assert_eq!(wire_id(Ids::Short, &"x".repeat(64)).len(), 29);
    }
}
