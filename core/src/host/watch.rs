//! Hooks and guards that are functions of the host language.

use super::{Function, ask, unreadable};
use crate::context::RunContext;
use crate::error::BoxError;
use crate::hooks::{Hook, RunEvent};
use crate::screening::{Guard, Piece, Verdict};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HookSettings {
    pub(super) event: Option<String>,
    pub(super) priority: Option<i32>,
}

pub(super) struct HostHook(pub(super) Function);

impl Hook for HostHook {
    fn handle<'a>(&'a self, event: &'a RunEvent) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move { ask(&self.0, &event.payload()).await.map(|_| ()) })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GuardSettings {
    name: String,
    #[serde(default)]
    typed_only: bool,
    pub(super) priority: Option<i32>,
    #[serde(default)]
    pub(super) replace: bool,
}

pub(super) struct HostGuard {
    pub(super) settings: GuardSettings,
    pub(super) function: Function,
}

#[derive(Serialize)]
struct Scanned<'a> {
    source: String,
    text: &'a str,
}

impl Guard for HostGuard {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn typed_only(&self) -> bool {
        self.settings.typed_only
    }

    fn scan<'a>(&'a self, piece: Piece<'a>, _: &'a RunContext) -> BoxFuture<'a, Result<Verdict, BoxError>> {
        Box::pin(async move {
            let answer = ask(&self.function, &Scanned { source: piece.source.to_string(), text: piece.text }).await?;
            match serde_json::from_str(&answer).map_err(|_| unreadable("the guard", &answer))? {
                None => Ok(Verdict::Pass),
                Some(reason) => Ok(Verdict::Block { reason }),
            }
        })
    }
}
