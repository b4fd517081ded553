//! The machine under any order of inputs, legal or not.

use super::*;
use crate::message::{Arguments, AssistantMessage, CallFault, Native, Outcome, ToolCall};
use crate::provider::wire::histories::every_format_takes;
use crate::provider::wire::sample;
use crate::run::{Batch, RunState, Task};
use crate::schema::Schema;
use crate::tool::{FnTool, Tool, tool_fn_with_schema};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn registry() -> Arc<Registry> {
    let tool = |name: &str| -> FnTool {
        tool_fn_with_schema(name, "Does.", Schema::empty().unwrap(), |_, _| async { Ok("") })
    };
    let tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(tool("look").read_only()),
        Arc::new(tool("read").read_only()),
        Arc::new(tool("write").mutating()),
        Arc::new(tool("put").mutating().idempotent()),
        Arc::new(tool("plain")),
    ];
    Arc::new(Registry::new(tools).unwrap())
}

/// One thing that may happen. Numbers choose among what is there.
#[derive(Clone, Debug)]
enum Happens {
    Reply(Box<ModelReply>),
    Failed {
        rejected: bool,
    },
    /// A call is started, if the machine asked for it.
    Start(usize),
    Done {
        place: usize,
        right: bool,
        outcome: Outcome,
        failure: Option<String>,
        counts: bool,
    },
    Steer(String),
    Cancel,
    Tick {
        over: bool,
    },
    /// The process ends and another goes on with what was saved.
    Resume,
}

