use super::markdown::LONGEST_SPAN;
use super::*;
use proptest::prelude::*;
use serde_json::Value;
use std::time::{Duration, Instant};

const MODES: [AnswerMode; 4] =
    [AnswerMode::Off, AnswerMode::OutsideCodeFences, AnswerMode::Documented, AnswerMode::Escape];

fn cleaned(text: &str, mode: AnswerMode) -> String {
    clean(text.into(), mode).0
}

fn streamed<'a>(pieces: impl IntoIterator<Item = &'a str>, mode: AnswerMode) -> (String, Findings) {
    let mut filter = AnswerFilter::new(mode);
    let mut text: String = pieces.into_iter().map(|piece| filter.push(piece)).collect();
    text.push_str(&filter.finish());
    (text, filter.findings())
}

#[test]
fn the_documented_cases() {
    let cases = [
        ("<?php echo 1; ?>", "[PHP_REMOVED] echo 1; [PHP_REMOVED]"),
        ("<?= $x ?>", "[PHP_REMOVED] $x [PHP_REMOVED]"),
        ("shell_exec('x') pcntl_exec(1)", "shell_[REDACTED]('x') pcntl_[REDACTED](1)"),
        ("a filesystem(", "a file[REDACTED]("),
        ("eval (x)", "eval (x)"),
        ("EVAL(x) Proc_Open(", "[REDACTED](x) [REDACTED]("),
        ("<?=?>", "[PHP_REMOVED][PHP_REMOVED]"),
        ("<?<?php", "<?[PHP_REMOVED]"),
        ("", ""),
    ];
    for (before, after) in cases {
        assert_eq!(cleaned(before, AnswerMode::Documented), after, "{before}");
    }
}

#[test]
fn escaping_loses_nothing() {
    let cases = [
        ("<?php echo 1; ?>", "&lt;?php echo 1; ?&gt;"),
        ("<?PHP Shell_Exec('x')", "&lt;?PHP Shell_Exec&#40;'x')"),
        ("<?=?>", "&lt;?=?&gt;"),
        ("<?<?php <?>", "<?&lt;?php <?&gt;"),
        ("`eval(x)`", "`eval&#40;x)`"),
        ("&lt;?php (1 < 2)", "&lt;?php (1 < 2)"),
    ];
    for (before, after) in cases {
        let (text, findings) = clean(before.into(), AnswerMode::Escape);
        assert_eq!(text, after, "{before}");
        assert_eq!(findings, clean(before.into(), AnswerMode::Documented).1, "{before}");
    }
}

#[test]
fn code_in_markdown_stays() {
    // `✓` stands for a call that stays, `✗` for one that is taken out.
    let fences = [
        "```php\n✓\n```\n✗",
        "~~~\n✓\n~~~\n✗",
        "   ```\n✓\n   ```\n✗",
        "✗\n```\n✓\n\n# ✓\n- ✓\n```\n✗",
        "```\n✓",
        "```\n✓\n~~~\n✓\n``\n✓\n```x\n✓\n    ```\n✓\n````  \n✗",
        "~~~~ ✓ ` ✓\n✓\n~~~\n✓\n~~~~\t\n✗",
        "````\n✓\n```\n✓\n````\n✗",
        "``` ✓\n✓\n```\n✗",
        "~~\n✗\n~~\n✗",
        "x ```\n✗\n\n```\n✓",
        "```\r\n✓\r\n```\r\n✗",
        "```\r✓\r```\r✗",
        "```\n```\n✗",
    ];
    // Indented by four it is code of another sort, which is not left alone. But list items move the margin.
    let indented = [
        "    ```\n✗\n    ```\n✗",
        "\t```\n✗",
        "    ` ✗ `\n✗",
        "x\n    ``` ✓\n    ✓```\n✗",
        "- a\n\n  - b\n\n    ```php\n    ✓\n    ```\n✗",
        "1. a\n\n    ```\n    ✓\n\n    ✓\n    ```\n    ✗",
        "- ```\n  ✓\n  ```\n  ✗",
        "- ```\n  ✓\n✗",
        "  - ```\n    ✓\n    ```\n✗",
        "- a\n\nb\n\n    ```\n    ✗",
        "***\n\n    ```\n    ✗",
        "* * *\n\n    ```\n    ✗",
        "10. a\n\n    ```\n    ✓\n    ```\n✗",
        "-\n  ```\n  ✓\n  ```\n✗",
        "-\n\n    ```\n    ✗",
    ];
    let spans = [
        "`✓` ✗",
        "`` ✓ ` ✓ `` ✗ ` ✓ `",
        "✗ `✓\n✓` ✗",
        "``` ✓ ``` ✗",
        "` ✗ `` ✓ `` ✗ ``` ✗",
        "` ✗ `` ✗ ``` ✗",
        "```✓``` ✗\n✗",
        "``` ` ✓ ```\n✗",
        "\\` ✗ `✓` ✗",
        "\\\\`✓` ✗",
        "\\``✓` ✗",
        "`✓\\` ✗",
        "``✓\\`✓`` ✗",
        "**b** `✓` ✗",
        "12 `✓` ✗",
        "# `✓` ✗",
        "- `✓` ✗",
        "> `✓\n> ✓` ✗",
    ];
    // A span ends with its paragraph.
    let paragraphs = [
        "` ✗\n\n✗ `",
        "` ✗\n \t \n✗ `",
        "` ✗\n# ✗ `\n✗",
        "# ` ✗\n✗ `",
        "` ✗\n- ✗ `",
        "` ✗\n+ ✗ `",
        "` ✗\n1. ✗ `",
        "`✓\n2. ✓` ✗",
        "1. ` ✗\n2. ✗ `",
        "`✓\n-5 ✓` ✗",
        "` ✗\n---\n✗ `",
        "` ✗\n=\n✗ `",
        "`✓\n = ✓` ✗",
        "` ✗\n***\n✗ `",
        "` ✗\n_ _ _\n✗ `",
        "` ✗\n```\n✓\n```\n✗ `",
        "` ✗\n~~~\n✓",
        "> ` ✗\n>\n> ✗ `",
        "> ` ✗\n✗ `",
        "` ✗\n> ✗ `",
    ];
    for case in fences.into_iter().chain(indented).chain(spans).chain(paragraphs) {
        let before = case.replace(['✓', '✗'], "eval(");
        let after = case.replace('✓', "eval(").replace('✗', "[REDACTED](");
        assert_eq!(cleaned(&before, AnswerMode::OutsideCodeFences), after, "{before:?}");
    }
}

