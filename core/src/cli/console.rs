//! Where a command writes: the answer to one handle, everything else to another.
//!
//! Whether a handle is a terminal, and whether it takes colours, is found out once. Everything else in the command
//! writes through here, so that tests can look at it.

use super::escape;
use crate::env::Variables;
use std::io::{self, IsTerminal, Write};

/// What a handle leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sink {
    /// A file or a pipe.
    Plain,
    /// A terminal that cannot move its cursor: plain lines, but made harmless.
    Dumb,
    /// A terminal.
    Terminal {
        /// Whether it is shown colours.
        colours: bool,
    },
}

impl Sink {
    /// Whether there is a cursor that can be moved.
    fn moves(self) -> bool {
        match self {
            Self::Terminal { .. } => true,
            Self::Plain | Self::Dumb => false,
        }
    }
}

/// How a piece of text looks on a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Dim,
    Good,
    Bad,
}

/// The two handles.
pub(super) struct Console {
    out: Box<dyn Write + Send>,
    err: Box<dyn Write + Send>,
    out_sink: Sink,
    err_sink: Sink,
    /// Whether the cursor of the terminal stands at the start of a line, as far as this program moved it.
    at_start: bool,
    /// Whether a line is shown that the next output replaces.
    status: bool,
}

impl Console {
    /// The handles of the process.
    pub(super) fn of_process(variables: &dyn Variables) -> Self {
        let (out, err) = (io::stdout(), io::stderr());
        let dumb = variables.get("TERM").as_deref() == Some("dumb");
        let sink = |is_terminal: bool| match (is_terminal, dumb) {
            (true, false) => Sink::Terminal { colours: variables.get("NO_COLOR").is_none() },
            (true, true) => Sink::Dumb,
            (false, _) => Sink::Plain,
        };
        let (out_sink, err_sink) = (sink(out.is_terminal()), sink(err.is_terminal()));
        Self::new(Box::new(out), out_sink, Box::new(err), err_sink)
    }

    pub(super) fn new(out: Box<dyn Write + Send>, out_sink: Sink, err: Box<dyn Write + Send>, err_sink: Sink) -> Self {
        Self { out, err, out_sink, err_sink, at_start: true, status: false }
    }

    pub(super) fn out_is_terminal(&self) -> bool {
        self.out_sink.moves()
    }

    pub(super) fn err_is_terminal(&self) -> bool {
        self.err_sink.moves()
    }

    /// Writes a piece of the answer. On a terminal it is made harmless, elsewhere it stays as it is.
    ///
    /// # Errors
    /// The handle cannot be written.
    pub(super) fn answer(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.clear_status();
        match self.out_sink {
            Sink::Plain => self.out.write_all(text.as_bytes())?,
            Sink::Terminal { .. } | Sink::Dumb => {
                let text = escape::lines(text);
                self.out.write_all(text.as_bytes())?;
                self.at_start = text.ends_with('\n');
            }
        }
        self.out.flush()
    }

    /// Writes one line of JSON to the handle of the answer.
    ///
    /// # Errors
    /// The handle cannot be written.
    pub(super) fn json(&mut self, json: &str) -> io::Result<()> {
        self.out.write_all(escape::json(json).as_bytes())?;
        self.out.write_all(b"\n")?;
        self.out.flush()
    }

    /// Moves on to a new line after the answer, unless it is there already.
    ///
    /// # Errors
    /// The handle cannot be written.
    pub(super) fn end_line(&mut self) -> io::Result<()> {
        if self.out_is_terminal() && !self.at_start {
            self.answer("\n")?;
        }
        Ok(())
    }

    /// Writes a line beside the answer. Text that is not the program's own must have been escaped. That it cannot be
    /// written stops nobody.
    pub(super) fn say(&mut self, style: Style, line: &str) {
        self.clear_status();
        if self.err_is_terminal() && !self.at_start {
            // The answer is on the same screen.
            let _ = self.out.write_all(b"\n");
            let _ = self.out.flush();
            self.at_start = true;
        }
        let text = format!("{}\n", self.paint(style, line));
        let _ = self.err.write_all(text.as_bytes());
        let _ = self.err.flush();
    }

    /// Shows a line that the next output replaces. Only on a terminal, and not in the middle of an answer.
    pub(super) fn status(&mut self, line: &str) {
        if self.err_is_terminal() && self.at_start {
            let text = format!("\r{}\x1b[K", self.paint(Style::Dim, line));
            let _ = self.err.write_all(text.as_bytes());
            let _ = self.err.flush();
            self.status = true;
        }
    }

    /// Takes the replaceable line away.
    pub(super) fn clear_status(&mut self) {
        if self.status {
            let _ = self.err.write_all(b"\r\x1b[K");
            let _ = self.err.flush();
            self.status = false;
        }
    }

    /// The cursor was moved to the start of a line by somebody else, for example by who pressed Enter.
    pub(super) fn at_new_line(&mut self) {
        self.at_start = true;
    }

    /// Text in a style, when the terminal of the second handle takes colours.
    pub(super) fn paint(&self, style: Style, text: &str) -> String {
        let code = match (self.err_sink, style) {
            (Sink::Plain | Sink::Dumb | Sink::Terminal { colours: false }, _) | (_, Style::Plain) => {
                return text.to_owned();
            }
            (Sink::Terminal { colours: true }, Style::Dim) => "2",
            (Sink::Terminal { colours: true }, Style::Good) => "32",
            (Sink::Terminal { colours: true }, Style::Bad) => "31",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}
