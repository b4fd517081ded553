//! Signals, and what only a terminal gets. Tests that need a terminal use `script`, and are left out without it.

use crate::{Ended, Stage};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

const SLOW: &str = r#"[{"text": "late", "latency_ms": 600000}]"#;

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn ctrl_c_ends_a_slow_run_at_once() {
    let stage = Stage::new(SLOW);
    let mut fastest = Duration::MAX;
    // A busy machine may delay one of them.
    for _ in 0..5 {
        let mut child = stage.command(&["agent", "--json", "-p", "scripted:script.json", "hello"]).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("\"iteration\"")));
        let sent = Instant::now();
        interrupt(&child);
        let last = lines.map(Result::unwrap).last().unwrap();
        let output = child.wait_with_output().unwrap();
        fastest = fastest.min(sent.elapsed());
        let ended = Ended::from(output).expect(130);
        assert!(last.contains("\"failed\"") && last.contains("\"cancelled\""), "{last}");
        assert!(ended.err.contains("interrupted"), "{}", ended.err);
        if fastest < Duration::from_millis(200) {
            return;
        }
    }
    panic!("the fastest of five runs took {fastest:?} to end");
}

#[test]
fn ctrl_c_while_a_piped_chat_waits_ends_it() {
    let stage = Stage::new(r#"[{"text": "one"}, {"text": "two"}]"#);
    let mut child = stage.command(&["chat", "-p", "scripted:script.json"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"first\n").unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "one");
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

/// The command on a terminal of its own.
struct Terminal {
    child: Child,
    output: mpsc::Receiver<Vec<u8>>,
    seen: String,
}

impl Terminal {
    /// `None` when there is no `script` that takes a command.
    fn open(stage: &Stage, arguments: &str, variables: &[(&str, &str)]) -> Option<Self> {
        let works = Command::new("script").args(["-qec", "true", "/dev/null"]).stdin(Stdio::null()).output();
        if !works.is_ok_and(|output| output.status.success()) {
            println!("left out: no usable `script` command");
            return None;
        }
        let line = format!("{} {arguments}", env!("CARGO_BIN_EXE_cheliped"));
        let mut child = Command::new("script")
            .args(["-qec", &line, "/dev/null"])
            .current_dir(stage.path())
            .env_clear()
            .envs([("PATH", std::env::var("PATH").unwrap()), ("TERM", "xterm".into()), ("SHELL", "/bin/sh".into())])
            .env("HOME", stage.path().join("home"))
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = child.stdout.take().unwrap();
        let (sender, output) = mpsc::channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = out.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        Some(Self { child, output, seen: String::new() })
    }

    /// Waits until the screen has shown this, after what was waited for before.
    #[track_caller]
    fn wait_for(&mut self, text: &str) {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(place) = self.seen.find(text) {
                self.seen.drain(..place + text.len());
                return;
            }
            // A moving status line must not prolong the wait.
            let left = end.saturating_duration_since(Instant::now());
            let Ok(bytes) = self.output.recv_timeout(left) else {
                panic!("{text:?} did not come; there is {:?}", self.seen);
            };
            self.seen.push_str(&String::from_utf8_lossy(&bytes));
        }
    }

    fn type_in(&mut self, keys: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(keys.as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    /// Sends Ctrl-C's signal to the command itself. A key typed while the terminal changes its mode would be taken for a
    /// part of the next line.
    fn interrupt(&self) {
        let mut id = self.child.id();
        // `script` runs a shell, which may run the command as its child.
        while let Some(child) = first_child(id) {
            id = child;
        }
        let status = Command::new("sh").args(["-c", &format!("kill -INT {id}")]).status();
        assert!(status.unwrap().success());
    }

    /// The exit code and the rest of the screen.
    fn end(mut self) -> (i32, String) {
        while let Ok(bytes) = self.output.recv_timeout(Duration::from_secs(60)) {
            self.seen.push_str(&String::from_utf8_lossy(&bytes));
        }
        (self.child.wait().unwrap().code().unwrap(), self.seen)
    }
}

fn first_child(id: u32) -> Option<u32> {
    let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).ok()?;
    children.split_whitespace().next()?.parse().ok()
}

#[test]
fn a_terminal_sees_progress_and_is_not_moved_by_the_model() {
    let script = r#"[
        {"text": "I look.", "calls": [{"name": "project_info", "arguments": {}}]},
        {"text": "a\u001b[2Jb\u009b1mc"}
    ]"#;
    for (variables, colours) in [(&[][..], true), (&[("NO_COLOR", "1")][..], false)] {
        let stage = Stage::new(script);
        let Some(terminal) = Terminal::open(&stage, "agent -p scripted:script.json hello", variables) else { return };
        let (code, screen) = terminal.end();
        assert_eq!(code, 0, "{screen}");
        assert!(screen.contains("a\\u{1b}[2Jb\\u{9b}1mc"), "{screen:?}");
        assert!(!screen.contains("\x1b[2J") && !screen.contains('\u{9b}'), "{screen:?}");
        assert!(screen.contains("✓") && screen.contains("project_info"), "{screen:?}");
        assert!(screen.contains("taken back"), "{screen:?}");
        assert_eq!(screen.contains("\x1b[32m"), colours, "{screen:?}");
    }
}

#[test]
fn a_chat_is_edited_remembered_and_interrupted() {
    let stage =
        Stage::new(r#"[{"text": "answer one"}, {"text": "late", "latency_ms": 600000}, {"text": "answer three"}]"#);
    let Some(mut terminal) = Terminal::open(&stage, "chat -p scripted:script.json", &[]) else { return };
    terminal.wait_for("> ");
    terminal.type_in("firsr\x7ft\r");
    terminal.wait_for("answer one");
    terminal.wait_for("> ");
    terminal.type_in("second\r");
    terminal.wait_for("waiting for the model");
    terminal.interrupt();
    terminal.wait_for("(stopped)");
    terminal.wait_for("> ");
    terminal.type_in("third\r");
    terminal.wait_for("answer three");
    terminal.wait_for("> ");
    terminal.type_in("\x03");
    terminal.wait_for("Ctrl-C again");
    terminal.wait_for("> ");
    terminal.type_in("\x03");
    assert_eq!(terminal.end().0, 130);
    let history = std::fs::read_to_string(stage.path().join("home/.local/share/cheliped/chat_history")).unwrap();
    assert!(history.ends_with("first\nsecond\nthird\n"), "{history:?}");
}

#[test]
fn ctrl_d_ends_a_chat_and_no_history_leaves_none() {
    let stage = Stage::new(r#"[{"text": "one"}]"#);
    let Some(mut terminal) = Terminal::open(&stage, "chat --no-history -p scripted:script.json", &[]) else { return };
    terminal.wait_for("> ");
    terminal.type_in("hello\r");
    terminal.wait_for("one");
    terminal.wait_for("> ");
    terminal.type_in("\x04");
    assert_eq!(terminal.end().0, 0);
    assert!(!stage.path().join("home").exists());
}
