//! What stays when a process ends: which calls the stand-ins got, and how often.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The outside as the stand-ins see it. It is handed on to the process that continues a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct World {
    /// Every start of a tool, in order.
    pub tool_inputs: Vec<ToolInput>,
    /// Every question to the gate, in order.
    pub gate: Vec<GateQuestion>,
    /// The calls that each stand-in has seen, each once: a repeated call gets the same answer again.
    seen: BTreeMap<String, Vec<String>>,
}

/// A start of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolInput {
    /// Its name.
    pub tool: String,
    /// The arguments that it got, exactly.
    pub arguments: String,
    /// The key of the call.
    pub key: String,
}

/// A question to the gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateQuestion {
    /// The tool.
    pub tool: String,
    /// The arguments that it was shown, exactly.
    pub arguments: String,
    /// Whether it was told that the call changes something.
    pub mutating: bool,
    /// What the guards found.
    pub findings: Vec<String>,
}

/// The world that the stand-ins of one process share.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared(Arc<Mutex<World>>);

impl Shared {
    pub(super) fn new(world: World) -> Self {
        Self(Arc::new(Mutex::new(world)))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Which of the different calls of this stand-in this is, from 0.
    pub(super) fn ordinal(&self, stand_in: &str, call: &str) -> usize {
        let mut world = self.lock();
        let calls = world.seen.entry(stand_in.to_owned()).or_default();
        calls.iter().position(|seen| seen == call).unwrap_or_else(|| {
            calls.push(call.to_owned());
            calls.len() - 1
        })
    }
}
