//! The providers that are known by name: where they are, what variable holds their key, which model is the default.
//!
//! Data only; [`config`](super::config) reads it.

use super::config::Api;

/// A provider known by name.
pub(crate) struct Preset {
    pub(crate) name: &'static str,
    /// Where it is; `None` where only the user knows.
    pub(crate) base: Option<&'static str>,
    /// The variable that holds another address.
    pub(crate) base_variable: Option<&'static str>,
    pub(crate) model: Option<&'static str>,
    /// The variable that holds the key.
    pub(crate) key_variable: Option<&'static str>,
    pub(crate) needs_key: bool,
    /// The variable whose presence picks this provider when none is named.
    pub(crate) found_by: Option<&'static str>,
    pub(crate) api: Api,
}

/// All of them, in the order in which the environment is searched.
pub(crate) const PRESETS: &[Preset] = &[
    hosted(
        "anthropic",
        "https://api.anthropic.com/v1",
        "claude-haiku-4-5-20251001",
        "ANTHROPIC_API_KEY",
        Api::Messages,
    ),
    hosted("openai", "https://api.openai.com/v1", "gpt-4o-mini", "OPENAI_API_KEY", Api::Chat),
    hosted("groq", "https://api.groq.com/openai/v1", "llama-3.1-8b-instant", "GROQ_API_KEY", Api::Chat),
    hosted(
        "gemini",
        "https://generativelanguage.googleapis.com/v1beta",
        "gemini-3.5-flash-lite",
        "GEMINI_API_KEY",
        Api::GenerateContent,
    ),
    hosted("mistral", "https://api.mistral.ai/v1", "mistral-small-latest", "MISTRAL_API_KEY", Api::Chat),
    hosted("deepseek", "https://api.deepseek.com/v1", "deepseek-flash", "DEEPSEEK_API_KEY", Api::Chat),
    Preset {
        name: "ollama",
        base: Some("http://127.0.0.1:11434"),
        base_variable: Some("OLLAMA_HOST"),
        model: Some("qwen2.5:7b"),
        key_variable: None,
        needs_key: false,
        found_by: Some("OLLAMA_HOST"),
        api: Api::Chat,
    },
    hosted("openrouter", "https://openrouter.ai/api/v1", "openrouter/auto", "OPENROUTER_API_KEY", Api::Chat),
    Preset {
        name: "custom",
        base: None,
        base_variable: Some("OPENAI_BASE_URL"),
        model: None,
        key_variable: Some("OPENAI_API_KEY"),
        needs_key: false,
        found_by: None,
        api: Api::Chat,
    },
];

const fn hosted(
    name: &'static str,
    base: &'static str,
    model: &'static str,
    key_variable: &'static str,
    api: Api,
) -> Preset {
    Preset {
        name,
        base: Some(base),
        base_variable: None,
        model: Some(model),
        key_variable: Some(key_variable),
        needs_key: true,
        found_by: Some(key_variable),
        api,
    }
}

/// The preset of this name.
pub(crate) fn of(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

/// The first-party provider whose models have names like this; `None` for open models and unknown ones.
pub(crate) fn maker_of(model: &str) -> Option<&'static str> {
    let model = model.to_ascii_lowercase();
    [
        ("claude-", "anthropic"),
        ("gpt-3", "openai"),
        ("gpt-4", "openai"),
        ("gpt-5", "openai"),
        ("gemini-", "gemini"),
        ("mistral-", "mistral"),
        ("deepseek-v", "deepseek"),
    ]
    .into_iter()
    .find(|(start, _)| model.starts_with(start))
    .map(|(_, maker)| maker)
}
