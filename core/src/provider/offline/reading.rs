//! Takes a message apart into words and things: quotes, paths, addresses, numbers, names.
//!
//! Form only. What a thing is good for is decided where arguments are filled.

use crate::schema::words::fold;
use serde_json::Value;

/// What a piece of a message looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word of prose.
    Word,
    /// Several words in quotes.
    Text,
    /// A name of code: `snake_case`, `camelCase`, `CamelCase`, `call()`, `a::b`.
    Identifier,
    /// A path or file name.
    Path,
    /// `example.com`, which may also be a file name.
    Domain,
    /// `.rs` or `*.rs`.
    Extension,
    /// `https://…`.
    Url,
    /// `a@b.c`.
    Email,
    /// A JSON object or list.
    Json,
    /// A number.
    Number,
    /// `10-20`.
    Range,
    /// `key=value`.
    Pair,
}

/// How a piece is set off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quotes {
    /// Not at all.
    None,
    /// In quotation marks.
    Marks,
    /// In back-ticks, one or three.
    Code,
}

/// What follows a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum After {
    /// More of the sentence.
    Nothing,
    /// A comma.
    Comma,
    /// A colon.
    Colon,
    /// The end of a sentence or of the text.
    End,
}

/// Whether a word is in a list of words with one space between them.
pub(super) fn one_of(list: &str, word: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}

/// One piece of a message.
#[derive(Clone, Debug)]
pub(super) struct Item<'t> {
    pub(super) kind: Kind,
    pub(super) quotes: Quotes,
    /// The piece without quotes and the punctuation around it.
    pub(super) text: &'t str,
    /// The same, folded for comparison.
    pub(super) folded: String,
    /// Where it begins and ends in the message, quotes included.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) after: After,
}

impl Item<'_> {
    pub(super) fn is_quoted(&self) -> bool {
        self.quotes != Quotes::None
    }

    /// A word of the instruction itself, not of the things it is about.
    pub(super) fn is_word(&self) -> bool {
        self.kind == Kind::Word && !self.is_quoted()
    }

    pub(super) fn is_any_of(&self, words: &str) -> bool {
        self.is_word() && one_of(words, &self.folded)
    }

    /// Whether it can be a place in a file system.
    pub(super) fn is_path(&self) -> bool {
        match self.kind {
            Kind::Path => true,
            Kind::Text => {
                let words = self.text.split_whitespace().count();
                words <= 5 && self.text.split_whitespace().next_back().is_some_and(|last| classify(last) == Kind::Path)
            }
            Kind::Word
            | Kind::Identifier
            | Kind::Domain
            | Kind::Extension
            | Kind::Url
            | Kind::Email
            | Kind::Json
            | Kind::Number
            | Kind::Range
            | Kind::Pair => false,
        }
    }
}

/// A message in pieces.
#[derive(Debug)]
pub(super) struct Reading<'t> {
    pub(super) text: &'t str,
    pub(super) items: Vec<Item<'t>>,
}

impl<'t> Reading<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let mut items = Vec::new();
        let mut at = 0;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let Some(first) = rest.chars().next() else { break };
            if first.is_whitespace() {
                at += first.len_utf8();
            } else if let Some((inner, length, quotes)) = quoted(rest, first, before) {
                let kind = if inner.chars().any(char::is_whitespace) { Kind::Text } else { classify(inner) };
                push(&mut items, text, kind, quotes, inner, at, at + length);
                at += length;
            } else if let Some(length) = json(rest, first) {
                let inner = rest.get(..length).unwrap_or_default();
                push(&mut items, text, Kind::Json, Quotes::None, inner, at, at + length);
                at += length;
            } else {
                let length = token(rest);
                let raw = rest.get(..length).unwrap_or_default();
                let clean = trim(raw);
                if !clean.is_empty() {
                    let start = at + raw.find(clean).unwrap_or_default();
                    push(&mut items, text, classify(clean), Quotes::None, clean, start, start + clean.len());
                }
                at += length.max(1);
            }
        }
        Self { text, items }
    }

    pub(super) fn get(&self, index: usize) -> Option<&Item<'t>> {
        self.items.get(index)
    }

    /// The piece before `index`, over articles.
    pub(super) fn before(&self, index: usize) -> Option<&Item<'t>> {
        let before = self.items.get(..index)?;
        before.iter().rev().find(|item| !item.is_any_of(ARTICLES))
    }

    /// The first piece from `from` on that is one of the words.
    pub(super) fn find(&self, from: usize, words: &str) -> Option<usize> {
        let items = self.items.get(from..)?;
        items.iter().position(|item| item.is_any_of(words)).map(|place| from + place)
    }

    pub(super) fn has(&self, words: &str) -> bool {
        self.find(0, words).is_some()
    }

    /// The message from piece `from` up to and without piece `to`, as written. One quoted piece gives what it quotes.
    pub(super) fn slice(&self, from: usize, to: usize) -> Option<&'t str> {
        let (first, last) = (self.items.get(from)?, self.items.get(to.checked_sub(1)?)?);
        if from + 1 == to {
            return Some(first.text);
        }
        self.text.get(first.start..last.end)
    }
}

