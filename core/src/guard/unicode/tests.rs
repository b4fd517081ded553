use super::*;
use proptest::prelude::*;
use serde_json::Value;

fn scanned(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    scan(text, &mut found);
    found
}

fn corpus(name: &str) -> Vec<Value> {
    let path = format!("{}/../tests/corpora/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_documented_messages_have_their_rules() {
    for (text, rule) in [
        ("a\u{202E}b", "unicode.bidi.override"),
        ("normal text \u{202A} hidden", "unicode.bidi.unbalanced"),
        ("text\u{202C}more", "unicode.bidi.unbalanced"),
        ("word\u{200F}word", "unicode.hidden.separator"),
        (" ", "unicode.invisible"),
        ("\u{200B}\u{200B}", "unicode.invisible"),
        ("\u{1B}[31mred", "unicode.hidden.control"),
    ] {
        assert_eq!(scanned(text).first().map(|found| &*found.rule), Some(rule), "{text:?}");
    }
    assert_eq!(scanned(""), []);
}

#[test]
fn of_very_many_the_last_covers_the_rest() {
    for piece in ["\u{200b}a", "\u{202e}a", "\u{1b}a", "a\u{301}\u{302}\u{303}"] {
        let text = piece.repeat(MOST + 100);
        let found = scanned(&text);
        assert!(found.len() <= 2 * MOST, "{piece:?}: {}", found.len());
        assert!(found.iter().any(|found| found.span.end + 1 >= text.len()), "{piece:?}");
    }
}

#[test]
fn what_people_write_passes() {
    for file in ["unicode", "guards", "pii"] {
        for line in corpus(file) {
            let core = line.get("tier").is_none_or(|tier| tier == "core");
            let harmless = line["expect"] == "allow" || line["expect"] == "clean" || line["expect"] == "detect";
            if let Some(text) = line["input"].as_str().filter(|_| core && harmless) {
                assert!(scanned(text).iter().all(|found| found.score < 50), "{}: {:?}", line["id"], scanned(text));
                assert_eq!(strip(text), text, "{}", line["id"]);
            }
        }
    }
}

#[test]
fn what_nobody_sees_is_found() {
    for line in corpus("unicode") {
        let own = line["guard"] == "unicode" && line["expect"] == "block";
        if let Some(text) =
            line["input"].as_str().filter(|_| own && line.get("tier").is_none_or(|tier| tier != "contested"))
        {
            assert!(scanned(text).iter().any(|found| found.score >= 50), "{}", line["id"]);
        }
    }
}

#[test]
fn stripping_leaves_what_can_be_read() {
    for (text, stripped) in [
        ("\u{1B}[31merror\u{1B}[0m: not found", "error: not found"),
        ("\u{1B}]8;;http://evil.example\u{7}link\u{1B}]8;;\u{7} ok", "link ok"),
        ("\u{1B}]0;title\u{1B}\\x", "x"),
        ("\u{9B}31mred\u{9B}0m text", "red text"),
        ("50%\r100%\u{8}\u{8} done", "50%\r100% done"),
        ("a\u{0}b\tc\r\n", "ab\tc\r\n"),
        ("total\u{202E} 001 \u{202C}end", "total 001 end"),
        ("Hello\u{E0073}\u{E0065} world", "Hello world"),
        ("\u{1B}]unclosed and the rest", "unclosed and the rest"),
        ("\u{1B}(Bx\u{1B}cy", "xy"),
    ] {
        assert_eq!(strip(text), stripped, "{text:?}");
    }
}

proptest! {
    #[test]
    fn spans_are_pieces_of_the_text(text in "(?s:.){0,40}|[a\\u200b\\u200d\\ufe0f\\u202e\\u202c\\u2066\\u2069\\u{E0061}\\u{E007F}🏴👩\\u0301\\u0336 \\x1b\\[m\\x07]{0,30}") {
        for found in scanned(&text) {
            prop_assert!(found.span.start < found.span.end && text.get(found.span.clone()).is_some(), "{found:?}");
        }
        let stripped = strip(&text).into_owned();
        // What is left stands in the text, in order.
        let mut rest = text.chars();
        prop_assert!(stripped.chars().all(|c| rest.by_ref().any(|other| other == c)));
    }
}
