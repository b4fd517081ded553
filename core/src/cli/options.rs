//! What can be said on the command line.

use crate::screening::Preset;
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
max_iterations, max_tokens, max_retries, tools, root, history, guards,
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
    /// Run texts through the guards, without a model. Exit code 1 when one is blocked or changed.
    #[command(after_long_help = CHECK_HELP)]
    Check(Check),
}

const CHECK_HELP: &str = "\
With --lines every line of the input is a text. With --json-lines every line
is a JSON text, or an object {\"text\": ..., \"id\": ..., \"expect\": ...}; then
the exit code is 1 when a text with \"expect\" (pass, warn, redact, block, or
allow for all but block) gets another verdict.

Guards are configured in the table [guards] of the configuration file.";

/// What to check, and how.
#[derive(Args, Clone, Debug)]
pub(super) struct Check {
    /// Which layer looks: guards (all of them on a typed message), unicode, pii, tool-output, answer.
    #[arg(value_enum)]
    pub(super) layer: Layer,
    /// The text. "-", or nothing when input is piped in, reads standard input.
    #[arg(value_name = "TEXT")]
    pub(super) text: Vec<OsString>,
    /// A ready set of rules instead of the configuration: strict, balanced, code_assistant.
    #[arg(long, value_name = "NAME", value_parser = preset)]
    pub(super) preset: Option<Preset>,
    /// Read the configuration from this file only.
    #[arg(long, short, value_name = "FILE", conflicts_with = "preset")]
    pub(super) config: Option<PathBuf>,
    /// Every line is a text.
    #[arg(long)]
    pub(super) lines: bool,
    /// Every line is a JSON text or object.
    #[arg(long, conflicts_with = "lines")]
    pub(super) json_lines: bool,
    /// Print verdicts as JSON, one object a line.
    #[arg(long)]
    pub(super) json: bool,
}

/// Who looks at a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Layer {
    /// Every guard that looks at a typed message.
    Guards,
    /// Hidden and misleading characters only.
    Unicode,
    /// Personal data only.
    Pii,
    /// The cleaning of tool results.
    #[value(alias = "tool_output")]
    ToolOutput,
    /// The cleaning of answers.
    #[value(alias = "output_sanitiser")]
    Answer,
}

/// Reads the name of a preset as settings spell it.
fn preset(name: &str) -> Result<Preset, String> {
    serde_json::from_value(name.into()).map_err(|_| "use strict, balanced, code_assistant or off".to_owned())
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
    /// The guards' rules: strict (the default), balanced, code_assistant, off.
    #[arg(long, value_name = "NAME", value_parser = preset)]
    pub(super) guards: Option<Preset>,
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
            Command::Chat { .. } | Command::Check(_) => panic!("run is not chat"),
        }
    }
}
