//! The vectors as they stand in the files. An unknown key anywhere is an error.

use cheliped::agent::AgentOptions;
use cheliped::context::ContextPiece;
use cheliped::message::{Content, Message, Part};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A file: cases of one topic.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// What the cases are about.
    pub about: String,
    /// The cases.
    pub cases: Vec<Case>,
}

/// One run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Unique in all files.
    pub name: String,
    /// Why it must be so.
    pub about: Option<String>,
    /// In which ways it is run; all by default.
    pub modes: Option<Vec<Mode>>,
    #[serde(default)]
    pub(super) options: AgentOptions,
    #[serde(default)]
    pub(super) tools: Vec<ToolCase>,
    #[serde(default)]
    pub(super) skills: Vec<SkillCase>,
    pub(super) gate: Option<GateCase>,
    #[serde(default)]
    pub(super) guards: Vec<GuardCase>,
    #[serde(default)]
    pub(super) interceptors: Vec<InterceptorCase>,
    pub(super) script: Box<RawValue>,
    #[serde(default)]
    pub(super) fallbacks: Vec<Box<RawValue>>,
    #[serde(deserialize_with = "message")]
    pub(super) message: Content,
    pub(super) conversation: Option<ConversationCase>,
    #[serde(default)]
    pub(super) context: ContextCase,
    /// Whether the run can be saved and stopped until somebody decides.
    #[serde(default)]
    pub(super) can_suspend: bool,
    /// What must come of it.
    pub expect: Map<String, Value>,
}

/// A message as it stands, or `{"repeat", "times"}` for a long one.
fn message<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Content, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Long(Long),
        Whole(Content),
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Long {
        repeat: String,
        times: usize,
    }
    Ok(match Written::deserialize(from)? {
        Written::Long(Long { repeat, times }) => Content::text(repeat.repeat(times)),
        Written::Whole(content) => content,
    })
}

/// A way to run a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Wait for the answer.
    Send,
    /// Stream it as the model writes it.
    Live,
    /// Stream it when it is complete.
    Replay,
}

impl Mode {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Send, Self::Live, Self::Replay];
}

impl Case {
    /// The ways in which it is run.
    pub fn modes(&self) -> Vec<Mode> {
        self.modes.clone().unwrap_or_else(|| Mode::ALL.to_vec())
    }

    /// Whether the tool of this name may run twice.
    pub fn is_idempotent(&self, tool: &str) -> bool {
        self.tools.iter().any(|case| case.name == tool && case.idempotent)
    }

    /// Whether it knows values by names that are in memory only, so that a run cannot go on elsewhere with them.
    pub fn keeps_values_in_memory(&self) -> bool {
        self.options.guard_rules.reversible
    }

    /// Whether it has tools.
    pub fn has_tools(&self) -> bool {
        !self.tools.is_empty()
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolCase {
    pub(super) name: String,
    #[serde(default)]
    pub(super) description: String,
    #[serde(default)]
    pub(super) schema: Map<String, Value>,
    #[serde(default)]
    pub(super) effect: EffectCase,
    #[serde(default)]
    pub(super) idempotent: bool,
    #[serde(default)]
    pub(super) unlisted: bool,
    /// One for each call; the last one for every later call.
    #[serde(default)]
    pub(super) returns: Vec<ToolStep>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum EffectCase {
    ReadOnly,
    Mutating,
    #[default]
    Unspecified,
}

/// What a tool does in one call: first the waits and the progress, then one of the others.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ToolStep {
    pub(super) latency_ms: u64,
    pub(super) progress: Vec<String>,
    pub(super) text: Option<String>,
    pub(super) json: Option<Value>,
    pub(super) parts: Option<Vec<Part>>,
    pub(super) repeat: Option<Repeat>,
    /// Gives back the arguments as they came.
    pub(super) echo: bool,
    pub(super) error: Option<String>,
    pub(super) error_repeat: Option<Repeat>,
    pub(super) retry: Option<String>,
    pub(super) denied: Option<String>,
    pub(super) internal: Option<String>,
    pub(super) refusal: Option<Refusal>,
    pub(super) panic: Option<String>,
    pub(super) hang: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Repeat {
    pub(super) text: String,
    pub(super) times: usize,
    #[serde(default)]
    pub(super) then: String,
}

impl Repeat {
    pub(super) fn whole(&self) -> String {
        format!("{}{}", self.text.repeat(self.times), self.then)
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Refusal {
    pub(super) content: String,
    pub(super) message: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SkillCase {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) instructions: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GateCase {
    #[serde(default)]
    pub(super) all: bool,
    /// One for each call that the gate is asked about; the last one for every later call.
    pub(super) decides: Vec<DecisionCase>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum DecisionCase {
    Allow,
    AllowWith(String),
    Deny,
    Policy(String),
    Suspend,
    Fail,
    Panic,
    Hang,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Does {
    Allow,
    Block,
    Replace,
    Fail,
    Panic,
    Hang,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GuardCase {
    pub(super) name: String,
    pub(super) does: Does,
    /// Acts only on texts that hold this.
    pub(super) when: Option<String>,
    #[serde(default)]
    pub(super) reason: String,
    #[serde(default)]
    pub(super) typed_only: bool,
    pub(super) priority: Option<i32>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InterceptorCase {
    pub(super) name: String,
    pub(super) point: Point,
    pub(super) does: Does,
    /// Acts only on values that hold this.
    pub(super) when: Option<String>,
    #[serde(default)]
    pub(super) reason: String,
    /// What it puts in the place of the value.
    pub(super) with: Option<Value>,
    pub(super) priority: Option<i32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Point {
    BeforeRun,
    BeforeModel,
    BeforeTool,
    AfterTool,
    BeforePersist,
    BeforeSend,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConversationCase {
    pub(super) id: String,
    #[serde(default)]
    pub(super) metadata: Map<String, Value>,
    #[serde(default)]
    pub(super) history: Vec<Message>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ContextCase {
    pub(super) tenant: Option<String>,
    pub(super) user: Option<String>,
    pub(super) scopes: Vec<String>,
    pub(super) deadline_ms: Option<u64>,
    pub(super) parent_run_id: Option<String>,
    pub(super) cancelled: bool,
    pub(super) pieces: Vec<ContextPiece>,
}
