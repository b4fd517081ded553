//! Settings of an agent, checked once, all problems reported together.

use super::{Agent, AgentOptions, Inner};
use crate::approval::ApprovalGate;
use crate::env::Env;
use crate::error::Error;
use crate::hooks::{DEFAULT_PRIORITY, Hook, HookSet, Interceptor, InterceptorSet, SecurityAlertHook};
use crate::limits;
use crate::prompt::{SkillLine, system_prompt};
use crate::provider::retry::RetryPolicy;
use crate::provider::throttle::Throttle;
use crate::provider::{ModelChain, Provider, ProviderConfig, ToolChoice, ToolSpec};
use crate::run::{Checkpoint, Engine, NoCheckpoint, Rules, Selecting};
use crate::screening::{CallerId, Guard, GuardSet, RateStore, Vaults};
use crate::skills::Skill;
use crate::tool::call::CallLimits;
use crate::tool::clean::ResultCleaning;
use crate::tool::{LoadSkill, Registry, Tool};
use std::num::NonZeroU32;
use std::sync::{Arc, OnceLock};

/// Where a model comes from.
pub(super) enum Choice {
    /// It is ready.
    Ready(Arc<dyn Provider>),
    /// To be made of a text such as `anthropic:MODEL`.
    Named(String),
    /// To be made of settings.
    Configured(Box<ProviderConfig>),
}

/// Something that names or is a provider: a provider, a shared one, settings, or a text such as `anthropic:MODEL`,
/// `openai` or `offline`.
pub trait IntoProvider {
    /// The choice, made when the agent is built.
    #[doc(hidden)]
    fn into_choice(self) -> ProviderChoice;
}

/// A provider that an agent will use.
pub struct ProviderChoice(pub(super) Choice);

impl<P: Provider + 'static> IntoProvider for P {
    fn into_choice(self) -> ProviderChoice {
        ProviderChoice(Choice::Ready(Arc::new(self)))
    }
}

impl IntoProvider for Arc<dyn Provider> {
    fn into_choice(self) -> ProviderChoice {
        ProviderChoice(Choice::Ready(self))
    }
}

impl IntoProvider for ProviderConfig {
    fn into_choice(self) -> ProviderChoice {
        ProviderChoice(Choice::Configured(Box::new(self)))
    }
}

impl IntoProvider for &str {
    fn into_choice(self) -> ProviderChoice {
        ProviderChoice(Choice::Named(self.to_owned()))
    }
}

impl IntoProvider for String {
    fn into_choice(self) -> ProviderChoice {
        ProviderChoice(Choice::Named(self))
    }
}

/// Collects the settings of an [`Agent`]. Setters never fail; [`build`](Self::build) reports every problem at once.
///
/// ```
/// use cheliped::Agent;
/// use cheliped::provider::ScriptedProvider;
/// let agent = Agent::builder()
///     .provider(ScriptedProvider::new().reply("Hello."))
///     .system_prompt("You are Ada, a helpful librarian.")
///     .max_iterations(8)
///     .build()?;
/// assert_eq!(agent.provider_name(), "scripted");
/// # Ok::<(), cheliped::Error>(())
/// ```
#[must_use]
pub struct AgentBuilder {
    pub(super) options: AgentOptions,
    provider: Option<Choice>,
    fallbacks: Vec<Choice>,
    tools: Vec<Arc<dyn Tool>>,
    skills: Vec<Skill>,
    hooks: HookSet,
    interceptors: InterceptorSet,
    guards: GuardSet,
    gate: Option<Arc<dyn ApprovalGate>>,
    checkpoint: Arc<dyn Checkpoint>,
    env: Env,
}

impl Default for AgentBuilder {
    fn default() -> Self {
        Self {
            options: AgentOptions::default(),
            provider: None,
            fallbacks: Vec::new(),
            tools: Vec::new(),
            skills: Vec::new(),
            hooks: HookSet::default(),
            interceptors: InterceptorSet::default(),
            guards: GuardSet::default(),
            gate: None,
            checkpoint: Arc::new(NoCheckpoint),
            env: Env::default(),
        }
    }
}

impl AgentBuilder {
    /// The model: a provider, or a text such as `anthropic:MODEL`, `openai` or `offline`. Default: the first provider
    /// that the environment has a key for.
    pub fn provider(mut self, provider: impl IntoProvider) -> Self {
        self.provider = Some(provider.into_choice().0);
        self
    }

    /// A provider that is asked when those before it have failed in a way that another can mend. Added in order; wire
    /// formats may be mixed. Default: none.
    pub fn fallback(mut self, provider: impl IntoProvider) -> Self {
        self.fallbacks.push(provider.into_choice().0);
        self
    }

    /// Replaces all plain settings, for hosts that hold them as one value.
    pub fn options(mut self, options: AgentOptions) -> Self {
        self.options = options;
        self
    }

