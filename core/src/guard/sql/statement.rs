//! Statements that destroy or change data, as they are written in SQL.

use super::lexer::{Lexeme, Reader};
use super::words::{CHANGES, CLAUSES, MODIFIERS, NOT_NAMES, OBJECTS, ORDER_ENDS, RIGHTS, ROLES, SOFT_OBJECTS};
use std::borrow::Cow;

/// How sure the words are that this is a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shape {
    /// The words stand together, but the sentence goes on like a sentence.
    Phrase,
    /// The name of a thing, and no more.
    Named,
    /// Only SQL is written like this.
    Sql,
}

/// A statement, or what looks like one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) rule: &'static str,
    /// The head: `drop table`.
    pub(super) head: Cow<'static, str>,
    pub(super) score: u8,
    /// The byte after it.
    pub(super) end: usize,
}

type Head = (&'static str, Cow<'static, str>);

/// The statement that begins with the verb that ends at a byte.
pub(super) fn read(verb: &str, text: &str, at: usize) -> Option<Statement> {
    let reader = Reader::new(text, at);
    match verb {
        "drop" => drop(reader),
        "truncate" => truncate(reader),
        "delete" => delete(reader),
        "alter" => alter(reader),
        "update" => update(reader),
        "insert" | "replace" => insert(verb, reader),
        "merge" => merge(reader),
        "grant" | "revoke" => grant(verb, reader),
        "exec" | "execute" | "call" => exec(verb, reader),
        "xp" => procedure(text, at),
        "rename" => rename(reader),
        "copy" => copy(reader),
        "load" => load(reader),
        "into" => into_file(reader),
        "create" => create(reader),
        _ => None,
    }
}

/// Scores by shape: of SQL, of a name alone, of a phrase.
fn judged((rule, head): Head, shape: Shape, scores: [u8; 3], end: usize) -> Option<Statement> {
    let [sql, named, phrase] = scores;
    let score = match shape {
        Shape::Sql => sql,
        Shape::Named => named,
        Shape::Phrase => phrase,
    };
    Some(Statement { rule, head, score, end })
}

fn pair(verb: &str, thing: &str) -> Cow<'static, str> {
    Cow::Owned(format!("{verb} {thing}"))
}

/// Reads a name, with its schema, and tells how what follows it goes on.
fn name(reader: &mut Reader<'_>) -> Option<Shape> {
    let exists = reader.take_all(&["if", "exists"]) || reader.take_all(&["if", "not", "exists"]);
    let only = reader.take("only") || reader.take("concurrently");
    let mut quoted = false;
    let mut dotted = false;
    loop {
        match reader.next() {
            Lexeme::Word(word) if dotted || (!NOT_NAMES.contains(word) && !CLAUSES.contains(word)) => {}
            Lexeme::Word(word) if exists && word.len() > 1 => {}
            Lexeme::Quoted(inside) if !inside.is_empty() => quoted = true,
            Lexeme::Sign('*' | '#' | '@' | '$' | '%' | '{' | ':' | '<') => {
                // A variable, a pattern or a placeholder stands for the name.
                if matches!(reader.peek(), Lexeme::Word(_) | Lexeme::Sign('{' | '(')) {
                    reader.next();
                }
                return Some(if exists || only { Shape::Sql } else { Shape::Named });
            }
            Lexeme::Number if dotted => {}
            _ => return None,
        }
        if !reader.take_sign('.') {
            break;
        }
        if !matches!(reader.peek(), Lexeme::Word(_) | Lexeme::Quoted(_) | Lexeme::Sign('*')) {
            return Some(if exists || quoted { Shape::Sql } else { Shape::Named });
        }
        dotted = true;
    }
    let shape = after(reader);
    Some(if exists || (only && shape > Shape::Phrase) || (quoted && dotted) { Shape::Sql } else { shape })
}

/// How a text goes on behind a name.
fn after(reader: &Reader<'_>) -> Shape {
    let (next, newline) = reader.peek_line();
    match next {
        Lexeme::Sign(';' | '#') => Shape::Sql,
        Lexeme::Word(word) if CLAUSES.contains(word) => Shape::Sql,
        Lexeme::End | Lexeme::Sign(_) | Lexeme::Quoted(_) => Shape::Named,
        Lexeme::Word(word) if newline || ORDER_ENDS.contains(word) => Shape::Named,
        Lexeme::Word(_) | Lexeme::Number => Shape::Phrase,
    }
}

fn drop(mut reader: Reader<'_>) -> Option<Statement> {
    reader.take_one(&MODIFIERS);
    if let Some(thing) = reader.take_one(&OBJECTS) {
        if thing == "materialized" {
            reader.take("view");
        }
        let shape = name(&mut reader)?;
        return judged(("sql.drop", pair("drop", thing)), shape, [90, 80, 40], reader.at());
    }
    let thing = reader.take_one(&SOFT_OBJECTS)?;
    match thing {
        "primary" | "foreign" => return None,
        "owned" if !reader.take("by") => return None,
        _ => {}
    }
    let shape = name(&mut reader)?;
    judged(("sql.drop", pair("drop", thing)), shape, [85, 62, 25], reader.at())
}

