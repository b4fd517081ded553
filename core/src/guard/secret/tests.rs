use super::*;
use proptest::prelude::*;

/// What is left when secrets are replaced by their kinds.
fn shown(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = 0;
    for secret in secrets(text) {
        shown.push_str(&text[rest..secret.span.start]);
        shown.push_str(&format!("[{}]", secret.kind));
        rest = secret.span.end;
    }
    shown + &text[rest..]
}

/// Letters and digits that look random, always the same.
fn random(length: usize, alphabet: &str) -> String {
    let alphabet: Vec<char> = alphabet.chars().collect();
    let mut state = 7_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        alphabet[(state >> 33) as usize % alphabet.len()]
    };
    (0..length).map(|_| next()).collect()
}

const MIXED: &str = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const HEX: &str = "0123456789abcdef";

#[test]
fn tokens_of_services() {
    for (prefix, length, alphabet, kind) in [
        ("ghp_", 36, MIXED, "github_token"),
        ("github_pat_", 60, MIXED, "github_token"),
        ("glpat-", 20, MIXED, "gitlab_token"),
        ("xoxb-", 40, MIXED, "slack_token"),
        ("sk_live_", 24, MIXED, "stripe_key"),
        ("sk-ant-api03-", 60, MIXED, "anthropic_key"),
        ("sk-proj-", 48, MIXED, "openai_key"),
        ("sk-", 48, MIXED, "api_key"),
        ("AKIA", 16, "ABCDEFGHIJ234567", "aws_access_key"),
        ("AKIA", 16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ27", "aws_access_key"),
        ("rk_live_", 24, "abcdefghijklmABCDEFGHIJKLM", "stripe_key"),
        ("AIza", 35, MIXED, "google_api_key"),
        ("hf_", 34, MIXED, "huggingface_token"),
        ("npm_", 36, MIXED, "npm_token"),
        ("SK", 32, HEX, "twilio_key"),
        ("dapi", 32, HEX, "databricks_token"),
        ("1234567890:AA", 33, MIXED, "telegram_token"),
    ] {
        let token = format!("{prefix}{}", random(length, alphabet));
        for (before, after) in [("", ""), ("x=", "\n"), ("(", ")."), ("a\\n", "\\n"), ("é", " é"), ("'", "'")] {
            let text = format!("{before}{token}{after}");
            assert_eq!(shown(&text), format!("{before}[{kind}]{after}"), "{text}");
        }
        // Not in the middle of a word.
        if !prefix.contains(':') {
            assert_eq!(secrets(&format!("abc{token}")), [], "{token}");
        }
    }
}

#[test]
fn assignments_in_every_notation() {
    for (text, expected) in [
        ("DB_PASSWORD=h75kBg5LCgApz021\nA=1", "DB_PASSWORD=[password]\nA=1"),
        ("export API_KEY=\"a8f5f167f44f4964\"", "export API_KEY=\"[token]\""),
        ("password: 'Lw9$FI7zI8ZZJq'", "password: '[password]'"),
        ("{\"password\":\"depijn!x\",\"ssl\":true}", "{\"password\":\"[password]\",\"ssl\":true}"),
        ("\\\"password\\\": \\\"depijn!x\\\"", "\\\"password\\\": \\\"[password]\\\""),
        ("<password>tR5V3xFM</password>", "<password>[password]</password>"),
        ("<p name=\"x.password\">tR5V3xFM</p>", "<p name=\"x.password\">[password]</p>"),
        ("define('DB_PASSWORD', 'm2EhEPBa');", "define('DB_PASSWORD', '[password]');"),
        ("let token: &str = \"q8Zr72kLmPxA91\";", "let token: &str = \"[token]\";"),
        ("os.environ[\"API_TOKEN\"] = \"q8Zr72kLmPxA91\"", "os.environ[\"API_TOKEN\"] = \"[token]\""),
        ("Server=x;Password=Zq4!4Ge#;Encrypt=True", "Server=x;Password=[password];Encrypt=True"),
        ("https://x.example/?token=q8Zr72kLmPxA91&b=1", "https://x.example/?token=[token]&b=1"),
        ("tool --password Zq4!4Ge --x", "tool --password [password] --x"),
        ("curl -u kim:Gn3HC3qk https://x.example", "curl -u kim:[password] https://x.example"),
        ("machine a login kim password VnBHD2inF5", "machine a login kim password [password]"),
        ("the password is Zq4!4GeE.", "the password is [password]."),
        ("Authorization: Basic a2ltOmw5MG41eVlG", "Authorization: Basic [basic_login]"),
        ("curl -H 'Authorization: Bearer q8Zr72kLmPxA91ab'", "curl -H 'Authorization: Bearer [bearer_token]'"),
        ("redis://:839wT5W4F@c.example/0", "redis://:[connection_password]@c.example/0"),
    ] {
        assert_eq!(shown(text), expected);
    }
}

#[test]
fn what_is_no_secret_stays() {
    for text in [
        "API_KEY=\nDEBUG=1",
        "api_key: ${API_KEY}",
        "password: ${DB_PASSWORD:?must be set}\ntoken: {{ secrets.DEPLOY_TOKEN }}",
        "password: <your password here>",
        "export TOKEN=$(cat token)",
        "password = getpass.getpass(\"Password: \")",
        "token = os.environ[\"TOKEN\"]",
        "let token = tokens.next()?;",
        "token: String,",
        "fn password(text: &str, start: usize) -> Option<Range<usize>> {",
        "password_changed_at=2026-01-04",
        "GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "AKIAIOSFODNN7EXAMPLE",
        "commit 3f9a2b7c1d4e5f60718293a4b5c6d7e8f9012345",
        "mysql://USER:PASSWORD@HOST:3306/DB",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB u@h",
        "a basic understanding of bearer certificates",
        "sk-toggleable__label-arrow-before-content",
        "The key is under the mat, the password is secret.",
        "password is required, passwords must have 12 characters",
        "max_tokens: 4096",
        "<input type=\"password\" name=\"password\" placeholder=\"Your password\">",
        "\"tokenizer\": \"cl100k_base\"",
        "primary_key=True",
        "sort key: created_at_2024",
        "https://example.org/@user:name",
    ] {
        assert_eq!(shown(text), text);
    }
}

#[test]
fn the_automata_can_be_built() {
    assert_eq!(shown("npm_"), "npm_");
    let token = format!("ghp_{}", random(36, MIXED));
    assert_eq!(secrets(&token).len(), 1, "no automaton");
}

proptest! {
    #[test]
    fn spans_are_pieces_in_order(text in "(?s:(password|token|key|sk-|eyJ|Bearer |[=:\"' \\\\n/@;&<>é]|[a-zA-Z0-9]{1,9}){0,30})") {
        let mut after = 0;
        for secret in secrets(&text) {
            prop_assert!(secret.span.start >= after && secret.span.start < secret.span.end);
            prop_assert!(text.get(secret.span.clone()).is_some(), "{:?} in {text:?}", secret.span);
            after = secret.span.end;
        }
    }
}
