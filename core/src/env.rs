//! The outside world as small traits: time, identifiers, environment variables.
//!
//! Nothing else in the crate reads a clock, makes an id or looks at the process environment, so tests can replace
//! all of it. Waiting goes through tokio's timers, which tests pause and advance.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970-01-01 UTC.
    fn now_ms(&self) -> u64;
    /// Time since some fixed point; never goes back.
    fn monotonic(&self) -> Duration;
}

/// Makes identifiers that are unique and sort by the time they were made.
pub trait IdSource: Send + Sync {
    /// A new identifier, for example a ULID.
    fn next_id(&self) -> Arc<str>;
}

/// Reads environment variables.
pub trait Variables: Send + Sync {
    /// The value, or `None` when the variable is unset, empty or no Unicode.
    fn get(&self, name: &str) -> Option<String>;
}

/// What an agent knows of the outside. The default is the real thing.
#[derive(Clone)]
pub struct Env {
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Identifiers.
    pub ids: Arc<dyn IdSource>,
    /// Environment variables.
    pub variables: Arc<dyn Variables>,
}

impl Default for Env {
    fn default() -> Self {
        Self { clock: Arc::new(SystemClock), ids: Arc::new(Ulids), variables: Arc::new(ProcessVariables) }
    }
}

impl std::fmt::Debug for Env {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Env")
    }
}

/// The machine's clock. Its monotonic side is tokio's, so a paused test clock pauses it too.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }

    fn monotonic(&self) -> Duration {
        static START: std::sync::OnceLock<tokio::time::Instant> = std::sync::OnceLock::new();
        let start = *START.get_or_init(tokio::time::Instant::now);
        tokio::time::Instant::now().saturating_duration_since(start)
    }
}

/// ULIDs: 26 characters, time first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ulids;

impl IdSource for Ulids {
    fn next_id(&self) -> Arc<str> {
        ulid::Ulid::generate().to_string().into()
    }
}

/// The environment of this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProcessVariables;

impl Variables for ProcessVariables {
    fn get(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }
}