fn truncate(mut reader: Reader<'_>) -> Option<Statement> {
    if reader.take("table") {
        let shape = name(&mut reader)?;
        return judged(("sql.truncate", "truncate table".into()), shape, [90, 82, 40], reader.at());
    }
    let plain =
        matches!(reader.peek(), Lexeme::Word(word) if super::words::TABLES.contains(word) || word.contains('_'));
    let shape = name(&mut reader)?;
    // "truncate title" cuts a text; a table is told by its name or by what follows.
    let sql = shape == Shape::Sql && matches!(reader.peek(), Lexeme::Sign(';') | Lexeme::Word("cascade" | "restart"));
    let scores = if plain { [80, 70, 25] } else { [if sql { 75 } else { 30 }, 30, 10] };
    judged(("sql.truncate", "truncate".into()), shape, scores, reader.at())
}

fn delete(mut reader: Reader<'_>) -> Option<Statement> {
    if !reader.take("from") {
        // DELETE t FROM t JOIN u …, DELETE TOP (5) FROM t, DELETE * FROM t
        let mut ahead = reader.clone();
        for _ in 0..5 {
            match ahead.next() {
                Lexeme::Word("top" | "low_priority" | "quick" | "ignore") | Lexeme::Sign('(' | ')' | '*' | ',') => {}
                Lexeme::Number => {}
                Lexeme::Word("from") => {
                    let shape = name(&mut ahead)?;
                    return judged(("sql.delete", "delete from".into()), shape, [88, 75, 30], ahead.at());
                }
                _ => return None,
            }
        }
        return None;
    }
    let shape = name(&mut reader)?;
    judged(("sql.delete", "delete from".into()), shape, [90, 75, 30], reader.at())
}

fn alter(mut reader: Reader<'_>) -> Option<Statement> {
    reader.take_one(&MODIFIERS);
    let (thing, soft) = match reader.take_one(&OBJECTS) {
        Some(thing) => (thing, false),
        None if reader.take("system") => ("system", true),
        None => (reader.take_one(&SOFT_OBJECTS)?, true),
    };
    let head = ("sql.alter", pair("alter", thing));
    if thing == "system" {
        let set = reader.take_one(&["set", "reset", "kill", "flush"])?;
        let shape = if set == "kill" || matches!(reader.peek(), Lexeme::Word(word) if word.contains('_')) {
            Shape::Sql
        } else {
            Shape::Phrase
        };
        return judged(head, shape, [80, 50, 20], reader.at());
    }
    let shape = name(&mut reader)?;
    let changed = reader.take_one(&CHANGES);
    let shape = match changed {
        Some("to" | "with" | "no" | "default") if soft => shape,
        Some(_) => Shape::Sql,
        None if soft => shape.min(Shape::Phrase),
        None => shape,
    };
    judged(head, shape, if soft { [80, 45, 20] } else { [85, 70, 30] }, reader.at())
}

fn update(mut reader: Reader<'_>) -> Option<Statement> {
    reader.take_one(&["only", "low_priority", "ignore", "or"]);
    reader.take_one(&["ignore", "replace", "rollback", "abort", "fail"]);
    name(&mut reader)?;
    // An alias may stand between the name and SET, or a join.
    let mut found = reader.take("set");
    for _ in 0..12 {
        if found {
            break;
        }
        match reader.next() {
            Lexeme::Word("set") => found = true,
            Lexeme::Word(_) | Lexeme::Quoted(_) | Lexeme::Sign('=' | '.' | ',' | '(' | ')') => {}
            _ => return None,
        }
    }
    if !found {
        return None;
    }
    // SET a.b = …, SET (a, b) = …
    reader.take_sign('(');
    let column = reader.next();
    if !matches!(column, Lexeme::Word(_) | Lexeme::Quoted(_) | Lexeme::Sign('@' | '{')) {
        return None;
    }
    let mut sure = false;
    for _ in 0..6 {
        match reader.peek() {
            Lexeme::Sign('=') => {
                sure = true;
                reader.next();
                break;
            }
            Lexeme::Sign('.' | ',' | ')' | '}' | '[' | ']' | '+' | ':') | Lexeme::Word(_) | Lexeme::Quoted(_) => {
                reader.next();
            }
            _ => break,
        }
    }
    if !sure {
        return None;
    }
    reader.next();
    judged(("sql.update", "update".into()), Shape::Sql, [82, 82, 82], reader.at())
}

