//! An interceptor that is a function of the host language, called only for the points that it names.

use super::provider::{WireRequest, WrittenRequest};
use super::{Function, unreadable};
use crate::context::RunContext;
use crate::error::BoxError;
use crate::hooks::{Decided, Intercept, Interceptor};
use crate::message::{Arguments, Content, Message, ToolCall, ToolResult};
use crate::provider::ModelRequest;
use futures::future::ready;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Point {
    BeforeRun,
    BeforeModel,
    BeforeTool,
    AfterTool,
    BeforePersist,
    BeforeSend,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InterceptorSettings {
    name: String,
    points: Vec<Point>,
    pub(super) priority: Option<i32>,
}

pub(super) struct HostInterceptor {
    pub(super) settings: InterceptorSettings,
    pub(super) function: Function,
}

#[derive(Serialize)]
struct Shown<T> {
    point: Point,
    value: T,
}

#[derive(Serialize)]
struct ShownCall<'a> {
    id: &'a str,
    name: &'a str,
    arguments: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Block(String),
    // Kept as text, so that the arguments of a call keep every digit.
    Replace(Box<RawValue>),
}

impl HostInterceptor {
    fn at<'a, T: Send + 'a>(
        &'a self,
        point: Point,
        value: impl Serialize + Send + 'a,
        replace: impl FnOnce(&str) -> Result<T, BoxError> + Send + 'a,
    ) -> Decided<'a, T> {
        if !self.settings.points.contains(&point) {
            return Box::pin(ready(Ok(Intercept::Allow)));
        }
        let payload = super::written(&Shown { point, value });
        Box::pin(async move {
            let call = super::HostCall { payload: payload?, progress: None };
            let answer = self.function.call(call).await?;
            let told = || unreadable("the interceptor", &answer);
            match serde_json::from_str(&answer).map_err(|_| told())? {
                None => Ok(Intercept::Allow),
                Some(Answer::Block(reason)) => Ok(Intercept::Block { reason }),
                Some(Answer::Replace(value)) => Ok(Intercept::Replace(replace(value.get())?)),
            }
        })
    }
}

fn from_json<T: DeserializeOwned>(json: &str) -> Result<T, BoxError> {
    Ok(serde_json::from_str(json)?)
}

impl Interceptor for HostInterceptor {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn before_run<'a>(&'a self, _: &'a RunContext, message: &'a Content) -> Decided<'a, Content> {
        self.at(Point::BeforeRun, message, from_json)
    }

    fn before_model<'a>(&'a self, _: &'a RunContext, request: &'a ModelRequest) -> Decided<'a, ModelRequest> {
        self.at(
            Point::BeforeModel,
            WrittenRequest::of(request, None),
            |json| Ok(from_json::<WireRequest>(json)?.into()),
        )
    }

    fn before_tool<'a>(&'a self, _: &'a RunContext, call: &'a ToolCall) -> Decided<'a, Arguments> {
        let Ok(arguments) = serde_json::from_str(call.arguments.as_str()) else {
            return Box::pin(ready(Err("the arguments cannot be written".into())));
        };
        let shown = ShownCall { id: &call.id, name: &call.name, arguments };
        self.at(Point::BeforeTool, shown, |json| Ok(json.parse()?))
    }

    fn after_tool<'a>(&'a self, _: &'a RunContext, result: &'a ToolResult) -> Decided<'a, Content> {
        self.at(Point::AfterTool, result, from_json)
    }

    fn before_persist<'a>(&'a self, _: &'a RunContext, turn: &'a [Message]) -> Decided<'a, Vec<Message>> {
        self.at(Point::BeforePersist, turn, from_json)
    }

    fn before_send<'a>(&'a self, _: &'a RunContext, answer: &'a str) -> Decided<'a, String> {
        self.at(Point::BeforeSend, answer, from_json)
    }
}
