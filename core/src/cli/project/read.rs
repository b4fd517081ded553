//! `file_read`: pages of a text file, or the lines that contain a text, in one file or in all files of a folder.
//!
//! Reads line by line with limits on the file, the line and the page. It says so when a file is no text, and never
//! guesses at encodings other than UTF-8.

use super::root::{Place, ProjectRoot};
use super::walk::{Ended, Flow, Found, Kind, walk};
use crate::limits;
use crate::tool::ToolError;
use schemars::JsonSchema;
use serde::Deserialize;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};

/// Largest file that is read, in bytes.
const MAX_FILE: u64 = 32 << 20;
/// Lines of a page when the model does not say.
const PAGE: u64 = 200;
/// Most lines of a page.
const MAX_PAGE: u64 = 2000;
/// Characters of a line that are shown.
const MAX_LINE: usize = 1000;
/// Bytes of a page.
const MAX_TEXT: usize = 64 << 10;
/// Largest file that is searched when a whole folder is, in bytes.
const MAX_SEARCHED: u64 = 4 << 20;
/// Bytes that one search reads.
const MAX_SEARCH: u64 = 256 << 20;
/// Bytes at the start in which a NUL tells that a file is no text.
const PROBE: usize = 8192;

/// What the model asks for.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Request {
    /// Path of the file, relative to the project, for example src/main.rs. With search also a folder; . is the whole
    /// project.
    path: String,
    /// First line to show, counted from 1. Default 1.
    #[schemars(range(min = 1))]
    offset: Option<u64>,
    /// Most lines to show, up to 2000. Default 200.
    #[schemars(range(min = 1))]
    limit: Option<u64>,
    /// Show only lines that contain this text, and count them.
    search: Option<String>,
}

/// Lines on their way to the model.
#[derive(Default)]
struct Page {
    text: String,
    /// Lines of the file so far.
    total: u64,
    /// Lines that match so far.
    matching: u64,
    shown: u64,
    first: u64,
    last: u64,
    full: bool,
}

/// Reads what is asked for.
///
/// # Errors
/// In words for the model: the path is refused, there is no such file, it is no text or too large.
pub(super) fn read(root: &ProjectRoot, request: &Request, given_up: &dyn Fn() -> bool) -> Result<String, ToolError> {
    let place = root.find(&request.path)?;
    let broken = |error| ToolError::internal(format!("cannot read {}", place.shown), error);
    // Opening a pipe would wait for its writer, so the kind of file is looked at first.
    let metadata = std::fs::metadata(&place.path).map_err(broken)?;
    if metadata.is_dir() {
        return match request.search.as_deref() {
            Some(wanted) => search(&place, wanted, request, given_up),
            None => list(&place),
        };
    }
    if !metadata.is_file() {
        return Err(ToolError::failed(format!("{}: this is no ordinary file", place.shown)));
    }
    if metadata.len() > MAX_FILE {
        let (size, limit) = (bytes(metadata.len()), bytes(MAX_FILE));
        return Err(ToolError::failed(format!("{}: the file has {size}, the limit is {limit}", place.shown)));
    }
    let mut reader = BufReader::with_capacity(PROBE, File::open(&place.path).map_err(broken)?.take(MAX_FILE));
    if reader.fill_buf().map_err(broken)?.contains(&0) {
        return Ok(format!("{}: a binary file of {}; its bytes are not shown", place.shown, bytes(metadata.len())));
    }
    let mut page = Page::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line).map_err(broken)? == 0 {
            break;
        }
        if page.total.is_multiple_of(1024) && given_up() {
            return Err(ToolError::failed("reading was given up"));
        }
        page.take(&line, request, "");
    }
    Ok(page.finish(&place, request))
}

impl Page {
    /// Takes the next line of a file; the name of the file is shown unless it is empty.
    fn take(&mut self, line: &[u8], request: &Request, file: &str) {
        self.total += 1;
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end_matches(['\n', '\r']);
        if request.search.as_deref().is_some_and(|wanted| !contains(text, wanted)) {
            return;
        }
        self.matching += 1;
        let number = if request.search.is_some() { self.matching } else { self.total };
        let limit = request.limit.unwrap_or(PAGE).clamp(1, MAX_PAGE);
        if number < request.offset.unwrap_or(1).max(1) || self.shown >= limit || self.full {
            return;
        }
        let shown = limits::prefix(text, MAX_LINE);
        if self.text.len() + shown.len() > MAX_TEXT {
            self.full = true;
            return;
        }
        if self.shown == 0 {
            self.first = number;
        }
        self.last = number;
        self.shown += 1;
        let cut = if shown.len() < text.len() { " [line cut]" } else { "" };
        let colon = if file.is_empty() { "" } else { ":" };
        self.text.push_str(&format!("{file}{colon}{}: {shown}{cut}\n", self.total));
    }

