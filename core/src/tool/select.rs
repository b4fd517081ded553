//! Which tools a run offers: chosen once, by the user's message, the model's limits and the budget of a request.
//!
//! Pure functions over names, descriptions and routing words. A tool that is not offered is still registered; whether
//! it may be called is decided elsewhere.

use super::profile::{Profile, turn_limit};
use crate::limits;
use crate::schema::words;
use std::collections::{BTreeMap, BTreeSet};

/// The tool that loads a skill; it is always offered.
const LOAD_SKILL: &str = "load_skill";

/// Bytes of JSON around a tool's name, description and schema, a little over what any wire format needs.
const JSON_AROUND_A_TOOL: usize = 64;

/// Words that help to find a tool when not all can be offered. They are not sent to the model.
///
/// ```
/// use cheliped::tool::Routing;
/// let routing = Routing {
///     domains: vec!["database".into()],
///     tags: vec!["sql".into(), "rows".into(), "count".into()],
///     ..Routing::default()
/// };
/// # let _ = routing;
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routing {
    /// Fields that the tool belongs to, for example `database`. Each word of the message found here weighs 8.
    pub domains: Vec<String>,
    /// Words around it, for example `sql`, `rows`. Each weighs 4.
    pub tags: Vec<String>,
    /// What a user wants when the tool fits, for example `count customers`. Each word weighs 16.
    pub intents: Vec<String>,
    /// Messages that it fits. Each word weighs 2, as much as one in both name and description.
    pub examples: Vec<String>,
}

/// A registered tool as far as the choice needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
    pub(crate) routing: Option<&'a Routing>,
    /// Bytes of its JSON Schema as sent.
    pub(crate) schema_len: usize,
}

/// What the choice depends on besides the tools.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation<'a> {
    /// What the user wrote, without anything added to it.
    pub(crate) message: &'a str,
    /// The model that is asked.
    pub(crate) model: &'a str,
    /// Most tools a turn; `None` leaves it to the model's name.
    pub(crate) max_tools: Option<usize>,
    /// Names that are always offered, outside limit and budget.
    pub(crate) always_include: &'a [String],
    /// The model's profile.
    pub(crate) profile: &'a Profile,
    /// Estimated tokens of the system prompt.
    pub(crate) prompt_tokens: u64,
    /// Characters of the history with the message.
    pub(crate) history_chars: usize,
}

/// The tools to offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    /// Places in the list of candidates. In the given order when all are offered, otherwise by name, so that the same
    /// choice is sent as the same bytes.
    pub(crate) offered: Vec<usize>,
    /// Whether descriptions are sent as [`lean`] ones.
    pub(crate) lean: bool,
}

/// The first line of a description that says anything.
pub(crate) fn lean(description: &str) -> &str {
    description.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}

