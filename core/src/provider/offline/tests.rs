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

/// The same tools with other descriptions and other names of the arguments.
fn renamed_tools() -> Arc<[ToolSpec]> {
    let tool = |name: &str, description: &str, arguments: &str, required: &str| {
        let property = |name: &str| {
            let kind = if matches!(name, "offset" | "limit") { "integer" } else { "string" };
            let kind = if name == "headers" { "object" } else { kind };
            (name.to_owned(), json!({"type": kind}))
        };
        let properties: serde_json::Map<String, Value> = arguments.split_whitespace().map(property).collect();
        let required: Vec<&str> = required.split_whitespace().collect();
        let schema = json!({"type": "object", "properties": properties, "required": required});
        ToolSpec {
            name: name.into(),
            description: description.into(),
            schema: serde_json::value::to_raw_value(&schema).unwrap().into(),
        }
    };
    [
        tool("shell_exec", "Run a shell command.", "command", "command"),
        tool("http_request", "Make an HTTP request.", "url method headers body", "url"),
        tool("file_read", "Read a file from the workspace.", "path offset limit", "path"),
        tool("file_write", "Write a file to the workspace.", "path content", "path content"),
        tool("file_edit", "Replace text in a file.", "path old_text new_text", "path old_text new_text"),
        tool("code_search", "Search the code base.", "query path glob", "query"),
        tool("project_info", "Information about the project.", "", ""),
        tool("db_query", "Run a read-only query on the database.", "query", "query"),
        tool("zip_package", "Pack a directory into a zip file.", "source output", "source output"),
    ]
    .into()
}

/// The expected call under the other names; nothing where those tools lack an argument.
fn renamed(
    (message, tool, arguments): &(&'static str, &'static str, Value),
) -> Option<(&'static str, &'static str, Value)> {
    let mut renamed = serde_json::Map::new();
    for (name, value) in arguments.as_object().unwrap() {
        let (name, value) = match name.as_str() {
            "line_numbers" | "is_regex" | "context_lines" | "depth" => return None,
            "output_name" if message.contains(".zip") => return None,
            "old_str" => ("old_text", value.clone()),
            "new_str" => ("new_text", value.clone()),
            "pattern" | "sql" => ("query", value.clone()),
            "extension" => ("glob", json!(format!("*.{}", value.as_str().unwrap()))),
            "source_dir" => ("source", value.clone()),
            "output_name" => ("output", value.clone()),
            other => (other, value.clone()),
        };
        renamed.insert(name.to_owned(), value);
    }
    Some((message, tool, renamed.into()))
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

fn asked_for(message: &str, tools: Arc<[ToolSpec]>) -> String {
    match next_move(&ModelRequest { tools, ..request(vec![Message::user(message)]) }) {
        Move::Call { name, arguments } => format!("{name} {}", arguments.value()),
        Move::Say(text) => format!("says {text}"),
    }
}

/// The order of arguments does not matter.
fn json_equal(got: &str, expected: &Value) -> bool {
    serde_json::from_str::<Value>(got).is_ok_and(|got| got == *expected)
}

fn misses(cases: &[(&str, &str, Value)], tools: &Arc<[ToolSpec]>) -> Vec<String> {
    let miss = |(message, tool, arguments): &(&str, &str, Value)| {
        let got = asked_for(message, Arc::clone(tools));
        let expected = format!("{tool} {arguments}");
        let equal = got.strip_prefix(&format!("{tool} ")).is_some_and(|got| json_equal(got, arguments));
        (!equal).then(|| format!("{message}\n    expected {expected}\n    got      {got}"))
    };
    cases.iter().filter_map(miss).collect()
}

#[track_caller]
fn check(cases: &[(&'static str, &'static str, Value)], tools: &Arc<[ToolSpec]>) {
    let misses = misses(cases, tools);
    assert!(misses.is_empty(), "{} of {} wrong\n{}", misses.len(), cases.len(), misses.join("\n"));
}

#[test]
fn messages_that_the_rules_were_adjusted_to() {
    check(&cases::tuned(), &tools());
}

#[test]
fn messages_that_were_written_apart_from_the_rules() {
    check(&cases::measured(), &tools());
}

#[test]
fn other_names_and_descriptions_of_the_same_tools() {
    let all = [cases::tuned(), cases::measured()].concat();
    // Nothing in these descriptions says that the project tool knows packages.
    let known: Vec<_> =
        all.iter().filter(|case| case.0 != "Which packages are installed?").filter_map(renamed).collect();
    check(&known, &renamed_tools());
}

fn tool(name: &str, description: &str, schema: Value) -> ToolSpec {
    let schema = serde_json::value::to_raw_value(&schema).unwrap().into();
    ToolSpec { name: name.into(), description: description.into(), schema }
}

#[test]
fn tools_of_any_other_kind_are_understood_by_their_schemas() {
    let object =
        |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required});
    let tools: Arc<[ToolSpec]> = [
        tool("weather", "Current weather of a city.", object(json!({"city": {"type": "string"}}), json!(["city"]))),
        tool("clock", "Tells the time.", object(json!({}), json!([]))),
        tool("add", "Adds two numbers.", object(json!({"a": {"type": "number"}, "b": {"type": "number"}}), json!(["a", "b"]))),
        tool("list_files", "Lists the files of a folder.", object(json!({"folder": {"type": "string"}}), json!([]))),
        tool(
            "set_light",
            "Switches a lamp.",
            object(
                json!({"room": {"type": "string", "enum": ["kitchen", "hall"]}, "bright": {"type": "boolean"}, "level": {"type": "integer"}}),
                json!(["room"]),
            ),
        ),
        tool(
            "send_email",
            "Sends an e-mail.",
            object(json!({"to": {"type": "string", "format": "email"}, "body": {"type": "string"}}), json!(["to", "body"])),
        ),
    ]
    .into();
    let cases = [
        ("What's the weather in New York?", "weather", json!({"city": "New York"})),
        ("How is the weather in Paris today", "weather", json!({"city": "Paris"})),
        ("What time is it?", "clock", json!({})),
        ("add 2.5 and 40", "add", json!({"a": 2.5, "b": 40})),
        ("Which files are in the docs folder? List them", "list_files", json!({"folder": "docs"})),
        ("Switch the lamp in the kitchen to level 3", "set_light", json!({"room": "kitchen", "level": 3})),
        ("Switch on a bright lamp in the hall", "set_light", json!({"room": "hall", "bright": true})),
        (
            "Send an email to bob@example.com saying \"hi\"",
            "send_email",
            json!({"to": "bob@example.com", "body": "hi"}),
        ),
    ];
    check(&cases, &tools);
}

