//! Every event of the engine: one table, from which names, payloads and the documentation come.
//!
//! An [`Event`] is what happened; a [`RunEvent`] adds where and when. Hooks see both under the dotted name, a stream
//! sees the ones that the table gives a stream name.

use crate::message::{History, Outcome};
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Something that happened, with its place in the run.
#[derive(Clone, Debug)]
pub struct RunEvent {
    /// The run.
    pub run_id: Arc<str>,
    /// Counts up by one within a run, in the order of delivery.
    pub seq: u64,
    /// Milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// For events inside an iteration its id, `{run_id}_I{n}`; otherwise the run that this run belongs to.
    pub parent_run_id: Option<Arc<str>>,
    /// The iteration, from 1.
    pub iteration: Option<u32>,
    /// The attempt of the model call, from 1.
    pub attempt: Option<u32>,
    /// The tool call.
    pub call_id: Option<Arc<str>>,
    /// Whether the caller reads a stream.
    pub streaming: bool,
    /// The conversation, when the run belongs to one.
    pub conversation_id: Option<Arc<str>>,
    /// What happened.
    pub kind: Event,
}

impl RunEvent {
    /// The dotted name.
    pub fn name(&self) -> &'static str {
        self.kind.name().as_str()
    }

    /// The payload as hooks of every language see it: the event's own keys and, where they are set, `event`,
    /// `run_id`, `parent_run_id`, `streaming`, `conversation_id`, `iteration`, `attempt`, `call_id`, `seq`, `at_ms`.
    pub fn payload(&self) -> Map<String, Value> {
        let mut payload = match serde_json::to_value(&self.kind) {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        };
        let mut put = |key: &str, value: Value| {
            payload.entry(key).or_insert(value);
        };
        put("event", self.name().into());
        if !self.run_id.is_empty() {
            put("run_id", self.run_id.as_ref().into());
        }
        if let Some(parent) = &self.parent_run_id {
            put("parent_run_id", parent.as_ref().into());
        }
        if self.streaming {
            put("streaming", true.into());
        }
        if let Some(conversation) = &self.conversation_id {
            put("conversation_id", conversation.as_ref().into());
        }
        if let Some(iteration) = self.iteration {
            put("iteration", iteration.into());
        }
        if let Some(attempt) = self.attempt {
            put("attempt", attempt.into());
        }
        if let Some(call_id) = &self.call_id {
            put("call_id", call_id.as_ref().into());
        }
        put("seq", self.seq.into());
        put("at_ms", self.at_ms.into());
        payload
    }
}

/// A key of an event's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventKey {
    /// Its name.
    pub name: &'static str,
    /// The sort of value: `text`, `integer`, `boolean`, `names`, `messages`, `object` or `json`.
    pub kind: &'static str,
    /// Whether it can be `null`.
    pub optional: bool,
}

/// The sort of a payload's value in JSON.
trait Kind {
    const KIND: &'static str;
    const OPTIONAL: bool = false;
}

