//! Saving a run between its steps.

use super::RunState;
use crate::error::Error;
use crate::message::ToolCall;
use futures::future::{BoxFuture, ready};

/// Saves a run so that another process can go on. Started is saved before a side effect, finished after it.
///
/// An error ends the run, because what cannot be saved must not happen. The default methods save nothing.
pub trait Checkpoint: Send + Sync {
    /// The run is about to ask the model for the first time.
    fn run_started<'a>(&'a self, state: &'a RunState) -> BoxFuture<'a, Result<(), Error>> {
        let _ = state;
        Box::pin(ready(Ok(())))
    }

    /// A call is about to run.
    fn call_started<'a>(&'a self, state: &'a RunState, started: CallStarted<'a>) -> BoxFuture<'a, Result<(), Error>> {
        let _ = (state, started);
        Box::pin(ready(Ok(())))
    }

    /// A call has its result.
    fn call_finished<'a>(&'a self, state: &'a RunState, call: &'a ToolCall) -> BoxFuture<'a, Result<(), Error>> {
        let _ = (state, call);
        Box::pin(ready(Ok(())))
    }

    /// An iteration is over: the history holds all results, or the answer is there.
    fn step_finished<'a>(&'a self, state: &'a RunState) -> BoxFuture<'a, Result<(), Error>> {
        let _ = state;
        Box::pin(ready(Ok(())))
    }

    /// The run stops until somebody decides about this call.
    fn suspended<'a>(&'a self, state: &'a RunState, call: &'a ToolCall) -> BoxFuture<'a, Result<(), Error>> {
        let _ = (state, call);
        Box::pin(ready(Ok(())))
    }

    /// Whether the run can pause until somebody decides about a call. Default no.
    fn can_suspend(&self) -> bool {
        false
    }

    /// Whether there is anything to save, so that a run without a store need not prepare it. Default yes.
    fn is_active(&self) -> bool {
        true
    }
}

/// The call that [`Checkpoint::call_started`] is about.
#[derive(Clone, Copy, Debug)]
pub struct CallStarted<'a> {
    /// The call, with the arguments that run.
    pub call: &'a ToolCall,
    /// SHA-256 of the tool's name and its canonical arguments, in hexadecimal.
    pub arguments_hash: &'a str,
    /// The same for every try of this call.
    pub idempotency_key: &'a str,
}

/// Saves nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCheckpoint;

impl Checkpoint for NoCheckpoint {
    fn is_active(&self) -> bool {
        false
    }
}
