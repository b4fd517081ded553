//! What can be said on the command line.

use clap::builder::styling::Styles;
use clap::{ArgAction, Args, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

const CONFIGURATION_HELP: &str = "\
Configuration is read from cheliped.toml in the working directory and from
config.toml in the user's configuration folder (~/.config/cheliped), or only
from the file named with --config. Options win over environment variables,
those over files. Keys: provider, model, base_url, api_key_env, system,
max_iterations, max_tokens, max_retries, tools, root, history,
timeout_seconds, model_timeout_seconds, tool_timeout_seconds.

API keys come from the environment: ANTHROPIC_API_KEY, OPENAI_API_KEY and so
on, or the variable that api_key_env names. Without any key,
--provider offline answers from a built-in program, to try things out.

Exit codes: 0 answered, 1 the run failed, 2 wrong usage or configuration,
130 interrupted.";

/// The whole command line.
#[derive(Parser, Debug)]
#[command(
    name = "cheliped",
    version,
    about = "Gives a language model tools, and asks it things.",
    after_long_help = CONFIGURATION_HELP,
    styles = Styles::plain(),
    arg_required_else_help = true,
    max_term_width = 100
)]
pub(super) struct Options {
    #[command(subcommand)]
    pub(super) command: Command,
}

/// What to do.
#[derive(Subcommand, Debug)]
pub(super) enum Command {
    /// Send one message and print the answer.
    #[command(visible_alias = "run", after_long_help = CONFIGURATION_HELP)]
    Agent {
        /// The message. "-", or nothing when input is piped in, reads it from standard input.
        #[arg(value_name = "MESSAGE")]
        message: Vec<OsString>,
        #[command(flatten)]
        common: Common,
    },
    /// Talk, message after message. Ctrl-C stops an answer, Ctrl-D ends.
    #[command(after_long_help = CONFIGURATION_HELP)]
    Chat {
        /// Keep no history of what was typed.
        #[arg(long)]
        no_history: bool,
        #[command(flatten)]
        common: Common,
    },
}

/// Options of every command that asks a model.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct Common {
    /// The model's provider, for example anthropic, openai:gpt-4o-mini, ollama:qwen3, offline, or scripted:FILE, which
    /// plays a file of canned replies.
    #[arg(long, short, value_name = "SPEC")]
    pub(super) provider: Option<String>,
    /// The model. Default: the provider's.
    #[arg(long, short, value_name = "NAME")]
    pub(super) model: Option<String>,
    /// Where the provider's API is, for example http://127.0.0.1:8080/v1.
    #[arg(long, value_name = "URL")]
    pub(super) base_url: Option<String>,
    /// Instructions for the model, added to the built-in ones.
    #[arg(long, short, value_name = "TEXT")]
    pub(super) system: Option<String>,
    /// Model calls before a run gives up. Default 20.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) max_iterations: Option<u32>,
    /// Seconds for a whole run. Default: no limit.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(super) timeout: Option<Duration>,
    /// Seconds to wait for a model: until its answer begins, and between two pieces of it. Default 120.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(super) model_timeout: Option<Duration>,
    /// Seconds for one tool call. Default 180.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(super) tool_timeout: Option<Duration>,
    /// Give the model no tools.
    #[arg(long)]
    pub(super) no_tools: bool,
    /// The folder that tools may look into. Default: the working directory.
    #[arg(long, value_name = "DIR")]
    pub(super) root: Option<PathBuf>,
    /// Read the configuration from this file only.
    #[arg(long, short, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Print events, one JSON object a line; the last is "finished" or "failed".
    #[arg(long)]
    pub(super) json: bool,
    /// Print nothing but the answer.
    #[arg(long, short, conflicts_with = "verbose")]
    pub(super) quiet: bool,
    /// Also tell of reasoning, token counts, arguments and results.
    #[arg(long, short, action = ArgAction::SetTrue)]
    pub(super) verbose: bool,
}

/// Reads a number of seconds.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.trim().parse().map_err(|_| "write a number of seconds, for example 90 or 0.5".to_owned())?;
    duration(number).ok_or_else(|| "the number of seconds must be over 0 and at most a year".to_owned())
}

/// A time that is over zero and at most a year.
pub(super) fn duration(seconds: f64) -> Option<Duration> {
    const YEAR: f64 = 366.0 * 24.0 * 3600.0;
    (seconds > 0.0 && seconds <= YEAR).then(|| Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_options_fit_together() {
        Options::command().debug_assert();
    }

    #[test]
    fn seconds_are_checked() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for bad in ["0", "-1", "inf", "nan", "1e300", "five", ""] {
            assert!(seconds(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn run_is_another_word_for_agent() {
        let options = Options::try_parse_from(["cheliped", "run", "how", "many?", "--json"]).unwrap();
        match options.command {
            Command::Agent { message, common } => {
                assert_eq!((message.len(), common.json), (2, true));
            }
            Command::Chat { .. } => panic!("run is not chat"),
        }
    }
}
