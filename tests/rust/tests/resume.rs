//! Runs that stop somewhere and go on in another process.
//!
//! Every vector with tools is stopped after each save and during each event. What was saved last is continued by the
//! `resume` program, which must come to the same end as a run that nobody stopped.

#![allow(clippy::unwrap_used, clippy::panic, reason = "what the tests share is test code too")]

use cheliped::run::{CallStatus, Phase, RunState};
use cheliped_tests::vector::{Case, Cut, Mode, Played, World, play, read_all};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Another process.
struct Elsewhere {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Elsewhere {
    fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_resume"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    fn go_on(&mut self, file: &Path, case: &str, state: &str, world: &World) -> (Map<String, Value>, World) {
        let job = json!({"file": file, "case": case, "state": state, "world": world});
        writeln!(self.input, "{job}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let mut answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer.get("problem"), None, "{case}");
        (
            serde_json::from_value(answer["outcome"].take()).unwrap(),
            serde_json::from_value(answer["world"].take()).unwrap(),
        )
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Vectors whose place in the script follows from the history: one model, no failed requests.
fn suits(case: &Case) -> bool {
    let played = play(case, Mode::Send, Cut::Nowhere).unwrap();
    let outcome = played.outcome.unwrap();
    let failed = |name: &&String| name.starts_with("provider.retry") || name.starts_with("provider.fallback");
    case.has_tools()
        && !case.keeps_values_in_memory()
        && case.modes().contains(&Mode::Send)
        && !case.expect.contains_key("conversation")
        && played.events.len() <= 60
        && !played.events.iter().any(|name| failed(&name) || name == "provider.error")
        && !outcome["tool_inputs"].as_array().unwrap().is_empty()
        && !outcome["error"].as_object().is_some_and(|error| error["code"] == "timeout")
}

/// Places of calls that may have done their work when the run stopped, and must not be made again.
fn doubtful(state: &RunState, case: &Case) -> Vec<String> {
    let Phase::Calling(batch) = &state.phase else { return Vec::new() };
    let doubtful = batch.calls.iter().filter(|call| {
        call.status == CallStatus::Started
            && call.effect != cheliped::tool::Effect::ReadOnly
            && !case.is_idempotent(&call.call.name)
    });
    doubtful.map(|call| call.call.id.to_string()).collect()
}

const UNKNOWN: &str = r#"{"error":"started before the stop, outcome unknown"}"#;

/// What must be the same however often a run was stopped.
fn essence(outcome: &Map<String, Value>) -> Value {
    let keys = [
        "text",
        "error",
        "failed",
        "tools_called",
        "iterations",
        "usage",
        "steps",
        "stop_reason",
        "results",
        "history",
    ];
    keys.iter()
        .map(|key| ((*key).to_owned(), outcome.get(*key).cloned().unwrap_or_default()))
        .collect::<Map<_, _>>()
        .into()
}

#[derive(Default)]
struct Tally {
    vectors: usize,
    cuts: usize,
    resumed: usize,
    doubtful: usize,
    again: usize,
    changes: usize,
    problems: Vec<String>,
}

#[test]
fn names_without_values_reach_no_tool_elsewhere() {
    let mut elsewhere = Elsewhere::start();
    let mut told = 0;
    for (path, file) in read_all().unwrap() {
        for case in file.cases.iter().filter(|case| case.has_tools() && case.keeps_values_in_memory()) {
            let whole = play(case, Mode::Send, Cut::Nowhere).unwrap();
            for cut in (0..whole.events.len()).map(Cut::Event) {
                let stopped = play(case, Mode::Send, cut).unwrap();
                let Some(saved) = stopped.saves.last() else { continue };
                let started = stopped.world.tool_inputs.len();
                let (outcome, world) = elsewhere.go_on(&path, &case.name, &saved.state, &stopped.world);
                assert_eq!(world.tool_inputs.len(), started, "{} {cut:?}: {:?}", case.name, world.tool_inputs);
                told += usize::from(outcome["results"].to_string().contains("is not known any more"));
            }
        }
    }
    assert!(told > 0, "no run was told that a value is gone");
}

#[test]
fn every_cut_comes_to_the_same_end() {
    let mut elsewhere = Elsewhere::start();
    let mut tally = Tally::default();
    for (path, file) in read_all().unwrap() {
        for case in file.cases.iter().filter(|case| suits(case)) {
            tally.vectors += 1;
            let whole = play(case, Mode::Send, Cut::Nowhere).unwrap();
            // A reader of a stream may leave as well as a process.
            let live = play(case, Mode::Live, Cut::Nowhere).unwrap();
            for event in (0..live.events.len()).step_by(7) {
                tally.cuts += 1;
                go_on_after((Mode::Live, Cut::Event(event)), case, &path, &whole, &mut elsewhere, &mut tally);
            }
            let cuts = (0..whole.saves.len()).map(Cut::Save).chain((0..whole.events.len()).map(Cut::Event));
            for cut in cuts {
                tally.cuts += 1;
                go_on_after((Mode::Send, cut), case, &path, &whole, &mut elsewhere, &mut tally);
            }
        }
    }
    println!(
        "{} vectors, {} cuts, {} of them resumed, {} inside a started change, {} calls made again",
        tally.vectors, tally.cuts, tally.resumed, tally.doubtful, tally.again
    );
    assert!(tally.problems.is_empty(), "{} problems\n{}", tally.problems.len(), tally.problems.join("\n"));
    assert!(tally.vectors >= 20 && tally.doubtful >= 20 && tally.again >= 20 && tally.changes > 0);
}

fn go_on_after(
    (mode, cut): (Mode, Cut),
    case: &Case,
    path: &Path,
    whole: &Played,
    elsewhere: &mut Elsewhere,
    tally: &mut Tally,
) {
    let place = format!("{} {mode:?} {cut:?}", case.name);
    let stopped = play(case, mode, cut).unwrap();
    assert!(stopped.outcome.is_none(), "{place}: the run was not stopped");
    // Nothing was saved: the message is sent again, which is an undisturbed run.
    let Some(saved) = stopped.saves.last() else { return };
    let state: RunState = serde_json::from_str(&saved.state).unwrap();
    assert_eq!(serde_json::to_string(&state).unwrap(), saved.state, "{place}: a saved state reads back as it was");
    if let Phase::Failed { .. } = state.phase {
        return;
    }
    tally.resumed += 1;
    let doubtful = doubtful(&state, case);
    let started = stopped.world.tool_inputs.len();
    let (outcome, world) = elsewhere.go_on(path, &case.name, &saved.state, &stopped.world);

    // What had finished before the stop, and what may have, is never made again.
    let finished: BTreeSet<&str> = match &state.phase {
        Phase::Calling(batch) => {
            batch.calls.iter().filter(|call| call.result.is_some()).map(|call| &*call.call.id).collect()
        }
        _ => BTreeSet::new(),
    };
    let later = &world.tool_inputs[started..];
    let id = |key: &str| key.split_once(':').map(|(_, id)| id.to_owned()).unwrap_or_default();
    for input in later {
        assert!(!finished.contains(&*id(&input.key)), "{place}: {} was made again", input.tool);
        assert!(!doubtful.contains(&id(&input.key)), "{place}: {} may have been made twice", input.tool);
    }
    let again = later.iter().filter(|input| world.tool_inputs[..started].iter().any(|before| before.key == input.key));
    for input in again {
        tally.again += 1;
        tally.changes += usize::from(case.is_idempotent(&input.tool));
        let before = world.tool_inputs.iter().find(|before| before.key == input.key).unwrap();
        assert_eq!(before, input, "{place}: made again with other arguments or another key");
    }

    if doubtful.is_empty() {
        let (expected, seen) = (essence(whole.outcome.as_ref().unwrap()), essence(&outcome));
        for key in expected.as_object().unwrap().keys() {
            if expected[key] != seen[key] {
                tally.problems.push(format!("{place}: {key}\n  expected {}\n  got      {}", expected[key], seen[key]));
            }
        }
        return;
    }
    tally.doubtful += 1;
    let results = outcome["results"].as_array().unwrap();
    for call in &doubtful {
        let result = results.iter().find(|result| result["call_id"] == **call);
        let result = result.unwrap_or_else(|| panic!("{place}: {call} has no result"));
        assert_eq!((&result["content"], &result["outcome"]), (&json!(UNKNOWN), &json!("error")), "{place}");
    }
    let told = outcome["event_payloads"].as_array().unwrap().iter().any(|event| {
        event["event"] == "tool.error"
            && event["payload"]["error"] == "started before the stop, outcome unknown"
            && doubtful.iter().any(|call| event["payload"]["call_id"] == **call)
    });
    assert!(told, "{place}: no event tells of the unknown outcome");
    // The model goes on from there; it is scripted, so it says the same unless the failure itself was the answer.
    if whole.outcome.as_ref().unwrap()["failed"] == false {
        for key in ["text", "tools_called", "iterations", "usage"] {
            assert_eq!(outcome[key], whole.outcome.as_ref().unwrap()[key], "{place} {key}");
        }
    }
}

/// A second stop in the continued run changes nothing either.
#[test]
fn a_run_may_stop_at_every_save() {
    let mut elsewhere = Elsewhere::start();
    for (path, file) in read_all().unwrap() {
        for case in file.cases.iter().filter(|case| suits(case)).take(6) {
            let whole = play(case, Mode::Send, Cut::Nowhere).unwrap();
            // Every state that was ever saved can be continued, not only the last one before a stop.
            for saved in &whole.saves {
                let state: RunState = serde_json::from_str(&saved.state).unwrap();
                if !doubtful(&state, case).is_empty() || matches!(state.phase, Phase::Failed { .. }) {
                    continue;
                }
                let (outcome, _) = elsewhere.go_on(&path, &case.name, &saved.state, &World::default());
                let expected = whole.outcome.as_ref().unwrap();
                for key in ["iterations", "tools_called"] {
                    assert_eq!(outcome.get(key), expected.get(key), "{} {}", case.name, saved.what);
                }
            }
        }
    }
}
