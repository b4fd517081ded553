//! The words that guards know, in every language.
//!
//! A pack is a text file of concepts and words: `[ignore]`, then words and phrases of that concept, `*` for any ending.
//! Packs are folded as texts are, and put into one automaton when the first text is scanned. Words mean nothing alone;
//! what concepts mean together is for [`injection`](super::injection) and [`role`](super::role).

mod tree;

use super::fold::chars::is_unspaced;
use super::fold::{Sentence, Token, View, folded};
use std::ops::Range;
use std::sync::LazyLock;
use tree::Tree;

/// A set of concepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Concepts(u64);

impl Concepts {
    /// Whether it shares a concept with another set.
    pub(super) const fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Both sets together.
    pub(super) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

macro_rules! concepts {
    ($($name:ident = $word:literal,)+) => {
        concepts!(@ 0; $($name)+);
        fn concept(word: &str) -> Option<Concepts> {
            match word { $($word => Some($name),)+ _ => None }
        }
    };
    (@ $bit:expr; $name:ident $($rest:ident)*) => {
        pub(super) const $name: Concepts = Concepts(1 << $bit);
        concepts!(@ $bit + 1; $($rest)*);
    };
    (@ $bit:expr;) => {};
}

concepts! {
    IGNORE = "ignore", INSTRUCTION = "instruction", TASK = "task", EARLIER = "earlier", ALL = "all", YOUR = "your",
    ABOVE = "above", REVEAL = "reveal", PROMPT = "prompt", SECRET = "secret", BECOME = "become", POSE = "pose",
    YOU = "you", UNBOUND = "unbound", ALIAS = "alias", PERSONA = "persona", POWER = "power", MODE = "mode",
    ENTER = "enter", SAFETY = "safety", NEW = "new", VOID = "void", FORGED = "forged", AUTHORITY = "authority",
    AGENT = "agent", MUST = "must", SECRECY = "secrecy", NOT = "not", KEEP = "keep", OTHERS = "others", ASK = "ask",
    META = "meta", LOSE = "lose", JAILBREAK = "jailbreak", HARMLESS = "harmless",
    CHANGE = "change", OUTRANK = "outrank", THESE = "these", SETTING = "setting", ENGLISH = "english",
}

/// The packs by language.
const PACKS: &[(&str, &str)] = &[
    ("en", include_str!("en.txt")),
    ("ar", include_str!("ar.txt")),
    ("bg", include_str!("bg.txt")),
    ("bn", include_str!("bn.txt")),
    ("cs", include_str!("cs.txt")),
    ("da", include_str!("da.txt")),
    ("de", include_str!("de.txt")),
    ("el", include_str!("el.txt")),
    ("es", include_str!("es.txt")),
    ("fa", include_str!("fa.txt")),
    ("fi", include_str!("fi.txt")),
    ("fr", include_str!("fr.txt")),
    ("he", include_str!("he.txt")),
    ("hi", include_str!("hi.txt")),
    ("hu", include_str!("hu.txt")),
    ("id", include_str!("id.txt")),
    ("it", include_str!("it.txt")),
    ("ja", include_str!("ja.txt")),
    ("ko", include_str!("ko.txt")),
    ("nl", include_str!("nl.txt")),
    ("no", include_str!("no.txt")),
    ("pl", include_str!("pl.txt")),
    ("pt", include_str!("pt.txt")),
    ("ro", include_str!("ro.txt")),
    ("ru", include_str!("ru.txt")),
    ("sr", include_str!("sr.txt")),
    ("sv", include_str!("sv.txt")),
    ("th", include_str!("th.txt")),
    ("tl", include_str!("tl.txt")),
    ("tr", include_str!("tr.txt")),
    ("uk", include_str!("uk.txt")),
    ("vi", include_str!("vi.txt")),
    ("zh", include_str!("zh.txt")),
];

/// A word or phrase of a text that stands for concepts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    pub(super) concepts: Concepts,
    /// Its first token.
    pub(super) first: u32,
    /// Bytes of the view.
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) sentence: u32,
}

