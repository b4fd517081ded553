//! Fills numbers, flags, lists and arguments of no known purpose.

use super::super::phrases;
use super::super::reading::{After, Item, Kind, Quotes};
use super::super::tools::{Property, Role};
use super::{Filler, json_value};
use crate::schema::words;
use serde_json::{Number, Value};
use std::ops::Range;

impl Filler<'_> {
    pub(super) fn line_range(&mut self) {
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
    pub(super) fn numbers(&mut self) {
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
                let synonym = property.has_part("depth")
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

    pub(super) fn number(&self, index: usize) -> Option<Value> {
        let item = self.reading.get(index)?;
        match item.kind {
            Kind::Number => json_value(&item.text.trim_start_matches('#').replace(',', "")).filter(Value::is_number),
            _ if item.is_word() => {
                phrases::number_at(self.reading, index).map(|number| Value::Number(Number::from(number)))
            }
            _ => None,
        }
    }

    pub(super) fn flags(&mut self) {
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
                self.reading.get(near).is_some_and(|item| item.is_any_of("no not without don't ohne sans sin без"))
            });
            if !self.arguments.contains_key(&property.name) {
                self.set(&property.name, !denied, 0..0, 0.3);
            }
        }
    }

    /// Texts, lists and objects of no known purpose, when they are required.
    pub(super) fn others(&mut self) {
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
    pub(super) fn list(&self, property: &Property) -> Option<(Value, Range<usize>)> {
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
                (Quotes::None, None) if item.is_any_of("and und et y") => {}
                (Quotes::None, None) => break,
            }
            at += 1;
        }
        (!values.is_empty()).then_some((Value::Array(values), from..at))
    }

    pub(super) fn expression(&self) -> Option<(String, Range<usize>)> {
        let part = |item: &Item<'_>| {
            item.text.chars().all(|c| c.is_ascii_digit() || "+-*/().,^% ".contains(c)) && !item.text.is_empty()
        };
        let from = self.reading.items.iter().position(part)?;
        let count = self.reading.items.iter().skip(from).take_while(|item| part(item)).count();
        Some((self.reading.slice(from, from + count)?.to_owned(), from..from + count))
    }

    /// A quoted text, else what stands behind a preposition, else a name in capitals.
    pub(super) fn something(&self, property: &Property) -> Option<(Value, Range<usize>)> {
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
        let leads = "in for about to of at from with into on nach für über pour para à в";
        let after = indices().rev().find(|index| {
            let says = self.reading.get(*index).is_some_and(|item| !words::is_stop_word(&item.folded));
            says && self.before_is(*index, leads)
        });
        let capital = || indices().skip(1).find(|index| self.text(*index).starts_with(char::is_uppercase));
        let from = after.or_else(capital)?;
        let mut to = from + 1;
        while self.reading.get(to - 1).is_some_and(|item| item.after == After::Nothing)
            && self.reading.get(to).is_some_and(|item| item.text.starts_with(char::is_uppercase) && self.is_free(to))
        {
            to += 1;
        }
        Some((Value::from(self.reading.slice(from, to)?), from..to))
    }
}
