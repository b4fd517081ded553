//! The calls of one reply: in which order they start, and how their results come together.

use super::state::{Batch, CallState, CallStatus};
use crate::message::{Arguments, AssistantMessage, CallFault, Message, Outcome, ToolCall, ToolResult};
use crate::prompt::notice;
use crate::provider::ModelReply;
use crate::tool::{Effect, Registry, call};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Makes a batch of a reply: every call gets a unique id and tidied arguments.
pub(super) fn start(mut reply: ModelReply, history: &[Message], count: &mut u32, registry: &Registry) -> Batch {
    let mut calls = std::mem::take(&mut reply.calls);
    name_calls(&mut calls, history, count);
    let as_sent = calls.clone();
    let calls = calls
        .into_iter()
        .map(|mut call| {
            let effect = match registry.get(&call.name) {
                Some(tool) => {
                    call::tidy(tool.as_ref(), &mut call);
                    call::effect(tool.as_ref(), &call.arguments)
                }
                None => Effect::Unspecified,
            };
            CallState { call, effect, status: CallStatus::Pending, again: false, result: None }
        })
        .collect();
    let reply = AssistantMessage { content: reply.text.into(), calls: as_sent, native: reply.native };
    Batch { reply, calls, group: Vec::new(), repeated: Vec::new() }
}

/// Gives every call an id that nothing else in the history has: the provider's own where that is unique.
fn name_calls(calls: &mut [ToolCall], history: &[Message], count: &mut u32) {
    let mut taken: BTreeSet<Arc<str>> = BTreeSet::new();
    for message in history {
        match message {
            Message::Assistant(message) => taken.extend(message.calls.iter().map(|call| Arc::clone(&call.id))),
            Message::System { .. } | Message::User { .. } | Message::Tool { .. } => {}
        }
    }
    for call in calls {
        *count = count.saturating_add(1);
        let own = call.provider_id.clone().filter(|id| !taken.contains(id));
        let id = own.unwrap_or_else(|| {
            let mut number = *count;
            loop {
                let id: Arc<str> = format!("call_{number}").into();
                if !taken.contains(&id) {
                    break id;
                }
                number = number.saturating_add(1);
            }
        });
        taken.insert(Arc::clone(&id));
        call.id = id;
    }
}

/// Answers calls of unregistered tools with the names that they may have meant.
pub(super) fn correct_names(batch: &mut Batch, registry: &Registry) -> Vec<(Arc<str>, Vec<Arc<str>>)> {
    let mut corrected = Vec::new();
    for state in &mut batch.calls {
        if registry.get(&state.call.name).is_none() {
            let matches = registry.similar(&state.call.name);
            let text = notice::unknown_tool(&state.call.name, &matches);
            state.finish(result(&state.call, text, Outcome::Error));
            corrected.push((Arc::clone(&state.call.name), matches));
        }
    }
    corrected
}

/// Takes a result. Gives false when the place is none or already has one.
pub(super) fn record(
    batch: &mut Batch,
    failed: &mut BTreeSet<Box<str>>,
    denied: &mut BTreeMap<Box<str>, Box<str>>,
    place: usize,
    result: ToolResult,
    failure: Option<String>,
    counts: bool,
) -> bool {
    let Some(state) = batch.calls.get_mut(place) else { return false };
    if state.result.is_some() || *state.call.id != *result.call_id {
        return false;
    }
    if result.outcome == Outcome::Denied {
        denied.insert(signature(&state.call), result.content.as_text().into());
    }
    if let Some(message) = failure.filter(|_| counts) {
        let signature = signature(&state.call);
        if failed.contains(&signature) {
            batch.repeated.push((place, message.into()));
        } else {
            failed.insert(signature);
        }
    }
    state.finish(result);
    true
}