impl Hit {
    pub(super) fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// The known words of a view, in order of their starts; of what starts at one word, the longest phrase counts.
pub(super) fn hits(view: &View) -> Vec<Hit> {
    LEXICON.hits(view)
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::new(PACKS));

/// What an entry stands for, by how its last word ends.
#[derive(Clone, Copy, Debug, Default)]
struct Meaning {
    /// As it stands.
    whole: Concepts,
    /// With any ending.
    stem: Concepts,
}

impl Meaning {
    fn whole(concepts: Concepts) -> Self {
        Self { whole: concepts, ..Self::default() }
    }

    fn stem(concepts: Concepts) -> Self {
        Self { stem: concepts, ..Self::default() }
    }

    fn or(self, other: Self) -> Self {
        Self { whole: self.whole.or(other.whole), stem: self.stem.or(other.stem) }
    }

    fn is_english(self) -> bool {
        self.all().any(ENGLISH)
    }

    fn all(self) -> Concepts {
        self.whole.or(self.stem)
    }
}

struct Lexicon {
    words: Tree<Meaning>,
    starts: Starts,
}

impl Lexicon {
    fn new(packs: &[(&str, &str)]) -> Self {
        let mut entries: Vec<(String, Meaning)> = Vec::new();
        for (language, pack) in packs {
            let mark = if *language == "en" { ENGLISH } else { Concepts::default() };
            let mut current = Concepts::default();
            for line in pack.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
                if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                    current = concept(name).unwrap_or_default();
                    continue;
                }
                for entry in line.split([',', '，', '、']).map(str::trim).filter(|entry| !entry.is_empty()) {
                    let (entry, stem) = match entry.strip_suffix('*') {
                        Some(entry) => (entry, true),
                        None => (entry, false),
                    };
                    let words = spaced(&folded(entry));
                    let concepts = current.or(mark);
                    if !words.is_empty() {
                        entries.push((words, if stem { Meaning::stem(concepts) } else { Meaning::whole(concepts) }));
                    }
                }
            }
        }
        entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        let mut words: Vec<(String, Meaning)> = Vec::with_capacity(entries.len());
        for same in entries.chunk_by(|(a, _), (b, _)| a == b) {
            // A word that English knows keeps its English meaning.
            let english = same.iter().any(|(_, meaning)| meaning.whole.any(ENGLISH));
            let meanings = same.iter().map(|(_, meaning)| *meaning).filter(|meaning| !english || meaning.is_english());
            if let Some((word, _)) = same.first() {
                words.push((word.clone(), meanings.fold(Meaning::default(), Meaning::or)));
            }
        }
        inherit(&mut words);
        let mut starts = Starts::new();
        for (word, meaning) in &words {
            starts.add(word, meaning.stem != Concepts::default());
        }
        Self { words: Tree::new(words), starts }
    }

    fn hits(&self, view: &View) -> Vec<Hit> {
        let mut hits = Vec::new();
        let tokens = &view.tokens().tokens;
        let bytes = view.text().as_bytes();
        for (index, token) in tokens.iter().enumerate() {
            if !self.starts.may_have(bytes.get(token.range()).unwrap_or_default()) {
                continue;
            }
            if let Some((concepts, taken)) = self.walk(bytes, tokens.get(index..).unwrap_or_default()) {
                let last = tokens.get(index + taken - 1).unwrap_or(token);
                hits.push(Hit {
                    concepts,
                    first: u32::try_from(index).unwrap_or(u32::MAX),
                    start: token.start,
                    end: last.end,
                    sentence: token.sentence,
                });
            }
        }
        hits
    }

    /// The longest entry that starts at the first token, and how many tokens it takes.
    fn walk(&self, bytes: &[u8], tokens: &[Token]) -> Option<(Concepts, usize)> {
        let mut best = None;
        let mut place = self.words.root();
        for (number, token) in tokens.iter().enumerate() {
            if let Some(before) = number.checked_sub(1).and_then(|number| tokens.get(number)) {
                if before.sentence != token.sentence {
                    return best;
                }
                // Characters of scripts without spaces follow each other as they stand.
                if before.end != token.start {
                    match self.words.step(place, b' ') {
                        Some(next) => place = next,
                        None => return best,
                    }
                }
            }
            let mut stem = Concepts::default();
            for byte in bytes.get(token.range()).unwrap_or_default() {
                match self.words.step(place, *byte) {
                    Some(next) => place = next,
                    // The rest of the word is an ending.
                    None if stem == Concepts::default() => return best,
                    None => return Some((stem, number + 1)),
                }
                if let Some(meaning) = self.words.value(place)
                    && meaning.stem != Concepts::default()
                {
                    stem = meaning.stem;
                }
            }
            let whole = self.words.value(place).map(|meaning| meaning.whole).unwrap_or_default();
            if whole.or(stem) != Concepts::default() {
                best = Some((whole.or(stem), number + 1));
            }
        }
        best
    }
}

