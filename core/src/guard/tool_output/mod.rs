//! Cleans what a tool returned: hidden characters are taken out, secrets and on request personal data replaced, and
//! what looks like an order to the model is flagged or replaced.
//!
//! JSON stays JSON: only the texts in it are looked at, decoded, and only the bytes of what is replaced change. Nothing
//! here refuses a result, and nothing decides what a flag leads to.

mod fence;
mod json;

pub use fence::fence;

use super::secret::{Secret, secrets};
use super::{Finding, GuardKind};
use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

/// Score from which an order counts.
const SURE: u8 = 50;
/// Score from which personal data counts.
const LIKELY: u8 = 40;
/// A replacement can bring together what then is found again; after so many rounds the rest stays, flagged.
const ROUNDS: usize = 4;
/// Different flags that are told.
const MOST_FLAGS: usize = 100;

/// What happens to text that looks like an order to the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Orders {
    /// It stays and is flagged: an application may well ask for a page about such orders. The default.
    #[default]
    Flag,
    /// It becomes `[REDACTED]`, and is flagged.
    Redact,
}

/// How a result is cleaned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cleaning {
    /// What happens to text that looks like an order to the model.
    pub injection: Orders,
    /// The score from which it counts, 0 to 100. Default 50.
    pub threshold: u8,
    /// Whether secrets become `[REDACTED_…]` with their kind. Default yes.
    pub secrets: bool,
    /// Whether personal data becomes `[REDACTED_…]` with its kind. Default no.
    pub personal: bool,
}

impl Default for Cleaning {
    fn default() -> Self {
        Self { injection: Orders::Flag, threshold: SURE, secrets: true, personal: false }
    }
}

/// A cleaned result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cleaned<'a> {
    /// The text that the model may see.
    pub text: Cow<'a, str>,
    /// What was replaced: each order once, secrets and personal data as often as they were there.
    pub redacted: Vec<Redaction>,
    /// What looks like an order, each once, whether it was replaced or not; at most 100.
    pub flags: Vec<Flag>,
}

/// Something that was replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redaction {
    /// The words of an order, `secret:` with the kind, or `pii:` with the kind; never the value.
    pub pattern: String,
}

/// Something that looks like an order to the model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Flag {
    /// The guard that found it.
    pub guard: GuardKind,
    /// Its rule.
    pub rule: Cow<'static, str>,
    /// The words, as a message for people names them.
    pub pattern: Cow<'static, str>,
}

/// Cleans a result. Takes time in proportion to its length.
///
/// ```
/// use cheliped::guard::tool_output::{Cleaning, clean};
/// let cleaned = clean("\u{1b}[31merror\u{1b}[0m: not found", &Cleaning::default());
/// assert_eq!(cleaned.text, "error: not found");
/// assert!(cleaned.flags.is_empty());
/// ```
pub fn clean<'a>(text: &'a str, rules: &Cleaning) -> Cleaned<'a> {
    clean_with(text, rules, &DETECTORS)
}

/// The text of a result that came as bytes: what is no UTF-8 becomes U+FFFD, the rest stays.
///
/// ```
/// use cheliped::guard::tool_output::text_of;
/// assert_eq!(text_of(b"caf\xe9 42"), "caf\u{fffd} 42");
/// ```
pub fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// Who looks at a text.
struct Detectors {
    strip: fn(&str) -> Cow<'_, str>,
    /// Orders, and personal data if that is asked for.
    scan: fn(&str, bool) -> Vec<Finding>,
    secrets: fn(&str) -> Vec<Secret>,
}

const DETECTORS: Detectors = Detectors { strip: super::unicode::strip, scan, secrets };

fn scan(text: &str, with_personal: bool) -> Vec<Finding> {
    let mut found = super::scan(text);
    found.retain(|finding| match finding.guard {
        GuardKind::Injection | GuardKind::RoleSwitch => true,
        GuardKind::PiiDetection => with_personal,
        _ => false,
    });
    found
}

fn clean_with<'a>(text: &'a str, rules: &Cleaning, detectors: &Detectors) -> Cleaned<'a> {
    let mut desk = Desk { rules, detectors, redacted: Vec::new(), flags: Vec::new(), told: HashSet::new() };
    // A byte order mark is no part of a document.
    let document = text.trim_start_matches('\u{feff}');
    let text = if json::is_json(document) {
        json::clean(document, &mut desk)
    } else {
        match (detectors.strip)(text) {
            // Colours do not hide a document.
            Cow::Owned(stripped) if json::is_json(&stripped) => Cow::Owned(json::clean(&stripped, &mut desk).into()),
            stripped => desk.replace_all(stripped),
        }
    };
    Cleaned { text, redacted: desk.redacted, flags: desk.flags }
}

/// Where the pieces of one result are cleaned.
struct Desk<'r> {
    rules: &'r Cleaning,
    detectors: &'r Detectors,
    redacted: Vec<Redaction>,
    flags: Vec<Flag>,
    /// Orders that were told as replaced.
    told: HashSet<Cow<'static, str>>,
}

