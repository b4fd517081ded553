//! Hooks and streams as a host uses them: who sees what, in which order, and how a slow reader slows the run.

#![allow(clippy::unwrap_used, reason = "what the tests share is test code too")]

use cheliped::Agent;
use cheliped::agent::{ResumeOptions, StreamEvent};
use cheliped::error::Error;
use cheliped::hooks::{EventName, Hook, RunEvent, hook_fn};
use cheliped::provider::{ScriptedProvider, Step};
use cheliped::run::{Checkpoint, RunState};
use cheliped::schema::Schema;
use cheliped::tool::{FnTool, tool_fn_with_schema};
use futures::future::BoxFuture;
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

type Seen = Arc<Mutex<Vec<String>>>;

fn note(seen: &Seen, label: &'static str) -> impl Hook + 'static {
    let seen = Arc::clone(seen);
    hook_fn(move |event: &RunEvent| seen.lock().unwrap().push(format!("{label} {}", event.name())))
}

fn look() -> FnTool {
    tool_fn_with_schema("look", "Looks.", Schema::empty().unwrap(), |_, _| async { Ok("seen") }).read_only()
}

#[tokio::test]
async fn lower_priority_sees_an_event_first() {
    let seen = Seen::default();
    let agent = Agent::builder()
        .provider(ScriptedProvider::new().reply("ok"))
        .hook(Some("agent.after"), 20, Arc::new(note(&seen, "late")))
        .hook(None, 10, Arc::new(note(&seen, "any")))
        .hook(Some("agent.after"), 5, Arc::new(note(&seen, "early")))
        .on("agent.after", note(&seen, "plain"))
        .on("no.such.event", note(&seen, "never"))
        .build()
        .unwrap();
    agent.send("go").await.unwrap();
    let seen = seen.lock().unwrap();
    let last: Vec<&str> = seen.iter().rev().take(4).rev().map(String::as_str).collect();
    assert_eq!(last, ["early agent.after", "any agent.after", "plain agent.after", "late agent.after"]);
    assert!(!seen.iter().any(|seen| seen.starts_with("never")));
}

#[tokio::test]
async fn tokens_are_told_to_those_who_ask_for_them() {
    let (named, any) = (Seen::default(), Seen::default());
    let model = ScriptedProvider::new().step(Step::default().chunks(["one ", "two"]));
    let agent = Agent::builder()
        .provider(model.clone())
        .on("provider.token", note(&named, "token"))
        .on_any(note(&any, "any"))
        .build()
        .unwrap();
    assert_eq!(agent.send("go").await.unwrap().text, "one two");
    assert!(!named.lock().unwrap().is_empty());
    assert!(!any.lock().unwrap().iter().any(|seen| seen.ends_with("provider.token")));
    assert!(model.requests()[0].streamed, "who wants tokens gets them as they come");
}

#[tokio::test]
async fn numbers_rise_by_one_and_both_views_agree() {
    let numbers = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&numbers);
    let model = ScriptedProvider::new().calls([("look", json!({"n": 1})), ("look", json!({"n": 2}))]).reply("ok");
    let agent = Agent::builder()
        .provider(model)
        .tool(look())
        .on_any(hook_fn(move |event: &RunEvent| seen.lock().unwrap().push((event.seq, event.kind.name()))))
        .build()
        .unwrap();
    agent.send("go").await.unwrap();
    let seen = numbers.lock().unwrap().clone();
    assert!(seen.iter().enumerate().all(|(place, (number, _))| *number == place as u64), "{seen:?}");
    assert_eq!(seen.iter().filter(|(_, name)| *name == EventName::ToolBefore).count(), 2);
}

/// A reader that waits holds the run back instead of letting events pile up.
#[tokio::test(start_paused = true)]
async fn a_slow_reader_slows_the_run() {
    let told = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&told);
    let words: Vec<String> = (0..1000).map(|number| format!("{number} ")).collect();
    let agent = Agent::builder()
        .provider(ScriptedProvider::new().step(Step::default().chunks(words)))
        .on("provider.token", hook_fn(move |_: &RunEvent| _ = count.fetch_add(1, Ordering::Relaxed)))
        .build()
        .unwrap();
    let mut stream = agent.stream("go");
    let mut read = 0;
    while let Some(event) = stream.next().await {
        if let StreamEvent::TextDelta { .. } = event.unwrap() {
            read += 1;
            tokio::time::sleep(Duration::from_millis(1)).await;
            let ahead = told.load(Ordering::Relaxed) - read;
            assert!(ahead <= 64, "{ahead} pieces are waiting for a slow reader");
        }
    }
    assert_eq!(read, 1000);
}

#[tokio::test]
async fn waiting_for_an_event_can_be_given_up_and_taken_up_again() {
    let step = Step::default().chunks(["one ", "two ", "three"]).gap(Duration::from_millis(20));
    let agent = Agent::builder().provider(ScriptedProvider::new().step(step)).build().unwrap();
    let mut stream = agent.stream("go");
    let mut text = String::new();
    loop {
        match tokio::time::timeout(Duration::from_millis(3), stream.next()).await {
            Err(_) => {}
            Ok(None) => break,
            Ok(Some(event)) => {
                if let StreamEvent::TextDelta { text: piece, .. } = event.unwrap() {
                    text.push_str(&piece);
                }
            }
        }
    }
    assert_eq!(text, "one two three");
}

/// Keeps the last state.
#[derive(Default)]
struct Keep(Mutex<Option<RunState>>);

impl Checkpoint for Keep {
    fn step_finished<'a>(&'a self, state: &'a RunState) -> BoxFuture<'a, Result<(), Error>> {
        *self.0.lock().unwrap() = Some(state.clone());
        Box::pin(std::future::ready(Ok(())))
    }
}

fn kept(system: &str, script: ScriptedProvider) -> (Agent, Arc<Keep>, Seen) {
    let (keep, seen) = (Arc::new(Keep::default()), Seen::default());
    let builder = Agent::builder().provider(script).system_prompt(system).tool(look());
    (builder.checkpoint(keep.clone()).on_any(note(&seen, "")).build().unwrap(), keep, seen)
}

#[tokio::test]
async fn a_resumed_run_tells_so_and_checks_its_configuration() {
    let script = || ScriptedProvider::new().call("look", json!({})).reply("ok");
    let (agent, keep, _) = kept("A", ScriptedProvider::new().call("look", json!({})));
    assert_eq!(agent.send("go").await.unwrap_err().code(), "provider");
    let state = keep.0.lock().unwrap().clone().unwrap();

    let (other, _, seen) = kept("B", script().by_turn());
    let error = other.resume(state.clone(), ResumeOptions::default()).await.unwrap_err();
    assert_eq!((error.code(), error.details()["run_id"].as_str()), ("run_state", Some(&*state.run_id)));
    assert!(error.to_string().contains("accept_changed_config"));
    assert!(seen.lock().unwrap().is_empty());

    let accept = ResumeOptions { accept_changed_config: true, ..ResumeOptions::default() };
    let response = other.resume(state.clone(), accept).await.unwrap();
    assert_eq!((&*response.text, &response.run_id), ("ok", &state.run_id));
    assert_eq!(seen.lock().unwrap()[..3], [" run.resumed", " agent.before", " agent.iteration"]);

    let old = RunState { format: 0, ..state };
    assert_eq!(other.resume(old, ResumeOptions::default()).await.unwrap_err().code(), "run_state");
}
