//! One model call with everything around it: retries, the throttle, fallbacks.
//!
//! An attempt takes one request from the throttle and goes once over the members. A member is asked after another has
//! failed in a way that another provider can mend; the whole attempt is made again as the retry policy says. It does
//! not know tools, the loop or the history beyond passing them on.

use super::retry::{AfterFailure, GiveUp, RetryPolicy, joint_wait};
use super::throttle::Throttle;
use super::{ModelReply, ModelRequest, Provider, ProviderError, ProviderErrorKind, StreamPart};
use crate::limits;
use futures::StreamExt;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// A provider with its fallbacks, retries and throttle. Cloning copies references only.
#[derive(Clone)]
pub(crate) struct ModelChain {
    first: Member,
    others: Vec<Member>,
    retry: RetryPolicy,
    throttle: Option<Arc<Throttle>>,
    call_timeout: Option<Duration>,
}

/// A provider with its names at hand.
#[derive(Clone)]
struct Member {
    provider: Arc<dyn Provider>,
    name: Arc<str>,
    model: Arc<str>,
}

/// What one run remembers between its calls: the member that served last is asked first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct ChainSession {
    member: usize,
}

/// A reply and where it came from.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) reply: ModelReply,
    /// Name of the provider that answered.
    pub(crate) provider: Arc<str>,
    /// Its model.
    pub(crate) model: Arc<str>,
    /// Number of the request to a provider within this call, from 1: the number that its deltas carry.
    pub(crate) attempt: u32,
}

/// Another attempt is about to be waited for.
#[derive(Debug)]
pub(crate) struct Retry<'a> {
    /// Number of the attempt that failed, from 1. An attempt may hold several requests when there are fallbacks.
    pub(crate) attempt: u32,
    /// Its failure, with the status.
    pub(crate) error: &'a ProviderError,
    /// The wait before the next attempt.
    pub(crate) wait: Duration,
}

/// The next member is about to be asked.
#[derive(Debug)]
pub(crate) struct Fallback<'a> {
    /// Name of the provider that failed.
    pub(crate) from: &'a str,
    /// Name of the provider that is asked next.
    pub(crate) to: &'a str,
    /// HTTP status of the failure.
    pub(crate) status: Option<u16>,
}

/// Who is told what happens in a call. Everything is awaited, so a slow observer slows the reading of the stream.
pub(crate) trait Observer: Send {
    /// More text of a streamed reply. `attempt` numbers the requests of the call from 1.
    fn text(&mut self, text: String, attempt: u32) -> impl Future<Output = ()> + Send;
    /// More reasoning of a streamed reply.
    fn thinking(&mut self, thinking: String, attempt: u32) -> impl Future<Output = ()> + Send;
    /// All that this attempt gave is void.
    fn discard(&mut self, attempt: u32) -> impl Future<Output = ()> + Send;
    /// An attempt failed and will be made again.
    fn retry(&mut self, retry: Retry<'_>) -> impl Future<Output = ()> + Send;
    /// A member failed and the next is asked.
    fn fallback(&mut self, fallback: Fallback<'_>) -> impl Future<Output = ()> + Send;
    /// The call failed for good. Not told for a rejected tool call, which the run recovers from.
    fn failed(&mut self, error: &ProviderError) -> impl Future<Output = ()> + Send;
}

impl std::fmt::Debug for ModelChain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.members().map(Member::label)).finish()
    }
}

impl Member {
    fn new(provider: Arc<dyn Provider>) -> Self {
        Self { name: provider.name().into(), model: provider.model().into(), provider }
    }

    fn label(&self) -> String {
        format!("{}/{}", self.name, self.model)
    }
}

impl ModelChain {
    /// A chain of one provider, without retries and throttle, with the default time limit for whole replies.
    pub(crate) fn new(provider: Arc<dyn Provider>) -> Self {
        Self {
            first: Member::new(provider),
            others: Vec::new(),
            retry: RetryPolicy::default(),
            throttle: None,
            call_timeout: Some(limits::MODEL_CALL_TIMEOUT),
        }
    }

    /// Adds a provider that is asked when those before it have failed.
    #[must_use]
    pub(crate) fn fallback(mut self, provider: Arc<dyn Provider>) -> Self {
        self.others.push(Member::new(provider));
        self
    }

    /// Sets the retry policy.
    #[must_use]
    pub(crate) fn retry(mut self, retry: RetryPolicy) -> Self {
        self.retry = retry;
        self
    }

    /// Sets the throttle, which several chains may share.
    #[must_use]
    pub(crate) fn throttle(mut self, throttle: Arc<Throttle>) -> Self {
        self.throttle = Some(throttle);
        self
    }

    /// Sets the time limit of a reply that is not streamed; `None` for no limit.
    #[must_use]
    pub(crate) fn call_timeout(mut self, limit: Option<Duration>) -> Self {
        self.call_timeout = limit;
        self
    }

    /// Name of the provider that is asked first.
    pub(crate) fn provider_name(&self) -> &Arc<str> {
        &self.first.name
    }

    /// Its model.
    pub(crate) fn model_name(&self) -> &Arc<str> {
        &self.first.model
    }

    /// Name and model of the member that the session asks next.
    pub(crate) fn serving(&self, session: &ChainSession) -> (&Arc<str>, &Arc<str>) {
        let member = self.member(session.member);
        (&member.name, &member.model)
    }

