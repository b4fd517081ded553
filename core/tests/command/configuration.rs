//! Configuration files: what counts, and how mistakes are told.

use crate::{Ended, Stage};
use std::io::{BufRead, BufReader, Read, Write};

const REPLIES: &str = r#"[{"text": "hello"}]"#;

#[test]
fn a_project_file_configures() {
    let stage = Stage::new(REPLIES);
    stage.write("cheliped.toml", "provider = \"scripted:script.json\"\ntools = false\n");
    assert_eq!(stage.run(&["agent", "hi"]).expect(0).out, "hello\n");
    // An option is stronger.
    let other = stage.run(&["agent", "--provider", "scripted:none.json", "hi"]).expect(2);
    assert!(other.err.contains("none.json"), "{}", other.err);
}

#[test]
fn a_user_file_configures() {
    let stage = Stage::new(REPLIES);
    stage.write("home/.config/cheliped/config.toml", "provider = \"scripted:script.json\"\n");
    assert_eq!(stage.run(&["agent", "hi"]).expect(0).out, "hello\n");
    let mut command = stage.command(&["agent", "hi"]);
    command.env("CHELIPED_PROVIDER", "nobody");
    let ended = Ended::from(command.output().unwrap()).expect(2);
    assert!(ended.err.contains("nobody"), "the environment is stronger than a file: {}", ended.err);
}

#[test]
fn a_named_file_is_the_only_one() {
    let stage = Stage::new(REPLIES);
    stage.write("cheliped.toml", "broken");
    stage.write("conf/mine.toml", "provider = \"scripted:script.json\"\nroot = \"..\"\n");
    assert_eq!(stage.run(&["agent", "--config", "conf/mine.toml", "hi"]).expect(0).out, "hello\n");
    let missing = stage.run(&["agent", "--config", "none.toml", "hi"]).expect(2);
    assert!(missing.err.contains("none.toml"), "{}", missing.err);
}

#[test]
fn mistakes_have_line_and_column() {
    for (text, says) in [
        (
            "provider = \"offline\"\nmodle = \"x\"\n",
            "cheliped.toml:2:1: unknown key \"modle\": did you mean \"model\"?",
        ),
        ("\nmax_iterations = \"ten\"\n", "cheliped.toml:2:18: \"max_iterations\" must be a whole number"),
        ("provider = \"offline\n", "cheliped.toml:1:"),
        ("api_key = \"sk-secret\"\n", "cheliped.toml:1:1: \"api_key\" does not belong into a file"),
        ("base_url = \"https://example.org\"\n", "cheliped.toml:1:12: \"base_url\" of a file that was found"),
    ] {
        let stage = Stage::new(REPLIES);
        stage.write("cheliped.toml", text);
        let ended = stage.run(&["agent", "hi"]).expect(2);
        assert!(ended.err.contains(says), "{text:?} gave {}", ended.err);
        assert!(!ended.err.contains("sk-secret"), "{}", ended.err);
        let json = stage.run(&["agent", "--json", "hi"]).expect(2);
        assert_eq!(json.events().pop().unwrap()["code"], "configuration");
    }
}

#[test]
fn a_key_comes_from_the_variable_that_is_named() {
    let stage = Stage::new(REPLIES);
    stage.write("mine.toml", "provider = \"openai\"\napi_key_env = \"MY_OWN_KEY\"\n");
    let ended = stage.run(&["agent", "-c", "mine.toml", "hi"]).expect(2);
    assert!(ended.err.contains("MY_OWN_KEY"), "{}", ended.err);
}

/// Serves one chat completion on this machine; gives the address, and later the request's head.
fn serve_once(answer: &'static str) -> (String, std::thread::JoinHandle<String>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(reader.read_line(&mut head).unwrap(), 0, "the request ends early: {head}");
        }
        let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
        reader.read_exact(&mut vec![0; length.unwrap()]).unwrap();
        let delta = format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"{answer}"}},"finish_reason":null}}]}}"#);
        let end = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
        let body = format!("data: {delta}\n\ndata: {end}\n\ndata: [DONE]\n\n");
        let head_of_answer = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        stream.write_all(format!("{head_of_answer}{body}").as_bytes()).unwrap();
        head
    });
    (address, served)
}

#[test]
fn a_server_of_this_machine_answers_with_the_key_that_is_named() {
    let (address, served) = serve_once("from the server");
    let stage = Stage::new(REPLIES);
    stage.write("mine.toml", format!("base_url = \"{address}\"\nmodel = \"m\"\napi_key_env = \"MY_OWN_KEY\"\n"));
    let mut command = stage.command(&["agent", "--verbose", "-c", "mine.toml", "hi"]);
    command.env("MY_OWN_KEY", "sk-own-1234567890").env("ANTHROPIC_API_KEY", "sk-other-1234567890");
    let ended = Ended::from(command.output().unwrap()).expect(0);
    assert_eq!(ended.out, "from the server\n");
    let head = served.join().unwrap();
    assert!(head.starts_with("POST /v1/chat/completions ") && head.contains("Bearer sk-own-1234567890"), "{head}");
    assert!(!head.contains("sk-other") && !ended.err.contains("sk-"), "{head}\n{}", ended.err);
}

#[test]
fn no_key_goes_where_a_project_wants_it() {
    let (address, served) = serve_once("from the project's server");
    let stage = Stage::new(REPLIES);
    let project = format!("provider = \"openai\"\nbase_url = \"{address}\"\nmodel = \"m\"\n");
    stage.write("cheliped.toml", &project);
    let mut command = stage.command(&["agent", "hi"]);
    command.env("OPENAI_API_KEY", "sk-other-1234567890");
    let ended = Ended::from(command.output().unwrap()).expect(0);
    assert_eq!(ended.out, "from the project's server\n");
    let head = served.join().unwrap();
    assert!(!head.contains("sk-other"), "{head}");
    stage.write("cheliped.toml", format!("{project}api_key_env = \"AWS_SECRET_ACCESS_KEY\"\n"));
    let refused = stage.run(&["agent", "hi"]).expect(2);
    assert!(refused.err.contains("cheliped.toml:4:15") && refused.err.contains("--config"), "{}", refused.err);
}

#[test]
fn a_server_that_is_not_there_is_told() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let stage = Stage::new(REPLIES);
    let ended = stage.run(&["agent", "--base-url", &address, "--model", "m", "hi"]).expect(1);
    assert!(ended.err.contains("[provider]") && ended.err.contains("--base-url"), "{}", ended.err);
}
