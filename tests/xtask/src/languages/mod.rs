//! Python and Node: their packages built from this checkout, each in a place of its own below the build folder, so that
//! nothing of the user's is touched.

mod node;
mod python;

pub(crate) use node::Node;
pub(crate) use python::Python;

use crate::workspace::{self, Ended};
use std::process::Command;
use std::time::Duration;

/// The most that one step of setting a language up may take.
const LIMIT: Duration = Duration::from_secs(25 * 60);

/// Runs a program to its end and gives what it wrote.
///
/// # Errors
/// It failed, with what it wrote.
fn succeed(command: &mut Command, tell: &mut dyn FnMut(Option<&str>)) -> Result<String, String> {
    let line = format!("{command:?}");
    match workspace::run(command, LIMIT, tell) {
        Ended::Ran { success: true, output } => Ok(output),
        Ended::Ran { output, .. } => Err(format!("{line}\n{output}")),
        Ended::TimedOut { output } => Err(format!("{line}\n{output}\nstopped after {} minutes", LIMIT.as_secs() / 60)),
        Ended::NotStarted(problem) => Err(problem),
    }
}
