//! Every parser of the engine behind one signature, for `cargo xtask fuzz`. Not part of the public contract.
//!
//! A target takes any bytes. It panics when a promise is broken: a reply that depends on how its stream was cut, text
//! that differs from its pieces, a history that cannot be sent back.

use crate::guard::tool_output::{Cleaning, Orders};
use crate::guard::{self, Folded, GuardKind, answer};
use crate::message::{Arguments, AssistantMessage, Message, Outcome, ToolResult};
use crate::provider::sse::Splitter;
use crate::provider::wire::anthropic::Anthropic;
use crate::provider::wire::chat::Chat;
use crate::provider::wire::chat::dialect::Dialect;
use crate::provider::wire::gemini::Gemini;
use crate::provider::wire::ollama::Ollama;
use crate::provider::wire::responses::Responses;
use crate::provider::wire::{Decoder, Wire, arguments};
use crate::provider::{
    ModelOptions, ModelReply, ModelRequest, ProviderError, ScriptedProvider, StreamPart, ToolChoice, retry_hint,
};
use crate::schema::{Schema, tidy};
use crate::screening::{Action, GuardOptions, Screen, Source};
use bytes::Bytes;
use std::sync::Arc;

/// One parser.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Runs it on an input.
    pub run: fn(&[u8]),
}

/// Every parser.
pub const TARGETS: &[Target] = &[
    Target { name: "arguments", run: arguments_text },
    Target { name: "tidy", run: tidied },
    Target { name: "answer", run: answer_filter },
    Target { name: "fold", run: fold },
    Target { name: "injection", run: |input| guard(GuardKind::Injection, input) },
    Target { name: "unicode", run: |input| guard(GuardKind::Unicode, input) },
    Target { name: "homoglyph", run: |input| guard(GuardKind::Homoglyph, input) },
    Target { name: "role_switch", run: |input| guard(GuardKind::RoleSwitch, input) },
    Target { name: "code_injection", run: |input| guard(GuardKind::CodeInjection, input) },
    Target { name: "destructive_sql", run: |input| guard(GuardKind::DestructiveSql, input) },
    Target { name: "pii_detection", run: |input| guard(GuardKind::PiiDetection, input) },
    Target { name: "redaction", run: redaction },
    Target { name: "secrets", run: secrets },
    Target { name: "tool_output", run: tool_output },
    Target { name: "url", run: url },
    Target { name: "command", run: command },
    Target { name: "retry_hint", run: hint },
    Target { name: "script", run: script },
    Target { name: "anthropic", run: |input| wire(&Anthropic::new(BASE, None, MODEL), input) },
    Target { name: "chat", run: chat },
    Target { name: "responses", run: |input| wire(&Responses::new(BASE.into(), None, MODEL), input) },
    Target { name: "gemini", run: |input| wire(&Gemini::new(BASE, None, MODEL), input) },
    Target { name: "ollama", run: |input| wire(&Ollama::new(BASE.into(), None, MODEL), input) },
];

const BASE: &str = "http://127.0.0.1:1";
const MODEL: &str = "model";
/// Bytes that a fuzzed event may have.
const EVENT: usize = 1 << 20;

fn arguments_text(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    for cut in [false, true] {
        // Refusing is fine; what is taken must be whole.
        if let Ok(taken) = arguments::from_text(&text, cut) {
            check_arguments(&taken);
        }
    }
    if let Ok(taken) = text.parse::<Arguments>() {
        check_arguments(&taken);
    }
}

fn check_arguments(taken: &Arguments) {
    assert!(taken.value().is_object(), "arguments are no object: {taken}");
    let canonical = taken.canonical();
    let again = canonical.parse::<Arguments>().map(|again| again.canonical());
    assert_eq!(again.as_deref(), Ok(canonical.as_str()), "the canonical form is not stable");
}

