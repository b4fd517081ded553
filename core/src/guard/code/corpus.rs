//! Runs a guard over the corpus of messages.

use crate::guard::{Finding, Folded};

/// Holds a guard to what the corpus says: lines of its own are found, harmless ones stay under the threshold.
pub(in crate::guard) fn judge(guard: &str, scan: fn(&Folded<'_>, &mut Vec<Finding>)) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/corpora/guards.jsonl");
    let (mut seen, mut wrong) = (0, Vec::new());
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let (Some(input), tier) = (line["input"].as_str(), line["tier"].as_str().unwrap_or("core")) else { continue };
        let own = line["guards"].as_array().unwrap().iter().any(|named| named == guard);
        let allowed = line["expect"] == "allow";
        if tier == "contested" || !(own || allowed) {
            continue;
        }
        seen += 1;
        let mut found = Vec::new();
        scan(&Folded::new(input), &mut found);
        let score = found.iter().map(|finding| finding.score).max().unwrap_or_default();
        if (score >= 50) == allowed {
            wrong.push(format!("{} {score}: {input}", line["id"]));
        }
    }
    assert!(seen > 250, "{seen} lines");
    assert!(wrong.is_empty(), "{wrong:#?}");
}
