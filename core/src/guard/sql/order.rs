//! Orders about a database in everyday words: "drop the users table", "remove all rows from orders".
//!
//! Everyday life has tables too. An order counts when it names a thing that only databases have, or when the rest of the
//! text speaks of one, and never when the text speaks of documents, rooms or calendars.

use super::lexer::{Lexeme, Reader};
use super::statement::Statement;
use super::words::{DATABASE, DETERMINERS, ELSEWHERE, NOT_NAMES, ORDER_ENDS, TABLES};
use crate::guard::View;

/// Words of a text that are looked at for its subject.
const LOOKED_AT: usize = 4000;

/// What a text is about.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Subject {
    database: bool,
    elsewhere: bool,
}

impl Subject {
    pub(super) fn of(view: &View) -> Self {
        let mut subject = Self::default();
        for token in view.tokens().tokens.iter().take(LOOKED_AT) {
            let word = view.word(*token);
            subject.database |= DATABASE.contains(word);
            subject.elsewhere |= ELSEWHERE.contains(word);
        }
        subject
    }

    /// Whether it is about documents, rooms or calendars and about no database.
    pub(super) fn is_elsewhere(self) -> bool {
        self.elsewhere && !self.database
    }
}

/// The order that begins with the verb that ends at a byte.
pub(super) fn read(verb: &str, text: &str, at: usize, subject: Subject) -> Option<Statement> {
    let mut reader = Reader::new(text, at);
    let _ = reader.take("out") || reader.take("away");
    let mut all = false;
    let mut determined = false;
    for _ in 0..5 {
        match reader.take_one(&DETERMINERS) {
            Some(word) => {
                all |= matches!(word, "all" | "every" | "each" | "entire" | "whole" | "any");
                determined = true;
            }
            None => break,
        }
    }
    let Lexeme::Word(thing) = reader.next() else { return None };
    let found = |head: String, rule, score, end| Some(Statement { rule, head: head.into(), score, end });
    match thing {
        "rows" | "records" | "entries" | "tuples" | "row" | "record" | "entry" | "everything" | "documents" => {
            let from = reader.take("from") || reader.take("in") || reader.take("of") || reader.take("inside");
            let one = matches!(thing, "record" | "entry");
            if one && !all {
                return None;
            }
            if !from || !(all || determined || verb == "delete" || verb == "drop" || thing == "everything") {
                return None;
            }
            reader.take("the");
            reader.take("our");
            let known = match reader.next() {
                Lexeme::Word(name) if name == "table" || name == "database" || name == "collection" => true,
                Lexeme::Word(name) if NOT_NAMES.contains(name) || ELSEWHERE.contains(name) => return None,
                Lexeme::Word(name) => {
                    let table = reader.take("table") || reader.take("database") || reader.take("tables");
                    TABLES.contains(name) || name.contains('_') || table
                }
                Lexeme::Quoted(_) => true,
                _ => return None,
            };
            let rows = matches!(thing, "rows" | "row" | "tuples" | "records" | "record");
            if subject.is_elsewhere() || !(known || rows) || (thing == "documents" && !subject.database) {
                return None;
            }
            found(format!("{verb} {thing}"), "sql.order.rows", if known { 65 } else { 55 }, reader.at())
        }
        "tables" | "databases" | "schemas" if all || subject.database => {
            let score = if subject.is_elsewhere() || (thing == "tables" && verb != "drop" && !all) { 35 } else { 62 };
            let database = matches!(reader.peek(), Lexeme::End | Lexeme::Sign(_))
                || subject.database
                || verb == "drop"
                || thing != "tables";
            if database { found(format!("{verb} {thing}"), "sql.order.tables", score, reader.at()) } else { None }
        }
        "database" | "db" if determined => {
            let ends = ends(&reader);
            if ends { found(format!("{verb} database"), "sql.order.database", 65, reader.at()) } else { None }
        }
        "table" | "schema" => {
            // "empty table users", "delete table orders"; DROP and TRUNCATE are read as statements.
            let (Lexeme::Word(name), false) = (reader.next(), determined) else { return None };
            let known = TABLES.contains(name) || name.contains('_') || (subject.database && !NOT_NAMES.contains(name));
            if known && !subject.is_elsewhere() {
                found(format!("{verb} {thing}"), "sql.order.table", 62, reader.at())
            } else {
                None
            }
        }
        "from" if verb != "delete" && verb != "drop" => None,
        name if !NOT_NAMES.contains(name) => {
            let kind = reader.take_one(&["table", "database", "schema", "db", "collection"])?;
            let hard = matches!(verb, "drop" | "truncate" | "nuke" | "wipe" | "purge");
            let known = TABLES.contains(name) || name.contains('_') || subject.database || kind == "database";
            if subject.is_elsewhere() || !(known || (hard && determined)) || !ends(&reader) {
                return None;
            }
            found(format!("{verb} {kind}"), "sql.order.table", if hard { 65 } else { 58 }, reader.at())
        }
        _ => None,
    }
}

/// Whether an order may end here.
fn ends(reader: &Reader<'_>) -> bool {
    let (next, newline) = reader.peek_line();
    match next {
        Lexeme::End | Lexeme::Quoted(_) => true,
        Lexeme::Sign(sign) => sign != '-',
        Lexeme::Word(word) => {
            newline || ORDER_ENDS.contains(word) || matches!(word, "on" | "from" | "in" | "for" | "with" | "without")
        }
        Lexeme::Number => false,
    }
}
