//! Numbers of phones: international ones by calling code and length, national ones by their form, bare ones by the
//! words around them.

use super::number::{Chain, Gap, before};
use super::phone_code;
use super::words::{self, Place};

/// Groups that one number has at most.
const GROUPS: usize = 7;
/// Digits of the longest number.
const LONGEST: usize = 15;

/// What a form asks of the words around.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    /// Nothing but that they name nothing else.
    Nothing,
    /// That they hint at a phone.
    Hint,
    /// That they name a phone.
    Name,
}

/// Where the phone number that starts at a group begins, and its last group.
pub(super) fn at(chain: &Chain<'_>, index: usize) -> Option<(usize, usize)> {
    let first = chain.group(index)?;
    if first.digits > LONGEST {
        return None;
    }
    let head = chain.text.get(..first.start)?;
    if let Some(plus) = plus(head) {
        return international(chain, index, 0).map(|last| (opening(chain, index, plus), last));
    }
    if chain.gap(index) == Gap::Start && !words_allow(chain.glued(index)) {
        return None;
    }
    if let Some(last) = exit_code(chain, index) {
        return Some((first.start, last));
    }
    let (last, need) = national(chain, index)?;
    let fits = match words::phone(chain.text, first.start, chain.rest(last)) {
        Place::Named => true,
        Place::Likely => need != Need::Name,
        Place::Unsaid => need == Need::Nothing && !quoted_as_code(chain, index),
        Place::Other => false,
    };
    fits.then(|| (opening(chain, index, first.start), last))
}

fn words_allow(glued: &str) -> bool {
    glued.is_empty() || words::is_phone(glued)
}

/// The place of a plus sign that belongs to the number after a text.
fn plus(head: &str) -> Option<usize> {
    let bare = head.strip_suffix(['(', ' ']).unwrap_or(head).strip_suffix('+')?;
    // A sum, or base64, is no phone number.
    let free = bare.chars().next_back().is_none_or(|c| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '_')));
    free.then_some(bare.len())
}

/// The start with its parenthesis, when that closes after the first group.
fn opening(chain: &Chain<'_>, index: usize, start: usize) -> usize {
    let opened = before(chain.text, start) == Some('(') && chain.gap(index + 1) == Gap::Close;
    if opened { start - 1 } else { start }
}

/// The last group of an international number whose calling code begins after `skip` digits of a group.
fn international(chain: &Chain<'_>, index: usize, skip: usize) -> Option<usize> {
    let (digits, count) = chain.digits::<LONGEST>(index, index + 2);
    let code = phone_code::of(digits.get(skip..count)?)?;
    let (mut total, mut last) = (0, None);
    for place in index..index + GROUPS + 2 {
        let Some(group) = chain.group(place) else { break };
        if place > index && matches!(group.gap, Gap::Start | Gap::Wide) {
            break;
        }
        // The zero of `+44 (0)20` is dialled at home only.
        let zero = group.digits == 1
            && chain.leading(place, 1) == 0
            && group.gap == Gap::Open
            && chain.gap(place + 1) == Gap::Close;
        total += if zero { 0 } else { group.digits };
        let Some(local) = total.checked_sub(code.digits + skip) else { continue };
        if local > code.most + 1 {
            break;
        }
        if (code.fewest..=code.most).contains(&local) && total - skip >= 7 && ends(chain, place) {
            last = Some(place);
        }
    }
    last
}

/// Whether a number may end with a group.
fn ends(chain: &Chain<'_>, last: usize) -> bool {
    let mut rest = chain.rest(last).chars();
    let (next, second) = (rest.next(), rest.next());
    match next {
        Some(':' | ',') => !second.is_some_and(|c| c.is_ascii_digit()),
        Some('-') => !second.is_some_and(|c| c.is_ascii_alphabetic()),
        Some('@' | '%' | '°' | '+') => false,
        _ => !chain.runs_on(last),
    }
}

/// The last group of a number that is dialled with `00` or `011` first.
fn exit_code(chain: &Chain<'_>, index: usize) -> Option<usize> {
    let free = matches!(chain.gap(index), Gap::Start | Gap::Wide) && !stuck(chain, index);
    let skip = match chain.len(index) {
        3 if chain.leading(index, 3) == 11 => 3,
        length if length >= 2 && chain.leading(index, 2) == 0 => 2,
        _ => return None,
    };
    let last = international(chain, index, skip).filter(|_| free)?;
    let place = words::phone(chain.text, chain.group(index)?.start, chain.rest(last));
    let bare = last == index;
    match place {
        Place::Other => None,
        // Zeros in front fill many numbers up; a calling code of one digit is found too easily.
        Place::Unsaid if bare && chain.leading(index, 3) == 1 => None,
        _ => Some(last),
    }
}

