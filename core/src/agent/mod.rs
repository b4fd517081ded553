//! The front door: an agent, built once, that answers messages.
//!
//! A message goes through six steps, always the same: augment, guard, select tools, run the loop, clean the answer,
//! respond. [`pipeline`] reads like that list.

mod augment;
mod builder;
mod conversation;
mod options;
mod pipeline;
mod response;
mod stream;

pub use crate::run::StreamMode;
pub use builder::{AgentBuilder, IntoProvider, ProviderChoice};
pub use conversation::Conversation;
pub use options::{AgentOptions, OPTIONS, OptionRow, PARTS};
pub use response::AgentResponse;
pub use stream::{AgentStream, StreamEvent};

use crate::approval::ApprovalGate;
use crate::context::RunContext;
use crate::env::Env;
use crate::error::Error;
use crate::hooks::{HookSet, InterceptorSet};
use crate::limits;
use crate::message::Content;
use crate::run::{Engine, FORMAT, RunState};
use crate::screening::{GuardChain, Vaults};
use crate::tool::Registry;
use crate::tool::call::{CallLimits, hex};
use pipeline::Job;
use sha2::{Digest, Sha256};
use std::sync::{Arc, OnceLock};
use tokio::sync::mpsc;

/// An agent: a model, tools and rules. Settings are fixed when it is built; cloning shares everything, and one agent
/// serves any number of messages at the same time.
///
/// ```
/// use cheliped::Agent;
/// use cheliped::provider::ScriptedProvider;
/// use cheliped::tool::tool_fn;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Add { a: i64, b: i64 }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let model = ScriptedProvider::new().call("add", serde_json::json!({"a": 2, "b": 3})).reply("The sum is 5.");
/// let agent = Agent::builder()
///     .provider(model)
///     .tool(tool_fn("add", "Adds two numbers.", |args: Add, _| async move { Ok(args.a + args.b) })?)
///     .build()?;
/// let response = agent.send("What is 2 + 3?").await?;
/// assert_eq!(response.text, "The sum is 5.");
/// assert_eq!(response.tools_called, ["add".into()]);
/// # Ok::<(), cheliped::Error>(()) }).unwrap();
/// ```
#[derive(Clone)]
pub struct Agent(Arc<Inner>);

struct Inner {
    engine: Engine,
    env: Env,
    registry: Arc<Registry>,
    hooks: Arc<HookSet>,
    interceptors: Arc<InterceptorSet>,
    guards: Arc<GuardChain>,
    vaults: Vaults,
    gate: Option<Arc<dyn ApprovalGate>>,
    call_limits: CallLimits,
    fingerprint: OnceLock<Box<str>>,
}

impl Inner {
    fn fingerprint(&self) -> &str {
        self.fingerprint.get_or_init(|| {
            let mut hash = Sha256::new();
            let mut add = |text: &str| {
                hash.update((text.len() as u64).to_le_bytes());
                hash.update(text.as_bytes());
            };
            add(&self.engine.system);
            add(self.engine.chain.provider_name());
            add(self.engine.chain.model_name());
            for tool in self.registry.iter() {
                let spec = tool.definition().spec();
                add(&spec.name);
                add(&spec.description);
                add(spec.schema.get());
            }
            hex(&hash.finalize())
        })
    }
}

/// An answer and the conversation that it belongs to.
#[derive(Clone, Debug)]
pub struct ConversationTurn {
    /// The answer.
    pub response: AgentResponse,
    /// The conversation with this turn added; unchanged when `response.persist_error` is set.
    pub conversation: Conversation,
}

/// How a saved run goes on.
#[derive(Clone, Debug, Default)]
pub struct ResumeOptions {
    /// Values of the host, as for a new message.
    pub context: RunContext,
    /// Goes on although prompt, model or tools differ from those that the run started with. Default no.
    pub accept_changed_config: bool,
}

impl Agent {
    /// Starts building an agent.
    pub fn builder() -> AgentBuilder {
        AgentBuilder::default()
    }

    /// Sends a message and waits for the answer. Dropping the future ends the run with everything that it started.
    ///
    /// # Errors
    /// See [`Error`]. Failures of tools are not among them: the model gets them as results.
    pub async fn send(&self, message: impl Into<Content>) -> Result<AgentResponse, Error> {
        self.send_with(message, RunContext::default()).await
    }

