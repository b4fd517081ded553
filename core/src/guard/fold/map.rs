//! Where the bytes of a changed text come from.

use std::ops::Range;

/// Maps bytes of a changed text to bytes of the text that it was made of.
#[derive(Clone, Debug, Default)]
pub(super) struct Map(Vec<Step>);

/// From `to` on, the changed text comes from `from` on.
#[derive(Clone, Copy, Debug)]
struct Step {
    to: usize,
    from: usize,
    /// Bytes of the origin that stand behind all bytes of this step as one; 0 when the two run side by side.
    width: usize,
}

impl Map {
    /// The bytes from `to` on are copies of those from `from` on, one by one.
    pub(super) fn copy(&mut self, to: usize, from: usize) {
        let follows = self
            .0
            .last()
            .is_some_and(|last| last.width == 0 && to.wrapping_sub(last.to) == from.wrapping_sub(last.from));
        if !follows {
            self.0.push(Step { to, from, width: 0 });
        }
    }

    /// The bytes from `to` on stand for `width` bytes from `from` on.
    pub(super) fn replace(&mut self, to: usize, from: usize, width: usize) {
        self.0.push(Step { to, from, width: width.max(1) });
    }

    /// Forgets what was said of the bytes from `to` on.
    pub(super) fn truncate(&mut self, to: usize) {
        while self.0.last().is_some_and(|last| last.to >= to) {
            self.0.pop();
        }
    }

    /// The bytes of the origin behind a range of the changed text.
    pub(super) fn origin(&self, range: Range<usize>) -> Range<usize> {
        if self.0.is_empty() {
            return range;
        }
        let last = range.end.saturating_sub(1).max(range.start);
        let (first, end) = (self.place(range.start), self.place(last));
        // A text that is read from the end leads back in the other direction.
        first.start.min(end.start)..first.end.max(end.end)
    }

    /// What stands behind one byte of the changed text.
    fn place(&self, to: usize) -> Range<usize> {
        match self.step(to) {
            None => to..to + 1,
            Some(step) if step.width == 0 => {
                let from = step.from + (to - step.to);
                from..from + 1
            }
            Some(step) => step.from..step.from + step.width,
        }
    }

    fn step(&self, to: usize) -> Option<&Step> {
        let after = self.0.partition_point(|step| step.to <= to);
        after.checked_sub(1).and_then(|index| self.0.get(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_and_replacements_lead_back() {
        // "aébc" (a, é of 2 bytes, b, c) was changed to "aexbc": é became "ex".
        let mut map = Map::default();
        map.copy(0, 0);
        map.replace(1, 1, 2);
        map.copy(3, 3);
        map.copy(4, 4);
        assert_eq!(map.origin(0..1), 0..1);
        assert_eq!(map.origin(1..2), 1..3);
        assert_eq!(map.origin(2..4), 1..4);
        assert_eq!(map.origin(3..5), 3..5);
        assert_eq!(Map::default().origin(2..7), 2..7);
    }
}
