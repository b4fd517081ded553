//! Where the messages of a chat come from: an edited line at a terminal, or plain lines of a pipe.

use super::failure::Failure;
use super::input::{MAX_MESSAGE, checked};
use super::places;
use crate::env::Variables;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{Config, Context, Editor, Helper};
use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

/// Lines that the history keeps.
const HISTORY: usize = 1000;
/// Longest line that goes into the history, in bytes.
const HISTORY_LINE: usize = 8 << 10;

/// What came.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// A line.
    Message(String),
    /// Ctrl-C at the prompt.
    Interrupt {
        /// Whether the line was empty.
        empty: bool,
    },
    /// No more lines.
    End,
}

/// The source of lines.
pub(super) enum Lines {
    /// A terminal with line editing.
    Edited(Box<EditedLines>),
    /// A pipe or a file.
    Plain(Box<dyn BufRead>),
}

/// Lines from a terminal.
pub(super) struct EditedLines {
    editor: Editor<Watcher, DefaultHistory>,
    history: Option<PathBuf>,
}

impl Lines {
    /// Lines from a terminal. A history that cannot be read or written is done without.
    ///
    /// # Errors
    /// The terminal cannot be used.
    pub(super) fn edited(keep_history: bool, variables: &dyn Variables) -> Result<Self, Failure> {
        let unusable = |error: ReadlineError| {
            Failure::usage(format!("cannot edit lines on this terminal: {error}; pipe the messages in instead"))
        };
        let config = Config::builder().max_history_size(HISTORY).map_err(unusable)?;
        let config = config.history_ignore_space(true).history_ignore_dups(true).map_err(unusable)?.build();
        let mut editor = Editor::with_config(config).map_err(unusable)?;
        editor.set_helper(Some(Watcher::default()));
        let history = if keep_history { places::chat_history(variables) } else { None };
        let history = history.filter(|path| path.parent().is_some_and(|folder| make_private(folder).is_ok()));
        if let Some(path) = &history {
            // There is none before the first time.
            let _ = editor.load_history(path);
        }
        Ok(Self::Edited(Box::new(EditedLines { editor, history })))
    }

    /// Whether a person types.
    pub(super) fn is_terminal(&self) -> bool {
        match self {
            Self::Edited(_) => true,
            Self::Plain(_) => false,
        }
    }

    /// Waits for the next line.
    ///
    /// # Errors
    /// The input cannot be read, or a line is too long or no UTF-8.
    pub(super) fn next(&mut self) -> Result<Said, Failure> {
        match self {
            Self::Edited(lines) => lines.next(),
            Self::Plain(reader) => plain(reader.as_mut()),
        }
    }
}

fn plain(reader: &mut dyn BufRead) -> Result<Said, Failure> {
    let mut line = Vec::new();
    let unread = |error| Failure::usage(format!("cannot read standard input: {error}"));
    if reader.take(MAX_MESSAGE + 1).read_until(b'\n', &mut line).map_err(unread)? == 0 {
        return Ok(Said::End);
    }
    while line.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
        line.pop();
    }
    checked(line, "the line").map(Said::Message)
}

impl EditedLines {
    fn next(&mut self) -> Result<Said, Failure> {
        if let Some(helper) = self.editor.helper() {
            helper.empty.set(true);
        }
        match self.editor.readline("> ") {
            Ok(line) => {
                self.remember(&line);
                Ok(Said::Message(line))
            }
            Err(ReadlineError::Interrupted) => {
                let empty = self.editor.helper().is_none_or(|helper| helper.empty.get());
                Ok(Said::Interrupt { empty })
            }
            Err(ReadlineError::Eof) => Ok(Said::End),
            Err(error) => Err(Failure::Output(io::Error::other(format!("cannot read the terminal: {error}")))),
        }
    }

    fn remember(&mut self, line: &str) {
        if line.trim().is_empty() || line.len() > HISTORY_LINE {
            return;
        }
        let added = self.editor.add_history_entry(line).unwrap_or(false);
        if let (true, Some(path)) = (added, &self.history) {
            // A history that cannot be written does not stop a conversation.
            let _ = self.editor.append_history(path);
        }
    }
}

/// Makes a folder that only its owner can read.
fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Watches whether the edited line is empty, which an interrupt does not tell.
struct Watcher {
    empty: Cell<bool>,
}

impl Default for Watcher {
    fn default() -> Self {
        Self { empty: Cell::new(true) }
    }
}

impl Hinter for Watcher {
    type Hint = String;

    fn hint(&self, line: &str, _: usize, _: &Context<'_>) -> Option<String> {
        self.empty.set(line.is_empty());
        None
    }
}

impl Completer for Watcher {
    type Candidate = String;
}

impl Highlighter for Watcher {}
impl Validator for Watcher {}
impl Helper for Watcher {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_lines_are_messages() {
        let mut lines = Lines::Plain(Box::new(&b"one\r\n\ntwo"[..]));
        assert!(!lines.is_terminal());
        let mut next = || lines.next().unwrap();
        assert_eq!(next(), Said::Message("one".into()));
        assert_eq!(next(), Said::Message(String::new()));
        assert_eq!(next(), Said::Message("two".into()));
        assert_eq!(next(), Said::End);
        let mut lines = Lines::Plain(Box::new(&b"caf\xe9\n"[..]));
        assert_eq!(lines.next().unwrap_err().exit().code(), 2);
    }
}