    /// Sends a message with values of the host: caller, dependencies, signal, deadline.
    ///
    /// # Errors
    /// As [`send`](Self::send), and `cancelled` or `timeout` by the context's signal or deadline.
    pub async fn send_with(&self, message: impl Into<Content>, context: RunContext) -> Result<AgentResponse, Error> {
        let job = Job::message(message.into(), context);
        pipeline::run(Arc::clone(&self.0), job, None).await.map(|turn| turn.response)
    }

    /// Sends a message and gives its events as they happen. Nothing happens until the stream is read.
    pub fn stream(&self, message: impl Into<Content>) -> AgentStream {
        self.stream_with(message, RunContext::default())
    }

    /// Like [`stream`](Self::stream), with values of the host.
    pub fn stream_with(&self, message: impl Into<Content>, context: RunContext) -> AgentStream {
        self.stream_job(Job::message(message.into(), context))
    }

    fn stream_job(&self, job: Job) -> AgentStream {
        let (sender, events) = mpsc::channel(limits::STREAM_BUFFER);
        let may_take_back = !self.0.registry.is_empty() || !self.0.interceptors.is_empty();
        AgentStream::new(events, Box::pin(pipeline::run(Arc::clone(&self.0), job, Some(sender))), may_take_back)
    }

    /// Sends a message as the next turn of a conversation. The earlier turns reach the model as real turns; the new
    /// conversation is part of the result.
    ///
    /// # Errors
    /// As [`send`](Self::send). Then the conversation stays as it was.
    pub async fn send_in_conversation(
        &self,
        conversation: &Conversation,
        message: impl Into<Content>,
        context: RunContext,
    ) -> Result<ConversationTurn, Error> {
        let job = Job::message(message.into(), context).in_conversation(conversation);
        let turn = pipeline::run(Arc::clone(&self.0), job, None).await?;
        let conversation = turn.conversation.unwrap_or_else(|| conversation.clone());
        Ok(ConversationTurn { response: turn.response, conversation })
    }

    /// Like [`send_in_conversation`](Self::send_in_conversation), with events as they happen. The new conversation is
    /// [`AgentStream::conversation`] once the stream is read to its end.
    pub fn stream_in_conversation(
        &self,
        conversation: &Conversation,
        message: impl Into<Content>,
        context: RunContext,
    ) -> AgentStream {
        self.stream_job(Job::message(message.into(), context).in_conversation(conversation))
    }

    /// Goes on with a run that a [`Checkpoint`](crate::run::Checkpoint) saved, in this process or another. Model calls
    /// under way are made again; a tool call that had started runs again only when it changes nothing or its tool is
    /// idempotent, and is otherwise answered with "started before the stop, outcome unknown".
    ///
    /// # Errors
    /// `run_state` when the run has failed, has another format, or started with another configuration; otherwise as
    /// [`send`](Self::send).
    pub async fn resume(&self, state: RunState, options: ResumeOptions) -> Result<AgentResponse, Error> {
        let refuse = |detail: String| Error::RunState { run_id: Arc::clone(&state.run_id), detail };
        if state.format != FORMAT {
            return Err(refuse(format!("its format is {}, this engine reads {FORMAT}", state.format)));
        }
        if let crate::run::Phase::Failed { code } = &state.phase {
            return Err(refuse(format!("it ended with {code}; send the message again")));
        }
        if !options.accept_changed_config && *state.fingerprint != *self.fingerprint() {
            let detail = "prompt, model or tools differ from those that it started with; restore them, or accept the \
                          change with accept_changed_config";
            return Err(refuse(detail.into()));
        }
        let job = Job::resume(state, options.context);
        pipeline::run(Arc::clone(&self.0), job, None).await.map(|turn| turn.response)
    }

    /// Identifies what configures runs: system prompt, model and tools.
    pub fn fingerprint(&self) -> &str {
        self.0.fingerprint()
    }

    /// The composed system prompt.
    pub fn system_prompt(&self) -> &str {
        &self.0.engine.system
    }

    /// Name of the provider that is asked first.
    pub fn provider_name(&self) -> &str {
        self.0.engine.chain.provider_name()
    }

    /// The model that is asked first.
    pub fn model_name(&self) -> &str {
        self.0.engine.chain.model_name()
    }

    /// Names of the registered tools, in order.
    pub fn tool_names(&self) -> Vec<Arc<str>> {
        self.0.registry.names()
    }
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent")
            .field("provider", &self.0.engine.chain.provider_name())
            .field("model", &self.0.engine.chain.model_name())
            .field("tools", &self.0.registry)
            .finish_non_exhaustive()
    }
}
