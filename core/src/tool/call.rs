//! The only place that runs a tool.
//!
//! A call is first admitted (scanned, intercepted, checked, approved), then executed (run, capped, intercepted again).
//! Whatever goes wrong becomes a result for the model; nothing here ends a run.

use super::clean::{self, ResultCleaning};
use super::{Effect, Registry, Tool, ToolContext, ToolErrorKind, ToolOutput, leaves};
use crate::approval::{self, ApprovalGate, ApprovalRequest, Decision, DenyReason};
use crate::context::RunContext;
use crate::guard;
use crate::hooks::{Emitter, Event, EventName, InterceptorSet, Place};
use crate::limits;
use crate::message::{Arguments, CallFault, Content, Outcome, Part, ToolCall, ToolResult};
use crate::prompt::notice;
use crate::schema;
use crate::screening::{GuardChain, Piece, SharedVault, Source};
use futures::FutureExt;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

/// Flags of one run that wait for the gate at most.
const MAX_FLAGS: usize = 100;

/// What is said about the arguments of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScanToolArguments {
    /// They are not scanned.
    Off,
    /// Findings go to the gate and to events. The default.
    Flag,
    /// A finding blocks the call.
    Block,
}

/// Limits of one call.
#[derive(Clone, Debug)]
pub(crate) struct CallLimits {
    pub(crate) timeout: Duration,
    pub(crate) max_result_tokens: u32,
    pub(crate) remember_denials: bool,
    pub(crate) scan_arguments: ScanToolArguments,
    pub(crate) cleaning: ResultCleaning,
}

/// Runs calls of one agent for one run.
pub(crate) struct CallDesk {
    pub(crate) registry: Arc<Registry>,
    pub(crate) interceptors: Arc<InterceptorSet>,
    pub(crate) guards: Arc<GuardChain>,
    pub(crate) gate: Option<Arc<dyn ApprovalGate>>,
    pub(crate) limits: CallLimits,
    pub(crate) context: Arc<RunContext>,
    pub(crate) emitter: Emitter,
    pub(crate) signal: CancellationToken,
    /// What results of this run were flagged for; the gate hears of it with the next call.
    pub(crate) flags: Arc<Mutex<Vec<String>>>,
    /// Personal data that the model knows by names.
    pub(crate) vault: Option<SharedVault>,
    /// Whether the run can be saved and stopped until somebody decides.
    pub(crate) can_suspend: bool,
}

/// What became of a call before it ran.
pub(crate) enum Admission {
    /// It may run, with the arguments that the call now has.
    Run,
    /// It does not run; this is its result.
    Refused(Finished),
    /// The run must pause until somebody decides.
    Suspend,
}

/// A call that has its result.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) result: ToolResult,
    /// Why it failed, in the words that the model got.
    pub(crate) failure: Option<Failure>,
}

/// A failed call.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) message: String,
    /// Whether the same call failing again ends the run.
    pub(crate) counts: bool,
}

/// Tells hooks and streams how far a tool is.
pub(crate) struct Progress {
    emitter: Emitter,
    place: Place,
    tool_name: Arc<str>,
}

impl Progress {
    pub(crate) async fn tell(&self, message: Arc<str>) {
        let event = || Event::ToolProgress { tool_name: Arc::clone(&self.tool_name), message };
        self.emitter.emit(EventName::ToolProgress, self.place.clone(), event).await;
    }
}

/// What identifies a call within a run: its tool and its canonical arguments.
pub(crate) fn signature(name: &str, arguments: &Arguments) -> Box<str> {
    let mut hash = Sha256::new();
    hash.update(name.as_bytes());
    hash.update([0]);
    hash.update(arguments.canonical().as_bytes());
    hex(&hash.finalize())
}

/// Bytes in lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> Box<str> {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing into memory cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text.into()
}

/// Arguments as a JSON value of an event.
pub(crate) fn raw(arguments: &Arguments) -> Box<RawValue> {
    RawValue::from_string(arguments.as_str().to_owned()).unwrap_or_default()
}

