//! Fills what is searched for, written or sent, and the choices around it.

use super::super::meaning::Subject;
use super::super::phrases::{self, Found};
use super::super::reading::Kind;
use super::super::tools::Role;
use super::Filler;
use crate::schema::words;
use serde_json::{Map, Value};
use std::ops::Range;

impl Filler<'_> {
    pub(super) fn extensions(&mut self) {
        for role in [Role::Extension, Role::Glob] {
            if self.property(role).is_none() {
                continue;
            }
            let found = self
                .free(|item| item.kind == Kind::Extension)
                .map(|index| (self.text(index), index))
                .or_else(|| self.language());
            if let Some((text, index)) = found {
                let bare = text.trim_start_matches(['*', '.']).to_owned();
                let text = if role == Role::Glob { format!("*.{bare}") } else { bare };
                self.set_role(role, Found { text, items: index..index + 1 }, 1.0);
            }
        }
    }

    /// "Python files".
    pub(super) fn language(&self) -> Option<(String, usize)> {
        const LANGUAGES: &[(&str, &str)] = &[
            ("python", "py"),
            ("rust", "rs"),
            ("javascript", "js"),
            ("typescript", "ts"),
            ("markdown", "md"),
            ("go", "go"),
            ("php", "php"),
            ("java", "java"),
            ("kotlin", "kt"),
            ("ruby", "rb"),
            ("yaml", "yaml"),
            ("json", "json"),
            ("toml", "toml"),
            ("html", "html"),
            ("css", "css"),
            ("text", "txt"),
            ("shell", "sh"),
            ("sql", "sql"),
            ("swift", "swift"),
            ("py", "py"),
            ("rs", "rs"),
            ("js", "js"),
            ("ts", "ts"),
            ("md", "md"),
            ("txt", "txt"),
            ("xml", "xml"),
            ("csv", "csv"),
        ];
        let files = "files file sources code dateien fichiers archivos файлах 文件 modules scripts";
        self.reading.items.iter().enumerate().find_map(|(index, item)| {
            let (_, extension) =
                LANGUAGES.iter().find(|(language, _)| !item.is_quoted() && *language == item.folded)?;
            let next = self.reading.get(index + 1).is_some_and(|next| next.is_any_of(files));
            (next && self.is_free(index)).then(|| ((*extension).to_owned(), index))
        })
    }

    pub(super) fn search(&mut self) {
        if self.property(Role::Pattern).is_none() {
            return;
        }
        let name = &*self.view.spec.name;
        if let Some(found) = phrases::sought(self.reading, &self.used, name) {
            let exact = self
                .reading
                .get(found.items.start)
                .is_some_and(|item| item.is_quoted() || item.kind == Kind::Identifier);
            let asked =
                phrases::word_of(self.reading, Subject::Search).is_some() || self.reading.has("for where which");
            let fit = match (exact, asked) {
                (true, true) => 2.2,
                (true, false) | (false, true) => 1.0,
                (false, false) => 0.0,
            };
            self.set_role(Role::Pattern, found, fit);
        }
    }

    /// One of a list of values, methods of HTTP and headers.
    pub(super) fn choices(&mut self) {
        const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
        let view = self.view;
        for property in &view.properties {
            let given: Vec<Value> = match property.role {
                Role::Method if property.choices.is_empty() => METHODS.iter().map(|method| (*method).into()).collect(),
                Role::Method | Role::Choice => property.choices.clone(),
                _ => continue,
            };
            if self.arguments.contains_key(&property.name) {
                continue;
            }
            let usual = property.default.as_ref().or(given.first());
            let chosen = given.iter().find_map(|value| {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let index = self.reading.items.iter().position(|item| {
                    let exact = item.text == text;
                    let alike = item.folded == words::fold(&text)
                        || words::stem(&item.folded) == words::stem(&words::fold(&text));
                    exact || (alike && (property.role != Role::Method || Some(value) != usual))
                })?;
                let request = self.reading.get(index + 1).is_some_and(|next| next.is_any_of("request anfrage"));
                // A verb of prose such as "delete" or "get" is no method of a request.
                let prose = property.role == Role::Method
                    && !request
                    && self.reading.get(index).is_some_and(|item| item.text != text && text != "POST" && text != "PUT");
                (!prose).then_some((value.clone(), index))
            });
            if let Some((value, index)) = chosen {
                self.set(&property.name, value, index..index + 1, 0.5);
            }
        }
        if let Some(property) = self.property(Role::Headers).map(|property| property.name.clone()) {
            let headers = self.headers();
            if let Some((headers, items)) = headers {
                self.set(&property, headers, items, 1.0);
            }
        }
    }

    /// `header Name: value`, or a JSON object after the word.
    pub(super) fn headers(&self) -> Option<(Map<String, Value>, Range<usize>)> {
        let at = self.reading.find(0, "header headers kopfzeile en-tête")?;
        let mut at = at + 1;
        while self.reading.get(at).is_some_and(|item| item.is_any_of("of the set")) {
            at += 1;
        }
        let first = self.reading.get(at)?;
        if first.kind == Kind::Json {
            let Ok(Value::Object(headers)) = serde_json::from_str(first.text) else { return None };
            return Some((headers, at..at + 1));
        }
        let line = if first.is_quoted() { first.text } else { self.reading.text.get(first.start..)? };
        let (name, value) = line.split_once(':').or_else(|| line.split_once('='))?;
        if name.trim().contains(char::is_whitespace) {
            let value =
                self.reading.items.iter().skip(at + 1).position(|item| !item.is_any_of("set to is as with value"))?;
            let value = self.reading.get(at + 1 + value)?;
            let headers = Map::from_iter([(first.text.to_owned(), Value::from(value.text))]);
            return Some((headers, at..at + 2));
        }
        let end = [" and body", " with body", " and the body", " with the body", " to http", " and data"];
        let value =
            end.iter().filter_map(|end| value.find(end)).min().and_then(|end| value.get(..end)).unwrap_or(value);
        let value = value.trim().trim_end_matches(['.', ',', '?']);
        let stop = self.reading.items.iter().position(|item| item.start > first.start + name.len() + 1 + value.len());
        let headers = Map::from_iter([(name.trim().to_owned(), Value::from(value))]);
        Some((headers, at..stop.unwrap_or(self.reading.items.len())))
    }

    pub(super) fn content(&mut self) {
        let Some(property) = self.property(Role::Content) else { return };
        let (name, required) = (property.name.clone(), property.required);
        let sends = self.view.has_role(Role::Url);
        let asked = self.reading.has("body data payload json content");
        let Some(found) = phrases::content(self.reading, &self.used) else { return };
        let exact = self.reading.get(found.items.start).is_some_and(|item| item.is_quoted() || item.kind == Kind::Json);
        if !(required || exact || asked) {
            return;
        }
        self.set(&name, found.text, found.items, if exact { 1.5 } else { 1.0 });
        // A request with a body is no plain fetch.
        if sends && let Some(method) = self.property(Role::Method).map(|method| method.name.clone()) {
            self.set(&method, "POST", 0..0, 0.0);
        }
    }
}
