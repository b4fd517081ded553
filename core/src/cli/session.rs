//! What every command that asks a model shares: its agent, and following a run to its end.

use super::console::Console;
use super::failure::Failure;
use super::interrupt::Interrupts;
use super::model;
use super::options::Common;
use super::settings::Settings;
use super::view::{Detail, View};
use super::{config, project};
use crate::Agent;
use crate::agent::{AgentResponse, AgentStream, StreamEvent};
use crate::context::RunContext;
use crate::env::Env;
use crate::error::Error;
use crate::hooks::{Event, RunEvent, hook_fn};
use std::path::Path;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior};

/// How often what turns is turned.
const FRAME: Duration = Duration::from_millis(100);
/// Notes that wait to be shown; what is more is lost.
const NOTES: usize = 64;
/// Events of which a line is shown.
const NOTED: [&str; 4] = ["provider.retry", "provider.fallback", "tool.name_corrected", "guard.flagged"];

/// An agent and all that its runs are shown with.
pub(super) struct Session {
    pub(super) agent: Agent,
    pub(super) settings: Settings,
    pub(super) interrupts: Interrupts,
    runtime: Runtime,
    notes: mpsc::Receiver<String>,
    json: bool,
    detail: Detail,
}

/// A run that was followed to its answer.
pub(super) struct Followed {
    pub(super) response: AgentResponse,
    /// The stream, read to its end.
    pub(super) stream: AgentStream,
    /// Whether Ctrl-C came too late to stop it.
    pub(super) interrupted: bool,
}

impl Session {
    /// Reads the configuration and makes the agent.
    ///
    /// # Errors
    /// Whatever is wrong with options, files, environment or the system.
    pub(super) fn open(options: &Common, directory: &Path, env: &Env) -> Result<Self, Failure> {
        let variables = env.variables.as_ref();
        let configs = config::load(options.config.as_deref(), directory, variables)?;
        let settings = Settings::new(options, configs, directory, variables)?;
        let (sender, notes) = mpsc::channel(NOTES);
        let agent = agent(&settings, directory, env, sender)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(|error| Error::Internal { detail: format!("cannot start threads: {error}") })?;
        let interrupts = Interrupts::watch(&runtime)
            .map_err(|error| Error::Internal { detail: format!("cannot watch for Ctrl-C: {error}") })?;
        let detail = match (options.quiet, options.verbose) {
            (true, _) => Detail::Quiet,
            (false, true) => Detail::Verbose,
            (false, false) => Detail::Normal,
        };
        Ok(Self { agent, settings, interrupts, runtime, notes, json: options.json, detail })
    }

    /// Runs one message to its end and shows it. The stream is made with the context that this hands out.
    ///
    /// # Errors
    /// Whatever ended the run, which JSON has told of already, or the answer cannot be written.
    pub(super) fn follow(
        &mut self,
        console: &mut Console,
        start: impl FnOnce(&Agent, RunContext) -> AgentStream,
    ) -> Result<Followed, Failure> {
        let (signal, held) = self.interrupts.cancels();
        let mut context = RunContext::new().signal(signal);
        context.deadline = self.settings.timeout;
        let mut stream = start(&self.agent, context);
        let response = match self.json {
            true => self.runtime.block_on(follow_json(&mut stream, console)),
            false => {
                let view = View::new(console, self.detail, self.settings.root.is_some());
                self.runtime.block_on(follow_view(&mut stream, &mut self.notes, view))
            }
        };
        let interrupted = held.release();
        response.map(|response| Followed { response, stream, interrupted })
    }

    /// Ends the threads without waiting for work that nobody waits for.
    pub(super) fn close(self) {
        self.runtime.shutdown_background();
    }
}

fn agent(settings: &Settings, directory: &Path, env: &Env, notes: mpsc::Sender<String>) -> Result<Agent, Error> {
    let mut builder = Agent::builder()
        .provider(model::provider(&settings.model, settings.model_timeout, directory, env.variables.as_ref())?)
        .env(env.clone())
        .max_iterations(settings.max_iterations.unwrap_or_default())
        .max_tokens(settings.max_tokens.unwrap_or_default())
        .max_retries(settings.max_retries.unwrap_or_default())
        .guard_rules(settings.guards.clone());
    if let Some(system) = &settings.system {
        builder = builder.system_prompt(system);
    }
    if let Some(limit) = settings.tool_timeout {
        builder = builder.tool_timeout(limit);
    }
    if let Some(root) = &settings.root {
        builder = builder.tools(project::tools(root)?);
    }
    for event in NOTED {
        let notes = notes.clone();
        builder = builder.on(
            event,
            hook_fn(move |event| {
                // A note that finds no room is lost: the run does not wait for whoever looks at it.
                let _ = note(event).map(|note| notes.try_send(note));
            }),
        );
    }
    builder.build()
}

fn note(event: &RunEvent) -> Option<String> {
    match &event.kind {
        Event::ProviderRetry { error, wait_ms, .. } => {
            Some(format!("(model call failed, another try in {wait_ms} ms: {error})"))
        }
        Event::ProviderFallback { from, to, .. } => Some(format!("(model {from} failed, asking {to})")),
        Event::ToolNameCorrected { tool_name, matches } => {
            Some(format!("(the model called {tool_name}, which does not exist; it was told of {})", matches.join(", ")))
        }
        Event::GuardFlagged { guard, source, reason } => Some(format!("({guard} flagged {source}: {reason})")),
        // Only the events above were asked for.
        _ => None,
    }
}

async fn follow_view(
    stream: &mut AgentStream,
    notes: &mut mpsc::Receiver<String>,
    mut view: View<'_>,
) -> Result<AgentResponse, Failure> {
    let started = Instant::now();
    let mut frames = tokio::time::interval(FRAME);
    frames.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        let event = tokio::select! {
            biased;
            event = stream.next() => event,
            Some(note) = notes.recv() => {
                view.aside(&note);
                continue;
            }
            _ = frames.tick(), if view.is_live() => {
                view.tick(started.elapsed());
                continue;
            }
        };
        match event {
            Some(Ok(event)) => {
                view.event(&event, started.elapsed())?;
                if let StreamEvent::Finished { response } = event {
                    return Ok(*response);
                }
            }
            Some(Err(error)) => {
                view.abandon();
                return Err(error.into());
            }
            None => return Err(no_end()),
        }
    }
}

async fn follow_json(stream: &mut AgentStream, console: &mut Console) -> Result<AgentResponse, Failure> {
    loop {
        match stream.next().await {
            Some(Ok(event)) => {
                write_event(console, &event)?;
                if let StreamEvent::Finished { response } = event {
                    return Ok(*response);
                }
            }
            Some(Err(error)) => {
                write_event(console, &StreamEvent::failed(&error))?;
                return Err(error.into());
            }
            None => return Err(no_end()),
        }
    }
}

/// Writes one event as a line of JSON.
///
/// # Errors
/// The handle cannot be written.
pub(super) fn write_event(console: &mut Console, event: &StreamEvent) -> Result<(), Failure> {
    let json = serde_json::to_string(event)
        .map_err(|error| Error::Internal { detail: format!("an event cannot be written as JSON: {error}") })?;
    console.json(&json)?;
    Ok(())
}

fn no_end() -> Failure {
    Error::Internal { detail: "the stream ended without a last event".into() }.into()
}
