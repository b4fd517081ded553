//! The vaults of an agent: one for each conversation, in memory only.

use crate::guard::Vault;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Conversations whose values are kept; the oldest is forgotten first.
const MAX_CONVERSATIONS: usize = 10_000;

/// A vault that the parts of a run share.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedVault(Arc<Mutex<Vault>>);

impl SharedVault {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Vault> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Vaults by conversation.
#[derive(Debug, Default)]
pub(crate) struct Vaults(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    vaults: HashMap<Arc<str>, SharedVault>,
    order: VecDeque<Arc<str>>,
}

impl Vaults {
    /// The vault of a conversation; a run without one has its own.
    pub(crate) fn of(&self, conversation: Option<&Arc<str>>) -> SharedVault {
        let Some(id) = conversation else { return SharedVault::default() };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(vault) = kept.vaults.get(id) {
            return vault.clone();
        }
        if kept.order.len() >= MAX_CONVERSATIONS
            && let Some(oldest) = kept.order.pop_front()
        {
            kept.vaults.remove(&oldest);
        }
        kept.order.push_back(Arc::clone(id));
        kept.vaults.entry(Arc::clone(id)).or_default().clone()
    }
}
