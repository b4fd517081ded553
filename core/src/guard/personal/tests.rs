use super::*;
use crate::guard::Folded;
use proptest::prelude::*;
use serde_json::Value;

fn found(text: &str) -> Vec<(&'static str, String)> {
    let folded = Folded::new(text);
    personal(&folded).into_iter().map(|found| (found.sort.as_str(), text[found.span].to_owned())).collect()
}

/// Lines of a corpus, as far as they count.
fn lines(corpus: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(corpus).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Lines of a corpus that are not judged as it says.
fn differences(corpus: &str, tier: Option<&str>) -> (usize, Vec<String>) {
    let mut wrong = Vec::new();
    let lines: Vec<Value> = lines(corpus)
        .into_iter()
        .filter(|line| tier.is_none_or(|tier| line["tier"].as_str().unwrap_or("core") == tier))
        .collect();
    for line in &lines {
        let Some(input) = line["input"].as_str() else { continue };
        let mut expected: Vec<(String, String)> = line["spans"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|span| {
                (span["type"].as_str().unwrap().replace("us_ssn", "ssn"), span["text"].as_str().unwrap().to_owned())
            })
            .collect();
        let mut is: Vec<(String, String)> =
            found(input).into_iter().map(|(sort, text)| (sort.to_owned(), text)).collect();
        expected.sort();
        is.sort();
        if expected != is {
            wrong.push(format!(
                "{}: {input:?}\n  expected {expected:?}\n  found    {is:?}",
                line["id"].as_str().unwrap()
            ));
        }
    }
    (lines.len(), wrong)
}

#[test]
fn the_corpus() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/corpora/pii.jsonl");
    let (count, wrong) = differences(corpus, None);
    assert!(count > 100 && wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is found in a text, sort by sort.
const HITS: &[(&str, &[(&str, &str)])] = &[
    // Addresses.
    ("mail \"john doe\"@example.com", &[("email", "\"john doe\"@example.com")]),
    ("{\"a\":\"x\\nanna@example.com\"}", &[("email", "anna@example.com")]),
    ("to=anna%40example.com&x", &[("email", "anna%40example.com")]),
    ("%3Canna@example.com%3E", &[("email", "anna@example.com")]),
    ("josé@example.com, ok", &[("email", "josé@example.com")]),
    ("用户@例子.广告", &[("email", "用户@例子.广告")]),
    ("메일은 anna@example.com입니다", &[("email", "anna@example.com")]),
    ("메일anna2@example.com", &[("email", "anna2@example.com")]),
    ("иван2@почта.example", &[("email", "иван2@почта.example")]),
    ("Write to anna@example.com. Then wait", &[("email", "anna@example.com")]),
    ("anna@example.com.Then wait", &[("email", "anna@example.com")]),
    ("10 @ 5 and bob@163.com", &[("email", "bob@163.com")]),
    ("https://x.example/?mail=anna@example.com", &[("email", "anna@example.com")]),
    ("jane (at) shop (dot) com", &[("email", "jane (at) shop (dot) com")]),
    ("jane.doe[at]shop.example now", &[("email", "jane.doe[at]shop.example")]),
    ("jane at shop dot com", &[("email", "jane at shop dot com")]),
    // Cards.
    ("card 4111.1111.1111.1111", &[("credit_card", "4111.1111.1111.1111")]),
    ("4111\u{a0}1111\u{a0}1111\u{a0}1111", &[("credit_card", "4111\u{a0}1111\u{a0}1111\u{a0}1111")]),
    ("4111 1111 1111 1111 123", &[("credit_card", "4111 1111 1111 1111")]),
    ("Visa 4111-1111-1111-1111 04/29", &[("credit_card", "4111-1111-1111-1111")]),
    ("diners 3056 930902 5904", &[("credit_card", "3056 930902 5904")]),
    ("visa 4222222222222", &[("credit_card", "4222222222222")]),
    ("карта №4111111111111111", &[("credit_card", "4111111111111111")]),
    ("٤١١١ ١١١١ ١١١١ ١١١١", &[("credit_card", "٤١١١ ١١١١ ١١١١ ١١١١")]),
    ("4111111111111111,5555555555554444", &[("credit_card", "4111111111111111"), ("credit_card", "5555555555554444")]),
    // Numbers of people.
    ("ssn 536228137", &[("ssn", "536228137")]),
    ("SSN: 536.22.8137", &[("ssn", "536.22.8137")]),
    ("(536-22-8137)", &[("ssn", "536-22-8137")]),
    // Accounts.
    ("iban gb 82 west 1234 5698 7654 32", &[("iban", "gb 82 west 1234 5698 7654 32")]),
    ("MT84 MALT 0110 0001 2345 MTLC AST0 01S", &[("iban", "MT84 MALT 0110 0001 2345 MTLC AST0 01S")]),
    ("DE89-3704-0044-0532-0130-00.", &[("iban", "DE89-3704-0044-0532-0130-00")]),
    // Phones.
    ("+44 (0)20 7946 0958", &[("phone", "+44 (0)20 7946 0958")]),
    ("(+44) 20 7946 0958", &[("phone", "(+44) 20 7946 0958")]),
    ("+1.4155550132", &[("phone", "+1.4155550132")]),
    ("0044 20 7946 0958", &[("phone", "0044 20 7946 0958")]),
    ("011 44 20 7946 0958", &[("phone", "011 44 20 7946 0958")]),
    ("ring 415 555 0132", &[("phone", "415 555 0132")]),
    ("1-800-555-0199", &[("phone", "1-800-555-0199")]),
    ("8 (495) 555-01-23", &[("phone", "8 (495) 555-01-23")]),
    ("Tel. 0171/1234567", &[("phone", "0171/1234567")]),
    ("(11) 91234-5678", &[("phone", "(11) 91234-5678")]),
    ("010-1234-5678", &[("phone", "010-1234-5678")]),
    ("138 0013 8000", &[("phone", "138 0013 8000")]),
    ("{\"phoneNumber\":\"4155550132\"}", &[("phone", "4155550132")]),
    ("call me at 4155550132", &[("phone", "4155550132")]),
    ("my number is 98765 43210", &[("phone", "98765 43210")]),
    ("手机号13800138000", &[("phone", "13800138000")]),
    ("tel 912 345 678", &[("phone", "912 345 678")]),
    ("０３ー５５５５ー０１２３", &[("phone", "０３ー５５５５ー０１２３")]),
    ("01 99 00 12 34", &[("phone", "01 99 00 12 34")]),
];

/// Texts without personal data.
const MISSES: &[&str] = &[
    "git clone ssh://git@example.com/org/repo",
    "deploy@host.example.com:/var/www",
    "https://user:word@host.example.com/",
    "icon@3x.png",
    "react@18.2.0-rc.one",
    "getty@tty1.service",
    "import x from '@scope/pkg'",
    "a @ b.com",
    "x@y.z",
    "@anna@social.example",
    "meet me at noon dot",
    "the (at) sign",
    "tags [at] will",
    "id 550e8400-4111-1111-1111-446655440000",
    "0.4111111111111111",
    "4111111111111111.5e3",
    "EAN 4222222222222",
    "IMEI 378282246310005",
    "9400 4111 1111 1111 1111 2222",
    "x4111111111111111",
    "41111111111111111111111",
    "SKU 100-20-3000",
    "phone 000-12-3456 is none",
    "ab12-536-22-8137",
    "1.536-22-8137",
    "order 536228137",
    "DE89370400440532013001",
    "xGB82WEST12345698765432",
    "GB82WEST12345698765432x",
    "tracking 555 123 4567",
    "order #415-555-0132",
    "call by 2026-03-04",
    "call at 10:30-11:45",
    "ping 192.168.100.200",
    "call 192.168.100.200",
    "pages 1999-2004",
    "from 12.03.2026 to 14.03.2026",
    "1,234,567 890",
    "2+14155550132",
    "+12 lines",
    "UTC+02:00",
    "+52.520008, +13.404954",
    "call 1767225600",
    "model 0800-123-456",
    "Copyright 2019-2024",
    "0001-2345-6789",
    "02-2026-0001",
    "x = 1234567890",
    "255 255 255 0 12",
    "lines 100 200 3000",
    "5551234567",
    "int.example.com/415-555-0132/x",
    "call the function 3 times in 2000 ms",
    "$415 555 0132",
];

#[test]
fn each_sort_is_found_in_each_of_its_forms() {
    for (text, expected) in HITS {
        let expected: Vec<_> = expected.iter().map(|(sort, span)| (*sort, (*span).to_owned())).collect();
        assert_eq!(found(text), expected, "{text}");
    }
}

#[test]
fn numbers_and_signs_of_other_kinds_are_left_alone() {
    let wrong: Vec<_> = MISSES.iter().map(|text| (text, found(text))).filter(|(_, found)| !found.is_empty()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_spelled_out_address_is_less_sure() {
    let score = |text: &str| personal(&Folded::new(text)).first().map(|found| found.score);
    assert_eq!((score("jane (at) shop (dot) com"), score("jane@shop.example")), (Some(45), Some(60)));
}

proptest! {
    #[test]
    fn spans_are_text_in_order_without_overlaps(
        text in "(?s:.){0,60}|[0-9٣４ ().+/@a-z-]{0,60}|([a-z]{1,3}|[0-9]{2,5}|[ .@%()+-]|at|dot|%40|\\\\n){0,30}"
    ) {
        let mut last = 0;
        for personal in personal(&Folded::new(&text)) {
            prop_assert!(personal.span.start >= last && personal.span.start < personal.span.end);
            prop_assert!(text.get(personal.span.clone()).is_some(), "{:?} of {text:?}", personal.span);
            last = personal.span.end;
        }
    }
}
