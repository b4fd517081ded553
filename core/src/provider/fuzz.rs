//! Where fuzzers come in: any bytes through every wire format, as a whole reply, as a stream and as an error.
//!
//! Built for the crate's own tests and with `--cfg fuzzing`; nothing of it is in a normal build.

use super::sse::Splitter;
use super::wire::anthropic::Anthropic;
use super::wire::chat::Chat;
use super::wire::chat::dialect::Dialect;
use super::wire::gemini::Gemini;
use super::wire::ollama::Ollama;
use super::wire::responses::Responses;
use super::wire::{Decoder, Wire};
use super::{ModelOptions, ModelReply, ModelRequest, ProviderError, StreamPart, ToolChoice};
use crate::message::{Arguments, AssistantMessage, Message, Outcome, ToolResult};
use std::collections::HashSet;
use std::sync::Arc;

/// Feeds the bytes to every wire format. Panics when something comes out that must not.
pub fn replies(data: &[u8]) {
    trial(&Anthropic::new("https://h", None, "claude-sonnet-4-5"), data);
    trial(&Gemini::new("https://h", None, "gemini-3-flash-preview"), data);
    trial(&Responses::new("https://h".into(), None, "gpt-5"), data);
    trial(&Ollama::new("https://h".into(), None, "qwen3:4b"), data);
    for provider in ["openai", "groq", "mistral", "deepseek", "openrouter", "custom"] {
        trial(&Chat::new(Dialect::of(provider), "https://h".into(), None, "model"), data);
    }
}

fn trial<W: Wire>(wire: &W, data: &[u8]) {
    if let Ok(reply) = wire.decode(data) {
        sound(wire, reply);
    }
    let (whole, pieces) = stream(wire, data, data.len().max(1));
    let (cut, cut_pieces) = stream(wire, data, usize::from(data.first().copied().unwrap_or(1) % 16) + 1);
    assert_eq!(pieces, cut_pieces, "the cut changed the pieces");
    match (whole, cut) {
        (Ok(whole), Ok(cut)) => {
            assert_eq!(whole, cut, "the cut changed the reply");
            sound(wire, whole);
        }
        (Err(whole), Err(cut)) => assert_eq!(whole.to_string(), cut.to_string(), "the cut changed the error"),
        (whole, cut) => assert!(whole.is_ok() == cut.is_ok(), "the cut changed the outcome"),
    }
    let error = wire.decode_error(data.first().map_or(500, |byte| 300 + u16::from(*byte)), data, None);
    assert!(!error.message.is_empty(), "an error without words");
    assert!(error.message.len() <= 32 << 10, "an error of {} bytes", error.message.len());
}

fn stream<W: Wire>(wire: &W, data: &[u8], step: usize) -> (Result<ModelReply, ProviderError>, Vec<StreamPart>) {
    let mut parts = Vec::new();
    let reply = events(wire, data, step, &mut parts);
    (reply, parts)
}

fn events<W: Wire>(
    wire: &W,
    data: &[u8],
    step: usize,
    parts: &mut Vec<StreamPart>,
) -> Result<ModelReply, ProviderError> {
    let mut splitter = Splitter::new(wire.framing(), 1 << 20);
    let mut decoder = wire.decoder();
    'body: for piece in data.chunks(step) {
        splitter.push(piece.to_vec().into());
        while let Some(event) = splitter.next().unwrap_or_default() {
            decoder.event(event.name, event.data, parts)?;
            if decoder.is_done() {
                break 'body;
            }
        }
    }
    if !decoder.is_done()
        && let Some(event) = splitter.finish().unwrap_or_default()
    {
        decoder.event(event.name, event.data, parts)?;
    }
    decoder.finish()
}