/// Chooses the tools for a run.
pub(crate) fn select(candidates: &[Candidate<'_>], situation: &Situation<'_>) -> Selection {
    let always = |index: &usize| {
        candidates.get(*index).is_some_and(|tool| situation.always_include.iter().any(|name| name == tool.name))
    };
    let (always, others): (Vec<usize>, Vec<usize>) = (0..candidates.len()).partition(always);
    let limit = situation.max_tools.unwrap_or_else(|| turn_limit(situation.model));
    let budget = situation.profile.request_tokens;
    let lean = situation.profile.lean;
    let everything = || Selection { offered: (0..candidates.len()).collect(), lean };
    if others.len() <= limit && budget.is_none_or(|budget| cost(candidates, &everything().offered, situation) <= budget)
    {
        return everything();
    }
    let mut chosen = ranked(candidates, &others, situation, limit);
    if let Some(budget) = budget {
        // The last of the ranking goes first; one tool stays.
        while chosen.len() + always.len() > 1 && !chosen.is_empty() {
            let offered: Vec<usize> = always.iter().chain(&chosen).copied().collect();
            if cost(candidates, &offered, situation) <= budget {
                break;
            }
            chosen.pop();
        }
    }
    if chosen.len() == others.len() {
        return everything();
    }
    let mut offered: Vec<usize> = always.into_iter().chain(chosen).collect();
    offered.sort_by_key(|index| candidates.get(*index).map(|tool| tool.name));
    Selection { offered, lean }
}

/// Estimated tokens of a request that offers these tools.
fn cost(candidates: &[Candidate<'_>], offered: &[usize], situation: &Situation<'_>) -> u64 {
    let bytes: usize = offered
        .iter()
        .filter_map(|index| candidates.get(*index))
        .map(|tool| {
            let description = if situation.profile.lean { lean(tool.description) } else { tool.description };
            tool.name.len() + description.len() + tool.schema_len + JSON_AROUND_A_TOOL
        })
        .sum();
    situation.prompt_tokens + limits::tokens_of_chars(situation.history_chars) + bytes.div_ceil(4) as u64
}

/// At most `limit` of the tools, the most fitting first: the pinned ones, then the rest by score.
fn ranked(candidates: &[Candidate<'_>], tools: &[usize], situation: &Situation<'_>, limit: usize) -> Vec<usize> {
    let mut chosen = pinned(candidates, tools, situation.message);
    chosen.truncate(limit);
    let mut rest: Vec<(f64, usize)> = {
        let unpinned: Vec<usize> = tools.iter().copied().filter(|index| !chosen.contains(index)).collect();
        let scores = scores(candidates, &unpinned, situation.message);
        scores.into_iter().zip(unpinned).collect()
    };
    let name = |index: usize| candidates.get(index).map(|tool| tool.name);
    rest.sort_by(|(a, a_index), (b, b_index)| b.total_cmp(a).then_with(|| name(*a_index).cmp(&name(*b_index))));
    let over_limit = tools.len() > limit;
    let floor = rest.first().map_or(0.0, |(best, _)| best * situation.profile.min_score_share);
    // A small model is confused by tools that hardly fit; they go only where tools are cut anyway.
    rest.retain(|(score, _)| !over_limit || *score >= floor);
    chosen.extend(rest.into_iter().map(|(_, index)| index));
    chosen.truncate(limit);
    chosen
}

/// `load_skill`, then the tools that the message names, in its order.
fn pinned(candidates: &[Candidate<'_>], tools: &[usize], message: &str) -> Vec<usize> {
    let named = |index: &usize| candidates.get(*index).map(|tool| identifier(tool.name)).unwrap_or_default();
    let mut pinned: Vec<usize> = tools.iter().copied().filter(|index| named(index) == LOAD_SKILL).collect();
    for mention in mentions(message) {
        let exact = tools.iter().copied().find(|index| named(index) == mention.name);
        let found: Vec<usize> = match (exact, mention.kind) {
            (Some(exact), _) => vec![exact],
            (None, MentionKind::Identifier) => Vec::new(),
            // `ShellTool` also means `shell_exec`, as a whole first or last part.
            (None, MentionKind::ClassName) => {
                let is_part = |index: &usize| {
                    let name = named(index);
                    let rest = name.strip_prefix(&mention.name).map(|rest| rest.starts_with('_'));
                    let start = name.strip_suffix(&mention.name).map(|start| start.ends_with('_'));
                    rest == Some(true) || start == Some(true)
                };
                tools.iter().copied().filter(is_part).collect()
            }
        };
        pinned.extend(found.into_iter().filter(|index| !pinned.contains(index)).collect::<Vec<_>>());
    }
    pinned
}

/// A tool's name as a message may write it: lower case, with `_` between its parts.
fn identifier(name: &str) -> String {
    name.to_lowercase().replace(|c: char| !c.is_alphanumeric(), "_")
}

struct Mention {
    name: String,
    kind: MentionKind,
}

enum MentionKind {
    /// A word that can only be a name: with `_`, `-` or a dot inside, or in back-ticks.
    Identifier,
    /// `use ShellTool`.
    ClassName,
}

/// Words of a message that may name a tool.
fn mentions(message: &str) -> Vec<Mention> {
    let mut mentions = Vec::new();
    let mut before = String::new();
    let is_part = |c: char| c.is_alphanumeric() || "_-.:`".contains(c);
    for token in message.split(|c: char| !is_part(c)) {
        let word = token.trim_matches(|c: char| !c.is_alphanumeric());
        if word.is_empty() {
            continue;
        }
        let class = word.strip_suffix("Tool").filter(|class| class.starts_with(char::is_uppercase));
        if let Some(class) = class.filter(|_| matches!(before.as_str(), "use" | "using" | "with" | "via")) {
            let name = words::parts(class).iter().map(|part| part.to_lowercase()).collect::<Vec<_>>().join("_");
            mentions.push(Mention { name, kind: MentionKind::ClassName });
        } else if token.contains('`') || word.contains(|c: char| !c.is_alphanumeric()) {
            mentions.push(Mention { name: identifier(word), kind: MentionKind::Identifier });
        }
        before = word.to_lowercase();
    }
    mentions
}

/// The words of one tool with the weight of each: the sum over the fields that hold it.
fn weighted_words(tool: &Candidate<'_>) -> BTreeMap<String, f64> {
    let mut weights = BTreeMap::new();
    let mut add = |words: BTreeSet<String>, weight: f64| {
        for word in words {
            *weights.entry(word).or_insert(0.0) += weight;
        }
    };
    add(words::word_set([tool.name]), 1.0);
    add(words::word_set([tool.description]), 1.0);
    if let Some(Routing { domains, tags, intents, examples }) = tool.routing {
        for (texts, weight) in [(intents, 16.0), (domains, 8.0), (tags, 4.0), (examples, 2.0)] {
            add(words::word_set(texts.iter().map(String::as_str)), weight);
        }
    }
    weights
}

/// A score for each of the tools: rare words of the message count more, words that all tools share count nothing.
fn scores(candidates: &[Candidate<'_>], tools: &[usize], message: &str) -> Vec<f64> {
    let mut asked: BTreeMap<String, u32> = BTreeMap::new();
    for word in words::words(message) {
        *asked.entry(word).or_insert(0) += 1;
    }
    let known: Vec<BTreeMap<String, f64>> =
        tools.iter().map(|index| candidates.get(*index).map(weighted_words).unwrap_or_default()).collect();
    let weight = |word: &str, repeats: u32| {
        let carriers = known.iter().filter(|words| words.contains_key(word)).count();
        match (known.len(), carriers) {
            (..3, _) | (_, 0) => 1.0,
            (all, carriers) => (all as f64 / carriers as f64).ln() / (1.0 + f64::from(repeats).ln()),
        }
    };
    let asked: Vec<(String, f64)> = asked
        .into_iter()
        .map(|(word, repeats)| {
            let weight = weight(&word, repeats);
            (word, weight)
        })
        .collect();
    known
        .iter()
        .map(|words| asked.iter().map(|(word, weight)| weight * words.get(word).copied().unwrap_or(0.0)).sum())
        .collect()
}

#[cfg(test)]
mod tests;
