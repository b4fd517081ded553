//! Events and the outside code that sees them.
//!
//! A [`Hook`] watches and cannot change anything; an [`Interceptor`] may change or stop. Both belong to one agent;
//! nothing is registered globally. Lower priority runs first; equal priorities keep the order of registration.

mod debug_log;
mod emitter;
mod event;
mod interceptor;
mod security_alert;

pub use debug_log::DebugLogHook;
pub(crate) use emitter::{Emitter, Place};
pub use event::{Event, EventKey, EventName, RunEvent};
pub use interceptor::{Decided, Intercept, Interceptor, InterceptorSet};

pub use security_alert::{AlertFormat, SecurityAlertHook};

use crate::error::BoxError;
use futures::future::BoxFuture;
use std::sync::Arc;

/// Priority of a hook or an interceptor that does not say one.
pub const DEFAULT_PRIORITY: i32 = 10;

/// Watches events. An error, a panic or a time-out (30 s) is logged and the run goes on.
///
/// ```
/// use cheliped::hooks::{HookSet, hook_fn};
/// let mut hooks = HookSet::default();
/// hooks.on("tool.after", hook_fn(|event| println!("{} {:?}", event.name(), event.payload())));
/// assert_eq!(hooks.len(), 1);
/// ```
pub trait Hook: Send + Sync {
    /// Takes one event. Hooks of a run are awaited one after the other, in order.
    ///
    /// # Errors
    /// Whatever went wrong; it is logged.
    fn handle<'a>(&'a self, event: &'a RunEvent) -> BoxFuture<'a, Result<(), BoxError>>;
}

/// Makes a [`Hook`] of a function that does not wait.
pub fn hook_fn<F: Fn(&RunEvent) + Send + Sync>(function: F) -> impl Hook {
    struct FnHook<F>(F);
    impl<F: Fn(&RunEvent) + Send + Sync> Hook for FnHook<F> {
        fn handle<'a>(&'a self, event: &'a RunEvent) -> BoxFuture<'a, Result<(), BoxError>> {
            (self.0)(event);
            Box::pin(std::future::ready(Ok(())))
        }
    }
    FnHook(function)
}

/// The hooks of one agent, in order.
#[derive(Clone, Default)]
pub struct HookSet {
    entries: Vec<Entry>,
    /// One bit an event: whether some entry wants it.
    wanted: u128,
}

#[derive(Clone)]
struct Entry {
    priority: i32,
    filter: Filter,
    hook: Arc<dyn Hook>,
}

#[derive(Clone, Debug, PartialEq)]
enum Filter {
    Any,
    Name(Box<str>),
}

impl HookSet {
    /// Adds a hook for one event, at the default priority of 10. A name that no event has is accepted and never fires.
    pub fn on(&mut self, event: &str, hook: impl Hook + 'static) {
        self.add(Some(event), DEFAULT_PRIORITY, Arc::new(hook));
    }

    /// Adds a hook for every event but `provider.token` and `provider.thinking`, which must be asked for by name.
    pub fn on_any(&mut self, hook: impl Hook + 'static) {
        self.add(None, DEFAULT_PRIORITY, Arc::new(hook));
    }

    /// Adds a hook for one event, or for all, at a priority: lower runs first.
    pub fn add(&mut self, event: Option<&str>, priority: i32, hook: Arc<dyn Hook>) {
        let filter = event.map_or(Filter::Any, |name| Filter::Name(name.into()));
        for name in EventName::ALL {
            if filter.takes(*name) {
                self.wanted |= bit(*name);
            }
        }
        let place = self.entries.partition_point(|entry| entry.priority <= priority);
        self.entries.insert(place, Entry { priority, filter, hook });
    }

    /// How many hooks there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn wants(&self, event: EventName) -> bool {
        self.wanted & bit(event) != 0
    }

    fn of(&self, event: EventName) -> impl Iterator<Item = &Arc<dyn Hook>> {
        self.entries.iter().filter(move |entry| entry.filter.takes(event)).map(|entry| &entry.hook)
    }
}

fn bit(event: EventName) -> u128 {
    1 << (event as u8)
}

impl Filter {
    fn takes(&self, event: EventName) -> bool {
        match self {
            Self::Any => !matches!(event, EventName::ProviderToken | EventName::ThinkingDelta),
            Self::Name(name) => **name == *event.as_str(),
        }
    }
}

impl std::fmt::Debug for HookSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.entries.iter().map(|entry| (&entry.filter, entry.priority))).finish()
    }
}