/// Whatever was read can be kept and sent back.
fn sound<W: Wire>(wire: &W, reply: ModelReply) {
    let mut used = HashSet::new();
    let mut calls = reply.calls;
    for (place, call) in calls.iter_mut().enumerate() {
        assert!(call.fault.is_none() || call.arguments == Arguments::empty(), "arguments of a call that must not run");
        let given = call.provider_id.clone().filter(|id| !used.contains(id));
        call.id = given.unwrap_or_else(|| format!("own_{place}").into());
        used.insert(Arc::clone(&call.id));
    }
    if let Some(native) = &reply.native {
        assert!(serde_json::from_str::<serde_json::Value>(&native.blocks).is_ok(), "own form is no JSON: {native:?}");
    }
    let results = calls
        .iter()
        .map(|call| ToolResult {
            call_id: Arc::clone(&call.id),
            name: Arc::clone(&call.name),
            content: "seen".into(),
            outcome: Outcome::Ok,
        })
        .collect();
    let said = AssistantMessage { content: reply.text.into(), calls, native: reply.native };
    let messages = vec![Message::user("go"), Message::Assistant(said), Message::Tool { results }];
    let request = ModelRequest {
        system: "".into(),
        messages: Arc::new(messages),
        tools: Arc::from([]),
        tool_choice: ToolChoice::Auto,
        options: Arc::new(ModelOptions::default()),
    };
    let body = wire.encode(&request, false);
    assert!(body.is_ok(), "what was read cannot be sent back: {body:?}");
    let body = body.unwrap_or_default();
    assert!(serde_json::from_slice::<serde_json::Value>(&body).is_ok(), "the request is no JSON");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    /// Replies that are right, to be damaged.
    const SEEDS: &[&str] = &[
        concat!(
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3}}}\n\n",
            "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}\n\n",
            "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"hm é\"}}\n\n",
            "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"s\"}}\n\n",
            "data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"c1\",",
            "\"name\":\"look\",\"input\":{}}}\n\n",
            "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",",
            "\"partial_json\":\"{\\\"n\\\":1}\"}}\n\n",
            "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":9}}\n\n",
            "data: {\"type\":\"message_stop\"}\n\n",
        ),
        concat!(
            "{\"content\":[{\"type\":\"redacted_thinking\",\"data\":\"x\"},{\"type\":\"text\",\"text\":\"hi 🦀\"},",
            "{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"look\",\"input\":{\"n\":1}}],\"stop_reason\":\"tool_use\",",
            "\"usage\":{\"input_tokens\":3,\"output_tokens\":4}}",
        ),
        concat!(
            "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hm\",\"thought\":true},{\"text\":\"é\"}]}}]}\r\n\r\n",
            "data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"look\",\"args\":{\"n\":1},",
            "\"id\":\"g1\"},\"thoughtSignature\":\"s\"}]},\"finishReason\":\"STOP\"}],",
            "\"usageMetadata\":{\"promptTokenCount\":3}}\r\n\r\n",
        ),
        concat!(
            "{\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"look\",\"args\":{}},",
            "\"thoughtSignature\":\"s\"},{\"text\":\"hi\"}]},\"finishReason\":\"MAX_TOKENS\"}]}",
        ),
        concat!(
            "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"hi é\",\"reasoning_content\":\"hm\"}}]}\n\n",
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"function\":{\"name\":\"look\",",
            "\"arguments\":\"{\\\"n\\\"\"}}]}}]}\n\n",
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\":1}\"}}]},",
            "\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":3}}\n\ndata: [DONE]\n\n",
        ),
        concat!(
            "{\"choices\":[{\"message\":{\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\",\"text\":\"hm\"}]},",
            "{\"type\":\"text\",\"text\":\"hi\"}],\"tool_calls\":[{\"id\":\"\",\"function\":{\"name\":\"look\",",
            "\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}",
        ),
        concat!(
            "data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"reasoning\",\"id\":\"r\",\"summary\":[],",
            "\"encrypted_content\":\"x\"}}\n\n",
            "data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"function_call\",\"call_id\":\"c1\",",
            "\"name\":\"look\",\"arguments\":\"{}\"}}\n\n",
            "data: {\"type\":\"response.output_text.delta\",\"delta\":\"é\"}\n\n",
            "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[]}}\n\n",
        ),
        concat!(
            "{\"message\":{\"content\":\"hi é\",\"thinking\":\"hm\"},\"done\":false}\n",
            "{\"message\":{\"content\":\"\",\"tool_calls\":[{\"function\":{\"name\":\"look\",\"arguments\":{\"n\":1}}}]},",
            "\"done\":true,\"done_reason\":\"stop\",\"eval_count\":3}\n",
        ),
        "{\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\",\"code\":503,\"details\":[{\"retryDelay\":\"3s\"}]}}",
    ];

    /// What breaks readers.
    const WORDS: &[&[u8]] = &[
        b"null",
        b"[]",
        b"{}",
        b"\"\"",
        b"\"",
        b"{",
        b"}",
        b",",
        b"1e999",
        b"-1",
        b"18446744073709551616",
        b"\\ud800",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\n",
        b"\r\n\r\n",
        b"data: ",
        b"data: [DONE]\n\n",
        b"event: error\n",
        b"true",
        b"\"max_tokens\"",
        b"\"length\"",
        b"\"\\\"{}\\\"\"",
    ];

    #[derive(Clone, Debug)]
    enum Damage {
        Set(usize, u8),
        Cut(usize, usize),
        Repeat(usize, usize),
        Put(usize, usize),
        End(usize),
    }

    fn damage() -> impl Strategy<Value = Damage> {
        let place = any::<usize>;
        prop_oneof![
            (place(), any::<u8>()).prop_map(|(at, byte)| Damage::Set(at, byte)),
            (place(), 0_usize..40).prop_map(|(at, length)| Damage::Cut(at, length)),
            (place(), 0_usize..200).prop_map(|(at, length)| Damage::Repeat(at, length)),
            (place(), 0..WORDS.len()).prop_map(|(at, word)| Damage::Put(at, word)),
            place().prop_map(Damage::End),
        ]
    }

    fn damaged(seed: &str, damages: &[Damage]) -> Vec<u8> {
        let mut bytes = seed.as_bytes().to_vec();
        for damage in damages {
            let size = bytes.len();
            if size == 0 {
                break;
            }
            match *damage {
                Damage::Set(at, byte) => bytes[at % size] = byte,
                Damage::Cut(at, length) => drop(bytes.drain(at % size..(at % size + length).min(size))),
                Damage::Repeat(at, length) => {
                    let at = at % size;
                    let copy = bytes[at..(at + length).min(size)].to_vec();
                    bytes.splice(at..at, copy);
                }
                Damage::Put(at, word) => drop(bytes.splice(at % size..at % size, WORDS[word].iter().copied())),
                Damage::End(at) => bytes.truncate(at % size),
            }
        }
        bytes
    }

    #[test]
    fn right_replies_stay_sound() {
        for seed in SEEDS {
            super::replies(seed.as_bytes());
        }
    }

    proptest! {
        #[test]
        fn damaged_replies_stay_sound(
            seed in 0..SEEDS.len(),
            damages in prop::collection::vec(damage(), 0..6),
        ) {
            super::replies(&damaged(SEEDS[seed], &damages));
        }

        #[test]
        fn any_bytes_stay_sound(data in prop::collection::vec(any::<u8>(), 0..200)) {
            super::replies(&data);
        }
    }
}
