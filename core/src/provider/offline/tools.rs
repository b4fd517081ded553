//! A tool as it can be understood from its name, description and schema: what it is about, what each argument is for.
//!
//! Nothing here knows a tool by its name.

use super::meaning::{Subject, subject};
use super::reading::one_of;
use crate::provider::ToolSpec;
use crate::schema::words;
use serde_json::Value;
use std::collections::BTreeMap;

/// Words of descriptions that say how to use a tool, not what it does.
const MANNERS: &str = "use invok user ask whenev real never return call tool describ";

/// A tool as the ranking sees it.
#[derive(Debug)]
pub(super) struct ToolView<'r> {
    pub(super) spec: &'r ToolSpec,
    pub(super) properties: Vec<Property>,
    /// Subjects of its name and description with their strength, at most 1.
    pub(super) subjects: BTreeMap<Subject, f64>,
    /// Subjects of its name alone.
    pub(super) named: Vec<Subject>,
    /// Stems of its name, description and properties with their strength.
    pub(super) words: BTreeMap<String, f64>,
}

/// One argument.
#[derive(Debug)]
pub(super) struct Property {
    pub(super) name: String,
    /// The folded parts of the name.
    pub(super) parts: Vec<String>,
    pub(super) role: Role,
    pub(super) required: bool,
    /// The allowed values, when listed.
    pub(super) choices: Vec<Value>,
    pub(super) default: Option<Value>,
    pub(super) minimum: Option<f64>,
    /// Stems of the description.
    pub(super) about: Vec<String>,
}

impl Property {
    pub(super) fn has_part(&self, words: &str) -> bool {
        self.parts.iter().any(|part| one_of(words, part))
    }
}

/// What an argument is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Url,
    Method,
    Headers,
    Sql,
    Command,
    Old,
    New,
    Path,
    Source,
    Output,
    Extension,
    Glob,
    Pattern,
    Content,
    Expression,
    Email,
    Name,
    Choice,
    /// First line of a range.
    Offset,
    /// Number of lines.
    Limit,
    /// Last line of a range.
    LastLine,
    Integer,
    Number,
    Flag,
    List,
    Object,
    /// A text of no known purpose.
    Other,
}

impl<'r> ToolView<'r> {
    pub(super) fn new(spec: &'r ToolSpec) -> Self {
        let mut view =
            Self { spec, properties: Vec::new(), subjects: BTreeMap::new(), named: Vec::new(), words: BTreeMap::new() };
        for part in words::parts(&spec.name) {
            view.learn(&words::fold(part), 1.0);
        }
        view.named = view.subjects.keys().copied().collect();
        // The first sentence says what the tool does, the rest how and when.
        let (first, rest) = spec.description.split_once(['.', '\n']).unwrap_or((&spec.description, ""));
        for (text, strength) in [(first, 0.5), (rest, 0.3)] {
            for word in text.split(|c: char| !c.is_alphanumeric() && c != '\'') {
                view.learn(&words::fold(word), strength);
            }
        }
        view.properties = view.read_schema();
        let names: Vec<String> = view.properties.iter().flat_map(|property| property.parts.clone()).collect();
        for part in names {
            let strength = view.words.entry(words::stem(&part)).or_insert(0.0);
            *strength = strength.max(0.3);
        }
        view
    }

    pub(super) fn has_role(&self, role: Role) -> bool {
        self.properties.iter().any(|property| property.role == role)
    }

    fn learn(&mut self, word: &str, strength: f64) {
        let stem = words::stem(word);
        if word.is_empty() || words::is_stop_word(word) || one_of(MANNERS, &stem) {
            return;
        }
        if let Some(subject) = subject(word) {
            let known = self.subjects.entry(subject).or_insert(0.0);
            *known = known.max(strength);
        }
        let known = self.words.entry(stem).or_insert(0.0);
        *known = known.max(strength);
    }

    fn read_schema(&self) -> Vec<Property> {
        let schema: Value = serde_json::from_str(self.spec.schema.get()).unwrap_or_default();
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return Vec::new() };
        let names: Vec<Vec<String>> = properties.keys().map(|name| parts(name)).collect();
        properties
            .iter()
            .map(|(name, property)| {
                let description = property.get("description").and_then(Value::as_str).unwrap_or_default();
                Property {
                    name: name.clone(),
                    parts: parts(name),
                    role: self.role(&parts(name), property, &names),
                    required: required.contains(&name.as_str()),
                    choices: property.get("enum").and_then(Value::as_array).cloned().unwrap_or_default(),
                    default: property.get("default").cloned(),
                    minimum: property.get("minimum").and_then(Value::as_f64),
                    about: words::words(description),
                }
            })
            .collect()
    }

    fn role(&self, parts: &[String], schema: &Value, siblings: &[Vec<String>]) -> Role {
        let any = |words: &str| parts.iter().any(|part| one_of(words, part));
        let sibling = |words: &str| siblings.iter().flatten().any(|part| one_of(words, part));
        let choices = schema.get("enum").is_some();
        match type_of(schema) {
            "integer" | "number" if choices => return Role::Choice,
            kind @ ("integer" | "number") => {
                let lines = self.named.iter().any(|subject| matches!(subject, Subject::Read | Subject::File))
                    || any("line lines");
                return match () {
                    () if lines && any("offset start begin first") => Role::Offset,
                    () if lines && any("end last") => Role::LastLine,
                    () if any("limit max count lines top") && !any("context") => Role::Limit,
                    () if kind == "integer" => Role::Integer,
                    () => Role::Number,
                };
            }
            "boolean" => return Role::Flag,
            "array" => return Role::List,
            "object" if any("headers header") => return Role::Headers,
            "object" => return Role::Object,
            _ => {}
        }
        let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
        let database = self.named.contains(&Subject::Database);
        match () {
            () if any("method verb") => Role::Method,
            () if choices => Role::Choice,
            () if any("url uri link href endpoint webpage") || format == "uri" => Role::Url,
            () if any("email recipient") || format == "email" => Role::Email,
            () if any("sql") || (database && any("query statement q")) => Role::Sql,
            () if any("command cmd commandline") => Role::Command,
            () if any("old before") || (any("find search") && sibling("replace replacement")) => Role::Old,
            () if any("new replacement replace after") && sibling("old before find search") => Role::New,
            () if any("extension ext suffix filetype") => Role::Extension,
            () if any("glob include mask") => Role::Glob,
            () if any("output dest destination archive out target") => Role::Output,
            () if any("source src input") => Role::Source,
            () if any("dir directory folder") && sibling("output archive dest target") => Role::Source,
            () if any("path file filename filepath dir directory folder root") => Role::Path,
            () if any("pattern query search term keyword needle q regex phrase") => Role::Pattern,
            () if any("content contents text body data message payload") => Role::Content,
            () if any("expression expr formula calculation") => Role::Expression,
            () if any("name title") => Role::Name,
            () => Role::Other,
        }
    }
}

fn parts(name: &str) -> Vec<String> {
    words::parts(name).into_iter().map(words::fold).collect()
}

/// The type of a property, past `null` and past the alternatives of a schema.
fn type_of(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or("string")
        }
        _ => {
            let alternatives = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
            let mut kinds = alternatives.into_iter().flatten().map(type_of);
            kinds.find(|kind| *kind != "null").unwrap_or("string")
        }
    }
}
