//! Carries the events of one run to its hooks and its stream, in one order.
//!
//! With hooks, events pass through a bounded lane that [`Delivery`] empties while the run is polled; the emitter
//! waits until the hooks have seen its event. Without hooks they go straight to the stream. Without either, nothing
//! is built at all. The lane is filled in the order of the sequence numbers, also by calls that run side by side.

use super::{Event, EventName, HookSet, RunEvent};
use crate::env::Clock;
use crate::limits;
use futures::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot};

/// Where in a run an event belongs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    pub(crate) iteration: Option<u32>,
    pub(crate) attempt: Option<u32>,
    pub(crate) call_id: Option<Arc<str>>,
}

impl Place {
    pub(crate) fn iteration(iteration: u32) -> Self {
        Self { iteration: Some(iteration), ..Self::default() }
    }

    pub(crate) fn attempt(iteration: u32, attempt: u32) -> Self {
        Self { iteration: Some(iteration), attempt: Some(attempt), call_id: None }
    }

    pub(crate) fn call(iteration: u32, call_id: &Arc<str>) -> Self {
        Self { iteration: Some(iteration), attempt: None, call_id: Some(Arc::clone(call_id)) }
    }
}

/// Hands events of one run on. Cloning shares it.
#[derive(Clone)]
pub(crate) struct Emitter(Arc<Inner>);

struct Inner {
    run_id: Arc<str>,
    parent_run_id: Option<Arc<str>>,
    conversation_id: Option<Arc<str>>,
    clock: Arc<dyn Clock>,
    hooks: Arc<HookSet>,
    seq: AtomicU64,
    iteration_id: Mutex<(u32, Arc<str>)>,
    lane: Option<mpsc::Sender<Envelope>>,
    stream: Option<mpsc::Sender<RunEvent>>,
}

struct Envelope {
    event: RunEvent,
    seen: Option<oneshot::Sender<()>>,
}

/// Calls the hooks. Must be polled beside the run that emits.
pub(crate) struct Delivery {
    hooks: Arc<HookSet>,
    lane: Option<mpsc::Receiver<Envelope>>,
    stream: Option<mpsc::Sender<RunEvent>>,
}

impl Emitter {
    pub(crate) fn new(
        run_id: Arc<str>,
        parent_run_id: Option<Arc<str>>,
        conversation_id: Option<Arc<str>>,
        clock: Arc<dyn Clock>,
        hooks: Arc<HookSet>,
        stream: Option<mpsc::Sender<RunEvent>>,
    ) -> (Self, Delivery) {
        let (lane, receiver) = if hooks.is_empty() {
            (None, None)
        } else {
            let (sender, receiver) = mpsc::channel(limits::STREAM_BUFFER);
            (Some(sender), Some(receiver))
        };
        let delivery = Delivery { hooks: Arc::clone(&hooks), lane: receiver, stream: stream.clone() };
        let inner = Inner {
            run_id,
            parent_run_id,
            conversation_id,
            clock,
            hooks,
            seq: AtomicU64::new(0),
            iteration_id: Mutex::new((0, Arc::from(""))),
            lane,
            stream,
        };
        (Self(Arc::new(inner)), delivery)
    }

    pub(crate) fn run_id(&self) -> &Arc<str> {
        &self.0.run_id
    }

    pub(crate) fn is_streaming(&self) -> bool {
        self.0.stream.is_some()
    }

    /// Whether anybody would see this event.
    pub(crate) fn wants(&self, name: EventName) -> bool {
        self.0.hooks.wants(name) || (self.0.stream.is_some() && name.stream_name().is_some())
    }

    /// Hands on an event and waits until the hooks have seen it. The event is built only when somebody wants it.
    pub(crate) async fn emit(&self, name: EventName, place: Place, event: impl FnOnce() -> Event) {
        if !self.wants(name) {
            return;
        }
        let event = event();
        let waits = name != EventName::ProviderToken && name != EventName::ThinkingDelta;
        match (&self.0.lane, &self.0.stream) {
            (Some(lane), _) => {
                // A permit first, the number second: numbers follow the order in the lane.
                let Ok(permit) = lane.reserve().await else { return };
                let (sender, seen) = oneshot::channel();
                let seen = if waits {
                    permit.send(Envelope { event: self.place(place, event), seen: Some(sender) });
                    Some(seen)
                } else {
                    permit.send(Envelope { event: self.place(place, event), seen: None });
                    None
                };
                if let Some(seen) = seen {
                    // An error means that the delivery is gone, and with it everyone who could see the event.
                    let _ = seen.await;
                }
            }
            (None, Some(stream)) => {
                let Ok(permit) = stream.reserve().await else { return };
                permit.send(self.place(place, event));
            }
            (None, None) => {}
        }
    }

    /// `{run_id}_I{n}`, made once for the many events of an iteration.
    fn iteration_id(&self, iteration: u32) -> Arc<str> {
        let mut last = self.0.iteration_id.lock().unwrap_or_else(PoisonError::into_inner);
        if last.0 != iteration {
            *last = (iteration, format!("{}_I{iteration}", self.0.run_id).into());
        }
        Arc::clone(&last.1)
    }

    fn place(&self, place: Place, kind: Event) -> RunEvent {
        let inner = &self.0;
        let parent_run_id = match place.iteration {
            Some(iteration) => Some(self.iteration_id(iteration)),
            None => inner.parent_run_id.clone(),
        };
        RunEvent {
            run_id: Arc::clone(&inner.run_id),
            seq: inner.seq.fetch_add(1, Ordering::Relaxed),
            at_ms: inner.clock.now_ms(),
            parent_run_id,
            iteration: place.iteration,
            attempt: place.attempt,
            call_id: place.call_id,
            streaming: inner.stream.is_some(),
            conversation_id: inner.conversation_id.clone(),
            kind,
        }
    }
}

impl Delivery {
    /// Runs until it is dropped.
    pub(crate) async fn run(mut self) {
        if let Some(lane) = &mut self.lane {
            while let Some(envelope) = lane.recv().await {
                call_hooks(&self.hooks, &envelope.event).await;
                if let Some(stream) = &self.stream
                    && envelope.event.kind.name().stream_name().is_some()
                {
                    // A closed stream has nobody who waits for this event.
                    let _ = stream.send(envelope.event).await;
                }
                if let Some(seen) = envelope.seen {
                    let _ = seen.send(());
                }
            }
        }
        drop(self.stream);
        std::future::pending().await
    }
}

async fn call_hooks(hooks: &HookSet, event: &RunEvent) {
    for hook in hooks.of(event.kind.name()) {
        let call = AssertUnwindSafe(async { hook.handle(event).await }).catch_unwind();
        match tokio::time::timeout(limits::HOOK_TIMEOUT, call).await {
            Ok(Ok(Ok(()))) => {}
            Ok(Ok(Err(error))) => tracing::warn!(event = event.name(), %error, "hook error; the run goes on"),
            Ok(Err(_)) => tracing::warn!(event = event.name(), "hook panicked; the run goes on"),
            Err(_) => tracing::warn!(event = event.name(), "hook did not return in 30 s; the run goes on"),
        }
    }
}