/// The input is a schema and arguments, one a line.
fn tidied(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let (schema, arguments) = text.split_once('\n').unwrap_or((WIDE_SCHEMA, &text));
    let (Ok(value), Ok(arguments)) = (serde_json::from_str(schema), arguments.parse::<Arguments>()) else { return };
    let Ok(schema) = Schema::new(value) else { return };
    if let Some(tidied) = tidy(&schema, &arguments) {
        check_arguments(&tidied);
        let _ = schema.check(&tidied);
    }
    let _ = schema.check(&arguments);
}

/// A schema that knows the usual types.
const WIDE_SCHEMA: &str = r#"{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"},
"deep":{"type":"boolean"},"list":{"type":"array","items":{"type":"number"}},"s":{"enum":["a","b"]},
"o":{"type":"object","properties":{"a":{"type":["string","null"]}}}}}"#;

/// The first byte says how the text is cleaned and where it is cut.
fn answer_filter(input: &[u8]) {
    use answer::AnswerMode::{Documented, Escape, Off, OutsideCodeFences};
    let Some((step, text)) = input.split_first() else { return };
    let modes = [Documented, OutsideCodeFences, Escape, Off];
    let mode = modes.get(usize::from(*step >> 6)).copied().unwrap_or_default();
    let text = String::from_utf8_lossy(text);
    let (whole, findings) = answer::clean(text.clone().into_owned(), mode);
    let mut filter = answer::AnswerFilter::new(mode);
    let mut pieces = String::new();
    let chars: Vec<char> = text.chars().collect();
    for piece in chars.chunks(usize::from(*step % 7) + 1) {
        pieces.push_str(&filter.push(piece.iter().collect::<String>()));
    }
    pieces.push_str(&filter.finish());
    assert_eq!(pieces, whole, "streamed and whole answers differ");
    assert_eq!(filter.findings(), findings, "streamed and whole findings differ");
}

/// Every word of every view leads back to a piece of the text.
fn fold(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let folded = Folded::new(&text);
    for view in folded.views() {
        let mut at = 0;
        for word in view.text().split_inclusive(|c: char| !c.is_alphanumeric()) {
            let span = view.origin(at..at + word.len());
            assert!(text.get(span.clone()).is_some(), "{:?}: {word:?} leads to {span:?}", view.kind());
            at += word.len();
        }
    }
}

/// Findings of one guard have places in the text.
fn guard(kind: GuardKind, input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let found = guard::scan(&text);
    for finding in found.iter().filter(|finding| finding.guard == kind) {
        check_span(&text, &finding.span);
        assert!(finding.score <= 100, "{finding:?}");
    }
}

fn check_span(text: &str, span: &std::ops::Range<usize>) {
    assert!(span.start < span.end && text.get(span.clone()).is_some(), "{span:?} is no piece of {text:?}");
}

/// Redacting changes what was reported and nothing else.
fn redaction(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let mut options = GuardOptions::default();
    for kind in GuardKind::ALL.iter().filter(|kind| **kind != GuardKind::MessageLength) {
        options.rules.insert(kind.key().into(), Action::Redact);
    }
    for group in RULE_GROUPS {
        options.rules.insert((*group).into(), Action::Redact);
    }
    let screen = Screen::new(&options);
    assert!(screen.is_ok(), "the settings are right");
    let Ok(screen) = screen else { return };
    let report = screen.check(&Source::Typed, &text);
    let gone: Vec<_> = report
        .findings
        .iter()
        .filter(|judged| judged.action == Action::Redact)
        .map(|judged| judged.finding.span.clone())
        .collect();
    let Some(redacted) = report.redacted(&text) else {
        assert!(gone.is_empty(), "nothing was redacted");
        return;
    };
    // What is left of the text stands in the redacted one, piece by piece and in order.
    let kept = |at: usize| !gone.iter().any(|span| span.contains(&at));
    let (mut rest, mut piece) = (redacted.as_str(), String::new());
    for (at, c) in text.char_indices() {
        if kept(at) {
            piece.push(c);
        } else if !piece.is_empty() {
            rest = after(rest, &piece);
            piece.clear();
        }
    }
    after(rest, &piece);
}