/// The longest phrase counts, so one that begins with the name of rules, "quy tắc trước", speaks of rules as well.
fn inherit(words: &mut [(String, Meaning)]) {
    const HEIRS: Concepts = EARLIER.or(YOUR).or(ALL).or(PROMPT).or(ABOVE).or(IGNORE);
    const OTHERWISE: Concepts = HARMLESS.or(KEEP).or(NOT).or(ASK).or(META).or(UNBOUND);
    let is_rules = |prefix: &str, words: &[(String, Meaning)]| {
        words
            .binary_search_by(|(word, _)| word.as_str().cmp(prefix))
            .is_ok_and(|at| words.get(at).is_some_and(|(_, meaning)| meaning.all().any(INSTRUCTION)))
    };
    for at in 0..words.len() {
        let Some((word, meaning)) = words.get(at) else { continue };
        let all = meaning.all();
        let inherits = all.any(HEIRS)
            && !all.any(OTHERWISE.or(INSTRUCTION))
            && word.match_indices(' ').any(|(end, _)| word.get(..end).is_some_and(|prefix| is_rules(prefix, words)));
        if inherits && let Some((_, meaning)) = words.get_mut(at) {
            for concepts in [&mut meaning.whole, &mut meaning.stem] {
                if *concepts != Concepts::default() {
                    *concepts = concepts.or(INSTRUCTION);
                }
            }
        }
    }
}

/// Tells quickly that no entry starts with a word: by a hash of its first bytes.
struct Starts {
    /// Words that begin with these four bytes, or are shorter and end before them.
    four: Vec<u64>,
    /// Words that begin with these two bytes, whatever follows.
    two: Vec<u64>,
}

impl Starts {
    fn new() -> Self {
        Self { four: vec![0; 1 << 10], two: vec![0; 1 << 10] }
    }

    fn add(&mut self, entry: &str, is_stem: bool) {
        let word = first_token(entry).as_bytes();
        if is_stem && entry.len() < 4 {
            mark(&mut self.two, first_two(word));
        }
        mark(&mut self.four, first_four(word));
    }

    fn may_have(&self, word: &[u8]) -> bool {
        has(&self.four, first_four(word)) || has(&self.two, first_two(word))
    }
}

/// The first token of an entry: up to a space, and one character where words are not parted by spaces.
fn first_token(entry: &str) -> &str {
    let mut chars = entry.char_indices();
    let first = chars.next();
    let alone = first.is_some_and(|(_, c)| is_unspaced(c));
    let end = chars.find(|(_, c)| alone || *c == ' ' || is_unspaced(*c)).map_or(entry.len(), |(at, _)| at);
    entry.get(..end).unwrap_or_default()
}

fn first_two(word: &[u8]) -> usize {
    let byte = |at: usize| usize::from(word.get(at).copied().unwrap_or(b' '));
    byte(0) << 8 | byte(1)
}

