//! Runs that are given up: by dropping them, by the caller's signal, by the deadline; at every place and at random
//! instants. They end at once, and nothing of them goes on.

#![allow(clippy::unwrap_used, clippy::panic, reason = "what the tests share is test code too")]

use cheliped::agent::AgentBuilder;
use cheliped::approval::{ApprovalGate, ApprovalRequest, Decision};
use cheliped::context::{CancellationToken, RunContext};
use cheliped::error::BoxError;
use cheliped::hooks::{Decided, Hook, Intercept, Interceptor, RunEvent};
use cheliped::message::{Arguments, Content, Message, Role, ToolCall, ToolResult};
use cheliped::provider::{
    ModelReply, ModelRequest, Provider, ProviderConfig, ProviderError, ProviderErrorKind, StreamPart,
};
use cheliped::run::{CallStarted, Checkpoint, RunState};
use cheliped::schema::Schema;
use cheliped::screening::{Guard, Piece, Verdict};
use cheliped::tool::{ToolContext, ToolError, tool_fn_with_schema};
use cheliped::{Agent, AgentResponse, Error};
use cheliped_test_support::{Answer, Server, model};
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// How long a run may take to end.
const AT_ONCE: Duration = Duration::from_millis(50);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Model,
    Stream,
    Retry,
    Tool,
    Gate,
    Hook,
    Guard,
    BeforeRun,
    BeforeModel,
    BeforeTool,
    AfterTool,
    BeforeSend,
    Checkpoint,
}

const PLACES: [Place; 13] = [
    Place::Model,
    Place::Stream,
    Place::Retry,
    Place::Tool,
    Place::Gate,
    Place::Hook,
    Place::Guard,
    Place::BeforeRun,
    Place::BeforeModel,
    Place::BeforeTool,
    Place::AfterTool,
    Place::BeforeSend,
    Place::Checkpoint,
];

/// Everything that a host puts around a run, each taking a while, one of them for ever.
#[derive(Clone)]
struct Stage(Arc<Inner>);

struct Inner {
    /// Where it hangs.
    hangs: Option<Place>,
    /// How long the others take.
    pace: Duration,
    reached: Notify,
    /// Work under way, by place.
    alive: Mutex<BTreeMap<Place, usize>>,
    /// The signals that tools were given.
    signals: Mutex<Vec<CancellationToken>>,
    failures: AtomicUsize,
}

/// Counts work as under way until it is dropped.
struct Alive(Stage, Place);

impl Drop for Alive {
    fn drop(&mut self) {
        *self.0.0.alive.lock().unwrap().get_mut(&self.1).unwrap() -= 1;
    }
}

impl Stage {
    fn new(hangs: Option<Place>, pace: Duration) -> Self {
        let (reached, alive, signals) = (Notify::new(), Mutex::default(), Mutex::default());
        Self(Arc::new(Inner { hangs, pace, reached, alive, signals, failures: AtomicUsize::new(0) }))
    }

    async fn pass(&self, place: Place) {
        *self.0.alive.lock().unwrap().entry(place).or_default() += 1;
        let _alive = Alive(self.clone(), place);
        if self.0.hangs == Some(place) {
            self.0.reached.notify_one();
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(self.0.pace).await;
    }

    /// Where work is under way now.
    fn under_way(&self) -> Vec<Place> {
        self.0.alive.lock().unwrap().iter().filter(|(_, count)| **count > 0).map(|(place, _)| *place).collect()
    }

    fn agent(&self) -> Agent {
        let tool = |name: &str| {
            let stage = self.clone();
            let work = move |_: Arguments, context: ToolContext| {
                let stage = stage.clone();
                async move {
                    stage.0.signals.lock().unwrap().push(context.signal().clone());
                    stage.pass(Place::Tool).await;
                    Ok::<_, ToolError>("seen")
                }
            };
            tool_fn_with_schema(name, "Looks.", Schema::empty().unwrap(), work)
        };
        let builder: AgentBuilder = Agent::builder()
            .provider(self.clone())
            .max_retries(1)
            .tool(tool("look").read_only())
            .tool(tool("write").mutating())
            .approval_gate(self.clone())
            .guard(self.clone())
            .interceptor(self.clone())
            .on_any(self.clone())
            .checkpoint(Arc::new(self.clone()));
        builder.build().unwrap()
    }

    /// Two reads side by side, a change, the answer.
    fn reply(&self, request: &ModelRequest) -> ModelReply {
        let call = |name: &str| ToolCall::from_wire(None, name, Ok(Arguments::empty()));
        match request.messages.iter().filter(|message| message.role() == Role::Assistant).count() {
            0 => ModelReply { text: "I look.".into(), ..ModelReply::calls(vec![call("look"), call("look")]) },
            1 => ModelReply::calls(vec![call("write")]),
            _ => ModelReply::text("one two three four"),
        }
    }

    fn fails(&self) -> Option<ProviderError> {
        // The first request of a run fails, so that there is a wait before the second.
        let wait = if self.0.hangs == Some(Place::Retry) { Duration::from_secs(50) } else { self.0.pace };
        let first = self.0.failures.fetch_add(1, Ordering::Relaxed) == 0;
        (first && self.0.hangs == Some(Place::Retry)).then(|| {
            self.0.reached.notify_one();
            let mut error = ProviderError::new(ProviderErrorKind::Overloaded, "busy");
            error.retry_after = Some(wait);
            error
        })
    }
}

impl Provider for Stage {
    fn name(&self) -> &str {
        "stage"
    }

