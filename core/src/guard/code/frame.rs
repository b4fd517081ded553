//! Whether a text asks about what it quotes, or wants it done: "What does … do?" against "please run …".
//!
//! A frame only ever says how words stand around a place. How much that changes is for the guards to say; it never
//! makes something clearly hostile harmless.

use crate::guard::View;
use crate::guard::fold::Token;

/// How the words around a place speak of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::guard) enum Frame {
    /// Nothing is said of it.
    Bare,
    /// It is asked about, explained, reviewed or reported.
    Asked,
    /// It is to be carried out.
    Ordered,
}

/// Tokens before a place that are looked at.
const REACH: usize = 24;
/// Tokens at the start of a sentence that are looked at.
const OPENING: usize = 14;
/// Bytes before a place in which an opened backtick counts.
const QUOTE: usize = 400;

/// Words that may stand before what a sentence begins with.
const FILLERS: &[&str] = &[
    "hi",
    "hello",
    "hey",
    "please",
    "so",
    "ok",
    "okay",
    "and",
    "but",
    "also",
    "just",
    "quick",
    "question",
    "q",
    "dear",
    "team",
    "all",
    "can",
    "could",
    "would",
    "will",
    "you",
    "someone",
    "anyone",
    "help",
    "me",
    "us",
    "i",
    "need",
    "to",
    "want",
    "like",
    "d",
    "m",
    "am",
    "we",
    "kindly",
    "now",
    "first",
    "well",
    "thanks",
    "sorry",
    "let",
    "s",
    "have",
    "a",
    "another",
    "one",
    "more",
    "out",
    "wondering",
    "curious",
    "understand",
    "tell",
    "know",
];
/// Words that begin a question or a request to talk about something, wherever they stand in a clause.
const ASKING: &[&str] = &[
    "how",
    "what",
    "why",
    "which",
    "explain",
    "explains",
    "explaining",
    "explained",
    "describe",
    "describes",
    "difference",
    "meaning",
    "means",
    "whether",
    "wondering",
    "define",
    "warum",
    "wie",
    "was",
    "comment",
    "pourquoi",
    "como",
    "porque",
    "что",
    "как",
    "почему",
    "зачем",
    "объясни",
    "объясните",
    "erklare",
    "erklaere",
    "expliquer",
    "explique",
    "explica",
    "spiega",
    "perche",
    "cosa",
    "τι",
    "πωσ",
    "πως",
    "γιατι",
    "εξηγησε",
];
/// Words that begin a question when they stand at the start of a sentence.
const QUESTION_STARTS: &[&str] =
    &["is", "are", "does", "do", "did", "was", "were", "has", "should", "where", "when", "who", "may", "am", "any"];
/// What developers want done with code that they paste.
const ABOUT: &[&str] = &[
    "review",
    "check",
    "debug",
    "refactor",
    "convert",
    "translate",
    "format",
    "fix",
    "document",
    "comment",
    "summarise",
    "summarize",
    "classify",
    "port",
    "rewrite",
    "optimise",
    "optimize",
    "improve",
    "simplify",
    "analyse",
    "analyze",
    "audit",
    "spot",
    "explain",
    "describe",
    "clarify",
    "interpret",
    "compare",
    "indent",
    "lint",
    "rename",
    "annotate",
    "label",
    "proofread",
    "walk",
    "understand",
    "find",
    "identify",
    "decode",
    "discuss",
    "evaluate",
    "critique",
];
/// Words that point at what is quoted.
const POINTING: &[&str] = &[
    "this",
    "that",
    "these",
    "those",
    "following",
    "below",
    "above",
    "it",
    "snippet",
    "code",
    "query",
    "queries",
    "statement",
    "line",
    "lines",
    "command",
    "liner",
    "oneliner",
    "script",
    "function",
    "migration",
    "output",
    "error",
    "log",
    "logs",
    "here",
    "payload",
    "program",
    "class",
    "method",
    "file",
    "example",
    "template",
    "regex",
    "bug",
];
/// Words of somebody who reports what happened.
const REPORTS: &[&str] = &[
    "fails",
    "failed",
    "failing",
    "fail",
    "error",
    "errors",
    "throws",
    "threw",
    "complains",
    "complained",
    "warns",
    "flagged",
    "flags",
    "reported",
    "crashes",
    "crashed",
    "documentation",
    "docs",
    "tutorial",
    "article",
    "chapter",
    "lecture",
    "slide",
    "blog",
    "textbook",
    "changelog",
    "cve",
    "advisory",
    "cheatsheet",
];
/// Verbs that want something carried out.
const CARRY_OUT: &[&str] =
    &["run", "execute", "exec", "perform", "apply", "evaluate", "launch", "invoke", "do", "issue"];
