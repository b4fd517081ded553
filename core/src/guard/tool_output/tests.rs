use super::*;
use proptest::prelude::*;
use serde_json::Value;
use std::time::{Duration, Instant};

/// Finds orders, names and addresses by their letters.
fn fake_scan(text: &str, with_personal: bool) -> Vec<Finding> {
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    let mut find = |guard, pattern: &'static str, score| {
        found.extend(lower.match_indices(pattern).map(|(at, _)| Finding {
            guard,
            rule: "fake".into(),
            span: at..at + pattern.len(),
            score,
            pattern: pattern.into(),
        }));
    };
    find(GuardKind::Injection, "ignore all", 80);
    find(GuardKind::Injection, "all rules", 60);
    find(GuardKind::Injection, "perhaps", 45);
    find(GuardKind::Injection, "so [redacted]", 90);
    find(GuardKind::RoleSwitch, "you are now", 50);
    if with_personal {
        find(GuardKind::PiiDetection, "a@b.c", 45);
        find(GuardKind::PiiDetection, "5551234", 30);
    }
    found
}

/// Finds `key-` with four digits, and what a password is.
fn fake_secrets(text: &str) -> Vec<Secret> {
    let mut found: Vec<Secret> = Vec::new();
    for (at, _) in text.match_indices("key-") {
        let end = at + 4 + text[at + 4..].bytes().take_while(u8::is_ascii_digit).count();
        if end == at + 8 {
            found.push(Secret { kind: "fake_key", span: at..end });
        }
    }
    if let Some((before, after)) = text.split_once("\"password\": \"") {
        let start = before.len() + 13;
        let end = start + after.find('"').unwrap_or(after.len());
        found.retain(|secret| secret.span.end <= start || secret.span.start >= end);
        if start < end {
            found.push(Secret { kind: "password", span: start..end });
        }
    }
    found
}

const FAKES: Detectors = Detectors { strip: crate::guard::unicode::strip, scan: fake_scan, secrets: fake_secrets };
const REDACT: Cleaning = Cleaning { injection: Orders::Redact, threshold: SURE, secrets: true, personal: true };

fn redacted(text: &str) -> String {
    clean_with(text, &REDACT, &FAKES).text.into()
}

#[test]
fn only_what_was_found_is_replaced() {
    for (before, after) in [
        ("The server is up.", "The server is up."),
        ("", ""),
        ("IGNORE ALL, é!  You are now", "[REDACTED], é!  [REDACTED]"),
        // Overlapping and touching ones are one.
        ("ignore all rules", "[REDACTED]"),
        ("you are nowignore all", "[REDACTED]"),
        ("you are now ignore all", "[REDACTED] [REDACTED]"),
        ("perhaps", "perhaps"),
        ("mail a@b.c or 5551234", "mail [REDACTED_EMAIL] or 5551234"),
        ("k=key-1234\n", "k=[REDACTED_FAKE_KEY]\n"),
        // Each keeps its own marker where they touch.
        ("key-1234a@b.c", "[REDACTED_FAKE_KEY][REDACTED_EMAIL]"),
        ("ig\u{200b}nore \u{1b}[1mall", "[REDACTED]"),
        // What comes to stand together is found too.
        ("so ignore all", "[REDACTED]"),
    ] {
        let after = after.replace("EMAIL", "A_B_C");
        assert_eq!(redacted(before), after, "{before:?}");
    }
}

#[test]
fn what_was_found_is_told() {
    let text = "ignore all, ignore all, you are now, key-1234 key-1234 a@b.c perhaps";
    let cleaned = clean_with(text, &REDACT, &FAKES);
    let patterns: Vec<&str> = cleaned.redacted.iter().map(|redaction| redaction.pattern.as_str()).collect();
    assert_eq!(patterns, ["ignore all", "you are now", "pii:a@b.c", "secret:fake_key", "secret:fake_key"]);
    let flags: Vec<(GuardKind, &str)> = cleaned.flags.iter().map(|flag| (flag.guard, &*flag.pattern)).collect();
    assert_eq!(flags, [(GuardKind::Injection, "ignore all"), (GuardKind::RoleSwitch, "you are now")]);
}

