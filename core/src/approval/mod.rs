//! Approval: who may let a tool call happen.
//!
//! Core installs no gate. A gate sees the arguments exactly as they will run; a gate that cannot answer has not
//! approved.

use crate::context::RunContext;
use crate::error::BoxError;
use crate::message::Arguments;
use futures::FutureExt;
use futures::future::BoxFuture;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// A call that waits for a decision.
#[derive(Clone, Copy, Debug)]
pub struct ApprovalRequest<'a> {
    /// The run.
    pub run_id: &'a Arc<str>,
    /// The call.
    pub call_id: &'a Arc<str>,
    /// The tool's name.
    pub tool: &'a str,
    /// The tool's description.
    pub description: &'a str,
    /// The tidied arguments, exactly as they will run.
    pub arguments: &'a Arguments,
    /// Whether the tool says that this call changes something.
    pub mutating: bool,
    /// What guards found in the arguments.
    pub findings: &'a [String],
    /// The host's values for this run.
    pub context: &'a RunContext,
}

/// What a gate decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The call runs as it is.
    Allow,
    /// The call runs with these arguments, which are tidied and checked like the model's.
    AllowWith(Arguments),
    /// The call does not run.
    Deny(DenyReason),
    /// The run pauses until somebody decides; without durable runs the call does not run.
    Suspend,
}

/// Why a call was denied, for events and machines; the model always gets the same text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DenyReason {
    /// A person refused.
    Human,
    /// A rule or a callback refused, in its own words.
    Policy(String),
    /// There is nobody to ask.
    NoTerminal,
    /// The gate failed, panicked or gave no answer.
    GateFailed,
    /// The same call was denied before in this run.
    Remembered,
    /// The gate wants to pause and this run cannot.
    CannotPause,
}

/// Which calls a gate is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Calls that the tool says change something.
    Mutating,
    /// Every call.
    All,
}

/// Decides whether a call may run. There is no time limit, because people are slow; cancelling the run ends the wait.
///
/// ```
/// use cheliped::approval::{ApprovalGate, ApprovalRequest, Decision, DenyReason};
/// use cheliped::error::BoxError;
/// use futures::future::BoxFuture;
///
/// struct SmallRefundsOnly;
///
/// impl ApprovalGate for SmallRefundsOnly {
///     fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, Result<Decision, BoxError>> {
///         let small = request.arguments.value()["amount"].as_f64().is_some_and(|amount| amount < 50.0);
///         let deny = || Decision::Deny(DenyReason::Policy("refunds over 50 need a person".into()));
///         Box::pin(async move { Ok(if small { Decision::Allow } else { deny() }) })
///     }
/// }
/// ```
pub trait ApprovalGate: Send + Sync {
    /// Which calls the gate wants to see. Default: those that change something.
    fn scope(&self) -> Scope {
        Scope::Mutating
    }

    /// Decides about one call.
    ///
    /// # Errors
    /// Whatever kept the gate from answering; the call is then denied.
    fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, Result<Decision, BoxError>>;
}

/// Asks a gate; errors and panics deny.
pub(crate) async fn ask(gate: &dyn ApprovalGate, request: ApprovalRequest<'_>) -> Decision {
    match AssertUnwindSafe(async { gate.decide(request).await }).catch_unwind().await {
        Ok(Ok(decision)) => decision,
        Ok(Err(error)) => {
            tracing::warn!(tool = request.tool, %error, "approval gate error; denied");
            Decision::Deny(DenyReason::GateFailed)
        }
        Err(_) => {
            tracing::warn!(tool = request.tool, "approval gate panicked; denied");
            Decision::Deny(DenyReason::GateFailed)
        }
    }
}
