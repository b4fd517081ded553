//! Tells which matches stand in Markdown code: fenced blocks and code spans, by CommonMark's rules, read byte by byte.
//!
//! Only what these rules need of the blocks around is known: paragraphs, headings, rules, quotes and list items end a
//! span, and list items move the margin from which a fence is indented. Fences inside quotes are read as spans. Where
//! the page could be read in two ways, the text is taken for prose, and so cleaned.

use super::pattern::Match;
use std::collections::VecDeque;

/// Bytes of the longest code span, and of the longest line that opens a fence, that is known for one. Both may wait for
/// each other, so twice as much is held back at most while it is not known yet whether the text is code.
pub(super) const LONGEST_SPAN: usize = 4096;
/// List items within each other whose margins are remembered.
const DEEPEST_ITEM: usize = 32;
/// Columns from which a line is no fence any more but indented code.
const INDENTED: usize = 4;

/// A run of backticks.
#[derive(Clone, Copy, Debug)]
struct Ticks {
    end: usize,
    len: usize,
    /// A backslash stands before it: its first backtick opens nothing.
    escaped: bool,
    /// The margin, when it is the first thing in its line: it may open a fence.
    margin: Option<usize>,
}

/// What is not decided yet, in the order of the text.
#[derive(Debug)]
enum Open {
    Ticks(Ticks),
    /// Opens a fence, unless another backtick follows in its line.
    Fence(Ticks),
    Match(Match),
}

#[derive(Debug)]
struct Fence {
    mark: u8,
    len: usize,
    margin: usize,
}

/// What a line is, as far as it was read. Columns count from 0.
#[derive(Debug)]
enum Line {
    /// Nothing but spaces.
    Start { column: usize },
    /// Tildes at the beginning.
    Tildes { len: usize, margin: usize },
    /// The marker of a list item, from a column up to another.
    Marker { from: usize, to: usize },
    /// A number that may be a marker.
    Number { from: usize, digits: usize, one: bool },
    /// Spaces after a marker.
    Gap { from: usize, to: usize, column: usize },
    /// `#`.
    Hashes { from: usize, len: usize },
    /// `>`.
    Quote,
    /// The end of a fence.
    Closing { len: usize, blank: bool },
    /// Prose.
    Prose,
    /// Nothing in the rest of it matters.
    Other,
}

/// A line that may be a rule, or underline a heading.
#[derive(Debug)]
struct Ruler {
    mark: u8,
    len: usize,
    column: usize,
    below_paragraph: bool,
}

/// The structure of a text up to some byte.
#[derive(Debug)]
pub(super) struct Markdown {
    at: usize,
    line: Line,
    after_return: bool,
    fence: Option<Fence>,
    /// Columns where the contents of open list items begin.
    items: Vec<usize>,
    /// The last item has nothing yet: a blank line ends it.
    empty_item: bool,
    paragraph: bool,
    heading: bool,
    /// Whether the line before and this one are quotes.
    quoted: (bool, bool),
    ruler: Option<Ruler>,
    backslash: bool,
    ticks: Option<Ticks>,
    open: VecDeque<Open>,
    /// Matches in prose that were not taken yet.
    prose: Vec<Match>,
}

impl Default for Markdown {
    fn default() -> Self {
        Self {
            at: 0,
            line: Line::Start { column: 0 },
            after_return: false,
            fence: None,
            items: Vec::new(),
            empty_item: false,
            paragraph: false,
            heading: false,
            quoted: (false, false),
            ruler: None,
            backslash: false,
            ticks: None,
            open: VecDeque::new(),
            prose: Vec::new(),
        }
    }
}