/// Words between a preposition and what it is about.
pub(super) const ARTICLES: &str = "the a an this that my our der die das den dem des ein eine einen le la les l un une el \
        los las una il lo gli o os file datei fichier archivo fichero arquivo файл файле файла";

fn push<'t>(
    items: &mut Vec<Item<'t>>,
    text: &'t str,
    kind: Kind,
    quotes: Quotes,
    inner: &'t str,
    start: usize,
    end: usize,
) {
    let rest = text.get(end..).unwrap_or_default();
    let marks: String = rest.chars().take_while(|c| !c.is_alphanumeric() && !"\"'`“„«‘{[/-".contains(*c)).collect();
    let after = match marks.trim_start() {
        _ if rest.trim().is_empty() => After::End,
        marks if marks.starts_with(['.', '!', '?', ';', '。', '？', '！']) || marks.contains("\n\n") => After::End,
        marks if marks.starts_with([':', '：']) => After::Colon,
        marks if marks.starts_with([',', '，', '、']) => After::Comma,
        _ => After::Nothing,
    };
    items.push(Item { kind, quotes, text: inner, folded: fold(inner), start, end, after });
}

/// The inside and the whole length of a quotation that starts here.
fn quoted(rest: &str, first: char, before: Option<char>) -> Option<(&str, usize, Quotes)> {
    if let Some(body) = rest.strip_prefix("```") {
        let end = body.find("```")?;
        let inner = body.get(..end)?;
        // The first line of a block may name the language.
        let code = inner.split_once('\n').map_or(inner, |(language, code)| {
            if language.trim().chars().all(char::is_alphanumeric) { code } else { inner }
        });
        return Some((code.trim_end_matches('\n'), end + 6, Quotes::Code));
    }
    let (close, quotes) = match first {
        '`' => ('`', Quotes::Code),
        '"' => ('"', Quotes::Marks),
        '\'' => ('\'', Quotes::Marks),
        '“' => ('”', Quotes::Marks),
        '„' => ('“', Quotes::Marks),
        '«' => ('»', Quotes::Marks),
        '‘' => ('’', Quotes::Marks),
        '「' => ('」', Quotes::Marks),
        _ => return None,
    };
    let straight = first == close;
    if straight && before.is_some_and(char::is_alphanumeric) {
        return None;
    }
    let body = rest.get(first.len_utf8()..)?;
    let mut escaped = false;
    for (at, c) in body.char_indices() {
        let ends = c == close || (first == '„' && c == '”');
        if ends && !escaped {
            let next = body.get(at + c.len_utf8()..).and_then(|after| after.chars().next());
            // An apostrophe inside a word does not close.
            if straight && next.is_some_and(char::is_alphanumeric) {
                continue;
            }
            let inner = body.get(..at)?;
            let inner = if quotes == Quotes::Marks { inner.trim_matches('\u{a0}') } else { inner };
            let inner = if first == '«' { inner.trim() } else { inner };
            return Some((inner, first.len_utf8() + at + c.len_utf8(), quotes));
        }
        escaped = c == '\\' && !escaped;
    }
    None
}

