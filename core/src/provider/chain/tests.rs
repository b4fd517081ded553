use super::*;
use crate::message::Message;
use crate::provider::{ScriptedError, ScriptedProvider, Step};
use futures::FutureExt;
use std::num::NonZeroU32;
use tokio::time::Instant;

/// Writes down what it is told.
#[derive(Default)]
struct Notes(Vec<String>);

impl Observer for Notes {
    async fn text(&mut self, text: String, attempt: u32) {
        self.0.push(format!("{attempt}:{text}"));
    }
    async fn thinking(&mut self, thinking: String, attempt: u32) {
        self.0.push(format!("{attempt}?{thinking}"));
    }
    async fn discard(&mut self, attempt: u32) {
        self.0.push(format!("discard {attempt}"));
    }
    async fn retry(&mut self, retry: Retry<'_>) {
        self.0.push(format!("retry {} {:?} {}ms", retry.attempt, retry.error.status, retry.wait.as_millis()));
    }
    async fn fallback(&mut self, fallback: Fallback<'_>) {
        self.0.push(format!("fallback {} {} {:?}", fallback.from, fallback.to, fallback.status));
    }
    async fn failed(&mut self, error: &ProviderError) {
        self.0.push(format!("failed {error}"));
    }
}

fn request() -> ModelRequest {
    ModelRequest {
        system: "".into(),
        messages: vec![Message::user("q")].into(),
        tools: [].into(),
        tool_choice: Default::default(),
        options: Arc::default(),
    }
}

fn status(status: u16) -> ScriptedError {
    let kind = match status {
        401 | 403 => ProviderErrorKind::Auth,
        429 => ProviderErrorKind::RateLimit,
        529 => ProviderErrorKind::Overloaded,
        500.. => ProviderErrorKind::Server,
        _ => ProviderErrorKind::InvalidRequest,
    };
    ScriptedError::new(kind, "scripted").status(status)
}

fn retries(max_retries: u32) -> RetryPolicy {
    RetryPolicy { max_retries, jitter: || 1.0 }
}

fn chain(members: &[&ScriptedProvider]) -> ModelChain {
    let mut members = members.iter().map(|member| Arc::new((*member).clone()) as Arc<dyn Provider>);
    let first = ModelChain::new(members.next().unwrap());
    members.fold(first, ModelChain::fallback)
}

fn model(name: &str) -> ScriptedProvider {
    ScriptedProvider::new().named(name, "m")
}

async fn ask(chain: &ModelChain, stream: bool) -> (Result<Served, ProviderError>, Vec<String>) {
    let mut notes = Notes::default();
    let result = chain.ask(&mut ChainSession::default(), &request(), stream, &mut notes).await;
    (result, notes.0)
}

#[tokio::test(start_paused = true)]
async fn without_retries_one_failure_is_the_end() {
    let a = model("a").fail(status(500)).reply("never");
    let (result, notes) = ask(&chain(&[&a]), false).await;
    assert_eq!(result.unwrap_err().to_string(), "a/m: scripted");
    assert_eq!(notes, ["failed a/m: scripted"]);
    assert_eq!(a.request_count(), 1);
}

#[tokio::test(start_paused = true)]
async fn retries_wait_longer_each_time() {
    let a = model("a").fail(status(500)).fail(status(529)).reply("yes");
    let start = Instant::now();
    let (result, notes) = ask(&chain(&[&a]).retry(retries(2)), false).await;
    let served = result.unwrap();
    assert_eq!((served.reply.text.as_str(), served.attempt, &*served.provider, &*served.model), ("yes", 3, "a", "m"));
    assert_eq!(notes, ["retry 1 Some(500) 500ms", "retry 2 Some(529) 1000ms"]);
    assert_eq!(start.elapsed(), Duration::from_millis(1500));
}

