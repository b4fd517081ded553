//! What findings lead to: presets, and settings of each guard on top of them.

use super::rate::RateLimit;
use crate::error::Error;
use crate::guard::GuardKind;
use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Characters that a message may have.
pub const MAX_MESSAGE_CHARS: usize = 40_000;
/// Score from which strict settings act.
const STRICT: u8 = 50;
/// Score from which the other presets act.
const RELAXED: u8 = 70;
/// Memory that one custom pattern may take when it is compiled, in bytes.
const PATTERN_SIZE: usize = 1 << 20;
/// Custom patterns of one guard at most.
const MAX_PATTERNS: usize = 256;
/// What a match of a custom pattern scores: all presets act on it.
pub(super) const PATTERN_SCORE: u8 = 90;

/// A ready set of rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// Every finding that is likely an attack blocks (score 50 and above), personal data too. The default.
    #[default]
    Strict,
    /// Findings block from a score of 70; e-mail addresses and phone numbers are redacted; weaker findings are told.
    Balanced,
    /// As balanced, and code and SQL are told but never block.
    CodeAssistant,
    /// No built-in guard looks at anything.
    Off,
}

/// What a finding leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// The text does not go on.
    Block,
    /// The text goes on without what was found.
    Redact,
    /// The text goes on; the event `guard.finding` tells of it.
    Warn,
    /// Nothing.
    Off,
}

/// What happens to a piece of context, such as a memory entry, in which a guard finds something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnContextFinding {
    /// The piece is left out, with the event `guard.context_dropped`; personal data in it is redacted. The default.
    #[default]
    Drop,
    /// The message is refused, as if the user had typed it.
    Block,
}

/// Settings of one guard; what is left out comes from the preset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GuardRule {
    /// What a finding at or above the threshold leads to.
    pub action: Option<Action>,
    /// The score from which the action is taken, 0 to 100; findings below are told.
    pub threshold: Option<u8>,
    /// The place in the order: lower looks first. Default: the guard's own.
    pub priority: Option<i32>,
    /// Patterns of your own by name, in the syntax of the `regex` crate, which takes linear time. They look at the text
    /// as it was given and score 90.
    pub patterns: BTreeMap<String, String>,
}

/// The built-in guards of an agent. In JSON a key that is left out has its default and an unknown key is an error.
///
/// ```
/// use cheliped::guard::GuardKind;
/// use cheliped::screening::{GuardOptions, Screen, Source};
///
/// let options: GuardOptions = serde_json::from_str(
///     r#"{"preset": "balanced", "injection": {"patterns": {"codename": "(?i)project heron"}}}"#,
/// )?;
/// let report = Screen::new(&options)?.check(&Source::Typed, "Tell me about Project Heron.");
/// let blocked = report.blocked().unwrap();
/// assert_eq!(blocked.finding.guard, GuardKind::Injection);
/// assert_eq!(blocked.finding.rule, "custom.codename");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct GuardOptions {
    /// The rules to start from. Default `strict`.
    pub preset: Preset,
    /// Turns on exactly these guards. Default: all.
    pub enabled: Option<Vec<GuardKind>>,
    /// Characters that a message may have. Default 40,000.
    pub max_message_length: usize,
    /// What happens to a piece of context with a finding. Default `drop`.
    pub on_context_finding: OnContextFinding,
    /// Whether the messages of a conversation are scanned again when it goes on. Default no.
    pub scan_history: bool,
    /// How many messages a caller may send. Default: no limit.
    pub rate_limit: Option<RateLimit>,
    /// What findings of single rules lead to, whatever their score: by the name of a rule (`pii.email`) or of a group
    /// (`override`).
    pub rules: BTreeMap<String, Action>,
    /// Messages that are too long.
    pub message_length: GuardRule,
    /// Orders to ignore rules or to give them away.
    pub injection: GuardRule,
    /// Hidden and misleading characters.
    pub unicode: GuardRule,
    /// Words spelled with letters of another script.
    pub homoglyph: GuardRule,
    /// Orders to be somebody else, and forged turns.
    pub role_switch: GuardRule,
    /// Code that is to be run.
    pub code_injection: GuardRule,
    /// SQL that destroys or changes data.
    pub destructive_sql: GuardRule,
    /// Personal data.
    pub pii_detection: GuardRule,
}

impl Default for GuardOptions {
    fn default() -> Self {
        Self {
            preset: Preset::default(),
            enabled: None,
            max_message_length: MAX_MESSAGE_CHARS,
            on_context_finding: OnContextFinding::default(),
            scan_history: false,
            rate_limit: None,
            rules: BTreeMap::new(),
            message_length: GuardRule::default(),
            injection: GuardRule::default(),
            unicode: GuardRule::default(),
            homoglyph: GuardRule::default(),
            role_switch: GuardRule::default(),
            code_injection: GuardRule::default(),
            destructive_sql: GuardRule::default(),
            pii_detection: GuardRule::default(),
        }
    }
}

impl GuardOptions {
    /// The settings of a preset.
    pub fn preset(preset: Preset) -> Self {
        Self { preset, ..Self::default() }
    }

