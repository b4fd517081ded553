//! The code blocks of the README: what a reader would type is run as it stands there.
//!
//! Rust blocks are documentation tests of `tests/rust`; blocks of Python and Node run with their packages. Here the
//! shell blocks run: each `cargo run …` and
//! `cheliped …` line must succeed. Lines that install, clone, need a key or run these very tasks are not run.

use super::Outcome;
use crate::progress::Ticker;
use crate::workspace::{self, cargo};
use std::process::Command;

/// First words of commands that are not run from here, because they would fetch, install, or run this test again.
const NOT_RUN: &[&str] = &[
    "git",
    "cd",
    "cargo add",
    "cargo install",
    "cargo xtask",
    "cargo new",
    "rustup",
    "export",
    "pip",
    "npm",
    "ollama",
];

/// The blocks of the README in a language.
pub(super) fn code(language: &str) -> Vec<String> {
    let text = std::fs::read_to_string(workspace::root().join("README.md")).unwrap_or_default();
    blocks(&text).into_iter().filter(|(found, _)| *found == language).map(|(_, block)| block.to_owned()).collect()
}

pub(super) fn check(ticker: &mut Ticker<'_>) -> Outcome {
    let path = workspace::root().join("README.md");
    let Ok(text) = std::fs::read_to_string(&path) else {
        return Outcome::Failed(format!("cannot read {}", path.display()));
    };
    let mut ran = 0;
    for (language, block) in blocks(&text) {
        match language {
            "rust" if !includes_readme() => {
                return Outcome::Failed(
                    "the README has Rust blocks, but tests/rust/src/lib.rs does not include it".into(),
                );
            }
            "sh" | "console" | "bash" => {
                for line in commands(block) {
                    match run(ticker, &line) {
                        Some(Outcome::Failed(output)) => return Outcome::Failed(output),
                        Some(Outcome::Passed(_) | Outcome::Skipped(_)) => ran += 1,
                        None => {}
                    }
                }
            }
            _ => {}
        }
    }
    Outcome::Passed(format!("{ran} commands"))
}

fn includes_readme() -> bool {
    let library = std::fs::read_to_string(workspace::root().join("tests/rust/src/lib.rs"));
    library.is_ok_and(|text| text.contains("README.md"))
}

/// The fenced blocks with their languages.
fn blocks(text: &str) -> Vec<(&str, &str)> {
    let mut blocks = Vec::new();
    let mut rest = text;
    while let Some((_, opened)) = rest.split_once("\n```") {
        let Some((language, body)) = opened.split_once('\n') else { break };
        let Some((block, after)) = body.split_once("\n```") else { break };
        blocks.push((language.trim().split(',').next().unwrap_or_default(), block));
        rest = after;
    }
    blocks
}

/// The commands of a block, joined over line ends with a backslash. In a block with prompts only lines with one count.
fn commands(block: &str) -> Vec<String> {
    let joined = block.replace("\\\n", " ");
    let prompts = joined.lines().any(|line| line.starts_with("$ "));
    joined
        .lines()
        .filter(|line| !prompts || line.starts_with("$ "))
        .map(|line| line.trim_start_matches("$ ").split(" #").next().unwrap_or_default().trim().to_owned())
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect()
}

/// Runs a command line of the README; `None` when it is one that is not run.
fn run(ticker: &mut Ticker<'_>, line: &str) -> Option<Outcome> {
    // A test has no keys, so of the command's lines only those of the offline model are run.
    let asks_a_real_model = line.starts_with("cheliped ") && !line.contains("--provider offline");
    if NOT_RUN.iter().any(|start| line.starts_with(start)) || asks_a_real_model {
        return None;
    }
    let Some(words) = words(line) else {
        return Some(Outcome::Failed(format!("README: cannot read the command {line:?}")));
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["cargo", arguments @ ..] => Some(ticker.run(&mut cargo(arguments))),
        ["cheliped", arguments @ ..] => {
            let program = workspace::program("cheliped");
            Some(ticker.run(Command::new(program).args(arguments).current_dir(workspace::root())))
        }
        _ => Some(Outcome::Failed(format!("README: nobody knows how to test the command {line:?}"))),
    }
}

/// Splits a command line at blanks outside quotes; `None` when a quote is open at its end.
fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for char in line.chars() {
        match (quote, char) {
            (Some(open), char) if char == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(char);
                word.get_or_insert_default();
            }
            (None, char) if char.is_whitespace() => words.extend(word.take()),
            (Some(_) | None, char) => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_commands_are_found() {
        let text = "a\n```sh\ncargo run \\\n  x # why\n\n# no\n```\nb\n```rust,no_run\nlet a = 1;\n```\n";
        let found = blocks(text);
        assert_eq!(found.len(), 2);
        assert_eq!(commands(found[0].1), ["cargo run    x"]);
        assert_eq!(found[1], ("rust", "let a = 1;"));
        assert_eq!(commands("$ one\noutput\n$ two"), ["one", "two"]);
    }

    #[test]
    fn words_keep_quotes_together() {
        assert_eq!(words("cheliped agent \"how many 'x'?\" ''").unwrap(), ["cheliped", "agent", "how many 'x'?", ""]);
        assert_eq!(words("a \"b"), None);
    }
}