fn insert(verb: &str, mut reader: Reader<'_>) -> Option<Statement> {
    if verb == "insert" {
        reader.take_one(&["ignore", "low_priority", "delayed", "high_priority", "or"]);
        reader.take_one(&["ignore", "replace", "rollback", "abort", "fail"]);
    }
    let overwrite = reader.take("overwrite");
    if !(reader.take("into") || overwrite) {
        return None;
    }
    reader.take("table");
    let shape = name(&mut reader)?;
    let head = if verb == "insert" {
        ("sql.insert", Cow::from("insert into"))
    } else {
        ("sql.replace", "replace into".into())
    };
    // The columns.
    let mut columns = false;
    if reader.take_sign('(') {
        for _ in 0..40 {
            match reader.next() {
                Lexeme::Sign(')') => {
                    columns = true;
                    break;
                }
                Lexeme::End => break,
                _ => {}
            }
        }
    }
    let shape = if reader
        .take_one(&["values", "value", "select", "default", "table", "with", "output", "exec", "returning"])
        .is_some()
    {
        // "insert into values that …" names a thing, a bracket or a star makes it SQL.
        let sql = columns
            || shape != Shape::Phrase
            || matches!(reader.peek(), Lexeme::Sign(_) | Lexeme::Number | Lexeme::Quoted(_));
        if sql { Shape::Sql } else { Shape::Phrase }
    } else if columns {
        Shape::Named
    } else {
        Shape::Phrase
    };
    judged(head, shape, [82, 55, 30], reader.at())
}

fn merge(mut reader: Reader<'_>) -> Option<Statement> {
    if !reader.take("into") {
        return None;
    }
    name(&mut reader)?;
    for _ in 0..3 {
        if reader.take("using") {
            reader.take_sign('(');
            let source = reader.next();
            let sql = matches!(source, Lexeme::Word(word) if !NOT_NAMES.contains(word))
                || matches!(source, Lexeme::Quoted(_));
            let shape = if sql { Shape::Sql } else { Shape::Phrase };
            return judged(("sql.merge", "merge into".into()), shape, [78, 78, 25], reader.at());
        }
        if !matches!(reader.next(), Lexeme::Word(_) | Lexeme::Quoted(_)) {
            return None;
        }
    }
    None
}

fn grant(verb: &str, mut reader: Reader<'_>) -> Option<Statement> {
    let mut words = 0;
    let mut rights = 0;
    let mut roles = 0;
    let mut on = false;
    let mut object = false;
    let (to, head) = if verb == "grant" { ("to", "grant") } else { ("from", "revoke") };
    let option = reader.take_all(&["grant", "option", "for"]) || reader.take_all(&["admin", "option", "for"]);
    for place in 0..32 {
        match reader.next() {
            Lexeme::Word("on") if rights > 0 => on = true,
            Lexeme::Word(word) if word == to && (on || place > 0) => {
                let grantee = reader.peek();
                let named = match grantee {
                    Lexeme::Word(word) => !NOT_NAMES.contains(word) || word == "public",
                    Lexeme::Quoted(_) | Lexeme::Sign('@' | '%' | '$' | '{') => true,
                    _ => false,
                };
                if !named {
                    return None;
                }
                reader.next();
                let role = roles > 0 && words <= 2;
                let shape = match (on && object && rights > 0, role || option) {
                    (true, _) => Shape::Sql,
                    (false, true) => Shape::Named,
                    // "grant all employees to …"
                    (false, false) => return None,
                };
                // "grant all … on the … to": a thing with an article is no table.
                return judged(
                    (if verb == "grant" { "sql.grant" } else { "sql.revoke" }, head.into()),
                    shape,
                    [82, 65, 30],
                    reader.at(),
                );
            }
            Lexeme::Word(word) => {
                if on && NOT_NAMES.contains(word) && word != "public" {
                    return None;
                }
                object |= on;
                words += 1;
                rights += usize::from(!on && RIGHTS.contains(word));
                roles += usize::from(ROLES.contains(word));
                if !on && place == 0 && rights == 0 && roles == 0 {
                    return None;
                }
            }
            Lexeme::Quoted(_) | Lexeme::Sign('*') | Lexeme::Number => {
                object |= on;
                words += 1;
            }
            Lexeme::Sign('.' | ',' | '(' | ')' | '`' | '"' | '\'' | '@' | '%' | '{' | '}' | ':') => {}
            _ => return None,
        }
    }
    None
}

