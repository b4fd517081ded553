//! An approval gate that is a function of the host language.

use super::{Function, ask, unreadable};
use crate::approval::{ApprovalGate, ApprovalRequest, Decision, DenyReason, Scope};
use crate::error::BoxError;
use crate::message::Arguments;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GateSettings {
    #[serde(default)]
    all: bool,
}

pub(super) struct HostGate {
    pub(super) settings: GateSettings,
    pub(super) function: Function,
}

#[derive(Serialize)]
struct Question<'a> {
    run_id: &'a str,
    call_id: &'a str,
    tool: &'a str,
    description: &'a str,
    arguments: &'a RawValue,
    mutating: bool,
    findings: &'a [String],
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Words {
    Suspend,
    Deny(String),
    AllowWith(Box<RawValue>),
}

/// Reads what the function said. The arguments are read from the text itself, so that every digit stays.
fn decision(answer: &str) -> Result<Decision, BoxError> {
    if let Ok(allowed) = serde_json::from_str::<bool>(answer) {
        return Ok(if allowed { Decision::Allow } else { Decision::Deny(DenyReason::Human) });
    }
    match serde_json::from_str(answer).map_err(|_| unreadable("the approval gate", answer))? {
        Words::Suspend => Ok(Decision::Suspend),
        Words::Deny(reason) => Ok(Decision::Deny(DenyReason::Policy(reason))),
        Words::AllowWith(arguments) => Ok(Decision::AllowWith(arguments.get().parse::<Arguments>()?)),
    }
}

impl ApprovalGate for HostGate {
    fn scope(&self) -> Scope {
        if self.settings.all { Scope::All } else { Scope::Mutating }
    }

    fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, Result<Decision, BoxError>> {
        Box::pin(async move {
            let question = Question {
                run_id: request.run_id,
                call_id: request.call_id,
                tool: request.tool,
                description: request.description,
                arguments: serde_json::from_str(request.arguments.as_str())?,
                mutating: request.mutating,
                findings: request.findings,
            };
            decision(&ask(&self.function, &question).await?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_read_and_nothing_else() {
        assert_eq!(decision("true").unwrap(), Decision::Allow);
        assert_eq!(decision("false").unwrap(), Decision::Deny(DenyReason::Human));
        assert_eq!(decision(r#""suspend""#).unwrap(), Decision::Suspend);
        assert_eq!(decision(r#"{"deny": "no"}"#).unwrap(), Decision::Deny(DenyReason::Policy("no".into())));
        let exact = r#"{"n":123456789012345678901234567890}"#;
        let expected = Decision::AllowWith(exact.parse().unwrap());
        assert_eq!(decision(&format!("{{\"allow_with\": {exact}}}")).unwrap(), expected);
        for wrong in ["null", "1", "\"yes\"", "{}", r#"{"allow": true}"#, r#"{"allow_with": [1]}"#, "true false", ""] {
            assert!(decision(wrong).is_err(), "{wrong}");
        }
    }
}