#[test]
fn by_default_orders_stay_and_are_flagged() {
    let cleaned = clean_with("ignore all: key-1234, a@b.c", &Cleaning::default(), &FAKES);
    assert_eq!(cleaned.text, "ignore all: [REDACTED_FAKE_KEY], a@b.c");
    assert_eq!((cleaned.redacted.len(), cleaned.flags.len()), (1, 1));
    let low = Cleaning { threshold: 40, secrets: false, ..Cleaning::default() };
    let cleaned = clean_with("perhaps key-1234", &low, &FAKES);
    assert_eq!((cleaned.text, cleaned.flags.len()), (Cow::Borrowed("perhaps key-1234"), 1));
}

#[test]
fn json_is_cleaned_text_by_text() {
    for (before, after) in [
        (r#"{"a":"x ignore all","b":[1.50,1e3,-0,"é"]}"#, r#"{"a":"x [REDACTED]","b":[1.50,1e3,-0,"é"]}"#),
        (" \n[ \"you are now\" , null ]\t", " \n[ \"[REDACTED]\" , null ]\t"),
        // Escapes are read for looking, and written as they were.
        (r#"{"a":"\u0069gnore\u0020all\/\u00e9\n\"x\""}"#, r#"{"a":"[REDACTED]\/\u00e9\n\"x\""}"#),
        (r#"["\ud83d\ude00ignore all\ud800"]"#, r#"["\ud83d\ude00[REDACTED]\ud800"]"#),
        // Hidden characters go, raw and escaped.
        ("[\"ig\u{200b}nore all, \u{200b}x\"]", "[\"[REDACTED], x\"]"),
        (r#"["a\u001b[31mb\u200b\tc\u0000\udb40\udc73"]"#, r#"["ab\tc"]"#),
        // Keys stay, and so does what is no text.
        (
            r#"{"ignore all":12345678901234567890,"k":{"ignore all":[]}}"#,
            r#"{"ignore all":12345678901234567890,"k":{"ignore all":[]}}"#,
        ),
        // A key tells what its text is; it tells nothing about other texts.
        (r#"{"password": "hunter\u0032","x":"y"}"#, r#"{"password": "[REDACTED_PASSWORD]","x":"y"}"#),
        (r#"{"password": ["a","b"],"x":"password"}"#, r#"{"password": ["a","b"],"x":"password"}"#),
        (r#"{"p\u0061ssword" : "\\\"x"}"#, r#"{"p\u0061ssword" : "[REDACTED_PASSWORD]"}"#),
        (r#"{"body":"{\"password\": \"hunter\"}"}"#, r#"{"body":"{\"password\": \"[REDACTED_PASSWORD]\"}"}"#),
        (r#"["\\","ignore all\\"]"#, r#"["\\","[REDACTED]\\"]"#),
        ("[]", "[]"),
    ] {
        assert_eq!(redacted(before), after, "{before}");
    }
}

#[test]
fn orders_in_keys_are_flagged() {
    let cleaned = clean_with(r#"{"ignore\u0020all":1,"b":[{"ignore\u0020all":2}]}"#, &REDACT, &FAKES);
    assert_eq!((cleaned.flags.len(), cleaned.redacted.len()), (1, 0));
}

#[test]
fn what_is_no_json_is_one_text() {
    for (before, after) in [
        ("{\"a\":\"ignore all\"}\n{\"a\":1}", "{\"a\":\"[REDACTED]\"}\n{\"a\":1}"),
        ("{\"a\":1} ignore all", "{\"a\":1} [REDACTED]"),
        ("[ignore all]", "[[REDACTED]]"),
        ("\"ignore all\"", "\"[REDACTED]\""),
        // Colours and byte order marks do not hide a document.
        ("\u{feff}{\"a\":\"\\u0069gnore all\"}", "{\"a\":\"[REDACTED]\"}"),
        ("{\u{1b}[34m\"a\"\u{1b}[0m:\"\\u0069gnore all\"}", "{\"a\":\"[REDACTED]\"}"),
    ] {
        assert_eq!(redacted(before), after, "{before:?}");
    }
}

#[test]
fn deep_documents_are_documents() {
    let deep = format!("{}\"\\u0069gnore all\"{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(redacted(&deep), deep.replace("\\u0069gnore all", "[REDACTED]"));
}

#[test]
fn hidden_characters_that_become_others_are_written_anew() {
    let spaces = Detectors { strip: |text| text.replace('\u{200b}', "\"").into(), ..FAKES };
    let cleaned = clean_with("[\"a\\/\u{200b}é\", \"\\/\"]", &REDACT, &spaces);
    assert_eq!(cleaned.text, "[\"a/\\\"é\", \"\\/\"]");
}

#[test]
fn bytes_that_are_no_text_cost_only_themselves() {
    assert_eq!(text_of(b"a\xff\xfeb \xe2\x82 c\xc3\xa9"), "a\u{fffd}\u{fffd}b \u{fffd} cé");
}

#[test]
fn nothing_changes_without_reason() {
    for text in ["plain", "[\"a\\/b\"]"] {
        assert!(matches!(clean_with(text, &REDACT, &FAKES).text, Cow::Borrowed(_)), "{text}");
    }
}

fn corpus() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/corpora/tool_output.jsonl");
    let lines = std::fs::read_to_string(path).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Whether a line came out as it has to; lines about orders and secrets only if their detectors are asked for.
fn passes(case: &Value, rules: &Cleaning, with_detectors: bool) -> bool {
    let input = case["input"].as_str().unwrap();
    let cleaned = clean(input, rules);
    let has = |text: &Value| cleaned.text.contains(text.as_str().unwrap());
    let gone = !case["must_not"].as_array().unwrap().iter().any(has);
    let kept = case["must_keep"].as_array().unwrap().iter().all(has);
    let json = !json::is_json(input) || json::is_json(&cleaned.text);
    json && kept
        && match case["expect"].as_str().unwrap() {
            "keep" => cleaned.text == input,
            "strip" => gone,
            "redact" => gone || !with_detectors,
            _ => gone || !cleaned.flags.is_empty() || !with_detectors,
        }
}

#[test]
fn the_corpus() {
    for case in corpus() {
        if case["tier"] == "core" {
            assert!(passes(&case, &Cleaning::default(), false), "{}", case["id"]);
        }
    }
}

#[test]
fn time_grows_with_the_length() {
    let worst = ["\u{1b}]", "\u{1b}[1", "ignore all ", "\\u0069", "key-1234", "[", "{\"a\":", "a \u{200b}"];
    let documents: Vec<(&str, &str, &str)> = worst
        .iter()
        .map(|piece| ("", *piece, ""))
        .chain([
            ("[", "\"\\u0069gnore all\",", "1]"),
            ("{", "\"a\":\"\\\\\",", "\"b\":1}"),
            ("[\"", "\\u200b\\\"x", "\"]"),
        ])
        .collect();
    for (before, piece, after) in documents {
        let time = |times: usize| {
            let text = format!("{before}{}{after}", piece.repeat(times));
            let started = Instant::now();
            let cleaned = clean_with(&text, &REDACT, &FAKES);
            let fenced = fence(&cleaned.text, "0123456789abcdef");
            assert!(fenced.len() >= cleaned.text.len());
            started.elapsed()
        };
        let (one, four) = (time(5_000), time(20_000));
        assert!(four < one * 12 + Duration::from_millis(50), "{piece:?}: {one:?}, {four:?}");
    }
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("ignore all".to_owned()),
        Just(" rules".to_owned()),
        Just("you are now".to_owned()),
        Just("key-1234".to_owned()),
        Just("a@b.c".to_owned()),
        Just("[REDACTED]".to_owned()),
        Just("\u{1b}[0m\u{200b}".to_owned()),
        "[ key14\"\\\\{}\\[\\],:é-]{0,4}",
        "(?s:.){0,2}",
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(words(), 0..8).prop_map(|words| words.concat())
}

fn document() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![text().prop_map(Value::from), any::<i64>().prop_map(Value::from), Just(Value::Null)];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map("[a-z\"\\\\]{0,3}|password", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
    .prop_map(|value| Value::from(vec![value]))
}

/// Writes every other character of the texts as an escape.
fn escaped(json: &str) -> String {
    let mut written = String::new();
    for (place, c) in json.chars().enumerate() {
        if c.is_ascii() && !c.is_ascii_lowercase() || place % 2 == 0 || c == 'n' || c == 'u' || c == 'l' || c == 't' {
            written.push(c);
        } else {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| written.push_str(&format!("\\u{unit:04x}")));
        }
    }
    written
}

/// The texts of a document, and the document with every text emptied.
fn leaves(value: &Value, texts: &mut Vec<String>) -> Value {
    match value {
        Value::String(text) => {
            texts.push(text.clone());
            Value::Null
        }
        Value::Array(items) => items.iter().map(|item| leaves(item, texts)).collect(),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(key, item)| (key.clone(), leaves(item, texts))).collect())
        }
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn replacing_changes_only_what_was_found(text in text()) {
        let text = crate::guard::unicode::strip(&text).into_owned();
        let mut desk = Desk { rules: &REDACT, detectors: &FAKES, redacted: Vec::new(), flags: Vec::new(), told: HashSet::new() };
        let edits = desk.look(&text, None);
        let edited = apply(&text, &edits).unwrap_or_else(|| text.clone());
        // Every byte outside of the edits is there, in order.
        let mut rest = edited.as_str();
        let mut at = 0;
        for edit in &edits {
            rest = rest.strip_prefix(&text[at..edit.span.start]).unwrap();
            rest = rest.strip_prefix(&*edit.marker.text()).unwrap();
            at = edit.span.end;
        }
        prop_assert_eq!(rest, &text[at..]);
        // And every edit holds a finding.
        let found = fake_scan(&text, true).len() + fake_secrets(&text).len();
        prop_assert!(edits.len() <= found);
    }

    #[test]
    fn cleaning_twice_changes_nothing_more(text in text(), value in document()) {
        for text in [text, value.to_string(), escaped(&value.to_string())] {
            let once = redacted(&text);
            prop_assert_eq!(&redacted(&once), &once, "{:?}", text);
        }
    }

    #[test]
    fn documents_stay_documents(value in document()) {
        for written in [value.to_string(), serde_json::to_string_pretty(&value).unwrap(), escaped(&value.to_string())] {
            // Escapes do not go into keys and names.
            let Ok(before) = serde_json::from_str::<Value>(&written) else { continue };
            let cleaned: Value = serde_json::from_str(&redacted(&written)).unwrap();
            let (mut texts, mut cleaned_texts) = (Vec::new(), Vec::new());
            prop_assert_eq!(leaves(&before, &mut texts), leaves(&cleaned, &mut cleaned_texts));
            // What a text is called may make it a secret.
            let called = value.to_string().contains("password");
            for (text, cleaned) in texts.iter().zip(&cleaned_texts).filter(|_| !called) {
                // A text in a document is cleaned as if it stood alone, and as one text even if it is a document.
                if !json::is_json(&crate::guard::unicode::strip(text)) {
                    prop_assert_eq!(cleaned, &redacted(text));
                }
            }
        }
    }

    #[test]
    fn any_text_is_cleaned(text in "(?s:.){0,40}|[\\[{\"\\\\u0-9a-f:,}\\]]{0,24}") {
        let cleaned = clean(&text, &REDACT);
        prop_assert!(!json::is_json(&text) || json::is_json(&cleaned.text));
    }
}