/// Groups of rules, so that every finding is redacted.
const RULE_GROUPS: &[&str] = &[
    "override",
    "void",
    "reveal",
    "forged",
    "agent",
    "new",
    "jailbreak",
    "role",
    "unicode",
    "homoglyph",
    "code",
    "sql",
    "pii",
];

fn after<'a>(rest: &'a str, piece: &str) -> &'a str {
    let at = rest.find(piece);
    assert!(at.is_some(), "{piece:?} is gone from {rest:?}");
    at.and_then(|at| rest.get(at + piece.len()..)).unwrap_or_default()
}

fn secrets(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let mut end = 0;
    for secret in guard::secrets(&text) {
        check_span(&text, &secret.span);
        assert!(secret.span.start >= end, "secrets overlap");
        end = secret.span.end;
    }
}

/// JSON stays JSON, what was cleaned is clean, and the fence holds.
fn tool_output(input: &[u8]) {
    let text = guard::tool_output::text_of(input);
    let rules = Cleaning { injection: Orders::Redact, personal: true, ..Cleaning::default() };
    let cleaned = guard::tool_output::clean(&text, &rules);
    let document = |text: &str| serde_json::from_str::<serde_json::Value>(text).is_ok_and(|value| !value.is_string());
    if text.starts_with(['{', '[']) && document(&text) {
        assert!(document(&cleaned.text), "no JSON any more: {:?}", cleaned.text);
    }
    if cleaned.redacted.is_empty() && cleaned.flags.is_empty() {
        let again = guard::tool_output::clean(&cleaned.text, &rules);
        assert_eq!(again.text, cleaned.text, "cleaned twice it changes");
    }
    let marker = "0123456789abcdef";
    let fenced = guard::tool_output::fence(&cleaned.text, marker);
    assert_eq!(fenced.matches(marker).count(), 2, "the marker stands inside of the fence: {fenced:?}");
}

/// What is allowed leads to no address that is not public, and reads the same again.
fn url(input: &[u8]) {
    use crate::sandbox::address::is_public;
    use crate::sandbox::url::Target;
    let Ok(target) = Target::read(&String::from_utf8_lossy(input)) else { return };
    let address = target.host().parse().ok().or(target.literal());
    assert!(address.is_none_or(is_public), "{target:?}");
    assert_eq!(target.url().host_str().map(|host| host.trim_matches(['[', ']'])), Some(target.host()));
    assert_eq!(Target::read(target.url().as_str()).as_ref(), Ok(&target), "it reads differently again");
}

/// What runs has an allowed name, no sign of a shell, and shows no file that is listed.
fn command(input: &[u8]) {
    use crate::sandbox::command::check;
    let text = String::from_utf8_lossy(input);
    let Ok(command) = check(&text, &["cat", "ls", "rm", "bash"]) else { return };
    assert!(matches!(command.words.first(), Some(&("cat" | "ls"))), "{command:?}");
    assert!(!text.contains([';', '&', '|', '>', '<', '`', '$', '\0']), "{command:?}");
    let shown = command.words.first() == Some(&"cat");
    let listed = |word: &&str| matches!(word.to_lowercase().as_str(), ".env" | "id_rsa" | "/etc/shadow" | "a.pem");
    assert!(!shown || !command.words.iter().any(listed), "{command:?}");
}

fn hint(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let _ = (retry_hint::from_text(&text), retry_hint::duration(&text));
}

fn script(input: &[u8]) {
    let _ = ScriptedProvider::from_json(&String::from_utf8_lossy(input));
}

