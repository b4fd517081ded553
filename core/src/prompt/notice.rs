//! What a model is told in place of a tool's result.

use serde_json::{Value, json};
use std::sync::Arc;

/// A failed call: `{"error": "…"}`.
pub fn error(message: &str) -> String {
    json!({ "error": message }).to_string()
}

/// A call that the approval gate refused.
pub fn denied(tool: &str) -> String {
    let message = "Action denied by human. Propose an alternative approach or ask what to do instead.";
    denial(tool, message)
}

/// A call that would have to wait for approval in a run that cannot wait.
pub fn cannot_pause(tool: &str) -> String {
    let message = "This action needs human approval and this run cannot pause for it. Propose an alternative approach \
                   or ask what to do instead.";
    denial(tool, message)
}

fn denial(tool: &str, message: &str) -> String {
    json!({"status": "denied", "tool": tool, "message": message}).to_string()
}

/// A call that did not start because the run ended.
pub fn not_run() -> String {
    error("not run: the run ended before this call started")
}

/// A call that started in a process that stopped, and may have done its work.
pub fn outcome_unknown() -> String {
    error("started before the stop, outcome unknown")
}

/// A call of a tool that does not exist, with the similar names that do.
pub fn unknown_tool(name: &str, matches: &[Arc<str>]) -> String {
    if matches.is_empty() {
        return error(&format!("there is no tool `{name}`"));
    }
    let names = matches.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ");
    error(&format!("there is no tool `{name}`; did you mean {names}?"))
}

/// A call whose arguments are no JSON object.
pub fn malformed_arguments(name: &str, raw: &str) -> String {
    let shown = crate::limits::prefix(raw, 200);
    error(&format!("the arguments of `{name}` are not a JSON object: {}", Value::from(shown)))
}

/// A call whose arguments were cut because the reply was full.
pub fn cut_arguments(name: &str) -> String {
    error(&format!("the reply ended before the arguments of `{name}` were complete; send a shorter call"))
}

/// A call whose arguments do not fit the tool's schema.
pub fn invalid_arguments(name: &str, problems: &str) -> String {
    error(&format!("the arguments of `{name}` do not fit its schema: {problems}"))
}

/// The fixed sentence for a failure whose details are not for the model.
pub const INTERNAL: &str = "the tool failed; try something else or tell the user";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_denial() {
        assert_eq!(
            denied("file_write"),
            "{\"status\":\"denied\",\"tool\":\"file_write\",\"message\":\"Action denied by human. Propose an \
             alternative approach or ask what to do instead.\"}"
        );
        assert_eq!(
            unknown_tool("file_raed", &["file_read".into()]),
            "{\"error\":\"there is no tool `file_raed`; did you mean `file_read`?\"}"
        );
    }
}