/// The length of a JSON object or list that starts here.
fn json(rest: &str, first: char) -> Option<usize> {
    if !matches!(first, '{' | '[') {
        return None;
    }
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    values.next()?.ok()?;
    Some(values.byte_offset())
}

/// The length of the next piece: up to white space, or to where a script without spaces meets one with spaces.
fn token(rest: &str) -> usize {
    let mut spaceless = None;
    for (at, c) in rest.char_indices() {
        let here = is_spaceless(c);
        if c.is_whitespace() || spaceless.is_some_and(|before| before != here) || "“„«」「".contains(c) {
            return at.max(1);
        }
        spaceless = Some(here);
    }
    rest.len()
}

/// Whether the character belongs to a script that is written without spaces between words.
pub(super) fn is_spaceless(c: char) -> bool {
    matches!(c, '\u{3000}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ff00}'..='\u{ffef}')
}

/// A token without the punctuation around it.
fn trim(raw: &str) -> &str {
    if matches!(raw, "." | ".." | "/" | "->" | "=>" | "→" | "*") {
        return raw;
    }
    let front = raw.trim_start_matches(['(', '[', '{', '<', ',', ';', ':', '"', '\'', '¿', '¡', '（']);
    let clean = front.trim_end_matches(|c: char| ",;:!?\"'>}]，。？！：、）".contains(c));
    let clean = clean.strip_suffix("...").unwrap_or(clean);
    let clean = if clean.chars().all(|c| c == '.') { clean } else { clean.trim_end_matches('.') };
    // A closing bracket stays where it belongs to the piece, as in `call()`.
    match clean.strip_suffix(')') {
        Some(inner) if !inner.contains('(') => inner,
        _ => clean,
    }
}

/// Upper-level domains that are no common file extensions.
const DOMAINS: &str = "com org net io dev app edu gov de fr uk eu es it ch at info ai";

/// File names that have no extension.
const BARE_FILES: &str = "Makefile Dockerfile README LICENSE CHANGELOG Gemfile Rakefile Jenkinsfile Procfile \
        Vagrantfile CONTRIBUTING NOTICE AUTHORS TODO.txt CODEOWNERS";

/// Words with a slash or a dot that are no paths.
const NO_PATHS: &str = "and/or either/or n/a w/o he/she yes/no e.g i.e z.b etc vs";

/// What a token without white space looks like.
pub(super) fn classify(token: &str) -> Kind {
    let lower = token.to_lowercase();
    if one_of(NO_PATHS, &lower) {
        return Kind::Word;
    }
    if lower.starts_with("http://") || lower.starts_with("https://") {
        return Kind::Url;
    }
    if let Some((user, host)) = token.split_once('@')
        && !user.is_empty()
        && host.contains('.')
        && !host.contains('/')
    {
        return Kind::Email;
    }
    if let Some(kind) = number(token) {
        return kind;
    }
    if let Some((key, value)) = token.split_once('=')
        && !key.is_empty()
        && !value.is_empty()
        && key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
    {
        return Kind::Pair;
    }
    if let Some(extension) = token.strip_prefix("*.") {
        return if extension.chars().all(char::is_alphanumeric) { Kind::Extension } else { Kind::Path };
    }
    if is_path(token) {
        return Kind::Path;
    }
    if let Some(name) = token.strip_prefix('.') {
        // `.rs` is an extension, `.gitignore` and `.env` are files.
        return match name.len() {
            1..=5 if name.chars().all(char::is_alphanumeric) && !matches!(name, "env" | "git") => Kind::Extension,
            0 => Kind::Word,
            _ => Kind::Path,
        };
    }
    if let Some((stem, extension)) = token.rsplit_once('.')
        && !stem.is_empty()
        && !token.contains('(')
        && (1..=10).contains(&extension.len())
        && extension.chars().all(char::is_alphanumeric)
        && extension.chars().any(char::is_alphabetic)
        && stem.chars().all(|c| c.is_alphanumeric() || "._-+@".contains(c))
    {
        return if one_of(DOMAINS, &extension.to_lowercase()) { Kind::Domain } else { Kind::Path };
    }
    if one_of(BARE_FILES, token) {
        return Kind::Path;
    }
    if is_identifier(token) { Kind::Identifier } else { Kind::Word }
}