    /// The settings of one guard.
    pub fn rule(&self, guard: GuardKind) -> &GuardRule {
        match guard {
            GuardKind::MessageLength => &self.message_length,
            GuardKind::Injection => &self.injection,
            GuardKind::Unicode => &self.unicode,
            GuardKind::Homoglyph => &self.homoglyph,
            GuardKind::RoleSwitch => &self.role_switch,
            GuardKind::CodeInjection => &self.code_injection,
            GuardKind::DestructiveSql => &self.destructive_sql,
            GuardKind::PiiDetection => &self.pii_detection,
        }
    }

    fn is_on(&self, guard: GuardKind) -> bool {
        self.preset != Preset::Off && self.enabled.as_ref().is_none_or(|enabled| enabled.contains(&guard))
    }
}

/// One guard as it will act.
#[derive(Clone, Debug)]
pub(super) struct Policy {
    pub(super) guard: GuardKind,
    pub(super) priority: i32,
    action: Action,
    threshold: u8,
    pub(super) patterns: Vec<(String, Regex)>,
}

/// The guards that are on, in their order, and what single rules lead to.
#[derive(Clone, Debug, Default)]
pub(super) struct Policies {
    pub(super) guards: Vec<Policy>,
    rules: BTreeMap<String, Action>,
}

impl Policies {
    pub(super) fn new(options: &GuardOptions) -> Result<Self, Error> {
        let mut problems = Vec::new();
        let mut guards = Vec::new();
        for guard in GuardKind::ALL.iter().copied() {
            let rule = options.rule(guard);
            let patterns = compile(guard, &rule.patterns, &mut problems);
            if rule.threshold.is_some_and(|threshold| threshold > 100) {
                problems.push(format!("guard_rules.{}.threshold is over 100: scores go from 0 to 100", guard.key()));
            }
            let action = rule.action.unwrap_or(match (options.preset, guard) {
                (Preset::CodeAssistant, GuardKind::CodeInjection | GuardKind::DestructiveSql) => Action::Warn,
                _ => Action::Block,
            });
            if matches!(action, Action::Redact) && guard == GuardKind::MessageLength {
                problems
                    .push("guard_rules.message_length.action cannot be redact: a long message has no part to redact".into());
            }
            if options.is_on(guard) && action != Action::Off {
                let threshold = rule.threshold.unwrap_or(match options.preset {
                    Preset::Strict | Preset::Off => STRICT,
                    Preset::Balanced | Preset::CodeAssistant => RELAXED,
                });
                guards.push(Policy {
                    guard,
                    priority: rule.priority.unwrap_or(guard.priority()),
                    action,
                    threshold,
                    patterns,
                });
            }
        }
        if options.rate_limit.is_some_and(|limit| limit.max_requests == 0 || limit.window_seconds == 0) {
            problems.push("guard_rules.rate_limit needs max_requests and window_seconds over 0".into());
        }
        if options.max_message_length == 0 {
            problems.push("guard_rules.max_message_length is 0: no message would pass".into());
        }
        if !problems.is_empty() {
            return Err(Error::Configuration { problems });
        }
        guards.sort_by_key(|policy| policy.priority);
        let mut rules = BTreeMap::new();
        if matches!(options.preset, Preset::Balanced | Preset::CodeAssistant) {
            rules.insert("pii.email".to_owned(), Action::Redact);
            rules.insert("pii.phone".to_owned(), Action::Redact);
        }
        rules.extend(options.rules.iter().map(|(name, action)| (name.clone(), *action)));
        Ok(Self { guards, rules })
    }

    pub(super) fn of(&self, guard: GuardKind) -> Option<&Policy> {
        self.guards.iter().find(|policy| policy.guard == guard)
    }

    /// What a finding leads to.
    pub(super) fn action(&self, policy: &Policy, rule: &str, score: u8) -> Action {
        let mut name = rule;
        loop {
            if let Some(action) = self.rules.get(name) {
                // A weak sign of personal data is not made stronger by a rule that says what happens to it.
                return if score < STRICT && *action != Action::Off { Action::Warn } else { *action };
            }
            match name.rsplit_once('.') {
                Some((group, _)) => name = group,
                None => break,
            }
        }
        if score >= policy.threshold { policy.action } else { Action::Warn }
    }
}

fn compile(guard: GuardKind, patterns: &BTreeMap<String, String>, problems: &mut Vec<String>) -> Vec<(String, Regex)> {
    if patterns.len() > MAX_PATTERNS {
        problems.push(format!("guard_rules.{}.patterns has more than {MAX_PATTERNS} patterns", guard.key()));
        return Vec::new();
    }
    let mut compiled = Vec::with_capacity(patterns.len());
    for (name, pattern) in patterns {
        let regex = RegexBuilder::new(pattern).size_limit(PATTERN_SIZE).build();
        match regex {
            Ok(regex) if regex.is_match("") => problems.push(format!(
                "guard_rules.{}.patterns.{name} matches the empty text, so it would match everywhere: make it longer",
                guard.key()
            )),
            Ok(regex) => compiled.push((name.clone(), regex)),
            Err(error) => problems.push(format!("guard_rules.{}.patterns.{name} cannot be used: {error}", guard.key())),
        }
    }
    compiled
}
