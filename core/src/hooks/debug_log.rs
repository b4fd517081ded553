//! A hook that writes events to a file, for people who look for a fault.

use super::{Hook, RunEvent};
use crate::error::BoxError;
use futures::future::BoxFuture;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a line waits for another process that writes to the same file.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(5);

/// Appends one line of JSON for every event: `{"ts", "event", "context"}`. `ts` is the time in ISO 8601 with offset,
/// `event` the label, `context` the payload as every hook gets it; the name of the event is in `context.event`.
///
/// Lines of several processes do not mix: each is written whole while the file is locked. On Unix the file is made for its
/// owner alone. What cannot be written is dropped; the first such failure is a warning, and no run ever fails for it.
///
/// Payloads hold what users and models say. Secrets that tools return are replaced before, keys are never among them.
///
/// ```
/// use cheliped::hooks::{DebugLogHook, HookSet};
/// let mut hooks = HookSet::default();
/// hooks.on_any(DebugLogHook::new("events.jsonl").label("support"));
/// ```
pub struct DebugLogHook {
    path: Arc<Path>,
    label: String,
    warned: AtomicBool,
}

impl DebugLogHook {
    /// A hook that writes to a file, which is made when it is not there; its folder must be.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path: PathBuf = path.into();
        Self { path: path.into(), label: "event".into(), warned: AtomicBool::new(false) }
    }

    /// Sets the label of its lines. Default `event`.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    fn line(&self, event: &RunEvent) -> String {
        let context = Value::Object(event.payload());
        let mut line = json!({"ts": written(event.at_ms), "event": self.label, "context": context}).to_string();
        line.push('\n');
        line
    }
}

impl Hook for DebugLogHook {
    fn handle<'a>(&'a self, event: &'a RunEvent) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move {
            let (path, line) = (Arc::clone(&self.path), self.line(event));
            let appended = tokio::task::spawn_blocking(move || append(&path, line.as_bytes())).await;
            let problem = match appended {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(error)) => error.to_string(),
                Err(error) => error.to_string(),
            };
            if !self.warned.swap(true, Ordering::Relaxed) {
                tracing::warn!(path = %self.path.display(), problem, "events cannot be logged; told once");
            }
            Ok(())
        })
    }
}

/// A time as ISO 8601 writes it, to the millisecond, in UTC.
pub(super) fn written(ms: u64) -> String {
    let time =
        i64::try_from(ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok()).unwrap_or(Timestamp::UNIX_EPOCH);
    time.strftime("%Y-%m-%dT%H:%M:%S%.3f+00:00").to_string()
}

fn append(path: &Path, line: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    lock(&file)?;
    // Closing the file gives the lock back, also after an error.
    file.write_all(line)
}

fn lock(file: &File) -> io::Result<()> {
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if started.elapsed() < PATIENCE => std::thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "the file stays locked"));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::Event;
    use crate::hooks::event::tests::event;

    fn blocked(message: &str) -> RunEvent {
        event(Event::GuardBlocked { message: message.into(), reason: "r/1 é".into(), guard: None })
    }

    fn hook(path: &Path) -> DebugLogHook {
        DebugLogHook::new(path).label("support")
    }

    #[tokio::test]
    async fn each_event_is_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        let hook = hook(&path);
        hook.handle(&blocked("one\ntwo")).await.unwrap();
        hook.handle(&blocked("three")).await.unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.ends_with('\n') && text.contains("r/1 é"), "{text}");
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0]["ts"], "2023-11-14T22:13:20.123+00:00");
        assert_eq!(lines[0]["event"], "support");
        assert_eq!(lines[0]["context"]["event"], "guard.blocked");
        assert_eq!(lines[0]["context"]["message"], "one\ntwo");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn lines_of_many_writers_do_not_mix() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        let long = "x".repeat(20_000);
        let writers = (0..16).map(|_| {
            let (hook, long) = (hook(&path), long.clone());
            tokio::spawn(async move {
                for _ in 0..8 {
                    hook.handle(&blocked(&long)).await.unwrap();
                }
            })
        });
        for writer in writers.collect::<Vec<_>>() {
            writer.await.unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().filter(|line| serde_json::from_str::<Value>(line).is_ok()).count(), 128);
    }

    #[tokio::test]
    async fn what_cannot_be_written_fails_no_run() {
        let folder = tempfile::tempdir().unwrap();
        hook(folder.path()).handle(&blocked("a")).await.unwrap();
        hook(&folder.path().join("none/log")).handle(&blocked("a")).await.unwrap();
    }
}
