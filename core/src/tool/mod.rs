//! Tools: what a model may do, and the only place where it is done.
//!
//! A [`Tool`] is a definition, a statement about what a call changes, and the work. [`tool_fn`] makes one of a
//! function. The registry, selection and the running of calls are the engine's.

pub(crate) mod call;
pub(crate) mod clean;
mod failure;
mod function;
mod leaves;
mod load_skill;
mod output;
pub(crate) mod profile;
mod registry;
pub(crate) mod select;

pub use call::ScanToolArguments;
pub use clean::{Fence, OnInjection, ToolOutputRules};
pub use failure::{ToolError, ToolErrorKind};
pub use function::{FnTool, tool_fn, tool_fn_with_schema};
pub use load_skill::LoadSkill;
pub use output::ToolOutput;
pub use registry::Registry;
pub use select::Routing;

use crate::context::RunContext;
use crate::message::Arguments;
use crate::provider::ToolSpec;
use crate::schema::Schema;
use futures::future::BoxFuture;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Something that a model may call.
///
/// ```
/// use cheliped::message::Arguments;
/// use cheliped::schema::Schema;
/// use cheliped::tool::{Effect, Tool, ToolContext, ToolDefinition, ToolError, ToolOutput};
/// use futures::future::BoxFuture;
///
/// struct Clock(ToolDefinition);
///
/// impl Tool for Clock {
///     fn definition(&self) -> &ToolDefinition {
///         &self.0
///     }
///     fn effect(&self, _: &Arguments) -> Effect {
///         Effect::ReadOnly
///     }
///     fn call<'a>(&'a self, _: Arguments, _: ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
///         Box::pin(async { Ok("12:00".into()) })
///     }
/// }
///
/// let clock = Clock(ToolDefinition::new("clock", "Tells the time.", Schema::empty().unwrap()));
/// assert_eq!(clock.definition().name(), "clock");
/// ```
pub trait Tool: Send + Sync {
    /// Name, description and schema.
    fn definition(&self) -> &ToolDefinition;

    /// What a call with these arguments changes. Must answer at once and always the same. Default: unspecified.
    fn effect(&self, arguments: &Arguments) -> Effect {
        let _ = arguments;
        Effect::Unspecified
    }

    /// Does the work. Dropping the future must stop it.
    ///
    /// # Errors
    /// A [`ToolError`], which becomes an error result for the model; so does a panic.
    fn call<'a>(&'a self, arguments: Arguments, context: ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>>;
}

/// What a call changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Nothing: it is not gated, and runs beside other such calls of a batch.
    ReadOnly,
    /// Something: it is gated and runs alone.
    Mutating,
    /// The tool does not say: it is not gated and runs alone.
    Unspecified,
}

/// What the engine knows of a tool before it runs. Cloning copies references only.
#[derive(Clone, Debug)]
pub struct ToolDefinition {
    spec: ToolSpec,
    schema: Schema,
    idempotent: bool,
    eligible: bool,
    routing: Option<Arc<Routing>>,
}

impl ToolDefinition {
    /// A definition. The name must have 1 to 64 letters, digits, `_` or `-`, which building the agent checks.
    pub fn new(name: impl Into<Arc<str>>, description: impl Into<Arc<str>>, schema: Schema) -> Self {
        let spec = ToolSpec { name: name.into(), description: description.into(), schema: Arc::clone(schema.text()) };
        Self { spec, schema, idempotent: false, eligible: true, routing: None }
    }

    /// Says that running the same call twice does no harm, so a call that was interrupted may run again.
    /// Default no.
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.idempotent = true;
        self
    }

    /// Keeps the tool out of the list that the model gets; it can still be called by name. Default: listed.
    #[must_use]
    pub fn unlisted(mut self) -> Self {
        self.eligible = false;
        self
    }

    /// Adds words by which the tool is found.
    #[must_use]
    pub fn routing(mut self, routing: Routing) -> Self {
        self.routing = Some(Arc::new(routing));
        self
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// The description.
    pub fn description(&self) -> &str {
        &self.spec.description
    }

    /// The schema of the arguments.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Whether an interrupted call may run again.
    pub fn is_idempotent(&self) -> bool {
        self.idempotent
    }

    /// Whether the model is told of the tool.
    pub fn is_listed(&self) -> bool {
        self.eligible
    }

    /// The words by which it is found.
    pub fn routing_words(&self) -> Option<&Routing> {
        self.routing.as_deref()
    }

    /// The tool as the model sees it.
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }
}

/// What a tool knows of the call that it runs for. Cloning shares it.
#[derive(Clone)]
pub struct ToolContext(Arc<CallScope>);

pub(crate) struct CallScope {
    pub(crate) run_id: Arc<str>,
    pub(crate) call_id: Arc<str>,
    pub(crate) idempotency_key: String,
    pub(crate) iteration: u32,
    pub(crate) context: Arc<RunContext>,
    pub(crate) signal: CancellationToken,
    pub(crate) progress: call::Progress,
}

impl ToolContext {
    pub(crate) fn new(scope: CallScope) -> Self {
        Self(Arc::new(scope))
    }

    /// The run.
    pub fn run_id(&self) -> &str {
        &self.0.run_id
    }

    /// The call, unique within the run.
    pub fn call_id(&self) -> &str {
        &self.0.call_id
    }

    /// The same for every try of this call, also after a restart: hand it to services that can drop repeats.
    pub fn idempotency_key(&self) -> &str {
        &self.0.idempotency_key
    }

    /// The iteration, from 1.
    pub fn iteration(&self) -> u32 {
        self.0.iteration
    }

    /// The host's values for this run.
    pub fn run(&self) -> &RunContext {
        &self.0.context
    }

    /// Cancelled when the run ends without waiting for the tool. Work on other threads should watch it.
    pub fn signal(&self) -> &CancellationToken {
        &self.0.signal
    }

    /// Tells whoever watches the run how far the tool is.
    pub async fn progress(&self, message: impl Into<Arc<str>>) {
        self.0.progress.tell(message.into()).await;
    }
}

impl std::fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolContext").field("run_id", &self.0.run_id).field("call_id", &self.0.call_id).finish()
    }
}
