//! Makes broken inputs out of good ones. The same seed makes the same inputs.

/// Longest input.
const LONGEST: usize = 16 << 10;
/// Pieces that parsers stumble over.
const PIECES: &[&[u8]] = &[
    b"\n",
    b"\r\n",
    b"\n\n",
    b"\r",
    b"data: ",
    b"event: ",
    b": ",
    b"data: [DONE]\n\n",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"null",
    b"true",
    b"-1",
    b"1e999",
    b"18446744073709551616",
    b"0.1e-400",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xc3",
    b"\xf0\x9f\x98",
    b"[[[[[[[[[[[[[[[[",
    b"{\"a\":{\"a\":{\"a\":{\"a\":",
    b"\"index\":4294967295",
    b"\"content\":null",
    b"\"error\":{}",
    b"\"arguments\":\"\"",
    b"\"id\":\"\"",
    b",",
    b":",
    b"[]",
    b"{}",
    b"\"\"",
];

/// SplitMix64: small, fast, and the same on every machine.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 when `end` is 0.
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % (end.max(1) as u64)).unwrap_or(0)
    }
}

/// An endless row of inputs.
pub(crate) struct Mutator {
    dice: Dice,
    seeds: Vec<Vec<u8>>,
    next_seed: usize,
}

impl Mutator {
    pub(crate) fn new(seed: u64, seeds: Vec<Vec<u8>>) -> Self {
        Self { dice: Dice(seed), seeds, next_seed: 0 }
    }

    /// The next input: first every seed as it is, then mutations of them.
    pub(crate) fn next(&mut self) -> Vec<u8> {
        if let Some(seed) = self.seeds.get(self.next_seed) {
            self.next_seed += 1;
            return seed.clone();
        }
        let mut input = self.any_seed();
        for _ in 0..=self.dice.below(6) {
            self.mutate(&mut input);
        }
        input.truncate(LONGEST);
        input
    }

    fn any_seed(&mut self) -> Vec<u8> {
        let index = self.dice.below(self.seeds.len());
        self.seeds.get(index).cloned().unwrap_or_default()
    }

    fn mutate(&mut self, input: &mut Vec<u8>) {
        let at = self.dice.below(input.len() + 1);
        let end = (at + 1 + self.dice.below(64)).min(input.len());
        let range = at.min(end)..end;
        match self.dice.below(9) {
            0 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte ^= 1 << (self.dice.next() % 8);
                }
            }
            1 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte = self.dice.next().to_le_bytes()[0];
                }
            }
            2 => drop(input.drain(range)),
            3 => {
                let copied = input.get(range).unwrap_or_default().to_vec();
                input.splice(at..at, copied);
            }
            4 | 5 => {
                let piece = PIECES.get(self.dice.below(PIECES.len())).copied().unwrap_or_default();
                input.splice(at..at, piece.iter().copied());
            }
            6 => input.truncate(at),
            7 => {
                let other = self.any_seed();
                let from = self.dice.below(other.len());
                input.truncate(at);
                input.extend_from_slice(other.get(from..).unwrap_or_default());
            }
            _ => {
                let piece = PIECES.get(self.dice.below(PIECES.len())).copied().unwrap_or_default();
                let times = 1 + self.dice.below(200);
                input.splice(at..at, piece.repeat(times));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_inputs() {
        let row = |seed| {
            let mut mutator = Mutator::new(seed, vec![b"{\"a\": [1, 2]}".to_vec(), Vec::new()]);
            (0..200).map(|_| mutator.next()).collect::<Vec<_>>()
        };
        assert_eq!(row(7), row(7));
        assert_ne!(row(7), row(8));
        assert_eq!(row(7).first().unwrap(), b"{\"a\": [1, 2]}");
    }
}
