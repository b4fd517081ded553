//! How much a model can be given: tools a turn, tokens a request, text of a skill.
//!
//! Read off the names of the provider and the model, nothing else. A setting of the agent is stronger than this table.

/// Tools a turn for a model that no row of [`TURN_LIMITS`] names.
const TURN_LIMIT: usize = 10;

/// Tools a turn by a part of the model's name, first match first.
const TURN_LIMITS: [(&str, usize); 8] = [
    ("haiku", 6),
    ("flash", 6),
    ("gpt-3.5", 5),
    ("mini", 8),
    ("gemini", 15),
    ("sonnet", 12),
    ("gpt-4o", 15),
    ("opus", 20),
];

/// Model families whose name tells no size, with the size of their usual member in billions of parameters.
const FAMILIES: [(&str, f64); 14] = [
    ("gpt-oss-safeguard", 20.0),
    ("kimi", 1000.0),
    ("deepseek-v", 671.0),
    ("deepseek-chat", 671.0),
    ("deepseek-reasoner", 671.0),
    ("deepseek-r1", 7.0),
    ("glm", 355.0),
    ("minimax", 229.0),
    ("llama-4", 109.0),
    ("llama4", 109.0),
    ("mixtral", 47.0),
    ("command-r-plus", 104.0),
    ("mistral-large", 123.0),
    ("compound", 100.0),
];

/// From this size on a model gets the middle profile; smaller ones get the least.
const STANDARD_FROM: f64 = 28.0;
/// From this size on a model is given everything.
const FULL_FROM: f64 = 100.0;

/// The three sizes of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProfileKind {
    /// No limits.
    Full,
    /// A middle-sized model on a machine or a service with small requests.
    Standard,
    /// A small one.
    Minimal,
}

/// What a model is given at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Profile {
    /// Which of the three.
    pub(crate) kind: ProfileKind,
    /// Estimated tokens of a whole request.
    pub(crate) request_tokens: Option<u64>,
    /// Characters of one skill.
    pub(crate) skill_chars: Option<usize>,
    /// Tools a turn where the caller has not set a number; the library itself leaves it to the table of models.
    pub(crate) turn_tools: Option<usize>,
    /// Whether tools are described by their first line only.
    pub(crate) lean: bool,
    /// A tool that scores less than this share of the best is not offered.
    pub(crate) min_score_share: f64,
}

impl Profile {
    /// No limits.
    pub(crate) const FULL: Self = Self {
        kind: ProfileKind::Full,
        request_tokens: None,
        skill_chars: None,
        turn_tools: None,
        lean: false,
        min_score_share: 0.0,
    };

    /// For middle-sized models.
    pub(crate) const STANDARD: Self = Self {
        kind: ProfileKind::Standard,
        request_tokens: Some(6000),
        skill_chars: Some(8000),
        turn_tools: Some(8),
        lean: false,
        min_score_share: 0.0,
    };

    /// For small models.
    pub(crate) const MINIMAL: Self = Self {
        kind: ProfileKind::Minimal,
        request_tokens: Some(3000),
        skill_chars: Some(4000),
        turn_tools: Some(5),
        lean: true,
        min_score_share: 0.2,
    };

    /// The profile of a provider and model that are really asked. Only `ollama` and `groq` host models small enough
    /// to need limits; there the size decides, which the name tells, or the family.
    pub(crate) fn of(provider: &str, model: &str) -> Self {
        if !matches!(provider, "ollama" | "groq") {
            return Self::FULL;
        }
        match billions(&model.to_lowercase()) {
            Some(size) if size >= FULL_FROM => Self::FULL,
            Some(size) if size >= STANDARD_FROM => Self::STANDARD,
            Some(_) | None => Self::MINIMAL,
        }
    }
}

/// Tools that a model is offered in one turn.
pub(crate) fn turn_limit(model: &str) -> usize {
    let model = model.to_lowercase();
    TURN_LIMITS.iter().find(|(part, _)| has_token(&model, part)).map_or(TURN_LIMIT, |(_, limit)| *limit)
}