#[test]
fn what_is_too_long_for_code_is_prose() {
    for (marks, far) in [("`", LONGEST_SPAN - 7), ("```", LONGEST_SPAN - 9)] {
        let long = |length: usize| format!("x {marks}eval({}{marks} eval(", "y".repeat(length));
        let (near, too_far) = (cleaned(&long(far), AnswerMode::OutsideCodeFences), long(far + 2 * marks.len() + 5));
        assert!(near.starts_with(&format!("x {marks}eval(y")) && near.ends_with(&format!("y{marks} [REDACTED](")));
        assert_eq!(cleaned(&too_far, AnswerMode::OutsideCodeFences), too_far.replace("eval(", "[REDACTED]("));
    }
}

#[test]
fn only_what_may_become_a_match_is_held_back() {
    let mut filter = AnswerFilter::new(AnswerMode::Documented);
    assert_eq!(filter.push("Hello sys"), "Hello ");
    assert_eq!(filter.push("tematic"), "systematic");
    assert_eq!(filter.push(" shell_ex"), " shell_");
    assert_eq!(filter.push("ec("), "[REDACTED](");
    assert_eq!(filter.finish(), "");
    assert_eq!(filter.findings().calls().collect::<Vec<_>>(), ["exec("]);
}

#[test]
fn text_that_may_be_code_is_held_from_its_first_match() {
    let mut filter = AnswerFilter::new(AnswerMode::OutsideCodeFences);
    assert_eq!(filter.push("a `b c"), "a `b c");
    assert_eq!(filter.push(" eval(d) "), " ");
    assert_eq!(filter.push("more"), "");
    assert_eq!(filter.push("`"), "");
    assert_eq!(filter.push(" and"), "eval(d) more` and");
    // A line of Markdown that may be prose is not held without a match either.
    assert_eq!(filter.push("! ``` open\n\n"), "! ``` open\n\n");
    assert_eq!(filter.push("```php\n<?php\n"), "```php\n<?php\n");
    assert_eq!(filter.push("eval(x)\n```\neval("), "eval(x)\n```\n[REDACTED](");
    assert_eq!(filter.finish(), "");
    assert_eq!(filter.findings().calls().collect::<Vec<_>>(), ["eval("]);
    assert_eq!(filter.findings().tags().count(), 0);
}

#[test]
fn the_corpus() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/corpora/output_sanitiser.jsonl");
    check_corpus(&std::fs::read_to_string(path).unwrap());
}

