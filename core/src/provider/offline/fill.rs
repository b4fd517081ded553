//! Fills the arguments of a tool from a message, and says how well the message fits its schema.
//!
//! Required arguments that the message does not give are reported as missing, never invented. Optional ones are filled
//! only when the message asks for them.

mod places;
mod texts;
mod values;

use super::meaning::{Subject, machine_command};
use super::phrases::{self, Found};
use super::reading::{Item, Kind, Reading};
use super::statements::{self, Sure};
use super::tools::{Property, Role, ToolView};
use crate::schema::words;
use serde_json::{Map, Number, Value};
use std::ops::Range;

/// Points that a thing of the message costs a tool that has no argument for it.
const UNUSED: f64 = 2.0;
/// Points that a missing required argument costs.
const MISSING: f64 = 4.0;

/// Arguments for one tool.
#[derive(Debug, Default)]
pub(super) struct Filled {
    pub(super) arguments: Map<String, Value>,
    /// Required arguments that the message does not give.
    pub(super) missing: Vec<String>,
    /// Things of the message that the tool has no argument for.
    pub(super) unused: usize,
    /// How well message and schema fit.
    pub(super) fit: f64,
}

/// Places and addresses of earlier calls, for "it" and "that file".
#[derive(Debug, Default)]
pub(super) struct Earlier {
    pub(super) path: Option<String>,
    pub(super) url: Option<String>,
}

struct Filler<'a> {
    view: &'a ToolView<'a>,
    reading: &'a Reading<'a>,
    used: Vec<bool>,
    arguments: Map<String, Value>,
    fit: f64,
    /// Whether the message has a word for what the tool's name says.
    meant: bool,
}

/// Fills a tool's arguments.
pub(super) fn fill(view: &ToolView<'_>, reading: &Reading<'_>, earlier: &Earlier) -> Filled {
    let used = vec![false; reading.items.len()];
    let words = reading.items.iter().filter(|item| item.is_word());
    let meant = words.flat_map(super::rank::subjects_of).any(|subject| view.named.contains(&subject));
    let mut filler = Filler { view, reading, used, arguments: Map::new(), fit: 0.0, meant };
    filler.named_values();
    filler.addresses(earlier);
    filler.statements();
    filler.replacement();
    filler.places(earlier);
    filler.extensions();
    filler.search();
    filler.choices();
    filler.content();
    filler.line_range();
    filler.numbers();
    filler.flags();
    filler.others();
    filler.finish()
}

