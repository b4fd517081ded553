//! Numbers of payment cards: prefix and length of the brand, the usual groups, and the check digit.

use super::number::{Chain, Gap};
use super::words::{self, Place};

/// Digits of the longest card.
const LONGEST: usize = 19;
/// Digits of the shortest one.
const SHORTEST: usize = 13;

/// How much the number itself says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// Enough, wherever it stands.
    Alone,
    /// Enough unless the words around name something else.
    UnlessOther,
    /// Nothing without a word for cards near it.
    Named,
}

/// The first digits of brands, from and to, the lengths of their numbers, and the trust in them.
const BRANDS: &[(u32, u32, &[usize], Trust)] = &[
    // Visa and Electron.
    (4, 4, &[16, 19], Trust::Alone),
    (4, 4, &[13], Trust::UnlessOther),
    (4, 4, &[17, 18], Trust::Named),
    // Mastercard.
    (51, 55, &[16], Trust::Alone),
    (2221, 2720, &[16], Trust::Alone),
    // American Express.
    (34, 34, &[15], Trust::UnlessOther),
    (37, 37, &[15], Trust::UnlessOther),
    // Diners Club.
    (300, 305, &[14, 16, 19], Trust::UnlessOther),
    (3095, 3095, &[14, 16, 19], Trust::UnlessOther),
    (36, 36, &[14, 16, 19], Trust::UnlessOther),
    (38, 39, &[14, 16, 19], Trust::UnlessOther),
    // Discover, RuPay, Troy.
    (6011, 6011, &[16, 19], Trust::Alone),
    (622_126, 622_925, &[16, 19], Trust::Alone),
    (644, 659, &[16, 19], Trust::Alone),
    (60, 60, &[16], Trust::UnlessOther),
    (9792, 9792, &[16], Trust::UnlessOther),
    // JCB.
    (3528, 3589, &[16, 19], Trust::Alone),
    (1800, 1800, &[15], Trust::Named),
    (2131, 2131, &[15], Trust::Named),
    // UnionPay.
    (62, 62, &[16, 19], Trust::Alone),
    (81, 82, &[16, 19], Trust::UnlessOther),
    // Mir, Uzcard, Humo, BORICA.
    (2200, 2205, &[16, 19], Trust::UnlessOther),
    (8600, 8600, &[16], Trust::UnlessOther),
    (9860, 9860, &[16], Trust::UnlessOther),
    // Maestro, Dankort, Elo, Verve, Hipercard, InterPayment and others under the same digits.
    (50, 50, &[16, 19], Trust::UnlessOther),
    (56, 58, &[16, 19], Trust::UnlessOther),
    (63, 63, &[16, 19], Trust::UnlessOther),
    (67, 67, &[16, 19], Trust::UnlessOther),
    // LankaPay.
    (357_111, 357_111, &[16], Trust::UnlessOther),
    // What is a card only when it is called one: short and odd lengths of Maestro and UnionPay, UATP.
    (50, 50, &[13, 14, 15, 17, 18], Trust::Named),
    (56, 69, &[13, 14, 15, 16, 17, 18, 19], Trust::Named),
    (1, 1, &[15], Trust::Named),
];

/// The last group of the card that starts at a group.
pub(super) fn at(chain: &Chain<'_>, first: usize) -> Option<usize> {
    let mut ends = [None; LONGEST + 1];
    let (mut total, mut last) = (chain.len(first), first);
    if total > LONGEST {
        return None;
    }
    loop {
        if total >= SHORTEST {
            *ends.get_mut(total)? = Some(last);
        }
        let next = last + 1;
        let single = matches!(chain.gap(next), Gap::Space | Gap::Hyphen | Gap::Dot);
        total += chain.len(next);
        if !single || total > LONGEST {
            break;
        }
        last = next;
    }
    // A security code may follow a number of sixteen digits, so that length comes first.
    [16].into_iter().chain((SHORTEST..=LONGEST).rev()).find_map(|length| {
        let last = (*ends.get(length)?)?;
        is_card(chain, first, last).then_some(last)
    })
}

