//! Every run vector, in each of its ways.

#![allow(clippy::unwrap_used, clippy::panic, reason = "what the tests share is test code too")]

use cheliped_tests::vector::{Case, Cut, File, check, play, read_all};
use std::collections::BTreeSet;

#[test]
fn every_vector() {
    let files = read_all().unwrap();
    let only = std::env::var("CHELIPED_VECTOR").ok();
    let (mut names, mut failures, mut count) = (BTreeSet::new(), Vec::new(), 0);
    for (path, file) in &files {
        for case in &file.cases {
            assert!(names.insert(&case.name), "two vectors are named {:?}", case.name);
            if only.as_ref().is_some_and(|only| !case.name.contains(only.as_str())) {
                continue;
            }
            count += 1;
            let problems = check(case);
            if !problems.is_empty() {
                let file = path.file_name().unwrap_or_default().to_string_lossy();
                failures.push(format!("{file}: {}\n{}", case.name, problems.join("\n")));
            }
        }
    }
    println!("{count} vectors in {} files", files.len());
    assert!(failures.is_empty(), "{} of {count} vectors failed\n\n{}", failures.len(), failures.join("\n\n"));
    assert!(only.is_some() || count >= 80, "only {count} vectors were found");
}

fn one(json: &str) -> File {
    serde_json::from_str(&format!(r#"{{"about": "a test of the runner", "cases": [{json}]}}"#)).unwrap()
}

#[test]
fn a_wrong_expectation_fails() {
    let right = r#"{"name": "n", "message": "hi", "script": [{"text": "hello"}], "expect": {"text": "hello",
        "tools_called": [], "events": ["agent.before", "agent.iteration", "provider.request", "provider.response",
        "agent.after"], "requests": [{"roles": ["user"], "last": "hi"}],
        "event_payloads": [{"event": "agent.before", "index": 0, "payload": {"message": "hi"}}]}}"#;
    assert_eq!(check(&one(right).cases[0]), Vec::<String>::new());
    for (from, to, said) in [
        (r#""text": "hello","#, r#""text": "hullo","#, "expected \"hullo\""),
        (r#""tools_called": []"#, r#""tools_called": ["t"]"#, "tools_called"),
        (r#", "agent.after"]"#, r#"]"#, "events"),
        ("provider.request", "provider.retry", "events"),
        (r#""roles": ["user"]"#, r#""roles": ["user", "tool"]"#, "requests[0].roles"),
        (r#""last": "hi""#, r#""lost": "hi""#, "requests[0].lost"),
        (r#""payload": {"message": "hi"}"#, r#""payload": {"message": "ho"}"#, "agent.before"),
        (r#""index": 0"#, r#""index": 1"#, "got      nothing"),
        (r#""index": 0"#, r#""indices": 0"#, "unknown key \"indices\""),
        (r#""expect": {"text": "hello","#, r#""expect": {"error": {"code": "guard"},"#, "error"),
        (r#""expect": {"text": "hello","#, r#""expect": {"text": "hello", "colour": 1,"#, "unknown key \"colour\""),
        (r#""expect": {"text": "hello","#, r#""expect": {"#, "expect either"),
    ] {
        let wrong = right.replace("\n        ", " ").replacen(from, to, 1);
        assert_ne!(wrong, right.replace("\n        ", " "), "{from}");
        let problems = check(&one(&wrong).cases[0]);
        assert!(problems.iter().any(|problem| problem.contains(said)), "{to}: {problems:?}");
    }
}

#[test]
fn an_unknown_key_fails() {
    for wrong in [
        r#"{"name": "n", "message": "hi", "script": [], "expect": {}, "colour": 1}"#,
        r#"{"name": "n", "message": "hi", "script": [], "expect": {}, "options": {"max_iteration": 1}}"#,
        r#"{"name": "n", "message": "hi", "script": [], "expect": {}, "tools": [{"name": "t", "efect": "mutating"}]}"#,
        r#"{"name": "n", "message": "hi", "script": [], "expect": {}, "tools": [{"name": "t", "returns": [{"txt": ""}]}]}"#,
        r#"{"name": "n", "message": "hi", "script": [], "expect": {}, "gate": {"decides": ["perhaps"]}}"#,
    ] {
        let file = format!(r#"{{"about": "", "cases": [{wrong}]}}"#);
        assert!(serde_json::from_str::<File>(&file).is_err(), "{wrong}");
    }
    let slip = r#"{"name": "n", "message": "hi", "script": [{"txt": "a"}], "expect": {"text": "", "events": [],
        "tools_called": []}}"#;
    assert!(check(&one(slip).cases[0]).iter().any(|problem| problem.contains("txt")));
}

/// The same case twice gives the same: nothing of a run depends on a clock, an id or chance.
#[test]
fn runs_are_reproducible() {
    let outcome = |case: &Case, mode| {
        let mut outcome = play(case, mode, Cut::Nowhere).unwrap().outcome.unwrap();
        for event in outcome["event_payloads"].as_array_mut().unwrap() {
            // Waits between retries are spread on purpose, and what they take is part of the duration.
            event["payload"].as_object_mut().unwrap().retain(|key, _| key != "wait_ms" && key != "duration_ms");
        }
        outcome.remove("duration_ms");
        outcome
    };
    for (_, file) in read_all().unwrap() {
        for case in &file.cases {
            for mode in case.modes() {
                assert_eq!(outcome(case, mode), outcome(case, mode), "{} {mode:?}", case.name);
            }
        }
    }
}
