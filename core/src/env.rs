//! The outside world as small traits: time, identifiers, environment variables.
//!
//! Nothing else in the crate reads a clock, makes an id or looks at the process environment, so tests can replace
//! all of it. Waiting goes through tokio's timers, which tests pause and advance.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
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

/// An outside of which every byte is known, for tests: a wall clock that stands still, identifiers that count, and only
/// the variables that are given. Waiting goes on by real time, or by tokio's paused clock.
///
/// ```
/// use cheliped::env::{Env, FixedEnv};
/// let env = Env::from(FixedEnv { now_ms: 1_700_000_000_000, id_prefix: "run-".into(), ..FixedEnv::default() });
/// assert_eq!((&*env.ids.next_id(), &*env.ids.next_id()), ("run-1", "run-2"));
/// assert_eq!(env.variables.get("HOME"), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FixedEnv {
    /// The time, in milliseconds since 1970-01-01 UTC.
    pub now_ms: u64,
    /// What identifiers begin with; a number from 1 follows.
    pub id_prefix: String,
    /// The environment variables.
    pub variables: BTreeMap<String, String>,
}

impl From<FixedEnv> for Env {
    fn from(fixed: FixedEnv) -> Self {
        let FixedEnv { now_ms, id_prefix, variables } = fixed;
        Self {
            clock: Arc::new(StandingClock { now_ms, start: tokio::time::Instant::now() }),
            ids: Arc::new(Numbered { prefix: id_prefix, last: AtomicU64::new(0) }),
            variables: Arc::new(variables),
        }
    }
}

/// The wall clock stands still; time still passes.
struct StandingClock {
    now_ms: u64,
    start: tokio::time::Instant,
}

impl Clock for StandingClock {
    fn now_ms(&self) -> u64 {
        self.now_ms
    }

    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }
}

struct Numbered {
    prefix: String,
    last: AtomicU64,
}

impl IdSource for Numbered {
    fn next_id(&self) -> Arc<str> {
        format!("{}{}", self.prefix, self.last.fetch_add(1, Ordering::Relaxed) + 1).into()
    }
}

impl Variables for BTreeMap<String, String> {
    fn get(&self, name: &str) -> Option<String> {
        BTreeMap::get(self, name).filter(|value| !value.is_empty()).cloned()
    }
}
