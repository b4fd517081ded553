//! `cheliped agent`: answers, events, errors, exit codes.

use crate::Stage;
use serde_json::{Value, json};

const READS: &str = r#"[
    {"text": "I look.", "calls": [{"name": "file_read", "arguments": {"path": "notes.txt"}}]},
    {"text": "There is one note.", "usage": {"input_tokens": 40, "output_tokens": 5}}
]"#;

fn types(events: &[Value]) -> Vec<&str> {
    let mut types: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    types.dedup();
    types
}

#[test]
fn a_pipe_gets_the_answer_alone() {
    let stage = Stage::new(READS);
    stage.write("notes.txt", "buy milk\n");
    let ended = stage.agent(&["what", "is noted?"]).expect(0);
    assert_eq!(ended.out, "There is one note.\n");
    assert!(ended.err.starts_with("tool file_read path=notes.txt: ok, "), "{}", ended.err);
    assert_eq!(ended.err.lines().count(), 1);
    let quiet = stage.agent(&["--quiet", "what is noted?"]).expect(0);
    assert_eq!((quiet.out.as_str(), quiet.err.as_str()), ("There is one note.\n", ""));
    let run = stage.run(&["run", "what is noted?", "-p", "scripted:script.json", "-q"]).expect(0);
    assert_eq!(run.out, "There is one note.\n");
}

#[test]
fn json_has_one_event_a_line_and_ends_with_the_response() {
    let stage = Stage::new(READS);
    stage.write("notes.txt", "buy milk\n");
    let ended = stage.agent(&["--json", "what is noted?"]).expect(0);
    let events = ended.events();
    assert_eq!(
        types(&events),
        [
            "run_started",
            "iteration",
            "text_delta",
            "usage",
            "text_discarded",
            "tool_call_started",
            "tool_call_finished",
            "iteration",
            "text_delta",
            "usage",
            "finished"
        ]
    );
    let finished = &events.last().unwrap()["response"];
    assert_eq!(finished["text"], "There is one note.");
    assert_eq!(finished["tools_called"], json!(["file_read"]));
    assert_eq!(finished["usage"]["output_tokens"], 5);
    let result = events.iter().find(|event| event["type"] == "tool_call_finished").unwrap();
    assert_eq!((&result["outcome"], &result["result"]), (&json!("ok"), &json!("notes.txt: 1 line\n1: buy milk\n")));
    assert_eq!(ended.err, "");
}