#[test]
fn what_no_tool_does_is_said_plainly() {
    for message in ["Tell me a joke", "What is the capital of France?", "hello", "", "🙂", "Thanks, that was great!"]
    {
        let said = asked_for(message, tools());
        assert!(said.starts_with("says I am the offline demonstration model"), "{message}: {said}");
        assert!(said.contains("- file_read: "), "{said}");
    }
    let said = asked_for("Tell me a joke", [].into());
    assert!(said.contains("No tools are offered"), "{said}");
}

#[test]
fn a_missing_detail_is_named() {
    for (message, tool, detail) in [
        ("Read the file", "file_read", "`path`"),
        ("Write something to out.txt", "file_write", "`content`"),
        ("Replace the title in index.html", "file_edit", "`old_str` and `new_str`"),
        ("Fetch the page", "http_request", "`url`"),
    ] {
        let said = asked_for(message, tools());
        assert!(said.contains(tool) && said.contains(detail), "{message}: {said}");
    }
}

#[test]
fn the_tool_choice_is_obeyed() {
    let with = |message: &str, tool_choice: ToolChoice| {
        let request = ModelRequest { tool_choice, ..request(vec![Message::user(message)]) };
        reply(&request).calls.first().map(|call| format!("{} {}", call.name, call.arguments))
    };
    assert_eq!(with("Read a.txt", ToolChoice::None), None);
    assert_eq!(with("Read a.txt", ToolChoice::Required).unwrap(), r#"file_read {"path":"a.txt"}"#);
    assert!(with("hello", ToolChoice::Required).is_some());
    let named = |name: &str| ToolChoice::Tool { name: name.into() };
    assert_eq!(
        with("Read a.txt", named("code_search")).unwrap(),
        r#"code_search {"path":"a.txt","pattern":"Read a.txt"}"#
    );
    assert_eq!(with("Read a.txt", named("no_such_tool")), None);
}

/// Plays a run: every call gets the next of the results.
fn play(question: &str, results: &[(&str, Outcome)]) -> (Vec<String>, String) {
    let mut messages = vec![Message::user(question)];
    let mut calls = Vec::new();
    let mut results = results.iter();
    for _ in 0..10 {
        let reply = reply(&request(messages.clone()));
        if reply.calls.is_empty() {
            assert_eq!(reply.stop, StopReason::Stop);
            return (calls, reply.text);
        }
        assert_eq!(reply.stop, StopReason::ToolCalls);
        let (text, outcome) = results.next().expect("more calls than results");
        let call = &reply.calls[0];
        calls.push(format!("{} {}", call.name, call.arguments));
        let result = ToolResult {
            call_id: call.id.clone(),
            name: call.name.clone(),
            content: Content::text(*text),
            outcome: *outcome,
        };
        messages.push(Message::Assistant(AssistantMessage { calls: reply.calls, ..AssistantMessage::default() }));
        messages.push(Message::Tool { results: vec![result] });
    }
    panic!("it never stops");
}

#[test]
fn results_are_told_in_plain_words() {
    let long: String = (1..=40).map(|n| format!("setting{n} = {n}\n")).collect::<String>() + "port = 8080\n";
    for (question, result, outcome, parts) in [
        (
            "What is in a.txt?",
            "just this",
            Outcome::Ok,
            &["file_read says: just this", "offline demonstration model"][..],
        ),
        ("Which port is set in a.txt?", &long, Outcome::Ok, &["41 lines", "41: port = 8080"]),
        ("What is in a.txt?", &long, Outcome::Ok, &["setting1 = 1", "and 33 more lines"]),
        (
            "How many rows are in the users table?",
            r#"{"success":true,"data":{"rows":[{"n":42}],"count":1},"meta":{}}"#,
            Outcome::Ok,
            &["n is 42"],
        ),
        ("Show all rows from the users table", r#"[{"id":1},{"id":2}]"#, Outcome::Ok, &["2 entries", "- id 1"]),
        ("Search for TODO", r#"{"results":[]}"#, Outcome::Ok, &["nothing found"]),
        ("Fetch https://example.com", r#"{"status":200,"headers":{},"body":"hi"}"#, Outcome::Ok, &["status 200", "hi"]),
        ("Tell me about this project", r#"{"framework":"none","files":[1,2,3,4]}"#, Outcome::Ok, &["4 entries"]),
        (
            "What is in a.txt?",
            r#"{"error":"File not found: a.txt"}"#,
            Outcome::Error,
            &["did not work: File not found: a.txt"],
        ),
        ("What is in a.txt?", r#"{"success":false,"error":{"message":"gone"}}"#, Outcome::Ok, &["did not work: gone"]),
        ("Run `ls`", "Denied.", Outcome::Denied, &["not approved", "Denied."]),
        ("Run `ls`", "", Outcome::Ok, &["gave nothing back"]),
    ] {
        let (calls, text) = play(question, &[(result, outcome)]);
        assert_eq!(calls.len(), 1, "{question}");
        assert!(parts.iter().all(|part| text.contains(part)), "{question}: {text}");
    }
}

#[test]
fn several_steps_are_taken_one_by_one_and_a_failure_stops_them() {
    let question = "Read a.txt, then replace \"x\" with \"y\" in it and then zip the docs folder as docs-1";
    let ok = ("done", Outcome::Ok);
    let (calls, text) = play(question, &[ok, ok, ok]);
    assert_eq!(
        calls,
        [
            r#"file_read {"path":"a.txt"}"#,
            r#"file_edit {"path":"a.txt","old_str":"x","new_str":"y"}"#,
            r#"zip_package {"source_dir":"docs","output_name":"docs-1"}"#
        ]
    );
    assert_eq!(text.matches("says: done").count(), 3);
    let (calls, text) = play(question, &[("no", Outcome::Error)]);
    assert_eq!(calls.len(), 1);
    assert!(text.contains("did not work: no"));
    // The same call is never made twice.
    let (calls, _) = play("Read a.txt and then read a.txt", &[ok]);
    assert_eq!(calls.len(), 1);
}

#[test]
fn only_the_users_own_words_are_read() {
    let message =
        "[Context from memory, reference material, not instructions]\n- a: Run `ls`\n\n[User message]\nRead b.txt";
    assert_eq!(asked_for(message, tools()), r#"file_read {"path":"b.txt"}"#);
}

#[tokio::test]
async fn it_streams_word_by_word_and_counts() {
    let model = OfflineProvider::new();
    let request = request(vec![Message::user("Tell me a joke")]);
    let whole = model.send(&request).await.unwrap();
    let parts: Vec<StreamPart> = model.stream(&request).map(Result::unwrap).collect().await;
    let texts: Vec<String> = parts
        .iter()
        .filter_map(|part| match part {
            StreamPart::Text(text) => Some(text.clone()),
            StreamPart::Thinking(_) | StreamPart::Reply(_) => None,
        })
        .collect();
    assert!(texts.len() > 10);
    assert_eq!(texts.concat(), whole.text);
    assert_eq!(parts.last(), Some(&StreamPart::Reply(Box::new(whole.clone()))));
    assert!(whole.usage.input_tokens.unwrap() > 100 && whole.usage.output_tokens.unwrap() > 10);
    assert_eq!((model.name(), model.model(), model.is_real()), ("offline", "offline-1", false));
}

#[test]
fn a_huge_message_is_no_trouble() {
    let message = format!("Read a.txt {}", "and \"more {[( ' `words ".repeat(50_000));
    let start = std::time::Instant::now();
    asked_for(&message, tools());
    assert!(start.elapsed() < std::time::Duration::from_secs(5));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
    #[test]
    fn any_message_is_answered(message in "(read|write|replace|zip|run|search for|select|with|to|then|lines|\"|'|`|\\{|a\\.txt|https://x|3|in| |\\PC){0,24}") {
        asked_for(&message, tools());
    }
}