/// The length of the input says which server's dialect reads it.
fn chat(input: &[u8]) {
    const PROVIDERS: [&str; 7] = ["openai", "groq", "mistral", "deepseek", "openrouter", "ollama", "custom"];
    let provider = PROVIDERS.get(input.len() % PROVIDERS.len()).copied().unwrap_or_default();
    wire(&Chat::new(Dialect::of(provider), BASE.into(), None, MODEL).read_text_calls(Some(true)), input);
}

fn wire<W: Wire>(wire: &W, input: &[u8]) {
    if let Ok(reply) = wire.decode(input) {
        send_back(wire, reply);
    }
    for status in [400, 429, 500] {
        let _ = wire.decode_error(status, input, None);
    }
    let whole = streamed(wire, std::iter::once(input));
    for size in [1, 3, 64] {
        let cut = streamed(wire, input.chunks(size));
        match (&whole, &cut) {
            (Ok(whole), Ok(cut)) => assert_eq!(whole, cut, "the reply depends on how the stream is cut"),
            (Err(whole), Err(cut)) => assert_eq!(whole.to_string(), cut.to_string(), "the error depends on the cut"),
            (whole, cut) => assert_eq!(whole.is_ok(), cut.is_ok(), "whole {whole:?}, cut {cut:?}"),
        }
    }
    if let Ok((reply, pieces)) = whole {
        assert_eq!(reply.text, pieces, "the text is not its pieces");
        send_back(wire, reply);
    }
}

/// Reads a stream: the reply and its text pieces joined.
fn streamed<'a, W: Wire>(
    wire: &W,
    chunks: impl Iterator<Item = &'a [u8]>,
) -> Result<(ModelReply, String), ProviderError> {
    let mut splitter = Splitter::new(wire.framing(), EVENT);
    let mut decoder = wire.decoder();
    let mut parts = Vec::new();
    for chunk in chunks {
        splitter.push(Bytes::copy_from_slice(chunk));
        while let Ok(Some(event)) = splitter.next() {
            decoder.event(event.name, event.data, &mut parts)?;
            if decoder.is_done() {
                return joined(decoder, parts);
            }
        }
    }
    if let Ok(Some(event)) = splitter.finish() {
        decoder.event(event.name, event.data, &mut parts)?;
    }
    joined(decoder, parts)
}

fn joined<D: Decoder>(decoder: D, parts: Vec<StreamPart>) -> Result<(ModelReply, String), ProviderError> {
    let reply = decoder.finish()?;
    let pieces = parts.iter().filter_map(|part| match part {
        StreamPart::Text(text) => Some(text.as_str()),
        StreamPart::Thinking(_) | StreamPart::Reply(_) => None,
    });
    Ok((reply, pieces.collect()))
}

/// Whatever a reply was, the history with it must be valid JSON on the wire.
fn send_back<W: Wire>(wire: &W, mut reply: ModelReply) {
    for (index, call) in reply.calls.iter_mut().enumerate() {
        call.id = format!("call-{index}").into();
        check_arguments(&call.arguments);
    }
    let result = |call: &crate::message::ToolCall| ToolResult {
        call_id: call.id.clone(),
        name: call.name.clone(),
        content: "done".into(),
        outcome: Outcome::Ok,
    };
    let results: Vec<ToolResult> = reply.calls.iter().map(result).collect();
    let answer = AssistantMessage { content: reply.text.into(), calls: reply.calls, native: reply.native };
    let mut messages = vec![Message::user("question"), Message::Assistant(answer)];
    if !results.is_empty() {
        messages.push(Message::Tool { results });
    }
    messages.push(Message::user("more"));
    let request = ModelRequest {
        system: "system".into(),
        messages: Arc::new(messages),
        tools: Vec::new().into(),
        tool_choice: ToolChoice::Auto,
        options: Arc::new(ModelOptions::default()),
    };
    if let Ok(body) = wire.encode(&request, false) {
        let body: Result<serde_json::Value, _> = serde_json::from_slice(&body);
        assert!(body.is_ok(), "the request is no JSON: {body:?}");
    }
}
