//! Outside code that may change or stop what the engine is about to do.

use super::DEFAULT_PRIORITY;
use crate::context::RunContext;
use crate::error::{BoxError, Error};
use crate::limits;
use crate::message::{Arguments, Content, Message, ToolCall, ToolResult};
use crate::provider::ModelRequest;
use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// What an interceptor decides about a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Intercept<T> {
    /// It stays as it is.
    Allow,
    /// It is replaced.
    Replace(T),
    /// It must not go on.
    Block {
        /// Why, for the caller or the model.
        reason: String,
    },
}

/// The future of an interceptor's decision.
pub type Decided<'a, T> = BoxFuture<'a, Result<Intercept<T>, BoxError>>;

/// Changes or stops at six points. An error, a panic or a time-out (15 s) blocks.
///
/// Each method allows by default; implement the ones you need.
pub trait Interceptor: Send + Sync {
    /// A label for errors and logs.
    fn name(&self) -> &str {
        "interceptor"
    }

    /// The user's message, before anything else happens. Blocking ends the run with [`Error::Guard`](crate::Error).
    fn before_run<'a>(&'a self, context: &'a RunContext, message: &'a Content) -> Decided<'a, Content> {
        let _ = (context, message);
        allow()
    }

    /// A request to the model. Blocking ends the run with [`Error::Guard`](crate::Error).
    fn before_model<'a>(&'a self, context: &'a RunContext, request: &'a ModelRequest) -> Decided<'a, ModelRequest> {
        let _ = (context, request);
        allow()
    }

    /// A tool call with tidied arguments, before approval. Blocking gives the model an error result.
    fn before_tool<'a>(&'a self, context: &'a RunContext, call: &'a ToolCall) -> Decided<'a, Arguments> {
        let _ = (context, call);
        allow()
    }

    /// A cleaned tool result. Blocking replaces it by an error result.
    fn after_tool<'a>(&'a self, context: &'a RunContext, result: &'a ToolResult) -> Decided<'a, Content> {
        let _ = (context, result);
        allow()
    }

    /// The messages that a turn adds to its conversation. Blocking leaves the turn unsaved; the answer is returned
    /// with `persist_error`.
    fn before_persist<'a>(&'a self, context: &'a RunContext, turn: &'a [Message]) -> Decided<'a, Vec<Message>> {
        let _ = (context, turn);
        allow()
    }

    /// The cleaned answer. Blocking replaces it by nothing, with a `guard.flagged` event.
    fn before_send<'a>(&'a self, context: &'a RunContext, answer: &'a str) -> Decided<'a, String> {
        let _ = (context, answer);
        allow()
    }
}

fn allow<'a, T: Send + 'a>() -> Decided<'a, T> {
    Box::pin(ready(Ok(Intercept::Allow)))
}

/// The interceptors of one agent, in order.
#[derive(Clone, Default)]
pub struct InterceptorSet(Vec<(i32, Arc<dyn Interceptor>)>);

/// Who blocked, and why.
#[derive(Debug)]
pub(crate) struct Blocked {
    pub(crate) by: String,
    pub(crate) reason: String,
    /// The interceptor's own error, when it blocked because it failed.
    source: Option<BoxError>,
}

impl From<Blocked> for Error {
    fn from(blocked: Blocked) -> Self {
        Self::Guard { guard: blocked.by, reason: blocked.reason, findings: Vec::new(), source: blocked.source }
    }
}

impl InterceptorSet {
    /// Adds an interceptor at the default priority of 10.
    pub fn push(&mut self, interceptor: impl Interceptor + 'static) {
        self.add(DEFAULT_PRIORITY, Arc::new(interceptor));
    }

    /// Adds an interceptor at a priority: lower runs first.
    pub fn add(&mut self, priority: i32, interceptor: Arc<dyn Interceptor>) {
        let place = self.0.partition_point(|(other, _)| *other <= priority);
        self.0.insert(place, (priority, interceptor));
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) async fn before_run(&self, context: &RunContext, mut message: Content) -> Result<Content, Blocked> {
        for (_, interceptor) in &self.0 {
            let decided = decide(interceptor.name(), || interceptor.before_run(context, &message)).await?;
            message = decided.unwrap_or(message);
        }
        Ok(message)
    }

    pub(crate) async fn before_model(
        &self,
        context: &RunContext,
        mut request: ModelRequest,
    ) -> Result<ModelRequest, Blocked> {
        for (_, interceptor) in &self.0 {
            let decided = decide(interceptor.name(), || interceptor.before_model(context, &request)).await?;
            request = decided.unwrap_or(request);
        }
        Ok(request)
    }

    /// Whether some interceptor changed the arguments is told, because changed ones are tidied and checked again.
    pub(crate) async fn before_tool(&self, context: &RunContext, call: &mut ToolCall) -> Result<bool, Blocked> {
        let mut changed = false;
        for (_, interceptor) in &self.0 {
            if let Some(arguments) = decide(interceptor.name(), || interceptor.before_tool(context, call)).await? {
                changed = true;
                call.arguments = arguments;
            }
        }
        Ok(changed)
    }

    pub(crate) async fn after_tool(&self, context: &RunContext, result: &mut ToolResult) -> Result<(), Blocked> {
        for (_, interceptor) in &self.0 {
            if let Some(content) = decide(interceptor.name(), || interceptor.after_tool(context, result)).await? {
                result.content = content;
            }
        }
        Ok(())
    }

    pub(crate) async fn before_persist(
        &self,
        context: &RunContext,
        mut turn: Vec<Message>,
    ) -> Result<Vec<Message>, Blocked> {
        for (_, interceptor) in &self.0 {
            let decided = decide(interceptor.name(), || interceptor.before_persist(context, &turn)).await?;
            turn = decided.unwrap_or(turn);
        }
        Ok(turn)
    }

    pub(crate) async fn before_send(&self, context: &RunContext, mut answer: String) -> Result<String, Blocked> {
        for (_, interceptor) in &self.0 {
            let decided = decide(interceptor.name(), || interceptor.before_send(context, &answer)).await?;
            answer = decided.unwrap_or(answer);
        }
        Ok(answer)
    }
}

/// Asks one interceptor; whoever cannot answer has not allowed.
async fn decide<'a, T>(name: &str, ask: impl FnOnce() -> Decided<'a, T>) -> Result<Option<T>, Blocked> {
    let blocked = |reason: String| Blocked { by: name.to_owned(), reason, source: None };
    let asked = AssertUnwindSafe(async { ask().await }).catch_unwind();
    match tokio::time::timeout(limits::INTERCEPTOR_TIMEOUT, asked).await {
        Ok(Ok(Ok(Intercept::Allow))) => Ok(None),
        Ok(Ok(Ok(Intercept::Replace(value)))) => Ok(Some(value)),
        Ok(Ok(Ok(Intercept::Block { reason }))) => Err(blocked(reason)),
        Ok(failed) => {
            // A panic is what other languages raise: one way to fail, told in the same words.
            let source = failed.ok().and_then(Result::err);
            tracing::warn!(interceptor = name, error = ?source, "interceptor failed; blocked");
            Err(Blocked { source, ..blocked("the interceptor failed".into()) })
        }
        Err(_) => Err(blocked("the interceptor did not answer in 15 s".into())),
    }
}

impl std::fmt::Debug for InterceptorSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(priority, hook)| (hook.name(), priority))).finish()
    }
}
