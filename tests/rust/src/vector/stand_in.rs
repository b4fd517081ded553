//! Stand-ins for what a host would write: tools, guards, gates, interceptors that do what a vector says.

use super::format::{DecisionCase, Does, EffectCase, GateCase, GuardCase, InterceptorCase, Point, ToolCase};
use super::world::{GateQuestion, Shared, ToolInput};
use cheliped::approval::{ApprovalGate, ApprovalRequest, Decision, DenyReason, Scope};
use cheliped::context::RunContext;
use cheliped::error::BoxError;
use cheliped::hooks::{Decided, Intercept, Interceptor};
use cheliped::message::{Arguments, Content, Message, ToolCall, ToolResult};
use cheliped::provider::ModelRequest;
use cheliped::schema::Schema;
use cheliped::screening::{Guard, Piece, Verdict};
use cheliped::tool::{Effect, Tool, ToolContext, ToolDefinition, ToolError, ToolOutput};
use futures::future::BoxFuture;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

pub(super) struct ScriptedTool {
    definition: ToolDefinition,
    case: ToolCase,
    world: Shared,
}

impl ScriptedTool {
    pub(super) fn new(case: ToolCase, world: Shared) -> Result<Self, cheliped::Error> {
        let schema = Schema::new(Value::Object(case.schema.clone()))?;
        let mut definition = ToolDefinition::new(case.name.as_str(), case.description.as_str(), schema);
        if case.idempotent {
            definition = definition.idempotent();
        }
        if case.unlisted {
            definition = definition.unlisted();
        }
        Ok(Self { definition, case, world })
    }

    async fn work(&self, arguments: Arguments, context: ToolContext) -> Result<ToolOutput, ToolError> {
        let key = context.idempotency_key().to_owned();
        let ordinal = self.world.ordinal(&self.case.name, &key);
        let input = ToolInput { tool: self.case.name.clone(), arguments: arguments.as_str().to_owned(), key };
        self.world.lock().tool_inputs.push(input);
        let steps = &self.case.returns;
        let Some(step) = steps.get(ordinal).or(steps.last()) else {
            return Err(ToolError::failed("the vector says nothing about this tool"));
        };
        if step.latency_ms > 0 {
            tokio::time::sleep(Duration::from_millis(step.latency_ms)).await;
        }
        for message in &step.progress {
            context.progress(message.as_str()).await;
        }
        if step.hang {
            std::future::pending::<()>().await;
        }
        if let Some(message) = &step.panic {
            std::panic::resume_unwind(Box::new(message.clone()));
        }
        if let Some(message) = &step.error {
            return Err(ToolError::failed(message.as_str()));
        }
        if let Some(repeat) = &step.error_repeat {
            return Err(ToolError::failed(repeat.whole()));
        }
        if let Some(message) = &step.retry {
            return Err(ToolError::retry(message.as_str()));
        }
        if let Some(message) = &step.denied {
            return Err(ToolError::denied(message.as_str()));
        }
        if let Some(message) = &step.internal {
            return Err(ToolError::internal(message.as_str(), "a secret of the host"));
        }
        if let Some(refusal) = &step.refusal {
            return Ok(ToolOutput::refusal(refusal.content.as_str(), refusal.message.as_str()));
        }
        if let Some(parts) = &step.parts {
            return Ok(parts.clone().into());
        }
        if let Some(value) = &step.json {
            return Ok(value.clone().into());
        }
        if let Some(repeat) = &step.repeat {
            return Ok(repeat.whole().into());
        }
        if step.echo {
            return Ok(arguments.as_str().into());
        }
        Ok(step.text.as_deref().unwrap_or_default().into())
    }
}

impl Tool for ScriptedTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn effect(&self, _: &Arguments) -> Effect {
        match self.case.effect {
            EffectCase::ReadOnly => Effect::ReadOnly,
            EffectCase::Mutating => Effect::Mutating,
            EffectCase::Unspecified => Effect::Unspecified,
        }
    }

    fn call<'a>(&'a self, arguments: Arguments, context: ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(self.work(arguments, context))
    }
}

pub(super) struct ScriptedGate {
    pub(super) case: GateCase,
    pub(super) world: Shared,
}

impl ApprovalGate for ScriptedGate {
    fn scope(&self) -> Scope {
        if self.case.all { Scope::All } else { Scope::Mutating }
    }

    fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, Result<Decision, BoxError>> {
        let ordinal = self.world.ordinal("the gate", request.call_id);
        self.world.lock().gate.push(GateQuestion {
            tool: request.tool.to_owned(),
            arguments: request.arguments.as_str().to_owned(),
            mutating: request.mutating,
            findings: request.findings.to_vec(),
        });
        Box::pin(async move {
            Ok(match self.case.decides.get(ordinal).or(self.case.decides.last()) {
                None | Some(DecisionCase::Allow) => Decision::Allow,
                Some(DecisionCase::AllowWith(arguments)) => Decision::AllowWith(arguments.parse()?),
                Some(DecisionCase::Deny) => Decision::Deny(DenyReason::Human),
                Some(DecisionCase::Policy(reason)) => Decision::Deny(DenyReason::Policy(reason.clone())),
                Some(DecisionCase::Suspend) => Decision::Suspend,
                Some(DecisionCase::Fail) => return Err("the gate is broken".into()),
                Some(DecisionCase::Panic) => std::panic::resume_unwind(Box::new("the gate panics")),
                Some(DecisionCase::Hang) => std::future::pending().await,
            })
        })
    }
}

pub(super) struct ScriptedGuard(pub(super) GuardCase);

impl Guard for ScriptedGuard {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn typed_only(&self) -> bool {
        self.0.typed_only
    }

    fn scan<'a>(&'a self, piece: Piece<'a>, _: &'a RunContext) -> BoxFuture<'a, Result<Verdict, BoxError>> {
        Box::pin(async move {
            if !self.0.when.as_ref().is_none_or(|when| piece.text.contains(when.as_str())) {
                return Ok(Verdict::Pass);
            }
            match self.0.does {
                Does::Allow | Does::Replace => Ok(Verdict::Pass),
                Does::Block => Ok(Verdict::Block { reason: self.0.reason.clone() }),
                Does::Fail => Err("the guard is broken".into()),
                Does::Panic => std::panic::resume_unwind(Box::new("the guard panics")),
                Does::Hang => std::future::pending().await,
            }
        })
    }
}

pub(super) struct ScriptedInterceptor(pub(super) InterceptorCase);

impl ScriptedInterceptor {
    /// Decides at one point. `shown` is the value as text, `replace` makes the new value of what the vector gives.
    fn at<'a, T: Send + 'a>(
        &'a self,
        point: Point,
        shown: String,
        replace: impl FnOnce(Value) -> Result<T, BoxError> + Send + 'a,
    ) -> Decided<'a, T> {
        let case = &self.0;
        let acts = case.point == point && case.when.as_ref().is_none_or(|when| shown.contains(when.as_str()));
        Box::pin(async move {
            if !acts {
                return Ok(Intercept::Allow);
            }
            match case.does {
                Does::Allow => Ok(Intercept::Allow),
                Does::Block => Ok(Intercept::Block { reason: case.reason.clone() }),
                Does::Replace => Ok(Intercept::Replace(replace(case.with.clone().unwrap_or_default())?)),
                Does::Fail => Err("the interceptor is broken".into()),
                Does::Panic => std::panic::resume_unwind(Box::new("the interceptor panics")),
                Does::Hang => std::future::pending().await,
            }
        })
    }
}

fn text(value: Value) -> Result<String, BoxError> {
    Ok(value.as_str().ok_or("\"with\" must be a text here")?.to_owned())
}

impl Interceptor for ScriptedInterceptor {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn before_run<'a>(&'a self, _: &'a RunContext, message: &'a Content) -> Decided<'a, Content> {
        self.at(Point::BeforeRun, message.as_text().into_owned(), |with| Ok(text(with)?.into()))
    }

    /// The text becomes a system message at the end of the request.
    fn before_model<'a>(&'a self, _: &'a RunContext, request: &'a ModelRequest) -> Decided<'a, ModelRequest> {
        let shown = request.messages.last().map(|message| message.text().into_owned()).unwrap_or_default();
        self.at(Point::BeforeModel, shown, |with| {
            let mut request = request.clone();
            Arc::make_mut(&mut request.messages).push(Message::system(text(with)?));
            Ok(request)
        })
    }

    fn before_tool<'a>(&'a self, _: &'a RunContext, call: &'a ToolCall) -> Decided<'a, Arguments> {
        let shown = format!("{} {}", call.name, call.arguments);
        self.at(Point::BeforeTool, shown, |with| Ok(text(with)?.parse()?))
    }

    fn after_tool<'a>(&'a self, _: &'a RunContext, result: &'a ToolResult) -> Decided<'a, Content> {
        self.at(Point::AfterTool, result.content.as_text().into_owned(), |with| Ok(text(with)?.into()))
    }

    fn before_persist<'a>(&'a self, _: &'a RunContext, turn: &'a [Message]) -> Decided<'a, Vec<Message>> {
        let shown: String = turn.iter().map(|message| message.text().into_owned()).collect();
        self.at(Point::BeforePersist, shown, |with| Ok(serde_json::from_value(with)?))
    }

    fn before_send<'a>(&'a self, _: &'a RunContext, answer: &'a str) -> Decided<'a, String> {
        self.at(Point::BeforeSend, answer.to_owned(), text)
    }
}
