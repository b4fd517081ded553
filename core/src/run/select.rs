//! Which tools a run offers: chosen once, before the loop.

use super::RunState;
use crate::provider::ToolSpec;
use crate::tool::Registry;
use crate::tool::profile::Profile;
use crate::tool::select::{Candidate, Situation, lean, select};
use std::sync::Arc;

/// Settings of the selection.
#[derive(Clone, Debug)]
pub(crate) struct Selecting {
    /// Tools offered at most; `None` derives it from the model.
    pub(crate) max_tools: Option<usize>,
    /// Tools that are always offered.
    pub(crate) always_include: Vec<String>,
    /// Every listed tool, for the usual case that all are offered.
    pub(crate) all: Arc<[ToolSpec]>,
}

/// The tools to offer in a run.
pub(crate) fn offer(
    selecting: &Selecting,
    registry: &Registry,
    state: &RunState,
    (provider, model): (&str, &str),
    system: &str,
) -> Arc<[ToolSpec]> {
    let profile = Profile::of(provider, model);
    let limit = selecting.max_tools.unwrap_or_else(|| crate::tool::profile::turn_limit(model));
    if selecting.all.len() <= limit && profile.request_tokens.is_none() && !profile.lean {
        return Arc::clone(&selecting.all);
    }
    let listed: Vec<_> = registry.iter().map(|tool| tool.definition()).filter(|tool| tool.is_listed()).collect();
    let candidates: Vec<Candidate<'_>> = listed
        .iter()
        .map(|tool| Candidate {
            name: tool.name(),
            description: tool.description(),
            routing: tool.routing_words(),
            schema_len: tool.spec().schema.get().len(),
        })
        .collect();
    let situation = Situation {
        message: &state.task.typed,
        model,
        max_tools: selecting.max_tools,
        always_include: &selecting.always_include,
        profile: &profile,
        prompt_tokens: (system.len() as u64).div_ceil(4),
        history_chars: state.chars,
    };
    let selection = select(&candidates, &situation);
    let spec = |place: &usize| {
        listed.get(*place).map(|tool| {
            let mut spec = tool.spec().clone();
            if selection.lean {
                spec.description = lean(&spec.description).into();
            }
            spec
        })
    };
    selection.offered.iter().filter_map(spec).collect()
}
