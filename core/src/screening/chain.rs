//! The guards of one agent in one order: the rate limit, the built-in ones, and those of the application.

use super::policy::{Action, GuardOptions, OnContextFinding};
use super::rate::{Breach, CLASS, CallerId, ProcessRateStore, RateGuard, RateStore};
use super::screen::{Report, Screen, placeholder};
use super::{Guard, Piece, SharedVault, Source, Verdict};
use crate::context::RunContext;
use crate::env::Clock;
use crate::error::{BoxError, Error, GuardFinding};
use crate::guard::{Finding, GuardKind};
use crate::limits;
use futures::FutureExt;
use std::borrow::Cow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// Guards of the application, before the built-in ones join them.
#[derive(Clone, Default)]
pub struct GuardSet {
    guards: Vec<Added>,
    pub(crate) rate_store: Option<Arc<dyn RateStore>>,
    pub(crate) caller_id: Option<CallerId>,
}

#[derive(Clone)]
struct Added {
    priority: i32,
    guard: Arc<dyn Guard>,
    replace: bool,
}

impl GuardSet {
    /// Adds a guard at a priority: lower looks first. With `replace` it takes the place of a guard of the same name, also
    /// of a built-in one; without, a second guard of one name is left out.
    pub fn add(&mut self, priority: i32, guard: Arc<dyn Guard>, replace: bool) {
        self.guards.push(Added { priority, guard, replace });
    }

    /// Puts all guards in order.
    ///
    /// # Errors
    /// As [`Screen::new`].
    pub(crate) fn build(self, options: &GuardOptions, clock: Arc<dyn Clock>) -> Result<GuardChain, Error> {
        let screen = Screen::new(options)?;
        let mut entries: Vec<Entry> =
            screen.guards().map(|(kind, priority)| Entry { priority, look: Look::BuiltIn(kind) }).collect();
        if let Some(limit) = options.rate_limit {
            let store = self.rate_store.unwrap_or_else(|| Arc::new(ProcessRateStore::default()));
            let rate = RateGuard { limit, store, caller_id: self.caller_id, clock };
            entries.push(Entry { priority: limit.priority, look: Look::Rate(rate) });
        }
        for Added { priority, guard, replace } in self.guards {
            let same = |entry: &Entry| entry.look.is_named(guard.name());
            if entries.iter().any(same) {
                if !replace {
                    tracing::warn!(
                        guard = guard.name(),
                        "a guard of this name is there already; the second is left out"
                    );
                    continue;
                }
                entries.retain(|entry| !same(entry));
            }
            entries.push(Entry { priority, look: Look::Own(guard) });
        }
        entries.sort_by_key(|entry| entry.priority);
        Ok(GuardChain {
            entries,
            screen,
            on_context_finding: options.on_context_finding,
            scan_history: options.scan_history,
            reversible: options.reversible,
        })
    }
}

impl std::fmt::Debug for GuardSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.guards.iter().map(|added| (added.guard.name(), added.priority))).finish()
    }
}

/// The guards of one agent, in order: lower priority first.
pub(crate) struct GuardChain {
    entries: Vec<Entry>,
    screen: Screen,
    pub(crate) on_context_finding: OnContextFinding,
    pub(crate) scan_history: bool,
    pub(crate) reversible: bool,
}

struct Entry {
    priority: i32,
    look: Look,
}

enum Look {
    Rate(RateGuard),
    BuiltIn(GuardKind),
    Own(Arc<dyn Guard>),
}

impl Look {
    fn is_named(&self, name: &str) -> bool {
        match self {
            Self::Rate(_) => name == CLASS || name == "rate_limit",
            Self::BuiltIn(kind) => name == kind.class() || name == kind.key(),
            Self::Own(guard) => guard.name() == name,
        }
    }
}

/// A refused text.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) guard: String,
    pub(crate) reason: String,
    pub(crate) findings: Vec<GuardFinding>,
    /// Set by the rate limit.
    pub(crate) breach: Option<Breach>,
    /// The guard's own error, when it refused because it failed.
    source: Option<BoxError>,
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        let Refusal { guard, reason, findings, source, .. } = refusal;
        Self::Guard { guard, reason, findings, source }
    }
}

/// A text that may go on.
#[derive(Debug, Default)]
pub(crate) struct Passed {
    /// The text without what had to be redacted; `None` when nothing was.
    pub(crate) redacted: Option<String>,
    pub(crate) findings: Vec<GuardFinding>,
}

impl GuardChain {
    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// A text without what the built-in guards redact; `None` when that is nothing.
    pub(crate) fn redacted(&self, source: &Source, text: &str, vault: Option<&SharedVault>) -> Option<String> {
        let report = self.screen.check(source, text);
        report.replaced(text, |judged| judged.action == Action::Redact, |found| name(found, text, vault))
    }