fn exec(verb: &str, mut reader: Reader<'_>) -> Option<Statement> {
    reader.take_sign('(');
    // The path: master.dbo.xp_cmdshell, master..xp_cmdshell
    for _ in 0..6 {
        match reader.next() {
            Lexeme::Word("immediate") if verb != "call" => {
                let quoted = matches!(reader.peek(), Lexeme::Quoted(_) | Lexeme::Sign('\'' | '"' | ':' | '@'));
                return if quoted {
                    judged(("sql.exec", "execute immediate".into()), Shape::Sql, [75, 75, 75], reader.at())
                } else {
                    None
                };
            }
            Lexeme::Word(word) | Lexeme::Quoted(word) if word.starts_with("xp_") || DANGEROUS.contains(&word) => {
                let score = if word.starts_with("xp_") { 90 } else { 72 };
                return judged(("sql.exec", pair("exec", word)), Shape::Sql, [score; 3], reader.at());
            }
            Lexeme::Word("master" | "msdb" | "dbo" | "sys") | Lexeme::Sign('.') | Lexeme::Quoted("master" | "dbo") => {}
            _ => return None,
        }
    }
    None
}

/// Procedures that change the server.
const DANGEROUS: &[&str] = &[
    "sp_configure",
    "sp_oacreate",
    "sp_oamethod",
    "sp_addsrvrolemember",
    "sp_addrolemember",
    "sp_executesql",
    "sp_addlogin",
    "sp_password",
    "sp_dropuser",
    "sp_droplogin",
    "sp_start_job",
    "sp_add_jobstep",
    "sp_execute_external_script",
    "sp_makewebtask",
];

/// `xp_cmdshell` without EXEC before it. `at` is the byte after `xp`.
fn procedure(text: &str, at: usize) -> Option<Statement> {
    let mut reader = Reader::new(text, at.checked_sub(2)?);
    let Lexeme::Word(word) = reader.next() else { return None };
    if !matches!(word, "xp_cmdshell" | "xp_regwrite" | "xp_regdeletekey" | "xp_dirtree" | "xp_fileexist") {
        return None;
    }
    let called = matches!(reader.peek(), Lexeme::Quoted(_) | Lexeme::Sign('(' | '\'' | '"'));
    let shape = if called { Shape::Sql } else { Shape::Phrase };
    judged(("sql.exec", pair("exec", word)), shape, [85, 60, 35], reader.at())
}

fn rename(mut reader: Reader<'_>) -> Option<Statement> {
    let thing = reader.take_one(&["table", "user"])?;
    name(&mut reader)?;
    if !reader.take("to") {
        return None;
    }
    let shape = name(&mut reader)?;
    let scores = if thing == "table" { [78, 72, 35] } else { [75, 50, 25] };
    judged(("sql.rename", pair("rename", thing)), shape, scores, reader.at())
}

fn copy(mut reader: Reader<'_>) -> Option<Statement> {
    for _ in 0..40 {
        match reader.next() {
            Lexeme::Word("from" | "to")
                if reader.take("program")
                    && matches!(reader.peek(), Lexeme::Quoted(_) | Lexeme::Sign('\'' | '"' | '$')) =>
            {
                return judged(("sql.copy", "copy program".into()), Shape::Sql, [90, 90, 90], reader.at());
            }
            Lexeme::End | Lexeme::Sign(';') => return None,
            _ => {}
        }
    }
    None
}

fn load(mut reader: Reader<'_>) -> Option<Statement> {
    if !(reader.take("data") || reader.take("xml")) {
        return None;
    }
    reader.take_one(&["low_priority", "concurrent"]);
    reader.take("local");
    if !(reader.take("infile") || reader.take("inpath")) {
        return None;
    }
    judged(("sql.load", "load data".into()), Shape::Sql, [80, 80, 80], reader.at())
}

/// CREATE USER … makes a way in. Tables and views are made in everyday work.
fn create(mut reader: Reader<'_>) -> Option<Statement> {
    reader.take_all(&["or", "replace"]);
    let thing = reader.take_one(&["user", "login", "role"])?;
    name(&mut reader)?;
    if reader.take_sign('@') {
        reader.next();
    }
    while reader.take_one(&["with", "encrypted"]).is_some() {}
    let right =
        reader.take_one(&["identified", "password", "superuser", "createdb", "createrole", "sysadmin", "login"]);
    // "create user login pages" makes pages.
    let written = matches!(reader.peek(), Lexeme::Quoted(_) | Lexeme::Sign(_) | Lexeme::End)
        || reader.take_one(&["by", "superuser", "createdb", "createrole", "with", "password"]).is_some();
    (right.is_some() && written).then_some(())?;
    judged(("sql.create", pair("create", thing)), Shape::Sql, [80, 80, 80], reader.at())
}

/// SELECT … INTO OUTFILE writes a file on the server.
fn into_file(mut reader: Reader<'_>) -> Option<Statement> {
    let what = reader.take_one(&["outfile", "dumpfile"])?;
    let quoted = matches!(reader.peek(), Lexeme::Quoted(_) | Lexeme::Sign('\'' | '"'));
    let shape = if quoted { Shape::Sql } else { Shape::Phrase };
    judged(("sql.outfile", pair("into", what)), shape, [80, 40, 30], reader.at())
}
