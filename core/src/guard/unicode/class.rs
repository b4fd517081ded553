//! Classes of characters that the rules ask for.

/// Control characters that no text needs: all but tab, line feed, form feed and carriage return.
pub(super) fn is_control(c: char) -> bool {
    matches!(c, '\0'..='\u{8}' | '\u{B}' | '\u{E}'..='\u{1F}' | '\u{7F}'..='\u{84}' | '\u{86}'..='\u{9F}')
}

/// Private use: nobody knows what a reader sees.
pub(super) fn is_private(c: char) -> bool {
    matches!(c, '\u{E000}'..='\u{F8FF}' | '\u{F0000}'..='\u{FFFFD}' | '\u{100000}'..='\u{10FFFD}')
}

/// Code points that are never characters.
pub(super) fn is_noncharacter(c: char) -> bool {
    matches!(u32::from(c), 0xFDD0..=0xFDEF) || u32::from(c) & 0xFFFE == 0xFFFE
}

/// Letters of scripts that are written from right to left.
pub(super) fn is_rtl(c: char) -> bool {
    matches!(u32::from(c), 0x591..=0x8FF | 0xFB1D..=0xFDFF | 0xFE70..=0xFEFC | 0x10800..=0x10FFF | 0x1E800..=0x1EFFF)
}

/// Whether a right-to-left letter stands in the few characters around a place.
pub(super) fn near_rtl(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default().chars().rev().take(12);
    let after = text.get(at..).unwrap_or_default().chars().take(12);
    before.chain(after).any(is_rtl)
}

/// Letters of scripts in which joiners choose the form of a letter: Arabic and its kin, the Indic scripts, Mongolian.
pub(super) fn joins(c: char) -> bool {
    matches!(u32::from(c),
        0x600..=0x8FF | 0x900..=0xDFF | 0xE00..=0x109F | 0x1700..=0x18AF | 0x1900..=0x1C7F | 0xA800..=0xAADF
        | 0xABC0..=0xABFF | 0xFB50..=0xFDFF | 0xFE70..=0xFEFC | 0x10A00..=0x10FFF | 0x11000..=0x11FFF)
}

pub(super) fn is_mongolian(c: char) -> bool {
    matches!(c, '\u{1800}'..='\u{18AF}')
}

pub(super) fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c), 0x3005..=0x3007 | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

/// Parts of Hangul syllables, between which fillers have a meaning.
pub(super) fn is_hangul_part(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{115E}' | '\u{1161}'..='\u{11FF}' | '\u{A960}'..='\u{A97C}' | '\u{D7B0}'..='\u{D7FB}')
}

/// Characters that are emoji, or parts of emoji sequences.
pub(super) fn is_emoji(c: char) -> bool {
    matches!(u32::from(c),
        0xA9 | 0xAE | 0x203C | 0x2049 | 0x20E3 | 0x2122 | 0x2139 | 0x2190..=0x21FF | 0x2300..=0x23FF | 0x2460..=0x24FF
        | 0x25A0..=0x27BF | 0x2900..=0x297F | 0x2B00..=0x2BFF | 0x3030 | 0x303D | 0x3297 | 0x3299 | 0x1F000..=0x1FAFF)
}

/// Whether a character takes a variation selector.
pub(super) fn takes_selector(base: char, selector: char) -> bool {
    match selector {
        '\u{FE0E}' | '\u{FE0F}' => is_emoji(base) || base.is_ascii_digit() || matches!(base, '#' | '*'),
        // Standardised variants: mathematical signs, ideographs, Myanmar, Phags-pa, Manichaean, full-width marks.
        _ => {
            is_ideograph(base)
                || matches!(u32::from(base),
                    0x30 | 0x2205 | 0x2200..=0x22FF | 0x2A00..=0x2AFF | 0x1000..=0x109F | 0xA840..=0xA877 | 0x10AC0..=0x10AF6
                    | 0x2018..=0x201D | 0x3001..=0x3002 | 0xFF01..=0xFF1F)
        }
    }
}
