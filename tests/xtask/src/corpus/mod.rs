//! `cargo xtask corpus`: runs labelled texts through the guards and counts how many verdicts are right.
//!
//! The last line is one JSON object: `{"layer", "total", "ok", "cells", "by_lang", "by_technique", "misses"}`. Lines of
//! the tier `contested` stand in `cells` and are counted nowhere else.

mod judge;

use cheliped::screening::{GuardOptions, Preset};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

/// One labelled text.
#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    id: String,
    layer: Option<String>,
    input: Value,
    expect: String,
    #[serde(default = "core")]
    tier: String,
    #[serde(default)]
    seed: String,
    #[serde(default)]
    lang: Option<String>,
    #[serde(default)]
    technique: Option<String>,
    #[serde(default)]
    also_ok: Option<Value>,
    #[serde(flatten)]
    more: serde_json::Map<String, Value>,
}

fn core() -> String {
    "core".into()
}

#[derive(Default)]
struct Count {
    ok: usize,
    total: usize,
}

impl Count {
    fn add(&mut self, ok: bool) {
        self.total += 1;
        self.ok += usize::from(ok);
    }
}

/// What is to be run.
pub(crate) struct Corpus<'a> {
    /// The layer, with `-` or `_`.
    pub(crate) layer: &'a str,
    /// A file of labelled lines.
    pub(crate) file: Option<&'a Path>,
    /// A file of texts, one a line, with what is expected of all of them.
    pub(crate) text: Option<(&'a Path, &'a str)>,
    pub(crate) preset: Preset,
}

/// Runs it; the exit code says whether everything could be run, not whether every verdict was right.
pub(crate) fn corpus(corpus: &Corpus<'_>) -> ExitCode {
    match run(corpus) {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("corpus: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// Tier, expectation, and how many verdicts may be wrong there.
type Allowed = (&'static str, &'static str, usize);

/// What a corpus in the repository may cost: verdicts that are wrong, by tier and expectation.
const LIMITS: &[(&str, &[Allowed])] = &[
    ("guards", &[("core", "block", 3), ("core", "allow", 1)]),
    ("unicode", &[("core", "block", 1), ("core", "allow", 0)]),
    ("pii", &[("core", "detect", 1), ("core", "clean", 1)]),
    ("tool_output", &[("core", "redact", 0), ("core", "neutralise", 2), ("core", "strip", 0), ("core", "keep", 1)]),
    ("output_sanitiser", &[("core", "output", 0), ("core", "linear-time", 0)]),
];

/// Runs every corpus of the repository; the error tells what is worse than allowed.
pub(crate) fn check(folder: &Path) -> Result<String, String> {
    let (mut told, mut problems) = (Vec::new(), Vec::new());
    for (layer, limits) in LIMITS {
        let file = folder.join(format!("{layer}.jsonl"));
        let report = run(&Corpus { layer, file: Some(&file), text: None, preset: Preset::Strict })?;
        let number = |value: &Value, key: &str| value.get(key).and_then(Value::as_u64).unwrap_or_default() as usize;
        told.push(format!("{layer} {} of {}", number(&report, "ok"), number(&report, "total")));
        let cells = report.get("cells").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for (tier, expect, allowed) in *limits {
            let is = |cell: &&Value, key: &str, word: &str| cell.get(key).and_then(Value::as_str) == Some(word);
            let (mut total, mut wrong) = (0, 0);
            for cell in cells.iter().filter(|cell| is(cell, "tier", tier) && is(cell, "expect", expect)) {
                total += number(cell, "total");
                wrong += number(cell, "total") - number(cell, "ok");
            }
            if total == 0 {
                problems.push(format!("{layer}: there is no line of the tier {tier} that expects {expect}"));
            }
            if wrong > *allowed {
                let misses = report.get("misses").cloned().unwrap_or_default();
                problems
                    .push(format!("{layer}: {wrong} wrong where {expect} is expected, {allowed} allowed: {misses}"));
            }
        }
    }
    if problems.is_empty() { Ok(told.join(", ")) } else { Err(problems.join("\n")) }
}

fn run(corpus: &Corpus<'_>) -> Result<Value, String> {
    let layer = corpus.layer.replace('-', "_");
    let lines = lines(corpus)?;
    let judge = judge::Judge::new(&layer, &GuardOptions::preset(corpus.preset))?;
    let mut cells: BTreeMap<(String, String, String), Count> = BTreeMap::new();
    let (mut langs, mut techniques): (BTreeMap<String, Count>, BTreeMap<String, Count>) = Default::default();
    let (mut all, mut misses) = (Count::default(), Vec::new());
    for line in &lines {
        let got = judge.verdict(line)?;
        let also = match &line.also_ok {
            Some(Value::Array(others)) => others.iter().any(|other| other.as_str() == Some(&got)),
            Some(other) => other.as_str() == Some(&got),
            None => false,
        };
        let ok = got == line.expect || also;
        cells.entry((line.seed.clone(), line.tier.clone(), line.expect.clone())).or_default().add(ok);
        if line.tier == "contested" {
            continue;
        }
        all.add(ok);
        if let Some(lang) = &line.lang {
            langs.entry(lang.clone()).or_default().add(ok);
        }
        if let Some(technique) = &line.technique {
            techniques.entry(technique.clone()).or_default().add(ok);
        }
        if !ok {
            misses.push(json!({"id": line.id, "expected": line.expect, "got": got}));
        }
    }
    let cells: Vec<Value> = cells
        .into_iter()
        .map(|((seed, tier, expect), count)| {
            json!({"seed": seed, "tier": tier, "expect": expect, "ok": count.ok, "total": count.total})
        })
        .collect();
    let table = |counts: BTreeMap<String, Count>| {
        let rows = counts.into_iter().map(|(name, count)| (name, json!({"ok": count.ok, "total": count.total})));
        Value::Object(rows.collect())
    };
    Ok(json!({
        "layer": layer, "total": all.total, "ok": all.ok, "cells": cells, "by_lang": table(langs),
        "by_technique": table(techniques), "misses": misses,
    }))
}

fn lines(corpus: &Corpus<'_>) -> Result<Vec<Line>, String> {
    let read =
        |path: &Path| std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()));
    match (corpus.file, corpus.text) {
        (Some(file), None) => {
            let text = read(file)?;
            let numbered = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
            numbered
                .map(|(number, line)| {
                    let line: Line = serde_json::from_str(line)
                        .map_err(|error| format!("{}:{}: {error}", file.display(), number + 1))?;
                    match &line.layer {
                        Some(layer) if layer.replace('-', "_") != corpus.layer.replace('-', "_") => {
                            Err(format!("{}:{}: the layer is {layer}", file.display(), number + 1))
                        }
                        _ => Ok(line),
                    }
                })
                .collect()
        }
        (None, Some((file, expect))) => {
            let text = read(file)?;
            let numbered = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
            let line = |(number, text): (usize, &str)| Line {
                id: format!("line {}", number + 1),
                layer: None,
                input: text.into(),
                expect: expect.to_owned(),
                tier: core(),
                seed: String::new(),
                lang: None,
                technique: None,
                also_ok: None,
                more: serde_json::Map::new(),
            };
            Ok(numbered.map(line).collect())
        }
        _ => Err("name a corpus file, or --text FILE with --expect allow or block".into()),
    }
}
