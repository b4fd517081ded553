//! International bank account numbers (ISO 13616): the length of the country, and the remainder by 97.

use super::number::{Group, before, digit};
use super::words;
use std::ops::Range;

/// Countries and the number of characters of their accounts, in order.
#[rustfmt::skip]
const COUNTRIES: &[(&[u8; 2], usize)] = &[
    (b"ad", 24), (b"ae", 23), (b"al", 28), (b"ao", 25), (b"at", 20), (b"az", 28), (b"ba", 20), (b"be", 16), (b"bf", 28),
    (b"bg", 22), (b"bh", 22), (b"bi", 27), (b"bj", 28), (b"br", 29), (b"by", 28), (b"cf", 27), (b"cg", 27), (b"ch", 21),
    (b"ci", 28), (b"cm", 27), (b"cr", 22), (b"cv", 25), (b"cy", 28), (b"cz", 24), (b"de", 22), (b"dj", 27), (b"dk", 18),
    (b"do", 28), (b"dz", 26), (b"ee", 20), (b"eg", 29), (b"es", 24), (b"fi", 18), (b"fk", 18), (b"fo", 18), (b"fr", 27),
    (b"ga", 27), (b"gb", 22), (b"ge", 22), (b"gi", 23), (b"gl", 18), (b"gq", 27), (b"gr", 27), (b"gt", 28), (b"gw", 25),
    (b"hn", 28), (b"hr", 21), (b"hu", 28), (b"ie", 22), (b"il", 23), (b"iq", 23), (b"ir", 26), (b"is", 26), (b"it", 27),
    (b"jo", 30), (b"km", 27), (b"kw", 30), (b"kz", 20), (b"lb", 28), (b"lc", 32), (b"li", 21), (b"lt", 20), (b"lu", 20),
    (b"lv", 21), (b"ly", 25), (b"ma", 28), (b"mc", 27), (b"md", 24), (b"me", 22), (b"mg", 27), (b"mk", 19), (b"ml", 28),
    (b"mn", 20), (b"mr", 27), (b"mt", 31), (b"mu", 30), (b"mz", 25), (b"ne", 28), (b"ni", 28), (b"nl", 18), (b"no", 15),
    (b"om", 23), (b"pk", 24), (b"pl", 28), (b"ps", 29), (b"pt", 25), (b"qa", 29), (b"ro", 24), (b"rs", 22), (b"ru", 33),
    (b"sa", 24), (b"sc", 31), (b"sd", 18), (b"se", 24), (b"si", 19), (b"sk", 24), (b"sm", 27), (b"sn", 28), (b"so", 23),
    (b"st", 25), (b"sv", 28), (b"td", 27), (b"tg", 28), (b"tl", 23), (b"tn", 24), (b"tr", 26), (b"ua", 29), (b"va", 22),
    (b"vg", 24), (b"xk", 20), (b"ye", 30),
];

/// The account whose check digits begin a group, unless its letters lie before `from`.
pub(super) fn at(text: &str, group: Group, from: usize) -> Option<Range<usize>> {
    if group.digits < 2 && !text.get(group.end..)?.starts_with(' ') {
        return None;
    }
    let head = text.get(..group.start)?;
    let (start, spaced) = match head.as_bytes() {
        [.., a, b] if a.is_ascii_lowercase() && b.is_ascii_lowercase() => (group.start - 2, false),
        [.., a, b, b' '] if a.is_ascii_lowercase() && b.is_ascii_lowercase() => (group.start - 3, true),
        _ => return None,
    };
    let country: &[u8] = text.as_bytes().get(start..start + 2)?;
    let length = COUNTRIES.iter().find(|(code, _)| code.as_slice() == country)?.1;
    let free = before(text, start).is_none_or(|c| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.')));
    if start < from || !free || (spaced && !words::is_account(text, start)) {
        return None;
    }
    let end = read(text, start, length)?;
    Some(start..end)
}

/// Reads so many letters and digits with at most one separator between two, and gives their end when they are an
/// account.
fn read(text: &str, start: usize, length: usize) -> Option<usize> {
    let mut kept: [u8; 34] = [0; 34];
    let (mut count, mut end, mut digits, mut separated, mut regular) = (0, start, 0, false, true);
    for c in text.get(start..)?.chars() {
        let value = match digit(c) {
            Some(value) => {
                digits += 1;
                value
            }
            None if c.is_ascii_lowercase() => u8::try_from(u32::from(c)).ok()? - b'a' + 10,
            None if matches!(c, ' ' | '-' | '.') && !separated && count > 0 => {
                separated = true;
                regular &= count % 4 == 0;
                end += c.len_utf8();
                continue;
            }
            None => return None,
        };
        *kept.get_mut(count)? = value;
        separated = false;
        count += 1;
        end += c.len_utf8();
        if count == length {
            break;
        }
    }
    let kept = kept.get(..length).filter(|_| count == length)?;
    let numbers = kept.get(2..4)?.iter().all(|value| *value < 10);
    let runs_on = text.get(end..)?.chars().next().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    let (head, body) = kept.split_at_checked(4)?;
    let remainder = body.iter().chain(head).fold(0_u32, |rest, value| {
        let step = if *value < 10 { 10 } else { 100 };
        (rest * step + u32::from(*value)) % 97
    });
    // Prose that happens to divide has fewer digits and words of all lengths.
    let shaped = digits * 2 >= length || (regular && digits >= 4);
    (numbers && !runs_on && shaped && remainder == 1).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::COUNTRIES;

    #[test]
    fn the_countries_are_in_order_and_no_account_is_too_long() {
        assert!(COUNTRIES.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(COUNTRIES.iter().all(|(_, length)| (15..=34).contains(length)));
    }
}
