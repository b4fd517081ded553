//! The Node package, built in its own folder.

use super::succeed;
use crate::workspace;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Node with the package built.
pub(crate) struct Node {
    program: PathBuf,
}

impl Node {
    /// Installs what the package is built with and builds it from this checkout.
    ///
    /// # Errors
    /// There is no Node 20 or newer, or a step failed, with what it wrote.
    pub(crate) fn ready(tell: &mut dyn FnMut(Option<&str>)) -> Result<Self, String> {
        Self::built("build:debug", tell)
    }

    /// The same as users get it.
    ///
    /// # Errors
    /// As [`ready`](Self::ready).
    pub(crate) fn released(tell: &mut dyn FnMut(Option<&str>)) -> Result<Self, String> {
        Self::built("build:release", tell)
    }

    fn built(script: &str, tell: &mut dyn FnMut(Option<&str>)) -> Result<Self, String> {
        let node = Self { program: interpreter(tell)? };
        for folder in ["bindings-node", "examples/node"] {
            installed(&workspace::root().join(folder), tell)?;
        }
        let mut build = node.npm(&["run", "--silent", script]);
        succeed(build.env("CARGO_TARGET_DIR", workspace::target()), tell)?;
        Ok(node)
    }

    /// A command in the workspace with Node.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(workspace::root());
        command
    }

    /// A command of npm in the package's folder.
    pub(crate) fn npm(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(npm());
        command.args(arguments).current_dir(workspace::root().join("bindings-node"));
        command
    }
}

/// Installs what the lock file of a folder names, unless that was done since it changed.
fn installed(folder: &Path, tell: &mut dyn FnMut(Option<&str>)) -> Result<(), String> {
    let modified = |path: &str| folder.join(path).metadata().and_then(|found| found.modified()).ok();
    // npm writes this file when it is done.
    if modified("node_modules/.package-lock.json") < modified("package-lock.json") {
        let mut install = Command::new(npm());
        install.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(folder);
        succeed(&mut install, tell)?;
    }
    Ok(())
}

fn npm() -> &'static str {
    if cfg!(windows) { "npm.cmd" } else { "npm" }
}

/// The program that `NODE` names, or the one on the path.
fn interpreter(tell: &mut dyn FnMut(Option<&str>)) -> Result<PathBuf, String> {
    let named = std::env::var_os("NODE").filter(|name| !name.is_empty()).map(PathBuf::from);
    let program = named.unwrap_or_else(|| "node".into());
    let said = succeed(Command::new(&program).arg("--version"), tell).unwrap_or_default();
    let major = said.trim().trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok());
    match major {
        Some(20..) => Ok(program),
        Some(_) => Err(format!("Node 20 or newer is needed, {} is {}", program.display(), said.trim())),
        None => Err("Node 20 or newer is needed and was not found; install it, or name it in the variable NODE".into()),
    }
}
