//! Says how far long work is: a changing line on a terminal, plain lines or nothing elsewhere.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

/// How often long work says on plain output that it still runs.
const STILL: Duration = Duration::from_secs(60);

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

/// Says what a running step does: a changing line on a terminal, a line a minute elsewhere.
pub(crate) struct Ticker<'a> {
    name: &'a str,
    started: Instant,
    said: Instant,
    terminal: bool,
    last: String,
}

impl<'a> Ticker<'a> {
    pub(crate) fn new(name: &'a str) -> Self {
        let started = Instant::now();
        Self { name, started, said: started, terminal: std::io::stderr().is_terminal(), last: String::new() }
    }

    pub(crate) fn tell(&mut self, line: Option<&str>) {
        let now = Instant::now();
        let seconds = now.duration_since(self.started).as_secs();
        if let Some(line) = line {
            self.last = line.trim().chars().take(60).collect();
        }
        if self.terminal && now.duration_since(self.said) > Duration::from_millis(150) {
            self.said = now;
            eprint!("\r\x1b[K…    {} ({seconds} s) {}", self.name, self.last);
        } else if !self.terminal && now.duration_since(self.said) > STILL {
            self.said = now;
            eprintln!("…    {} is still running ({seconds} s)", self.name);
        }
    }

    pub(crate) fn clear(&self) {
        if self.terminal {
            eprint!("\r\x1b[K");
        }
    }
}
