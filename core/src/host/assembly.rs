//! Putting an agent together of what a host language gives.

use super::approval::HostGate;
use super::checkpoint::HostCheckpoint;
use super::interceptor::HostInterceptor;
use super::provider::HostProvider;
use super::watch::{EngineHook, HookSettings, HostGuard, HostHook};
use super::{Function, read};
use crate::Agent;
use crate::agent::{AgentBuilder, IntoProvider, ProviderChoice};
use crate::env::{Env, FixedEnv, Variables};
use crate::error::Error;
use crate::hooks::{DEFAULT_PRIORITY, DebugLogHook};
use crate::tool::Tool;
use serde_json::{Map, Value};
use std::sync::Arc;

/// An agent that is being put together.
///
/// ```
/// use cheliped::host::{Assembly, script};
/// use cheliped::agent::IntoProvider;
/// let mut assembly = Assembly::new(r#"{"max_iterations": 4}"#)?;
/// assembly.provider(script(r#"[{"text": "Hello."}]"#)?.into_choice());
/// assert_eq!(assembly.build()?.provider_name(), "scripted");
/// # Ok::<(), cheliped::Error>(())
/// ```
#[must_use]
pub struct Assembly {
    builder: AgentBuilder,
    has_provider: bool,
    variables: Arc<dyn Variables>,
}

impl Assembly {
    /// Starts with the plain settings as a JSON object: those of [`AgentOptions`](crate::agent::AgentOptions), and `env`
    /// with a [`FixedEnv`].
    ///
    /// # Errors
    /// `configuration` for an unknown key or a value of another sort.
    pub fn new(options: &str) -> Result<Self, Error> {
        let mut options: Map<String, Value> = read("the options", options)?;
        let mut builder = AgentBuilder::default();
        let mut variables = Env::default().variables;
        if let Some(env) = options.remove("env") {
            let fixed: FixedEnv =
                serde_json::from_value(env).map_err(|error| Error::configuration(format!("env: {error}")))?;
            let env = Env::from(fixed);
            variables = Arc::clone(&env.variables);
            builder = builder.env(env);
        }
        // Each on its own, so that every wrong one is told, by its name.
        let problems: Vec<String> = options
            .iter()
            .filter_map(|(name, value)| {
                let alone = Map::from_iter([(name.clone(), value.clone())]);
                let error = serde_json::from_value::<crate::agent::AgentOptions>(alone.into()).err()?;
                Some(format!("option {name}: {error}"))
            })
            .collect();
        if !problems.is_empty() {
            return Err(Error::Configuration { problems });
        }
        let options = serde_json::from_value(options.into())
            .map_err(|error| Error::configuration(format!("the options: {error}")))?;
        Ok(Self { builder: builder.options(options), has_provider: false, variables })
    }

    /// Adds a tool.
    pub fn tool(&mut self, tool: Arc<dyn Tool>) {
        self.change(|builder| builder.shared_tool(tool));
    }

    /// Adds a provider: the first is the provider, later ones are fallbacks.
    pub fn provider(&mut self, provider: impl IntoProvider) {
        let first = !std::mem::replace(&mut self.has_provider, true);
        self.change(|builder| if first { builder.provider(provider) } else { builder.fallback(provider) });
    }

    /// Leaves the provider to the environment; providers that are added later are fallbacks.
    pub fn default_provider(&mut self) {
        self.has_provider = true;
    }

    /// Adds a skill: `{"name", "description", "instructions"}`.
    ///
    /// # Errors
    /// `configuration` when the JSON has another shape.
    pub fn skill(&mut self, json: &str) -> Result<(), Error> {
        let skill = read("a skill", json)?;
        self.change(|builder| builder.skill(skill));
        Ok(())
    }

    /// Adds a hook of the engine: `{"kind": "debug_log", "path", "label"}` or `{"kind": "security_alert", "url",
    /// "signing_secret", "events", "timeout_ms"}`; of each only `kind` and `path` are needed.
    ///
    /// # Errors
    /// `configuration` when the JSON has another shape, or a value cannot be used.
    pub fn hook(&mut self, json: &str) -> Result<(), Error> {
        match read("a hook", json)? {
            EngineHook::DebugLog { path, label } => {
                let hook = DebugLogHook::new(path);
                let hook = match label {
                    Some(label) => hook.label(label),
                    None => hook,
                };
                self.change(|builder| builder.on_any(hook));
            }
            EngineHook::SecurityAlert(settings) => {
                let hook = settings.hook(self.variables.as_ref())?;
                self.change(|builder| builder.security_alerts(hook));
            }
        }
        Ok(())
    }

    /// Adds a function of the kind `hook`, `guard`, `interceptor`, `approval`, `checkpoint` or `provider`.
    ///
    /// # Errors
    /// `configuration` for another kind, or settings that are not those of the kind.
    pub fn function(&mut self, kind: &str, settings: &str, function: Function) -> Result<(), Error> {
        match kind {
            "hook" => {
                let HookSettings { event, priority } = read("a hook", settings)?;
                let priority = priority.unwrap_or(DEFAULT_PRIORITY);
                self.change(|builder| builder.hook(event.as_deref(), priority, Arc::new(HostHook(function))));
            }
            "guard" => {
                let guard = HostGuard { settings: read("a guard", settings)?, function };
                let priority = guard.settings.priority.unwrap_or(DEFAULT_PRIORITY);
                if guard.settings.replace {
                    self.change(|builder| builder.replace_guard(priority, Arc::new(guard)));
                } else {
                    self.change(|builder| builder.shared_guard(priority, Arc::new(guard)));
                }
            }
            "interceptor" => {
                let interceptor = HostInterceptor { settings: read("an interceptor", settings)?, function };
                let priority = interceptor.settings.priority.unwrap_or(DEFAULT_PRIORITY);
                self.change(|builder| builder.shared_interceptor(priority, Arc::new(interceptor)));
            }
            "approval" => {
                let gate = HostGate { settings: read("the approval gate", settings)?, function };
                self.change(|builder| builder.approval_gate(gate));
            }
            "checkpoint" => {
                let checkpoint = HostCheckpoint { settings: read("the checkpoint", settings)?, function };
                self.change(|builder| builder.checkpoint(Arc::new(checkpoint)));
            }
            "provider" => self.provider(HostProvider { settings: read("a provider", settings)?, function }),
            other => return Err(Error::configuration(format!("there are no functions of the kind {other:?}"))),
        }
        Ok(())
    }

    /// Checks everything and makes the agent.
    ///
    /// # Errors
    /// As [`AgentBuilder::build`].
    pub fn build(self) -> Result<Agent, Error> {
        self.builder.build()
    }

    fn change(&mut self, change: impl FnOnce(AgentBuilder) -> AgentBuilder) {
        self.builder = change(std::mem::take(&mut self.builder));
    }
}

impl IntoProvider for ProviderChoice {
    fn into_choice(self) -> ProviderChoice {
        self
    }
}

impl std::fmt::Debug for Assembly {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.builder.fmt(f)
    }
}
