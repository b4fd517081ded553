//! Requests per minute to a provider: a token bucket with a longest wait.
//!
//! It serves one process. Who waits is served in the order of coming; who would have to wait too long is told at once.

use super::{ProviderError, ProviderErrorKind};
use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// Longest wait for a free request, unless set otherwise.
pub(crate) const MAX_WAIT: Duration = Duration::from_secs(30);

/// The bucket: it starts full, holds one minute's requests and fills evenly.
pub(crate) struct Throttle {
    limiter: RateLimiter<NotKeyed, InMemoryState, TimerClock, NoOpMiddleware<Duration>>,
    clock: TimerClock,
    /// Time in which one request is refilled.
    period: Duration,
    max_wait: Duration,
    waiting: AtomicU32,
    /// One permit: the head of the queue.
    head: Semaphore,
}

impl std::fmt::Debug for Throttle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Throttle")
            .field("period", &self.period)
            .field("max_wait", &self.max_wait)
            .finish_non_exhaustive()
    }
}

/// Tokio's time, so that what is measured and what is slept are the same clock.
#[derive(Clone, Copy, Debug)]
struct TimerClock {
    start: Instant,
}

impl Clock for TimerClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        Instant::now().saturating_duration_since(self.start)
    }
}

impl Throttle {
    /// So many requests a minute, and at most this wait for one.
    pub(crate) fn new(per_minute: NonZeroU32, max_wait: Duration) -> Self {
        let clock = TimerClock { start: Instant::now() };
        let quota = Quota::per_minute(per_minute);
        Self {
            limiter: RateLimiter::direct_with_clock(quota, clock),
            clock,
            period: quota.replenish_interval(),
            max_wait,
            waiting: AtomicU32::new(0),
            head: Semaphore::new(1),
        }
    }

    /// Takes one request from the bucket, waiting for it if need be.
    ///
    /// # Errors
    /// `rate_limit` with status 429 when the wait would be longer than allowed; nothing is taken then.
    pub(crate) async fn take(&self) -> Result<(), ProviderError> {
        let place = Place::join(&self.waiting);
        let wait = match place.ahead {
            0 => match self.limiter.check() {
                Ok(()) => return Ok(()),
                Err(full) => full.wait_time_from(self.clock.now()),
            },
            // The head waits for one period at most, and so does everyone behind it.
            ahead => self.period.saturating_mul(ahead.saturating_add(1)),
        };
        if wait > self.max_wait {
            return Err(self.refuse(wait));
        }
        // Never closed, so this cannot fail.
        let _head = self.head.acquire().await;
        while let Err(full) = self.limiter.check() {
            tokio::time::sleep(full.wait_time_from(self.clock.now())).await;
        }
        Ok(())
    }

    fn refuse(&self, wait: Duration) -> ProviderError {
        let message = format!(
            "rate limit wait exceeded: waiting {}ms for a token would exceed the {}ms maximum wait",
            wait.as_nanos().div_ceil(1_000_000),
            self.max_wait.as_millis()
        );
        let mut error = ProviderError::new(ProviderErrorKind::RateLimit, message).with_status(429);
        error.retry_after = Some(wait);
        error
    }
}

/// A place in the queue, left on drop, so that a caller who gives up holds nobody back.
struct Place<'a> {
    waiting: &'a AtomicU32,
    ahead: u32,
}

impl<'a> Place<'a> {
    fn join(waiting: &'a AtomicU32) -> Self {
        Self { waiting, ahead: waiting.fetch_add(1, Ordering::AcqRel) }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;
    use std::sync::Arc;

    fn throttle(per_minute: u32, max_wait_ms: u64) -> Throttle {
        Throttle::new(NonZeroU32::new(per_minute).unwrap(), Duration::from_millis(max_wait_ms))
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_bucket_serves_at_once_and_refuses_with_the_wait() {
        let throttle = throttle(1, 0);
        assert!(throttle.take().now_or_never().unwrap().is_ok());
        tokio::time::advance(Duration::from_secs(20)).await;
        let error = throttle.take().now_or_never().unwrap().unwrap_err();
        assert_eq!(
            error.message,
            "rate limit wait exceeded: waiting 40000ms for a token would exceed the 0ms maximum wait"
        );
        assert_eq!((error.kind, error.status), (ProviderErrorKind::RateLimit, Some(429)));
        assert_eq!(error.retry_after, Some(Duration::from_secs(40)));
        tokio::time::advance(Duration::from_secs(41)).await;
        assert!(throttle.take().now_or_never().unwrap().is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn waiters_are_served_one_a_period_in_order() {
        let throttle = Arc::new(throttle(60, 10_000));
        for _ in 0..60 {
            throttle.take().now_or_never().unwrap().unwrap();
        }
        let start = Instant::now();
        let waiters: Vec<_> = (0..3)
            .map(|_| {
                let throttle = Arc::clone(&throttle);
                tokio::spawn(async move { throttle.take().await.map(|()| start.elapsed().as_secs_f64().round()) })
            })
            .collect();
        let mut served = Vec::new();
        for waiter in waiters {
            served.push(waiter.await.unwrap().unwrap());
        }
        assert_eq!(served, [1.0, 2.0, 3.0]);
    }

    #[tokio::test(start_paused = true)]
    async fn the_queue_counts_and_a_dropped_waiter_leaves_it() {
        let throttle = throttle(60, 1500);
        for _ in 0..60 {
            throttle.take().now_or_never().unwrap().unwrap();
        }
        let mut first = Box::pin(throttle.take());
        assert!(first.as_mut().now_or_never().is_none());
        // Two periods are over the longest wait.
        assert!(throttle.take().now_or_never().unwrap().is_err());
        drop(first);
        assert!(throttle.take().await.is_ok());
    }
}