impl CallDesk {
    /// Decides whether a call may run. `denied` gives what the model was told when this call was denied before in the
    /// run.
    pub(crate) async fn admit(
        &self,
        call: &mut ToolCall,
        iteration: u32,
        denied: impl Fn(&ToolCall) -> Option<String>,
    ) -> Admission {
        let place = Place::call(iteration, &call.id);
        let before =
            || Event::ToolBefore { tool_name: Arc::clone(&call.name), tool_input: raw(&call.arguments), iteration };
        self.emitter.emit(EventName::ToolBefore, place.clone(), before).await;
        if let Some(fault) = &call.fault {
            let (text, message) = match fault.as_ref() {
                CallFault::Malformed { raw } => {
                    (notice::malformed_arguments(&call.name, raw), "arguments are not a JSON object")
                }
                CallFault::Cut { .. } => (notice::cut_arguments(&call.name), "arguments were cut"),
            };
            return self.refuse(call, iteration, text, message).await;
        }
        let Some(tool) = self.registry.get(&call.name) else {
            // The machine answers unknown names before a batch starts.
            let text = notice::unknown_tool(&call.name, &self.registry.similar(&call.name));
            return self.refuse(call, iteration, text, "unknown tool").await;
        };
        let findings = match self.scan(call, iteration).await {
            Ok(findings) => findings,
            Err(reason) => return self.refuse(call, iteration, notice::error(&reason), &reason).await,
        };
        if !self.interceptors.is_empty() {
            match self.interceptors.before_tool(&self.context, call).await {
                Ok(false) => {}
                Ok(true) => tidy(tool.as_ref(), call),
                Err(blocked) => {
                    let text = notice::error(&blocked.reason);
                    return self.refuse(call, iteration, text, &blocked.reason).await;
                }
            }
        }
        if let Err(problems) = tool.definition().schema().check(&call.arguments) {
            let text = notice::invalid_arguments(&call.name, &problems);
            return self.refuse(call, iteration, text, &problems).await;
        }
        match self.approve(tool.as_ref(), call, iteration, &findings, denied).await {
            Approval::Granted => Admission::Run,
            Approval::Pause => Admission::Suspend,
            Approval::Unfit(problems) => {
                let text = notice::invalid_arguments(&call.name, &problems);
                self.refuse(call, iteration, text, &problems).await
            }
            Approval::Denied(reason) => {
                tracing::debug!(tool = &*call.name, ?reason, "call denied");
                let text = match reason {
                    DenyReason::CannotPause => notice::cannot_pause(&call.name),
                    DenyReason::Human
                    | DenyReason::Policy(_)
                    | DenyReason::NoTerminal
                    | DenyReason::GateFailed
                    | DenyReason::Remembered => notice::denied(&call.name),
                };
                self.deny(call, iteration, text).await
            }
            Approval::Remembered(told) => {
                tracing::debug!(tool = &*call.name, reason = ?DenyReason::Remembered, "call denied");
                self.deny(call, iteration, told).await
            }
        }
    }

    /// Runs an admitted call.
    pub(crate) async fn execute(&self, call: &ToolCall, iteration: u32) -> Finished {
        let span = tracing::info_span!("tool", name = &*call.name, call_id = &*call.id);
        self.execute_inner(call, iteration).instrument(span).await
    }

