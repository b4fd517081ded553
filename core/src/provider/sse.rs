//! Cuts the bytes of a streamed reply into events: server-sent events, or one JSON value a line.
//!
//! Works on bytes as they come, however they are cut: a chunk may end inside a character, a line or the line ends
//! between two events. Text is decoded for whole lines only. What an event means is the wire format's business.

use super::wire::Framing;
use bytes::Bytes;
use memchr::{memchr, memchr2};
use std::borrow::Cow;

/// One event of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event<'a> {
    /// The event's name; empty where there is none.
    pub(crate) name: &'a str,
    /// Its data; the lines of several `data` fields are joined by newlines.
    pub(crate) data: &'a str,
}

/// A line or an event is longer than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("one event of the stream has more than {limit} bytes")]
pub(crate) struct EventTooLong {
    /// The limit.
    pub(crate) limit: usize,
}

/// Cuts a stream into events.
///
/// Chunks go in by [`push`](Self::push); events are taken out by [`next`](Self::next) until there is none, and
/// [`finish`](Self::finish) gives what a stream without its last line end still holds.
pub(crate) struct Splitter {
    framing: Framing,
    /// Most bytes of one line and of one event's data.
    limit: usize,
    chunk: Bytes,
    /// How far `chunk` has been read.
    at: usize,
    /// The start of a line whose end has not come.
    partial: Vec<u8>,
    /// The last line ended with CR: an LF right after it belongs to that end.
    after_cr: bool,
    event: Pending,
}

/// The event that is being put together.
#[derive(Default)]
struct Pending {
    name: String,
    data: String,
    has_data: bool,
    /// The event was handed out and is cleared at the next step.
    given: bool,
    /// No line has come yet, so a byte order mark may lead the next one.
    past_start: bool,
}

impl Splitter {
    /// A splitter that refuses lines and events of more than `limit` bytes.
    pub(crate) fn new(framing: Framing, limit: usize) -> Self {
        Self {
            framing,
            limit,
            chunk: Bytes::new(),
            at: 0,
            partial: Vec::new(),
            after_cr: false,
            event: Pending::default(),
        }
    }

    /// Takes the next chunk. The events of the one before must have been taken out.
    pub(crate) fn push(&mut self, chunk: Bytes) {
        debug_assert!(self.at >= self.chunk.len(), "events of the last chunk are still waiting");
        self.chunk = chunk;
        self.at = 0;
    }

    /// The next whole event, or `None` when more bytes are needed.
    ///
    /// # Errors
    /// [`EventTooLong`]; the stream cannot be read on after it.
    pub(crate) fn next(&mut self) -> Result<Option<Event<'_>>, EventTooLong> {
        self.event.clear_given();
        let too_long = EventTooLong { limit: self.limit };
        loop {
            let mut rest = self.chunk.get(self.at..).unwrap_or_default();
            if rest.is_empty() {
                return Ok(None);
            }
            if std::mem::take(&mut self.after_cr) && rest.first() == Some(&b'\n') {
                self.at += 1;
                rest = rest.get(1..).unwrap_or_default();
            }
            let end = match self.framing {
                Framing::Sse => memchr2(b'\n', b'\r', rest),
                Framing::Lines => memchr(b'\n', rest),
            };
            let head = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            if self.partial.len() + head.len() > self.limit {
                return Err(too_long);
            }
            let Some(end) = end else {
                self.partial.extend_from_slice(head);
                self.at = self.chunk.len();
                return Ok(None);
            };
            self.after_cr = rest.get(end) == Some(&b'\r');
            self.at += end + 1;
            let ready = if self.partial.is_empty() {
                self.event.line(self.framing, head, self.limit)?
            } else {
                self.partial.extend_from_slice(head);
                let ready = self.event.line(self.framing, &self.partial, self.limit)?;
                self.partial.clear();
                ready
            };
            if ready {
                return Ok(Some(self.event.give()));
            }
        }
    }

    /// The event that the end of the stream left without its last line end.
    ///
    /// The standard drops such an event. Here an event is one JSON value, so a cut one is seen by its reader, and a
    /// whole one is not lost because a server left out the last empty line.
    ///
    /// # Errors
    /// [`EventTooLong`].
    pub(crate) fn finish(&mut self) -> Result<Option<Event<'_>>, EventTooLong> {
        self.event.clear_given();
        let line = std::mem::take(&mut self.partial);
        if !line.is_empty() {
            self.event.line(self.framing, &line, self.limit)?;
        }
        Ok(if self.event.has_data { Some(self.event.give()) } else { None })
    }
}