    fn model(&self) -> &str {
        "stage-1"
    }

    fn send<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelReply, ProviderError>> {
        Box::pin(async move {
            self.pass(Place::Model).await;
            self.fails().map_or_else(|| Ok(self.reply(request)), Err)
        })
    }

    fn stream<'a>(&'a self, request: &'a ModelRequest) -> BoxStream<'a, Result<StreamPart, ProviderError>> {
        let started = async move {
            self.pass(Place::Model).await;
            match self.fails() {
                Some(error) => vec![Err(error)],
                None => {
                    let reply = self.reply(request);
                    let words = reply.text.split_inclusive(' ').map(|word| Ok(StreamPart::Text(word.into())));
                    let mut parts: Vec<_> = words.collect();
                    parts.push(Ok(StreamPart::Reply(Box::new(reply))));
                    parts
                }
            }
        };
        let parts = futures::stream::once(started).flat_map(futures::stream::iter);
        parts
            .then(async |part| {
                self.pass(Place::Stream).await;
                part
            })
            .boxed()
    }
}

impl ApprovalGate for Stage {
    fn decide<'a>(&'a self, _: ApprovalRequest<'a>) -> BoxFuture<'a, Result<Decision, BoxError>> {
        Box::pin(async {
            self.pass(Place::Gate).await;
            Ok(Decision::Allow)
        })
    }
}

impl Hook for Stage {
    fn handle<'a>(&'a self, event: &'a RunEvent) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move {
            // Late enough that something is under way beside it.
            let watched = ["provider.request", "provider.response", "tool.after"].contains(&event.name());
            if watched && (self.0.hangs != Some(Place::Hook) || event.name() == "tool.after") {
                self.pass(Place::Hook).await;
            }
            Ok(())
        })
    }
}

impl Guard for Stage {
    fn name(&self) -> &str {
        "stage"
    }

    fn scan<'a>(&'a self, _: Piece<'a>, _: &'a RunContext) -> BoxFuture<'a, Result<Verdict, BoxError>> {
        Box::pin(async {
            self.pass(Place::Guard).await;
            Ok(Verdict::Pass)
        })
    }
}

impl Stage {
    fn at<T: Send>(&self, place: Place) -> Decided<'_, T> {
        Box::pin(async move {
            self.pass(place).await;
            Ok(Intercept::Allow)
        })
    }
}

impl Interceptor for Stage {
    fn before_run<'a>(&'a self, _: &'a RunContext, _: &'a Content) -> Decided<'a, Content> {
        self.at(Place::BeforeRun)
    }

    fn before_model<'a>(&'a self, _: &'a RunContext, _: &'a ModelRequest) -> Decided<'a, ModelRequest> {
        self.at(Place::BeforeModel)
    }

    fn before_tool<'a>(&'a self, _: &'a RunContext, _: &'a ToolCall) -> Decided<'a, Arguments> {
        self.at(Place::BeforeTool)
    }

    fn after_tool<'a>(&'a self, _: &'a RunContext, _: &'a ToolResult) -> Decided<'a, Content> {
        self.at(Place::AfterTool)
    }

    fn before_send<'a>(&'a self, _: &'a RunContext, _: &'a str) -> Decided<'a, String> {
        self.at(Place::BeforeSend)
    }

    fn before_persist<'a>(&'a self, _: &'a RunContext, _: &'a [Message]) -> Decided<'a, Vec<Message>> {
        self.at(Place::BeforeSend)
    }
}

