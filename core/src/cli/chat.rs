//! `cheliped chat`: message after message, one conversation.
//!
//! At a terminal lines are edited and remembered; otherwise every line of standard input is a message. The
//! conversation lives in memory and ends with the command.

use super::console::{Console, Style};
use super::escape;
use super::failure::{Exit, Failure, describe};
use super::lines::{Lines, Said};
use super::session::Session;
use crate::agent::Conversation;
use crate::env::Env;
use crate::error::Error;

const HELP: &str = "/new starts over, /help shows this, /quit or Ctrl-D ends, Ctrl-C stops an answer";

/// Talks until the input ends.
///
/// # Errors
/// The input or the output cannot be used. Failed answers are told, and the talk goes on.
pub(super) fn chat(
    session: &mut Session,
    console: &mut Console,
    lines: &mut Lines,
    env: &Env,
    quiet: bool,
) -> Result<Exit, Failure> {
    let mut conversation = Conversation::start(env);
    let mut exit = Exit::Done;
    let alone = !lines.is_terminal();
    if !alone && !quiet {
        let (provider, model) = (session.agent.provider_name(), session.agent.model_name());
        let names = format!("{}/{}", escape::line(provider, 64), escape::line(model, 64));
        console.say(Style::Dim, &format!("talking to {names}; {HELP}"));
    }
    let mut interrupted = false;
    loop {
        let said = {
            let _held = (!alone).then(|| session.interrupts.edits());
            lines.next()?
        };
        console.at_new_line();
        let message = match said {
            Said::Message(message) => message,
            Said::End => return Ok(exit),
            Said::Interrupt { .. } if interrupted => return Ok(Exit::Interrupted),
            Said::Interrupt { empty } => {
                interrupted = empty;
                if empty {
                    console.say(Style::Dim, "(Ctrl-C again or Ctrl-D ends)");
                }
                continue;
            }
        };
        interrupted = false;
        match message.trim() {
            "" => continue,
            "/quit" | "/exit" => return Ok(exit),
            "/help" => {
                console.say(Style::Dim, HELP);
                continue;
            }
            "/new" => {
                conversation = Conversation::start(env);
                console.say(Style::Dim, "(a new conversation)");
                continue;
            }
            _ => {}
        }
        let turn = session
            .follow(console, |agent, context| agent.stream_in_conversation(&conversation, message.as_str(), context));
        match turn {
            Ok(followed) => {
                if alone && followed.interrupted {
                    return Err(Error::Cancelled.into());
                }
                if let Some(next) = followed.stream.conversation() {
                    conversation = next.clone();
                }
                if followed.response.failed {
                    exit = Exit::Failed;
                }
            }
            // Whoever talks sees that their answer was stopped; whoever pipes wants to stop everything.
            Err(Failure::Error(Error::Cancelled)) if alone => return Err(Error::Cancelled.into()),
            Err(Failure::Error(Error::Cancelled)) => console.say(Style::Dim, "(stopped)"),
            Err(Failure::Error(error)) => {
                console.say(Style::Plain, &describe(&error));
                exit = Exit::Failed;
            }
            Err(failure @ (Failure::Closed | Failure::Output(_))) => return Err(failure),
        }
        if !alone {
            // What went wrong before was seen; only what is piped has nobody who looks.
            exit = Exit::Done;
        }
    }
}
