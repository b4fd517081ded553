//! What each model family takes and gives: a table, not code.
//!
//! Families are found by the words and the version in a model id, so that new and dated ids of a known family need no
//! new row. Only what changes the shape of a request is here; prices and context sizes are not.

/// What the models of one family take and give.
///
/// ```
/// use cheliped::provider::capability::{Thinking, of};
/// assert_eq!(of("claude-haiku-4-5-20251001").reply_tokens, 8192);
/// assert!(matches!(of("claude-opus-4-8").thinking, Thinking::Adaptive { .. }));
/// assert_eq!(of("some-new-model").family, "other");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capability {
    /// Name of the row; `other` for models that no row knows.
    pub family: &'static str,
    /// Most tokens of a reply when the caller names no number.
    pub reply_tokens: u32,
    /// How thinking is asked for.
    pub thinking: Thinking,
    /// Whether a temperature is accepted.
    pub temperature: bool,
    /// Whether a tool call can be forced.
    pub forced_tools: bool,
    /// Whether the history may end with words of the model that it then goes on writing.
    pub prefill: bool,
    /// Whether images and files may stand inside a tool result; otherwise they follow it.
    pub media_in_results: bool,
    /// Whether calls without the provider's own signature must carry a stand-in.
    pub signed_calls: bool,
    /// Value of `anthropic-beta` that lets the model think between tool calls, where that needs asking.
    pub interleaved: Option<&'static str>,
}

/// How a family is asked to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Thinking {
    /// It cannot.
    None,
    /// By a number of tokens.
    Budget {
        /// The least number accepted.
        least: u32,
        /// The greatest number accepted.
        most: u32,
    },
    /// By an effort; the model decides how much it thinks (Claude).
    Adaptive {
        /// Whether a readable summary has to be asked for.
        hidden: bool,
    },
    /// By a level (Gemini).
    Level {
        /// Whether `medium` exists; otherwise `high` stands in for it.
        medium: bool,
    },
}

/// How hard a model is asked to think, where it takes no number of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effort {
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

impl Effort {
    /// The effort that comes nearest to a budget of this many tokens: below 4096 low, below 16384 medium, else high.
    pub const fn of_budget(tokens: u32) -> Self {
        match tokens {
            0..4096 => Self::Low,
            4096..16384 => Self::Medium,
            _ => Self::High,
        }
    }

    /// The word on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// Looks a model id up; prefixes such as `anthropic/` or `models/`, dates and suffixes do not matter.
pub fn of(model: &str) -> &'static Capability {
    let id = ModelId::read(model);
    FAMILIES.iter().find(|row| row.covers(&id)).map_or(&OTHER, |row| &row.capability)
}

struct Family {
    /// Words that the id must hold.
    words: &'static [&'static str],
    /// The first version that the row covers; an id without a version is the newest.
    from: (u16, u16),
    capability: Capability,
    /// Ids that must find this row.
    #[cfg_attr(not(test), expect(dead_code, reason = "read by the test that runs over the table"))]
    examples: &'static [&'static str],
}

impl Family {
    fn covers(&self, id: &ModelId) -> bool {
        id.version >= self.from && self.words.iter().all(|word| id.words.iter().any(|have| have == word))
    }
}

/// A model id taken apart.
struct ModelId {
    words: Vec<String>,
    version: (u16, u16),
}

impl ModelId {
    fn read(model: &str) -> Self {
        let model = model.to_ascii_lowercase();
        let words: Vec<&str> =
            model.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
        // What stands before the maker's name is a host or a region.
        let start = words.iter().position(|word| MAKERS.contains(word)).unwrap_or(0);
        let words = words.get(start..).unwrap_or_default();
        // Dates and build numbers have more than two digits.
        let number = |word: &&str| -> Option<u16> { (word.len() <= 2).then(|| word.parse().ok()).flatten() };
        let version = words.iter().position(|word| number(word).is_some()).map_or((u16::MAX, 0), |place| {
            let part = |place: usize| words.get(place).and_then(number).unwrap_or(0);
            (part(place), part(place + 1))
        });
        Self { words: words.iter().map(|word| (*word).to_owned()).collect(), version }
    }
}

const MAKERS: &[&str] = &["claude", "gemini"];

/// A model that no row knows: the cautious reading.
static OTHER: Capability = Capability {
    family: "other",
    reply_tokens: 4096,
    thinking: Thinking::Budget { least: 1024, most: u32::MAX },
    temperature: true,
    forced_tools: true,
    prefill: true,
    media_in_results: true,
    signed_calls: false,
    interleaved: None,
};