impl Checkpoint for Stage {
    fn call_started<'a>(&'a self, _: &'a RunState, _: CallStarted<'a>) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async {
            self.pass(Place::Checkpoint).await;
            Ok(())
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Drop,
    Signal,
    Deadline,
}

const WAYS: [Way; 3] = [Way::Drop, Way::Signal, Way::Deadline];

async fn run(agent: &Agent, streamed: bool, context: RunContext) -> Result<AgentResponse, Error> {
    if streamed { agent.stream_with("go", context).response().await } else { agent.send_with("go", context).await }
}

fn tasks() -> usize {
    tokio::runtime::Handle::current().metrics().num_alive_tasks()
}

/// Nothing of the run goes on, and the tools that still worked know it.
fn all_quiet(stage: &Stage, what: &str) {
    assert_eq!(stage.under_way(), [], "{what}: still under way");
    assert!(stage.0.signals.lock().unwrap().iter().all(CancellationToken::is_cancelled), "{what}: a tool was not told");
}

/// Gives a run up after the moment came; gives how long it took to end.
async fn give_up(
    stage: &Stage,
    way: Way,
    streamed: bool,
    moment: impl Future<Output = ()>,
    deadline: Duration,
) -> (Option<Result<AgentResponse, Error>>, Duration) {
    let agent = stage.agent();
    let signal = CancellationToken::new();
    let mut context = RunContext::new().signal(signal.clone());
    if way == Way::Deadline {
        context = context.deadline(deadline);
    }
    let started = Instant::now();
    let mut running = Box::pin(run(&agent, streamed, context));
    let early = tokio::select! {
        biased;
        result = &mut running => Some(result),
        () = moment => None,
    };
    if let Some(result) = early {
        return (Some(result), started.elapsed().saturating_sub(deadline));
    }
    match way {
        Way::Drop => {
            let given_up = Instant::now();
            drop(running);
            (None, given_up.elapsed())
        }
        Way::Signal => {
            let given_up = Instant::now();
            signal.cancel();
            (Some(running.await), given_up.elapsed())
        }
        Way::Deadline => {
            let result = running.await;
            (Some(result), started.elapsed().saturating_sub(deadline))
        }
    }
}

/// Whatever a run waits for, it ends when it is given up, and takes everything with it.
#[tokio::test(start_paused = true)]
async fn at_every_place_that_hangs() {
    for place in PLACES {
        for way in WAYS {
            for streamed in [false, true] {
                if place == Place::Stream && !streamed {
                    continue;
                }
                let what = format!("{place:?} {way:?} streamed {streamed}");
                let stage = Stage::new(Some(place), Duration::from_micros(100));
                let deadline = Duration::from_secs(1);
                let moment = stage.0.reached.notified();
                let (result, took) = give_up(&stage, way, streamed, moment, deadline).await;
                assert!(took <= AT_ONCE, "{what}: took {took:?}");
                match (way, result) {
                    (Way::Drop, None) => {}
                    (Way::Signal, Some(Err(error))) => assert_eq!(error.code(), "cancelled", "{what}"),
                    (Way::Deadline, Some(Err(error))) => assert_eq!(error.code(), "timeout", "{what}"),
                    (_, other) => panic!("{what}: {other:?}"),
                }
                all_quiet(&stage, &what);
                assert_eq!(tasks(), 0, "{what}: tasks are left");
            }
        }
    }
}

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// The same on the wall's clock, at 200 instants spread over whole runs.
#[tokio::test]
async fn at_two_hundred_random_instants() {
    let pace = Duration::from_millis(1);
    let whole = async |streamed| {
        let started = Instant::now();
        let stage = Stage::new(None, pace);
        run(&stage.agent(), streamed, RunContext::new()).await.unwrap();
        started.elapsed()
    };
    // The first run of a process also reads the word packs of the guards.
    whole(false).await;
    let whole = [whole(false).await, whole(true).await];
    let mut dice = Dice(42);
    let mut hit: BTreeMap<Place, usize> = BTreeMap::new();
    let (mut slowest, mut finished) = (Duration::ZERO, 0);
    for number in 0..200 {
        let way = WAYS[number % WAYS.len()];
        let streamed = dice.below(2) == 0;
        let whole = whole[usize::from(streamed)];
        let instant = Duration::from_micros(dice.below(u64::try_from(whole.as_micros()).unwrap()));
        let what = format!("{number}: {way:?} at {instant:?} of {whole:?}, streamed {streamed}");
        let stage = Stage::new(None, pace);
        let seen = Mutex::new(Vec::new());
        let moment = async {
            tokio::time::sleep(instant).await;
            *seen.lock().unwrap() = stage.under_way();
            if way == Way::Deadline {
                std::future::pending::<()>().await;
            }
        };
        let (result, took) = give_up(&stage, way, streamed, moment, instant).await;
        match result {
            // It was faster than the instant.
            Some(Ok(response)) => {
                assert_eq!(response.text, "one two three four", "{what}");
                finished += 1;
                continue;
            }
            Some(Err(error)) => assert!(matches!(error.code(), "cancelled" | "timeout"), "{what}: {error}"),
            None => {}
        }
        for place in seen.into_inner().unwrap() {
            *hit.entry(place).or_default() += 1;
        }
        slowest = slowest.max(took);
        all_quiet(&stage, &what);
        assert_eq!(tasks(), 0, "{what}: tasks are left");
    }
    println!("whole run {whole:?}, slowest end {slowest:?}, {finished} were faster than their instant; hit {hit:?}");
    assert!(slowest <= AT_ONCE, "the slowest end took {slowest:?}");
    assert!(hit.len() >= 8, "too few places were hit: {hit:?}");
    assert!(finished < 80, "{finished} runs were faster than their instant");
}