    fn finish(self, place: &Place, request: &Request) -> String {
        let Self { mut text, total, matching, shown, first, last, .. } = self;
        let name = &place.shown;
        let (of, what) = match &request.search {
            Some(wanted) => {
                let verb = if matching == 1 { "contains" } else { "contain" };
                (matching, format!("{name}: {matching} of {total} lines {verb} \"{wanted}\""))
            }
            None => (total, format!("{name}: {total} {}", if total == 1 { "line" } else { "lines" })),
        };
        let head = match (of, shown) {
            (0, _) => format!("{what}\n"),
            (_, 0) => format!("{what}; none from number {} on\n", request.offset.unwrap_or(1)),
            (of, shown) if shown == of => format!("{what}\n"),
            (_, _) => format!("{what}, here {first} to {last}\n"),
        };
        text.insert_str(0, &head);
        if shown > 0 && last < of {
            text.push_str(&format!("[there is more: ask with offset {}]\n", last + 1));
        }
        text
    }
}

/// Whether a line contains a text, letters in any case when the text has no capital.
fn contains(line: &str, wanted: &str) -> bool {
    match wanted.chars().any(char::is_uppercase) {
        true => line.contains(wanted),
        false => line.contains(wanted) || line.to_lowercase().contains(wanted),
    }
}

/// Lines of all text files below a folder.
fn search(place: &Place, wanted: &str, request: &Request, given_up: &dyn Fn() -> bool) -> Result<String, ToolError> {
    let mut page = Page::default();
    let mut files = 0_u64;
    let mut left = MAX_SEARCH;
    let mut stopped = false;
    let ended = walk(&place.path, &place.shown, given_up, &mut |found| {
        let Kind::File(size) = found.kind else { return Flow::On };
        if size > left {
            stopped = true;
            return Flow::Stop;
        }
        left -= size;
        let before = page.matching;
        // A file that cannot be read or is no text has no lines that contain anything.
        if size <= MAX_SEARCHED {
            let _ = search_file(found, &mut page, request);
        }
        files += u64::from(page.matching > before);
        Flow::On
    })?;
    let shown = if place.shown.is_empty() { "." } else { &place.shown };
    let verb = if page.matching == 1 { "line contains" } else { "lines contain" };
    let mut text = format!("{shown}: {} {verb} \"{wanted}\", in {files} files\n{}", page.matching, page.text);
    if page.shown > 0 && page.last < page.matching {
        text.push_str(&format!("[there is more: ask with offset {}]\n", page.last + 1));
    }
    if ended == Ended::Cut || stopped {
        text.push_str("[the folder is large and was not searched whole: name a smaller one]\n");
    }
    Ok(text)
}

fn search_file(found: &Found, page: &mut Page, request: &Request) -> std::io::Result<()> {
    let mut reader = BufReader::with_capacity(PROBE, File::open(&found.path)?.take(MAX_SEARCHED));
    if reader.fill_buf()?.contains(&0) {
        return Ok(());
    }
    page.total = 0;
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        page.take(&line, request, &found.shown);
        line.clear();
    }
    Ok(())
}

/// What is in a folder that was asked for as a file.
fn list(place: &Place) -> Result<String, ToolError> {
    let broken = |error| ToolError::internal(format!("cannot list {}", place.shown), error);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&place.path).map_err(broken)?.take(MAX_PAGE as usize) {
        let entry = entry.map_err(broken)?;
        if !super::root::is_secret(&entry.file_name()) {
            let slash = if entry.file_type().is_ok_and(|kind| kind.is_dir()) { "/" } else { "" };
            names.push(format!("{}{slash}", entry.file_name().to_string_lossy()));
        }
    }
    names.sort();
    let shown = if place.shown.is_empty() { "." } else { &place.shown };
    Ok(format!("{shown} is a folder with {} entries\n{}\n", names.len(), names.join("\n")))
}

/// A size for people.
pub(super) fn bytes(size: u64) -> String {
    const KIB: u64 = 1024;
    const MIB: u64 = 1024 * KIB;
    match size {
        1 => "1 byte".to_owned(),
        0..KIB => format!("{size} bytes"),
        KIB..MIB => format!("{:.1} KiB", size as f64 / KIB as f64),
        MIB.. => format!("{:.1} MiB", size as f64 / MIB as f64),
    }
}
