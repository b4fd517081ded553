//! The tools of one agent, by name.

use super::Tool;
use std::collections::HashMap;
use std::sync::Arc;

/// Similar names that a model is told at most.
const MATCHES: usize = 3;

/// The tools of one agent in the order of registration. Names are unique.
#[derive(Clone, Default)]
pub struct Registry {
    tools: Vec<Arc<dyn Tool>>,
    places: HashMap<Arc<str>, usize>,
}

impl Registry {
    /// Takes tools; gives every problem found with their names.
    pub(crate) fn new(tools: Vec<Arc<dyn Tool>>) -> Result<Self, Vec<String>> {
        let mut places = HashMap::with_capacity(tools.len());
        let mut problems = Vec::new();
        for (place, tool) in tools.iter().enumerate() {
            let name = &tool.definition().spec().name;
            let legal = (1..=64).contains(&name.len())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
            if !legal {
                problems.push(format!(
                    "tool name {name:?} cannot be used: providers take 1 to 64 letters, digits, `_` or `-`; rename it"
                ));
            }
            if places.insert(Arc::clone(name), place).is_some() {
                problems.push(format!("two tools are named {name:?}: rename or remove one"));
            }
        }
        if problems.is_empty() { Ok(Self { tools, places }) } else { Err(problems) }
    }

    /// The tool of this name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.places.get(name).and_then(|place| self.tools.get(*place))
    }

    /// The tools in order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.iter()
    }

    /// The names in order.
    pub fn names(&self) -> Vec<Arc<str>> {
        self.tools.iter().map(|tool| Arc::clone(&tool.definition().spec().name)).collect()
    }

    /// How many tools there are.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Names that somebody who wrote `name` may have meant: equal but for case and separators, or at most two edits
    /// away, nearest first.
    pub fn similar(&self, name: &str) -> Vec<Arc<str>> {
        let wanted = plain(name);
        if wanted.is_empty() {
            return Vec::new();
        }
        let mut matches: Vec<(usize, &Arc<str>)> = self
            .tools
            .iter()
            .map(|tool| &tool.definition().spec().name)
            .filter_map(|registered| {
                let known = plain(registered);
                if known == wanted {
                    return Some((0, registered));
                }
                let distance = strsim::osa_distance(&known, &wanted);
                // Two edits can turn any two-letter name into any other, so something must remain.
                (distance <= 2 && distance < known.chars().count().max(wanted.chars().count()))
                    .then_some((distance, registered))
            })
            .collect();
        matches.sort();
        matches.into_iter().take(MATCHES).map(|(_, name)| Arc::clone(name)).collect()
    }
}

/// A name without case and separators.
fn plain(name: &str) -> String {
    name.chars().take(128).filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.tools.iter().map(|tool| tool.definition().name())).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Schema;
    use crate::tool::tool_fn_with_schema;

    fn registry(names: &[&str]) -> Result<Registry, Vec<String>> {
        let make = |name: &&str| -> Arc<dyn Tool> {
            let schema = Schema::empty().unwrap();
            Arc::new(tool_fn_with_schema(*name, "", schema, |_, _| async { Ok("") }))
        };
        Registry::new(names.iter().map(make).collect())
    }

    #[test]
    fn similar_names() {
        let registry = registry(&["file_read", "file_write", "db", "shell_exec"]).unwrap();
        let similar = |name: &str| registry.similar(name).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(similar("file_raed"), ["file_read"]);
        assert_eq!(similar("FileRead"), ["file_read"]);
        assert_eq!(similar("functions.file_read"), Vec::<String>::new());
        assert_eq!(similar("ls"), Vec::<String>::new());
        assert_eq!(similar(""), Vec::<String>::new());
        assert_eq!(similar("***"), Vec::<String>::new());
    }

    #[test]
    fn names_are_checked() {
        let problems = registry(&["ok", "ok", "with space", ""]).unwrap_err();
        assert_eq!(problems.len(), 3, "{problems:?}");
    }
}
