//! Cleans an answer but for the Markdown code in it, piece by piece.

use super::Findings;
use super::markdown::Markdown;
use super::pattern::{LONGEST, next_match, open_suffix};

/// An answer under way.
#[derive(Debug, Default)]
pub(super) struct Outside {
    /// What was not given yet.
    held: String,
    /// Bytes of the text before what is held.
    before: usize,
    /// Where in the held text the next match may begin.
    searched: usize,
    markdown: Markdown,
}

impl Outside {
    pub(super) fn push(&mut self, piece: &str, findings: &mut Findings) -> String {
        let mut read = self.held.len();
        self.held.push_str(piece);
        let bytes = self.held.as_bytes();
        while let Some(mut found) = next_match(bytes, self.searched) {
            // The first byte of a match ends what stands before it; none of its bytes means anything to Markdown.
            let first = read.max(found.start + 1);
            self.markdown.read(bytes.get(read..first).unwrap_or_default());
            (self.searched, read) = (found.end, first);
            found.start += self.before;
            found.end += self.before;
            self.markdown.found(found);
        }
        self.markdown.read(bytes.get(read..).unwrap_or_default());
        self.searched = self.searched.max(bytes.len().saturating_sub(LONGEST - 1));
        let open = open_suffix(bytes.get(self.searched..).unwrap_or_default());
        self.give(self.held.len() - open, findings)
    }

    pub(super) fn finish(mut self: Box<Self>, findings: &mut Findings) -> String {
        self.markdown.finish();
        self.give(self.held.len(), findings)
    }

    /// Gives the held text up to a place, as far as it is decided.
    fn give(&mut self, end: usize, findings: &mut Findings) -> String {
        let end = self.markdown.undecided().map_or(end, |start| end.min(start.saturating_sub(self.before)));
        let mut cleaned = String::new();
        let mut rest = 0;
        for found in self.markdown.take_matches() {
            let start = found.start.saturating_sub(self.before);
            cleaned.push_str(self.held.get(rest..start).unwrap_or_default());
            found.pattern.replace(&mut cleaned);
            found.pattern.note(findings);
            rest = found.end.saturating_sub(self.before);
        }
        cleaned.push_str(self.held.get(rest..end).unwrap_or_default());
        self.held.drain(..end);
        self.before += end;
        self.searched = self.searched.saturating_sub(end);
        cleaned
    }
}
