//! Makes an agent of a vector.

use super::format::{Case, Mode};
use super::stand_in::{ScriptedGate, ScriptedGuard, ScriptedInterceptor, ScriptedTool};
use super::world::Shared;
use cheliped::agent::{Conversation, StreamMode};
use cheliped::context::{Caller, RunContext};
use cheliped::env::{Env, FixedEnv};
use cheliped::hooks::Hook;
use cheliped::provider::{Script, ScriptedProvider};
use cheliped::run::Checkpoint;
use cheliped::skills::Skill;
use cheliped::{Agent, Error};
use std::sync::Arc;
use std::time::Duration;

/// An agent with the models that it asks.
pub struct Made {
    /// The agent.
    pub agent: Agent,
    /// The first model, then the fallbacks.
    pub models: Vec<ScriptedProvider>,
}

/// An environment of which every byte is known.
pub(super) fn env() -> Env {
    FixedEnv { now_ms: 1_700_000_000_000, id_prefix: "run-".into(), ..FixedEnv::default() }.into()
}

/// Makes the agent of a case, within a runtime. The first `skip` steps of the script are taken as used up.
///
/// # Errors
/// What building the agent says; a script that cannot be read is `internal`.
pub(super) fn agent(
    case: &Case,
    mode: Mode,
    world: &Shared,
    hook: Arc<dyn Hook>,
    checkpoint: Arc<dyn Checkpoint>,
    skip: usize,
) -> Result<Made, Error> {
    let wrong = |error: serde_json::Error| Error::Internal { detail: format!("script of {}: {error}", case.name) };
    let mut script: Script = serde_json::from_str(case.script.get()).map_err(wrong)?;
    // A step that repeats is never used up.
    let used = if script.repeat { script.steps.len().saturating_sub(1) } else { script.steps.len() };
    script.steps.drain(..skip.min(used));
    let mut models = vec![ScriptedProvider::from(script)];
    let mut builder =
        Agent::builder().options(case.options.clone()).provider(models.first().cloned().unwrap_or_default());
    for fallback in &case.fallbacks {
        let script: Script = serde_json::from_str(fallback.get()).map_err(wrong)?;
        let model = ScriptedProvider::from(script);
        builder = builder.fallback(model.clone());
        models.push(model);
    }
    for tool in &case.tools {
        builder = builder.tool(ScriptedTool::new(tool.clone(), world.clone())?);
    }
    for skill in &case.skills {
        builder = builder.skill(Skill::new(&*skill.name, &*skill.description, &*skill.instructions));
    }
    if let Some(gate) = &case.gate {
        builder = builder.approval_gate(ScriptedGate { case: gate.clone(), world: world.clone() });
    }
    for guard in &case.guards {
        let priority = guard.priority.unwrap_or(cheliped::hooks::DEFAULT_PRIORITY);
        builder = builder.shared_guard(priority, Arc::new(ScriptedGuard(guard.clone())));
    }
    for interceptor in &case.interceptors {
        let priority = interceptor.priority.unwrap_or(cheliped::hooks::DEFAULT_PRIORITY);
        builder = builder.shared_interceptor(priority, Arc::new(ScriptedInterceptor(interceptor.clone())));
    }
    builder = match mode {
        Mode::Send | Mode::Live => builder,
        Mode::Replay => builder.stream_mode(StreamMode::Replay),
    };
    let agent = builder.hook(None, i32::MAX, hook).checkpoint(checkpoint).env(env()).build()?;
    Ok(Made { agent, models })
}

/// Makes the agent of a case as a host would, without a recorder.
///
/// # Errors
/// What building the agent says.
pub fn make(case: &Case) -> Result<Made, Error> {
    let silent = Arc::new(cheliped::hooks::hook_fn(|_| {}));
    agent(case, Mode::Send, &Shared::default(), silent, Arc::new(cheliped::run::NoCheckpoint), 0)
}

pub(super) fn context(case: &Case) -> RunContext {
    let given = &case.context;
    let mut context = RunContext::new();
    if given.tenant.is_some() || given.user.is_some() || !given.scopes.is_empty() {
        let (tenant, user, scopes) = (given.tenant.clone(), given.user.clone(), given.scopes.clone());
        context = context.caller(Caller { tenant, user, scopes });
    }
    if let Some(deadline) = given.deadline_ms {
        context = context.deadline(Duration::from_millis(deadline));
    }
    if let Some(parent) = &given.parent_run_id {
        context = context.parent_run_id(parent.as_str());
    }
    if given.cancelled {
        context.signal.cancel();
    }
    given.pieces.iter().cloned().fold(context, RunContext::piece)
}

pub(super) fn conversation(case: &Case) -> Option<Conversation> {
    let given = case.conversation.as_ref()?;
    let conversation = Conversation::with_id(given.id.as_str()).with_metadata(given.metadata.clone());
    Some(given.history.iter().cloned().fold(conversation, Conversation::with_message))
}
