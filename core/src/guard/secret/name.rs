//! Whether the name that something is assigned to says that it is secret.

/// How secret what a name holds is, and of what make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// What people choose: short, words with digits.
    Password,
    /// A word that also means other things: `pass`, `pwd`.
    MaybePassword,
    /// Several words: a passphrase.
    Phrase,
    /// What machines make: long and random.
    Token,
}

/// Words that may follow the one that says it.
const AFTER: [&str; 22] = [
    "b64",
    "base64",
    "current",
    "default",
    "dev",
    "development",
    "live",
    "main",
    "new",
    "old",
    "plain",
    "plaintext",
    "primary",
    "prod",
    "production",
    "secondary",
    "staging",
    "str",
    "string",
    "test",
    "text",
    "value",
];
/// Words of names whose tokens and keys are no secrets.
const OPEN: [&str; 34] = [
    "bos",
    "cache",
    "cancel",
    "cancellation",
    "class",
    "cls",
    "completion",
    "continuation",
    "count",
    "cursor",
    "eos",
    "foreign",
    "index",
    "input",
    "mask",
    "max",
    "min",
    "next",
    "num",
    "output",
    "pad",
    "page",
    "partition",
    "primary",
    "prompt",
    "public",
    "publishable",
    "sep",
    "site",
    "sort",
    "stop",
    "sync",
    "total",
    "unk",
];
/// Words that make a key a secret one.
const KEYS: [&str; 35] = [
    "access",
    "account",
    "admin",
    "api",
    "app",
    "application",
    "auth",
    "client",
    "consumer",
    "crypto",
    "deploy",
    "encrypt",
    "encryption",
    "hmac",
    "host",
    "integration",
    "jwt",
    "license",
    "licence",
    "master",
    "private",
    "project",
    "root",
    "secret",
    "server",
    "service",
    "session",
    "shared",
    "signature",
    "signing",
    "ssh",
    "storage",
    "subscription",
    "webhook",
    "write",
];

/// What a name says. It may be written in any usual way: `db_password`, `apiKey`, `Client-Secret`, `spring.mail.password`.
pub(super) fn sort(name: &str) -> Option<Sort> {
    let words = words(name);
    let mut words: &[String] = &words;
    while let [head @ .., last] = words {
        let numbered = last.bytes().all(|byte| byte.is_ascii_digit());
        if head.is_empty() || !(numbered || AFTER.contains(&last.as_str())) {
            break;
        }
        words = head;
    }
    let (last, head) = words.split_last()?;
    let is_open = || head.iter().any(|word| OPEN.contains(&word.as_str()));
    let ends = |ends: &[&str]| ends.iter().any(|end| last.ends_with(end));
    match last.as_str() {
        "pass" | "pwd" | "pw" | "psw" | "pin" if head.is_empty() => Some(Sort::MaybePassword),
        "pass" | "pwd" | "pw" | "psw" => Some(Sort::Password),
        "passphrase" | "mnemonic" => Some(Sort::Phrase),
        "phrase" if head.last().is_some_and(|word| matches!(word.as_str(), "pass" | "seed" | "recovery")) => {
            Some(Sort::Phrase)
        }
        _ if ends(&["password", "passwd", "passwort", "kennwort", "contrasena", "motdepasse"]) => Some(Sort::Password),
        "key" => {
            let word = head.last()?.as_str();
            (KEYS.contains(&word) && !is_open()).then_some(Sort::Token)
        }
        // `accessKeyId` names the key and is none.
        _ if ends(&[
            "apikey",
            "accesskey",
            "secretkey",
            "privatekey",
            "accountkey",
            "authkey",
            "sharedkey",
            "masterkey",
        ]) =>
        {
            (!is_open()).then_some(Sort::Token)
        }
        "secret" | "secrets" | "token" | "credential" | "credentials" => (!is_open()).then_some(Sort::Token),
        "auth" if head.is_empty() && name.starts_with('_') => Some(Sort::Token),
        _ if ends(&["token", "secret"]) && !OPEN.iter().any(|word| last.starts_with(word)) => {
            (!is_open()).then_some(Sort::Token)
        }
        _ => None,
    }
}

/// The words of a name, in lower case: parted by signs and by capitals.
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let bytes = name.as_bytes();
    for (place, byte) in bytes.iter().enumerate() {
        let before = place.checked_sub(1).and_then(|place| bytes.get(place)).copied().unwrap_or_default();
        let after = bytes.get(place + 1).copied().unwrap_or_default();
        let hump = byte.is_ascii_uppercase()
            && (before.is_ascii_lowercase()
                || before.is_ascii_digit()
                || (before.is_ascii_uppercase() && after.is_ascii_lowercase()));
        let number = byte.is_ascii_digit() && before.is_ascii_alphabetic() && !after.is_ascii_alphanumeric();
        if (!byte.is_ascii_alphanumeric() || hump || number) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if byte.is_ascii_alphanumeric() {
            word.push(char::from(byte.to_ascii_lowercase()));
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_say_it_and_names_that_do_not() {
        for (name, expected) in [
            ("db_password", Some(Sort::Password)),
            ("spring.mail.password", Some(Sort::Password)),
            ("DB_PASS", Some(Sort::Password)),
            ("pass", Some(Sort::MaybePassword)),
            ("PASSWORD2", Some(Sort::Password)),
            ("apiKey", Some(Sort::Token)),
            ("X-API-Key", Some(Sort::Token)),
            ("OPENAI_API_KEY", Some(Sort::Token)),
            ("clientSecret", Some(Sort::Token)),
            ("AWSSecretAccessKey", Some(Sort::Token)),
            ("_authToken", Some(Sort::Token)),
            ("AccountKey", Some(Sort::Token)),
            ("password_hash", None),
            ("passwordPolicy", None),
            ("nextPageToken", None),
            ("max_tokens", None),
            ("eos_token", None),
            ("token_type", None),
            ("tokenizer", None),
            ("public_key", None),
            ("primary_key", None),
            ("accessKeyId", None),
            ("private_key_id", None),
            ("secretary", None),
            ("compass", None),
            ("key", None),
        ] {
            assert_eq!(sort(name), expected, "{name}");
        }
    }
}