#[test]
fn a_failed_run_says_its_code_and_what_to_do() {
    let stage = Stage::new(r#"[{"error": {"kind": "auth", "status": 401, "message": "bad key"}}]"#);
    let ended = stage.agent(&["hello"]).expect(1);
    assert_eq!(ended.out, "");
    assert!(ended.err.contains("bad key [provider]") && ended.err.contains("Check the API key"), "{}", ended.err);
    let ended = stage.agent(&["--json", "hello"]).expect(1);
    let last = ended.events().pop().unwrap();
    assert_eq!((&last["type"], &last["code"]), (&json!("failed"), &json!("provider")));
    assert_eq!(last["details"]["status"], 401);
}

#[test]
fn too_many_iterations_end_the_run() {
    let calls = r#"{"steps": [{"calls": [{"name": "project_info", "arguments": {}}]}], "repeat": true}"#;
    let ended = Stage::new(calls).agent(&["--max-iterations", "3", "go on"]).expect(1);
    assert!(ended.err.contains("[max_iterations]") && ended.err.contains("--max-iterations"), "{}", ended.err);
    assert_eq!(ended.err.matches("tool project_info").count(), 3);
}

#[test]
fn a_deadline_ends_the_run() {
    let stage = Stage::new(r#"[{"text": "late", "latency_ms": 60000}]"#);
    let ended = stage.agent(&["--timeout", "0.05", "hello"]).expect(1);
    assert!(ended.err.contains("[timeout]") && ended.err.contains("--timeout"), "{}", ended.err);
}

#[test]
fn a_failure_in_place_of_an_answer_is_no_success() {
    let call = r#"{"calls": [{"name": "file_read", "arguments": {"path": "none.txt"}}]}"#;
    let ended = Stage::new(&format!("[{call}, {call}]")).agent(&["hello"]).expect(1);
    assert!(ended.err.contains("not an answer"), "{}", ended.err);
}

#[test]
fn tools_see_the_root_and_nothing_above_it() {
    let script = r#"[
        {"calls": [{"name": "file_read", "arguments": {"path": "../secret.txt"}},
                   {"name": "file_read", "arguments": {"path": "a.txt"}}]},
        {"text": "done"}
    ]"#;
    let stage = Stage::new(script);
    stage.write("secret.txt", "outside");
    stage.write("sub/a.txt", "inside");
    let ended = stage.agent(&["--json", "--root", "sub", "hello"]).expect(0);
    assert!(!ended.out.contains("outside") && ended.out.contains("inside"), "{}", ended.out);
    let missing = stage.agent(&["--root", "nowhere", "hello"]).expect(2);
    assert!(missing.err.contains("nowhere") && missing.err.contains("--root"), "{}", missing.err);
}

#[test]
fn without_tools_none_is_offered() {
    let call = r#"{"calls": [{"name": "file_read", "arguments": {"path": "a"}}]}"#;
    let stage = Stage::new(&format!("[{call}, {call}, {{\"text\": \"plain\"}}]"));
    let ended = stage.agent(&["--no-tools", "hello"]).expect(1);
    assert!(ended.err.contains("not registered") && ended.err.contains("[unknown_tool]"), "{}", ended.err);
    stage.write("a", "here");
    assert_eq!(stage.agent(&["hello"]).expect(0).out, "plain\n");
}

#[test]
fn a_megabyte_is_a_message() {
    let stage = Stage::new(r#"[{"text": "that is long"}]"#);
    let message = "word ".repeat(210_000);
    stage.write("long.toml", "[guards]\nmax_message_length = 2000000\n");
    for arguments in [
        &["agent", "-", "--provider", "scripted:script.json", "--config", "long.toml"][..],
        &["agent", "-p", "scripted:script.json", "-c", "long.toml"],
    ] {
        let ended = stage.run_with(arguments, message.as_bytes()).expect(0);
        assert_eq!(ended.out, "that is long\n");
    }
    let ended = stage.run_with(&["agent", "-p", "scripted:script.json"], message.as_bytes()).expect(1);
    assert!(
        ended.err.contains("Message exceeds the maximum allowed length of 40000 characters. [guard]"),
        "{}",
        ended.err
    );
}

#[test]
fn what_is_no_text_is_a_usage_error() {
    let stage = Stage::new(r#"[{"text": "never"}]"#);
    let ended = stage.run_with(&["agent", "-", "-p", "scripted:script.json"], b"caf\xe9 au lait").expect(2);
    assert!(ended.err.contains("not UTF-8, from byte 4 on") && ended.err.contains("[configuration]"), "{}", ended.err);
    let ended = stage.run_with(&["agent", "--json", "-p", "scripted:script.json"], b"\xff").expect(2);
    let last = ended.events().pop().unwrap();
    assert_eq!((&last["type"], &last["code"]), (&json!("failed"), &json!("configuration")));
}

#[cfg(unix)]
#[test]
fn an_argument_that_is_no_text_is_a_usage_error() {
    use std::os::unix::ffi::OsStrExt;
    let stage = Stage::new(r#"[{"text": "never"}]"#);
    let mut command = stage.command(&["agent", "-p", "scripted:script.json"]);
    command.arg(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    let ended = crate::Ended::from(command.output().unwrap()).expect(2);
    assert!(ended.err.contains("not UTF-8, from byte 4 on"), "{}", ended.err);
}

#[test]
fn usage_is_explained() {
    let stage = Stage::new("[]");
    let help = stage.run(&["--help"]).expect(0);
    assert!(help.out.contains("Exit codes:") && help.out.contains("chat"), "{}", help.out);
    let version = stage.run(&["--version"]).expect(0);
    assert!(version.out.starts_with("cheliped "), "{}", version.out);
    let unknown = stage.run(&["agent", "--modle", "x"]).expect(2);
    assert!(unknown.err.contains("--model"), "{}", unknown.err);
    let empty = stage.run_with(&["agent", "-p", "offline"], b"\n").expect(2);
    assert!(empty.err.contains("empty"), "{}", empty.err);
    stage.run(&["agent", "--timeout", "soon", "x"]).expect(2);
    stage.run(&["agent", "--quiet", "--verbose", "x"]).expect(2);
}

#[test]
fn without_a_model_the_way_to_one_is_told() {
    let ended = Stage::new("[]").run(&["agent", "hello"]).expect(2);
    for word in ["ANTHROPIC_API_KEY", "--provider offline", "[configuration]"] {
        assert!(ended.err.contains(word), "{word}: {}", ended.err);
    }
    assert_eq!(ended.out, "");
}

#[test]
fn offline_answers_with_tools() {
    let stage = Stage::new("[]");
    stage.write("notes.txt", "buy milk\n");
    let ended = stage.run(&["agent", "--provider", "offline", "Read the file notes.txt"]).expect(0);
    assert!(ended.out.contains("buy milk"), "{}", ended.out);
    assert!(ended.err.contains("tool file_read path=notes.txt: ok"), "{}", ended.err);
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_is_no_error() {
    let stage = Stage::new(r#"[{"text": "a long answer"}]"#);
    let mut command = stage.command(&["agent", "-p", "scripted:script.json", "hello"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let ended = crate::Ended::from(command.stdout(writer).output().unwrap()).expect(0);
    assert_eq!(ended.err, "");
}
