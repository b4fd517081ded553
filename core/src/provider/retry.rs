//! Whether a failed attempt is made again, and after what wait.
//!
//! A pure decision; waiting and asking again is done in [`chain`](super::chain).

use super::ProviderError;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::Duration;

/// Wait before the first retry, before jitter; it doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The doubling stops here.
const LONGEST_BACKOFF: Duration = Duration::from_secs(30);
/// A provider that asks for a longer wait has a used-up quota rather than a busy moment.
const LONGEST_ASKED_WAIT: Duration = Duration::from_secs(60);

/// How often a failed attempt is made again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RetryPolicy {
    /// Attempts after the first. Default 0.
    pub(crate) max_retries: u32,
    /// A number from 0 to 1 that spreads the waits of many callers.
    pub(crate) jitter: fn() -> f64,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { max_retries: 0, jitter: random_share }
    }
}

/// What follows a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterFailure {
    /// Another attempt after this wait.
    Retry(Duration),
    /// No other attempt.
    GiveUp(GiveUp),
}

/// Why no other attempt is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GiveUp {
    /// All attempts are used.
    Spent,
    /// The same request would fail again.
    Final,
    /// The provider asks for a wait that is longer than a caller is kept.
    AskedToWait(Duration),
}

impl RetryPolicy {
    /// Decides after attempt number `attempt`, counted from 1.
    pub(crate) fn after(&self, attempt: u32, error: &ProviderError) -> AfterFailure {
        if !error.retryable || error.rejected_tool_call {
            return AfterFailure::GiveUp(GiveUp::Final);
        }
        if attempt > self.max_retries {
            return AfterFailure::GiveUp(GiveUp::Spent);
        }
        let asked = error.retry_after.unwrap_or_default();
        if asked > LONGEST_ASKED_WAIT {
            return AfterFailure::GiveUp(GiveUp::AskedToWait(asked));
        }
        AfterFailure::Retry(self.backoff(attempt).max(asked))
    }

    /// Half of the wait is fixed, the other half left to chance.
    fn backoff(&self, attempt: u32) -> Duration {
        let doublings = attempt.saturating_sub(1).min(16);
        let whole = FIRST_WAIT.saturating_mul(1 << doublings).min(LONGEST_BACKOFF);
        whole.mul_f64(0.5 + 0.5 * (self.jitter)().clamp(0.0, 1.0))
    }
}

/// The wait that a pass over several failed members asks for. One that asks for too long is left out while another
/// can be asked sooner.
pub(crate) fn joint_wait(waits: impl Iterator<Item = Option<Duration>> + Clone) -> Option<Duration> {
    let bearable = waits.clone().filter(|wait| wait.unwrap_or_default() <= LONGEST_ASKED_WAIT);
    match bearable.clone().count() {
        0 => waits.flatten().min(),
        _ => bearable.flatten().max(),
    }
}

/// Spread only, nothing secret: every `RandomState` has other keys.
fn random_share() -> f64 {
    f64::from((RandomState::new().build_hasher().finish() >> 32) as u32) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::ProviderErrorKind;

    fn policy(max_retries: u32, jitter: fn() -> f64) -> RetryPolicy {
        RetryPolicy { max_retries, jitter }
    }

    fn busy(asked: Option<u64>) -> ProviderError {
        let mut error = ProviderError::new(ProviderErrorKind::RateLimit, "busy").with_status(429);
        error.retry_after = asked.map(Duration::from_millis);
        error
    }

    #[test]
    fn waits_double_up_to_the_cap_and_jitter_takes_up_to_half() {
        let waits = |jitter| -> Vec<u128> {
            let waits = [1, 2, 3, 7, 40].map(|attempt| policy(99, jitter).after(attempt, &busy(None)));
            waits
                .into_iter()
                .map(|after| match after {
                    AfterFailure::Retry(wait) => wait.as_millis(),
                    AfterFailure::GiveUp(reason) => panic!("{reason:?}"),
                })
                .collect()
        };
        assert_eq!(waits(|| 1.0), [500, 1000, 2000, 30_000, 30_000]);
        assert_eq!(waits(|| 0.0), [250, 500, 1000, 15_000, 15_000]);
    }

    #[test]
    fn an_asked_wait_is_kept_and_a_long_one_ends_it() {
        let after = |asked| policy(3, || 1.0).after(1, &busy(Some(asked)));
        assert_eq!(after(20_000), AfterFailure::Retry(Duration::from_secs(20)));
        assert_eq!(after(10), AfterFailure::Retry(Duration::from_millis(500)));
        assert_eq!(after(60_001), AfterFailure::GiveUp(GiveUp::AskedToWait(Duration::from_millis(60_001))));
    }

    #[test]
    fn what_cannot_help_is_not_tried() {
        let policy = policy(1, || 1.0);
        assert_eq!(policy.after(2, &busy(None)), AfterFailure::GiveUp(GiveUp::Spent));
        let wrong = ProviderError::new(ProviderErrorKind::InvalidRequest, "wrong").with_status(400);
        assert_eq!(policy.after(1, &wrong), AfterFailure::GiveUp(GiveUp::Final));
        let mut rejected = busy(None);
        rejected.rejected_tool_call = true;
        assert_eq!(policy.after(1, &rejected), AfterFailure::GiveUp(GiveUp::Final));
        let mut quota = busy(None);
        quota.retryable = false;
        assert_eq!(policy.after(1, &quota), AfterFailure::GiveUp(GiveUp::Final));
    }

    #[test]
    fn several_waits_become_one() {
        let joint = |waits: &[Option<u64>]| {
            joint_wait(waits.iter().map(|wait| wait.map(Duration::from_secs))).map(|wait| wait.as_secs())
        };
        assert_eq!(joint(&[Some(5), None, Some(20)]), Some(20));
        assert_eq!(joint(&[Some(5), Some(300)]), Some(5));
        assert_eq!(joint(&[None, Some(300)]), None);
        assert_eq!(joint(&[Some(500), Some(300)]), Some(300));
    }

    #[test]
    fn chance_stays_between_0_and_1() {
        let shares: Vec<f64> = (0..64).map(|_| random_share()).collect();
        assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)));
        assert!(shares.iter().any(|share| *share != shares[0]));
    }
}