/// What identifies a call within a run. Broken arguments count by their text, since all read as `{}`.
pub(super) fn signature(call: &ToolCall) -> Box<str> {
    match call.fault.as_deref() {
        None => call::signature(&call.name, &call.arguments),
        Some(CallFault::Malformed { raw } | CallFault::Cut { raw }) => {
            let quoted = serde_json::Value::from(raw.as_ref()).to_string();
            call::signature(&call.name, &Arguments::from_members([("malformed", quoted.as_str())]))
        }
    }
}

/// Ends a batch: what did not start is recorded as such. Gives the two messages and the names of the tools called.
pub(super) fn close(batch: &mut Batch, registry: &Registry) -> (AssistantMessage, Vec<ToolResult>, Vec<Arc<str>>) {
    let mut called = Vec::with_capacity(batch.calls.len());
    let mut results = Vec::with_capacity(batch.calls.len());
    for state in std::mem::take(&mut batch.calls) {
        let result = match state.result {
            Some(result) => {
                // A name that was corrected is no tool's.
                if registry.get(&state.call.name).is_some() {
                    called.push(Arc::clone(&state.call.name));
                }
                result
            }
            None => result(&state.call, notice::not_run(), Outcome::NotRun),
        };
        results.push(result);
    }
    (std::mem::take(&mut batch.reply), results, called)
}

/// Prepares a saved batch to go on: a started call runs again when it changes nothing or may run twice; any other gets
/// a result that says that its outcome is unknown. The first make up the group of the batch; the latter are given.
pub(super) fn recover(batch: &mut Batch, registry: &Registry) -> Vec<ToolCall> {
    batch.group.clear();
    let mut unknown = Vec::new();
    for (place, state) in batch.calls.iter_mut().enumerate() {
        match state.status {
            CallStatus::Pending if state.again => batch.group.push(place),
            CallStatus::Started => {
                let idempotent = registry.get(&state.call.name).is_some_and(|tool| tool.definition().is_idempotent());
                if idempotent || state.effect == Effect::ReadOnly {
                    state.status = CallStatus::Pending;
                    state.again = true;
                    batch.group.push(place);
                } else {
                    state.finish(result(&state.call, notice::outcome_unknown(), Outcome::Error));
                    unknown.push(state.call.clone());
                }
            }
            CallStatus::Pending | CallStatus::Finished | CallStatus::Denied => {}
        }
    }
    unknown
}

fn result(call: &ToolCall, text: String, outcome: Outcome) -> ToolResult {
    ToolResult { call_id: Arc::clone(&call.id), name: Arc::clone(&call.name), content: text.into(), outcome }
}

impl Batch {
    /// Whether calls of the group that was started last have no result yet.
    pub(super) fn group_is_open(&self) -> bool {
        self.group.iter().any(|place| self.calls.get(*place).is_some_and(|state| state.result.is_none()))
    }

    /// Whether calls that are owed although the batch is to end have no result yet.
    pub(super) fn owes(&self) -> bool {
        self.calls.iter().any(|state| state.again && state.result.is_none())
    }

    /// The calls to start now: one that may change something, or neighbours that do not.
    pub(super) fn next_group(&mut self, parallel: usize) -> Vec<usize> {
        let mut places = Vec::new();
        for (place, state) in self.calls.iter().enumerate() {
            if state.status != CallStatus::Pending {
                continue;
            }
            let alone = state.effect != Effect::ReadOnly || parallel <= 1;
            if alone && !places.is_empty() {
                break;
            }
            places.push(place);
            if alone || places.len() >= parallel {
                break;
            }
        }
        self.group.clone_from(&places);
        places
    }

    /// Marks a call as started, with the arguments that run and what they change.
    pub(super) fn start(&mut self, place: usize, call: ToolCall, effect: Effect) {
        if let Some(state) = self.calls.get_mut(place) {
            state.call = call;
            state.effect = effect;
            state.status = CallStatus::Started;
        }
    }

    /// Keeps the arguments of a call that was decided without running.
    pub(super) fn keep(&mut self, place: usize, call: ToolCall) {
        if let Some(state) = self.calls.get_mut(place) {
            state.call = call;
        }
    }
}
