//! The state of a run: everything that another process needs to go on.

use crate::message::{History, Outcome, ToolCall, ToolResult, Usage};
use crate::provider::StopReason;
use crate::tool::Effect;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Version of the saved form; a run of another version is refused.
pub const FORMAT: u32 = 1;

/// A run between two steps. It is plain data: serialise it, store it, and go on in another process with
/// [`Agent::resume`](crate::Agent::resume).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunState {
    /// Version of this form.
    pub format: u32,
    /// The run.
    pub run_id: Arc<str>,
    /// Of what configured the run; a different one is refused on resume unless the caller accepts it.
    pub fingerprint: Box<str>,
    /// What was asked.
    pub task: Task,
    /// Prior turns and what this run added. Always complete: every call in it has its result.
    pub history: History,
    /// Where in the history this run starts.
    pub history_start: usize,
    /// Model calls so far, the one under way included.
    pub iteration: u32,
    /// What comes next.
    pub phase: Phase,
    /// The one retry without tools was used: tools stay off.
    pub tools_off: bool,
    /// Nearly right tool names answered so far.
    pub corrections: u32,
    /// Names of the tools called, in order, repeats kept; denied ones too.
    pub tools_called: Vec<Arc<str>>,
    /// Calls that failed once, by signature.
    pub failed: BTreeSet<Box<str>>,
    /// Calls that were denied, by signature, with what the model was told.
    pub denied: BTreeMap<Box<str>, Box<str>>,
    /// Usage of each model call.
    pub steps: Vec<Usage>,
    /// What the model that served last said besides its text.
    pub last: Option<LastReply>,
    /// Messages that came while the run was busy; they join the history before the next model call.
    pub steering: Vec<crate::message::Content>,
    /// Number of tool calls so far; gives calls without an id of their own one.
    pub call_count: u32,
    /// Characters of the history, for estimates.
    pub chars: usize,
}

/// What was asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// The message as typed; tools are selected by it.
    pub typed: Arc<str>,
    /// The message as the model got it.
    pub message: Arc<str>,
    /// The conversation that the run belongs to.
    pub conversation_id: Option<Arc<str>>,
    /// The run that the run belongs to.
    pub parent_run_id: Option<Arc<str>>,
}

/// What the last reply of a model said besides its text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LastReply {
    /// The provider that served.
    pub provider: Arc<str>,
    /// The model that served.
    pub model: Arc<str>,
    /// Readable reasoning.
    pub thinking: Option<Box<str>>,
    /// Why it ended.
    pub stop: StopReason,
}

/// What comes next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum Phase {
    /// The model is to be asked.
    Ready,
    /// The model is asked; on resume it is asked again.
    Asking,
    /// Calls of a batch run.
    Calling(Batch),
    /// There is an answer.
    Done {
        /// The text, before it is cleaned.
        text: Box<str>,
        /// Whether it is the text of the last reply, and not a failure that ended the run.
        from_model: bool,
    },
    /// There will be no answer.
    Failed {
        /// The error's code.
        code: Box<str>,
    },
}

/// The calls of one reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// The reply that asked for them. It joins the history together with the results.
    pub reply: crate::message::AssistantMessage,
    /// The calls in the model's order, with tidied arguments.
    pub calls: Vec<CallState>,
    /// Places of the calls that were started together last.
    pub group: Vec<usize>,
    /// Failures that repeated an earlier one: the call's place and the failure's words. A list, because the keys of a
    /// map are texts in JSON.
    pub repeated: Vec<(usize, Box<str>)>,
}

/// One call of a batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallState {
    /// The call, with the arguments that run.
    pub call: ToolCall,
    /// What it changes, as the tool says.
    pub effect: Effect,
    /// How far it is.
    pub status: CallStatus,
    /// Whether it had started before a stop and runs again: that is owed even when the batch is to end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    /// Its result, when it is finished.
    pub result: Option<ToolResult>,
}

/// How far a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// Not started.
    Pending,
    /// Started; it may have done its work.
    Started,
    /// It has a result.
    Finished,
    /// It was refused and did not run.
    Denied,
}

impl RunState {
    /// A run that has not asked the model yet.
    pub(crate) fn new(run_id: Arc<str>, fingerprint: Box<str>, task: Task, history: History, start: usize) -> Self {
        let chars = history.iter().map(crate::message::Message::chars).sum();
        Self {
            format: FORMAT,
            run_id,
            fingerprint,
            task,
            history,
            history_start: start,
            iteration: 0,
            phase: Phase::Ready,
            tools_off: false,
            corrections: 0,
            tools_called: Vec::new(),
            failed: BTreeSet::new(),
            denied: BTreeMap::new(),
            steps: Vec::new(),
            last: None,
            steering: Vec::new(),
            call_count: 0,
            chars,
        }
    }

    /// Tokens of all model calls so far.
    pub fn usage(&self) -> Usage {
        let mut total = Usage::default();
        for step in &self.steps {
            total.add(step);
        }
        total
    }

    /// Whether the run has ended.
    pub fn is_over(&self) -> bool {
        match self.phase {
            Phase::Done { .. } | Phase::Failed { .. } => true,
            Phase::Ready | Phase::Asking | Phase::Calling(_) => false,
        }
    }
}

impl CallState {
    pub(crate) fn finish(&mut self, result: ToolResult) {
        self.status = match result.outcome {
            Outcome::Denied => CallStatus::Denied,
            Outcome::Ok | Outcome::Error | Outcome::NotRun => CallStatus::Finished,
        };
        self.result = Some(result);
    }
}
