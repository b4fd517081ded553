//! `cheliped chat` without a terminal: line by line.

use crate::Stage;

#[test]
fn every_line_is_a_message_of_one_conversation() {
    let stage = Stage::new(r#"[{"text": "one"}, {"text": "two"}]"#);
    let ended = stage.run_with(&["chat", "-p", "scripted:script.json"], b"first\n\nsecond\n").expect(0);
    assert_eq!((ended.out.as_str(), ended.err.as_str()), ("one\ntwo\n", ""));
    assert!(!stage.path().join("home").exists(), "a pipe leaves no history");
}

#[test]
fn a_failed_answer_does_not_end_the_talk() {
    let stage = Stage::new(r#"[{"error": {"kind": "server"}}, {"text": "two"}]"#);
    let ended = stage.run_with(&["chat", "-p", "scripted:script.json"], b"first\nsecond\n").expect(1);
    assert_eq!(ended.out, "two\n");
    assert!(ended.err.contains("[provider]"), "{}", ended.err);
}

#[test]
fn events_of_every_turn_are_lines() {
    let stage = Stage::new(r#"[{"text": "one"}, {"text": "two"}]"#);
    let ended = stage.run_with(&["chat", "--json", "-p", "scripted:script.json"], b"first\n/quit\nsecond\n").expect(0);
    let finished = ended.events().iter().filter(|event| event["type"] == "finished").count();
    assert_eq!(finished, 1);
}

#[test]
fn a_line_that_is_no_text_ends_the_talk() {
    let stage = Stage::new(r#"[{"text": "one"}]"#);
    let ended = stage.run_with(&["chat", "-p", "scripted:script.json"], b"caf\xe9\n").expect(2);
    assert!(ended.err.contains("not UTF-8"), "{}", ended.err);
}
