//! Words of names, descriptions and messages in one comparable form.
//!
//! Any script; case folded; names taken apart at `_` and at capitals; English endings reduced. It knows no grammar
//! and translates nothing.

use rust_stemmers::{Algorithm, Stemmer};
use std::collections::BTreeSet;
use unicode_segmentation::UnicodeSegmentation;

/// English words that say nothing about a subject.
const STOP_WORDS: &str = " a about again all also am an and any are as at be been being but by can could did do does \
    done each every few for from had has have he her here him his how i if in into is it its just least less let may \
    me might more most must my no not of off on one only or our out over own per please same shall she should so some \
    such than that the their them then there these they this those to too two under us very via was we were what when \
    where which who whom why will with would you your ";

/// Lower case, with the letters that lower case alone leaves different.
///
/// `Straße` and `STRASSE` become the same word, `ΟΔΟΣ` and `οδός` do not: accents count.
pub(crate) fn fold(text: &str) -> String {
    let lower = text.to_lowercase();
    match lower.contains(['ß', 'ς', '’']) {
        true => lower.replace('ß', "ss").replace('ς', "σ").replace('’', "'"),
        false => lower,
    }
}

/// Whether a folded word says nothing about a subject.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.split(' ').any(|stop| stop == word)
}

/// The stem of a folded word: English endings go, other scripts and words with digits stay.
pub(crate) fn stem(word: &str) -> String {
    if word.len() < 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'\'') {
        return word.to_owned();
    }
    Stemmer::create(Algorithm::English).stem(word).into_owned()
}

/// The parts of a name or word at `_`, `-` and capitals, as written: `readHTTPHeader_v2` has `read`, `HTTP`, `Header`
/// and `v2`.
pub(crate) fn parts(name: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for piece in name.split(|c: char| !c.is_alphanumeric() && c != '\'') {
        let mut start = 0;
        let mut chars = piece.char_indices().peekable();
        let mut before: Option<char> = None;
        while let Some((at, c)) = chars.next() {
            let next = chars.peek().map(|(_, next)| *next);
            let starts_word = c.is_uppercase()
                && before.is_some_and(|before| {
                    before.is_lowercase() || (before.is_uppercase() && next.is_some_and(char::is_lowercase))
                });
            if starts_word {
                parts.extend(piece.get(start..at));
                start = at;
            }
            before = Some(c);
        }
        parts.extend(piece.get(start..));
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// The words of a text in order, with repeats: folded, stemmed, without stop words. A compound gives itself and its
/// parts.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for word in text.unicode_words() {
        let parts = parts(word);
        if parts.len() > 1 {
            words.push(fold(word));
        }
        words.extend(parts.into_iter().map(fold).filter(|part| says_something(part)).map(|part| stem(&part)));
    }
    words
}

/// The distinct words of several texts.
pub(crate) fn word_set<'a>(texts: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    texts.into_iter().flat_map(words).collect()
}

/// One lone Latin letter is no word; a digit or a character of another script may be.
fn says_something(word: &str) -> bool {
    !is_stop_word(word) && (word.len() > 1 || word.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_any_script_are_found_and_numbers_kept() {
        assert_eq!(words("Größe der Straße"), ["grösse", "der", "strass"]);
        assert_eq!(words("order7 and 42 items"), ["order7", "42", "item"]);
        assert_eq!(words("найди ОШИБКУ"), ["найди", "ошибку"]);
        assert_eq!(words("读取文件"), ["读", "取", "文", "件"]);
        assert_eq!(words("What is the status of my addresses?"), ["status", "address"]);
    }

    #[test]
    fn names_give_themselves_and_their_parts() {
        assert_eq!(words("file_read"), ["file_read", "file", "read"]);
        assert_eq!(words("readHTTPHeader"), ["readhttpheader", "read", "http", "header"]);
        assert_eq!(parts("get_userID-v2"), ["get", "user", "ID", "v2"]);
        assert_eq!(parts("__"), Vec::<&str>::new());
    }

    #[test]
    fn both_sides_of_a_comparison_get_the_same_stem() {
        for (a, b) in [("files", "file"), ("searching", "searches"), ("queries", "query"), ("Compressed", "compress")] {
            assert_eq!(words(a), words(b));
        }
        assert_ne!(words("news"), words("new"));
    }
}
