//! Configuration files: what counts, and how mistakes are told.

use crate::{Ended, Stage};

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
