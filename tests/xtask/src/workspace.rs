//! Where the workspace is, and running its programs.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// The folder of the workspace's `Cargo.toml`.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// The folder that cargo builds into.
pub(crate) fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR").filter(|folder| !folder.is_empty()) {
        Some(folder) => root().join(folder),
        None => root().join("target"),
    }
}

/// A program that was built, by its path below the folder of debug builds.
pub(crate) fn program(name: &str) -> PathBuf {
    target().join("debug").join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

/// A cargo command in the workspace, with the cargo that runs this program.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root()).env("CARGO_TARGET_DIR", target());
    // Set by cargo for this program; a nested cargo would take it for its own.
    for variable in ["CARGO_MANIFEST_DIR", "CARGO_PKG_NAME", "CARGO_PKG_VERSION", "RUST_RECURSION_COUNT"] {
        command.env_remove(variable);
    }
    command
}

/// How a program ended.
pub(crate) enum Ended {
    /// It ran; whether it succeeded, and all it wrote.
    Ran { success: bool, output: String },
    /// It was stopped at the time limit.
    TimedOut { output: String },
    /// It could not be started.
    NotStarted(String),
}

/// Runs a program and collects what it writes. `tell` gets each line as it comes, and `None` now and then in between.
pub(crate) fn run(command: &mut Command, limit: Duration, mut tell: impl FnMut(Option<&str>)) -> Ended {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        // A group of its own, so that the time limit ends what the program has started, too.
        command.process_group(0);
    }
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Ended::NotStarted(format!("cannot run {:?}: {error}", command.get_program())),
    };
    let (sender, lines) = mpsc::channel();
    let readers = [child.stdout.take().map(|out| read_lines(out, sender.clone()))]
        .into_iter()
        .chain([child.stderr.take().map(|out| read_lines(out, sender.clone()))]);
    let readers: Vec<_> = readers.flatten().collect();
    drop(sender);
    let started = Instant::now();
    let mut output = String::new();
    loop {
        match lines.recv_timeout(Duration::from_millis(200)) {
            Ok(line) => {
                tell(Some(&line));
                output.push_str(&line);
                output.push('\n');
            }
            Err(mpsc::RecvTimeoutError::Timeout) => tell(None),
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
        if started.elapsed() > limit {
            stop(&mut child);
            return Ended::TimedOut { output };
        }
    }
    for reader in readers {
        // A reader only reads; it has nothing to tell.
        let _ = reader.join();
    }
    match child.wait() {
        Ok(status) => Ended::Ran { success: status.success(), output },
        Err(error) => Ended::NotStarted(error.to_string()),
    }
}

fn read_lines(from: impl Read + Send + 'static, to: mpsc::Sender<String>) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        for line in BufReader::new(from).split(b'\n') {
            let Ok(line) = line else { break };
            let line = String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned();
            if to.send(line).is_err() {
                break;
            }
        }
    })
}

/// Ends a child and its group.
pub(crate) fn stop(child: &mut std::process::Child) {
    #[cfg(unix)]
    {
        let _ = Command::new("kill").args(["-9", "--", &format!("-{}", child.id())]).stderr(Stdio::null()).status();
    }
    // Already gone is what we want.
    let _ = child.kill();
    let _ = child.wait();
}