impl Pending {
    /// Takes one whole line; `true` when it completes an event.
    fn line(&mut self, framing: Framing, mut line: &[u8], limit: usize) -> Result<bool, EventTooLong> {
        if !std::mem::replace(&mut self.past_start, true) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        match framing {
            Framing::Lines => {
                let line = line.trim_ascii();
                if !line.is_empty() {
                    self.data.push_str(&text_of(line));
                    self.has_data = true;
                }
                Ok(self.has_data)
            }
            Framing::Sse => self.field(line, limit),
        }
    }

    fn field(&mut self, line: &[u8], limit: usize) -> Result<bool, EventTooLong> {
        if line.is_empty() {
            if !self.has_data {
                self.name.clear();
            }
            return Ok(self.has_data);
        }
        let (field, value) = match memchr(b':', line) {
            Some(colon) => (line.get(..colon), line.get(colon + 1..)),
            None => (Some(line), None),
        };
        let value = value.unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            Some(b"data") => {
                if self.data.len() + value.len() > limit {
                    return Err(EventTooLong { limit });
                }
                if self.has_data {
                    self.data.push('\n');
                }
                self.has_data = true;
                self.data.push_str(&text_of(value));
            }
            Some(b"event") => {
                self.name.clear();
                self.name.push_str(&text_of(value));
            }
            // Comments have an empty field name; `id` and `retry` are for clients that reconnect.
            Some(_) | None => {}
        }
        Ok(false)
    }

    fn give(&mut self) -> Event<'_> {
        self.given = true;
        Event { name: &self.name, data: &self.data }
    }

    fn clear_given(&mut self) {
        if std::mem::take(&mut self.given) {
            self.name.clear();
            self.data.clear();
            self.has_data = false;
        }
    }
}

