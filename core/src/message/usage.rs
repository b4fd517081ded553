//! Token counts as providers report them.

use serde::{Deserialize, Serialize};

/// Tokens of one or more model calls. `None` means not reported, which is not zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Prompt tokens as the provider counts them: without cached ones on Anthropic, with them elsewhere.
    pub input_tokens: Option<u64>,
    /// Tokens of the reply, reasoning included.
    pub output_tokens: Option<u64>,
    /// Prompt tokens that came from the provider's cache.
    pub cache_read_tokens: Option<u64>,
    /// Prompt tokens written to the provider's cache.
    pub cache_write_tokens: Option<u64>,
    /// The reasoning part of the reply.
    pub reasoning_tokens: Option<u64>,
    /// Everything in the prompt, cached or not.
    pub input_tokens_total: Option<u64>,
}

impl Usage {
    /// Adds another call's counts; a count that nobody reported stays `None`.
    pub fn add(&mut self, other: &Self) {
        let sum = |mine: &mut Option<u64>, theirs: Option<u64>| {
            if let Some(theirs) = theirs {
                *mine = Some(mine.unwrap_or(0).saturating_add(theirs));
            }
        };
        sum(&mut self.input_tokens, other.input_tokens);
        sum(&mut self.output_tokens, other.output_tokens);
        sum(&mut self.cache_read_tokens, other.cache_read_tokens);
        sum(&mut self.cache_write_tokens, other.cache_write_tokens);
        sum(&mut self.reasoning_tokens, other.reasoning_tokens);
        sum(&mut self.input_tokens_total, other.input_tokens_total);
    }

    /// Input plus output, counting a missing one as nothing: what a token budget spends.
    pub fn spent(&self) -> u64 {
        self.input_tokens.unwrap_or(0).saturating_add(self.output_tokens.unwrap_or(0))
    }
}