fn check_corpus(lines: &str) {
    for line in lines.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let id = case["id"].as_str().unwrap();
        let input = match &case["input"] {
            Value::String(text) => text.clone(),
            repeated => {
                repeated["repeat"].as_str().unwrap().repeat(repeated["times"].as_u64().unwrap().try_into().unwrap())
            }
        };
        let mode = serde_json::from_value(case["options"]["sanitise_output"].clone()).unwrap_or_default();
        let started = Instant::now();
        let (text, findings) = clean(input.clone(), mode);
        assert!(started.elapsed() < Duration::from_secs(1), "{id}");
        if case["expect"] == "output" {
            assert_eq!(text, case["output"].as_str().unwrap(), "{id}");
        }
        let told = |event: &str| case["hooks"].as_array().unwrap().iter().any(|hook| hook == event);
        assert_eq!(findings.tags().count() > 0, told("guard.output_php_tag_removed"), "{id}");
        assert_eq!(findings.calls().count() > 0, told("guard.output_function_redacted"), "{id}");
        let chars: Vec<char> = input.chars().collect();
        let chunk = case["stream_chunk"].as_u64().unwrap_or(1).try_into().unwrap();
        let pieces: Vec<String> = match case["stream_split"].as_array() {
            Some(places) => {
                let (first, second) = chars.split_at(places[0].as_u64().unwrap().try_into().unwrap());
                vec![first.iter().collect(), second.iter().collect()]
            }
            None => chars.chunks(chunk).map(|piece| piece.iter().collect()).collect(),
        };
        assert_eq!(streamed(pieces.iter().map(String::as_str), mode), (text, findings), "{id}");
    }
}

#[test]
fn time_grows_with_the_length() {
    let worst =
        ["eval(", "<?", "`eval(", "`eval(\n\n", "``` eval(\n", "` `` ", "- ", "> `x eval(\n", "shell_exec", "\\`"];
    let rising: String = (1..90).map(|length| "`".repeat(length) + " ").collect();
    for pattern in worst.into_iter().chain([rising.as_str()]) {
        for mode in MODES {
            let time = |bytes: usize| {
                let text = pattern.repeat(bytes / pattern.len());
                let started = Instant::now();
                let cleaned = clean(text, mode);
                assert!(cleaned.0.len() < 4 * bytes);
                started.elapsed()
            };
            let (one, four) = (time(50_000), time(200_000));
            assert!(four < one * 12 + Duration::from_millis(50), "{pattern:?} {mode:?}: {one:?}, {four:?}");
        }
    }
}

/// Pieces of texts that are hard on the rules.
fn hard() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("<?php".to_owned()),
        Just("<?=".to_owned()),
        Just("?>".to_owned()),
        Just("shell_exec(".to_owned()),
        Just("SYSTEM(".to_owned()),
        Just("proc_".to_owned()),
        Just("open(".to_owned()),
        Just("\n```\n".to_owned()),
        "[`~]{1,4}",
        "\n {0,5}[`~>#*=-]{0,4}",
        "\n {0,4}[1-3][.)] ",
        "[<?>(exys é\\\\\r\n\t]{1,4}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn any_cut_gives_the_same_bytes(pieces in prop::collection::vec(hard(), 0..24), cuts in prop::collection::vec(1_usize..9, 1..9)) {
        let whole = pieces.concat();
        for mode in MODES {
            let expected = clean(whole.clone(), mode);
            prop_assert_eq!(&streamed(pieces.iter().map(String::as_str), mode), &expected, "{:?}", mode);
            let chars: Vec<String> = whole.chars().map(String::from).collect();
            prop_assert_eq!(&streamed(chars.iter().map(String::as_str), mode), &expected, "{:?}", mode);
            let (mut cut, mut rest) = (Vec::new(), &chars[..]);
            for size in cuts.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (piece, more) = rest.split_at((*size).min(rest.len()));
                cut.push(piece.concat());
                rest = more;
            }
            prop_assert_eq!(&streamed(cut.iter().map(String::as_str), mode), &expected, "{:?}", mode);
        }
    }

    #[test]
    fn cleaning_twice_changes_nothing_more(pieces in prop::collection::vec(hard(), 0..24)) {
        for mode in MODES {
            let once = cleaned(&pieces.concat(), mode);
            prop_assert_eq!(&cleaned(&once, mode), &once, "{:?}", mode);
        }
    }

    #[test]
    fn outside_of_code_it_is_as_documented(pieces in prop::collection::vec(hard(), 0..24)) {
        // Without backticks and tildes there is no code.
        let text = pieces.concat().replace(['`', '~'], "");
        prop_assert_eq!(clean(text.clone(), AnswerMode::OutsideCodeFences), clean(text, AnswerMode::Documented));
    }

    #[test]
    fn what_is_held_back_is_bounded(pieces in prop::collection::vec(hard(), 0..40), far in 0_usize..3) {
        for mode in MODES {
            let mut filter = AnswerFilter::new(mode);
            let (mut given, mut taken) = (0, 0);
            for piece in &pieces {
                let piece = format!("{piece}{}", "z".repeat(far * 1000));
                taken += piece.len();
                given += filter.push(piece).len();
                // What takes the place of a match is at most seven times as long.
                prop_assert!(given + 2 * LONGEST_SPAN + 16 + 5 * pieces.len() >= taken && given <= 7 * taken, "{mode:?}: {given} of {taken}");
            }
        }
    }
}
