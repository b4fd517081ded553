//! The border to other languages, crossed by functions that stand in for a host.

#![allow(clippy::unwrap_used, clippy::panic, reason = "what the tests share is test code too")]

use cheliped::agent::IntoProvider;
use cheliped::error::BoxError;
use cheliped::host::{Assembly, Batch, Demand, Function, HostCall, HostFunction, request, script, stream, tool};
use cheliped::prompt::notice;
use cheliped::{Agent, Error};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

type Answer = dyn Fn(&Value) -> Result<String, BoxError> + Send + Sync;

/// A host function that answers at once and remembers what it was asked.
struct Canned {
    answer: Box<Answer>,
    asked: Mutex<Vec<String>>,
}

impl HostFunction for Canned {
    fn call(&self, call: HostCall) -> BoxFuture<'static, Result<String, BoxError>> {
        if let Some(progress) = &call.progress {
            progress.tell("one");
            progress.tell("two");
        }
        let answer = (self.answer)(&serde_json::from_str(&call.payload).unwrap());
        self.asked.lock().unwrap().push(call.payload);
        Box::pin(async { answer })
    }
}

fn function(answer: impl Fn(&Value) -> Result<String, BoxError> + Send + Sync + 'static) -> Arc<Canned> {
    Arc::new(Canned { answer: Box::new(answer), asked: Mutex::default() })
}

fn says(answer: &'static str) -> Arc<Canned> {
    function(move |_| Ok(answer.to_owned()))
}

fn assembly(options: &str, model: &str) -> Assembly {
    let mut assembly = Assembly::new(options).unwrap();
    assembly.provider(script(model).unwrap().into_choice());
    assembly
}