fn is_path(token: &str) -> bool {
    if matches!(token, "." | "..") || token.starts_with("./") || token.starts_with("../") || token.starts_with("~/") {
        return true;
    }
    if let Some((drive, _)) = token.split_once(":\\") {
        return drive.len() == 1;
    }
    if !token.contains('/') {
        return false;
    }
    if token.chars().any(|c| "()<>|\"'=;,&".contains(c)) || token.contains("//") {
        return false;
    }
    let segments: Vec<&str> = token.split('/').filter(|segment| !segment.is_empty()).collect();
    let shouts = |segment: &&str| segment.chars().all(|c| c.is_uppercase());
    let counts = |segment: &&str| segment.chars().all(|c| c.is_ascii_digit());
    let absolute = token.starts_with('/') || token.ends_with('/');
    absolute || !(segments.iter().all(shouts) || segments.iter().all(counts))
}

fn number(token: &str) -> Option<Kind> {
    let token = token.trim_start_matches('#');
    let plain = |text: &str| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        digits.starts_with(|c: char| c.is_ascii_digit()) && digits.parse::<f64>().is_ok()
    };
    if plain(token) {
        return Some(Kind::Number);
    }
    if token.contains(',') && plain(&token.replace(',', "")) {
        return Some(Kind::Number);
    }
    let (from, to) = token.split_once(['-', '–', '…']).or_else(|| token.split_once(".."))?;
    (plain(from) && plain(to) && from.parse::<u64>().is_ok()).then_some(Kind::Range)
}

fn is_identifier(token: &str) -> bool {
    let inner = token.strip_suffix("()").unwrap_or(token);
    let named = !inner.is_empty()
        && inner.chars().all(|c| c.is_alphanumeric() || c == '_' || c == ':' || c == '.' || c == '$')
        && inner.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$');
    if !named {
        return false;
    }
    let humps = inner.chars().zip(inner.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    inner.len() < token.len() || humps || inner.contains('_') || inner.contains("::")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(Kind, &str)]) {
        let reading = Reading::new(text);
        let found: Vec<(Kind, &str)> = reading.items.iter().map(|item| (item.kind, item.text)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn things_are_told_from_words() {
        use Kind::{Domain, Extension, Identifier, Json, Number, Pair, Path, Range, Text, Url, Word};
        check("Read src/main.rs, please.", &[(Word, "Read"), (Path, "src/main.rs"), (Word, "please")]);
        check("What's in Bob's 'a b'?", &[(Word, "What's"), (Word, "in"), (Word, "Bob's"), (Text, "a b")]);
        check("see https://a.b/c?d=1.", &[(Word, "see"), (Url, "https://a.b/c?d=1")]);
        check(
            "find parseAll() and/or to_x",
            &[(Word, "find"), (Identifier, "parseAll()"), (Word, "and/or"), (Identifier, "to_x")],
        );
        check("*.py .rs .env v1.2", &[(Extension, "*.py"), (Extension, ".rs"), (Path, ".env"), (Word, "v1.2")]);
        check("3 1,000 10-20 n=5", &[(Number, "3"), (Number, "1,000"), (Range, "10-20"), (Pair, "n=5")]);
        check(r#"post {"a": [1, 2]} now"#, &[(Word, "post"), (Json, r#"{"a": [1, 2]}"#), (Word, "now")]);
        check("“schräge” «ou» example.com", &[(Word, "schräge"), (Word, "ou"), (Domain, "example.com")]);
        check("```rust\nlet a = 1;\n```", &[(Text, "let a = 1;")]);
        check("请读取README.md文件", &[(Word, "请读取"), (Path, "README.md"), (Word, "文件")]);
        check(r#"say "a \" b""#, &[(Word, "say"), (Text, r#"a \" b"#)]);
    }

    #[test]
    fn what_follows_is_known() {
        let reading = Reading::new("Save this: a, b. Done");
        let after: Vec<After> = reading.items.iter().map(|item| item.after).collect();
        assert_eq!(after, [After::Nothing, After::Colon, After::Comma, After::End, After::End]);
        assert_eq!(reading.slice(2, 4), Some("a, b"));
    }
}
