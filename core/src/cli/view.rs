//! What a person sees of a run: the answer as it comes, a line for each tool call, notes.
//!
//! On a terminal the answer is shown as the model writes it, and a line says when some of it was taken back. Plain
//! text that went into a pipe cannot be taken back, so there it waits while tools are on offer until the answer is
//! complete. What is told about is decided here; how it is written, in `console`.

use super::calls::{arguments, duration, result, size};
use super::console::{Console, Style};
use super::escape;
use crate::agent::{AgentResponse, StreamEvent};
use crate::message::Outcome;
use crate::provider::StopReason;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Columns of a line that must not wrap.
const COLUMNS: usize = 76;
/// The frames of what turns while somebody waits.
const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// How much is told beside the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// Errors only.
    Quiet,
    /// Tool calls and what changed the run.
    Normal,
    /// Also reasoning, arguments, results and token counts.
    Verbose,
}

/// A call under way.
struct Running {
    call_id: Arc<str>,
    name: String,
    arguments: String,
    progress: Option<String>,
    since: Duration,
}

/// What is waited for.
#[derive(Clone, Copy)]
enum Waiting {
    Nothing,
    Model { since: Duration },
}

/// The view of one run.
pub(super) struct View<'a> {
    console: &'a mut Console,
    detail: Detail,
    /// Whether the answer waits until it is complete.
    hold: bool,
    running: Vec<Running>,
    waiting: Waiting,
    /// Whether text of the current attempt was shown.
    shown: bool,
    thinking: bool,
    now: Duration,
    frame: usize,
}

impl<'a> View<'a> {
    /// A view of a run that offers tools or does not.
    pub(super) fn new(console: &'a mut Console, detail: Detail, offers_tools: bool) -> Self {
        let hold = offers_tools && !console.out_is_terminal();
        Self {
            console,
            detail,
            hold,
            running: Vec::new(),
            waiting: Waiting::Nothing,
            shown: false,
            thinking: false,
            now: Duration::ZERO,
            frame: 0,
        }
    }

    /// Whether [`tick`](Self::tick) has something to move.
    pub(super) fn is_live(&self) -> bool {
        self.detail != Detail::Quiet && self.console.err_is_terminal()
    }

    /// Time passes, since the run started.
    pub(super) fn tick(&mut self, now: Duration) {
        self.now = now;
        self.frame = (self.frame + 1) % FRAMES.len();
        self.show_status();
    }

    /// Shows an event.
    ///
    /// # Errors
    /// The answer cannot be written.
    pub(super) fn event(&mut self, event: &StreamEvent, now: Duration) -> io::Result<()> {
        self.now = now;
        if self.thinking && !matches!(event, StreamEvent::ThinkingDelta { .. }) {
            self.thinking = false;
        }
        match event {
            StreamEvent::RunStarted { run_id } => self.verbose(|| format!("run {run_id}")),
            StreamEvent::Iteration { .. } => {
                self.waiting = Waiting::Model { since: now };
                self.show_status();
            }
            StreamEvent::TextDelta { text, .. } => {
                self.waiting = Waiting::Nothing;
                if !self.hold {
                    self.shown |= !text.trim().is_empty();
                    self.console.answer(text)?;
                }
            }
            StreamEvent::ThinkingDelta { text, .. } => self.thought(text),
            StreamEvent::TextDiscarded { .. } => self.discard()?,
            StreamEvent::ToolCallStarted { call_id, name, arguments: given, .. } => {
                self.waiting = Waiting::Nothing;
                self.verbose(|| format!("call {} {}", escape::line(name, 64), escape::line(given.get(), 2000)));
                self.running.push(Running {
                    call_id: Arc::clone(call_id),
                    name: escape::line(name, 64),
                    arguments: arguments(given.get()),
                    progress: None,
                    since: now,
                });
                self.show_status();
            }
            StreamEvent::ToolCallProgress { call_id, name, message } => {
                let message = escape::line(message, COLUMNS);
                if !self.is_live() {
                    self.note(Style::Dim, &format!("tool {}: {message}", escape::line(name, 64)));
                }
                if let Some(call) = self.running.iter_mut().find(|call| call.call_id == *call_id) {
                    call.progress = Some(message);
                }
                self.show_status();
            }
            StreamEvent::ToolCallFinished { call_id, name, result, outcome, duration_ms } => {
                let place = self.running.iter().position(|call| call.call_id == *call_id);
                let arguments = place.map(|place| self.running.remove(place).arguments).unwrap_or_default();
                self.finished_call(&escape::line(name, 64), &arguments, result, *outcome, *duration_ms);
                self.show_status();
            }
            StreamEvent::Usage { iteration, usage } => {
                let count = |tokens: Option<u64>| tokens.map_or("?".to_owned(), |tokens| tokens.to_string());
                let (input, output) = (count(usage.input_tokens), count(usage.output_tokens));
                self.verbose(|| format!("model call {iteration}: {input} tokens in, {output} out"));
            }
            StreamEvent::Finished { response } => self.finish(response)?,
            // The run's error comes as an error.
            StreamEvent::Failed { .. } => {}
        }
        Ok(())
    }