fn call() -> impl Strategy<Value = ToolCall> {
    let id = prop_oneof![
        Just(None),
        Just(Some("")),
        Just(Some("a")),
        Just(Some("b")),
        Just(Some("call_1")),
        Just(Some("call_2")),
        Just(Some("call_5"))
    ];
    let name = prop_oneof![
        6 => Just("look"),
        4 => Just("read"),
        4 => Just("write"),
        3 => Just("put"),
        3 => Just("plain"),
        1 => Just("lokk"),
        1 => Just("wrte"),
        1 => Just("launch_rocket"),
        1 => Just("")
    ];
    let arguments = prop_oneof![
        4 => Just(Ok(Arguments::empty())),
        2 => Just(Ok(r#"{"n":123456789012345678901234567890}"#.parse().unwrap())),
        1 => Just(Err(CallFault::Malformed { raw: "{'n':1}".into() })),
        1 => Just(Err(CallFault::Cut { raw: "{\"n\":".into() })),
    ];
    (id, name, arguments).prop_map(|(id, name, arguments)| ToolCall::from_wire(id, name, arguments))
}

fn reply() -> impl Strategy<Value = ModelReply> {
    let calls = prop_oneof![2 => Just(Vec::new()), 5 => prop::collection::vec(call(), 1..6)];
    let stop = prop_oneof![
        4 => Just(StopReason::Stop),
        2 => Just(StopReason::ToolCalls),
        1 => Just(StopReason::Length),
        2 => Just(StopReason::Pause),
        1 => Just(StopReason::Refusal),
        1 => Just(StopReason::ContentFilter),
        1 => Just(StopReason::Error)
    ];
    let text = prop_oneof![Just(""), Just("  \n"), Just("An answer."), Just("I look.")];
    let tokens = prop::option::of(prop_oneof![Just(0), 1..400_u64, Just(u64::MAX)]);
    (calls, stop, text, tokens, any::<bool>(), any::<bool>()).prop_map(
        |(calls, stop, text, tokens, refuses, native)| {
            let usage = Usage { input_tokens: tokens, output_tokens: tokens, ..Usage::default() };
            let native = native.then(|| {
                let blocks = "[]".into();
                Box::new(Native { wire: "elsewhere".into(), model: "m".into(), blocks })
            });
            let refusal = refuses.then(|| "I will not.".to_owned());
            ModelReply { text: text.into(), calls, stop, usage, refusal, native, ..ModelReply::default() }
        },
    )
}

fn happens() -> impl Strategy<Value = Happens> {
    let outcome = prop_oneof![4 => Just(Outcome::Ok), 3 => Just(Outcome::Error), 1 => Just(Outcome::Denied), 1 => Just(Outcome::NotRun)];
    let done = (0..6_usize, prop::bool::weighted(0.9), outcome, prop::option::of("[a-c]{1,3}"), any::<bool>());
    prop_oneof![
        6 => reply().prop_map(|reply| Happens::Reply(Box::new(reply))),
        1 => any::<bool>().prop_map(|rejected| Happens::Failed { rejected }),
        6 => (0..6_usize).prop_map(Happens::Start),
        10 => done.prop_map(|(place, right, outcome, failure, counts)| Happens::Done { place, right, outcome, failure, counts }),
        1 => "[a-c]{0,4}".prop_map(Happens::Steer),
        1 => Just(Happens::Cancel),
        1 => prop::bool::weighted(0.1).prop_map(|over| Happens::Tick { over }),
        2 => Just(Happens::Resume),
    ]
}

fn rules(max_iterations: u32, parallel_tools: usize, budget: Option<u64>, unknown_tool: UnknownTool) -> Rules {
    Rules { registry: registry(), max_iterations, max_tokens_spent: budget, parallel_tools, unknown_tool }
}

fn fresh() -> RunState {
    let history = Arc::new(vec![Message::user("earlier"), Message::assistant("answer"), Message::user("go")]);
    RunState::new("run-1".into(), "".into(), Task::default(), history, 2)
}

/// What a driver that only sees the machine's wishes knows.
struct Driver {
    rules: Rules,
    state: RunState,
    /// Calls that the machine wants started and that have not been.
    wanted: BTreeSet<usize>,
}

impl Driver {
    fn new(rules: Rules) -> Self {
        Self { rules, state: fresh(), wanted: BTreeSet::new() }
    }

    fn begin(&mut self) {
        let step = self.rules.step(&mut self.state, Input::Tick { elapsed: Duration::ZERO, deadline: None });
        self.took(&step, false);
    }

    fn batch(&mut self) -> Option<&mut Batch> {
        match &mut self.state.phase {
            Phase::Calling(batch) => Some(batch),
            Phase::Ready | Phase::Asking | Phase::Done { .. } | Phase::Failed { .. } => None,
        }
    }

    fn happen(&mut self, happens: Happens) {
        let before = self.state.clone();
        let input = match happens {
            Happens::Reply(reply) => Input::ModelReply { reply, provider: "p".into(), model: "m".into() },
            Happens::Failed { rejected } => Input::ModelFailed { rejected_tool_call: rejected, detail: "no".into() },
            Happens::Start(number) => {
                let place = self.wanted.iter().nth(number % self.wanted.len().max(1)).copied();
                if let Some(place) = place {
                    self.wanted.remove(&place);
                    let batch = self.batch().expect("calls are wanted inside a batch only");
                    let (call, effect) = (batch.calls[place].call.clone(), batch.calls[place].effect);
                    batch.start(place, call, effect);
                }
                return;
            }
            Happens::Done { place, right, outcome, failure, counts } => {
                let calls = self.batch().map(|batch| batch.calls.clone()).unwrap_or_default();
                // Only what the machine wanted, or started, can end; anything else is a wrong input.
                let known = calls.get(place);
                let open =
                    known.is_some_and(|state| state.status == CallStatus::Started) || self.wanted.contains(&place);
                let (id, name) = match known {
                    Some(state) if right && open => (Arc::clone(&state.call.id), Arc::clone(&state.call.name)),
                    _ => ("nobody's".into(), "look".into()),
                };
                let result = ToolResult { call_id: id, name, content: "result".into(), outcome };
                let taken = right && open;
                let step = self.rules.step(&mut self.state, Input::CallDone { place, result, failure, counts });
                if taken {
                    self.wanted.remove(&place);
                } else {
                    assert_eq!(self.state, before, "a result of nobody changed something");
                }
                return self.took(&step, before.is_over());
            }
            Happens::Steer(text) => Input::Steer(text.into()),
            Happens::Cancel => Input::Cancel,
            Happens::Tick { over } => {
                let deadline = over.then_some(Duration::from_secs(1));
                Input::Tick { elapsed: Duration::from_secs(2), deadline }
            }
            Happens::Resume => {
                let saved = serde_json::to_string(&self.state).unwrap();
                self.state = serde_json::from_str(&saved).unwrap();
                assert_eq!(self.state, before, "a saved state reads back as it was");
                self.wanted.clear();
                let step = self.rules.resume(&mut self.state);
                if before.is_over() {
                    assert_eq!(self.state, before);
                }
                return self.took(&step, before.is_over());
            }
        };
        let step = self.rules.step(&mut self.state, input);
        if before.is_over() {
            assert_eq!(self.state, before, "a run that is over changed");
        }
        self.took(&step, before.is_over());
    }

    /// Looks at what the machine wants, and at the state that it left.
    fn took(&mut self, step: &Step, was_over: bool) {
        if !matches!(step.next, Next::Wait) || self.state.is_over() {
            self.wanted.clear();
        }
        match &step.next {
            Next::Ask { tools } => {
                assert_eq!(self.state.phase, Phase::Asking);
                assert_eq!(*tools, !self.state.tools_off);
                // Writing for every API takes most of the time; the histories of a run hardly differ.
                if self.state.iteration % 4 == 1 {
                    self.every_format();
                }
            }
            Next::Call { places } => {
                let parallel = self.rules.parallel_tools;
                let batch = self.batch().expect("calls belong to a batch");
                assert!(!places.is_empty());
                let calls: Vec<_> = places.iter().map(|place| &batch.calls[*place]).collect();
                assert!(calls.iter().all(|call| call.status == CallStatus::Pending && call.result.is_none()));
                let harmless = calls.iter().all(|call| call.effect == crate::tool::Effect::ReadOnly);
                assert!(calls.len() == 1 || harmless && calls.len() <= parallel, "{calls:?}");
                // A barrier: what stands before the first of them is finished, apart from what they were torn from.
                let first = places.iter().min().copied().unwrap_or_default();
                assert!(
                    batch
                        .calls
                        .iter()
                        .take(first)
                        .all(|call| call.result.is_some() || call.status == CallStatus::Pending)
                );
                self.wanted = places.iter().copied().collect();
            }
            Next::Wait => {
                let waits = match &self.state.phase {
                    // Not begun: the first tick is to come.
                    Phase::Ready => self.state.iteration == 0,
                    Phase::Asking => true,
                    Phase::Calling(batch) => {
                        let started = batch.calls.iter().any(|call| call.status == CallStatus::Started);
                        started || !self.wanted.is_empty()
                    }
                    Phase::Done { .. } | Phase::Failed { .. } => was_over,
                };
                assert!(waits, "the machine waits for nothing: {:?}", self.state.phase);
            }
            Next::Finish => assert!(matches!(self.state.phase, Phase::Done { .. })),
            Next::Fail(failure) => {
                assert!(!was_over);
                assert_eq!(self.state.phase, Phase::Failed { code: failure.code().into() });
            }
        }
        assert!(self.state.iteration <= self.rules.max_iterations);
        complete(&self.state.history);
        let chars: usize = self.state.history.iter().map(Message::chars).sum();
        assert_eq!(self.state.chars, chars);
    }

    fn every_format(&self) {
        let mut request = sample::with_tools(sample::request(Vec::new()), &["look", "read", "write", "put", "plain"]);
        request.messages = Arc::clone(&self.state.history);
        every_format_takes(&request);
    }

    /// From anywhere, a driver that does what the machine wants comes to an end.
    fn run_to_the_end(&mut self) {
        let mut steps = 0;
        while !self.state.is_over() {
            steps += 1;
            assert!(steps < 500, "the run does not end");
            match &self.state.phase {
                Phase::Ready => self.begin(),
                Phase::Asking => {
                    let calls = vec![ToolCall::from_wire(None, "look", Ok(Arguments::empty()))];
                    self.happen(Happens::Reply(Box::new(ModelReply::calls(calls))));
                }
                Phase::Calling(batch) => {
                    let started = batch.calls.iter().position(|call| call.status == CallStatus::Started);
                    match started.or(self.wanted.iter().next().copied()) {
                        Some(place) => {
                            let (outcome, failure) = (Outcome::Ok, None);
                            self.happen(Happens::Done { place, right: true, outcome, failure, counts: true });
                        }
                        None => panic!("nothing is under way and nothing is wanted: {batch:?}"),
                    }
                }
                Phase::Done { .. } | Phase::Failed { .. } => {}
            }
        }
    }
}

/// Every call has its result, at once and in order, and no id stands twice.
fn complete(history: &[Message]) {
    let mut ids = BTreeSet::new();
    let mut messages = history.iter().peekable();
    while let Some(message) = messages.next() {
        match message {
            Message::Assistant(AssistantMessage { calls, .. }) if !calls.is_empty() => {
                let Some(Message::Tool { results }) = messages.next() else { panic!("calls without results") };
                let asked: Vec<_> = calls.iter().map(|call| (&*call.id, &*call.name)).collect();
                let given: Vec<_> = results.iter().map(|result| (&*result.call_id, &*result.name)).collect();
                assert_eq!(asked, given);
                for (id, _) in asked {
                    assert!(!id.is_empty() && ids.insert(id.to_owned()), "{id:?} stands twice");
                }
            }
            Message::Tool { .. } => panic!("results without calls"),
            Message::Assistant(_) | Message::User { .. } | Message::System { .. } => {}
        }
    }
}

proptest! {

    #[test]
    fn any_order_of_inputs(
        inputs in prop::collection::vec(happens(), 0..40),
        max_iterations in 1..12_u32,
        parallel in 1..4_usize,
        budget in prop::option::weighted(0.2, 1..2000_u64),
        documented in prop::bool::weighted(0.2),
        begins in prop::bool::weighted(0.9),
    ) {
        let unknown_tool = if documented { UnknownTool::Documented } else { UnknownTool::Corrected };
        let mut driver = Driver::new(rules(max_iterations, parallel, budget, unknown_tool));
        if begins {
            driver.begin();
        }
        for input in inputs {
            driver.happen(input);
        }
        driver.run_to_the_end();
        driver.every_format();
        driver.happen(Happens::Resume);
        for late in [Happens::Cancel, Happens::Tick { over: true }, Happens::Steer("late".into())] {
            driver.happen(late);
        }
    }
}