const CLAUDE: Capability = Capability {
    family: "claude",
    reply_tokens: 4096,
    thinking: Thinking::None,
    temperature: true,
    forced_tools: true,
    prefill: true,
    media_in_results: true,
    signed_calls: false,
    interleaved: None,
};
const CLAUDE_BUDGET: Capability = Capability {
    reply_tokens: 16000,
    thinking: Thinking::Budget { least: 1024, most: u32::MAX },
    interleaved: Some("interleaved-thinking-2025-05-14"),
    ..CLAUDE
};
const CLAUDE_ADAPTIVE: Capability =
    Capability { reply_tokens: 16000, thinking: Thinking::Adaptive { hidden: false }, prefill: false, ..CLAUDE };
const CLAUDE_NEWEST: Capability =
    Capability { thinking: Thinking::Adaptive { hidden: true }, temperature: false, ..CLAUDE_ADAPTIVE };

const GEMINI: Capability = Capability {
    family: "gemini",
    reply_tokens: 8192,
    thinking: Thinking::None,
    temperature: true,
    forced_tools: true,
    prefill: false,
    media_in_results: false,
    signed_calls: false,
    interleaved: None,
};
const GEMINI_3: Capability = Capability {
    family: "gemini-3",
    thinking: Thinking::Level { medium: true },
    media_in_results: true,
    signed_calls: true,
    ..GEMINI
};