    /// Asks for a reply.
    ///
    /// Dropping the future gives everything up.
    ///
    /// # Errors
    /// The last failure, after all retries and fallbacks.
    pub(crate) async fn ask<O: Observer>(
        &self,
        session: &mut ChainSession,
        request: &ModelRequest,
        stream: bool,
        observer: &mut O,
    ) -> Result<Served, ProviderError> {
        let mut requests = 0;
        let mut attempt = 1;
        loop {
            let mut error = match self.attempt(session, request, stream, &mut requests, observer).await {
                Ok(served) => return Ok(served),
                Err(error) => error,
            };
            match self.retry.after(attempt, &error) {
                AfterFailure::Retry(wait) => {
                    observer.retry(Retry { attempt, error: &error, wait }).await;
                    tokio::time::sleep(wait).await;
                    attempt = attempt.saturating_add(1);
                }
                AfterFailure::GiveUp(reason) => {
                    if let GiveUp::AskedToWait(wait) = reason {
                        let seconds = wait.as_secs_f64().ceil();
                        error.message.push_str(&format!("; not tried again: the provider asks to wait {seconds} s"));
                    }
                    if !error.rejected_tool_call {
                        observer.failed(&error).await;
                    }
                    return Err(error);
                }
            }
        }
    }

    /// One attempt: a token of the throttle, then the members from the one that served last, round to those before it.
    async fn attempt<O: Observer>(
        &self,
        session: &mut ChainSession,
        request: &ModelRequest,
        stream: bool,
        requests: &mut u32,
        observer: &mut O,
    ) -> Result<Served, ProviderError> {
        let count = self.others.len() + 1;
        let start = session.member % count;
        if let Some(throttle) = &self.throttle {
            let asked = self.member(start);
            throttle.take().await.map_err(|error| error.from_model(&asked.name, &asked.model))?;
        }
        let mut failures = Vec::new();
        for step in 0..count {
            let index = (start + step) % count;
            let member = self.member(index);
            *requests = requests.saturating_add(1);
            let mut delivered = false;
            let result = if stream {
                member.stream(request, *requests, &mut delivered, observer).await
            } else {
                member.send(request, self.call_timeout).await
            };
            let error = match result {
                Ok(reply) => {
                    session.member = index;
                    let (provider, model) = (Arc::clone(&member.name), Arc::clone(&member.model));
                    return Ok(Served { reply, provider, model, attempt: *requests });
                }
                Err(error) => error.from_model(&member.name, &member.model),
            };
            if delivered {
                observer.discard(*requests).await;
            }
            if !another_may_help(&error) {
                return Err(error);
            }
            if step + 1 < count {
                let to = &self.member((index + 1) % count).name;
                observer.fallback(Fallback { from: &member.name, to, status: error.status }).await;
            }
            failures.push((member, error));
        }
        Err(all_failed(failures))
    }

    fn members(&self) -> impl Iterator<Item = &Member> {
        std::iter::once(&self.first).chain(&self.others)
    }

    fn member(&self, index: usize) -> &Member {
        self.members().nth(index).unwrap_or(&self.first)
    }
}

impl Member {
    async fn send(&self, request: &ModelRequest, limit: Option<Duration>) -> Result<ModelReply, ProviderError> {
        let sending = self.provider.send(request);
        let Some(limit) = limit else { return sending.await };
        tokio::time::timeout(limit, sending).await.unwrap_or_else(|_| {
            let message = format!(
                "no whole reply within {} s; stream the reply, or raise the limit of a model call",
                limit.as_secs_f64()
            );
            Err(ProviderError::new(ProviderErrorKind::Timeout, message))
        })
    }

    async fn stream<O: Observer>(
        &self,
        request: &ModelRequest,
        number: u32,
        delivered: &mut bool,
        observer: &mut O,
    ) -> Result<ModelReply, ProviderError> {
        let mut parts = self.provider.stream(request);
        while let Some(part) = parts.next().await {
            match part? {
                StreamPart::Text(text) => {
                    *delivered = true;
                    observer.text(text, number).await;
                }
                StreamPart::Thinking(thinking) => {
                    *delivered = true;
                    observer.thinking(thinking, number).await;
                }
                StreamPart::Reply(reply) => return Ok(*reply),
            }
        }
        Err(ProviderError::new(ProviderErrorKind::Server, "the stream ended before the reply was complete"))
    }
}

/// Whether another provider can do what this one could not.
fn another_may_help(error: &ProviderError) -> bool {
    if error.rejected_tool_call {
        return false;
    }
    match error.kind {
        ProviderErrorKind::RateLimit
        | ProviderErrorKind::Overloaded
        | ProviderErrorKind::Server
        | ProviderErrorKind::Timeout => true,
        ProviderErrorKind::Auth | ProviderErrorKind::InvalidRequest => false,
    }
}

/// The failure of a whole pass: the only one as it is, of several the last with all of them named.
fn all_failed(mut failures: Vec<(&Member, ProviderError)>) -> ProviderError {
    let named: Vec<String> = failures
        .iter()
        .map(|(member, error)| match error.status {
            Some(status) => format!("{} (status {status})", member.label()),
            None => format!("{} ({})", member.label(), error.kind.name()),
        })
        .collect();
    let retryable = failures.iter().filter(|(_, error)| error.retryable);
    let wait = joint_wait(retryable.clone().map(|(_, error)| error.retry_after));
    let any_retryable = retryable.count() > 0;
    let several = failures.len() > 1;
    match failures.pop() {
        Some((_, last)) if several => ProviderError {
            kind: last.kind,
            status: last.status,
            provider: last.provider.clone(),
            model: last.model.clone(),
            message: format!("Every provider in the chain failed: {}", named.join("; ")),
            code: last.code.clone(),
            retryable: any_retryable,
            retry_after: wait,
            failed_generation: None,
            rejected_tool_call: false,
            source: Some(Box::new(last)),
        },
        Some((_, only)) => only,
        // A chain has at least one member, and each either serves or fails.
        None => ProviderError::new(ProviderErrorKind::Server, "no provider was asked"),
    }
}

#[cfg(test)]
mod tests;