    async fn execute_inner(&self, call: &ToolCall, iteration: u32) -> Finished {
        let started = Instant::now();
        let Some(tool) = self.registry.get(&call.name) else {
            let text = notice::unknown_tool(&call.name, &[]);
            return self.failed(call, iteration, text, "unknown tool".into(), true, started.elapsed()).await;
        };
        let context = ToolContext::new(super::CallScope {
            run_id: Arc::clone(self.emitter.run_id()),
            call_id: Arc::clone(&call.id),
            idempotency_key: format!("{}:{}", self.emitter.run_id(), call.id),
            iteration,
            context: Arc::clone(&self.context),
            signal: self.signal.clone(),
            progress: Progress {
                emitter: self.emitter.clone(),
                place: Place::call(iteration, &call.id),
                tool_name: Arc::clone(&call.name),
            },
        });
        if let Some(name) = self.unknown_name(&call.arguments) {
            let message = format!("the value behind {name} is not known any more: ask the user for it");
            let text = notice::error(&message);
            return self.failed(call, iteration, text, message, true, started.elapsed()).await;
        }
        let arguments = self.restored(&call.arguments);
        let working = async { tool.call(arguments, context).await };
        let worked = tokio::time::timeout(self.limits.timeout, AssertUnwindSafe(working).catch_unwind()).await;
        let (message, counts) = match worked {
            Ok(Ok(Ok(ToolOutput { content, failure }))) => {
                return self.returned(call, iteration, content, failure, started.elapsed()).await;
            }
            Ok(Ok(Err(error))) => {
                tracing::debug!(%error, "tool failed");
                (error.for_model().to_owned(), error.kind() != ToolErrorKind::Retry)
            }
            Ok(Err(_)) => {
                tracing::warn!("tool panicked");
                (notice::INTERNAL.to_owned(), true)
            }
            Err(_) => {
                let limit = self.limits.timeout.as_secs_f64();
                (format!("the tool did not finish in {limit} s and was stopped"), true)
            }
        };
        self.failed(call, iteration, notice::error(&message), message, counts, started.elapsed()).await
    }

    async fn returned(
        &self,
        call: &ToolCall,
        iteration: u32,
        content: Content,
        failure: Option<String>,
        took: Duration,
    ) -> Finished {
        let outcome = if failure.is_some() { Outcome::Error } else { Outcome::Ok };
        let mut result = self.result(call, iteration, content, outcome).await;
        let failure = failure.map(|message| Failure { message, counts: true });
        let failure = self.intercept_result(&mut result).await.or(failure);
        self.after(call, &result, iteration, took).await;
        Finished { result, failure }
    }

    async fn failed(
        &self,
        call: &ToolCall,
        iteration: u32,
        text: String,
        message: String,
        counts: bool,
        took: Duration,
    ) -> Finished {
        self.tell_error(call, iteration, &message).await;
        let mut result = self.result(call, iteration, text.into(), Outcome::Error).await;
        let blocked = self.intercept_result(&mut result).await;
        self.after(call, &result, iteration, took).await;
        Finished { result, failure: blocked.or(Some(Failure { message, counts })) }
    }

    /// Refuses a call in our own words: they come from no tool, so nobody cleans them.
    async fn refuse(&self, call: &ToolCall, iteration: u32, text: String, message: &str) -> Admission {
        self.tell_error(call, iteration, message).await;
        let mut content = Content::from(text);
        cap(&mut content, self.limits.max_result_tokens);
        let mut result = result_of(call, content, Outcome::Error);
        let blocked = self.intercept_result(&mut result).await;
        self.after(call, &result, iteration, Duration::ZERO).await;
        let failure = blocked.or(Some(Failure { message: message.to_owned(), counts: true }));
        Admission::Refused(Finished { result, failure })
    }

    async fn tell_error(&self, call: &ToolCall, iteration: u32, message: &str) {
        let event = || Event::ToolError {
            tool_name: Arc::clone(&call.name),
            tool_input: raw(&call.arguments),
            error: message.to_owned(),
        };
        self.emitter.emit(EventName::ToolError, Place::call(iteration, &call.id), event).await;
    }

    async fn deny(&self, call: &ToolCall, iteration: u32, text: String) -> Admission {
        let mut content = Content::from(text);
        cap(&mut content, self.limits.max_result_tokens);
        let result = result_of(call, content, Outcome::Denied);
        self.after(call, &result, iteration, Duration::ZERO).await;
        Admission::Refused(Finished { result, failure: None })
    }

    async fn intercept_result(&self, result: &mut ToolResult) -> Option<Failure> {
        if self.interceptors.is_empty() {
            return None;
        }
        let blocked = match self.interceptors.after_tool(&self.context, result).await {
            Ok(()) => None,
            Err(blocked) => {
                result.content = notice::error(&blocked.reason).into();
                result.outcome = Outcome::Error;
                Some(Failure { message: blocked.reason, counts: true })
            }
        };
        cap(&mut result.content, self.limits.max_result_tokens);
        blocked
    }

