//! How the servers that speak chat completions differ: a table of data, one row a provider.
//!
//! Only what changes a request or the reading of a reply stands here. A server that no row names gets [`CUSTOM`],
//! which asks for nothing that an ordinary compatible server lacks.

/// One provider's way of speaking chat completions.
#[derive(Debug)]
pub(crate) struct Dialect {
    /// Name of the provider; also the wire name of what it alone understands.
    pub(crate) name: &'static str,
    /// Where the most tokens of a reply are written.
    pub(super) limit: Limit,
    /// What call ids may look like.
    pub(super) ids: Ids,
    /// Where system messages of the history go.
    pub(super) system: SystemPlace,
    /// Whether usage in a stream has to be asked for.
    pub(super) stream_usage: bool,
    /// The word that forces some tool.
    pub(super) required: &'static str,
    /// Whether an assistant message without text has an empty string instead of null. Servers that check types
    /// strictly, such as that of llama-cpp-python, refuse null.
    pub(super) empty_text: bool,
    /// Whether `tool_choice` is understood. Where it is not, no tool is listed when none may be called.
    pub(super) tool_choice: bool,
    /// Whether user messages may hold images.
    pub(super) images: bool,
    /// How user messages hold files.
    pub(super) files: Files,
    /// Where images of tool results go.
    pub(super) result_media: ResultMedia,
    /// How thinking is asked for.
    pub(super) thinking: AskThinking,
    /// What of the thinking goes back in later requests.
    pub(super) replay: Replay,
    /// Whether its small models are known to write calls as text.
    pub(super) local: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    /// `max_tokens`.
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
    /// `max_completion_tokens` for reasoning models of OpenAI, `max_tokens` for others.
    ByModel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ids {
    /// Up to 40 characters.
    Short,
    /// Exactly nine letters or digits.
    Nine,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SystemPlace {
    /// Where they stand.
    InPlace,
    /// All joined in the first message.
    First,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Files {
    /// A `file` part with data.
    Parts,
    /// A `document_url` part.
    Documents,
    /// Not at all.
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResultMedia {
    /// In a user message after the results.
    AfterResults,
    /// Inside the result.
    Inline,
    /// Nowhere: the model is told that something was left out.
    LeftOut,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AskThinking {
    /// `reasoning_effort`, for the models that are known to take it.
    Effort,
    /// `reasoning_effort` for every model.
    EffortAlways,
    /// `reasoning_effort` of `high` or nothing.
    High,
    /// `thinking: {type}`.
    Switch,
    /// `reasoning: {max_tokens}`.
    Budget,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replay {
    /// Nothing.
    Nothing,
    /// `reasoning_content` of messages with calls.
    ReasoningContent,
    /// The content as a list of chunks.
    Chunks,
    /// `reasoning_details` as they came.
    Details,
}

/// What a compatible server of unknown make gets.
pub(crate) const CUSTOM: Dialect = Dialect {
    name: "custom",
    limit: Limit::ByModel,
    ids: Ids::Short,
    system: SystemPlace::First,
    stream_usage: true,
    required: "required",
    empty_text: true,
    tool_choice: true,
    images: true,
    files: Files::Parts,
    result_media: ResultMedia::AfterResults,
    thinking: AskThinking::Effort,
    replay: Replay::Nothing,
    local: true,
};

/// OpenAI itself.
pub(crate) const OPENAI: Dialect =
    Dialect { name: "openai", limit: Limit::MaxCompletionTokens, system: SystemPlace::InPlace, local: false, ..CUSTOM };

/// Groq.
pub(crate) const GROQ: Dialect = Dialect {
    name: "groq",
    limit: Limit::MaxCompletionTokens,
    system: SystemPlace::InPlace,
    files: Files::None,
    local: false,
    ..CUSTOM
};

/// Mistral, which refuses fields that it does not know.
pub(crate) const MISTRAL: Dialect = Dialect {
    name: "mistral",
    limit: Limit::MaxTokens,
    ids: Ids::Nine,
    stream_usage: false,
    required: "any",
    empty_text: true,
    files: Files::Documents,
    result_media: ResultMedia::Inline,
    thinking: AskThinking::High,
    replay: Replay::Chunks,
    local: false,
    ..CUSTOM
};

/// DeepSeek, which reads text only.
pub(crate) const DEEPSEEK: Dialect = Dialect {
    name: "deepseek",
    limit: Limit::MaxTokens,
    system: SystemPlace::InPlace,
    empty_text: true,
    images: false,
    files: Files::None,
    result_media: ResultMedia::LeftOut,
    thinking: AskThinking::Switch,
    replay: Replay::ReasoningContent,
    local: false,
    ..CUSTOM
};

/// OpenRouter.
pub(crate) const OPENROUTER: Dialect = Dialect {
    name: "openrouter",
    limit: Limit::MaxTokens,
    system: SystemPlace::InPlace,
    thinking: AskThinking::Budget,
    replay: Replay::Details,
    local: false,
    ..CUSTOM
};

/// Ollama's compatible side.
pub(crate) const OLLAMA: Dialect = Dialect {
    name: "ollama",
    limit: Limit::MaxTokens,
    tool_choice: false,
    files: Files::None,
    thinking: AskThinking::EffortAlways,
    ..CUSTOM
};

impl Dialect {
    /// The row of a provider, or [`CUSTOM`].
    pub(crate) fn of(provider: &str) -> &'static Self {
        [&OPENAI, &GROQ, &MISTRAL, &DEEPSEEK, &OPENROUTER, &OLLAMA]
            .into_iter()
            .find(|dialect| dialect.name == provider)
            .unwrap_or(&CUSTOM)
    }

    /// Whether calls that a model writes as text are read as calls. Only small local models need it; for every other
    /// model such text is an explanation, or an attack.
    pub(crate) fn reads_text_calls(&self, model: &str) -> bool {
        let model = family(model);
        self.local && ["qwen2.5", "qwen2:", "hermes", "smollm"].iter().any(|name| model.contains(name))
    }
}

/// Whether this is a reasoning model of OpenAI, which refuses `max_tokens` and sampling settings.
pub(crate) fn is_reasoning(model: &str) -> bool {
    let model = family(model);
    let starts_with_digit = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    if model.starts_with("codex-") || model.strip_prefix('o').is_some_and(starts_with_digit) {
        return true;
    }
    let Some(version) = model.strip_prefix("gpt-") else { return false };
    let digits = version.find(|c: char| !c.is_ascii_digit()).unwrap_or(version.len());
    let major: u32 = version.get(..digits).and_then(|major| major.parse().ok()).unwrap_or(0);
    // The models of ChatGPT itself do not reason.
    major >= 5 && !version.contains("-chat")
}

/// Whether this open model takes `reasoning_effort` where it is hosted.
pub(super) fn takes_effort(model: &str) -> bool {
    is_reasoning(model) || family(model).starts_with("gpt-oss")
}

/// The model's name without its maker: `openai/gpt-5` is `gpt-5`.
fn family(model: &str) -> String {
    model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_reasoning_models() {
        for model in
            ["o1", "o3-mini", "o4-mini-2025-04-16", "gpt-5", "gpt-5.1", "gpt-5-nano", "gpt-6", "openai/gpt-5.2"]
        {
            assert!(is_reasoning(model), "{model}");
        }
        for model in
            ["gpt-4o", "gpt-4.1-mini", "gpt-3.5-turbo", "gpt-5-chat-latest", "olmo-7b", "gpt-oss-20b", "opus", ""]
        {
            assert!(!is_reasoning(model), "{model}");
        }
        assert!(takes_effort("openai/gpt-oss-120b"));
    }

    #[test]
    fn only_small_local_models_write_calls_as_text() {
        assert!(OLLAMA.reads_text_calls("qwen2.5:7b"));
        assert!(CUSTOM.reads_text_calls("NousResearch/Hermes-3"));
        assert!(!OLLAMA.reads_text_calls("llama3.1"));
        assert!(!OPENROUTER.reads_text_calls("qwen/qwen2.5-72b"));
        assert!(!OPENAI.reads_text_calls("gpt-4o"));
    }

    #[test]
    fn every_provider_has_its_row() {
        for name in ["openai", "groq", "mistral", "deepseek", "openrouter", "ollama"] {
            assert_eq!(Dialect::of(name).name, name);
        }
        assert_eq!(Dialect::of("anything").name, "custom");
    }
}
