//! The Python package in a virtual environment.

use super::succeed;
use crate::workspace;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Says whether an interpreter is new enough, and which it is.
const ASK: &str = "import sys; print(sys.version_info >= (3, 10), sys.version.split()[0], sys.executable)";

/// An environment with the package in it.
pub(crate) struct Python {
    folder: PathBuf,
}

impl Python {
    /// Makes the environment, builds the package from this checkout and installs it with what the extras name.
    ///
    /// # Errors
    /// There is no Python 3.10 or newer, or a step failed, with what it wrote.
    pub(crate) fn ready(extras: &str, tell: &mut dyn FnMut(Option<&str>)) -> Result<Self, String> {
        let python = Self::environment("python", tell)?;
        let package = workspace::root().join("bindings-python");
        let mut install = python.pip(&[&format!("{}{extras}", package.display())]);
        // Quick to build; the release workflow builds what users get.
        install.env("MATURIN_PEP517_ARGS", "--profile dev --strip");
        succeed(&mut install, tell)?;
        Ok(python)
    }

    /// The same in an environment of its own, as users get it, with other packages beside it.
    ///
    /// # Errors
    /// As [`ready`](Self::ready).
    pub(crate) fn released(others: &[&str], tell: &mut dyn FnMut(Option<&str>)) -> Result<Self, String> {
        let python = Self::environment("python-release", tell)?;
        let package = workspace::root().join("bindings-python");
        succeed(python.pip(others).arg(package), tell)?;
        Ok(python)
    }

    fn environment(name: &str, tell: &mut dyn FnMut(Option<&str>)) -> Result<Self, String> {
        let python = Self { folder: workspace::target().join(name) };
        let interpreter = interpreter(tell)?;
        if !python.program("python").exists() {
            succeed(Command::new(&interpreter).args(["-m", "venv"]).arg(&python.folder), tell)?;
        }
        Ok(python)
    }

    fn pip(&self, packages: &[&str]) -> Command {
        let mut install = self.command("python");
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(packages);
        install.env("CARGO_TARGET_DIR", workspace::target());
        install
    }

    /// A program of the environment.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        let folder = self.folder.join(if cfg!(windows) { "Scripts" } else { "bin" });
        folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
    }

    /// A command in the workspace with a program of the environment.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.program(program));
        command.current_dir(workspace::root()).env("VIRTUAL_ENV", &self.folder).env_remove("PYTHONPATH");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let first = self.program("python").parent().map(Path::to_path_buf).unwrap_or_default();
        let paths = std::iter::once(first).chain(std::env::split_paths(&path));
        if let Ok(joined) = std::env::join_paths(paths) {
            command.env("PATH", joined);
        }
        command
    }
}

/// The interpreter that `PYTHON` names, or the first on the path that is new enough.
fn interpreter(tell: &mut dyn FnMut(Option<&str>)) -> Result<PathBuf, String> {
    let named = std::env::var_os("PYTHON").filter(|name| !name.is_empty()).map(PathBuf::from);
    let known = ["python3", "python", "python3.13", "python3.12", "python3.11", "python3.10"];
    let candidates = named.map_or_else(|| known.iter().map(PathBuf::from).collect(), |named| vec![named]);
    let mut found = Vec::new();
    for candidate in candidates {
        let Ok(said) = succeed(Command::new(&candidate).args(["-c", ASK]), tell) else { continue };
        let mut words = said.trim().splitn(3, ' ');
        match (words.next(), words.next(), words.next()) {
            (Some("True"), Some(_), Some(path)) => return Ok(path.into()),
            (Some(_), Some(version), Some(path)) => found.push(format!("{path} is {version}")),
            _ => {}
        }
    }
    let found = if found.is_empty() { "none was found".to_owned() } else { found.join(", ") };
    Err(format!("Python 3.10 or newer is needed ({found}); install it, or name it in the variable PYTHON"))
}
