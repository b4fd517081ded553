//! Tools made of functions.

use super::{Effect, Routing, Tool, ToolContext, ToolDefinition, ToolError, ToolOutput};
use crate::message::Arguments;
use crate::schema::{Schema, SchemaError};
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::sync::Arc;

type Work = dyn Fn(Arguments, ToolContext) -> BoxFuture<'static, Result<ToolOutput, ToolError>> + Send + Sync;

/// A tool made of a function by [`tool_fn`] or [`tool_fn_with_schema`].
#[derive(Clone)]
pub struct FnTool {
    definition: ToolDefinition,
    effect: Effect,
    work: Arc<Work>,
}

/// Makes a tool of an async function whose argument type says its schema.
///
/// # Errors
/// [`SchemaError`] when the type's schema is no object schema.
///
/// ```
/// use cheliped::tool::{ToolError, tool_fn};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Add {
///     /// The first number.
///     a: i64,
///     /// The second number.
///     b: i64,
/// }
///
/// let add = tool_fn("add", "Adds two numbers.", |args: Add, _| async move {
///     args.a.checked_add(args.b).ok_or_else(|| ToolError::failed("the sum is too large"))
/// })?
/// .read_only();
/// # let _ = add;
/// # Ok::<(), cheliped::schema::SchemaError>(())
/// ```
pub fn tool_fn<A, F, Fut, O>(
    name: impl Into<Arc<str>>,
    description: impl Into<Arc<str>>,
    function: F,
) -> Result<FnTool, SchemaError>
where
    A: DeserializeOwned + JsonSchema,
    F: Fn(A, ToolContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O, ToolError>> + Send + 'static,
    O: Into<ToolOutput>,
{
    let schema = Schema::new(schemars::schema_for!(A).to_value())?;
    let work = move |arguments: Arguments, context: ToolContext| -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        match serde_json::from_str::<A>(arguments.as_str()) {
            Ok(typed) => {
                let running = function(typed, context);
                Box::pin(async move { running.await.map(Into::into) })
            }
            // The schema was checked; what still does not fit is for the model to mend.
            Err(error) => Box::pin(std::future::ready(Err(ToolError::failed(format!("invalid arguments: {error}"))))),
        }
    };
    Ok(FnTool::new(ToolDefinition::new(name, description, schema), Arc::new(work)))
}

/// Makes a tool of an async function with a schema made by hand.
///
/// ```
/// use cheliped::schema::Schema;
/// use cheliped::tool::tool_fn_with_schema;
///
/// let schema = Schema::new(serde_json::json!({"properties": {"city": {"type": "string"}}, "required": ["city"]}))?;
/// let weather = tool_fn_with_schema("weather", "Tells the weather.", schema, |arguments, _| async move {
///     Ok(format!("It is sunny in {}.", arguments.value()["city"].as_str().unwrap_or("the city")))
/// });
/// # let _ = weather;
/// # Ok::<(), cheliped::schema::SchemaError>(())
/// ```
pub fn tool_fn_with_schema<F, Fut, O>(
    name: impl Into<Arc<str>>,
    description: impl Into<Arc<str>>,
    schema: Schema,
    function: F,
) -> FnTool
where
    F: Fn(Arguments, ToolContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O, ToolError>> + Send + 'static,
    O: Into<ToolOutput>,
{
    let work = move |arguments: Arguments, context: ToolContext| -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        let running = function(arguments, context);
        Box::pin(async move { running.await.map(Into::into) })
    };
    FnTool::new(ToolDefinition::new(name, description, schema), Arc::new(work))
}

impl FnTool {
    fn new(definition: ToolDefinition, work: Arc<Work>) -> Self {
        Self { definition, effect: Effect::Unspecified, work }
    }

    /// Says that calls change nothing: they are not gated and run side by side.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.effect = Effect::ReadOnly;
        self
    }

    /// Says that every call changes something: it is gated and runs alone.
    #[must_use]
    pub fn mutating(mut self) -> Self {
        self.effect = Effect::Mutating;
        self
    }

    /// Says that running the same call twice does no harm.
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.definition = self.definition.idempotent();
        self
    }

    /// Adds words by which the tool is found.
    #[must_use]
    pub fn routing(mut self, routing: Routing) -> Self {
        self.definition = self.definition.routing(routing);
        self
    }
}

impl Tool for FnTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn effect(&self, _: &Arguments) -> Effect {
        self.effect
    }

    fn call<'a>(&'a self, arguments: Arguments, context: ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        (self.work)(arguments, context)
    }
}