/// The last group of a number in a national form, and what the form needs.
fn national(chain: &Chain<'_>, index: usize) -> Option<(usize, Need)> {
    form(chain, index).filter(|(last, _)| alone(chain, index, *last)).or_else(|| loose(chain, index))
}

/// The forms that are told by their groups.
fn form(chain: &Chain<'_>, index: usize) -> Option<(usize, Need)> {
    let length = |place: usize| chain.len(index + place);
    let gap = |place: usize| chain.gap(index + place);
    let opened = chain.before(index) == Some('(') && gap(1) == Gap::Close;
    let joint = |place: usize| matches!(gap(place), Gap::Space | Gap::Hyphen | Gap::Dot | Gap::Close);
    if opened && (2..=5).contains(&length(0)) {
        return in_parentheses(chain, index);
    }
    let first = chain.leading(index, 4);
    let area = |place: usize| chain.leading(index + place, 1) >= 2;
    match [length(0), length(1), length(2), length(3), length(4)] {
        // North America.
        [3, 3, 4, ..] if joint(1) && joint(2) && area(0) => {
            let strict = gap(1) == Gap::Hyphen && gap(2) == Gap::Hyphen;
            Some((index + 2, if strict || area(1) { Need::Nothing } else { Need::Hint }))
        }
        [1, 3, 3, 4, ..] if first == 1 && area(1) && joint(2) && joint(3) && opens(gap(1)) => {
            Some((index + 3, Need::Nothing))
        }
        // Russia and Kazakhstan.
        [1, 3, 3, 2, 2] if matches!(first, 7 | 8) && joint(2) && joint(3) && joint(4) && opens(gap(1)) => {
            Some((index + 4, Need::Nothing))
        }
        [1, 3, 3, 4, ..] | [1, 3, 2, 2, 3] if first == 8 && joint(2) && joint(3) && opens(gap(1)) => {
            Some((index + if length(3) == 4 { 3 } else { 4 }, Need::Nothing))
        }
        [1, 3, 7, ..] if first == 8 && opens(gap(1)) && gap(2) == Gap::Close => Some((index + 2, Need::Nothing)),
        // Mobile phones of China and Brazil.
        [3, 4, 4, ..] if (130..200).contains(&first) && joint(1) && joint(2) => Some((index + 2, Need::Nothing)),
        [2, 5, 4, ..] if first >= 11 && chain.leading(index + 1, 1) == 9 && joint(1) && gap(2) == Gap::Hyphen => {
            Some((index + 2, Need::Nothing))
        }
        [2..=6, ..] if chain.leading(index, 1) == 0 && chain.leading(index, 2) != 0 => trunk(chain, index),
        _ => None,
    }
}

fn opens(gap: Gap) -> bool {
    matches!(gap, Gap::Space | Gap::Hyphen | Gap::Dot | Gap::Open)
}

/// `(212) 555-0147`, `(11) 91234-5678`, `(020) 7946 0958`.
fn in_parentheses(chain: &Chain<'_>, index: usize) -> Option<(usize, Need)> {
    let area = chain.len(index);
    let mut total = area;
    let mut found = None;
    for place in index + 1..index + GROUPS {
        let fits = match chain.gap(place) {
            Gap::Close => place == index + 1,
            Gap::Space | Gap::Hyphen | Gap::Dot => true,
            _ => false,
        };
        total += chain.len(place);
        if !fits || chain.len(place) < 2 || total > 12 {
            break;
        }
        if total >= 8 && alone(chain, index, place) {
            let year = area == 4 && (1900..2100).contains(&chain.leading(index, 4));
            let certain = match area {
                3 if chain.leading(index, 1) != 0 => total == 10,
                _ => (9..=11).contains(&total) && !year,
            };
            found = Some((place, if certain { Need::Nothing } else { Need::Name }));
        }
    }
    found
}