macro_rules! kinds {
    ($($kind:literal: $($type:ty),+;)*) => {
        $($(impl Kind for $type { const KIND: &'static str = $kind; })+)*
    };
}

kinds! {
    "text": Arc<str>, String, &'static str, Outcome;
    "boolean": bool;
    "integer": u16, u32, u64, usize;
    "names": Vec<Arc<str>>, Vec<String>;
    "messages": History;
    "object": Map<String, Value>;
    "json": Box<serde_json::value::RawValue>;
}

impl<T: Kind> Kind for Option<T> {
    const KIND: &'static str = T::KIND;
    const OPTIONAL: bool = true;
}

macro_rules! events {
    ($(
        $(#[doc = $doc:literal])+
        $variant:ident = $name:literal $(as $stream:literal)? { $($field:ident: $type:ty),* $(,)? }
    )*) => {
        /// What happened. Field names are the payload's keys.
        #[derive(Clone, Debug, Serialize)]
        #[serde(untagged)]
        #[non_exhaustive]
        pub enum Event {
            $($(#[doc = $doc])+ $variant { $(#[doc = concat!("Payload key `", stringify!($field), "`.")] $field: $type),* }),*
        }

        /// The name of an [`Event`], known before its payload is built.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum EventName {
            $($(#[doc = $doc])+ $variant),*
        }

        impl EventName {
            /// Every event, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The dotted name.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// The name in a stream, for the events that a stream shows.
            pub const fn stream_name(self) -> Option<&'static str> {
                match self { $(Self::$variant => events!(@stream $($stream)?)),* }
            }

            /// What happened, in a sentence or two.
            pub const fn doc(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc),+).trim_ascii()),* }
            }

            /// The payload's own keys.
            pub const fn keys(self) -> &'static [EventKey] {
                match self {
                    $(Self::$variant => &[$(EventKey {
                        name: events!(@key $field),
                        kind: <$type as Kind>::KIND,
                        optional: <$type as Kind>::OPTIONAL,
                    }),*]),*
                }
            }
        }

        impl Event {
            /// The name.
            pub const fn name(&self) -> EventName {
                match self { $(Self::$variant { .. } => EventName::$variant),* }
            }
        }
    };
    (@key r#type) => { "type" };
    (@key $field:ident) => { stringify!($field) };
    (@stream) => { None };
    (@stream $stream:literal) => { Some($stream) };
}

events! {
    /// A message was accepted: it is augmented and no guard refused it.
    AgentBefore = "agent.before" as "run_started" { message: Arc<str> }
    /// An iteration starts.
    AgentIteration = "agent.iteration" as "iteration" {
        iteration: u32, message: Arc<str>, provider: Arc<str>, model: Arc<str>, history: History,
    }
    /// The run has its answer.
    AgentAfter = "agent.after" as "finished" {
        message: Arc<str>, text: Arc<str>, provider: Arc<str>, model: Arc<str>, iterations: u32, duration_ms: u64,
        tools_called: Vec<Arc<str>>, cache_read_tokens: Option<u64>, cache_write_tokens: Option<u64>,
    }
    /// The run ended with an error after `agent.before`.
    AgentError = "agent.error" as "failed" { message: Arc<str>, error: String, class: &'static str }
    /// The cap was reached without an answer.
    AgentMaxIterations = "agent.max_iterations" {
        message: Arc<str>, max_iterations: u32, provider: Arc<str>, model: Arc<str>,
    }
    /// A model is asked, once for each iteration.
    ProviderRequest = "provider.request" {
        provider: Arc<str>, model: Arc<str>, history_len: usize, tool_count: usize,
    }
    /// A model replied. `type` is `text` or `tool_use_batch`.
    ProviderResponse = "provider.response" as "usage" {
        provider: Arc<str>, model: Arc<str>, r#type: &'static str, input_tokens: Option<u64>,
        output_tokens: Option<u64>, cache_read_tokens: Option<u64>, cache_write_tokens: Option<u64>,
        reasoning_tokens: Option<u64>, input_tokens_total: Option<u64>,
    }
    /// An attempt failed and another follows.
    ProviderRetry = "provider.retry" {
        provider: Arc<str>, model: Arc<str>, attempt: u32, error: String, iteration: u32, status: Option<u16>,
        wait_ms: u64,
    }
    /// The last attempt failed.
    ProviderError = "provider.error" { provider: Arc<str>, model: Arc<str>, error: String, iteration: u32 }
    /// The next provider of the chain is asked. `status` 0 means that no HTTP answer came.
    ProviderFallback = "provider.fallback" { from: String, to: String, status: u16 }
    /// The provider read part of the prompt from its cache.
    ProviderCacheHit = "provider.cache_hit" {
        provider: Arc<str>, model: Arc<str>, cache_read_tokens: u64, cache_write_tokens: Option<u64>,
    }
    /// The response cache answered instead of the provider.
    ProviderResponseCached = "provider.response_cached" { provider: Arc<str>, model: Arc<str>, key_hash: String }
    /// A piece of the answer. Built only for hooks that ask for it by name; pieces may be joined.
    ProviderToken = "provider.token" as "text_delta" { token: String, provider: Arc<str>, model: Arc<str> }
    /// A call is about to be decided and run. `tool_input` are the tidied arguments.
    ToolBefore = "tool.before" as "tool_call_started" { tool_name: Arc<str>, tool_input: Box<serde_json::value::RawValue>, iteration: u32 }
    /// A call has its result: cleaned and capped.
    ToolAfter = "tool.after" as "tool_call_finished" {
        tool_name: Arc<str>, tool_input: Box<serde_json::value::RawValue>, tool_result: Arc<str>, iteration: u32,
        outcome: Outcome, duration_ms: u64,
    }
    /// A tool failed, or the tools were taken away for a retry.
    ToolError = "tool.error" { tool_name: Arc<str>, tool_input: Box<serde_json::value::RawValue>, error: String }
    /// An unregistered tool was called again.
    ToolNotFound = "tool.not_found" {
        tool_name: Arc<str>, tool_input: Box<serde_json::value::RawValue>, available_tools: Vec<Arc<str>>,
    }
    /// The history was shortened. `history_length` is the length after it.
    ContextOverflow = "context.overflow" {
        message: Arc<str>, history_length: usize, max_history_length: usize, provider: Arc<str>, model: Arc<str>,
    }
    /// A summary is about to be asked for.
    CompactionBefore = "compaction.before" { provider: Arc<str>, model: Arc<str> }
    /// A summary came, or could not be had.
    CompactionAfter = "compaction.after" { summary: String }
    /// The next request would pass the token budget.
    BudgetExceeded = "budget.exceeded" { tokens_spent: u64, budget: u64 }
    /// A structured reply is sent back for repair.
    StructuredRepair = "structured.repair" { attempt: u32, error_count: usize }
    /// A guard refused the message.
    GuardBlocked = "guard.blocked" { message: Arc<str>, reason: String, guard: Option<String> }
    /// A caller sends too much.
    GuardRateLimitExceeded = "guard.rate_limit_exceeded" {
        caller_id: String, count: u64, max_requests: u64, window_seconds: u64,
    }
    /// Something in a tool result was replaced.
    GuardToolOutputRedacted = "guard.tool_output_redacted" { tool_name: Arc<str>, pattern: String }
    /// A PHP tag was taken out of the answer.
    GuardOutputPhpTagRemoved = "guard.output_php_tag_removed" { tag: &'static str }
    /// A dangerous function name was taken out of the answer.
    GuardOutputFunctionRedacted = "guard.output_function_redacted" { function: &'static str }
    /// The first turn of a conversation was accepted.
    ConversationStart = "conversation.start" { metadata: Map<String, Value> }
    /// A turn was added to a conversation. `turn_count` counts messages, `turns` counts turns.
    ConversationEnd = "conversation.end" {
        turn_count: usize, turns: usize, message: Arc<str>, response: Arc<str>, duration_ms: u64,
    }
    /// A stream starts.
    StreamStart = "stream.start" { message: Arc<str>, provider: Arc<str>, model: Arc<str> }
    /// All pieces were handed on. `chars` are characters.
    StreamEnd = "stream.end" {
        message: Arc<str>, provider: Arc<str>, model: Arc<str>, duration_ms: u64, chars: usize,
    }
    /// A stream ended without an answer.
    StreamAbort = "stream.abort" { provider: Arc<str>, model: Arc<str>, error: String }
    /// A command ran to its end.
    ShellExec = "shell.exec" { command: String, cmd_name: String }
    /// A command was refused.
    ShellDenied = "shell.denied" { command: String, cmd_name: String, reason: &'static str, file: Option<String> }
    /// A memory entry was read.
    MemoryRead = "memory.read" { key: String, namespace: String, driver: String, hit: bool }
    /// A memory entry was written.
    MemoryWrite = "memory.write" { key: String, namespace: String, driver: String, ttl: Option<u64> }
    /// A memory entry was removed.
    MemoryForget = "memory.forget" { key: String, namespace: String, driver: String }
    /// Memory was searched. The query is never told.
    MemorySearch = "memory.search" { namespace: String, mode: &'static str, limit: usize, hit_count: usize }
    /// Memory was added to the message. The values are never told.
    MemoryRecalled = "memory.recalled" {
        keys: Vec<String>, namespace: String, injected_count: usize, bytes: usize,
    }
    /// A skill was registered.
    SkillRegistered = "skill.registered" { key: String, class: String, label: String }
    /// A skill can be used.
    SkillLoaded = "skill.loaded" { skill_name: String, skill_class: String }
    /// The message names skills.
    SkillMatched = "skill.matched" { matched_skills: Vec<String>, message_excerpt: String, matched_count: usize }
    /// The message names none of the skills that there are.
    SkillNotMatched = "skill.not_matched" { message_excerpt: String, available_skills: Vec<String> }
    /// A queued job starts.
    JobStarted = "job.started" { job_id: String, message: Arc<str> }
    /// A queued job succeeded.
    JobCompleted = "job.completed" {
        job_id: String, message: Arc<str>, provider: Arc<str>, model: Arc<str>, iterations: u32, duration_ms: u64,
        tokens: Option<u64>,
    }
    /// A queued job failed.
    JobFailed = "job.failed" { job_id: String, message: Arc<str>, error: String, class: &'static str }
    /// A run was saved and stopped.
    RunSuspended = "run.suspended" { status: &'static str, iteration: u32, tool_name: Arc<str>, call_id: Arc<str> }
    /// A saved run goes on.
    RunResumed = "run.resumed" { status: &'static str, iteration: u32 }
    /// A decision on a paused call was recorded: `approved` or `denied`.
    RunApproved = "run.approved" {
        call_id: Arc<str>, tool_name: Arc<str>, decision: &'static str, reason: String,
    }
    /// A run was cancelled.
    RunCancelled = "run.cancelled" { reason: String }
    /// A graph starts.
    GraphStart = "graph.start" { entry_node: String }
    /// A graph reached its end.
    GraphEnd = "graph.end" { steps: u32, last_node: String }
    /// A graph splits.
    GraphFanOut = "graph.fan_out" { node: String, branches: usize }
    /// The branches of a graph meet.
    GraphJoin = "graph.join" { node: String, branches: usize, failed: usize }
    /// A guard found something that does not block. `action` says what became of it: `redact` or `warn`. Ours.
    GuardFinding = "guard.finding" {
        guard: String, rule: String, source: String, severity: &'static str, action: &'static str,
    }
    /// A tool result or an outgoing payload was flagged. Ours.
    GuardFlagged = "guard.flagged" { guard: String, source: String, reason: String }
    /// A piece of context was left out of the message. Ours.
    GuardContextDropped = "guard.context_dropped" { guard: String, source: String, reason: String }
    /// A tool tells how far it is. Ours.
    ToolProgress = "tool.progress" as "tool_call_progress" { tool_name: Arc<str>, message: Arc<str> }
    /// A nearly right tool name was answered with the right ones. Ours.
    ToolNameCorrected = "tool.name_corrected" { tool_name: Arc<str>, matches: Vec<Arc<str>> }
    /// Tools of a remote profile are missing. Ours.
    ToolProfileSkipped = "tool.profile_skipped" { profile: String, reason: String }
    /// Memory could not be searched; the message went on without it. Ours.
    MemoryRecallFailed = "memory.recall_failed" { namespace: String, error: String }
    /// The classifier gave no verdict. Ours.
    ApprovalClassifierFailed = "approval.classifier_failed" { tool_name: Arc<str>, error: String }
    /// The text given so far by this iteration and attempt is taken back. Ours.
    RunTextDiscarded = "run.text_discarded" as "text_discarded" { }
    /// A piece of readable reasoning. Only streams see it.
    ThinkingDelta = "provider.thinking" as "thinking_delta" { text: String }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// An event of a run, at a time that never changes.
    pub(in crate::hooks) fn event(kind: Event) -> RunEvent {
        RunEvent {
            run_id: "R".into(),
            seq: 0,
            at_ms: 1_700_000_000_123,
            parent_run_id: None,
            iteration: None,
            attempt: None,
            call_id: None,
            streaming: false,
            conversation_id: None,
            kind,
        }
    }

    #[test]
    fn the_documented_events_are_complete() {
        let names: Vec<_> = EventName::ALL.iter().map(|name| name.as_str()).collect();
        let count = |prefix: &str| names.iter().take(54).filter(|name| name.starts_with(prefix)).count();
        let groups = ["agent.", "provider.", "tool.", "context.", "compaction.", "budget.", "structured.", "guard."];
        assert_eq!(groups.map(count), [5, 8, 4, 1, 2, 1, 1, 5]);
        let groups = ["conversation.", "stream.", "shell.", "memory.", "skill.", "job.", "run.", "graph."];
        assert_eq!(groups.map(count), [2, 3, 2, 5, 4, 3, 4, 4]);
        assert_eq!(names.len(), 54 + 9 + 1);
    }

    #[test]
    fn a_payload_holds_the_own_and_the_common_keys() {
        let event = RunEvent {
            run_id: "R".into(),
            seq: 3,
            at_ms: 5,
            parent_run_id: Some("R_I1".into()),
            iteration: Some(1),
            attempt: None,
            call_id: None,
            streaming: false,
            conversation_id: None,
            kind: Event::BudgetExceeded { tokens_spent: 7, budget: 6 },
        };
        let expected = serde_json::json!({
            "tokens_spent": 7, "budget": 6, "event": "budget.exceeded", "run_id": "R", "parent_run_id": "R_I1",
            "iteration": 1, "seq": 3, "at_ms": 5,
        });
        assert_eq!(Value::Object(event.payload()), expected);
    }
}
