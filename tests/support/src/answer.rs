//! What the server says: status, headers, body, and how the body travels.

use serde_json::Value;
use std::time::Duration;

/// One scripted answer.
///
/// ```
/// use cheliped_test_support::Answer;
/// let answer = Answer::sse("data: {}\n\n").single_bytes();
/// assert_eq!(answer.status, 200);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Headers in order; the ones that frame the body are added by the server.
    pub headers: Vec<(String, String)>,
    /// The body, byte for byte.
    pub body: Vec<u8>,
    /// Where the body is cut into pieces.
    pub cut: Cut,
    /// How long to wait before the first byte. Default zero.
    pub delay: Duration,
    /// How long to wait between two pieces. Default zero.
    pub gap: Duration,
    /// What happens after the body.
    pub ending: Ending,
}

/// Where the body is cut. Each piece is a chunk of a chunked body, so a client sees the same pieces however the
/// kernel groups the bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Cut {
    /// Not at all: one body with its length announced.
    #[default]
    Whole,
    /// One chunk, the length not announced.
    Chunk,
    /// At these offsets from the start of the body.
    At(Vec<usize>),
    /// Behind every byte.
    SingleBytes,
    /// Behind every blank line, as servers of events do; all events are handed to the kernel together.
    Events,
}

/// What happens after the body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// The answer ends as announced and the connection can be used again.
    #[default]
    Clean,
    /// The full length is announced, this many bytes are sent, and the connection closes.
    CloseAfter(usize),
    /// Silence for this long with the answer unfinished, then the connection closes.
    Hang(Duration),
}

impl Answer {
    /// An answer without headers and body.
    pub fn new(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Vec::new(),
            cut: Cut::Whole,
            delay: Duration::ZERO,
            gap: Duration::ZERO,
            ending: Ending::Clean,
        }
    }

    /// A JSON value.
    pub fn json(status: u16, body: &Value) -> Self {
        Self::new(status).header("content-type", "application/json").body(body.to_string())
    }

    /// A stream of server-sent events in one chunk.
    pub fn sse(events: impl Into<Vec<u8>>) -> Self {
        Self { cut: Cut::Chunk, ..Self::new(200).header("content-type", "text/event-stream").body(events) }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Cuts the body at these offsets.
    #[must_use]
    pub fn cut_at(mut self, offsets: impl Into<Vec<usize>>) -> Self {
        self.cut = Cut::At(offsets.into());
        self
    }

    /// Sends one byte at a time.
    #[must_use]
    pub fn single_bytes(mut self) -> Self {
        self.cut = Cut::SingleBytes;
        self
    }

    /// Waits before the first byte.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Waits between two pieces.
    #[must_use]
    pub fn gap(mut self, gap: Duration) -> Self {
        self.gap = gap;
        self
    }

    /// Announces the whole body, sends this many bytes of it and closes the connection.
    #[must_use]
    pub fn close_after(mut self, bytes: usize) -> Self {
        self.ending = Ending::CloseAfter(bytes);
        self
    }

    /// Falls silent after the body without ending it.
    #[must_use]
    pub fn hang(mut self, silence: Duration) -> Self {
        self.ending = Ending::Hang(silence);
        self
    }

    /// The pieces of the body in order.
    pub(crate) fn pieces(&self) -> Vec<&[u8]> {
        let mut rest = self.body.as_slice();
        if let Ending::CloseAfter(bytes) = self.ending {
            rest = rest.get(..bytes).unwrap_or(rest);
        }
        if rest.is_empty() {
            return Vec::new();
        }
        match &self.cut {
            Cut::Whole | Cut::Chunk => vec![rest],
            Cut::SingleBytes => rest.chunks(1).collect(),
            Cut::Events => {
                let ends = rest.windows(2).enumerate().filter(|(_, pair)| pair == b"\n\n").map(|(at, _)| at + 2);
                cut_at(rest, ends)
            }
            Cut::At(offsets) => cut_at(rest, offsets.iter().copied()),
        }
    }

    /// Whether the length is announced instead of sending chunks.
    pub(crate) fn announces_length(&self) -> bool {
        match self.ending {
            Ending::CloseAfter(_) => true,
            Ending::Clean => self.cut == Cut::Whole,
            Ending::Hang(_) => false,
        }
    }
}

fn cut_at(body: &[u8], offsets: impl Iterator<Item = usize>) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    let (mut rest, mut start) = (body, 0);
    for offset in offsets {
        let Some((piece, after)) = offset.checked_sub(start).and_then(|length| rest.split_at_checked(length)) else {
            continue;
        };
        if !piece.is_empty() {
            pieces.push(piece);
        }
        (rest, start) = (after, offset);
    }
    if !rest.is_empty() {
        pieces.push(rest);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_join_to_the_body() {
        let body = "data: a\n\ndata: b\r\n\ndata: c";
        for cut in [Cut::Whole, Cut::Chunk, Cut::SingleBytes, Cut::Events, Cut::At(vec![0, 3, 3, 2, 9, 900])] {
            let answer = Answer { cut, ..Answer::new(200).body(body) };
            assert_eq!(answer.pieces().concat(), body.as_bytes(), "{:?}", answer.cut);
        }
        assert_eq!(Answer::new(200).body("abcdef").cut_at([2, 4]).pieces(), [b"ab", b"cd", b"ef"]);
        assert_eq!(Answer::new(200).body("abcdef").close_after(3).pieces(), [b"abc"]);
        assert!(Answer::new(204).single_bytes().pieces().is_empty());
    }
}