    /// A result as the model gets it: cleaned, cut, and fenced when something in it looks like an order.
    async fn result(&self, call: &ToolCall, iteration: u32, mut content: Content, outcome: Outcome) -> ToolResult {
        let cleaned = self.limits.cleaning.clean(&call.name, &mut content, self.vault.as_ref()).await;
        cap(&mut content, self.limits.max_result_tokens);
        if self.limits.cleaning.fences(!cleaned.flags.is_empty()) {
            clean::fence(&mut content, self.emitter.run_id(), &call.id);
        }
        let place = Place::call(iteration, &call.id);
        for pattern in cleaned.redacted {
            let event = || Event::GuardToolOutputRedacted { tool_name: Arc::clone(&call.name), pattern };
            self.emitter.emit(EventName::GuardToolOutputRedacted, place.clone(), event).await;
        }
        for (guard, reason) in cleaned.flags {
            let source = format!("tool_result:{}", call.name);
            {
                let mut flags = self.flags.lock().unwrap_or_else(PoisonError::into_inner);
                if flags.len() < MAX_FLAGS {
                    flags.push(format!("{source}: {reason}"));
                }
            }
            let event = || Event::GuardFlagged { guard, source, reason };
            self.emitter.emit(EventName::GuardFlagged, place.clone(), event).await;
        }
        result_of(call, content, outcome)
    }

    async fn after(&self, call: &ToolCall, result: &ToolResult, iteration: u32, took: Duration) {
        let event = || Event::ToolAfter {
            tool_name: Arc::clone(&call.name),
            tool_input: raw(&call.arguments),
            tool_result: result.content.as_text().into(),
            iteration,
            outcome: result.outcome,
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        };
        self.emitter.emit(EventName::ToolAfter, Place::call(iteration, &call.id), event).await;
    }

    /// Scans the arguments; gives what was found, or the reason when that blocks.
    async fn scan(&self, call: &ToolCall, iteration: u32) -> Result<Vec<String>, String> {
        if self.guards.is_empty() || self.limits.scan_arguments == ScanToolArguments::Off {
            return Ok(Vec::new());
        }
        let source = Source::ToolArguments(call.name.to_string());
        let text = leaves::texts(&call.arguments.value());
        let (findings, blocked) =
            match self.guards.scan(Piece { source: &source, text: &text }, &self.context, None).await {
                Ok(passed) => (passed.findings, None),
                Err(refusal) => (Vec::new(), Some(refusal)),
            };
        let place = Place::call(iteration, &call.id);
        for finding in &findings {
            let event = || Event::GuardFinding {
                guard: finding.guard.clone(),
                rule: finding.rule.clone(),
                source: finding.source.clone(),
                severity: finding.severity,
                action: finding.action,
            };
            self.emitter.emit(EventName::GuardFinding, place.clone(), event).await;
        }
        // Names tell what is secret, so the arguments are looked at as they are written.
        let secrets = guard::secrets(&call.arguments.canonical())
            .into_iter()
            .map(|secret| ("SecretGuard".to_owned(), secret_words(secret.kind)));
        let mut reasons = Vec::new();
        for (guard, reason) in blocked.map(|refusal| (refusal.guard, refusal.reason)).into_iter().chain(secrets) {
            let event = || Event::GuardFlagged { guard, source: source.to_string(), reason: reason.clone() };
            self.emitter.emit(EventName::GuardFlagged, place.clone(), event).await;
            reasons.push(reason);
        }
        match self.limits.scan_arguments {
            ScanToolArguments::Block if !reasons.is_empty() => Err(reasons.swap_remove(0)),
            ScanToolArguments::Block | ScanToolArguments::Flag | ScanToolArguments::Off => Ok(reasons),
        }
    }

    /// The arguments as a tool gets them: with values in place of their names.
    fn restored(&self, arguments: &Arguments) -> Arguments {
        let Some(vault) = &self.vault else { return arguments.clone() };
        let mut value = arguments.value();
        leaves::restore(&mut value, &vault.lock());
        match value {
            Value::Object(_) if value != arguments.value() => {
                value.to_string().parse().unwrap_or_else(|_| arguments.clone())
            }
            _ => arguments.clone(),
        }
    }

