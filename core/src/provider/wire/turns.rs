//! A history made ready for the wire formats that want every call answered directly after it.
//!
//! It says who speaks when and which result belongs to which call; how that is written is each format's own matter.

use crate::message::{AssistantMessage, Content, Message, ToolCall, ToolResult};
use crate::provider::ModelRequest;
use std::borrow::Cow;

/// What the model reads for a call that has no result in the history.
pub(crate) const NO_RESULT: &str = "no result was recorded for this call";
/// Stands for the user's words where a history starts with the model or holds no words of the user at all.
pub(crate) const LEFT_OUT: &str = "(earlier messages are left out)";
/// Asks a model to go on that does not take its own unfinished words as the last message.
pub(crate) const GO_ON: &str = "Go on.";

/// The history of one request.
pub(crate) struct Conversation<'a> {
    /// The system prompt and the system messages of the history.
    pub(crate) system: Cow<'a, str>,
    /// Who speaks when.
    pub(crate) turns: Vec<Turn<'a>>,
}

/// One step of a conversation.
pub(crate) enum Turn<'a> {
    /// The user speaks.
    User(&'a Content),
    /// The model speaks; when it calls tools, [`Turn::Results`] follows at once.
    Assistant(&'a AssistantMessage),
    /// One answer for every call of the turn before, in the order of the calls.
    Results(Vec<Answer<'a>>),
}

/// A call and what came of it.
pub(crate) struct Answer<'a> {
    /// The call.
    pub(crate) call: &'a ToolCall,
    /// Its result, if one was recorded.
    pub(crate) result: Option<&'a ToolResult>,
}

impl<'a> Conversation<'a> {
    /// Reads a request. Results without a call are left out, and so are all but the first result of a call.
    pub(crate) fn of(request: &'a ModelRequest) -> Self {
        let mut system = Cow::Borrowed(request.system.as_ref());
        let mut turns = Vec::with_capacity(request.messages.len());
        for (place, message) in request.messages.iter().enumerate() {
            match message {
                Message::System { content } => join_system(&mut system, content),
                Message::User { content } => turns.push(Turn::User(content)),
                Message::Assistant(said) => {
                    turns.push(Turn::Assistant(said));
                    if !said.calls.is_empty() {
                        let after = request.messages.get(place + 1..).unwrap_or_default();
                        turns.push(Turn::Results(answers(&said.calls, after)));
                    }
                }
                // Read with the calls that they belong to.
                Message::Tool { .. } => {}
            }
        }
        Self { system, turns }
    }
}

fn join_system<'a>(system: &mut Cow<'a, str>, more: &'a str) {
    if more.trim().is_empty() {
        return;
    }
    if system.is_empty() {
        *system = Cow::Borrowed(more);
    } else {
        let all = system.to_mut();
        all.push_str("\n\n");
        all.push_str(more);
    }
}

/// Finds the result of each call in the messages up to the model's next turn.
pub(crate) fn answers<'a>(calls: &'a [ToolCall], after: &'a [Message]) -> Vec<Answer<'a>> {
    let mut results: Vec<Option<&ToolResult>> = after
        .iter()
        .take_while(|message| !matches!(message, Message::Assistant(_)))
        .filter_map(|message| match message {
            Message::Tool { results } => Some(results.as_slice()),
            Message::System { .. } | Message::User { .. } | Message::Assistant(_) => None,
        })
        .flatten()
        .map(Some)
        .collect();
    calls
        .iter()
        .enumerate()
        .map(|(place, call)| {
            let fits = |slot: &Option<&ToolResult>| slot.is_some_and(|result| result.call_id == call.id);
            // Results stand in the order of the calls, save in histories made elsewhere.
            let place = if results.get(place).is_some_and(fits) { Some(place) } else { results.iter().position(fits) };
            let result = place.and_then(|place| results.get_mut(place)).and_then(Option::take);
            Answer { call, result }
        })
        .collect()
}

/// A tool name from another provider or from the model's fancy, with `_` for every character but letters, digits and
/// those in `more`, and at most 64 characters long.
pub(crate) fn legal_name<'a>(name: &'a str, more: &[char]) -> Cow<'a, str> {
    legal(name, more, "unknown")
}

/// The same for ids: letters, digits, `_` and `-`.
pub(crate) fn legal_id(id: &str) -> Cow<'_, str> {
    legal(id, &['-'], "call")
}

fn legal<'a>(text: &'a str, more: &[char], empty: &'a str) -> Cow<'a, str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || more.contains(&c);
    if text.is_empty() {
        Cow::Borrowed(empty)
    } else if text.len() <= 64 && text.chars().all(fits) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.chars().take(64).map(|c| if fits(c) { c } else { '_' }).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Arguments;
    use crate::provider::wire::sample::{request, result};

    fn call(id: &str) -> ToolCall {
        ToolCall { id: id.into(), ..ToolCall::from_wire(Some(id), "look", Ok(Arguments::empty())) }
    }

    fn told(request: &ModelRequest) -> Vec<String> {
        Conversation::of(request)
            .turns
            .iter()
            .map(|turn| match turn {
                Turn::User(content) => format!("user {}", content.as_text()),
                Turn::Assistant(said) => format!("assistant {}", said.content),
                Turn::Results(answers) => answers
                    .iter()
                    .map(|answer| {
                        let text = answer.result.map_or("-".into(), |result| result.content.as_text());
                        format!("{}={text} ", answer.call.id)
                    })
                    .collect(),
            })
            .collect()
    }

    #[test]
    fn results_meet_their_calls_whatever_their_order() {
        let calls = Message::Assistant(AssistantMessage {
            calls: vec![call("a"), call("b"), call("c")],
            ..AssistantMessage::default()
        });
        let request = request(vec![
            Message::user("go"),
            calls,
            Message::Tool { results: vec![result("b", "2"), result("stray", "0")] },
            Message::user("and?"),
            Message::Tool { results: vec![result("a", "1"), result("a", "again")] },
            Message::assistant("done"),
            Message::Tool { results: vec![result("c", "too late")] },
        ]);
        assert_eq!(told(&request), ["user go", "assistant ", "a=1 b=2 c=- ", "user and?", "assistant done"]);
    }

    #[test]
    fn repeated_ids_take_results_in_turn() {
        let said = AssistantMessage { calls: vec![call("a"), call("a")], ..AssistantMessage::default() };
        let results = Message::Tool { results: vec![result("a", "1"), result("a", "2")] };
        assert_eq!(told(&request(vec![Message::Assistant(said), results])), ["assistant ", "a=1 a=2 "]);
    }

    #[test]
    fn system_messages_join_the_prompt() {
        let request = request(vec![Message::system("Be brief."), Message::system(" "), Message::user("hi")]);
        assert_eq!(Conversation::of(&request).system, "Be kind.\n\nBe brief.");
    }

    #[test]
    fn names_and_ids_become_legal() {
        assert_eq!(legal_id("functions.x:0"), "functions_x_0");
        assert_eq!(legal_id("toolu_1-a"), "toolu_1-a");
        assert_eq!(legal_id(""), "call");
        assert_eq!(legal_name("my.tool é", &['.']), "my.tool__");
        assert_eq!(legal_name(&"x".repeat(100), &[]).len(), 64);
    }
}
