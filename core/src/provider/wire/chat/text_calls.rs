//! Calls that small local models write into their text instead of calling.
//!
//! Text is only taken for a call when nothing else stands in the reply, every tool in it was offered and all
//! arguments can be read. Anything less stays text: an answer that explains such a call, quotes one from a page or
//! shows it in a code block must never run a tool.

use crate::message::{Arguments, ToolCall};
use crate::provider::{ModelReply, ModelRequest, StopReason, ToolChoice};
use serde::Deserialize;
use serde_json::value::RawValue;

const OPEN: &str = "<tool_call>";
const CLOSE: &str = "</tool_call>";
/// Calls that one text may hold.
const MAX_CALLS: usize = 64;

/// Whether a reply that starts like this may be a call.
pub(super) fn may_be(text: &str) -> bool {
    let text = text.trim_start();
    [OPEN, "(((", "{"].iter().any(|start| start.starts_with(text) || text.starts_with(start))
}

/// Turns the text of a reply into calls where it is nothing but calls.
pub(super) fn read(request: &ModelRequest, mut reply: ModelReply) -> ModelReply {
    let wanted = reply.calls.is_empty() && request.tool_choice != ToolChoice::None && reply.stop == StopReason::Stop;
    if !wanted || request.tools.is_empty() {
        return reply;
    }
    let text = reply.text.trim();
    let Some(found) = tagged(text).or_else(|| bracketed(text)) else { return reply };
    let offered = |name: &str| request.tools.iter().any(|tool| *tool.name == *name);
    if found.is_empty() || !found.iter().all(|(name, _)| offered(name)) {
        return reply;
    }
    reply.calls = found.into_iter().map(|(name, arguments)| ToolCall::from_wire(None, &name, Ok(arguments))).collect();
    reply.text.clear();
    reply.stop = StopReason::ToolCalls;
    reply
}

#[derive(Deserialize)]
struct Written<'a> {
    name: String,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    parameters: Option<&'a RawValue>,
}

/// `<tool_call>{"name": …, "arguments": {…}}</tool_call>`, one or more; some models leave the opening tag out.
fn tagged(text: &str) -> Option<Vec<(String, Arguments)>> {
    let mut calls = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let body = rest.strip_prefix(OPEN).unwrap_or(rest);
        let (json, after) = body.split_once(CLOSE)?;
        let written: Written<'_> = serde_json::from_str(json.trim()).ok()?;
        let arguments = match written.arguments.or(written.parameters) {
            Some(arguments) => arguments.get().parse().ok()?,
            None => Arguments::empty(),
        };
        if calls.len() >= MAX_CALLS {
            return None;
        }
        calls.push((written.name, arguments));
        rest = after.trim_start();
    }
    Some(calls)
}

/// `(((name {…})))`.
fn bracketed(text: &str) -> Option<Vec<(String, Arguments)>> {
    let inner = text.strip_prefix("(((")?.strip_suffix(")))")?.trim();
    let (name, json) = inner.split_once(|c: char| c.is_whitespace() || c == '{').map(|(name, _)| {
        // The brace that ends the name belongs to the arguments.
        (name, inner.get(name.len()..).unwrap_or_default())
    })?;
    Some(vec![(name.to_owned(), json.parse().ok()?)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::{ModelOptions, ToolSpec};
    use std::sync::Arc;

    fn request(tools: &[&str], tool_choice: ToolChoice) -> ModelRequest {
        let schema: Arc<RawValue> = RawValue::from_string("{\"type\":\"object\"}".into()).unwrap().into();
        ModelRequest {
            system: "".into(),
            messages: Arc::default(),
            tools: tools
                .iter()
                .map(|name| ToolSpec { name: (*name).into(), description: "".into(), schema: Arc::clone(&schema) })
                .collect(),
            tool_choice,
            options: Arc::new(ModelOptions::default()),
        }
    }

    fn read_text(text: &str) -> ModelReply {
        read(&request(&["look", "delete"], ToolChoice::Auto), ModelReply::text(text))
    }

    #[test]
    fn reads_a_reply_that_is_nothing_but_calls() {
        for text in [
            r#"<tool_call>{"name":"look","arguments":{"a":1}}</tool_call>"#,
            "  <tool_call>\n{\"name\": \"look\", \"parameters\": {\"a\":1}}\n</tool_call>\n",
            "{\"name\":\"look\",\"arguments\":{\"a\":1}}\n</tool_call>",
            "(((look {\"a\":1})))",
            "(((look{\"a\":1})))",
        ] {
            let reply = read_text(text);
            assert_eq!(reply.calls.len(), 1, "{text}");
            assert_eq!(&*reply.calls[0].name, "look");
            assert_eq!(reply.calls[0].arguments.canonical(), r#"{"a":1}"#);
            assert_eq!((reply.text.as_str(), reply.stop), ("", StopReason::ToolCalls));
        }
        let two = r#"<tool_call>{"name":"look"}</tool_call><tool_call>{"name":"delete"}</tool_call>"#;
        assert_eq!(read_text(two).calls.len(), 2);
    }

    #[test]
    fn leaves_every_other_text_alone() {
        for text in [
            "To look, write <tool_call>{\"name\":\"look\"}</tool_call>",
            "<tool_call>{\"name\":\"look\"}</tool_call> That is how.",
            "```\n<tool_call>{\"name\":\"look\"}</tool_call>\n```",
            "<tool_call>{\"name\":\"look\"}",
            "<tool_call>{\"name\":\"shell\",\"arguments\":{}}</tool_call>",
            "<tool_call>{\"name\":\"look\"}</tool_call><tool_call>{\"name\":\"shell\"}</tool_call>",
            "<tool_call>{\"name\":\"look\",\"arguments\":\"x\"}</tool_call>",
            "(((delete {oops})))",
            "(((delete)))",
            "{\"name\":\"look\"}",
            "",
        ] {
            let reply = read_text(text);
            assert!(reply.calls.is_empty(), "{text}");
            assert_eq!(reply.text, text);
        }
        let call = r#"<tool_call>{"name":"look"}</tool_call>"#;
        assert!(read(&request(&["look"], ToolChoice::None), ModelReply::text(call)).calls.is_empty());
        assert!(read(&request(&[], ToolChoice::Auto), ModelReply::text(call)).calls.is_empty());
    }

    #[test]
    fn knows_when_text_can_no_longer_be_a_call() {
        for start in ["", " ", "<", "<tool_", "<tool_call>{\"na", "((", "(((look", "{\"name\""] {
            assert!(may_be(start), "{start}");
        }
        for start in ["Hello", "<b>", "(a", "```\n<tool_call>"] {
            assert!(!may_be(start), "{start}");
        }
    }
}