    /// Scans one text with every guard that looks at its source; the first refusal counts.
    pub(crate) async fn scan(
        &self,
        piece: Piece<'_>,
        context: &RunContext,
        vault: Option<&SharedVault>,
    ) -> Result<Passed, Refusal> {
        let report = self.screen.check(piece.source, piece.text);
        for entry in &self.entries {
            let refusal = match &entry.look {
                Look::Rate(rate) if *piece.source == Source::Typed => rated(rate, context).await,
                Look::Rate(_) => None,
                Look::BuiltIn(kind) => refusal(&report, *kind),
                Look::Own(guard) if guard.typed_only() && *piece.source != Source::Typed => None,
                Look::Own(guard) => asked(guard.as_ref(), piece, context).await,
            };
            if let Some(refusal) = refusal {
                return Err(Refusal { findings: report.records().collect(), ..refusal });
            }
        }
        let redacted = report.replaced(
            piece.text,
            |judged| judged.action == Action::Redact,
            |found| name(found, piece.text, vault),
        );
        Ok(Passed { redacted, findings: report.records().collect() })
    }

    /// Scans one text with the built-in guards alone.
    pub(crate) fn screened(&self, piece: Piece<'_>) -> Option<Refusal> {
        let report = self.screen.check(piece.source, piece.text);
        let kinds = self.entries.iter().filter_map(|entry| match &entry.look {
            // What the text is joined with does not count as its length.
            Look::BuiltIn(kind) if *kind != GuardKind::MessageLength => Some(*kind),
            Look::BuiltIn(_) | Look::Rate(_) | Look::Own(_) => None,
        });
        let refusal = kinds.into_iter().find_map(|kind| refusal(&report, kind))?;
        Some(Refusal { findings: report.records().collect(), ..refusal })
    }

    /// Scans a piece of context: personal data in it is redacted where typed text would be refused.
    pub(crate) async fn scan_context(
        &self,
        piece: Piece<'_>,
        context: &RunContext,
        vault: Option<&SharedVault>,
    ) -> Result<Passed, Refusal> {
        if self.on_context_finding == OnContextFinding::Block {
            return self.scan(piece, context, vault).await;
        }
        let report = self.screen.check(piece.source, piece.text);
        let redact = |judged: &super::Judged| judged.action == Action::Redact;
        match report.replaced(piece.text, redact, |found| name(found, piece.text, vault)) {
            None => self.scan(piece, context, vault).await,
            Some(redacted) => {
                let passed = self.scan(Piece { source: piece.source, text: &redacted }, context, vault).await?;
                let findings = report.records().chain(passed.findings).collect();
                Ok(Passed { redacted: Some(passed.redacted.unwrap_or(redacted)), findings })
            }
        }
    }
}

/// What a built-in guard refuses a text for, without its findings.
fn refusal(report: &Report, kind: GuardKind) -> Option<Refusal> {
    report.blocked_by(kind).map(|judged| Refusal {
        guard: kind.class().to_owned(),
        reason: report.words(&judged.finding),
        findings: Vec::new(),
        breach: None,
        source: None,
    })
}

/// What stands in place of a finding: a name that leads back where there is a vault.
fn name(finding: &Finding, text: &str, vault: Option<&SharedVault>) -> Cow<'static, str> {
    match (vault, text.get(finding.span.clone())) {
        (Some(vault), Some(value)) if finding.guard == GuardKind::PiiDetection => {
            Cow::Owned(vault.lock().name(value, &finding.pattern, text))
        }
        _ => placeholder(finding),
    }
}

async fn rated(rate: &RateGuard, context: &RunContext) -> Option<Refusal> {
    let refuse = |reason: String, breach, source| {
        Some(Refusal { guard: CLASS.to_owned(), reason, findings: Vec::new(), breach, source })
    };
    match rate.take(context).await {
        Ok(None) => None,
        Ok(Some(breach)) => refuse(breach.words(), Some(breach), None),
        Err(error) => {
            tracing::warn!(%error, "the store of the rate limit failed; refused");
            refuse("the rate limit could not be checked, so the message was refused".into(), None, Some(error))
        }
    }
}

async fn asked(guard: &dyn Guard, piece: Piece<'_>, context: &RunContext) -> Option<Refusal> {
    let refuse = |reason: String, source| {
        Some(Refusal { guard: guard.name().to_owned(), reason, findings: Vec::new(), breach: None, source })
    };
    let asked = AssertUnwindSafe(async { guard.scan(piece, context).await }).catch_unwind();
    match tokio::time::timeout(limits::GUARD_TIMEOUT, asked).await {
        Ok(Ok(Ok(Verdict::Pass))) => None,
        Ok(Ok(Ok(Verdict::Block { reason }))) => refuse(reason, None),
        Ok(failed) => {
            // A panic is what other languages raise: one way to fail, told in the same words.
            let source = failed.ok().and_then(Result::err);
            tracing::warn!(guard = guard.name(), error = ?source, "guard failed; refused");
            refuse(format!("guard {:?} failed, so the message was refused", guard.name()), source)
        }
        Err(_) => refuse(format!("guard {:?} did not answer in 2 s, so the message was refused", guard.name()), None),
    }
}

impl std::fmt::Debug for GuardChain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = |entry: &Entry| match &entry.look {
            Look::Rate(_) => CLASS.to_owned(),
            Look::BuiltIn(kind) => kind.class().to_owned(),
            Look::Own(guard) => guard.name().to_owned(),
        };
        f.debug_list().entries(self.entries.iter().map(|entry| (name(entry), entry.priority))).finish()
    }
}