    /// Adds a tool.
    pub fn tool(self, tool: impl Tool + 'static) -> Self {
        self.shared_tool(Arc::new(tool))
    }

    /// Adds a tool that several agents share.
    pub fn shared_tool(mut self, tool: Arc<dyn Tool>) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds tools in order.
    pub fn tools(mut self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// Adds a skill. With at least one, the `load_skill` tool is registered.
    pub fn skill(mut self, skill: Skill) -> Self {
        self.skills.push(skill);
        self
    }

    /// Adds a hook for one event.
    pub fn on(mut self, event: &str, hook: impl Hook + 'static) -> Self {
        self.hooks.on(event, hook);
        self
    }

    /// Adds a hook for every event but the single pieces of a streamed answer.
    pub fn on_any(mut self, hook: impl Hook + 'static) -> Self {
        self.hooks.on_any(hook);
        self
    }

    /// Adds a hook for one event, or for all, at a priority: lower runs first, 10 is the default.
    pub fn hook(mut self, event: Option<&str>, priority: i32, hook: Arc<dyn Hook>) -> Self {
        self.hooks.add(event, priority, hook);
        self
    }

    /// Tells a web address when a guard refuses a message.
    pub fn security_alerts(mut self, alerts: SecurityAlertHook) -> Self {
        alerts.add_to(&mut self.hooks);
        self
    }

    /// Adds an interceptor.
    pub fn interceptor(self, interceptor: impl Interceptor + 'static) -> Self {
        self.shared_interceptor(DEFAULT_PRIORITY, Arc::new(interceptor))
    }

    /// Adds an interceptor at a priority: lower runs first, 10 is the default.
    pub fn shared_interceptor(mut self, priority: i32, interceptor: Arc<dyn Interceptor>) -> Self {
        self.interceptors.add(priority, interceptor);
        self
    }

    /// Adds a guard.
    pub fn guard(self, guard: impl Guard + 'static) -> Self {
        self.shared_guard(DEFAULT_PRIORITY, Arc::new(guard))
    }

    /// Adds a guard at a priority: lower runs first, 10 is the default. A second guard of one name is left out.
    pub fn shared_guard(mut self, priority: i32, guard: Arc<dyn Guard>) -> Self {
        self.guards.add(priority, guard, false);
        self
    }

    /// Adds a guard in place of the one of the same name; `injection` or `InjectionGuard` names a built-in one.
    pub fn replace_guard(mut self, priority: i32, guard: Arc<dyn Guard>) -> Self {
        self.guards.add(priority, guard, true);
        self
    }

    /// Where the rate limit counts messages. Default: in this process.
    pub fn rate_store(mut self, store: Arc<dyn RateStore>) -> Self {
        self.guards.rate_store = Some(store);
        self
    }

    /// Names the caller for the rate limit. Default: tenant and user of the [`RunContext`](crate::context::RunContext).
    pub fn caller_id(mut self, name: CallerId) -> Self {
        self.guards.caller_id = Some(name);
        self
    }

    /// Who decides about calls that change something. Default: nobody, they run.
    pub fn approval_gate(mut self, gate: impl ApprovalGate + 'static) -> Self {
        self.gate = Some(Arc::new(gate));
        self
    }

    /// Who saves the run between its steps. Default: nobody.
    pub fn checkpoint(mut self, checkpoint: Arc<dyn Checkpoint>) -> Self {
        self.checkpoint = checkpoint;
        self
    }

    /// Replaces clock, identifiers and environment variables, for tests.
    pub fn env(mut self, env: Env) -> Self {
        self.env = env;
        self
    }

    /// Checks everything and makes the agent.
    ///
    /// # Errors
    /// [`Error::Configuration`] with every problem found: an unknown provider, a missing key, two tools of one name,
    /// a name that providers do not take, an unknown name among the always included tools.
    pub fn build(self) -> Result<Agent, Error> {
        let mut problems = Vec::new();
        let mut tools = self.tools;
        let skills: Arc<[Skill]> = self.skills.into();
        if !skills.is_empty() {
            match LoadSkill::new(Arc::clone(&skills)) {
                Ok(tool) => tools.push(Arc::new(tool)),
                Err(error) => problems.push(error.to_string()),
            }
        }
        let guards = self.guards.build(&self.options.guard_rules, Arc::clone(&self.env.clock));
        let guards = guards.map_err(|error| problems.push(error.to_string())).ok();
        let registry = Registry::new(tools).unwrap_or_else(|found| {
            problems.extend(found);
            Registry::default()
        });
        let AgentOptions { mut always_include_tools, tool_choice, .. } = self.options.clone();
        if problems.is_empty() {
            for name in &always_include_tools {
                if registry.get(name).is_none() {
                    problems.push(format!("always_include_tools names {name:?}, which is not a registered tool"));
                }
            }
            if let ToolChoice::Tool { name } = &tool_choice {
                match registry.get(name) {
                    None => problems.push(format!("tool_choice names {name:?}, which is not a registered tool")),
                    Some(tool) if !tool.definition().is_listed() => {
                        problems.push(format!("tool_choice names {name:?}, which is not listed: list it"));
                    }
                    // A tool that must be called must be offered.
                    Some(_) => always_include_tools.push(name.clone()),
                }
            }
        }
        for (index, skill) in skills.iter().enumerate() {
            if skill.name.trim().is_empty() {
                problems.push("a skill has no name: give it one".to_owned());
            }
            if skills.iter().take(index).any(|other| other.name == skill.name) {
                problems.push(format!("two skills are named {:?}: rename or remove one", skill.name));
            }
        }
        let forbidden = !self.options.allow_real_providers
            || self.env.variables.get("CHELIPED_ALLOW_REAL_PROVIDERS").is_some_and(|value| value == "0");
        let mut resolve = |choice: Option<Choice>| match resolve(choice, &self.env) {
            Ok(provider) if forbidden && provider.is_real() => {
                let (name, model) = (provider.name(), provider.model());
                problems.push(format!(
                    "provider {name}/{model} goes to a real model, which is forbidden here: use a scripted provider, \
                     or allow real providers"
                ));
                None
            }
            Ok(provider) => Some(provider),
            Err(Error::Configuration { problems: found }) => {
                problems.extend(found);
                None
            }
            Err(other) => {
                problems.push(other.to_string());
                None
            }
        };
        let provider = resolve(self.provider);
        let fallbacks: Vec<_> = self.fallbacks.into_iter().filter_map(|choice| resolve(Some(choice))).collect();
        let (Some(provider), Some(guards), true) = (provider, guards, problems.is_empty()) else {
            return Err(Error::Configuration { problems });
        };

        let mut chain = ModelChain::new(provider)
            .retry(RetryPolicy { max_retries: self.options.max_retries, ..RetryPolicy::default() })
            .call_timeout(self.options.model_call_timeout);
        for fallback in fallbacks {
            chain = chain.fallback(fallback);
        }
        if let Some(per_minute) = NonZeroU32::new(self.options.requests_per_minute) {
            chain = chain.throttle(Arc::new(Throttle::new(per_minute, self.options.max_rate_wait)));
        }
        let lines: Vec<_> =
            skills.iter().map(|skill| SkillLine { name: &skill.name, description: &skill.description }).collect();
        let system = system_prompt(&self.options.system_prompt, !registry.is_empty(), &lines);
        let all: Arc<[ToolSpec]> = registry
            .iter()
            .map(|tool| tool.definition())
            .filter(|tool| tool.is_listed())
            .map(|tool| tool.spec().clone())
            .collect();
        let registry = Arc::new(registry);
        let interceptors = Arc::new(self.interceptors);
        let engine = Engine {
            rules: Rules {
                registry: Arc::clone(&registry),
                max_iterations: match self.options.max_iterations {
                    0 => limits::MAX_ITERATIONS,
                    iterations => iterations,
                },
                max_tokens_spent: Some(self.options.max_token_budget).filter(|budget| *budget > 0),
                parallel_tools: self.options.parallel_tools.max(1),
                unknown_tool: self.options.unknown_tool,
            },
            chain,
            interceptors: Arc::clone(&interceptors),
            system: system.into(),
            options: Arc::new(self.options.model_options()),
            tool_choice,
            selecting: Selecting {
                max_tools: Some(self.options.max_tools_per_turn).filter(|tools| *tools > 0),
                always_include: always_include_tools,
                all,
            },
            checkpoint: self.checkpoint,
            cleaning: self.options.sanitise_output,
            stream_mode: self.options.stream_mode,
        };
        Ok(Agent(Arc::new(Inner {
            engine,
            env: self.env,
            registry,
            hooks: Arc::new(self.hooks),
            interceptors,
            guards: Arc::new(guards),
            vaults: Vaults::default(),
            gate: self.gate,
            call_limits: CallLimits {
                timeout: self.options.tool_timeout,
                max_result_tokens: self.options.max_tool_result_tokens,
                remember_denials: self.options.remember_denials,
                scan_arguments: self.options.scan_tool_arguments,
                cleaning: ResultCleaning {
                    rules: self.options.tool_output,
                    personal: self.options.redact_pii_in_tool_results,
                    exempt: self.options.exempt_tools,
                },
            },
            fingerprint: OnceLock::new(),
        })))
    }
}

fn resolve(choice: Option<Choice>, env: &Env) -> Result<Arc<dyn Provider>, Error> {
    let variables = env.variables.as_ref();
    match choice {
        Some(Choice::Ready(provider)) => Ok(provider),
        Some(Choice::Configured(config)) => config.build(variables),
        Some(Choice::Named(text)) => ProviderConfig::parse(&text).build(variables),
        None => ProviderConfig::detect(variables).build(variables),
    }
}

impl std::fmt::Debug for AgentBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentBuilder").field("tools", &self.tools.len()).finish_non_exhaustive()
    }
}