#[tokio::test(start_paused = true)]
async fn an_asked_wait_is_waited_and_a_long_one_returned() {
    let later = |seconds| ScriptedError { retry_after: Some(Duration::from_secs(seconds)), ..status(429) };
    let a = model("a").fail(later(20)).reply("yes");
    let start = Instant::now();
    ask(&chain(&[&a]).retry(retries(1)), false).await.0.unwrap();
    assert_eq!(start.elapsed(), Duration::from_secs(20));

    let a = model("a").fail(later(3600)).reply("never");
    let (result, _) = ask(&chain(&[&a]).retry(retries(5)), false).await;
    let error = result.unwrap_err();
    assert_eq!(error.retry_after, Some(Duration::from_secs(3600)));
    assert_eq!(error.message, "scripted; not tried again: the provider asks to wait 3600 s");
    assert_eq!(a.request_count(), 1);
}

#[tokio::test(start_paused = true)]
async fn errors_of_the_request_are_neither_retried_nor_passed_on() {
    for code in [400, 401, 403, 404] {
        let (a, b) = (model("a").fail(status(code)), model("b").reply("never"));
        let (result, notes) = ask(&chain(&[&a, &b]).retry(retries(3)), true).await;
        assert_eq!(result.unwrap_err().status, Some(code));
        assert_eq!(notes, ["failed a/m: scripted"]);
        assert_eq!((a.request_count(), b.request_count()), (1, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn a_rejected_tool_call_goes_back_to_the_run_without_a_word() {
    let rejected = ScriptedError { rejected_tool_call: true, ..status(500) };
    let (a, b) = (model("a").fail(rejected), model("b").reply("never"));
    let (result, notes) = ask(&chain(&[&a, &b]).retry(retries(3)), false).await;
    assert!(result.unwrap_err().rejected_tool_call);
    assert!(notes.is_empty());
    assert_eq!(b.request_count(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_next_member_answers_and_keeps_the_run() {
    let a = model("a").fail(status(500)).reply("a is back");
    let b = model("b").reply("b 1").fail(status(503)).repeat_last();
    let chain = chain(&[&a, &b]);
    let mut session = ChainSession::default();
    let mut notes = Notes::default();
    let served = chain.ask(&mut session, &request(), false, &mut notes).await.unwrap();
    assert_eq!((&*served.provider, served.attempt), ("b", 2));
    assert_eq!(&**chain.serving(&session).0, "b");
    // The second call begins with b, and comes round to a.
    let served = chain.ask(&mut session, &request(), false, &mut notes).await.unwrap();
    assert_eq!((&*served.provider, served.reply.text.as_str()), ("a", "a is back"));
    assert_eq!(notes.0, ["fallback a b Some(500)", "fallback b a Some(503)"]);
    assert_eq!((a.request_count(), b.request_count()), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn when_all_fail_each_is_named() {
    let (a, b) = (model("a").fail(status(500)), model("b").fail(status(503)));
    let (result, notes) = ask(&chain(&[&a, &b]), false).await;
    let error = result.unwrap_err();
    assert_eq!(error.message, "Every provider in the chain failed: a/m (status 500); b/m (status 503)");
    assert_eq!((error.status, error.retryable), (Some(503), true));
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "b/m: scripted");
    assert_eq!(notes.len(), 2);
    assert!(notes[1].starts_with("failed b/m: Every provider"));
}

#[tokio::test(start_paused = true)]
async fn a_retry_is_a_new_pass_over_all_members() {
    let (a, b) = (model("a").fail(status(500)).reply("yes"), model("b").fail(status(503)));
    let (result, notes) = ask(&chain(&[&a, &b]).retry(retries(1)), false).await;
    assert_eq!(result.unwrap().attempt, 3);
    assert_eq!(notes, ["fallback a b Some(500)", "retry 1 Some(503) 500ms"]);
}

#[tokio::test(start_paused = true)]
async fn what_a_broken_stream_gave_is_taken_back_before_anything_follows() {
    let broken = Step::text("Half an answer").thinking("hm").fail_after(2, status(500));
    let a = model("a").step(broken.clone()).step(broken);
    let b = model("b").fail(status(503)).reply("whole");
    let (result, notes) = ask(&chain(&[&a, &b]).retry(retries(1)), true).await;
    assert_eq!(result.unwrap().attempt, 4);
    assert_eq!(
        notes,
        [
            "1?hm",
            "1:Half ",
            "1:an ",
            "discard 1",
            "fallback a b Some(500)",
            "retry 1 Some(503) 500ms",
            "3?hm",
            "3:Half ",
            "3:an ",
            "discard 3",
            "fallback a b Some(500)",
            "4:whole",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_final_failure_after_deltas_takes_them_back_too() {
    let a = model("a").step(Step::text("Half an answer").fail_after(1, status(400)));
    let (_, notes) = ask(&chain(&[&a]), true).await;
    assert_eq!(notes, ["1:Half ", "discard 1", "failed a/m: scripted"]);
}

#[tokio::test(start_paused = true)]
async fn a_whole_reply_has_a_time_limit_and_a_streamed_one_has_none() {
    let slow = || model("a").step(Step::text("late").latency(Duration::from_secs(500)));
    let (result, _) = ask(&chain(&[&slow()]), false).await;
    let error = result.unwrap_err();
    assert_eq!((error.kind, error.status, error.retryable), (ProviderErrorKind::Timeout, None, true));
    assert!(error.message.contains("120 s"), "{}", error.message);
    assert_eq!(ask(&chain(&[&slow()]), true).await.0.unwrap().reply.text, "late");
    assert_eq!(ask(&chain(&[&slow()]).call_timeout(None), false).await.0.unwrap().reply.text, "late");
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_just_ends_is_a_failure() {
    struct Mute;
    impl Provider for Mute {
        fn name(&self) -> &str {
            "mute"
        }
        fn model(&self) -> &str {
            "m"
        }
        fn send<'a>(
            &'a self,
            _: &'a ModelRequest,
        ) -> futures::future::BoxFuture<'a, Result<ModelReply, ProviderError>> {
            Box::pin(std::future::pending())
        }
        fn stream<'a>(
            &'a self,
            _: &'a ModelRequest,
        ) -> futures::stream::BoxStream<'a, Result<StreamPart, ProviderError>> {
            futures::stream::empty().boxed()
        }
    }
    let (result, _) = ask(&ModelChain::new(Arc::new(Mute)), true).await;
    let error = result.unwrap_err();
    assert_eq!((error.kind, error.provider.as_str()), (ProviderErrorKind::Server, "mute"));
}

#[tokio::test(start_paused = true)]
async fn the_throttle_refuses_without_a_request_and_is_retried_like_any_failure() {
    let a = model("a").reply("1").reply("2").reply("3");
    let throttle = |per_minute, wait| Arc::new(Throttle::new(NonZeroU32::new(per_minute).unwrap(), wait));
    let strict = chain(&[&a]).throttle(throttle(1, Duration::ZERO));
    ask(&strict, false).await.0.unwrap();
    let (result, notes) = ask(&strict, false).await;
    let error = result.unwrap_err();
    assert_eq!((error.kind, error.status), (ProviderErrorKind::RateLimit, Some(429)));
    assert_eq!(
        notes,
        ["failed a/m: rate limit wait exceeded: waiting 60000ms for a token would exceed the 0ms maximum wait"]
    );
    assert_eq!(a.request_count(), 1);
    let (result, notes) = ask(&strict.retry(retries(1)), false).await;
    assert_eq!(result.unwrap().reply.text, "2");
    assert_eq!(notes, ["retry 1 Some(429) 60000ms"]);
}

#[tokio::test(start_paused = true)]
async fn one_token_covers_a_pass_with_fallbacks() {
    let (a, b) = (model("a").fail(status(500)).repeat_last(), model("b").reply("yes").repeat_last());
    let throttle = Arc::new(Throttle::new(NonZeroU32::new(2).unwrap(), Duration::ZERO));
    let chain = chain(&[&a, &b]).throttle(throttle);
    assert!(ask(&chain, false).await.0.is_ok());
    assert!(ask(&chain, false).await.0.is_ok());
    assert!(ask(&chain, false).await.0.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_makes_no_further_request() {
    let a = model("a").fail(status(500)).reply("never");
    let chain = chain(&[&a]).retry(retries(3));
    let mut notes = Notes::default();
    let mut session = ChainSession::default();
    let request = request();
    // Runs are spawned, so the future must be able to change threads.
    let call: futures::future::BoxFuture<'_, _> = Box::pin(chain.ask(&mut session, &request, false, &mut notes));
    assert!(call.now_or_never().is_none());
    tokio::time::advance(Duration::from_secs(60)).await;
    assert_eq!(a.request_count(), 1);
}