/// Words that lead over to an order.
const LEADS: &[&str] = &["then", "and", "please", "also", "now", "just", "next", "afterwards", "finally"];

/// The frames of a view, with what was already worked out.
pub(in crate::guard) struct Frames<'a> {
    view: &'a View,
    pointing: std::cell::OnceCell<Option<Frame>>,
}

impl<'a> Frames<'a> {
    pub(in crate::guard) fn new(view: &'a View) -> Self {
        Self { view, pointing: std::cell::OnceCell::new() }
    }

    /// The frame around a byte of the view.
    pub(in crate::guard) fn at(&self, start: usize) -> Frame {
        let tokens = &self.view.tokens().tokens;
        let hit = tokens.partition_point(|token| token.range().end <= start);
        let sentence = tokens.get(hit).or(tokens.last()).map_or(0, |token| token.sentence);
        match self.clause(sentence, hit, start) {
            Frame::Bare => {}
            frame => return frame,
        }
        if let Some(quoted) = self.inside_quote(sentence, hit, start) {
            return quoted;
        }
        match *self.pointing.get_or_init(|| self.pointed()) {
            Some(frame) => frame,
            None => self.beside(sentence),
        }
    }

    /// What the words of the same sentence before the place say.
    fn clause(&self, sentence: u32, hit: usize, start: usize) -> Frame {
        let first = self.first_of(sentence).max(hit.saturating_sub(REACH));
        let at_start = first == self.first_of(sentence);
        let before = self.view.tokens().tokens.get(first..hit).unwrap_or_default();
        if self.orders(before, true) {
            return Frame::Ordered;
        }
        if at_start && self.opens(before) {
            return Frame::Asked;
        }
        let asking = before.iter().rev().find(|token| ASKING.contains(&self.view.word(**token)));
        let direct = asking.is_some_and(|token| {
            let gap = self.view.text().get(token.range().end..start).unwrap_or_default();
            !gap.contains([',', ':', ';'])
        });
        let reported = before.iter().any(|token| REPORTS.contains(&self.view.word(*token)));
        let asked = || self.ends_in_question(sentence, hit);
        if direct || reported || asked() { Frame::Asked } else { Frame::Bare }
    }

    /// Whether the sentence goes on to ask: "…, why?"
    fn ends_in_question(&self, sentence: u32, hit: usize) -> bool {
        let tokens = self.view.tokens();
        let question = tokens.sentences.get(sentence as usize).is_some_and(|sentence| sentence.question);
        let rest = || tokens.tokens.get(hit..).unwrap_or_default().iter().take(REACH);
        question
            && rest()
                .take_while(|token| token.sentence == sentence)
                .any(|token| ASKING.contains(&self.view.word(*token)))
    }

    /// A sentence before that opened the backticks or the fence in which the place stands.
    fn inside_quote(&self, sentence: u32, hit: usize, start: usize) -> Option<Frame> {
        let from = self.view.text().len().min(start).saturating_sub(QUOTE);
        (1..=3.min(sentence)).map(|back| sentence - back).find_map(|earlier| {
            let first = self.first_of(earlier);
            let tokens = self.view.tokens().tokens.get(first..hit)?;
            let begin = tokens.first()?.range().start;
            let between = self.view.text().as_bytes().get(begin.max(from)..start)?;
            let open = between.iter().filter(|byte| **byte == b'`').count() % 2 == 1;
            let own = tokens.iter().take_while(|token| token.sentence == earlier).count();
            let words = tokens.get(..own.min(OPENING))?;
            (open && begin >= from && self.opens(words) && !self.orders(words, false)).then_some(Frame::Asked)
        })
    }