/// Over a real connection: giving up closes it.
#[tokio::test]
async fn no_connection_is_left() {
    let server = Server::start(|request| {
        // A slow and a hanging server, and one that stops in the middle of a stream.
        match request.body.len() % 3 {
            // Nothing is kept for later, so whatever stays open was forgotten.
            0 => model::answer(request).header("connection", "close"),
            1 => model::answer(request).after(Duration::from_secs(30)),
            _ => Answer::sse("data: {\"choices\":[{\"delta\":{\"content\":\"one \"}}]}\n\n")
                .hang(Duration::from_secs(30)),
        }
    })
    .await
    .unwrap();
    let idle = tasks();
    let mut dice = Dice(7);
    for number in 0..60 {
        let way = WAYS[number % WAYS.len()];
        let instant = Duration::from_micros(dice.below(30_000));
        let streamed = dice.below(2) == 0;
        let what = format!("{number}: {way:?} at {instant:?}, streamed {streamed}");
        {
            let provider = ProviderConfig::named("openai").model("tools-2-lat-5").base_url(server.url()).api_key("k");
            let schema = Schema::new(serde_json::json!({"properties": {"a": {}, "b": {}}})).unwrap();
            let add = tool_fn_with_schema("add", "Adds.", schema, |arguments, _| async move {
                let value = arguments.value();
                Ok((value["a"].as_i64().unwrap_or(0) + value["b"].as_i64().unwrap_or(0)).to_string())
            });
            let agent = Agent::builder().provider(provider).tool(add).build().unwrap();
            let signal = CancellationToken::new();
            let mut context = RunContext::new().signal(signal.clone());
            if way == Way::Deadline {
                context = context.deadline(instant);
            }
            let message = "x".repeat(usize::try_from(dice.below(9)).unwrap());
            let running = async {
                if streamed {
                    agent.stream_with(message, context).response().await
                } else {
                    agent.send_with(message, context).await
                }
            };
            let mut running = Box::pin(running);
            let early = tokio::select! {
                biased;
                result = &mut running => Some(result),
                () = tokio::time::sleep(instant), if way != Way::Deadline => None,
            };
            let given_up = Instant::now();
            if early.is_none() && way == Way::Signal {
                signal.cancel();
                assert_eq!(running.await.unwrap_err().code(), "cancelled", "{what}");
            }
            assert!(given_up.elapsed() <= AT_ONCE, "{what}: {:?}", given_up.elapsed());
        }
        let closed = tokio::time::timeout(Duration::from_millis(500), server.all_closed()).await;
        assert!(closed.is_ok(), "{what}: {} connections are open", server.open_connections());
        let quiet = async {
            while tasks() > idle {
                tokio::task::yield_now().await;
            }
        };
        assert!(tokio::time::timeout(Duration::from_millis(500), quiet).await.is_ok(), "{what}: tasks are left");
    }
}
