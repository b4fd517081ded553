//! Compares the request that the provider code sends with the one that was recorded: roles, order, ids, tool blocks.
//!
//! The recorded history is brought into neutral messages by the provider code itself: every recorded assistant turn
//! is served as a reply and read by the real decoder, so what must go back unchanged takes the way it takes in a
//! run. Both requests are then brought into one normal form, in which spellings that mean the same are the same.

mod history;
mod turns;

pub(crate) use history::{Api, Step, StepResult, history_of};
pub(crate) use turns::{Block, Turn, turns_of};

use super::exchange::Exchange;
use serde_json::Value;
use std::collections::HashMap;

/// Every difference between the recorded and the sent request, one line each.
pub(crate) fn compare(exchange: &Exchange, api: Api, sent: &Value) -> Vec<String> {
    let recorded = &exchange.request.body;
    let mut expected = turns_of(api, recorded);
    let mut got = turns_of(api, sent);
    if exchange.provider == "mistral" {
        pair_ids(&mut expected, &mut got);
    }
    drop_what_need_not_go_back(&exchange.provider, &mut expected, &got);
    let mut lines = Vec::new();
    for index in 0..expected.len().max(got.len()) {
        match (expected.get(index), got.get(index)) {
            (Some(expected), Some(got)) if expected.matches(got) => {}
            (Some(expected), Some(got)) => lines.push(format!("request, turn {index}: expected {expected}, got {got}")),
            (Some(expected), None) => lines.push(format!("request, turn {index}: expected {expected}, got nothing")),
            (None, Some(got)) => lines.push(format!("request, turn {index}: expected nothing, got {got}")),
            (None, None) => {}
        }
    }
    let (expected, got) = (tool_names(recorded), tool_names(sent));
    if expected != got {
        lines.push(format!("request, tools: expected {expected:?}, got {got:?}"));
    }
    let limit = "max_completion_tokens";
    if recorded.get(limit).is_some() && recorded.get(limit) != sent.get(limit) {
        lines.push(format!("request, {limit}: expected {:?}, got {:?}", recorded.get(limit), sent.get(limit)));
    }
    lines
}

/// Mistral takes ids of nine letters or digits only. Where a recording holds stand-ins of another form, what counts
/// is that each call and its result have the same id of the right form.
fn pair_ids(expected: &mut [Turn], got: &mut [Turn]) {
    let fits = |id: &str| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    for (turns, strict) in [(expected, false), (got, true)] {
        let mut numbers: HashMap<String, usize> = HashMap::new();
        for id in turns.iter_mut().flat_map(|turn| &mut turn.blocks).filter_map(Block::id_mut) {
            if strict && !fits(id) {
                *id = format!("{id} (not nine letters or digits)");
                continue;
            }
            let next = numbers.len();
            let number = numbers.entry(id.clone()).or_insert(next);
            *id = format!("call {number}");
        }
    }
}

/// DeepSeek wants reasoning back inside a tool loop only, so it may be missing before the last user turn.
fn drop_what_need_not_go_back(provider: &str, expected: &mut [Turn], got: &[Turn]) {
    let Some(last_user) = expected.iter().rposition(|turn| turn.role == "user").filter(|_| provider == "deepseek")
    else {
        return;
    };
    for (expected, got) in expected.iter_mut().zip(got).take(last_user) {
        let is_thinking = |block: &Block| matches!(block, Block::Thinking(_));
        if !got.blocks.iter().any(is_thinking) {
            expected.blocks.retain(|block| !is_thinking(block));
        }
    }
}

/// Names of the tools on offer, in order, in any API's form.
fn tool_names(body: &Value) -> Vec<String> {
    let tools = body.get("tools").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let declared = |tool: &Value| match tool.get("functionDeclarations").and_then(Value::as_array) {
        Some(declarations) => declarations.clone(),
        None => vec![tool.get("function").unwrap_or(tool).clone()],
    };
    let name = |tool: Value| tool.get("name").and_then(Value::as_str).map(str::to_owned);
    tools.iter().flat_map(declared).filter_map(name).collect()
}
