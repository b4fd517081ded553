//! Settings of an agent, checked once, all problems reported together.

use super::{Agent, Inner};
use crate::approval::ApprovalGate;
use crate::env::Env;
use crate::error::Error;
use crate::hooks::{DEFAULT_PRIORITY, Hook, HookSet, Interceptor, InterceptorSet};
use crate::limits;
use crate::prompt::{SkillLine, system_prompt};
use crate::provider::retry::RetryPolicy;
use crate::provider::throttle::{MAX_WAIT, Throttle};
use crate::provider::{ModelChain, ModelOptions, Provider, ProviderConfig, ToolChoice, ToolSpec};
use crate::run::{Checkpoint, Engine, NoCheckpoint, Rules, Selecting, StreamMode, UnknownTool};
use crate::screening::{Guard, GuardChain};
use crate::skills::Skill;
use crate::tool::call::{CallLimits, ScanToolArguments};
use crate::tool::{LoadSkill, Registry, Tool};
use std::num::NonZeroU32;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

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
    provider: Option<Choice>,
    fallbacks: Vec<Choice>,
    system_prompt: String,
    tools: Vec<Arc<dyn Tool>>,
    skills: Vec<Skill>,
    always_include: Vec<String>,
    max_iterations: u32,
    max_retries: u32,
    max_tools_per_turn: usize,
    max_token_budget: u64,
    parallel_tools: usize,
    call_timeout: Option<Duration>,
    requests_per_minute: u32,
    max_wait: Duration,
    options: ModelOptions,
    tool_choice: ToolChoice,
    unknown_tool: UnknownTool,
    sanitise_output: bool,
    stream_mode: StreamMode,
    call_limits: CallLimits,
    hooks: HookSet,
    interceptors: InterceptorSet,
    guards: GuardChain,
    gate: Option<Arc<dyn ApprovalGate>>,
    checkpoint: Arc<dyn Checkpoint>,
    allow_real_providers: bool,
    env: Env,
}

impl Default for AgentBuilder {
    fn default() -> Self {
        Self {
            provider: None,
            fallbacks: Vec::new(),
            system_prompt: String::new(),
            tools: Vec::new(),
            skills: Vec::new(),
            always_include: Vec::new(),
            max_iterations: limits::MAX_ITERATIONS,
            max_retries: 0,
            max_tools_per_turn: 0,
            max_token_budget: 0,
            parallel_tools: limits::PARALLEL_TOOLS,
            call_timeout: Some(limits::MODEL_CALL_TIMEOUT),
            requests_per_minute: 0,
            max_wait: MAX_WAIT,
            options: ModelOptions::default(),
            tool_choice: ToolChoice::Auto,
            unknown_tool: UnknownTool::Corrected,
            sanitise_output: true,
            stream_mode: StreamMode::Live,
            call_limits: CallLimits {
                timeout: limits::TOOL_TIMEOUT,
                max_result_tokens: limits::MAX_TOOL_RESULT_TOKENS,
                remember_denials: true,
                scan_arguments: ScanToolArguments::Flag,
            },
            hooks: HookSet::default(),
            interceptors: InterceptorSet::default(),
            guards: GuardChain::default(),
            gate: None,
            checkpoint: Arc::new(NoCheckpoint),
            allow_real_providers: true,
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

    /// The application's own instructions. They follow the identity line and, with tools, the doctrine. Default: none.
    pub fn system_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.system_prompt = prompt.into();
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

    /// Tools that are offered on every turn, outside the limit, and never trimmed. Default: none.
    pub fn always_include_tools(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.always_include = names.into_iter().map(Into::into).collect();
        self
    }

    /// Model calls in a run before it gives up. Default 20, which 0 also means.
    pub fn max_iterations(mut self, iterations: u32) -> Self {
        self.max_iterations = if iterations == 0 { limits::MAX_ITERATIONS } else { iterations };
        self
    }

    /// Tries after a failed model call that may succeed later. Default 0: a single try.
    pub fn max_retries(mut self, retries: u32) -> Self {
        self.max_retries = retries;
        self
    }

    /// Tools offered to the model at most; 0, the default, derives it from the model.
    pub fn max_tools_per_turn(mut self, tools: usize) -> Self {
        self.max_tools_per_turn = tools;
        self
    }

    /// Estimated tokens that a tool result may have before it is cut, at four characters a token. Default 2500; 0 is
    /// no limit.
    pub fn max_tool_result_tokens(mut self, tokens: u32) -> Self {
        self.call_limits.max_result_tokens = tokens;
        self
    }

    /// Tokens that a run may spend; 0, the default, is no limit.
    pub fn max_token_budget(mut self, tokens: u64) -> Self {
        self.max_token_budget = tokens;
        self
    }

    /// Read-only calls of one batch that run side by side. Default 8; 1 runs all calls one after the other, which 0
    /// also means.
    pub fn parallel_tools(mut self, calls: usize) -> Self {
        self.parallel_tools = calls.max(1);
        self
    }

    /// Time for one tool call. Default 180 s.
    pub fn tool_timeout(mut self, limit: Duration) -> Self {
        self.call_limits.timeout = limit;
        self
    }

    /// Time for one whole model call that is not streamed. Default 120 s; `None` is no limit.
    pub fn model_call_timeout(mut self, limit: Option<Duration>) -> Self {
        self.call_timeout = limit;
        self
    }

    /// Requests to providers per minute, and how long a request may wait for its turn. Default 0, no limit; 30 s.
    pub fn rate_limit(mut self, requests_per_minute: u32, max_wait: Duration) -> Self {
        self.requests_per_minute = requests_per_minute;
        self.max_wait = max_wait;
        self
    }

    /// Tokens of one reply at most; 0, the default, leaves it to the model.
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.options.max_tokens = (tokens > 0).then_some(tokens);
        self
    }

    /// Tokens that the model may think before it answers. Default 0, off; below 1024 is off.
    pub fn thinking_budget(mut self, tokens: u32) -> Self {
        self.options.thinking_budget = tokens;
        self
    }

    /// Whether prompts are marked for the provider's cache where that has to be asked for. Default yes.
    pub fn prompt_cache(mut self, on: bool) -> Self {
        self.options.prompt_cache = on;
        self
    }

    /// Sampling temperature. Default: the provider's own.
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.options.temperature = Some(temperature);
        self
    }

