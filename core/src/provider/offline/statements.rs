//! Finds what a shell or a database is to run: quoted, written out, or asked for in words.

use super::meaning::{Subject, is_program, is_sql, subject};
use super::phrases::{Found, found, number_at, word_of};
use super::reading::{After, Item, Kind, Reading};
use crate::schema::words;

/// How sure it is that a command is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sure {
    Yes,
    Perhaps,
}

/// A command to run.
pub(super) fn command(reading: &Reading<'_>) -> Option<(Found, Sure)> {
    let all = 0..reading.items.len();
    let program = |index: usize| {
        let text = reading.get(index).map(|item| item.text).unwrap_or_default();
        text.split_whitespace().next().is_some_and(is_program)
    };
    let run = word_of(reading, Subject::Run);
    let quoted = all.clone().find(|index| {
        reading.get(*index).is_some_and(|item| item.is_quoted() && !is_sql(item.text) && item.kind != Kind::Url)
            && (program(*index) || run.is_some())
    });
    if let Some(quoted) = quoted {
        let sure = if program(quoted) || run.is_some() { Sure::Yes } else { Sure::Perhaps };
        return Some((found(reading, quoted, quoted + 1)?, sure));
    }
    let fillers = "the this shell command following bash terminal me please a den befehl la commande el \
        comando команду program for aus bitte in il o of out";
    let output = reading
        .find(0, "output result ausgabe sortie salida")
        .filter(|at| reading.get(at + 1).is_some_and(|item| item.is_any_of("of from von de")));
    let lead = run.map(|at| at + 1).or(output.map(|at| at + 2));
    let mut from = lead.unwrap_or(0);
    let leads_in =
        |item: &Item<'_>| item.is_any_of(fillers) || (item.is_word() && subject(&item.folded) == Some(Subject::Run));
    while reading.get(from).is_some_and(leads_in) && !program(from) && from + 1 < reading.items.len() {
        from += 1;
    }
    // Without a word that asks for it, only a message that is a command as it stands.
    let opens = lead.is_none() && program(0) && reading.get(0).is_some_and(|item| item.text == item.folded);
    if lead.is_none() && !opens {
        return None;
    }
    let to = command_end(reading, from);
    let found = found(reading, from, to)?;
    if is_sql(&found.text) || reading.get(from).is_some_and(|item| item.kind == Kind::Url) {
        return None;
    }
    let sure = if program(from) { Sure::Yes } else { Sure::Perhaps };
    Some((found, sure))
}

fn command_end(reading: &Reading<'_>, from: usize) -> usize {
    let count = reading.items.len();
    let word = |index: usize, words: &str| reading.get(index).is_some_and(|item| item.is_any_of(words));
    let asks = "show tell give report return print see let display explain summarise summarize list \
        check find know get what zeig sag dis dime";
    for at in from..count {
        if at > from {
            let ends = word(at, "and to und et y so then") && (word(at + 1, asks) || word(at + 1, "i that me"))
                || word(at, "for") && word(at + 1, "me us")
                || word(at, "please bitte command aus now")
                || word(at, "in on using via im")
                    && (at + 1..(at + 4).min(count))
                        .any(|near| word(near, "shell terminal console bash server machine system"));
            if ends {
                return at;
            }
        }
        if reading.get(at).is_some_and(|item| item.after == After::End || item.after == After::Comma) {
            return at + 1;
        }
    }
    count
}

/// An SQL statement, quoted or not.
pub(super) fn sql(reading: &Reading<'_>) -> Option<Found> {
    let quoted = reading.items.iter().position(|item| item.is_quoted() && is_sql(item.text));
    if let Some(quoted) = quoted {
        return found(reading, quoted, quoted + 1);
    }
    let starts = "select with insert update delete explain pragma describe show create drop alter";
    (0..reading.items.len()).find_map(|from| {
        let item = reading.get(from).filter(|item| item.is_any_of(starts))?;
        let text = reading.text.get(item.start..)?.trim().trim_end_matches(['.', '?', '!']).trim_end();
        let text = ["please", "against the database", "on the database", "in the database", "and show me the result"]
            .iter()
            .fold(text, |text, tail| text.strip_suffix(tail).map_or(text, |text| text.trim_end_matches([' ', ','])));
        is_sql(text).then(|| Found { text: text.to_owned(), items: from..reading.items.len() })
    })
}

/// A statement for a question about a table: how many rows, or its rows.
pub(super) fn simple_query(reading: &Reading<'_>) -> Option<Found> {
    let word = |index: usize, words: &str| reading.get(index).is_some_and(|item| item.is_any_of(words));
    let tables = "table tabelle tabla tabela tabella таблице таблицы таблица таблицу";
    let name = |index: usize| {
        let item = reading.get(index)?;
        let named = matches!(item.kind, Kind::Word | Kind::Identifier) && !item.text.is_empty();
        let plain = item.text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
        let says = item.is_quoted() || !words::is_stop_word(&item.folded);
        (named && plain && says).then(|| (item.text.to_owned(), index))
    };
    let unknown = |index: usize| name(index).filter(|(name, _)| subject(&words::fold(name)).is_none());
    let beside_table = || {
        let at = reading.find(0, tables)?;
        name(at.checked_sub(1)?).or_else(|| name(at + 1)).or_else(|| name(at + 2))
    };
    let counts = word_of(reading, Subject::Counting).is_some() || reading.has("many number total viele");
    let counted = || {
        let at = reading.find(0, "many viele combien cuántos cuántas сколько");
        let at = at.or_else(|| reading.find(0, "number count"));
        let mut at = at? + 1;
        while word(at, "of de the all rows records entries are in zeilen") {
            at += 1;
        }
        name(at)
    };
    let listed = || {
        let from = reading.find(0, "from of all in")?;
        (from + 1..reading.items.len().min(from + 4)).find_map(unknown)
    };
    let (table, at) = beside_table().or_else(|| if counts { counted() } else { None }).or_else(listed)?;
    let limit = (0..reading.items.len()).find_map(|index| number_at(reading, index));
    let text = match (counts, limit) {
        (true, _) => format!("SELECT COUNT(*) FROM {table}"),
        (false, Some(limit)) => format!("SELECT * FROM {table} LIMIT {limit}"),
        (false, None) => format!("SELECT * FROM {table}"),
    };
    Some(Found { text, items: at..at + 1 })
}
