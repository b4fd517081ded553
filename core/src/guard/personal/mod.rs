//! Personal data: addresses for mail, cards, numbers of people and phones, bank accounts.
//!
//! Numbers are found by shape and checked by what their makers check: lengths, prefixes, check digits. Where the shape
//! alone says too little, the words around decide. Nothing here knows names of people.

mod card;
mod email;
mod iban;
mod number;
mod phone;
mod phone_code;
mod ssn;
mod words;

use super::{Finding, Folded, GuardKind, View, ViewKind};
use std::borrow::Cow;
use std::ops::Range;

/// A sort of personal data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PersonalSort {
    /// An address for mail.
    Email,
    /// The number of a payment card.
    CreditCard,
    /// A social security number of the United States.
    Ssn,
    /// The number of a phone.
    Phone,
    /// The number of a bank account.
    Iban,
}

impl PersonalSort {
    /// All of them, in the order in which they are named.
    pub const ALL: [Self; 5] = [Self::Email, Self::CreditCard, Self::Ssn, Self::Phone, Self::Iban];

    /// The name in findings: `credit_card`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::CreditCard => "credit_card",
            Self::Ssn => "ssn",
            Self::Phone => "phone",
            Self::Iban => "iban",
        }
    }

    const fn rule(self) -> &'static str {
        match self {
            Self::Email => "pii.email",
            Self::CreditCard => "pii.credit_card",
            Self::Ssn => "pii.ssn",
            Self::Phone => "pii.phone",
            Self::Iban => "pii.iban",
        }
    }

    /// What cannot be changed like a phone number weighs more.
    const fn score(self) -> u8 {
        match self {
            Self::Email | Self::Phone => 60,
            Self::CreditCard | Self::Ssn | Self::Iban => 90,
        }
    }
}

/// Personal data in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Personal {
    /// What it is.
    pub sort: PersonalSort,
    /// Bytes of the text as it was given.
    pub span: Range<usize>,
    /// How sure it is, 0 to 100.
    pub score: u8,
}

impl Personal {
    fn sure(sort: PersonalSort, span: Range<usize>) -> Self {
        Self { sort, span, score: sort.score() }
    }
}

/// The personal data in a text, in the order of the text, without overlaps.
///
/// ```
/// use cheliped::guard::{Folded, PersonalSort, personal};
/// let found = personal(&Folded::new("Card ４１１１ １１１１ １１１１ １１１１, or call +1 415-555-0132"));
/// assert_eq!(found[0].sort, PersonalSort::CreditCard);
/// assert_eq!(found[1].sort, PersonalSort::Phone);
/// ```
pub fn personal(folded: &Folded<'_>) -> Vec<Personal> {
    let mut found = of_view(folded, folded.plain());
    for view in folded.views().filter(|view| view.kind() == ViewKind::Decoded) {
        let decoded = of_view(folded, view);
        if !decoded.is_empty() {
            found = merged(found, decoded);
        }
    }
    found
}

/// Adds what is found, in the order of the text.
pub(super) fn scan(folded: &Folded<'_>, found: &mut Vec<Finding>) {
    found.extend(personal(folded).into_iter().map(|personal| Finding {
        guard: GuardKind::PiiDetection,
        rule: Cow::Borrowed(personal.sort.rule()),
        span: personal.span,
        score: personal.score,
        pattern: Cow::Borrowed(personal.sort.as_str()),
    }));
}

/// What one view shows, led back to the original.
fn of_view(folded: &Folded<'_>, view: &View) -> Vec<Personal> {
    let text = view.text();
    let addresses = email::scan(text, |at| is_upper(folded, view, at));
    let numbers = number::scan(text);
    let mut found = merged(addresses, numbers);
    for personal in &mut found {
        personal.span = view.origin(personal.span.clone());
    }
    // Several finds behind one run of base64 are one place of the original.
    found.dedup_by(|later, kept| overlap(later, kept) && absorb(kept, later));
    found
}

/// Whether a letter of a view is a capital in the original.
fn is_upper(folded: &Folded<'_>, view: &View, at: usize) -> bool {
    let start = view.origin(at..at + 1).start;
    folded.original().get(start..).and_then(|rest| rest.chars().next()).is_some_and(char::is_uppercase)
}

/// Two lists in the order of the text become one. Where they overlap, the higher score stays, or the first list's.
fn merged(first: Vec<Personal>, second: Vec<Personal>) -> Vec<Personal> {
    if second.is_empty() || first.is_empty() {
        return if first.is_empty() { second } else { first };
    }
    let mut all = Vec::with_capacity(first.len() + second.len());
    let (mut left, mut right) = (first.into_iter().peekable(), second.into_iter().peekable());
    while let Some(next) = match (left.peek(), right.peek()) {
        (Some(a), Some(b)) if b.span.start < a.span.start => right.next(),
        (None, _) => right.next(),
        _ => left.next(),
    } {
        match all.last_mut() {
            Some(last) if overlap(last, &next) => {
                absorb(last, &next);
            }
            _ => all.push(next),
        }
    }
    all
}

fn overlap(a: &Personal, b: &Personal) -> bool {
    a.span.start < b.span.end && b.span.start < a.span.end
}

/// Keeps the surer of two that overlap; says that the other is gone.
fn absorb(kept: &mut Personal, other: &Personal) -> bool {
    if other.score > kept.score {
        *kept = other.clone();
    }
    true
}

#[cfg(test)]
mod tests;