    /// Something happened beside the events of the stream.
    pub(super) fn aside(&mut self, text: &str) {
        self.note(Style::Dim, &escape::line(text, 300));
        self.show_status();
    }

    /// The run ended without an answer.
    pub(super) fn abandon(&mut self) {
        self.running.clear();
        self.waiting = Waiting::Nothing;
        self.console.clear_status();
        // The error is told either way.
        let _ = self.console.end_line();
    }

    fn thought(&mut self, text: &str) {
        if self.detail != Detail::Verbose {
            return;
        }
        if !self.thinking {
            self.note(Style::Dim, "reasoning:");
            self.thinking = true;
        }
        for line in text.split_inclusive('\n') {
            let line = escape::line(line.trim_end_matches(['\n', '\r']), 2000);
            if !line.trim().is_empty() {
                self.note(Style::Dim, &format!("  {line}"));
            }
        }
    }

    fn discard(&mut self) -> io::Result<()> {
        if self.shown {
            if self.console.out_is_terminal() {
                self.console.end_line()?;
            } else {
                self.console.answer("\n")?;
            }
            self.note(Style::Dim, "(the text above was taken back: it is not part of the answer)");
            self.shown = false;
        }
        Ok(())
    }

    fn finished_call(&mut self, name: &str, arguments: &str, text: &str, outcome: Outcome, took_ms: u64) {
        let took = duration(Duration::from_millis(took_ms));
        let call = if arguments.is_empty() { name.to_owned() } else { format!("{name} {arguments}") };
        let became = match outcome {
            Outcome::Ok => size(text.len()),
            Outcome::Error => format!("error: {}", result(text)),
            Outcome::Denied => "denied".to_owned(),
            Outcome::NotRun => "not run".to_owned(),
        };
        if self.console.err_is_terminal() {
            let (mark, style) = if outcome == Outcome::Ok { ("✓", Style::Good) } else { ("✗", Style::Bad) };
            let mark = self.console.paint(style, mark);
            let rest = self.console.paint(Style::Dim, &format!("· {became} · {took}"));
            self.note(Style::Plain, &format!("{mark} {call} {rest}"));
        } else {
            let word = if outcome == Outcome::Ok { "ok, " } else { "" };
            self.note(Style::Plain, &format!("tool {call}: {word}{became}, {took}"));
        }
        if self.detail == Detail::Verbose {
            for line in text.lines().take(20) {
                self.note(Style::Dim, &format!("  | {}", escape::line(line, 200)));
            }
        }
    }

    fn finish(&mut self, response: &AgentResponse) -> io::Result<()> {
        self.waiting = Waiting::Nothing;
        self.console.clear_status();
        if self.hold {
            self.console.answer(&response.text)?;
        }
        if self.console.out_is_terminal() {
            self.console.end_line()?;
        } else if !response.text.ends_with('\n') {
            self.console.answer("\n")?;
        }
        if response.failed {
            self.note(Style::Bad, "(a tool failed the same way twice; the text is its failure and not an answer)");
        }
        if response.stop_reason == StopReason::Length {
            self.note(Style::Bad, "(the answer may be cut: allow more with max_tokens in the configuration)");
        }
        let took = duration(Duration::from_millis(response.duration_ms));
        let tokens = match (response.usage.input_tokens, response.usage.output_tokens) {
            (Some(input), Some(output)) => format!(", {input} tokens in, {output} out"),
            _ => String::new(),
        };
        let (provider, model) = (escape::line(&response.provider, 64), escape::line(&response.model, 64));
        let (calls, tools) = (response.iterations, response.tools_called.len());
        self.verbose(|| format!("{provider}/{model}: {calls} model calls, {tools} tool calls, {took}{tokens}"));
        Ok(())
    }

    fn verbose(&mut self, line: impl FnOnce() -> String) {
        if self.detail == Detail::Verbose {
            self.note(Style::Dim, &line());
        }
    }

    fn note(&mut self, style: Style, line: &str) {
        if self.detail != Detail::Quiet {
            self.console.say(style, line);
        }
    }

    fn show_status(&mut self) {
        if !self.is_live() {
            return;
        }
        let frame = FRAMES.get(self.frame).copied().unwrap_or_default();
        let since = |start: Duration| duration(self.now.saturating_sub(start));
        let line = match (self.running.as_slice(), self.waiting) {
            ([], Waiting::Nothing) => return self.console.clear_status(),
            ([], Waiting::Model { since: start }) => format!("{frame} waiting for the model · {}", since(start)),
            ([call], _) => {
                let said = call.progress.as_ref().map(|message| format!(" · {message}")).unwrap_or_default();
                let elapsed = since(call.since);
                let head = format!("{frame} {} {}{said}", call.name, call.arguments);
                format!("{} · {elapsed}", escape::line(&head, COLUMNS - 12))
            }
            (calls @ [first, ..], _) => {
                let names: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
                let head = format!("{frame} {} calls: {}", calls.len(), names.join(", "));
                format!("{} · {}", escape::line(&head, COLUMNS - 12), since(first.since))
            }
        };
        self.console.status(&line);
    }
}

#[cfg(test)]
mod tests;