/// Numbers with the zero that is dialled before the area at home: `07700 900123`, `03-5555-0123`, `0171/1234567`.
fn trunk(chain: &Chain<'_>, index: usize) -> Option<(usize, Need)> {
    let area = chain.len(index);
    if area > 6 {
        return None;
    }
    let mut total = area;
    let mut found = None;
    for place in index + 1..index + GROUPS {
        let fits = match chain.gap(place) {
            Gap::Space | Gap::Hyphen => true,
            Gap::Slash | Gap::Wide => place == index + 1 && area >= 3,
            Gap::Close | Gap::Open => place <= index + 2,
            Gap::Dot => area == 2,
            Gap::Start => false,
        };
        total += chain.len(place);
        if !fits || chain.len(place) < 2 || total > 12 {
            break;
        }
        if total >= 9 && alone(chain, index, place) {
            let pairs = (index..=place).all(|index| chain.len(index) == 2);
            let dotted = (index + 1..=place).any(|index| chain.gap(index) == Gap::Dot);
            // A month and a year begin the numbers of papers.
            let dated = area == 2
                && chain.len(index + 1) == 4
                && chain.leading(index, 2) <= 12
                && (1990..2060).contains(&chain.leading(index + 1, 4));
            let certain = if pairs || dotted { pairs && total == 10 } else { !dated };
            found = Some((place, if certain { Need::Nothing } else { Need::Hint }));
        }
    }
    found
}

/// Any groups that could be dialled; the words must say that they are.
fn loose(chain: &Chain<'_>, index: usize) -> Option<(usize, Need)> {
    let mut total = 0;
    let mut found = None;
    for place in index..index + GROUPS {
        let Some(group) = chain.group(place) else { break };
        let fits = match group.gap {
            _ if place == index => true,
            Gap::Start => false,
            Gap::Wide | Gap::Slash => place == index + 1,
            Gap::Space | Gap::Hyphen | Gap::Dot | Gap::Open | Gap::Close => true,
        };
        total += group.digits;
        if !fits || total > 13 || (group.digits == 1 && place > index + 1) {
            break;
        }
        if total >= 7 && alone(chain, index, place) && !other_shape(chain, index, place) {
            found = Some((place, if total >= 9 { Need::Hint } else { Need::Name }));
        }
    }
    found
}

/// Dates, addresses of machines, postal codes, spans of years, numbers of people.
fn other_shape(chain: &Chain<'_>, first: usize, last: usize) -> bool {
    let length = |place: usize| chain.len(first + place);
    let year = |place: usize| (1900..2100).contains(&chain.leading(first + place, 4));
    match (last - first, length(0), length(1), length(2)) {
        (0, 8, ..) => (1900..2100).contains(&chain.leading(first, 4)) && chain.leading(first, 6) % 100 <= 12,
        // Seconds and milliseconds since 1970.
        (0, 10 | 13, ..) => chain.leading(first, 1) == 1,
        (1, 4, 4, _) => year(0) && year(1),
        (1, 5, 4, _) => true,
        (2, 4, 2, 2) => year(0),
        (2, 3, 2, 4) => true,
        (2, 1..=2, 1..=2, 4) => year(2),
        (3, 1..=3, 1..=3, 1..=3) => length(3) <= 3 && (first + 1..=last).all(|index| chain.gap(index) == Gap::Dot),
        _ => false,
    }
}

/// Whether the sides of a number belong to nothing longer.
fn alone(chain: &Chain<'_>, first: usize, last: usize) -> bool {
    let spaced = (first + 1..=last).any(|index| chain.gap(index) == Gap::Space);
    let opened = chain.before(first) == Some('(');
    let free = |gap: Gap| match gap {
        Gap::Start | Gap::Wide | Gap::Open | Gap::Close => true,
        Gap::Space => !spaced || opened,
        Gap::Slash => first < last,
        Gap::Hyphen | Gap::Dot => false,
    };
    free(chain.gap(first)) && free(chain.gap(last + 1)) && !stuck(chain, first) && ends(chain, last)
}

/// Whether something other than a gap ties the number to what is before it.
fn stuck(chain: &Chain<'_>, first: usize) -> bool {
    let Some(head) = chain.group(first).and_then(|group| chain.text.get(..group.start)) else { return true };
    let mut chars = head.chars().rev();
    let (last, second) = (chars.next(), chars.next());
    match last {
        Some('-' | '.' | '/' | '_') if chain.gap(first) == Gap::Start => {
            second.is_some_and(|c| c.is_ascii_alphanumeric())
        }
        Some(':' | ',') => second.is_some_and(|c| c.is_ascii_digit()),
        Some('$' | '€' | '£' | '¥' | '@' | '%') => true,
        _ => false,
    }
}

/// Whether a mark for numbers of things, or the name of a field, stands before it.
fn quoted_as_code(chain: &Chain<'_>, index: usize) -> bool {
    matches!(chain.before(index), Some('#' | '=' | '&' | '~'))
}