    /// What the first sentences and the last one of the text say of what they point at.
    fn pointed(&self) -> Option<Frame> {
        let count = u32::try_from(self.view.tokens().sentences.len()).unwrap_or(u32::MAX);
        let last = count.saturating_sub(1);
        [0, 1, last].into_iter().filter(|sentence| *sentence < count).find_map(|sentence| self.points(sentence))
    }

    /// What the sentences on both sides say.
    fn beside(&self, sentence: u32) -> Frame {
        let around = [sentence.wrapping_sub(1), sentence + 1, sentence + 2];
        around.into_iter().find_map(|sentence| self.points(sentence)).unwrap_or(Frame::Bare)
    }

    /// Whether a sentence asks about something it points at, or wants that carried out.
    fn points(&self, sentence: u32) -> Option<Frame> {
        let opening = self.view.tokens().sentences.get(sentence as usize)?.first as usize;
        let words: &[Token] = self.view.tokens().tokens.get(opening..)?;
        let own = words.iter().take(OPENING).take_while(|token| token.sentence == sentence).count();
        let words = words.get(..own)?;
        let points = words.iter().any(|token| POINTING.contains(&self.view.word(*token)));
        if self.orders(words, false) {
            return Some(Frame::Ordered);
        }
        (points && self.opens(words)).then_some(Frame::Asked)
    }

    /// Whether words begin like a question or a request to talk about something.
    fn opens(&self, words: &[Token]) -> bool {
        let mut modal = false;
        for (place, token) in words.iter().enumerate() {
            let word = self.view.word(*token);
            if ASKING.contains(&word) || ABOUT.contains(&word) || (QUESTION_STARTS.contains(&word) && !modal) {
                return true;
            }
            // "Can I …" and "could we …" are questions, "can you …" is an order.
            let next = words.get(place + 1).map_or("", |next| self.view.word(*next));
            if matches!(word, "can" | "could" | "would" | "will" | "must") {
                if matches!(next, "i" | "we" | "one" | "this" | "that" | "it" | "a" | "an" | "someone") {
                    return true;
                }
                modal = next == "you";
            }
            if !FILLERS.contains(&word) {
                return false;
            }
        }
        false
    }

    /// Whether words want something carried out. `to_the_end`: what they lead up to is the thing itself.
    fn orders(&self, words: &[Token], to_the_end: bool) -> bool {
        let word = |place: usize| words.get(place).map_or("", |token| self.view.word(*token));
        let asked = words.iter().take(OPENING).any(|token| {
            let word = self.view.word(*token);
            matches!(word, "how" | "why" | "what" | "when" | "which" | "don" | "not" | "never" | "if")
        });
        (0..words.len()).any(|place| {
            let lead = place == 0 || LEADS.contains(&word(place - 1)) || matches!(word(place - 1), "you" | "to");
            let sure = place > 0 && matches!(word(place - 1), "then" | "please" | "and" | "now" | "just" | "go");
            let thing = matches!(
                word(place + 1),
                "this"
                    | "that"
                    | "it"
                    | "the"
                    | "these"
                    | "following"
                    | "my"
                    | ""
                    | "query"
                    | "sql"
                    | "command"
                    | "code"
            );
            CARRY_OUT.contains(&word(place)) && lead && (thing || to_the_end) && (sure || !asked) && word(place) != "do"
                || (word(place) == "do" && sure && thing)
        }) || (to_the_end && !words.is_empty() && self.leads_over(words))
    }

    /// Whether the last word before the place leads over to an order: "…, then drop".
    fn leads_over(&self, words: &[Token]) -> bool {
        let word =
            |back: usize| words.len().checked_sub(back).and_then(|at| words.get(at)).map_or("", |t| self.view.word(*t));
        let compares =
            || words.iter().any(|token| matches!(self.view.word(*token), "difference" | "between" | "compare"));
        matches!(word(1), "then" | "please" | "afterwards") || (word(1) == "and" && words.len() > 2 && !compares())
    }

    fn first_of(&self, sentence: u32) -> usize {
        self.view.tokens().sentences.get(sentence as usize).map_or(0, |sentence| sentence.first as usize)
    }
}
