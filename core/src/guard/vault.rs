//! Placeholders for personal data that lead back to it: what goes out has names instead of values, what comes back gets
//! the values again.
//!
//! One value has one name for as long as the vault lives, which is in memory only.

use super::PersonalSort;
use aho_corasick::{AhoCorasick, MatchKind};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// Values that one vault keeps; what is more is redacted for good.
const MAX_VALUES: usize = 10_000;
/// Bytes of the longest placeholder: `[CREDIT_CARD_10000]`, with room for sorts to come.
const LONGEST: usize = 40;

/// Values and their names.
///
/// ```
/// use cheliped::guard::Vault;
/// let mut vault = Vault::default();
/// let hidden = vault.hide("mail ana@example.com", &[(5..20, "email")]);
/// assert_eq!(hidden, "mail [EMAIL_1]");
/// assert_eq!(vault.restore("Sent to [EMAIL_1]."), "Sent to ana@example.com.");
/// ```
#[derive(Clone, Default)]
pub struct Vault {
    names: HashMap<Box<str>, Box<str>>,
    values: HashMap<Box<str>, Box<str>>,
    /// The last number of each sort.
    counts: HashMap<Box<str>, usize>,
}

impl Vault {
    /// Puts names in place of the spans, which are in order, do not overlap, and carry the sort of value.
    pub fn hide(&mut self, text: &str, spans: &[(Range<usize>, &str)]) -> String {
        let mut hidden = String::with_capacity(text.len());
        let mut at = 0;
        for (span, sort) in spans {
            let Some(value) = text.get(span.clone()).filter(|value| !value.is_empty() && span.start >= at) else {
                continue;
            };
            hidden.push_str(text.get(at..span.start).unwrap_or_default());
            hidden.push_str(&self.name(value, sort, text));
            at = span.end;
        }
        hidden.push_str(text.get(at..).unwrap_or_default());
        hidden
    }

    /// Puts names in place of every value that is known; of values that begin at one place, the longest counts.
    pub fn hide_known<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.is_empty() {
            return Cow::Borrowed(text);
        }
        let (values, names): (Vec<&str>, Vec<&str>) =
            self.names.iter().map(|(value, name)| (&**value, &**name)).unzip();
        match AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(values) {
            Ok(search) => Cow::Owned(search.replace_all(text, &names)),
            // Only values of gigabytes cannot be looked for; they are in no text that a run may hold.
            Err(_) => Cow::Borrowed(text),
        }
    }

    /// The first name in a text that looks like one of a vault and leads to no value of this one: values are in memory
    /// only, so a run that goes on in another process has none.
    ///
    /// ```
    /// use cheliped::guard::Vault;
    /// assert_eq!(Vault::default().unknown("to [EMAIL_3], see [1]"), Some("[EMAIL_3]"));
    /// ```
    pub fn unknown<'a>(&self, text: &'a str) -> Option<&'a str> {
        let mut rest = text;
        while let Some(open) = rest.find('[') {
            let from = rest.get(open..).unwrap_or_default();
            let name = from.find(']').filter(|end| *end < LONGEST).and_then(|end| from.get(..=end));
            if let Some(name) = name.filter(|name| self.is_name(name) && !self.values.contains_key(*name)) {
                return Some(name);
            }
            rest = from.get(1..).unwrap_or_default();
        }
        None
    }

    /// Whether something is written as names are: a sort in capitals and a number.
    fn is_name(&self, text: &str) -> bool {
        let Some(inside) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) else { return false };
        let Some((sort, number)) = inside.rsplit_once('_') else { return false };
        let known = PersonalSort::ALL.iter().any(|known| known.as_str().eq_ignore_ascii_case(sort));
        (known || self.counts.contains_key(sort))
            && sort.bytes().all(|byte| !byte.is_ascii_lowercase())
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
    }

    /// The name of a value. `text` is what it stands in.
    pub fn name(&mut self, value: &str, sort: &str, text: &str) -> String {
        if let Some(name) = self.names.get(value) {
            return name.to_string();
        }
        let sort = sort.to_uppercase();
        if self.names.len() >= MAX_VALUES {
            return format!("[REDACTED_{sort}]");
        }
        let count = self.counts.entry(sort.as_str().into()).or_default();
        let name = loop {
            *count += 1;
            let name = format!("[{sort}_{count}]");
            // Whoever writes a name must not be given the value of somebody else.
            if !text.contains(&name) {
                break name;
            }
        };
        self.names.insert(value.into(), name.as_str().into());
        self.values.insert(name.as_str().into(), value.into());
        name
    }

    /// Whether nothing was hidden.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Puts the values back in place of their names.
    pub fn restore<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.is_empty() || !text.contains('[') {
            return Cow::Borrowed(text);
        }
        let mut restored = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(open) = rest.find('[') {
            let (before, from) = rest.split_at(open);
            restored.push_str(before);
            let name = from.find(']').filter(|end| *end < LONGEST).and_then(|end| from.get(..=end));
            match name.and_then(|name| Some((name, self.values.get(name)?))) {
                Some((name, value)) => {
                    restored.push_str(value);
                    rest = from.get(name.len()..).unwrap_or_default();
                }
                None => {
                    restored.push('[');
                    rest = from.get(1..).unwrap_or_default();
                }
            }
        }
        restored.push_str(rest);
        Cow::Owned(restored)
    }
}

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vault").field("values", &self.values.len()).finish()
    }
}

