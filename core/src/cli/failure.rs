//! How a command can end other than well: the exit code, and words for a person.

use super::escape;
use crate::error::{Error, ProviderErrorKind};
use std::fmt::Write as _;

/// Why a command stopped.
#[derive(Debug)]
pub(super) enum Failure {
    /// The engine, the configuration or the input.
    Error(Error),
    /// Whoever read the answer has gone; there is nobody to tell.
    Closed,
    /// The answer cannot be written.
    Output(std::io::Error),
}

/// How the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// Done, or the reader has gone.
    Done,
    /// The run failed.
    Failed,
    /// Wrong usage or configuration.
    Usage,
    /// Ctrl-C.
    Interrupted,
}

impl Exit {
    pub(super) fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Interrupted => 130,
        }
    }
}

impl Failure {
    /// A usage error.
    pub(super) fn usage(problem: impl Into<String>) -> Self {
        Self::Error(Error::configuration(problem))
    }

    pub(super) fn exit(&self) -> Exit {
        match self {
            Self::Error(Error::Configuration { .. }) => Exit::Usage,
            Self::Error(Error::Cancelled) => Exit::Interrupted,
            Self::Error(_) | Self::Output(_) => Exit::Failed,
            Self::Closed => Exit::Done,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Output(error),
        }
    }
}

/// The error in lines for a person: its code, what happened, what to do.
pub(super) fn describe(error: &Error) -> String {
    let mut text = match error {
        Error::Configuration { problems } => match problems.as_slice() {
            [only] => format!("cheliped: {only}"),
            problems => {
                let mut text = format!("cheliped: {} problems", problems.len());
                for problem in problems {
                    let _ = write!(text, "\n  - {problem}");
                }
                text
            }
        },
        Error::Cancelled => "cheliped: interrupted".to_owned(),
        other => format!("cheliped: {other}"),
    };
    let _ = write!(text, " [{}]", error.code());
    if let Some(advice) = advice(error) {
        let _ = write!(text, "\n  {advice}");
    }
    escape::lines(&text)
}

/// What a person can do about an error, where its text does not say so itself.
fn advice(error: &Error) -> Option<&'static str> {
    match error {
        Error::Provider(error) => Some(match error.kind {
            ProviderErrorKind::Auth => "Check the API key in the environment, and that it may use this model.",
            ProviderErrorKind::RateLimit => {
                "Wait and try again, set max_retries in the configuration, or use another --provider."
            }
            ProviderErrorKind::Overloaded => "Try again in a while, or use another --provider or --model.",
            ProviderErrorKind::InvalidRequest => "Check --provider, --model and --base-url, or shorten the message.",
            ProviderErrorKind::Server => "Check the network and --base-url; when they are right, try again.",
            ProviderErrorKind::Timeout => "Check the network and --base-url, or allow more time.",
        }),
        Error::MaxIterations { .. } => Some("Allow more with --max-iterations, or ask for less at once."),
        Error::TokenBudgetExceeded { .. } => Some("Ask for less at once."),
        Error::UnknownTool { .. } => Some("Send the message again, or use another --model."),
        Error::Timeout { .. } => Some("Allow more with --timeout, or ask for less at once."),
        Error::Guard { .. } => Some("Change the message and send it again."),
        Error::Internal { .. } => Some("This is a defect of cheliped; please report it with the command that you ran."),
        Error::Configuration { .. }
        | Error::Cancelled
        | Error::RunSuspended { .. }
        | Error::RunConflict { .. }
        | Error::RunState { .. }
        | Error::Memory { .. }
        | Error::Skill { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ProviderError;
    use std::io;

    #[test]
    fn every_failure_has_its_exit_code() {
        let provider = ProviderError::new(ProviderErrorKind::Auth, "no");
        for (failure, code) in [
            (Failure::usage("no"), 2),
            (Failure::Error(Error::Cancelled), 130),
            (Failure::Error(provider.into()), 1),
            (io::Error::from(io::ErrorKind::BrokenPipe).into(), 0),
            (io::Error::from(io::ErrorKind::StorageFull).into(), 1),
        ] {
            assert_eq!(failure.exit().code(), code, "{failure:?}");
        }
    }

    #[test]
    fn an_error_says_its_code_and_what_to_do() {
        let error = ProviderError::new(ProviderErrorKind::Auth, "HTTP 401: \x1b[31mbad key").from_model("openai", "m");
        assert_eq!(
            describe(&error.into()),
            "cheliped: openai/m: HTTP 401: \\u{1b}[31mbad key [provider]\n  Check the API key in the environment, and \
             that it may use this model."
        );
        let error = Error::Configuration { problems: vec!["one".into(), "two".into()] };
        assert_eq!(describe(&error), "cheliped: 2 problems\n  - one\n  - two [configuration]");
    }
}
