//! The rate limit: how many messages a caller may send.
//!
//! A token bucket for each caller: it holds `max_requests`, and as many come back in `window_seconds`, evenly. So a
//! caller cannot send twice the limit around the edge of a window.

use crate::context::RunContext;
use crate::env::Clock;
use crate::error::BoxError;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The default place in the order: before every other guard.
pub(super) const PRIORITY: i32 = -1;
/// The label of the guard in errors and events.
pub(super) const CLASS: &str = "RateLimitGuard";
/// Callers that the store of one process remembers; whoever has not used anything is forgotten first.
const MAX_CALLERS: usize = 100_000;

/// How many messages a caller may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RateLimit {
    /// Messages at once, and in each window. Default 60.
    pub max_requests: u32,
    /// Seconds in which as many become free again. Default 60.
    pub window_seconds: u32,
    /// The place in the order. Default -1, before every other guard.
    pub priority: i32,
}

impl Default for RateLimit {
    fn default() -> Self {
        Self { max_requests: 60, window_seconds: 60, priority: PRIORITY }
    }
}

/// What a store says of one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateVerdict {
    /// It may go on.
    Free,
    /// It is one too many.
    Exceeded {
        /// Messages that count at present, this one included.
        count: u64,
    },
}

/// Where the messages of callers are counted. The engine brings one for a single process; servers that share a limit
/// bring their own.
pub trait RateStore: Send + Sync {
    /// Takes one message of a caller at a time, in milliseconds on a clock that never goes back.
    ///
    /// # Errors
    /// Whatever kept the store from counting; the message is then refused.
    fn take<'a>(
        &'a self,
        caller: &'a str,
        limit: RateLimit,
        now_ms: u64,
    ) -> BoxFuture<'a, Result<RateVerdict, BoxError>>;
}

/// Counts in this process.
#[derive(Debug, Default)]
pub struct ProcessRateStore(Mutex<HashMap<String, Bucket>>);

#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// Tokens times the milliseconds of a window, so that nothing is rounded.
    filled: u64,
    at_ms: u64,
    refused: u64,
}

impl ProcessRateStore {
    fn count(&self, caller: &str, limit: RateLimit, now_ms: u64) -> RateVerdict {
        let one = u64::from(limit.window_seconds.max(1)) * 1000;
        let full = one * u64::from(limit.max_requests);
        let now_filled = |bucket: &Bucket| {
            let passed = now_ms.saturating_sub(bucket.at_ms);
            bucket.filled.saturating_add(passed.saturating_mul(u64::from(limit.max_requests))).min(full)
        };
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MAX_CALLERS && !buckets.contains_key(caller) {
            buckets.retain(|_, bucket| now_filled(bucket) < full);
            if buckets.len() >= MAX_CALLERS {
                // As many callers as that at once are themselves too much.
                return RateVerdict::Exceeded { count: u64::from(limit.max_requests) + 1 };
            }
        }
        let bucket = buckets.entry(caller.to_owned()).or_insert(Bucket { filled: full, at_ms: now_ms, refused: 0 });
        let filled = now_filled(bucket);
        bucket.at_ms = bucket.at_ms.max(now_ms);
        match filled.checked_sub(one) {
            Some(left) => {
                *bucket = Bucket { filled: left, refused: 0, ..*bucket };
                RateVerdict::Free
            }
            None => {
                *bucket = Bucket { filled, refused: bucket.refused + 1, ..*bucket };
                RateVerdict::Exceeded { count: u64::from(limit.max_requests) + bucket.refused }
            }
        }
    }
}

impl RateStore for ProcessRateStore {
    fn take<'a>(
        &'a self,
        caller: &'a str,
        limit: RateLimit,
        now_ms: u64,
    ) -> BoxFuture<'a, Result<RateVerdict, BoxError>> {
        let verdict = self.count(caller, limit, now_ms);
        Box::pin(async move { Ok(verdict) })
    }
}

/// Names the caller of a run.
pub type CallerId = Arc<dyn Fn(&RunContext) -> String + Send + Sync>;

/// A breach, for the event `guard.rate_limit_exceeded`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Breach {
    pub(crate) caller_id: String,
    pub(crate) count: u64,
    pub(crate) limit: RateLimit,
}

/// The guard.
#[derive(Clone)]
pub(super) struct RateGuard {
    pub(super) limit: RateLimit,
    pub(super) store: Arc<dyn RateStore>,
    pub(super) caller_id: Option<CallerId>,
    pub(super) clock: Arc<dyn Clock>,
}

impl RateGuard {
    /// Counts a message.
    pub(super) async fn take(&self, context: &RunContext) -> Result<Option<Breach>, BoxError> {
        let caller_id = match &self.caller_id {
            Some(name) => name(context),
            None => caller(context),
        };
        let now_ms = u64::try_from(self.clock.monotonic().as_millis()).unwrap_or(u64::MAX);
        let taken = tokio::time::timeout(LIMIT, self.store.take(&caller_id, self.limit, now_ms)).await;
        match taken.map_err(|_| "the store of the rate limit did not answer in 2 s")?? {
            RateVerdict::Free => Ok(None),
            RateVerdict::Exceeded { count } => Ok(Some(Breach { caller_id, count, limit: self.limit })),
        }
    }
}

/// Time for a store to answer.
const LIMIT: Duration = crate::limits::GUARD_TIMEOUT;

/// Tenant and user; `cli` when nobody says who is asking.
fn caller(context: &RunContext) -> String {
    match context.caller.as_ref().map(|caller| (caller.tenant.as_deref(), caller.user.as_deref())) {
        Some((Some(tenant), Some(user))) => format!("{tenant}/{user}"),
        Some((Some(only), None) | (None, Some(only))) => only.to_owned(),
        Some((None, None)) | None => "cli".to_owned(),
    }
}

impl Breach {
    pub(super) fn words(&self) -> String {
        let RateLimit { max_requests, window_seconds, .. } = self.limit;
        format!("Rate limit exceeded: maximum {max_requests} requests per {window_seconds} seconds.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_fills_evenly_and_callers_do_not_share() {
        let store = ProcessRateStore::default();
        let limit = RateLimit { max_requests: 2, window_seconds: 60, ..RateLimit::default() };
        let at = |caller: &str, second: u64| store.count(caller, limit, second * 1000);
        assert_eq!([at("a", 0), at("a", 1)], [RateVerdict::Free; 2]);
        assert_eq!(at("a", 2), RateVerdict::Exceeded { count: 3 });
        assert_eq!(at("a", 3), RateVerdict::Exceeded { count: 4 });
        assert_eq!(at("b", 3), RateVerdict::Free);
        // Half a window gives half of the requests back, and no more.
        assert_eq!(at("a", 31), RateVerdict::Free);
        assert_eq!(at("a", 32), RateVerdict::Exceeded { count: 3 });
        // However long nobody asks, no more than the limit is saved up.
        assert_eq!([at("a", 9000), at("a", 9000)], [RateVerdict::Free; 2]);
        assert_eq!(at("a", 9000), RateVerdict::Exceeded { count: 3 });
    }
}