fn is_card(chain: &Chain<'_>, first: usize, last: usize) -> bool {
    let usual = usual(chain, first, last);
    // Digits spelled one by one or in pairs fill all of their chain; a row of numbers is none.
    if !usual && (chain.gap(first) != Gap::Start || chain.gap(last + 1) != Gap::Start) {
        return false;
    }
    let (digits, length) = chain.digits::<LONGEST>(first, last);
    let digits = digits.get(..length).unwrap_or_default();
    let Some(trust) = trust(digits).filter(|_| passes(digits)) else { return false };
    let near = || words::card(chain.text, chain.group(first).map_or(0, |group| group.start), chain.rest(last));
    if !usual && near() != Place::Named {
        return false;
    }
    let named = match trust {
        Trust::Alone => alone(chain, first, last),
        Trust::UnlessOther if near() == Place::Other => false,
        Trust::UnlessOther => alone(chain, first, last),
        Trust::Named => near() == Place::Named && alone(chain, first, last),
    };
    named || (near() == Place::Named && set_apart(chain, first, last))
}

fn trust(digits: &[u8]) -> Option<Trust> {
    let leading =
        |count: u32| digits.iter().take(count as usize).fold(0_u32, |number, digit| number * 10 + u32::from(*digit));
    let brand = BRANDS.iter().find(|(from, to, lengths, _)| {
        lengths.contains(&digits.len()) && (*from..=*to).contains(&leading(from.ilog10() + 1))
    });
    brand.map(|brand| brand.3)
}

/// The check digit (ISO/IEC 7812, annex B).
fn passes(digits: &[u8]) -> bool {
    let sum = digits.iter().rev().enumerate().fold(0_u32, |sum, (place, digit)| {
        let value = u32::from(*digit) << (place % 2);
        sum + value / 10 + value % 10
    });
    sum % 10 == 0
}

/// Whether the digits are grouped as people and cards group them.
fn usual(chain: &Chain<'_>, first: usize, last: usize) -> bool {
    let length = |place: usize| chain.len(first + place);
    let fours = (first..last).all(|index| chain.len(index) == 4) && chain.len(last) <= 5;
    first == last
        || fours
        || match last - first {
            1 => matches!((length(0), length(1)), (8, 8 | 5..=7 | 10 | 11) | (6, 13 | 10) | (4, 12)),
            2 => matches!((length(0), length(1), length(2)), (4, 6, 4..=6) | (4, 5, 6) | (5, 5, 5)),
            3 => matches!((length(0), length(1), length(2), length(3)), (4, 3, 3, 3)),
            _ => false,
        }
}

/// Whether neither side runs on: into a code, a decimal, a row of numbers.
fn alone(chain: &Chain<'_>, first: usize, last: usize) -> bool {
    let fours = first < last && chain.gap(last) == Gap::Space && chain.len(first) == 4;
    let loose = |gap: Gap, neighbour: usize| match gap {
        Gap::Start | Gap::Open | Gap::Close | Gap::Wide | Gap::Slash => true,
        Gap::Space => !(fours && neighbour == 4),
        Gap::Hyphen | Gap::Dot => false,
    };
    let before = first.checked_sub(1).map_or(0, |index| chain.len(index));
    loose(chain.gap(first), before)
        && loose(chain.gap(last + 1), chain.len(last + 1))
        && !chain.tied_before(first)
        && !chain.tied_after(last)
        && set_apart(chain, first, last)
}

/// Whether no letter touches it but those of a word for cards.
fn set_apart(chain: &Chain<'_>, first: usize, last: usize) -> bool {
    let word = chain.glued(first);
    (word.is_empty() || words::is_card(word))
        && !chain.runs_on(last)
        && !(first == last && chain.gap(first) == Gap::Dot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_digit() {
        assert!(passes(&[4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2]));
        assert!(!passes(&[4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 3]));
    }
}