    /// A name in the arguments without a value: no tool may take it for one.
    fn unknown_name(&self, arguments: &Arguments) -> Option<String> {
        let vault = self.vault.as_ref()?.lock();
        vault.unknown(&arguments.canonical()).map(str::to_owned)
    }

    async fn approve(
        &self,
        tool: &dyn Tool,
        call: &mut ToolCall,
        iteration: u32,
        findings: &[String],
        denied: impl Fn(&ToolCall) -> Option<String>,
    ) -> Approval {
        let Some(gate) = &self.gate else { return Approval::Granted };
        let mutating = effect(tool, &call.arguments) == Effect::Mutating;
        if gate.scope() == approval::Scope::Mutating && !mutating {
            return Approval::Granted;
        }
        if self.limits.remember_denials
            && let Some(told) = denied(call)
        {
            return Approval::Remembered(told);
        }
        let arguments = self.restored(&call.arguments);
        // What was flagged before comes with the next call that changes something.
        let mut findings = findings.to_vec();
        if mutating {
            findings.append(&mut self.flags.lock().unwrap_or_else(PoisonError::into_inner));
        }
        let request = ApprovalRequest {
            run_id: self.emitter.run_id(),
            call_id: &call.id,
            tool: &call.name,
            description: tool.definition().description(),
            arguments: &arguments,
            mutating,
            findings: &findings,
            context: &self.context,
        };
        match approval::ask(gate.as_ref(), request).await {
            Decision::Allow => Approval::Granted,
            Decision::Deny(reason) => Approval::Denied(reason),
            Decision::Suspend if self.can_suspend => Approval::Pause,
            Decision::Suspend => Approval::Denied(DenyReason::CannotPause),
            Decision::AllowWith(arguments) => {
                call.arguments = arguments;
                tidy(tool, call);
                if let Err(reason) = self.scan(call, iteration).await {
                    return Approval::Unfit(reason);
                }
                match tool.definition().schema().check(&call.arguments) {
                    Ok(()) => Approval::Granted,
                    Err(problems) => Approval::Unfit(problems),
                }
            }
        }
    }
}

fn result_of(call: &ToolCall, content: Content, outcome: Outcome) -> ToolResult {
    ToolResult { call_id: Arc::clone(&call.id), name: Arc::clone(&call.name), content, outcome }
}

enum Approval {
    Granted,
    Denied(DenyReason),
    /// It was denied before in the run, and this is what the model was told.
    Remembered(String),
    Pause,
    /// The arguments that the gate wants do not fit.
    Unfit(String),
}

/// What a gate and an event are told of a secret: never the secret itself.
fn secret_words(kind: &str) -> String {
    format!("the arguments hold a secret ({kind})")
}

/// What a call changes. A tool that panics instead of answering is taken to change something.
pub(crate) fn effect(tool: &dyn Tool, arguments: &Arguments) -> Effect {
    std::panic::catch_unwind(AssertUnwindSafe(|| tool.effect(arguments))).unwrap_or(Effect::Mutating)
}

/// Tidies the arguments of a call in place.
pub(crate) fn tidy(tool: &dyn Tool, call: &mut ToolCall) {
    if let Some(tidied) = schema::tidy(tool.definition().schema(), &call.arguments) {
        call.arguments = tidied;
    }
}

/// Cuts the text of a result to the cap, all its pieces together; pictures and files are not counted.
fn cap(content: &mut Content, tokens: u32) {
    match content {
        Content::Text(text) => {
            if let Some(cut) = limits::cap(text, tokens) {
                *text = cut.into();
            }
        }
        Content::Parts(_) if tokens == 0 => {}
        Content::Parts(parts) => {
            let mut left = Some(tokens as usize * limits::CHARS_PER_TOKEN);
            parts.retain_mut(|part| match part {
                Part::Text { text } => {
                    // What follows the cut is gone, note and all.
                    let Some(chars) = left else { return false };
                    match limits::cut(text, chars, tokens) {
                        Some(cut) => {
                            *text = cut.into();
                            left = None;
                        }
                        None => left = Some(chars.saturating_sub(text.chars().count())),
                    }
                    true
                }
                Part::Image { .. } | Part::File { .. } => true,
            });
        }
    }
}
