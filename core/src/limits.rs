//! Sizes: the token estimate, the cap on tool results, cuts that never split a character, and the default limits.

use std::time::Duration;

/// Model calls in a run before it gives up.
pub const MAX_ITERATIONS: u32 = 20;
/// Estimated tokens that one tool result may have before it is cut.
pub const MAX_TOOL_RESULT_TOKENS: u32 = 2500;
/// Characters that count as one token. An estimate, used where no provider has counted.
pub const CHARS_PER_TOKEN: usize = 4;
/// Time to reach a provider.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Time until the first byte of a reply.
pub const FIRST_BYTE_TIMEOUT: Duration = Duration::from_secs(120);
/// Silence between two pieces of a reply.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(120);
/// One whole model call; off when streaming.
pub const MODEL_CALL_TIMEOUT: Duration = Duration::from_secs(120);
/// One tool call.
pub const TOOL_TIMEOUT: Duration = Duration::from_secs(180);
/// One guard.
pub const GUARD_TIMEOUT: Duration = Duration::from_secs(2);
/// One interceptor.
pub const INTERCEPTOR_TIMEOUT: Duration = Duration::from_secs(15);
/// One hook.
pub const HOOK_TIMEOUT: Duration = Duration::from_secs(30);
/// Read-only calls of one batch that run at the same time.
pub const PARALLEL_TOOLS: usize = 8;
/// Events between the run and a reader of its stream.
pub const STREAM_BUFFER: usize = 16;
/// Nearly right tool names that are answered with the right ones, per run.
pub const NAME_CORRECTIONS: u32 = 2;
/// Bytes that one reply of a provider may have.
pub const MAX_REPLY_BYTES: usize = 32 << 20;

/// Estimated tokens of this many characters, rounded down.
pub fn tokens_of_chars(chars: usize) -> u64 {
    (chars / CHARS_PER_TOKEN) as u64
}

/// The first `chars` characters of `text`.
pub fn prefix(text: &str, chars: usize) -> &str {
    text.char_indices().nth(chars).map_or(text, |(end, _)| text.get(..end).unwrap_or(text))
}

/// Cuts a tool result to `tokens` estimated tokens and says so in a last line; `None` when it fits, or when
/// `tokens` is 0, which switches the cap off.
///
/// ```
/// use cheliped::limits::cap;
/// assert_eq!(cap("short", 2500), None);
/// let long = "é".repeat(5);
/// assert!(cap(&long, 1).unwrap().starts_with("éééé\n[cheliped: tool output cut at 1 tokens."));
/// ```
pub fn cap(text: &str, tokens: u32) -> Option<String> {
    if tokens == 0 { None } else { cut(text, tokens as usize * CHARS_PER_TOKEN, tokens) }
}

/// Cuts a text that is longer than `chars`, which is what is left of a cap of `tokens`.
pub(crate) fn cut(text: &str, chars: usize, tokens: u32) -> Option<String> {
    if text.len() <= chars {
        return None;
    }
    let kept = prefix(text, chars);
    (kept.len() < text.len()).then(|| {
        format!(
            "{kept}\n[cheliped: tool output cut at {tokens} tokens. Narrow the request, or page with offset if the \
             tool supports it.]"
        )
    })
}