async fn send(agent: &Agent) -> Result<String, Error> {
    let request = request(r#"{"message": "hi", "context": {"user": "ada"}}"#)?;
    agent.send_with(request.message, request.context).await.map(|response| response.text)
}

const CALLS: &str =
    r#"[{"calls": [{"name": "t", "arguments": {"n": 123456789012345678901234567890}}]}, {"text": "done"}]"#;

#[tokio::test]
async fn a_tool_gets_every_digit_and_its_progress_comes_before_its_result() {
    let work = says(r#"{"ok": "result"}"#);
    let seen = function(|_| Ok("null".into()));
    let mut assembly = assembly("{}", CALLS);
    assembly.tool(tool(r#"{"name": "t", "schema": {}, "mutating": false}"#, work.clone() as Function).unwrap());
    assembly.function("hook", "{}", seen.clone()).unwrap();
    assert_eq!(send(&assembly.build().unwrap()).await.unwrap(), "done");
    assert!(work.asked.lock().unwrap()[0].contains("123456789012345678901234567890"));
    let events: Vec<String> = seen.asked.lock().unwrap().iter().map(|payload| name(payload)).collect();
    let tools: Vec<&str> = events.iter().map(String::as_str).filter(|name| name.starts_with("tool.")).collect();
    assert_eq!(tools, ["tool.before", "tool.progress", "tool.progress", "tool.after"]);
}

fn name(payload: &str) -> String {
    serde_json::from_str::<Value>(payload).unwrap()["event"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn answers_of_tools_are_read_and_others_stay_with_the_operator() {
    for (answer, given) in [
        (r#"{"ok": "fine"}"#, "fine"),
        (r#"{"error": {"kind": "failed", "message": "no such order"}}"#, "no such order"),
        (r#"{"refusal": {"content": "refused", "message": "why"}}"#, "refused"),
        ("7", notice::INTERNAL),
        ("", notice::INTERNAL),
        (r#"{"ok": 7}"#, notice::INTERNAL),
        (r#"{"secret": 1}"#, notice::INTERNAL),
    ] {
        let model = script(CALLS).unwrap();
        let mut assembly = Assembly::new("{}").unwrap();
        assembly.provider(model.clone().into_choice());
        assembly.tool(tool(r#"{"name": "t", "schema": {}}"#, says(answer) as Function).unwrap());
        send(&assembly.build().unwrap()).await.unwrap();
        let asked = model.requests();
        let told = asked[1].texts.last().unwrap();
        assert!(told.contains(given), "{answer}: {told}");
        assert!(!told.contains("secret"), "{told}");
    }
}

#[tokio::test]
async fn a_guard_passes_blocks_or_counts_as_a_block() {
    for (answer, blocked) in [("null", None), (r#""no""#, Some("no")), ("true", Some("failed")), ("{", Some("failed"))]
    {
        let mut assembly = assembly("{}", r#"[{"text": "done"}]"#);
        assembly.function("guard", r#"{"name": "g"}"#, says(answer)).unwrap();
        match (send(&assembly.build().unwrap()).await, blocked) {
            (Ok(text), None) => assert_eq!(text, "done"),
            (Err(Error::Guard { guard, reason, .. }), Some(expected)) => {
                assert_eq!(guard, "g");
                assert!(reason.contains(expected), "{reason}");
            }
            (other, _) => panic!("{answer}: {other:?}"),
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the host's own error")]
struct Own;

#[tokio::test]
async fn the_hosts_own_error_is_found_again() {
    let raises = || function(|_| Err(Box::new(Own)));
    let mut guarded = assembly("{}", r#"[{"text": "done"}]"#);
    guarded.function("guard", r#"{"name": "g"}"#, raises()).unwrap();
    let mut intercepted = assembly("{}", r#"[{"text": "done"}]"#);
    intercepted.function("interceptor", r#"{"name": "i", "points": ["before_model"]}"#, raises()).unwrap();
    let mut saved = assembly("{}", r#"[{"text": "done"}]"#);
    saved.function("checkpoint", "{}", raises()).unwrap();
    let mut provided = Assembly::new("{}").unwrap();
    provided.function("provider", r#"{"name": "p", "model": "m"}"#, raises()).unwrap();
    for assembly in [guarded, intercepted, saved, provided] {
        let error = send(&assembly.build().unwrap()).await.unwrap_err();
        let mut source = std::error::Error::source(&error);
        while let Some(inner) = source.filter(|inner| !inner.is::<Own>()) {
            source = inner.source();
        }
        assert!(source.is_some(), "{error:?}");
    }
}

#[tokio::test]
async fn a_provider_of_the_host_answers_with_a_step() {
    let model = function(|request| {
        let asked = request["messages"][0]["content"].as_str().unwrap_or_default();
        Ok(json!({"text": format!("you said {asked}"), "usage": {"input_tokens": 3}}).to_string())
    });
    let mut assembly = Assembly::new("{}").unwrap();
    assembly.function("provider", r#"{"name": "own", "model": "own-1"}"#, model).unwrap();
    assert_eq!(send(&assembly.build().unwrap()).await.unwrap(), "you said hi");

    let failing = says(r#"{"error": {"kind": "rate_limit", "message": "slow down"}}"#);
    let mut assembly = Assembly::new("{}").unwrap();
    assembly.function("provider", r#"{"name": "own", "model": "own-1"}"#, failing).unwrap();
    let error = send(&assembly.build().unwrap()).await.unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("provider", true));
}

#[tokio::test]
async fn an_interceptor_is_asked_at_its_points_only() {
    let interceptor = function(|shown| {
        Ok(match shown["point"].as_str() {
            Some("before_model") => {
                let mut request = shown["value"].clone();
                request["system"] = "changed".into();
                json!({"replace": request}).to_string()
            }
            _ => r#"{"replace": "other words"}"#.into(),
        })
    });
    let model = script(r#"[{"text": "done"}]"#).unwrap();
    let mut assembly = Assembly::new("{}").unwrap();
    assembly.provider(model.clone().into_choice());
    let settings = r#"{"name": "i", "points": ["before_model", "before_send"]}"#;
    assembly.function("interceptor", settings, interceptor.clone()).unwrap();
    assert_eq!(send(&assembly.build().unwrap()).await.unwrap(), "other words");
    assert_eq!(&*model.requests()[0].request.system, "changed");
    assert_eq!(interceptor.asked.lock().unwrap().len(), 2);
}

#[test]
fn wrong_settings_are_told_by_name() {
    let told = |error: Error| {
        assert_eq!(error.code(), "configuration");
        error.to_string()
    };
    let wrong = Assembly::new(r#"{"max_iterations": -1, "colour": 2, "env": {}}"#).unwrap_err();
    let text = told(wrong);
    assert!(text.contains("max_iterations") && text.contains("colour"), "{text}");
    for options in ["[]", "null", "{", r#"{"env": {"now": 1}}"#, r#"{"tool_timeout_ms": 1.5}"#] {
        told(Assembly::new(options).unwrap_err());
    }
    let mut assembly = Assembly::new("{}").unwrap();
    for (kind, settings) in [
        ("gate", "{}"),
        ("guard", "{}"),
        ("hook", r#"{"when": 1}"#),
        ("interceptor", r#"{"name": "i", "points": ["sometimes"]}"#),
        ("provider", "{}"),
    ] {
        told(assembly.function(kind, settings, says("null")).unwrap_err());
    }
    told(tool(r#"{"name": "t", "schema": []}"#, says("null") as Function).err().unwrap());
    told(tool(r#"{"name": "t"}"#, says("null") as Function).err().unwrap());
    told(request(r#"{"message": 7}"#).unwrap_err());
    told(request(r#"{"message": "a", "colour": 7}"#).unwrap_err());
    told(script(r#"[{"txt": 1}]"#).unwrap_err());
}

#[tokio::test]
async fn a_pump_gives_batches_and_ends_with_the_response() {
    let agent = assembly("{}", r#"[{"text": "a b c d e f g h"}]"#).build().unwrap();
    let mut batches = Vec::new();
    let demand = Demand::default();
    let more = demand.clone();
    let request = request(r#"{"message": "hi"}"#).unwrap();
    stream(&agent, request, None, false, demand, |batch| {
        more.more();
        batches.push(match batch {
            Batch::Events(events) | Batch::Finished(events, _) | Batch::Failed(events, _) => events,
        });
    })
    .await;
    let events: Vec<Value> =
        batches.iter().flat_map(|batch| serde_json::from_str::<Vec<Value>>(batch).unwrap()).collect();
    let types: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!((types[0], types[types.len() - 1]), ("run_started", "finished"));
    let text: String = events.iter().filter_map(|event| event["text"].as_str()).collect();
    assert_eq!(text, "a b c d e f g h");
    assert!(batches.len() < events.len(), "{} batches of {} events", batches.len(), events.len());
}

#[tokio::test]
async fn a_host_that_reads_nothing_can_still_cancel() {
    let agent =
        assembly("{}", r#"[{"text": "a b c d e f g h i j k l m n o p q r s t", "gap_ms": 1}]"#).build().unwrap();
    let request = request(r#"{"message": "hi"}"#).unwrap();
    let signal = request.context.signal.clone();
    let (sender, mut batches) = tokio::sync::mpsc::unbounded_channel();
    let running = tokio::spawn(async move {
        stream(&agent, request, None, false, Demand::default(), |batch| sender.send(batch).unwrap()).await;
    });
    batches.recv().await.unwrap();
    signal.cancel();
    tokio::time::timeout(std::time::Duration::from_secs(5), running).await.unwrap().unwrap();
    let mut last = None;
    while let Some(batch) = batches.recv().await {
        last = Some(batch);
    }
    assert!(matches!(last, Some(Batch::Failed(_, Error::Cancelled))), "{last:?}");
}

#[tokio::test]
async fn plain_text_is_never_taken_back() {
    let model = r#"[{"text": "Let me look.", "calls": [{"name": "t"}]}, {"text": "It is noon."}]"#;
    let mut assembly = assembly("{}", model);
    assembly.tool(tool(r#"{"name": "t", "schema": {}}"#, says(r#"{"ok": "12:00"}"#) as Function).unwrap());
    let agent = assembly.build().unwrap();
    let mut types = Vec::new();
    let mut text = String::new();
    stream(&agent, request(r#"{"message": "hi"}"#).unwrap(), None, true, Demand::default(), |batch| {
        let (Batch::Events(events) | Batch::Finished(events, _) | Batch::Failed(events, _)) = batch;
        for event in serde_json::from_str::<Vec<Value>>(&events).unwrap() {
            types.push(event["type"].as_str().unwrap().to_owned());
            text.push_str(event["text"].as_str().unwrap_or_default());
        }
    })
    .await;
    assert_eq!(text, "It is noon.");
    assert_eq!(types, ["text_delta", "finished"]);
}

/// A model whose defect is a panic; nothing between it and the host catches that.
struct Panics;

impl cheliped::provider::Provider for Panics {
    fn name(&self) -> &'static str {
        "p"
    }

    fn model(&self) -> &'static str {
        "m"
    }

    fn send<'a>(
        &'a self,
        _: &'a cheliped::provider::ModelRequest,
    ) -> BoxFuture<'a, Result<cheliped::provider::ModelReply, cheliped::provider::ProviderError>> {
        std::panic::resume_unwind(Box::new("a defect"))
    }
}

#[tokio::test]
async fn a_panic_ends_the_run_with_an_error() {
    let agent = Agent::builder().provider(Panics).build().unwrap();
    let message = || request(r#"{"message": "hi"}"#).unwrap();
    let error = cheliped::host::send(&agent, message(), None).await.unwrap_err();
    assert_eq!(error.code(), "internal");
    let mut last = None;
    stream(&agent, message(), None, false, Demand::default(), |batch| last = Some(batch)).await;
    let Some(Batch::Failed(events, error)) = last else { panic!("{last:?}") };
    assert_eq!(error.code(), "internal");
    assert!(events.contains("failed"), "{events}");
}

#[tokio::test]
async fn plain_text_that_had_to_be_taken_back_is_an_error() {
    let broken = json!([{"chunks": ["half ", "an answer"], "fail_after_chunks": 1}, {"text": "whole"}]).to_string();
    let agent = assembly(r#"{"max_retries": 1}"#, &broken).build().unwrap();
    let mut text = String::new();
    let mut last = None;
    stream(&agent, request(r#"{"message": "hi"}"#).unwrap(), None, true, Demand::default(), |batch| {
        let (Batch::Events(events) | Batch::Finished(events, _) | Batch::Failed(events, _)) = &batch;
        for event in serde_json::from_str::<Vec<Value>>(events).unwrap() {
            text.push_str(event["text"].as_str().unwrap_or_default());
        }
        last = Some(batch);
    })
    .await;
    assert_eq!(text, "half ");
    assert!(matches!(&last, Some(Batch::Failed(_, error)) if error.is_retryable()), "{last:?}");
}

#[test]
fn a_provider_that_is_left_to_the_environment_keeps_the_others_fallbacks() {
    let mut assembly = Assembly::new(r#"{"env": {"variables": {"CHELIPED_PROVIDER": "offline"}}}"#).unwrap();
    assembly.default_provider();
    assembly.provider(script(r#"[{"text": "spare"}]"#).unwrap().into_choice());
    assert_eq!(assembly.build().unwrap().provider_name(), "offline");
}