impl Filler<'_> {
    fn property(&self, role: Role) -> Option<&Property> {
        let open = |property: &&Property| property.role == role && !self.arguments.contains_key(&property.name);
        self.view.properties.iter().find(open)
    }

    fn set(&mut self, name: &str, value: impl Into<Value>, items: Range<usize>, fit: f64) {
        self.arguments.insert(name.to_owned(), value.into());
        for index in items {
            if let Some(used) = self.used.get_mut(index) {
                *used = true;
            }
        }
        self.fit += fit;
    }

    fn set_role(&mut self, role: Role, found: Found, fit: f64) {
        if let Some(name) = self.property(role).map(|property| property.name.clone()) {
            self.set(&name, found.text, found.items, fit);
        }
    }

    fn is_free(&self, index: usize) -> bool {
        !self.used.get(index).copied().unwrap_or(true)
    }

    fn free(&self, wanted: impl Fn(&Item<'_>) -> bool) -> Option<usize> {
        let items = self.reading.items.iter().enumerate();
        items.filter(|(index, _)| self.is_free(*index)).find(|(_, item)| wanted(item)).map(|(index, _)| index)
    }

    fn text(&self, index: usize) -> String {
        self.reading.get(index).map(|item| item.text.to_owned()).unwrap_or_default()
    }

    fn before_is(&self, index: usize, words: &str) -> bool {
        self.reading.before(index).is_some_and(|before| before.is_any_of(words))
    }

    /// `name=value`, `name: value` and `name "value"`.
    fn named_values(&mut self) {
        let view = self.view;
        for property in &view.properties {
            let text = !matches!(
                property.role,
                Role::Integer
                    | Role::Number
                    | Role::Flag
                    | Role::List
                    | Role::Object
                    | Role::Headers
                    | Role::Offset
                    | Role::Limit
                    | Role::LastLine
            );
            for (index, item) in self.reading.items.iter().enumerate() {
                if item.kind == Kind::Pair && !item.is_quoted() {
                    let Some((key, value)) = item.text.split_once('=') else { continue };
                    if words::fold(key) == words::fold(&property.name) {
                        let value =
                            if text { Some(Value::from(value.trim_matches(['"', '\'']))) } else { json_value(value) };
                        if let Some(value) = value {
                            self.arguments.insert(property.name.clone(), value);
                            self.fit += 1.5;
                            if let Some(used) = self.used.get_mut(index) {
                                *used = true;
                            }
                        }
                    }
                }
            }
            // The name in full, as in `old_str "a"`; a plain word like `path` is too common to be sure without quotes.
            let at = self.reading.items.iter().position(|item| {
                !item.is_quoted() && words::fold(item.text) == words::fold(&property.name) && item.kind != Kind::Path
            });
            let Some(at) = at.filter(|_| text && !self.arguments.contains_key(&property.name)) else { continue };
            let mut next = at + 1;
            while self.reading.get(next).is_some_and(|item| item.is_any_of("is of to as set = the")) {
                next += 1;
            }
            let sure = property.name.contains('_')
                || self.reading.get(at).is_some_and(|item| item.after == super::reading::After::Colon);
            let fits = self.reading.get(next).is_some_and(|value| match property.role {
                Role::Content | Role::Sql | Role::Command => value.is_quoted(),
                _ => value.is_quoted() || (sure && !value.is_word()) || (sure && at + 1 == next),
            });
            if fits && self.is_free(next) {
                self.set(&property.name, self.text(next), next..next + 1, 1.5);
            }
        }
    }

    fn addresses(&mut self, earlier: &Earlier) {
        if let Some(index) = self.free(|item| item.kind == Kind::Url && !item.is_quoted())
            && self.property(Role::Url).is_some()
        {
            self.set_role(Role::Url, Found { text: self.text(index), items: index..index + 1 }, 5.0);
        }
        if let Some(index) = self.free(|item| item.kind == Kind::Url) {
            self.set_role(Role::Url, Found { text: self.text(index), items: index..index + 1 }, 3.5);
        }
        if let Some(index) = self.free(|item| item.kind == Kind::Domain) {
            let text = format!("https://{}", self.text(index));
            self.set_role(Role::Url, Found { text, items: index..index + 1 }, 3.0);
        }
        if let (Some(url), true) = (&earlier.url, self.refers_back()) {
            self.set_role(Role::Url, Found { text: url.clone(), items: 0..0 }, 0.5);
        }
        while let Some(index) = self.free(|item| item.kind == Kind::Email) {
            if self.property(Role::Email).is_none() {
                break;
            }
            self.set_role(Role::Email, Found { text: self.text(index), items: index..index + 1 }, 3.0);
        }
    }

    /// SQL and shell commands.
    fn statements(&mut self) {
        if self.property(Role::Sql).is_some() {
            if let Some(sql) = statements::sql(self.reading) {
                self.set_role(Role::Sql, sql, 6.0);
            } else if let Some(query) = self.database_asked().then(|| statements::simple_query(self.reading)).flatten()
            {
                self.set_role(Role::Sql, query, 1.5);
            }
        }
        if self.property(Role::Command).is_none() || statements::sql(self.reading).is_some() {
            return;
        }
        let has = |word: &str| self.reading.items.iter().any(|item| item.is_word() && item.folded == word);
        let asked = machine_command(has).map(|command| Found { text: command.to_owned(), items: 0..0 });
        match (statements::command(self.reading), asked) {
            (Some((command, Sure::Yes)), _) => self.set_role(Role::Command, command, 5.0),
            (_, Some(command)) => self.set_role(Role::Command, command, 2.5),
            (Some((command, Sure::Perhaps)), None) => self.set_role(Role::Command, command, 1.0),
            (None, None) => {}
        }
    }

    fn database_asked(&self) -> bool {
        let words = self.reading.items.iter().filter(|item| item.is_word());
        words.flat_map(|item| super::rank::subjects_of(item)).any(|subject| subject == Subject::Database)
            || phrases::word_of(self.reading, Subject::Counting).is_some()
            || self.reading.has("many")
    }

    fn replacement(&mut self) {
        if self.property(Role::Old).is_none() || self.property(Role::New).is_none() {
            return;
        }
        if let Some((old, new)) = phrases::replacement(self.reading) {
            let fit = if self.meant { 2.0 } else { 0.7 };
            self.set_role(Role::Old, old, fit);
            self.set_role(Role::New, new.unwrap_or(Found { text: String::new(), items: 0..0 }), fit);
        }
    }

    fn refers_back(&self) -> bool {
        self.reading.has("it that this them same es le lo его")
    }

    fn finish(mut self) -> Filled {
        let view = self.view;
        let missing: Vec<String> = view
            .properties
            .iter()
            .filter(|property| property.required && !self.arguments.contains_key(&property.name))
            .map(|property| property.name.clone())
            .collect();
        self.fit -= MISSING * missing.len() as f64;
        let mentioned = |item: &Item<'_>| item.text == &*view.spec.name;
        let things = self.reading.items.iter().enumerate().filter(|(index, item)| {
            let thing = match item.kind {
                Kind::Path | Kind::Url | Kind::Json | Kind::Email | Kind::Text => true,
                Kind::Word | Kind::Identifier => item.is_quoted(),
                Kind::Domain | Kind::Extension | Kind::Number | Kind::Range | Kind::Pair => false,
            };
            thing && self.is_free(*index) && !mentioned(item)
        });
        let unused = things.count();
        self.fit -= UNUSED * unused as f64;
        // The schema's order, not the order of finding.
        let mut arguments = Map::new();
        for property in &view.properties {
            if let Some(value) = self.arguments.remove(&property.name) {
                arguments.insert(property.name.clone(), value);
            }
        }
        Filled { arguments, missing, unused, fit: self.fit }
    }
}

fn json_value(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

/// A stand-in for a required argument when a call is demanded that the message does not support.
pub(super) fn stand_in(property: &Property, message: &str) -> Value {
    if let Some(value) = property.default.as_ref().or(property.choices.first()) {
        return value.clone();
    }
    match property.role {
        Role::Integer | Role::Offset | Role::Limit | Role::LastLine => {
            Value::from(property.minimum.map_or(0, |minimum| minimum.ceil() as i64))
        }
        Role::Number => Number::from_f64(property.minimum.unwrap_or(0.0)).map_or(Value::from(0), Value::Number),
        Role::Flag => Value::Bool(false),
        Role::List => Value::Array(Vec::new()),
        Role::Object | Role::Headers => Value::Object(Map::new()),
        Role::Url
        | Role::Method
        | Role::Sql
        | Role::Command
        | Role::Old
        | Role::New
        | Role::Path
        | Role::Source
        | Role::Output
        | Role::Extension
        | Role::Glob
        | Role::Pattern
        | Role::Content
        | Role::Expression
        | Role::Email
        | Role::Name
        | Role::Choice
        | Role::Other => Value::from(message),
    }
}
