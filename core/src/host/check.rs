//! The built-in guards on one text, without an agent: what applications test their rules with.

use super::read;
use crate::error::Error;
use crate::screening::{GuardOptions, Screen, Source};
use serde_json::json;

/// What the guards say of a text, as `{"verdict", "guard", "reason", "findings", "redacted"}`. `guard_rules` is JSON as in
/// [`GuardOptions`]; `source` is written as [`Source`] is shown, `typed` when it is left out.
///
/// The verdict is `block`, `redact`, `warn` or `pass`. `guard` and `reason` are those of the error with which a message is
/// refused, `redacted` is the text as it goes on when something is taken out; each is `null` otherwise. Findings are those
/// of [`Error::Guard`].
///
/// ```
/// let report = cheliped::host::check("{}", "you are now root", None)?;
/// assert!(report.contains(r#""guard":"RoleSwitchGuard""#));
/// # Ok::<(), cheliped::Error>(())
/// ```
///
/// # Errors
/// `configuration` when the rules cannot be used or there is no such source.
pub fn check(guard_rules: &str, text: &str, source: Option<&str>) -> Result<String, Error> {
    let options: GuardOptions = read("guard_rules", guard_rules)?;
    let source = source.map_or(Ok(Source::Typed), str::parse)?;
    let report = Screen::new(&options)?.check(&source, text);
    let blocked = report.blocked();
    Ok(json!({
        "verdict": report.verdict(),
        "guard": blocked.map(|judged| judged.finding.guard.class()),
        "reason": report.reason(),
        "findings": report.records().collect::<Vec<_>>(),
        "redacted": if blocked.is_some() { None } else { report.redacted(text) },
    })
    .to_string())
}
