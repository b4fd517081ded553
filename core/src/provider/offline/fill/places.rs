//! Fills paths, folders and the names of outputs.

use super::super::meaning::{Subject, subject};
use super::super::phrases::{self, FROM, Found, INSIDE, TOWARDS};
use super::super::reading::{Item, Kind};
use super::super::tools::Role;
use super::{Earlier, Filler};
use crate::schema::words;
use serde_json::Value;
use std::ops::Range;

impl Filler<'_> {
    /// Paths, folders, names of outputs.
    pub(super) fn places(&mut self, earlier: &Earlier) {
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
    pub(super) fn path(&self, role: Role) -> Option<(String, Range<usize>, f64)> {
        // What is looked for may look like a path; a tool that must have a path takes it for one all the same.
        let required = self.property(role).is_some_and(|property| property.required);
        let searches = self.view.has_role(Role::Pattern);
        let writes = self.view.has_role(Role::Content);
        let wanted: &[&str] = match (searches, writes) {
            (true, _) => &[INSIDE, "from aus at"],
            (false, true) => &[TOWARDS, INSIDE, "named called"],
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
                    && !required
                    && lead.is_none()
                    && (item.is_quoted() || self.before_is(index, "for of named called von nach"));
                let usable = is_place(item, lead.is_some()) && !sought;
                let rank = lead.unwrap_or(wanted.len()) + usize::from(item.is_quoted() && lead.is_none());
                usable.then_some((rank, index, item))
            })
            .min_by_key(|(rank, index, _)| (*rank, *index));
        best.map(|(_, index, item)| (item.text.to_owned(), index..index + 1, if item.is_quoted() { 1.5 } else { 2.0 }))
    }

    /// "the src folder", "folder src".
    pub(super) fn folder(&self) -> Option<(String, Range<usize>, f64)> {
        let generic = "the this that current whole entire a my project same root working in of im den der das \
        le la el all new our and called named von vom aus du de del della no в из using with for as into to please is are";
        let named = |index: usize| {
            let item = self.reading.get(index)?;
            let name =
                item.is_quoted() || matches!(item.kind, Kind::Word | Kind::Identifier | Kind::Path | Kind::Domain);
            let says = item.is_quoted()
                || (!item.is_any_of(generic)
                    && !words::is_stop_word(&item.folded)
                    && !matches!(subject(&item.folded), Some(Subject::Folder | Subject::File | Subject::Pack)));
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
            let called = self.reading.get(at + 1).is_some_and(|item| item.is_any_of("called named namens"));
            let before = at.checked_sub(1).and_then(named);
            before.or_else(|| named(at + 1 + usize::from(called)))
        })
    }

    /// A bare word where a place belongs: "in src", and for what is packed also "zip docs".
    pub(super) fn bare_place(&self, role: Role, wanted: bool) -> Option<(String, Range<usize>, f64)> {
        let generic = "project code codebase repo repository workspace files it here there database detail \
        total production all order source sources general particular english case projekt projet \
        proyecto проекте everything them this text";
        let says = |item: &Item<'_>| {
            (item.is_word() || (item.is_quoted() && item.kind == Kind::Word) || item.kind == Kind::Identifier)
                && !item.is_any_of(generic)
                && !words::is_stop_word(&item.folded)
                && item.text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
        };
        let leads = if role == Role::Source { [INSIDE, FROM].join(" ") } else { INSIDE.to_owned() };
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
                next.is_any_of("for and with to as into nach please called named") || !next.is_word()
            })
        };
        if let Some((index, item)) = items().find(|(index, item)| led(*index) && plain(item) && alone(*index)) {
            return Some((item.text.to_owned(), index..index + 1, 0.7));
        }
        if role != Role::Source || !wanted {
            return None;
        }
        // "Which packages are installed" packs nothing.
        let questions = "which what how where welche quels qué какие";
        if self.reading.get(0).is_some_and(|item| item.is_any_of(questions)) {
            return None;
        }
        let verb = phrases::word_of(self.reading, Subject::Pack)?;
        let after = items().find(|(index, item)| {
            *index > verb && subject(&item.folded).is_none() && !item.is_any_of("up everything contents")
        });
        after.map(|(index, item)| (item.text.to_owned(), index..index + 1, 0.7))
    }

    pub(super) fn output(&mut self) {
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
    pub(super) fn output_name(&self, text: &str) -> String {
        let bare = self.property(Role::Output).is_some_and(|property| property.has_part("name"));
        let stem =
            [".tar.gz", ".zip", ".tgz", ".tar", ".gz", ".7z"].iter().find_map(|extension| text.strip_suffix(extension));
        if bare { stem.unwrap_or(text).to_owned() } else { text.to_owned() }
    }

    /// An output that nobody named is called after its source.
    pub(super) fn output_from_source(&mut self) {
        let Some(output) = self.property(Role::Output).filter(|output| output.required) else { return };
        let source = self.view.properties.iter().find(|property| property.role == Role::Source);
        let Some(source) = source.and_then(|source| self.arguments.get(&source.name)).and_then(Value::as_str) else {
            return;
        };
        let base = source.trim_end_matches('/').rsplit('/').next().unwrap_or(source).to_owned();
        let base = if output.has_part("name") || base.is_empty() { base } else { format!("{base}.zip") };
        if !base.is_empty() && base != "." {
            self.set_role(Role::Output, Found { text: base, items: 0..0 }, 0.0);
        }
    }
}
