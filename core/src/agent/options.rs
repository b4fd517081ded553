//! The settings of an agent that are plain values: one table, from which fields, defaults, setters, the JSON form and
//! the documentation of every language come.
//!
//! What is no plain value (providers, tools, hooks …) is listed in [`PARTS`]; the builder holds it.

use super::AgentBuilder;
use crate::guard::answer::AnswerMode;
use crate::limits;
use crate::provider::throttle::MAX_WAIT;
use crate::provider::{ModelOptions, ToolChoice};
use crate::run::{StreamMode, UnknownTool};
use crate::screening::GuardOptions;
use crate::tool::{ScanToolArguments, ToolOutputRules};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A setting as the documentation of every language tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OptionRow {
    /// Its name in JSON and in Python; Node writes it in camel case, Rust without the unit.
    pub name: &'static str,
    /// The sort of value: `text`, `integer`, `number`, `boolean`, `milliseconds`, `names`, `choice`, or what a part is.
    pub kind: &'static str,
    /// What it does.
    pub doc: &'static str,
}

macro_rules! options {
    ($(
        $(#[doc = $doc:literal])+
        $(#[serde($($serde:tt)+)])?
        $name:ident ($json:literal, $kind:literal): $type:ty = $default:expr, |$value:ident: $given:ty| $set:expr;
    )*) => {
        /// The plain settings of an agent. In JSON a key that is left out has its default and an unknown key is an
        /// error.
        ///
        /// ```
        /// use cheliped::agent::AgentOptions;
        /// let options: AgentOptions = serde_json::from_str(r#"{"max_iterations": 8, "tool_timeout_ms": 5000}"#)?;
        /// assert_eq!(options.tool_timeout.as_secs(), 5);
        /// assert!(serde_json::from_str::<AgentOptions>(r#"{"max_iteration": 8}"#).is_err());
        /// # Ok::<(), serde_json::Error>(())
        /// ```
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        #[non_exhaustive]
        pub struct AgentOptions {
            $($(#[doc = $doc])+ #[serde(rename = $json $(, $($serde)+)?)] pub $name: $type,)*
        }

        impl Default for AgentOptions {
            fn default() -> Self {
                Self { $($name: $default),* }
            }
        }

        /// Every plain setting, in the order of the table.
        pub const OPTIONS: &[OptionRow] = &[
            $(OptionRow { name: $json, kind: $kind, doc: concat!($($doc, "\n"),+) }),*
        ];

        impl AgentBuilder {
            $($(#[doc = $doc])+ pub fn $name(mut self, $value: $given) -> Self {
                self.options.$name = $set;
                self
            })*
        }
    };
}

options! {
    /// The application's own instructions. They follow the identity line and, with tools, the doctrine. Default: none.
    system_prompt("system_prompt", "text"): String = String::new(), |prompt: impl Into<String>| prompt.into();

    /// Model calls in a run before it gives up. Default 20, which 0 also means.
    max_iterations("max_iterations", "integer"): u32 = limits::MAX_ITERATIONS, |iterations: u32| iterations;

    /// Tries after a failed model call that may succeed later. Default 0: a single try.
    max_retries("max_retries", "integer"): u32 = 0, |retries: u32| retries;

    /// Tools offered to the model at most; 0, the default, derives it from the model.
    max_tools_per_turn("max_tools_per_turn", "integer"): usize = 0, |tools: usize| tools;

    /// Estimated tokens that a tool result may have before it is cut, at four characters a token. Default 2500; 0 is
    /// no limit.
    max_tool_result_tokens("max_tool_result_tokens", "integer"): u32 = limits::MAX_TOOL_RESULT_TOKENS,
        |tokens: u32| tokens;

    /// Tokens that a run may spend; 0, the default, is no limit.
    max_token_budget("max_token_budget", "integer"): u64 = 0, |tokens: u64| tokens;

    /// Read-only calls of one batch that run side by side. Default 8; 1 runs all calls one after the other, which 0
    /// also means.
    parallel_tools("parallel_tools", "integer"): usize = limits::PARALLEL_TOOLS, |calls: usize| calls;

    /// Time for one tool call. Default 180 s.
    #[serde(with = "milliseconds")]
    tool_timeout("tool_timeout_ms", "milliseconds"): Duration = limits::TOOL_TIMEOUT, |limit: Duration| limit;

    /// Time for one whole model call that is not streamed. Default 120 s; none, or 0 milliseconds, is no limit.
    #[serde(with = "optional_milliseconds")]
    model_call_timeout("model_call_timeout_ms", "milliseconds"): Option<Duration> = Some(limits::MODEL_CALL_TIMEOUT),
        |limit: Option<Duration>| limit;

    /// Requests to providers per minute. Default 0: no limit.
    requests_per_minute("requests_per_minute", "integer"): u32 = 0, |requests: u32| requests;

    /// How long a request may wait for its turn when requests per minute are limited. Default 30 s.
    #[serde(with = "milliseconds")]
    max_rate_wait("max_rate_wait_ms", "milliseconds"): Duration = MAX_WAIT, |limit: Duration| limit;

    /// Tokens of one reply at most; 0, the default, leaves it to the model.
    max_tokens("max_tokens", "integer"): u32 = 0, |tokens: u32| tokens;

    /// Tokens that the model may think before it answers. Default 0, off; below 1024 is off.
    thinking_budget("thinking_budget", "integer"): u32 = 0, |tokens: u32| tokens;

    /// Whether prompts are marked for the provider's cache where that has to be asked for. Default yes.
    prompt_cache("prompt_cache", "boolean"): bool = true, |on: bool| on;

    /// Sampling temperature. Default: the provider's own.
    temperature("temperature", "number"): Option<f64> = None, |temperature: f64| Some(temperature);

    /// Whether a tool must be called, for the first model call of a run: `auto`, `none`, `required` or the name of a
    /// tool. Default: the model decides.
    tool_choice("tool_choice", "choice"): ToolChoice = ToolChoice::Auto, |choice: ToolChoice| choice;

    /// What happens when the model calls a tool that does not exist: `corrected` answers nearly right names with the
    /// right ones, `documented` drops the batch and asks once more without tools. Default `corrected`.
    unknown_tool("unknown_tool", "choice"): UnknownTool = UnknownTool::Corrected, |mode: UnknownTool| mode;

    /// How PHP tags and dangerous calls are taken out of the answer and of the reasoning: `documented` takes them out
    /// everywhere, `outside_code_fences` leaves Markdown code as it is, `escape` writes them as HTML entities, `off`
    /// changes nothing. Also yes, `documented`, and no, `off`. Default `documented`.
    sanitise_output("sanitise_output", "choice"): AnswerMode = AnswerMode::Documented,
        |mode: impl Into<AnswerMode>| mode.into();

    /// Whether a stream shows the answer as the model writes it, `live`, or only when it is complete, `replay`.
    /// Default `live`.
    stream_mode("stream_mode", "choice"): StreamMode = StreamMode::Live, |mode: StreamMode| mode;

    /// Whether a call that was denied is denied without asking when it comes again in the run. Default yes.
    remember_denials("remember_denials", "boolean"): bool = true, |on: bool| on;

    /// Rules of the built-in guards: a preset (`strict`, `balanced`, `code_assistant`, `off`), and settings on top of it.
    /// Default: every guard is on, strict.
    guard_rules("guard_rules", "object"): GuardOptions = GuardOptions::default(), |options: GuardOptions| options;

    /// What guards do with the arguments of tool calls: `off`; `flag` tells the gate and events; `block` refuses the
    /// call. Default `flag`.
    scan_tool_arguments("scan_tool_arguments", "choice"): ScanToolArguments = ScanToolArguments::Flag,
        |mode: ScanToolArguments| mode;

    /// How results of tools are cleaned: `injection` (`redact`, `flag`, `off`), `secrets`, `fence` (`flagged`, `always`,
    /// `off`). Default: orders to the model and secrets are replaced, and what is flagged is fenced.
    tool_output("tool_output", "object"): ToolOutputRules = ToolOutputRules::default(), |rules: ToolOutputRules| rules;

    /// Whether personal data in results of tools is replaced by its sort, as in `[REDACTED_EMAIL]`. Default no.
    redact_pii_in_tool_results("redact_pii_in_tool_results", "boolean"): bool = false, |on: bool| on;

    /// Tools whose results keep personal data. Default: none.
    exempt_tools("exempt_tools", "names"): Vec<String> = Vec::new(),
        |names: impl IntoIterator<Item = impl Into<String>>| names.into_iter().map(Into::into).collect();

    /// Tools that are offered on every turn, outside the limit, and never trimmed. Default: none.
    always_include_tools("always_include_tools", "names"): Vec<String> = Vec::new(),
        |names: impl IntoIterator<Item = impl Into<String>>| names.into_iter().map(Into::into).collect();

    /// Whether providers that go over the network to a real model may be used; a test switches that off. Default yes,
    /// unless the environment variable `CHELIPED_ALLOW_REAL_PROVIDERS` is `0`.
    allow_real_providers("allow_real_providers", "boolean"): bool = true, |allow: bool| allow;
}

/// What an agent is built of beside its plain settings.
pub const PARTS: &[OptionRow] = &[
    part(
        "provider",
        "provider",
        "The model: a provider, its settings, or a text such as `anthropic:MODEL`. Default: the first provider that the environment has a key for.",
    ),
    part(
        "fallbacks",
        "providers",
        "Providers that are asked in order when those before them have failed in a way that another can mend. Default: none.",
    ),
    part("tools", "tools", "What the model may call. Default: none."),
    part("skills", "skills", "Instructions that the model loads when it needs them. Default: none."),
    part("hooks", "hooks", "Functions that see events. Default: none."),
    part(
        "guards",
        "guards",
        "Guards of the application: functions that look at a message before the model does, beside the built-in ones. Default: none.",
    ),
    part(
        "interceptors",
        "interceptors",
        "Functions that may change or stop what the engine is about to do. Default: none.",
    ),
    part("approval", "gate", "Who decides about calls that change something. Default: nobody, they run."),
    part("checkpoint", "checkpoint", "Who saves the run between its steps. Default: nobody."),
    part("env", "environment", "A fixed clock, fixed identifiers and variables, for tests. Default: the real ones."),
];

const fn part(name: &'static str, kind: &'static str, doc: &'static str) -> OptionRow {
    OptionRow { name, kind, doc }
}

impl AgentOptions {
    /// The settings that a provider maps to its own parameters.
    pub(super) fn model_options(&self) -> ModelOptions {
        ModelOptions {
            max_tokens: (self.max_tokens > 0).then_some(self.max_tokens),
            thinking_budget: self.thinking_budget,
            prompt_cache: self.prompt_cache,
            temperature: self.temperature,
        }
    }
}

/// A duration as whole milliseconds.
mod milliseconds {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::time::Duration;

    pub(super) fn serialize<S: Serializer>(limit: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_millis)
    }
}

/// A duration as whole milliseconds; 0 is none.
mod optional_milliseconds {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::time::Duration;

    pub(super) fn serialize<S: Serializer>(limit: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        super::milliseconds::serialize(&limit.unwrap_or_default(), serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        Ok(Some(u64::deserialize(deserializer)?).filter(|limit| *limit > 0).map(Duration::from_millis))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_object_gives_every_default() {
        assert_eq!(serde_json::from_str::<AgentOptions>("{}").unwrap(), AgentOptions::default());
        let json = serde_json::to_value(AgentOptions::default()).unwrap();
        assert_eq!(serde_json::from_value::<AgentOptions>(json).unwrap(), AgentOptions::default());
    }

    #[test]
    fn the_json_form_has_a_row_for_each_key() {
        let json = serde_json::to_value(AgentOptions::default()).unwrap();
        let keys: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, OPTIONS.iter().map(|row| row.name).collect::<Vec<_>>());
    }

    #[test]
    fn wrong_values_are_refused() {
        for wrong in [
            r#"{"max_iterations": -1}"#,
            r#"{"max_iterations": 1.5}"#,
            r#"{"max_iterations": "8"}"#,
            r#"{"tool_timeout_ms": -5}"#,
            r#"{"unknown_tool": "maybe"}"#,
            r#"{"system_prompt": 7}"#,
            r#"{"colour": 1}"#,
        ] {
            assert!(serde_json::from_str::<AgentOptions>(wrong).is_err(), "{wrong}");
        }
        let none = serde_json::from_str::<AgentOptions>(r#"{"model_call_timeout_ms": 0}"#).unwrap();
        assert_eq!(none.model_call_timeout, None);
    }
}
