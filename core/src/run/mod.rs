//! One run: the state, the pure step machine, and the driver that carries out what the machine wants.

mod answer;
mod ask;
mod batch;
mod checkpoint;
mod drive;
mod machine;
mod select;
mod state;

pub use answer::StreamMode;
pub use checkpoint::{CallStarted, Checkpoint, NoCheckpoint};
pub(crate) use drive::{Engine, Outcome, Run};
pub use machine::{Failure, Input, Next, Notice, Rules, Step, UnknownTool};
pub(crate) use select::Selecting;
pub use state::{Batch, CallState, CallStatus, FORMAT, LastReply, Phase, RunState, Task};
