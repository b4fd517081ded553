//! Fills the arguments of a tool from a message, and says how well the message fits its schema.
//!
//! Required arguments that the message does not give are reported as missing, never invented. Optional ones are filled
//! only when the message asks for them.

use super::meaning::{Subject, machine_command, subject};
use super::phrases::{self, FROM, Found, INSIDE, Sure, TOWARDS};
use super::reading::{Item, Kind, Quotes, Reading};
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

    fn before_is(&self, index: usize, words: &[&str]) -> bool {
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
            while self
                .reading
                .get(next)
                .is_some_and(|item| item.is_any_of(&["is", "of", "to", "as", "set", "=", "the"]))
            {
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
            if let Some(sql) = phrases::sql(self.reading) {
                self.set_role(Role::Sql, sql, 6.0);
            } else if let Some(query) = self.database_asked().then(|| phrases::simple_query(self.reading)).flatten() {
                self.set_role(Role::Sql, query, 1.5);
            }
        }
        if self.property(Role::Command).is_none() || phrases::sql(self.reading).is_some() {
            return;
        }
        let has = |word: &str| self.reading.items.iter().any(|item| item.is_word() && item.folded == word);
        let asked = machine_command(has).map(|command| Found { text: command.to_owned(), items: 0..0 });
        match (phrases::command(self.reading), asked) {
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
            || self.reading.has(&["many"])
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

    /// Paths, folders, names of outputs.
    fn places(&mut self, earlier: &Earlier) {
        if self.property(Role::Output).is_some() {
            self.output();
        }
        for role in [Role::Source, Role::Path] {
            while let Some(name) = self.property(role).map(|property| property.name.clone()) {
                let wanted = self.property(role).is_some_and(|property| property.required);
                let found = self.path(role).or_else(|| self.folder()).or_else(|| self.bare_place(role, wanted));
                if let Some((text, items, fit)) = found {
                    let fit = if role == Role::Source && !self.meant { 0.3 } else { fit };
                    self.set(&name, text, items, fit);
                    continue;
                }
                match (&earlier.path, wanted && self.refers_back()) {
                    (Some(path), true) => self.set(&name, path.clone(), 0..0, 0.5),
                    _ => break,
                }
            }
        }
        self.output_from_source();
    }

    /// The most fitting path of the message.
    fn path(&self, role: Role) -> Option<(String, Range<usize>, f64)> {
        let searches = self.view.has_role(Role::Pattern);
        let writes = self.view.has_role(Role::Content);
        let wanted: &[&[&str]] = match (searches, writes) {
            (true, _) => &[INSIDE, &["from", "aus", "at"]],
            (false, true) => &[TOWARDS, INSIDE, &["named", "called"]],
            (false, false) if role == Role::Source => &[FROM],
            (false, false) => &[INSIDE, FROM],
        };
        let is_place = |item: &Item<'_>, led: bool| {
            item.is_path()
                || (led
                    && item.is_quoted()
                    && item.kind != Kind::Url
                    && item.kind != Kind::Text
                    && item.kind != Kind::Json)
                || (item.kind == Kind::Domain && !self.view.has_role(Role::Url))
        };
        let candidates = self.reading.items.iter().enumerate().filter(|(index, _)| self.is_free(*index));
        let best = candidates
            .filter_map(|(index, item)| {
                let lead = wanted.iter().position(|words| self.before_is(index, words));
                let sought = searches
                    && lead.is_none()
                    && (item.is_quoted() || self.before_is(index, &["for", "named", "called"]));
                let usable = is_place(item, lead.is_some()) && !sought;
                let rank = lead.unwrap_or(wanted.len()) + usize::from(item.is_quoted() && lead.is_none());
                usable.then_some((rank, index, item))
            })
            .min_by_key(|(rank, index, _)| (*rank, *index));
        best.map(|(_, index, item)| (item.text.to_owned(), index..index + 1, if item.is_quoted() { 1.5 } else { 2.0 }))
    }

    /// "the src folder", "folder src".
    fn folder(&self) -> Option<(String, Range<usize>, f64)> {
        let generic = &[
            "the", "this", "that", "current", "whole", "entire", "a", "my", "project", "same", "root", "working", "in",
            "of", "im", "den", "der", "das", "le", "la", "el", "all", "new", "our", "and", "called", "named", "using",
            "with", "for", "as", "into", "to", "please", "is", "are",
        ];
        let named = |index: usize| {
            let item = self.reading.get(index)?;
            let name =
                item.is_quoted() || matches!(item.kind, Kind::Word | Kind::Identifier | Kind::Path | Kind::Domain);
            let says = item.is_quoted()
                || (!item.is_any_of(generic) && !words::is_stop_word(&item.folded) && subject(&item.folded).is_none());
            let says = says || (name && item.kind != Kind::Word);
            (name && says && self.is_free(index)).then(|| (item.text.to_owned(), index..index + 1, 1.2))
        };
        let folders = self
            .reading
            .items
            .iter()
            .enumerate()
            .filter(|(_, item)| item.is_word() && subject(&item.folded) == Some(Subject::Folder));
        folders.map(|(at, _)| at).find_map(|at| {
            let called = self.reading.get(at + 1).is_some_and(|item| item.is_any_of(&["called", "named", "namens"]));
            let before = at.checked_sub(1).and_then(named);
            before.or_else(|| named(at + 1 + usize::from(called)))
        })
    }

    /// A bare word where a place belongs: "in src", and for what is packed also "zip docs".
    fn bare_place(&self, role: Role, wanted: bool) -> Option<(String, Range<usize>, f64)> {
        let generic = &[
            "project",
            "code",
            "codebase",
            "repo",
            "repository",
            "workspace",
            "files",
            "it",
            "here",
            "there",
            "database",
            "detail",
            "total",
            "production",
            "all",
            "order",
            "source",
            "sources",
            "general",
            "particular",
            "english",
            "case",
            "projekt",
            "projet",
            "proyecto",
            "проекте",
            "code",
            "everything",
            "them",
            "this",
            "text",
        ];
        let says = |item: &Item<'_>| {
            (item.is_word() || (item.is_quoted() && item.kind == Kind::Word) || item.kind == Kind::Identifier)
                && !item.is_any_of(generic)
                && !words::is_stop_word(&item.folded)
                && item.text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
        };
        let leads = if role == Role::Source { [INSIDE, FROM].concat() } else { INSIDE.to_vec() };
        let items = || self.reading.items.iter().enumerate().filter(|(index, item)| self.is_free(*index) && says(item));
        let led = |index: usize| {
            index
                .checked_sub(1)
                .and_then(|before| self.reading.get(before))
                .is_some_and(|before| before.is_any_of(&leads))
        };
        let plain =
            |item: &Item<'_>| item.is_quoted() || item.text.chars().all(|c| c.is_lowercase() || !c.is_alphabetic());
        // A name ends its clause; "in rust files" goes on.
        let alone = |index: usize| {
            self.reading.get(index + 1).is_none_or(|next| {
                next.is_any_of(&["for", "and", "with", "to", "as", "into", "nach", "please", "called", "named"])
                    || !next.is_word()
            })
        };
        if let Some((index, item)) = items().find(|(index, item)| led(*index) && plain(item) && alone(*index)) {
            return Some((item.text.to_owned(), index..index + 1, 0.7));
        }
        if role != Role::Source || !wanted {
            return None;
        }
        // "Which packages are installed" packs nothing.
        let questions = &["which", "what", "how", "where", "welche", "quels", "qué", "какие"];
        if self.reading.get(0).is_some_and(|item| item.is_any_of(questions)) {
            return None;
        }
        let verb = phrases::word_of(self.reading, Subject::Pack)?;
        let after = items().find(|(index, item)| {
            *index > verb && subject(&item.folded).is_none() && !item.is_any_of(&["up", "everything", "contents"])
        });
        after.map(|(index, item)| (item.text.to_owned(), index..index + 1, 0.7))
    }

    fn output(&mut self) {
        let archive = |item: &Item<'_>| {
            [".zip", ".tar", ".tgz", ".gz", ".7z"].iter().any(|extension| item.folded.ends_with(extension))
        };
        let found = match self.free(archive) {
            Some(index) => Some(Found { text: self.text(index), items: index..index + 1 }),
            None => {
                phrases::naming(self.reading, true).filter(|found| found.items.clone().all(|index| self.is_free(index)))
            }
        };
        if let Some(mut found) = found {
            found.text = self.output_name(&found.text);
            self.set_role(Role::Output, found, if self.meant { 1.5 } else { 0.0 });
        }
    }

    /// A bare name where the argument is a name: the tool adds the extension.
    fn output_name(&self, text: &str) -> String {
        let bare = self.property(Role::Output).is_some_and(|property| property.has_part(&["name"]));
        let stem =
            [".tar.gz", ".zip", ".tgz", ".tar", ".gz", ".7z"].iter().find_map(|extension| text.strip_suffix(extension));
        if bare { stem.unwrap_or(text).to_owned() } else { text.to_owned() }
    }

    /// An output that nobody named is called after its source.
    fn output_from_source(&mut self) {
        let Some(output) = self.property(Role::Output).filter(|output| output.required) else { return };
        let source = self.view.properties.iter().find(|property| property.role == Role::Source);
        let Some(source) = source.and_then(|source| self.arguments.get(&source.name)).and_then(Value::as_str) else {
            return;
        };
        let base = source.trim_end_matches('/').rsplit('/').next().unwrap_or(source).to_owned();
        let base = if output.has_part(&["name"]) || base.is_empty() { base } else { format!("{base}.zip") };
        if !base.is_empty() && base != "." {
            self.set_role(Role::Output, Found { text: base, items: 0..0 }, 0.0);
        }
    }

    fn extensions(&mut self) {
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
    fn language(&self) -> Option<(String, usize)> {
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
        let files = &[
            "files",
            "file",
            "sources",
            "code",
            "dateien",
            "fichiers",
            "archivos",
            "файлах",
            "文件",
            "modules",
            "scripts",
        ];
        self.reading.items.iter().enumerate().find_map(|(index, item)| {
            let (_, extension) = LANGUAGES.iter().find(|(language, _)| item.is_word() && *language == item.folded)?;
            let next = self.reading.get(index + 1).is_some_and(|next| next.is_any_of(files));
            (next && self.is_free(index)).then(|| ((*extension).to_owned(), index))
        })
    }

    fn search(&mut self) {
        if self.property(Role::Pattern).is_none() {
            return;
        }
        let name: &str = &self.view.spec.name;
        if let Some(found) = phrases::sought(self.reading, &self.used, &[name]) {
            let exact = self
                .reading
                .get(found.items.start)
                .is_some_and(|item| item.is_quoted() || item.kind == Kind::Identifier);
            let asked = phrases::word_of(self.reading, Subject::Search).is_some()
                || self.reading.has(&["for", "where", "which"]);
            let fit = match (exact, asked) {
                (true, true) => 2.2,
                (true, false) | (false, true) => 1.0,
                (false, false) => 0.0,
            };
            self.set_role(Role::Pattern, found, fit);
        }
    }

    /// One of a list of values, methods of HTTP and headers.
    fn choices(&mut self) {
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
                let request = self.reading.get(index + 1).is_some_and(|next| next.is_any_of(&["request", "anfrage"]));
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
    fn headers(&self) -> Option<(Map<String, Value>, Range<usize>)> {
        let at = self.reading.find(0, &["header", "headers", "kopfzeile", "en-tête"])?;
        let mut at = at + 1;
        while self.reading.get(at).is_some_and(|item| item.is_any_of(&["of", "the", "set"])) {
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
            let value = self
                .reading
                .items
                .iter()
                .skip(at + 1)
                .position(|item| !item.is_any_of(&["set", "to", "is", "as", "with", "value"]))?;
            let value = self.reading.get(at + 1 + value)?;
            let headers = Map::from_iter([(first.text.to_owned(), Value::from(value.text))]);
            return Some((headers, at..at + 2));
        }
        let end = [" and body", " with body", " and the body", " with the body", " to http", " and data"];
        let value =
            end.iter().filter_map(|end| value.find(end)).min().and_then(|end| value.get(..end)).unwrap_or(value);
        let value = value.trim().trim_end_matches(['.', ',', '?']);
        let stop =
            self.reading.items.iter().position(|item| item.start >= first.start + name.len() + 1 + value.len() + 1);
        let headers = Map::from_iter([(name.trim().to_owned(), Value::from(value))]);
        Some((headers, at..stop.unwrap_or(self.reading.items.len())))
    }

    fn content(&mut self) {
        let Some(property) = self.property(Role::Content) else { return };
        let (name, required) = (property.name.clone(), property.required);
        let sends = self.view.has_role(Role::Url);
        let asked = self.reading.has(&["body", "data", "payload", "json", "content"]);
        let Some(found) = phrases::content(self.reading, &self.used) else { return };
        let exact = self.reading.get(found.items.start).is_some_and(|item| item.is_quoted() || item.kind == Kind::Json);
        if !required && !(exact || asked) {
            return;
        }
        self.set(&name, found.text, found.items, if exact { 1.5 } else { 1.0 });
        // A request with a body is no plain fetch.
        if sends && let Some(method) = self.property(Role::Method).map(|method| method.name.clone()) {
            self.set(&method, "POST", 0..0, 0.0);
        }
    }

    fn line_range(&mut self) {
        if self.property(Role::Offset).is_none() && self.property(Role::Limit).is_none() {
            return;
        }
        let lines = phrases::lines(self.reading);
        let last = lines.first.zip(lines.count).map(|(first, count)| first + count - 1);
        for (role, value) in [(Role::Offset, lines.first), (Role::LastLine, last), (Role::Limit, lines.count)] {
            if let (Some(name), Some(value)) = (self.property(role).map(|property| property.name.clone()), value) {
                self.set(&name, value, 0..0, 0.5);
            }
        }
        for index in lines.used.into_iter().flatten() {
            if let Some(used) = self.used.get_mut(index) {
                *used = true;
            }
        }
    }

    /// Numbers beside the name of an argument, then any numbers for required ones.
    fn numbers(&mut self) {
        let view = self.view;
        let numeric = |property: &&Property| {
            matches!(property.role, Role::Integer | Role::Number | Role::Limit | Role::Offset | Role::LastLine)
        };
        for property in view.properties.iter().filter(numeric) {
            if self.arguments.contains_key(&property.name) {
                continue;
            }
            let parts: Vec<String> = property.parts.iter().map(|part| words::stem(part)).collect();
            let near = |index: usize| {
                let around = (index.saturating_sub(3)..index + 5).filter(|near| *near != index);
                let stems: Vec<String> = around
                    .filter_map(|near| self.reading.get(near))
                    .filter(|item| item.is_word() || item.kind == Kind::Identifier)
                    .map(|item| words::stem(&item.folded))
                    .collect();
                let named = parts.iter().all(|part| stems.contains(part));
                let next = self.reading.get(index + 1).map(|item| words::stem(&item.folded)).unwrap_or_default();
                let synonym = property.has_part(&["depth"])
                    && stems.iter().any(|stem| ["level", "deep", "eben", "niveau", "nivel"].contains(&stem.as_str()));
                named || synonym || (property.about.contains(&next) && !next.is_empty())
            };
            let is_number = |index: &usize| self.is_free(*index) && self.number(*index).is_some();
            let found = (0..self.reading.items.len()).filter(is_number).find(|index| near(*index));
            let found =
                found.or_else(|| if property.required { (0..self.reading.items.len()).find(is_number) } else { None });
            if let Some(index) = found
                && let Some(value) = self.number(index)
            {
                self.set(&property.name, value, index..index + 1, 0.7);
            }
        }
    }

    fn number(&self, index: usize) -> Option<Value> {
        let item = self.reading.get(index)?;
        match item.kind {
            Kind::Number => json_value(&item.text.trim_start_matches('#').replace(',', "")).filter(Value::is_number),
            _ if item.is_word() => {
                phrases::number_at(self.reading, index).map(|number| Value::Number(Number::from(number)))
            }
            _ => None,
        }
    }

    fn flags(&mut self) {
        let view = self.view;
        let stems: Vec<String> = self
            .reading
            .items
            .iter()
            .map(|item| if item.is_word() { words::stem(&item.folded) } else { String::new() })
            .collect();
        for property in view.properties.iter().filter(|property| property.role == Role::Flag) {
            let parts = property
                .parts
                .iter()
                .filter(|part| !matches!(part.as_str(), "is" | "has" | "use" | "with" | "enable" | "should"));
            let parts: Vec<String> = parts.map(|part| words::stem(part)).collect();
            let place = |part: &String| {
                let alike =
                    |stem: &String| stem == part || (part == "regex" && (stem == "regexp" || stem == "regular"));
                stems.iter().position(alike)
            };
            let places: Option<Vec<usize>> = parts.iter().map(place).collect();
            let Some(first) = places.filter(|places| !places.is_empty()).and_then(|places| places.into_iter().min())
            else {
                continue;
            };
            let denied = (first.saturating_sub(2)..first).any(|near| {
                self.reading.get(near).is_some_and(|item| {
                    item.is_any_of(&["no", "not", "without", "don't", "ohne", "sans", "sin", "без"])
                })
            });
            if !self.arguments.contains_key(&property.name) {
                self.set(&property.name, !denied, 0..0, 0.3);
            }
        }
    }

    /// Texts, lists and objects of no known purpose, when they are required.
    fn others(&mut self) {
        let view = self.view;
        for property in &view.properties {
            if self.arguments.contains_key(&property.name) {
                continue;
            }
            let found = match property.role {
                Role::List | Role::Object | Role::Headers => {
                    let open = if property.role == Role::List { '[' } else { '{' };
                    let index = self.free(|item| item.kind == Kind::Json && item.text.starts_with(open));
                    let list = index.and_then(|index| Some((json_value(&self.text(index))?, index..index + 1)));
                    list.or_else(|| if property.role == Role::List { self.list(property) } else { None })
                }
                Role::Expression => self.expression().map(|(text, items)| (Value::from(text), items)),
                Role::Name => phrases::naming(self.reading, false).map(|found| (Value::from(found.text), found.items)),
                Role::Other | Role::Email if property.required => self.something(property),
                _ => None,
            };
            if let Some((value, items)) = found.filter(|(_, items)| items.clone().all(|index| self.is_free(index))) {
                self.set(&property.name, value, items, 0.7);
            }
        }
    }

    /// Values after the name of a list.
    fn list(&self, property: &Property) -> Option<(Value, Range<usize>)> {
        let stems: Vec<String> = property.parts.iter().map(|part| words::stem(part)).collect();
        let named = |item: &Item<'_>| {
            item.is_word()
                && stems.iter().any(|stem| words::stem(&item.folded).starts_with(stem.as_str()) && stem.len() > 3)
        };
        let from = self.reading.items.iter().position(named)? + 1;
        let mut values = Vec::new();
        let mut at = from;
        while let Some(item) = self.reading.get(at) {
            match (item.quotes, self.number(at)) {
                (Quotes::Marks | Quotes::Code, _) => values.push(Value::from(item.text)),
                (Quotes::None, Some(number)) => values.push(number),
                (Quotes::None, None) if item.is_any_of(&["and", "und", "et", "y"]) => {}
                (Quotes::None, None) => break,
            }
            at += 1;
        }
        (!values.is_empty()).then_some((Value::Array(values), from..at))
    }

    fn expression(&self) -> Option<(String, Range<usize>)> {
        let part = |item: &Item<'_>| {
            item.text.chars().all(|c| c.is_ascii_digit() || "+-*/().,^% ".contains(c)) && !item.text.is_empty()
        };
        let from = self.reading.items.iter().position(part)?;
        let count = self.reading.items.iter().skip(from).take_while(|item| part(item)).count();
        Some((self.reading.slice(from, from + count)?.to_owned(), from..from + count))
    }

    /// A quoted text, else what stands behind a preposition, else a name in capitals.
    fn something(&self, property: &Property) -> Option<(Value, Range<usize>)> {
        let take = |index: usize| Some((Value::from(self.text(index)), index..index + 1));
        let free = |index: &usize| self.is_free(*index);
        let indices = || (0..self.reading.items.len()).filter(free);
        let named = indices().find(|index| {
            self.reading.get(*index).is_some_and(|item| item.is_word() && property.parts.contains(&item.folded))
        });
        if let Some(next) = named.map(|at| at + 1).filter(|next| self.is_free(*next)) {
            return take(next);
        }
        if let Some(index) = self.free(|item| item.is_quoted()) {
            return take(index);
        }
        let leads = &[
            "in", "for", "about", "to", "of", "at", "from", "with", "into", "on", "nach", "für", "über", "pour",
            "para", "à", "в",
        ];
        let after = indices().rev().find(|index| {
            let says = self.reading.get(*index).is_some_and(|item| !words::is_stop_word(&item.folded));
            says && self.before_is(*index, leads)
        });
        let capital = || indices().skip(1).find(|index| self.text(*index).starts_with(char::is_uppercase));
        let from = after.or_else(capital)?;
        let mut to = from + 1;
        while self.reading.get(to - 1).is_some_and(|item| item.after == super::reading::After::Nothing)
            && self.reading.get(to).is_some_and(|item| item.text.starts_with(char::is_uppercase) && self.is_free(to))
        {
            to += 1;
        }
        Some((Value::from(self.reading.slice(from, to)?), from..to))
    }

    fn refers_back(&self) -> bool {
        self.reading.has(&["it", "that", "this", "them", "same", "es", "le", "lo", "его"])
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
        self.fit -= UNUSED * things.count() as f64;
        // The schema's order, not the order of finding.
        let mut arguments = Map::new();
        for property in &view.properties {
            if let Some(value) = self.arguments.remove(&property.name) {
                arguments.insert(property.name.clone(), value);
            }
        }
        Filled { arguments, missing, fit: self.fit }
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
