//! Hooks and guards that are functions of the host language.

use super::{Function, ask, unreadable};
use crate::context::RunContext;
use crate::env::Variables;
use crate::error::{BoxError, Error};
use crate::hooks::{Hook, RunEvent, SecurityAlertHook};
use crate::screening::{Guard, Piece, Verdict};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HookSettings {
    pub(super) event: Option<String>,
    pub(super) priority: Option<i32>,
}

/// A hook that the engine brings along.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum EngineHook {
    DebugLog { path: PathBuf, label: Option<String> },
    SecurityAlert(AlertSettings),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AlertSettings {
    url: Option<String>,
    // Read once, and not kept.
    signing_secret: Option<String>,
    events: Option<Vec<String>>,
    timeout_ms: Option<u64>,
}

impl AlertSettings {
    pub(super) fn hook(self, variables: &dyn Variables) -> Result<SecurityAlertHook, Error> {
        let mut hook = match &self.url {
            Some(url) => SecurityAlertHook::new(url)?,
            None => SecurityAlertHook::from_env(variables)?,
        };
        if let Some(secret) = &self.signing_secret {
            hook = hook.signing_secret(secret)?;
        }
        if let Some(events) = self.events {
            hook = hook.events(events);
        }
        if let Some(ms) = self.timeout_ms {
            hook = hook.timeout(Duration::from_millis(ms));
        }
        Ok(hook)
    }
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