/// What takes the place of some bytes. Where two meet in the same bytes, the earlier in this list stays.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Marker {
    Order,
    Secret(&'static str),
    Personal(Cow<'static, str>),
    /// Nothing: the bytes go.
    Nothing,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Edit {
    span: Range<usize>,
    marker: Marker,
}

impl Desk<'_> {
    /// Replaces what has to be replaced in a text that stands alone.
    fn replace_all<'a>(&mut self, mut text: Cow<'a, str>) -> Cow<'a, str> {
        for _ in 0..ROUNDS {
            let edits = self.look(&text, None);
            match apply(&text, &edits) {
                Some(edited) => text = Cow::Owned(edited),
                None => break,
            }
        }
        text
    }

    /// What has to be replaced in a text, in order and apart from each other. `key` is what the text is called in an
    /// object: it may tell that the text is a secret.
    fn look(&mut self, text: &str, key: Option<&str>) -> Vec<Edit> {
        let mut edits = Vec::new();
        for finding in (self.detectors.scan)(text, self.rules.personal) {
            if finding.guard == GuardKind::PiiDetection {
                if finding.score >= LIKELY {
                    edits.push(Edit { span: finding.span, marker: Marker::Personal(finding.pattern) });
                }
            } else if finding.score >= self.rules.threshold {
                if self.rules.injection == Orders::Redact {
                    edits.push(Edit { span: finding.span.clone(), marker: Marker::Order });
                    if self.told.insert(finding.pattern.clone()) {
                        self.redacted.push(Redaction { pattern: finding.pattern.to_string() });
                    }
                }
                self.flag(finding);
            }
        }
        if self.rules.secrets {
            self.look_for_secrets(text, key, &mut edits);
        }
        // What was replaced already is not told again.
        edits.retain(|edit| text.get(edit.span.clone()).is_some_and(|now| !now.is_empty() && !is_marker(now)));
        for edit in &edits {
            let pattern = match &edit.marker {
                Marker::Secret(kind) => format!("secret:{kind}"),
                Marker::Personal(kind) => format!("pii:{kind}"),
                Marker::Order | Marker::Nothing => continue,
            };
            self.redacted.push(Redaction { pattern });
        }
        merged(edits)
    }

    fn look_for_secrets(&self, text: &str, key: Option<&str>, edits: &mut Vec<Edit>) {
        let quoted = text.contains('"');
        if key.is_none() || quoted {
            edits.extend((self.detectors.secrets)(text).into_iter().map(Edit::from));
        }
        let Some(key) = key else { return };
        let before = format!("\"{key}\": \"");
        // A quote in the text must not end it.
        let text = if quoted { Cow::Owned(text.replace('"', "_")) } else { Cow::Borrowed(text) };
        let whole = format!("{before}{text}\"");
        for secret in (self.detectors.secrets)(&whole) {
            let mut edit = Edit::from(secret);
            edit.span.start = edit.span.start.saturating_sub(before.len());
            edit.span.end = edit.span.end.saturating_sub(before.len()).min(text.len());
            edits.push(edit);
        }
    }

    /// Flags what looks like an order in a text that stays as it is.
    fn look_only(&mut self, text: &str) {
        for finding in (self.detectors.scan)(text, false) {
            if finding.score >= self.rules.threshold {
                self.flag(finding);
            }
        }
    }

    fn flag(&mut self, finding: Finding) {
        let flag = Flag { guard: finding.guard, rule: finding.rule, pattern: finding.pattern };
        if self.flags.len() < MOST_FLAGS && !self.flags.contains(&flag) {
            self.flags.push(flag);
        }
    }
}

impl From<Secret> for Edit {
    fn from(secret: Secret) -> Self {
        Self { span: secret.span, marker: Marker::Secret(secret.kind) }
    }
}

impl Marker {
    fn text(&self) -> Cow<'static, str> {
        let kind: &str = match self {
            Self::Order => return "[REDACTED]".into(),
            Self::Nothing => return "".into(),
            Self::Secret(kind) => kind,
            Self::Personal(kind) => kind,
        };
        let kind: String =
            kind.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
        format!("[REDACTED_{kind}]").into()
    }
}

/// Whether a text is all a marker, with its brackets or without.
fn is_marker(text: &str) -> bool {
    let name = text.trim_start_matches('[').trim_end_matches(']');
    name.starts_with("REDACTED") && name.bytes().all(|byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_'))
}

/// Brings together what overlaps, and orders that touch.
fn merged(mut edits: Vec<Edit>) -> Vec<Edit> {
    edits.sort_by(|one, other| (one.span.start, &one.marker).cmp(&(other.span.start, &other.marker)));
    let mut merged: Vec<Edit> = Vec::with_capacity(edits.len());
    for edit in edits {
        match merged.last_mut() {
            Some(last)
                if edit.span.start < last.span.end
                    || edit.span.start == last.span.end
                        && (&last.marker, &edit.marker) == (&Marker::Order, &Marker::Order) =>
            {
                last.span.end = last.span.end.max(edit.span.end);
                last.marker = last.marker.clone().min(edit.marker);
            }
            _ => merged.push(edit),
        }
    }
    merged
}

/// The text with the edits, which stand in order and apart; `None` without any.
fn apply(text: &str, edits: &[Edit]) -> Option<String> {
    if edits.is_empty() {
        return None;
    }
    let mut edited = String::with_capacity(text.len());
    let mut rest = 0;
    for edit in edits {
        edited.push_str(text.get(rest..edit.span.start).unwrap_or_default());
        edited.push_str(&edit.marker.text());
        rest = edit.span.end;
    }
    edited.push_str(text.get(rest..).unwrap_or_default());
    Some(edited)
}

#[cfg(test)]
mod tests;