/// Puts values back into a text that comes in pieces: the same text however it is cut.
#[derive(Debug, Default)]
pub struct Restorer {
    held: String,
}

impl Restorer {
    /// Takes a piece and gives what can be shown now.
    pub fn push(&mut self, piece: &str, vault: &Vault) -> String {
        self.held.push_str(piece);
        // A name that is not closed yet may go on in the next piece.
        let open = self.held.rfind('[').filter(|open| self.held.len() - open < LONGEST);
        let keep =
            open.filter(|open| !self.held.get(*open..).unwrap_or_default().contains(']')).unwrap_or(self.held.len());
        let rest = self.held.split_off(keep);
        let ready = std::mem::replace(&mut self.held, rest);
        vault.restore(&ready).into_owned()
    }

    /// The text is over: gives what was held back.
    pub fn finish(&mut self) -> String {
        std::mem::take(&mut self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vault() -> Vault {
        let mut vault = Vault::default();
        vault.hide("a@b.cd e@f.gh 4111", &[(0..6, "email"), (7..13, "email"), (14..18, "credit_card")]);
        vault
    }

    #[test]
    fn one_value_has_one_name() {
        let mut vault = vault();
        assert_eq!(vault.hide("e@f.gh and x@y.zz", &[(0..6, "email"), (11..17, "email")]), "[EMAIL_2] and [EMAIL_3]");
        assert_eq!(vault.hide_known("to a@b.cd"), "to [EMAIL_1]");
        assert_eq!(vault.restore("[EMAIL_3], [EMAIL_9], [[EMAIL_1]]"), "x@y.zz, [EMAIL_9], [a@b.cd]");
        vault.hide("xa@b.cd", &[(0..7, "email")]);
        assert_eq!(vault.hide_known("xa@b.cd, a@b.cd"), "[EMAIL_4], [EMAIL_1]");
    }

    #[test]
    fn names_without_a_value_are_told() {
        let vault = vault();
        for (text, unknown) in [
            ("to [EMAIL_1] and [EMAIL_7]", Some("[EMAIL_7]")),
            ("[[CREDIT_CARD_2]", Some("[CREDIT_CARD_2]")),
            ("[EMAIL_1], [NOTE_1], [email_9], [EMAIL_], [EMAIL_x]", None),
        ] {
            assert_eq!(vault.unknown(text), unknown, "{text}");
        }
    }

    #[test]
    fn a_name_that_the_text_holds_is_not_given_away() {
        let mut vault = Vault::default();
        assert_eq!(vault.hide("[EMAIL_1] a@b.cd", &[(10..16, "email")]), "[EMAIL_1] [EMAIL_2]");
    }

    #[test]
    fn nothing_is_shown_in_debug() {
        assert_eq!(format!("{:?}", vault()), "Vault { values: 3 }");
    }

    proptest! {
        #[test]
        fn pieces_give_the_same_text(pieces in prop::collection::vec("(?:\\[EMAIL_1\\]|\\[EMAIL_|2\\]|[\\[\\]a é]){0,3}", 0..10)) {
            let vault = vault();
            let whole = pieces.concat();
            let mut restorer = Restorer::default();
            let mut restored: String = pieces.iter().map(|piece| restorer.push(piece, &vault)).collect();
            restored.push_str(&restorer.finish());
            prop_assert_eq!(restored, vault.restore(&whole).into_owned());
        }
    }
}