    /// Whether a tool must be called, for the first model call of a run. Default: the model decides.
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = choice;
        self
    }

    /// What happens when the model calls a tool that does not exist. Default: nearly right names are corrected.
    pub fn unknown_tool(mut self, mode: UnknownTool) -> Self {
        self.unknown_tool = mode;
        self
    }

    /// Whether PHP tags and dangerous calls are taken out of the answer. Default yes.
    pub fn sanitise_output(mut self, on: bool) -> Self {
        self.sanitise_output = on;
        self
    }

    /// Whether a stream shows the answer as the model writes it, or only when it is complete. Default: as written.
    pub fn stream_mode(mut self, mode: StreamMode) -> Self {
        self.stream_mode = mode;
        self
    }

    /// Whether a call that was denied is denied without asking when it comes again in the run. Default yes.
    pub fn remember_denials(mut self, on: bool) -> Self {
        self.call_limits.remember_denials = on;
        self
    }

    /// What guards do with the arguments of tool calls. Default: findings go to the gate and to events.
    pub fn scan_tool_arguments(mut self, mode: ScanToolArguments) -> Self {
        self.call_limits.scan_arguments = mode;
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

    /// Adds a guard at a priority: lower runs first, 10 is the default.
    pub fn shared_guard(mut self, priority: i32, guard: Arc<dyn Guard>) -> Self {
        self.guards.add(priority, guard);
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

    /// Whether providers that go over the network to a real model may be used; a test switches that off. Default yes,
    /// unless the environment variable `CHELIPED_ALLOW_REAL_PROVIDERS` is `0`.
    pub fn allow_real_providers(mut self, allow: bool) -> Self {
        self.allow_real_providers = allow;
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
        let registry = Registry::new(tools).unwrap_or_else(|found| {
            problems.extend(found);
            Registry::default()
        });
        let mut always_include = self.always_include;
        if problems.is_empty() {
            for name in &always_include {
                if registry.get(name).is_none() {
                    problems.push(format!("always_include_tools names {name:?}, which is not a registered tool"));
                }
            }
            if let ToolChoice::Tool { name } = &self.tool_choice {
                match registry.get(name) {
                    None => problems.push(format!("tool_choice names {name:?}, which is not a registered tool")),
                    Some(tool) if !tool.definition().is_listed() => {
                        problems.push(format!("tool_choice names {name:?}, which is not listed: list it"));
                    }
                    // A tool that must be called must be offered.
                    Some(_) => always_include.push(name.clone()),
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
        let forbidden = !self.allow_real_providers
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
        let (Some(provider), true) = (provider, problems.is_empty()) else {
            return Err(Error::Configuration { problems });
        };

        let mut chain = ModelChain::new(provider)
            .retry(RetryPolicy { max_retries: self.max_retries, ..RetryPolicy::default() })
            .call_timeout(self.call_timeout);
        for fallback in fallbacks {
            chain = chain.fallback(fallback);
        }
        if let Some(per_minute) = NonZeroU32::new(self.requests_per_minute) {
            chain = chain.throttle(Arc::new(Throttle::new(per_minute, self.max_wait)));
        }
        let lines: Vec<_> =
            skills.iter().map(|skill| SkillLine { name: &skill.name, description: &skill.description }).collect();
        let system = system_prompt(&self.system_prompt, !registry.is_empty(), &lines);
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
                max_iterations: self.max_iterations,
                max_tokens_spent: (self.max_token_budget > 0).then_some(self.max_token_budget),
                parallel_tools: self.parallel_tools,
                unknown_tool: self.unknown_tool,
            },
            chain,
            interceptors: Arc::clone(&interceptors),
            system: system.into(),
            options: Arc::new(self.options),
            tool_choice: self.tool_choice,
            selecting: Selecting {
                max_tools: (self.max_tools_per_turn > 0).then_some(self.max_tools_per_turn),
                always_include,
                all,
            },
            checkpoint: self.checkpoint,
            clean_answer: self.sanitise_output,
            stream_mode: self.stream_mode,
        };
        Ok(Agent(Arc::new(Inner {
            engine,
            env: self.env,
            registry,
            hooks: Arc::new(self.hooks),
            interceptors,
            guards: Arc::new(self.guards),
            gate: self.gate,
            call_limits: self.call_limits,
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
