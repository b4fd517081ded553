//! Says how far long work is: a changing line on a terminal, nothing where the output is no terminal.

use std::io::{IsTerminal as _, Write as _};

/// Counts steps of known number.
pub(crate) struct Progress {
    what: &'static str,
    done: usize,
    total: usize,
    shown: bool,
}

impl Progress {
    pub(crate) fn new(what: &'static str, total: usize) -> Self {
        Self { what, done: 0, total, shown: std::io::stderr().is_terminal() }
    }

    /// One more is done.
    pub(crate) fn step(&mut self) {
        self.done += 1;
        if self.shown {
            let mut out = std::io::stderr();
            // A terminal that cannot be written to loses a progress line, no more.
            let _ = write!(out, "\r\x1b[K{} {}/{}", self.what, self.done, self.total);
            let _ = out.flush();
        }
    }

    /// Takes the line away, for other output.
    pub(crate) fn clear(&self) {
        if self.shown {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