/// Sixteen bits of the first four bytes (Knuth's multiplicative hash).
fn first_four(word: &[u8]) -> usize {
    let key = match word {
        [a, b, c, d, ..] => u32::from_le_bytes([*a, *b, *c, *d]),
        [a, b, c] => u32::from_le_bytes([*a, *b, *c, b' ']),
        [a, b] => u32::from_le_bytes([*a, *b, b' ', b' ']),
        [a] => u32::from_le_bytes([*a, b' ', b' ', b' ']),
        [] => 0,
    };
    (key.wrapping_mul(2_654_435_761) >> 16) as usize
}

fn mark(bits: &mut [u64], place: usize) {
    if let Some(bits) = bits.get_mut(place >> 6) {
        *bits |= 1 << (place & 63);
    }
}

fn has(bits: &[u64], place: usize) -> bool {
    bits.get(place >> 6).is_some_and(|bits| bits >> (place & 63) & 1 == 1)
}

/// An entry as its tokens are walked: words parted by one space.
fn spaced(entry: &str) -> String {
    let mut words = String::with_capacity(entry.len());
    let mut apart = false;
    for c in entry.chars() {
        if super::fold::chars::is_word(c) {
            if apart && !words.is_empty() {
                words.push(' ');
            }
            apart = false;
            words.push(c);
        } else {
            apart = true;
        }
    }
    words
}

/// The sentence of a hit.
pub(super) fn sentence(view: &View, hit: &Hit) -> Sentence {
    view.tokens().sentences.get(hit.sentence as usize).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::Folded;

    fn found(text: &str) -> Vec<(String, Concepts)> {
        let folded = Folded::new(text);
        let view = folded.plain();
        hits(view).iter().map(|hit| (view.text()[hit.range()].to_owned(), hit.concepts)).collect()
    }

    #[test]
    fn every_line_of_every_pack_has_a_concept() {
        for (language, pack) in PACKS {
            let mut current = None;
            for line in pack.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
                match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                    Some(name) => {
                        current = Some(concept(name).unwrap_or_else(|| panic!("{language}: no concept {name}")))
                    }
                    None => assert!(current.is_some(), "{language}: {line}"),
                }
                for entry in line.split(',').map(str::trim) {
                    let stars = entry.matches('*').count();
                    assert!(stars == 0 || stars == 1 && entry.ends_with('*'), "{language}: {entry}");
                }
            }
        }
    }

    #[test]
    fn every_entry_of_every_pack_is_found() {
        for (language, pack) in PACKS {
            for line in pack.lines().filter(|line| !line.starts_with(['#', '['])) {
                for entry in line.split([',', '，', '、']).map(|entry| entry.trim().trim_end_matches('*')) {
                    // What has no letters is none.
                    if spaced(&folded(entry)).is_empty() {
                        continue;
                    }
                    assert!(!found(entry).is_empty(), "{language}: {entry:?}");
                }
            }
        }
    }

    #[test]
    fn the_longest_phrase_counts() {
        let words: Vec<String> =
            found("Don't follow the old-rules, ignore_all").into_iter().map(|(word, _)| word).collect();
        assert_eq!(
            words,
            ["don't follow", "the", "old", "rules", "ignore", "all"]
                .into_iter()
                .filter(|word| *word != "the")
                .collect::<Vec<_>>()
        );
        assert!(found("ignored").iter().all(|(_, concepts)| concepts.any(HARMLESS)));
    }

    #[test]
    fn the_packs_are_small() {
        let size = LEXICON.words.size();
        assert!(size < 5 << 20, "{size} bytes");
    }

    #[test]
    fn an_entry_does_not_reach_into_the_next_sentence() {
        assert!(!found("Don't. Follow me").iter().any(|(_, concepts)| concepts.any(IGNORE)));
    }

    #[test]
    fn scripts_without_spaces_are_found_anywhere() {
        assert!(crate::guard::fold::chars::is_unspaced('忽'));
    }
}
