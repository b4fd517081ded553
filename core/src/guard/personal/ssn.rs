//! Social security numbers: area, group and serial by the rules of those who give them out.

use super::number::{Chain, Gap};
use super::words::{self, Place};

/// The last group of the number that starts at a group.
pub(super) fn at(chain: &Chain<'_>, index: usize) -> Option<usize> {
    let apart = chain.len(index) == 3 && chain.len(index + 1) == 2 && chain.len(index + 2) == 4;
    if !apart && chain.len(index) != 9 {
        return None;
    }
    let last = if apart { index + 2 } else { index };
    let (area, group, serial) = if apart {
        (chain.leading(index, 3), chain.leading(index + 1, 2), chain.leading(last, 4))
    } else {
        let number = chain.leading(index, 9);
        (number / 1_000_000, number / 10_000 % 100, number % 10_000)
    };
    let given = !matches!(area, 0 | 666 | 900..) && group != 0 && serial != 0;
    if !given || !alone(chain, index, last) {
        return None;
    }
    let place = || words::ssn(chain.text, chain.group(index).map_or(0, |group| group.start));
    let (gap, second) = (chain.gap(index + 1), chain.gap(last));
    let sure = match gap {
        _ if !apart => place() == Place::Named,
        Gap::Hyphen | Gap::Space if gap == second => place() != Place::Other,
        Gap::Hyphen | Gap::Space | Gap::Dot | Gap::Slash | Gap::Wide => place() == Place::Named,
        _ => false,
    };
    sure.then_some(last)
}

/// Whether it is no part of a longer number or code.
fn alone(chain: &Chain<'_>, first: usize, last: usize) -> bool {
    let inner = chain.gap(last);
    let loose = |gap: Gap| match gap {
        Gap::Start | Gap::Open | Gap::Close | Gap::Wide => true,
        Gap::Space => inner != Gap::Space || first == last,
        Gap::Hyphen | Gap::Dot | Gap::Slash => false,
    };
    let word = chain.glued(first);
    loose(chain.gap(first))
        && loose(chain.gap(last + 1))
        && (word.is_empty() || words::is_ssn(word))
        && !chain.runs_on(last)
        && !matches!(chain.before(first), Some('-' | '.' | '/' | '+' | '$' | '€' | '£'))
        && !chain.tied_after(last)
}
