//! What guards find, and the table of the guards.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Range;

macro_rules! guards {
    ($($(#[doc = $doc:literal])+ $name:ident = $key:literal, $label:literal, $class:literal, $priority:literal,
        typed_only: $typed:literal, prompt_only: $prompt:literal;)+) => {
        /// A built-in guard that looks at text.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum GuardKind { $($(#[doc = $doc])+ $name,)+ }

        impl GuardKind {
            /// All of them, in the order of their priorities.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The name in settings and findings: `injection`.
            pub const fn key(self) -> &'static str {
                match self { $(Self::$name => $key),+ }
            }

            /// The name for people: `Prompt Injection`.
            pub const fn label(self) -> &'static str {
                match self { $(Self::$name => $label),+ }
            }

            /// The name that errors and the event `guard.blocked` tell: `InjectionGuard`.
            pub const fn class(self) -> &'static str {
                match self { $(Self::$name => $class),+ }
            }

            /// The default place in the order: lower looks first.
            pub const fn priority(self) -> i32 {
                match self { $(Self::$name => $priority),+ }
            }

            /// Whether it looks at what the user typed only, and never at memory or skills.
            pub const fn typed_only(self) -> bool {
                match self { $(Self::$name => $typed),+ }
            }

            /// Whether it leaves the arguments of tool calls alone.
            pub const fn prompt_only(self) -> bool {
                match self { $(Self::$name => $prompt),+ }
            }
        }
    };
}

guards! {
    /// Messages that are too long.
    MessageLength = "message_length", "Message Length", "MessageLengthGuard", 0, typed_only: true, prompt_only: true;
    /// Orders to ignore rules or to give them away.
    Injection = "injection", "Prompt Injection", "InjectionGuard", 1, typed_only: false, prompt_only: false;
    /// Hidden and misleading characters.
    Unicode = "unicode", "Unicode Injection", "UnicodeGuard", 2, typed_only: false, prompt_only: false;
    /// Words spelled with letters of another script.
    Homoglyph = "homoglyph", "Homoglyph Substitution", "HomoglyphGuard", 3, typed_only: false, prompt_only: false;
    /// Orders to be somebody else, and forged turns.
    RoleSwitch = "role_switch", "Role Switch", "RoleSwitchGuard", 4, typed_only: false, prompt_only: false;
    /// Code that is to be run.
    CodeInjection = "code_injection", "Code Injection", "CodeInjectionGuard", 5, typed_only: false, prompt_only: true;
    /// SQL that destroys or changes data.
    DestructiveSql = "destructive_sql", "Destructive SQL", "DestructiveSqlGuard", 6, typed_only: true, prompt_only: false;
    /// Personal data.
    PiiDetection = "pii_detection", "PII Detection", "PiiDetectionGuard", 30, typed_only: false, prompt_only: true;
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth a note.
    Low,
    /// Suspicious.
    Medium,
    /// An attack, most likely.
    High,
    /// An attack without doubt.
    Critical,
}

impl Severity {
    /// The severity of a score: from 40 medium, from 70 high, from 90 critical.
    pub const fn of(score: u8) -> Self {
        match score {
            0..40 => Self::Low,
            40..70 => Self::Medium,
            70..90 => Self::High,
            90.. => Self::Critical,
        }
    }

    /// `low`, `medium`, `high` or `critical`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

/// Something that a guard found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The guard.
    pub guard: GuardKind,
    /// The rule of the guard: `override.instructions`.
    pub rule: Cow<'static, str>,
    /// Bytes of the text as it was given.
    pub span: Range<usize>,
    /// How sure the rule is, 0 to 100.
    pub score: u8,
    /// What the message for people names: the words of an attack, folded, or the sort of personal data; never a secret.
    pub pattern: Cow<'static, str>,
}

impl Finding {
    /// The severity of the score.
    pub const fn severity(&self) -> Severity {
        Severity::of(self.score)
    }
}