/// The first row that covers an id counts.
static FAMILIES: &[Family] = &[
    Family {
        words: &["claude", "fable"],
        from: (0, 0),
        capability: Capability { family: "claude-fable", forced_tools: false, ..CLAUDE_NEWEST },
        examples: &["claude-fable-5", "claude-fable-5-1", "claude-fable-latest"],
    },
    Family {
        words: &["claude", "mythos"],
        from: (0, 0),
        capability: Capability { family: "claude-mythos", forced_tools: false, ..CLAUDE_NEWEST },
        examples: &["claude-mythos-5", "claude-mythos-preview"],
    },
    Family {
        words: &["claude", "opus"],
        from: (4, 7),
        capability: Capability { family: "claude-opus", ..CLAUDE_NEWEST },
        examples: &[
            "claude-opus-4-7",
            "claude-opus-4.8",
            "claude-opus-5",
            "anthropic/claude-opus-5-5",
            "claude-opus-latest",
        ],
    },
    Family {
        words: &["claude", "opus"],
        from: (4, 6),
        capability: Capability { family: "claude-opus-4.6", ..CLAUDE_ADAPTIVE },
        examples: &["claude-opus-4-6", "us.anthropic.claude-opus-4-6-v1:0"],
    },
    Family {
        words: &["claude", "opus"],
        from: (4, 0),
        capability: Capability { family: "claude-opus-4", ..CLAUDE_BUDGET },
        examples: &["claude-opus-4-20250514", "claude-opus-4-1-20250805", "claude-opus-4-5-20251101"],
    },
    Family {
        words: &["claude", "sonnet"],
        from: (5, 0),
        capability: Capability { family: "claude-sonnet", ..CLAUDE_NEWEST },
        examples: &["claude-sonnet-5", "claude-sonnet-5-5", "claude-sonnet-latest"],
    },
    Family {
        words: &["claude", "sonnet"],
        from: (4, 6),
        capability: Capability { family: "claude-sonnet-4.6", ..CLAUDE_ADAPTIVE },
        examples: &["claude-sonnet-4-6"],
    },
    Family {
        words: &["claude", "sonnet"],
        from: (4, 0),
        capability: Capability { family: "claude-sonnet-4", ..CLAUDE_BUDGET },
        examples: &["claude-sonnet-4-5-20250929", "claude-sonnet-4@20250514"],
    },
    Family {
        words: &["claude", "sonnet"],
        from: (3, 7),
        capability: Capability { family: "claude-sonnet-3.7", interleaved: None, ..CLAUDE_BUDGET },
        examples: &["claude-3-7-sonnet-20250219"],
    },
    Family {
        words: &["claude", "sonnet"],
        from: (3, 5),
        capability: Capability { family: "claude-sonnet-3.5", reply_tokens: 8192, ..CLAUDE },
        examples: &["claude-3-5-sonnet-20241022"],
    },
    Family {
        words: &["claude", "haiku"],
        from: (5, 0),
        capability: Capability { family: "claude-haiku", reply_tokens: 8192, ..CLAUDE_NEWEST },
        examples: &["claude-haiku-5", "claude-haiku-latest"],
    },
    Family {
        words: &["claude", "haiku"],
        from: (4, 0),
        capability: Capability { family: "claude-haiku-4", reply_tokens: 8192, ..CLAUDE_BUDGET },
        examples: &["claude-haiku-4-5", "claude-haiku-4-5-20251001"],
    },
    Family {
        words: &["claude", "haiku"],
        from: (3, 5),
        capability: Capability { family: "claude-haiku-3.5", reply_tokens: 8192, ..CLAUDE },
        examples: &["claude-3-5-haiku-20241022"],
    },
    Family {
        words: &["claude"],
        from: (5, 0),
        capability: Capability { family: "claude-other", reply_tokens: 4096, ..CLAUDE_NEWEST },
        examples: &["claude-aria-6", "claude-next"],
    },
    Family {
        words: &["claude"],
        from: (0, 0),
        capability: CLAUDE,
        examples: &["claude-3-opus-20240229", "claude-3-haiku-20240307", "claude-2.1", "claude-instant-1.2"],
    },
    Family {
        words: &["gemini", "pro"],
        from: (3, 1),
        capability: Capability { family: "gemini-pro", ..GEMINI_3 },
        examples: &["gemini-3.1-pro-preview", "gemini-pro-latest"],
    },
    Family {
        words: &["gemini", "pro"],
        from: (3, 0),
        capability: Capability { family: "gemini-3-pro", thinking: Thinking::Level { medium: false }, ..GEMINI_3 },
        examples: &["gemini-3-pro", "gemini-3-pro-preview"],
    },
    Family {
        words: &["gemini"],
        from: (3, 0),
        capability: GEMINI_3,
        examples: &[
            "gemini-3-flash-preview",
            "gemini-3.5-flash-lite",
            "models/gemini-3.5-flash",
            "gemini-flash-latest",
        ],
    },
    Family {
        words: &["gemini", "pro"],
        from: (2, 5),
        capability: Capability {
            family: "gemini-2.5-pro",
            thinking: Thinking::Budget { least: 128, most: 32768 },
            ..GEMINI
        },
        examples: &["gemini-2.5-pro", "gemini-2.5-pro-preview-05-06"],
    },
    Family {
        words: &["gemini"],
        from: (2, 5),
        capability: Capability {
            family: "gemini-2.5",
            thinking: Thinking::Budget { least: 512, most: 24576 },
            ..GEMINI
        },
        examples: &["gemini-2.5-flash", "gemini-2.5-flash-lite", "google/gemini-2.5-flash-preview-09-2025"],
    },
    Family {
        words: &["gemini"],
        from: (2, 0),
        capability: GEMINI,
        examples: &["gemini-2.0-flash", "gemini-2.0-flash-001"],
    },
    Family {
        words: &["gemini"],
        from: (0, 0),
        capability: Capability { family: "gemini-1", reply_tokens: 2048, ..GEMINI },
        examples: &["gemini-1.5-flash", "gemini-1.5-pro-002"],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_found_by_its_examples() {
        for row in FAMILIES {
            assert!(!row.examples.is_empty(), "{} has no example", row.capability.family);
            for id in row.examples {
                assert_eq!(of(id), &row.capability, "{id}");
                assert_eq!(of(&id.to_uppercase()), &row.capability, "{id}");
            }
        }
    }

    #[test]
    fn family_names_are_unique() {
        let mut names: Vec<_> = FAMILIES.iter().map(|row| row.capability.family).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn unknown_ids_are_other() {
        for id in ["", "gpt-4o-mini", "deepseek-chat", "opus", "4.8", "gemma-3-27b", "ß-é", "-.-"] {
            assert_eq!(of(id).family, "other", "{id}");
        }
    }

    #[test]
    fn newest_claude_models_take_no_budget_and_no_temperature() {
        for id in ["claude-opus-4-7", "claude-opus-4-8", "claude-opus-5", "claude-fable-5"] {
            let capability = of(id);
            assert_eq!(capability.thinking, Thinking::Adaptive { hidden: true }, "{id}");
            assert!(!capability.temperature, "{id}");
        }
        assert!(of("claude-opus-4-6").temperature);
    }

    #[test]
    fn efforts_follow_the_budget() {
        let efforts: Vec<_> =
            [1024, 4095, 4096, 16383, 16384, u32::MAX].map(Effort::of_budget).map(Effort::name).into();
        assert_eq!(efforts, ["low", "low", "medium", "medium", "high", "high"]);
    }
}
