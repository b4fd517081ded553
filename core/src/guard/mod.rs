//! Rules over text, without waiting, without the network: pure functions of their input.
//!
//! A text is folded once ([`Folded`]); every detector reads the same views and gives [`Finding`]s with the rule, the
//! span in the text as it was given, and a score. What a finding leads to is decided in
//! [`screening`](crate::screening). Every detector takes time in proportion to the length of the text.

pub mod answer;
mod code;
mod finding;
mod fold;
mod homoglyph;
mod injection;
mod personal;
mod role;
mod secret;
mod sql;
pub mod tool_output;
mod unicode;

pub use finding::{Finding, GuardKind, Severity};
pub use fold::{Folded, View, ViewKind};
pub use secret::{Secret, secrets};

/// Everything that the built-in guards find in a text, in the order of the guards and of the text. The length of a
/// message is not among it: a limit is a setting.
///
/// ```
/// use cheliped::guard::{Folded, GuardKind, scan};
/// let found = scan(&Folded::new("mail me at ana@example.com"));
/// assert_eq!(found[0].guard, GuardKind::PiiDetection);
/// assert_eq!(found[0].pattern, "email");
/// assert_eq!(found[0].span, 11..26);
/// ```
pub fn scan(folded: &Folded<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    injection::scan(folded, &mut found);
    unicode::scan(folded, &mut found);
    homoglyph::scan(folded, &mut found);
    role::scan(folded, &mut found);
    code::scan(folded, &mut found);
    sql::scan(folded, &mut found);
    personal::scan(folded, &mut found);
    found
}
