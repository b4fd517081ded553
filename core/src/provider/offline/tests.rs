mod cases;

use super::*;
use crate::message::{AssistantMessage, Content, Outcome};
use crate::provider::{StopReason, ToolSpec};
use serde_json::json;
use std::sync::Arc;

/// Tools shaped like usual built-in ones.
fn tools() -> Arc<[ToolSpec]> {
    let string = json!({"type": "string"});
    let tool = |name: &str, description: &str, properties: Value, required: Value| ToolSpec {
        name: name.into(),
        description: description.into(),
        schema: serde_json::value::to_raw_value(
            &json!({"type": "object", "properties": properties, "required": required}),
        )
        .unwrap()
        .into(),
    };
    [
        tool(
            "shell_exec",
            "EXECUTE a shell command and return real stdout. Use for system state, versions, processes, dates.",
            json!({"command": string}),
            json!(["command"]),
        ),
        tool(
            "http_request",
            "FETCH a real HTTP response from a public URL (GET/POST). Use whenever the user asks to retrieve or check a URL.",
            json!({
                "url": string,
                "method": {"type": "string", "enum": ["GET", "POST"]},
                "body": {"type": "string", "description": "Request body, POST only."},
                "headers": {"type": "object", "additionalProperties": string},
            }),
            json!(["url"]),
        ),
        tool(
            "file_read",
            "READ real file contents from the workspace. Use whenever the user asks what is in a file or to summarise one.",
            json!({
                "path": string,
                "offset": {"type": "integer", "minimum": 1, "description": "First line, from 1."},
                "limit": {"type": "integer", "minimum": 1, "description": "Number of lines."},
                "line_numbers": {"type": "boolean"},
            }),
            json!(["path"]),
        ),
        tool(
            "file_write",
            "WRITE content to a file in the workspace, creating parent dirs as needed. Use whenever the user asks to save or persist text.",
            json!({"path": string, "content": string}),
            json!(["path", "content"]),
        ),
        tool(
            "file_edit",
            "Edit a file by replacing old_str with new_str. old_str must appear exactly once. Use for targeted fixes; use file_write only for whole new files.",
            json!({"path": string, "old_str": string, "new_str": string}),
            json!(["path", "old_str", "new_str"]),
        ),
        tool(
            "code_search",
            "Search file contents in the workspace for a literal text or a regular expression.",
            json!({
                "pattern": string,
                "path": string,
                "extension": string,
                "is_regex": {"type": "boolean"},
                "context_lines": {"type": "integer", "minimum": 0, "maximum": 5},
                "offset": {"type": "integer", "description": "Matches to skip."},
            }),
            json!(["pattern"]),
        ),
        tool(
            "project_info",
            "Describe the project: framework, installed packages and the file tree.",
            json!({"depth": {"type": "integer", "minimum": 1, "maximum": 4}}),
            json!([]),
        ),
        tool(
            "db_query",
            "EXECUTE a read-only SQL SELECT against the live DB and return real rows as JSON.",
            json!({"sql": string, "params": {"type": "array", "items": {}}}),
            json!(["sql"]),
        ),
        tool(
            "zip_package",
            "Create a zip archive of a directory.",
            json!({"source_dir": string, "output_name": string}),
            json!(["source_dir", "output_name"]),
        ),
    ]
    .into()
}

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        system: "s".into(),
        messages: messages.into(),
        tools: tools(),
        tool_choice: ToolChoice::Auto,
        options: Arc::default(),
    }
}

fn asked_for(message: &str) -> String {
    match next_move(&request(vec![Message::user(message)])) {
        Move::Call { name, arguments } => format!("{name} {}", arguments.value()),
        Move::Say(text) => format!("says {text}"),
    }
}

fn misses(cases: &[(&str, &str, Value)]) -> Vec<String> {
    let miss = |(message, tool, arguments): &(&str, &str, Value)| {
        let (expected, got) = (format!("{tool} {arguments}"), asked_for(message));
        (expected != got).then(|| format!("{message}\n    expected {expected}\n    got      {got}"))
    };
    cases.iter().filter_map(miss).collect()
}

#[test]
fn messages_that_the_rules_were_made_with() {
    let cases = cases::tuned();
    let misses = misses(&cases);
    println!("{} of {}\n{}", cases.len() - misses.len(), cases.len(), misses.join("\n"));
    assert!(misses.is_empty());
}

#[test]
fn messages_that_the_rules_were_not_made_with() {
    let cases = cases::held_out();
    let misses = misses(&cases);
    println!("{} of {}\n{}", cases.len() - misses.len(), cases.len(), misses.join("\n"));
    assert!(misses.len() * 10 <= cases.len());
}
