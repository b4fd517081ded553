//! What happens to the results of tools before the model sees them.

use crate::guard::tool_output::{self, Cleaned, Cleaning, Orders};
use crate::message::{Content, Part};
use crate::screening::SharedVault;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// When a result is put between lines that say that it is data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fence {
    /// When something in it looks like an order to the model. The default.
    #[default]
    Flagged,
    /// Always.
    Always,
    /// Never.
    Off,
}

/// What happens to what looks like an order to the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnInjection {
    /// It is replaced by `[REDACTED]`, and the result is flagged. The default.
    #[default]
    Redact,
    /// It stays, and the result is flagged: for tools that read about such orders.
    Flag,
    /// Nobody looks for it.
    Off,
}

/// How the results of tools are cleaned. In JSON a key that is left out has its default and an unknown key is an error.
/// Control characters, terminal sequences and hidden characters always go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolOutputRules {
    /// What happens to what looks like an order to the model. Default `redact`.
    pub injection: OnInjection,
    /// Whether keys, tokens, private keys and passwords are replaced. Default yes.
    pub secrets: bool,
    /// When a result is put between lines that say that it is data. Default `flagged`.
    pub fence: Fence,
}

impl Default for ToolOutputRules {
    fn default() -> Self {
        Self { injection: OnInjection::default(), secrets: true, fence: Fence::default() }
    }
}

/// Bytes of a result that takes long enough to keep a thread from other work.
const LONG: usize = 256 << 10;

/// The rules of one agent.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResultCleaning {
    pub(crate) rules: ToolOutputRules,
    /// Whether personal data is replaced, and the tools whose results keep it.
    pub(crate) personal: bool,
    pub(crate) exempt: Vec<String>,
}

/// What was done to a result, for events.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The pattern of each replacement.
    pub(crate) redacted: Vec<String>,
    /// The guard and what it found.
    pub(crate) flags: Vec<(String, String)>,
}

impl ResultCleaning {
    /// Cleans a result in place. A long one is cleaned on a thread of its own, so that other runs go on meanwhile.
    pub(crate) async fn clean(&self, tool: &str, content: &mut Content, vault: Option<&SharedVault>) -> Found {
        if content.as_text().len() < LONG {
            return self.clean_here(tool, content, vault);
        }
        let (rules, tool, vault) = (self.clone(), tool.to_owned(), vault.cloned());
        let mut taken = std::mem::replace(content, Content::text(""));
        let cleaned = tokio::task::spawn_blocking(move || {
            let found = rules.clean_here(&tool, &mut taken, vault.as_ref());
            (taken, found)
        });
        match cleaned.await {
            Ok((cleaned, found)) => {
                *content = cleaned;
                found
            }
            Err(error) => {
                // What was not cleaned is not shown.
                tracing::error!(%error, "a result could not be cleaned and was left out");
                *content = Content::text(crate::prompt::notice::error(crate::prompt::notice::INTERNAL));
                Found::default()
            }
        }
    }

    fn clean_here(&self, tool: &str, content: &mut Content, vault: Option<&SharedVault>) -> Found {
        let cleaning = Cleaning {
            injection: match self.rules.injection {
                OnInjection::Redact => Orders::Redact,
                OnInjection::Flag | OnInjection::Off => Orders::Flag,
            },
            secrets: self.rules.secrets,
            personal: self.personal && !self.exempt.iter().any(|name| name == tool),
            ..Cleaning::default()
        };
        let mut found = Found::default();
        let mut clean = |text: &mut Box<str>| {
            // What the model knows by name keeps its name.
            if let Some(vault) = vault.filter(|vault| !vault.lock().is_empty()) {
                let hidden = vault.lock().hide_known(text).into_owned();
                *text = hidden.into();
            }
            let Cleaned { text: cleaned, redacted, flags } = tool_output::clean(text, &cleaning);
            found.redacted.extend(redacted.into_iter().map(|redaction| redaction.pattern));
            if self.rules.injection != OnInjection::Off {
                found.flags.extend(
                    flags
                        .into_iter()
                        .map(|flag| (flag.guard.class().to_owned(), format!("{}: '{}'", flag.rule, flag.pattern))),
                );
            }
            if let std::borrow::Cow::Owned(cleaned) = cleaned {
                *text = cleaned.into();
            }
        };
        match content {
            Content::Text(text) => clean(text),
            Content::Parts(parts) => {
                for part in parts {
                    if let Part::Text { text } = part {
                        clean(text);
                    }
                }
            }
        }
        found
    }

    /// Whether a result gets a fence.
    pub(crate) fn fences(&self, flagged: bool) -> bool {
        match self.rules.fence {
            Fence::Flagged => flagged,
            Fence::Always => true,
            Fence::Off => false,
        }
    }
}

/// Sixteen hexadecimal digits for the fence of a call's result. They are new for every call and the same when it runs
/// again; whoever knows them still cannot close the fence, because they are broken inside of it.
fn marker(run_id: &str, call_id: &str) -> String {
    let digest = Sha256::digest(format!("{run_id}\n{call_id}"));
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Puts a fence around every text of a result.
pub(super) fn fence(content: &mut Content, run_id: &str, call_id: &str) {
    let marker = marker(run_id, call_id);
    let fenced = |text: &str| tool_output::fence(text, &marker).into();
    match content {
        Content::Text(text) => *text = fenced(text),
        Content::Parts(parts) => {
            for part in parts {
                if let Part::Text { text } = part {
                    *text = fenced(text);
                }
            }
        }
    }
}