/// The text of a line; bytes that are no UTF-8 become U+FFFD.
fn text_of(line: &[u8]) -> Cow<'_, str> {
    // Checking first is much faster than replacing, and nearly every line is sound.
    match std::str::from_utf8(line) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn events(framing: Framing, chunks: &[&[u8]]) -> Vec<(String, String)> {
        let mut splitter = Splitter::new(framing, 1 << 20);
        let mut found = Vec::new();
        for chunk in chunks {
            splitter.push(Bytes::copy_from_slice(chunk));
            while let Some(event) = splitter.next().unwrap() {
                found.push((event.name.to_owned(), event.data.to_owned()));
            }
        }
        if let Some(event) = splitter.finish().unwrap() {
            found.push((event.name.to_owned(), event.data.to_owned()));
        }
        assert!(splitter.finish().unwrap().is_none());
        found
    }

    fn sse(text: &str) -> Vec<(String, String)> {
        events(Framing::Sse, &[text.as_bytes()])
    }

    fn pair(name: &str, data: &str) -> (String, String) {
        (name.to_owned(), data.to_owned())
    }

    /// The same rules, written for whole text and without care for speed.
    fn reference(bytes: &[u8]) -> Vec<(String, String)> {
        let text = String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)).into_owned();
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let (mut found, mut name, mut data) = (Vec::new(), String::new(), None::<String>);
        for line in text.split('\n').chain([""]) {
            if line.is_empty() {
                if let Some(data) = data.take() {
                    found.push((name.clone(), data));
                }
                name.clear();
                continue;
            }
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            if field == "event" {
                name = value.to_owned();
            } else if field == "data" {
                data = Some(data.map_or_else(|| value.to_owned(), |before| format!("{before}\n{value}")));
            }
        }
        found
    }

    #[test]
    fn reads_fields_comments_and_all_line_ends() {
        let text = "\u{feff}: hello\nevent: a\ndata: 1\n\nid: 7\nretry: 10\ndata:2\r\n\r\ndata: x\rdata:  y\r\r";
        assert_eq!(sse(text), [pair("a", "1"), pair("", "2"), pair("", "x\n y")]);
        assert_eq!(sse("data\n\n"), [pair("", "")]);
        assert_eq!(sse("event: lost\n\ndata: {}\n\n"), [pair("", "{}")]);
        assert_eq!(sse("datax: 1\nData: 2\n\n"), []);
        assert_eq!(sse("data: a:b\n\n"), [pair("", "a:b")]);
    }

    #[test]
    fn gives_an_event_without_its_last_line_end() {
        assert_eq!(sse("data: [DONE]"), [pair("", "[DONE]")]);
        assert_eq!(sse("data: 1\n\ndata: 2\n"), [pair("", "1"), pair("", "2")]);
        assert_eq!(events(Framing::Lines, &[b"{}\r\n\n  \n[1]"]), [pair("", "{}"), pair("", "[1]")]);
    }

    #[test]
    fn replaces_bytes_that_are_no_text() {
        assert_eq!(events(Framing::Sse, &[b"data: a\xffb\n\n"]), [pair("", "a\u{fffd}b")]);
        assert_eq!(events(Framing::Sse, &[b"data: \xe2", b"\x82", b"\xac\n\n"]), [pair("", "€")]);
    }

    #[test]
    fn refuses_an_event_over_the_limit() {
        let mut splitter = Splitter::new(Framing::Sse, 16);
        splitter.push(Bytes::from_static(b"data: 0123456789\n"));
        assert_eq!(splitter.next(), Ok(None));
        splitter.push(Bytes::from_static(b"data: 0123456789\n\n"));
        assert_eq!(splitter.next(), Err(EventTooLong { limit: 16 }));

        let mut endless = Splitter::new(Framing::Lines, 16);
        for _ in 0..16 {
            endless.push(Bytes::from_static(b"x"));
            assert_eq!(endless.next(), Ok(None));
        }
        endless.push(Bytes::from_static(b"x"));
        assert!(endless.next().is_err());
    }

    /// Text that is mostly what a stream is made of, and bytes that are not.
    fn stream_bytes() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just(b"data: ".to_vec()),
            Just(b"data:".to_vec()),
            Just(b"event: x".to_vec()),
            Just(b": note".to_vec()),
            Just(b"\n".to_vec()),
            Just(b"\r".to_vec()),
            Just(b"\r\n".to_vec()),
            Just(b"\n\n".to_vec()),
            Just(b"\xef\xbb\xbf".to_vec()),
            Just("{\"é\":\"🦀\"}".as_bytes().to_vec()),
            proptest::collection::vec(any::<u8>(), 0..4),
        ];
        proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    fn cut<'a>(bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_events(
            bytes in stream_bytes(),
            cuts in proptest::collection::vec(any::<usize>(), 0..20),
        ) {
            for framing in [Framing::Sse, Framing::Lines] {
                let whole = events(framing, &[&bytes]);
                prop_assert_eq!(&events(framing, &cut(&bytes, &cuts)), &whole);
                let single: Vec<&[u8]> = bytes.chunks(1).collect();
                prop_assert_eq!(&events(framing, &single), &whole);
            }
        }

        #[test]
        fn agrees_with_the_plain_reading_of_the_rules(bytes in stream_bytes()) {
            // Lossy decoding of the whole and of each line agree where no line end is inside a character, and line
            // ends never are.
            prop_assert_eq!(events(Framing::Sse, &[&bytes]), reference(&bytes));
        }
    }
}