impl Markdown {
    /// Reads on.
    pub(super) fn read(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                b'\n' if self.after_return => self.after_return = false,
                b'\n' | b'\r' => {
                    self.end_line();
                    self.after_return = *byte == b'\r';
                }
                byte => {
                    self.after_return = false;
                    self.byte(*byte);
                }
            }
            self.at += 1;
        }
        self.forget_far();
    }

    /// Takes a match whose first byte was the last one read.
    pub(super) fn found(&mut self, found: Match) {
        if self.fence.is_some() {
            return;
        }
        self.forget_far();
        match self.open.is_empty() {
            true => self.prose.push(found),
            false => self.open.push_back(Open::Match(found)),
        }
    }

    /// The text is over.
    pub(super) fn finish(&mut self) {
        self.end_line();
        self.end_paragraph();
    }

    /// Where the first match begins that is not decided yet.
    pub(super) fn undecided(&self) -> Option<usize> {
        self.open.iter().find_map(|open| match open {
            Open::Match(found) => Some(found.start),
            Open::Ticks(_) | Open::Fence(_) => None,
        })
    }

    /// The matches that turned out to stand in prose since the last time, in order.
    pub(super) fn take_matches(&mut self) -> Vec<Match> {
        std::mem::take(&mut self.prose)
    }

    fn byte(&mut self, byte: u8) {
        if byte != b'`' {
            self.end_ticks();
        }
        if self.fence.is_none() || !self.in_fence(byte) {
            self.in_text(byte);
        }
    }

    /// Reads a byte of a fenced block; false when the block ended before it.
    fn in_fence(&mut self, byte: u8) -> bool {
        let Some(fence) = &self.fence else { return false };
        self.line = match self.line {
            Line::Start { column } if is_blank(byte) => Line::Start { column: after(column, byte) },
            Line::Start { column } if column < fence.margin => {
                self.fence = None;
                return false;
            }
            Line::Start { column } if byte == fence.mark && column - fence.margin < INDENTED => {
                Line::Closing { len: 1, blank: false }
            }
            Line::Closing { len, blank: false } if byte == fence.mark => Line::Closing { len: len + 1, blank: false },
            Line::Closing { len, .. } if is_blank(byte) => Line::Closing { len, blank: true },
            _ => Line::Other,
        };
        true
    }

    fn in_text(&mut self, byte: u8) {
        if let Some(ruler) = &mut self.ruler {
            match byte {
                byte if byte == ruler.mark => ruler.len += 1,
                byte if is_blank(byte) => {}
                _ => self.ruler = None,
            }
        }
        match self.line {
            Line::Start { column } if is_blank(byte) => self.line = Line::Start { column: after(column, byte) },
            Line::Start { column } => {
                if matches!(byte, b'-' | b'*' | b'_' | b'=') && column - self.margin(column) < INDENTED {
                    self.ruler = Some(Ruler { mark: byte, len: 1, column, below_paragraph: self.paragraph });
                }
                if self.quoted.0 && byte != b'>' {
                    self.end_paragraph();
                }
                self.begin(byte, column);
            }
            Line::Tildes { len, margin } => match byte {
                b'~' => self.line = Line::Tildes { len: len + 1, margin },
                _ if len >= 3 => self.open_fence(b'~', len, margin),
                _ => self.begin_prose(byte, margin),
            },
            Line::Marker { from, to } => match is_blank(byte) {
                true => self.line = Line::Gap { from, to, column: after(to, byte) },
                false => self.begin_prose(byte, from),
            },
            Line::Number { from, digits, one } => match byte {
                b'0'..=b'9' if digits < 9 => self.line = Line::Number { from, digits: digits + 1, one: false },
                b'.' | b')' if one || !self.paragraph || self.items.last().is_some_and(|item| *item > from) => {
                    self.line = Line::Marker { from, to: from + digits + 1 };
                }
                _ => self.begin_prose(byte, from),
            },
            Line::Gap { from, to, column } if is_blank(byte) => {
                self.line = Line::Gap { from, to, column: after(column, byte) };
            }
            Line::Gap { from, to, column } => {
                self.end_paragraph();
                self.begin_item(from, if column - to > INDENTED { to + 1 } else { column });
                self.begin(byte, column);
            }
            Line::Hashes { from, len } => match byte {
                b'#' if len < 6 => self.line = Line::Hashes { from, len: len + 1 },
                byte if is_blank(byte) => {
                    self.end_paragraph();
                    self.leave_items(from);
                    self.heading = true;
                    self.line = Line::Prose;
                }
                _ => self.begin_prose(byte, from),
            },
            Line::Quote if is_blank(byte) || byte == b'>' => {}
            Line::Quote => {
                self.paragraph = true;
                self.line = Line::Prose;
                self.prose(byte);
            }
            Line::Prose => self.prose(byte),
            Line::Closing { .. } | Line::Other => {}
        }
    }

    /// Where the contents of the innermost list item begin that a line at this column can belong to.
    fn margin(&self, column: usize) -> usize {
        self.items.iter().rev().copied().find(|item| *item <= column).unwrap_or(0)
    }

    /// The first byte of a line, or of a list item, that is no space.
    fn begin(&mut self, byte: u8, column: usize) {
        let margin = self.margin(column);
        if column - margin >= INDENTED {
            match self.paragraph {
                true => self.begin_prose(byte, column),
                false => self.line = Line::Other,
            }
            return;
        }
        match byte {
            b'`' => {
                self.begin_prose(byte, column);
                if let Some(ticks) = &mut self.ticks {
                    ticks.margin = Some(margin);
                }
            }
            b'~' => self.line = Line::Tildes { len: 1, margin },
            b'-' | b'+' | b'*' => self.line = Line::Marker { from: column, to: column + 1 },
            b'0'..=b'9' => self.line = Line::Number { from: column, digits: 1, one: byte == b'1' },
            b'#' => self.line = Line::Hashes { from: column, len: 1 },
            b'>' => {
                if !self.quoted.0 {
                    self.end_paragraph();
                    self.leave_items(column);
                }
                self.quoted.1 = true;
                self.line = Line::Quote;
            }
            _ => self.begin_prose(byte, column),
        }
    }

    fn begin_prose(&mut self, byte: u8, column: usize) {
        if !self.paragraph {
            self.leave_items(column);
        }
        self.paragraph = true;
        self.line = Line::Prose;
        self.prose(byte);
    }

    fn begin_item(&mut self, from: usize, contents: usize) {
        self.leave_items(from);
        if self.items.len() < DEEPEST_ITEM {
            self.items.push(contents);
        }
    }

    /// What begins at this column stands outside the items whose contents begin to its right.
    fn leave_items(&mut self, column: usize) {
        self.items.retain(|item| *item <= column);
    }

    fn prose(&mut self, byte: u8) {
        if byte == b'`' {
            let escaped = std::mem::take(&mut self.backslash);
            let ticks = self.ticks.get_or_insert(Ticks { end: 0, len: 0, escaped, margin: None });
            ticks.len += 1;
            ticks.end = self.at + 1;
        } else {
            self.backslash = byte == b'\\' && !self.backslash;
        }
    }

    fn end_ticks(&mut self) {
        let Some(ticks) = self.ticks.take() else { return };
        if ticks.margin.is_some() && ticks.len >= 3 {
            self.open.push_back(Open::Fence(ticks));
            return;
        }
        if ticks.opens() == 0 && self.open.is_empty() {
            return;
        }
        let mut closes = false;
        for open in &mut self.open {
            if let Open::Fence(fence) = open {
                *open = Open::Ticks(*fence);
                closes = true;
            }
        }
        closes |= matches!(self.open.front(), Some(Open::Ticks(first)) if first.opens() == ticks.len);
        self.open.push_back(Open::Ticks(ticks));
        if closes {
            self.decide(false);
        }
    }

    fn end_line(&mut self) {
        self.end_ticks();
        match (&self.fence, &self.line) {
            (Some(fence), Line::Closing { len, .. }) if *len >= fence.len => self.fence = None,
            (Some(_), _) => {}
            (None, _) => self.end_text_line(),
        }
        self.line = Line::Start { column: 0 };
    }

    fn end_text_line(&mut self) {
        self.heading |= matches!(self.line, Line::Start { .. } | Line::Quote | Line::Hashes { .. });
        let was_empty = std::mem::take(&mut self.empty_item);
        match self.line {
            Line::Start { .. } if was_empty => drop(self.items.pop()),
            Line::Tildes { len, margin } if len >= 3 => self.open_fence(b'~', len, margin),
            Line::Marker { from, to } | Line::Gap { from, to, .. } if !self.paragraph => {
                self.begin_item(from, to + 1);
                self.empty_item = true;
            }
            _ => {}
        }
        if let Some(ruler) = self.ruler.take() {
            let rule = ruler.len >= 3 && ruler.mark != b'=';
            if rule || ruler.below_paragraph && matches!(ruler.mark, b'-' | b'=') {
                self.heading = true;
                self.leave_items(ruler.column);
            }
        }
        if std::mem::take(&mut self.heading) {
            self.end_paragraph();
        }
        self.open_ticked_fence();
        self.quoted = (self.quoted.1, false);
        self.backslash = false;
    }

    /// A line that begins with three backticks and has no others opens a fence.
    fn open_ticked_fence(&mut self) {
        let Some(place) = self.open.iter().position(|open| matches!(open, Open::Fence(_))) else { return };
        match self.open.get_mut(place) {
            Some(Open::Fence(ticks)) if ticks.reaches(self.at) => {
                let (len, margin) = (ticks.len, ticks.margin.unwrap_or(0));
                self.open.truncate(place);
                self.open_fence(b'`', len, margin);
            }
            Some(open) => {
                if let Open::Fence(ticks) = open {
                    *open = Open::Ticks(*ticks);
                }
            }
            None => {}
        }
    }

    fn open_fence(&mut self, mark: u8, len: usize, margin: usize) {
        self.end_paragraph();
        self.leave_items(margin);
        self.fence = Some(Fence { mark, len, margin });
        self.line = Line::Other;
    }

    /// Whatever was opened in a paragraph and not closed is prose.
    fn end_paragraph(&mut self) {
        self.decide(true);
        self.paragraph = false;
    }

    /// Forgets an opening run that is too far away to be closed.
    fn forget_far(&mut self) {
        if let Some(Open::Ticks(ticks) | Open::Fence(ticks)) = self.open.front()
            && !ticks.reaches(self.at)
        {
            self.decide(false);
        }
    }

    /// Decides in the order of the text, as far as that is possible: the first run opens a span if one of its length
    /// closes it. At the end of a paragraph none does that is not there.
    fn decide(&mut self, over: bool) {
        while let Some(first) = self.open.front_mut() {
            match first {
                Open::Match(found) => self.prose.push(*found),
                Open::Fence(ticks) => {
                    if ticks.reaches(self.at) && !over {
                        return;
                    }
                    *first = Open::Ticks(*ticks);
                    continue;
                }
                Open::Ticks(ticks) => {
                    let ticks = *ticks;
                    let closing = self.open.iter().skip(1).position(|open| match open {
                        Open::Ticks(other) | Open::Fence(other) => ticks.is_closed_by(other),
                        Open::Match(_) => false,
                    });
                    if let Some(place) = closing {
                        // It closes the span unless it opens a fence.
                        if matches!(self.open.get(place + 1), Some(Open::Fence(fence)) if fence.reaches(self.at))
                            && !over
                        {
                            return;
                        }
                        self.open.drain(..=place);
                    } else if !over && ticks.opens() > 0 && ticks.reaches(self.at) {
                        return;
                    }
                }
            }
            self.open.pop_front();
        }
    }
}

impl Ticks {
    /// The length of the run that it opens.
    fn opens(&self) -> usize {
        self.len - usize::from(self.escaped)
    }

    /// Whether a span that begins with it may end at this place.
    fn reaches(&self, place: usize) -> bool {
        place.saturating_sub(self.end) <= LONGEST_SPAN
    }

    fn is_closed_by(&self, other: &Self) -> bool {
        other.len == self.opens() && self.reaches(other.end)
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// The column after a space or a tab.
fn after(column: usize, byte: u8) -> usize {
    if byte == b'\t' { (column / 4 + 1) * 4 } else { column + 1 }
}