/// Whether `part` stands in `text` with no letter or digit at either side.
fn has_token(text: &str, part: &str) -> bool {
    text.match_indices(part).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + part.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

/// The size of a model by its lower-case name: the largest number of parameters that it tells (`72b`, `8x7b`, `1t`),
/// else that of its family. Llama 4 counts only the active part in its name.
fn billions(model: &str) -> Option<f64> {
    let told = model.split(|c: char| !c.is_alphanumeric() && c != '.').filter_map(told_size).reduce(f64::max);
    let family = FAMILIES.iter().find(|(family, _)| model.contains(family)).map(|(_, size)| *size);
    match (told, family) {
        (Some(told), Some(family)) if model.contains("llama-4") || model.contains("llama4") => Some(told.max(family)),
        (Some(told), _) => Some(told),
        (None, family) => family,
    }
}

fn told_size(token: &str) -> Option<f64> {
    let (number, scale) = match (token.strip_suffix('b'), token.strip_suffix('t')) {
        (Some(number), _) => (number, 1.0),
        (None, Some(number)) => (number, 1000.0),
        (None, None) => return None,
    };
    let size: f64 = match number.split_once('x') {
        Some((experts, each)) => experts.parse::<f64>().ok()? * each.parse::<f64>().ok()?,
        None if number.starts_with(|c: char| c.is_ascii_digit()) => number.parse().ok()?,
        None => return None,
    };
    size.is_finite().then_some(size * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turn_limits_follow_whole_tokens_of_the_model_name() {
        for (model, limit) in [
            ("claude-haiku-4-5-20251001", 6),
            ("gemini-3.5-flash-lite", 6),
            ("gpt-3.5-turbo", 5),
            ("gpt-4o-mini", 8),
            ("o4-mini", 8),
            ("gemini-2.5-pro", 15),
            ("claude-sonnet-5", 12),
            ("GPT-4o", 15),
            ("claude-opus-4-8", 20),
            ("gpt-5", 10),
            ("qwen2.5:7b", 10),
            ("minimax-m2", 10),
            ("geminix", 10),
        ] {
            assert_eq!(turn_limit(model), limit, "{model}");
        }
    }

    #[test]
    fn profiles_follow_the_size() {
        use ProfileKind::{Full, Minimal, Standard};
        for (provider, model, kind) in [
            ("anthropic", "claude-haiku-4-5-20251001", Full),
            ("custom", "llama-7b", Full),
            ("groq", "llama-3.1-8b-instant", Minimal),
            ("groq", "llama-3.3-70b-versatile", Standard),
            ("groq", "qwen/qwen3-32b", Standard),
            ("groq", "openai/gpt-oss-20b", Minimal),
            ("groq", "openai/gpt-oss-120b", Full),
            ("groq", "moonshotai/kimi-k2-instruct-0905", Full),
            ("groq", "meta-llama/llama-4-scout-17b-16e-instruct", Full),
            ("groq", "mixtral-8x7b-32768", Standard),
            ("ollama", "mixtral:8x22b", Full),
            ("ollama", "mixtral", Standard),
            ("ollama", "llama-3.1-405b", Full),
            ("ollama", "deepseek-r1:1.5b", Minimal),
            ("ollama", "deepseek-r1-distill-llama-70b", Standard),
            ("ollama", "deepseek-v3.1:671b-cloud", Full),
            ("ollama", "kimi-k2:1t-cloud", Full),
            ("ollama", "qwen3:30b-a3b", Standard),
            ("ollama", "qwen2.5:72B", Standard),
            ("ollama", "gemma3:27b", Minimal),
            ("ollama", "phi4", Minimal),
        ] {
            assert_eq!(Profile::of(provider, model).kind, kind, "{provider}/{model}");
        }
    }
}
