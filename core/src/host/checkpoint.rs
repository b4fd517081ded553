//! A checkpoint that is a function of the host language.

use super::{Function, HostCall, written};
use crate::error::{BoxError, Error};
use crate::message::ToolCall;
use crate::run::{CallStarted, Checkpoint, RunState};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckpointSettings {
    #[serde(default)]
    can_suspend: bool,
}

pub(super) struct HostCheckpoint {
    pub(super) settings: CheckpointSettings,
    pub(super) function: Function,
}

#[derive(Serialize)]
struct Saved<'a> {
    what: &'static str,
    state: &'a RunState,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<&'a ToolCall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments_hash: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    idempotency_key: Option<&'a str>,
}

impl HostCheckpoint {
    fn save<'a>(&'a self, saved: Saved<'_>) -> BoxFuture<'a, Result<(), Error>> {
        let failed = |error: BoxError| Error::Memory { detail: "the checkpoint failed".into(), source: Some(error) };
        let payload = written(&saved);
        Box::pin(async move {
            let payload = payload.map_err(failed)?;
            self.function.call(HostCall { payload, progress: None }).await.map(|_| ()).map_err(failed)
        })
    }
}

fn saved<'a>(what: &'static str, state: &'a RunState, call: Option<&'a ToolCall>) -> Saved<'a> {
    Saved { what, state, call, arguments_hash: None, idempotency_key: None }
}

impl Checkpoint for HostCheckpoint {
    fn run_started<'a>(&'a self, state: &'a RunState) -> BoxFuture<'a, Result<(), Error>> {
        self.save(saved("run_started", state, None))
    }

    fn call_started<'a>(&'a self, state: &'a RunState, started: CallStarted<'a>) -> BoxFuture<'a, Result<(), Error>> {
        self.save(Saved {
            arguments_hash: Some(started.arguments_hash),
            idempotency_key: Some(started.idempotency_key),
            ..saved("call_started", state, Some(started.call))
        })
    }

    fn call_finished<'a>(&'a self, state: &'a RunState, call: &'a ToolCall) -> BoxFuture<'a, Result<(), Error>> {
        self.save(saved("call_finished", state, Some(call)))
    }

    fn step_finished<'a>(&'a self, state: &'a RunState) -> BoxFuture<'a, Result<(), Error>> {
        self.save(saved("step_finished", state, None))
    }

    fn suspended<'a>(&'a self, state: &'a RunState, call: &'a ToolCall) -> BoxFuture<'a, Result<(), Error>> {
        self.save(saved("suspended", state, Some(call)))
    }

    fn can_suspend(&self) -> bool {
        self.settings.can_suspend
    }
}
