//! The `cheliped` command: `agent` sends one message, `chat` talks, `check` tries the guards.
//!
//! The answer goes to standard output and nothing else does; progress, notes and errors go to standard error. On a
//! terminal, text of models and tools is made harmless first. Exit codes: 0 answered, or the reader of the output has
//! gone; 1 the run failed; 2 wrong usage or configuration; 130 Ctrl-C. With `--json` standard output has one event a
//! line, the last of which is `finished` or `failed`; errors are also told on standard error.
//!
//! # Configuration
//!
//! Options win over the environment variables `CHELIPED_PROVIDER` and `CHELIPED_MODEL`, those over files: first
//! `cheliped.toml` in the working directory, then `config.toml` in the user's configuration folder (`~/.config/cheliped`,
//! on Windows `%APPDATA%\cheliped`). With `--config` only that file counts. What names a provider takes no model, address
//! or key from below it.
//!
//! | key | type | meaning |
//! |---|---|---|
//! | `provider` | text | as `--provider` |
//! | `model` | text | as `--model` |
//! | `base_url` | text | as `--base-url`; in a project's file only an address of this machine |
//! | `api_key_env` | text | name of the environment variable that holds the key |
//! | `system` | text | as `--system` |
//! | `max_iterations` | whole number | as `--max-iterations` |
//! | `max_tokens` | whole number | tokens of one reply at most |
//! | `max_retries` | whole number | tries after a failed model call, default 0 |
//! | `tools` | true or false | whether the model gets tools, default true |
//! | `root` | text | as `--root`, from the file's folder; in a project's file inside that folder |
//! | `guards` | table | as [`GuardOptions`](crate::screening::GuardOptions); not in a project's file |
//! | `history` | true or false | whether `chat` keeps a history of what was typed, default true |
//! | `timeout_seconds`, `model_timeout_seconds`, `tool_timeout_seconds` | number | as the options |
//!
//! A file never holds a key. One that was found in the working directory may come from a stranger: it cannot send a key
//! or a folder outside of it anywhere, and it cannot loosen the guards. Mistakes are told with file, line and column.
//!
//! This is a door of the house: it decides how things look, and nothing of what the engine does.

mod calls;
mod chat;
mod check;
mod config;
mod console;
mod escape;
mod failure;
mod input;
mod interrupt;
mod lines;
mod model;
mod options;
mod places;
pub mod project;
mod session;
mod settings;
mod view;

use crate::agent::StreamEvent;
use crate::env::Env;
use clap::Parser;
use console::{Console, Style};
use failure::{Exit, Failure};
use input::Stdin;
use lines::Lines;
use options::{Command, Common, Options};
use session::Session;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Runs the command with the arguments and handles of this process.
pub fn main() -> ExitCode {
    ExitCode::from(command(std::env::args_os()))
}

/// Runs the command with these arguments, of which the first is its name, and the handles of this process. Gives the
/// exit code.
pub fn command(arguments: impl Iterator<Item = OsString>) -> u8 {
    let env = Env::default();
    let mut console = Console::of_process(env.variables.as_ref());
    run(arguments, &mut console, &env).code()
}

fn run(arguments: impl Iterator<Item = OsString>, console: &mut Console, env: &Env) -> Exit {
    let command = match Options::try_parse_from(arguments) {
        Ok(options) => options.command,
        Err(error) => return usage(&error, console),
    };
    let directory = match std::env::current_dir() {
        Ok(directory) => directory,
        // Relative paths then fail one by one, with their own words.
        Err(_) => PathBuf::from("."),
    };
    let ended = match command {
        Command::Agent { message, common } => agent(message, &common, &directory, console, env),
        Command::Check(options) => check::check(&options, &directory, console, env),
        Command::Chat { no_history, common } => chat(no_history, &common, &directory, console, env),
    };
    match ended {
        Ok(exit) => exit,
        Err(failure) => {
            tell(&failure, console);
            failure.exit()
        }
    }
}

/// Answers one message.
fn agent(
    words: Vec<OsString>,
    options: &Common,
    directory: &Path,
    console: &mut Console,
    env: &Env,
) -> Result<Exit, Failure> {
    let told = |failure: Failure, console: &mut Console| told_in_json(failure, options.json, console);
    let mut stdin = io::stdin();
    let is_terminal = stdin.is_terminal();
    let message = input::message(words, Stdin { reader: &mut stdin, is_terminal });
    let message = message.map_err(|failure| told(failure, console))?;
    let mut session = Session::open(options, directory, env).map_err(|failure| told(failure, console))?;
    let ended = session.follow(console, |agent, context| agent.stream_with(message, context));
    session.close();
    ended.map(|followed| if followed.response.failed { Exit::Failed } else { Exit::Done })
}

/// Talks.
fn chat(
    no_history: bool,
    options: &Common,
    directory: &Path,
    console: &mut Console,
    env: &Env,
) -> Result<Exit, Failure> {
    let told = |failure: Failure, console: &mut Console| told_in_json(failure, options.json, console);
    let mut session = Session::open(options, directory, env).map_err(|failure| told(failure, console))?;
    let typed = io::stdin().is_terminal() && console.out_is_terminal() && !options.json;
    let mut lines = match typed {
        true => {
            let keep_history = session.settings.history && !no_history;
            Lines::edited(keep_history, env.variables.as_ref())?
        }
        false => Lines::Plain(Box::new(io::BufReader::new(io::stdin()))),
    };
    let ended = chat::chat(&mut session, console, &mut lines, env, options.quiet);
    session.close();
    ended
}

/// A failure before the first run has no event yet: with `--json` it gets one.
fn told_in_json(failure: Failure, json: bool, console: &mut Console) -> Failure {
    if let (true, Failure::Error(error)) = (json, &failure)
        && let Err(closed @ (Failure::Closed | Failure::Output(_))) =
            session::write_event(console, &StreamEvent::failed(error))
    {
        return closed;
    }
    failure
}

fn tell(failure: &Failure, console: &mut Console) {
    match failure {
        Failure::Error(error) => console.say(Style::Plain, &failure::describe(error)),
        Failure::Output(error) => {
            let text = format!("cheliped: cannot write the answer: {error} [output]");
            console.say(Style::Plain, &escape::lines(&text));
        }
        Failure::Closed => {}
    }
}

/// Shows help, the version, or what is wrong with the arguments.
fn usage(error: &clap::Error, console: &mut Console) -> Exit {
    let text = error.to_string();
    match error.use_stderr() {
        true => {
            console.say(Style::Plain, escape::lines(&text).trim_end());
            Exit::Usage
        }
        false => match console.answer(&text) {
            Ok(()) => Exit::Done,
            Err(error) => Failure::from(error).exit(),
        },
    }
}
