//! Folding of single characters, and the classes that words are cut by.
//!
//! Compatibility forms become plain letters (NFKD, Unicode Standard Annex 15), case and combining marks go, characters
//! that nobody sees are dropped. In a word that mixes scripts, foreign letters become the Latin ones that they look
//! like (Unicode Technical Standard 39, section 4).

use unicode_normalization::char::decompose_compatible;

/// Characters that are not meant to be seen (property Default_Ignorable_Code_Point, and interlinear annotation).
pub(in crate::guard) fn is_ignorable(c: char) -> bool {
    matches!(u32::from(c),
        0xAD | 0x34F | 0x61C | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F | 0x200B..=0x200F | 0x202A..=0x202E
        | 0x2060..=0x206F | 0x3164 | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB | 0x1BCA0..=0x1BCA3
        | 0x1D173..=0x1D17A | 0xE0000..=0xE0FFF)
}

/// Marks that sit on a letter without changing which letter it is: accents, strokes, vowel points, nuktas.
pub(in crate::guard) fn is_mark(c: char) -> bool {
    matches!(u32::from(c),
        0x300..=0x36F | 0x483..=0x489 | 0x591..=0x5BD | 0x5BF | 0x5C1..=0x5C2 | 0x5C4..=0x5C5 | 0x5C7 | 0x610..=0x61A
        | 0x64B..=0x65F | 0x670 | 0x6D6..=0x6DC | 0x6DF..=0x6E4 | 0x6E7..=0x6E8 | 0x6EA..=0x6ED | 0x93C | 0x9BC | 0xA3C | 0xABC
        | 0x1AB0..=0x1ACE | 0x1DC0..=0x1DFF | 0x20D0..=0x20F0 | 0xFE20..=0xFE2F)
}

/// Folds one character and adds what comes of it.
pub(super) fn fold(c: char, out: &mut String) {
    match u32::from(c) {
        0..=0x7F => out.push(c.to_ascii_lowercase()),
        // Ideographs, kana and Hangul syllables stay as they are; half-width kana are folded below.
        0x3041..=0x3096 | 0x30A1..=0x30FA | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7A3 => out.push(c),
        _ if is_ignorable(c) || is_mark(c) => {}
        _ => decompose_compatible(c, |part| {
            if !is_ignorable(part) && !is_mark(part) {
                for lower in part.to_lowercase() {
                    if !is_mark(lower) {
                        plain(lower, out);
                    }
                }
            }
        }),
    }
}

/// Letters that no decomposition takes apart.
fn plain(c: char, out: &mut String) {
    let to = match c {
        'ı' | 'ɪ' | 'ɩ' => "i",
        'ł' | 'ʟ' | 'ɫ' => "l",
        'ø' | 'ɵ' | 'ᴏ' => "o",
        'đ' | 'ð' | 'ɖ' | 'ᴅ' => "d",
        'ħ' | 'ʜ' => "h",
        'ŧ' | 'ᴛ' => "t",
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'þ' => "th",
        'ĸ' | 'ᴋ' => "k",
        'ŋ' | 'ɴ' => "n",
        'ɡ' | 'ɢ' => "g",
        'ɑ' | 'ᴀ' => "a",
        'ʙ' | 'ƀ' => "b",
        'ᴄ' => "c",
        'ᴇ' | 'ɛ' => "e",
        'ꜰ' | 'ƒ' => "f",
        'ᴊ' => "j",
        'ᴍ' => "m",
        'ᴘ' => "p",
        'ʀ' => "r",
        'ꜱ' => "s",
        'ᴜ' => "u",
        'ᴠ' => "v",
        'ᴡ' => "w",
        'ʏ' => "y",
        'ᴢ' | 'ƶ' => "z",
        '‘' | '’' | '‚' | '‛' | 'ʼ' | '′' => "'",
        '“' | '”' | '„' | '‟' | '«' | '»' => "\"",
        '‐' | '‒' | '–' | '—' | '―' | '−' => "-",
        '\u{2800}' => " ",
        // One letter for what Arabic and Persian write in several ways.
        'ي' | 'ى' => "ی",
        'ك' => "ک",
        'ة' => "ه",
        'ـ' => "",
        // Negative circled and squared capitals have no decomposition.
        '\u{1F150}'..='\u{1F169}' | '\u{1F170}'..='\u{1F189}' => {
            let index = (u32::from(c) - 0x1F150) % 0x20;
            out.extend(char::from_u32(u32::from('a') + index));
            return;
        }
        _ => {
            out.push(c);
            return;
        }
    };
    out.push_str(to);
}

/// The Latin letter that a letter of another script looks like.
pub(in crate::guard) fn latin_look_alike(c: char) -> Option<char> {
    // Where the Unicode table leads to a small capital, or knows nothing, but a reader sees the letter.
    let known = match c {
        'а' | 'α' | 'Α' => 'a',
        'в' | 'В' | 'β' | 'Β' => 'b',
        'с' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'ё' | 'є' | 'ε' | 'Ε' => 'e',
        'ғ' => 'f',
        'һ' | 'н' | 'Н' | 'Η' => 'h',
        'і' | 'І' | 'ї' | 'Ї' | 'ι' | 'Ι' | 'ӏ' | 'Ӏ' => 'i',
        'ј' => 'j',
        'к' | 'К' | 'κ' | 'Κ' => 'k',
        'м' | 'М' | 'Μ' => 'm',
        'η' | 'п' => 'n',
        'о' | 'ο' | 'σ' => 'o',
        'р' | 'ρ' => 'p',
        'ԛ' => 'q',
        'г' => 'r',
        'ѕ' => 's',
        'т' | 'Т' | 'τ' | 'Τ' => 't',
        'υ' | 'ц' => 'u',
        'ν' | 'ѵ' => 'v',
        'ω' | 'ш' | 'ԝ' => 'w',
        'х' | 'χ' | 'Χ' => 'x',
        'у' | 'У' | 'γ' | 'Υ' => 'y',
        'Ζ' => 'z',
        _ => return from_table(c),
    };
    Some(known)
}

fn from_table(c: char) -> Option<char> {
    let mut buffer = [0; 4];
    let mut skeleton = unicode_security::skeleton(c.encode_utf8(&mut buffer));
    match (skeleton.next(), skeleton.next()) {
        (Some(letter), None) if letter.is_ascii_alphabetic() => Some(letter.to_ascii_lowercase()),
        _ => None,
    }
}

/// What a character means for the script of its word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::guard) enum Script {
    /// A letter of the Latin script.
    Latin,
    /// A letter of a script with letters that look Latin: Greek, Cyrillic, Armenian, Georgian, Coptic,
    /// Cherokee, Lisu.
    Similar,
    /// A letter of any other script, or a mark.
    Other,
    /// No letter at all.
    None,
}

/// The script of a character, as far as look-alikes are concerned.
pub(in crate::guard) fn script(c: char) -> Script {
    match u32::from(c) {
        0x41..=0x5A
        | 0x61..=0x7A
        | 0xAA
        | 0xBA
        | 0xC0..=0xD6
        | 0xD8..=0xF6
        | 0xF8..=0x2AF
        | 0x1D00..=0x1D25
        | 0x1E00..=0x1EFF
        | 0x2C60..=0x2C7F
        | 0xA720..=0xA7FF
        | 0xAB30..=0xAB6F => Script::Latin,
        0xB5
        | 0x370..=0x52F
        | 0x531..=0x587
        | 0x10A0..=0x10FF
        | 0x13A0..=0x13FD
        | 0x1C80..=0x1C8F
        | 0x1F00..=0x1FFF
        | 0x2C80..=0x2CFF
        | 0x2DE0..=0x2DFF
        | 0xA4D0..=0xA4FF
        | 0xA640..=0xA69F
        | 0xAB70..=0xABBF => Script::Similar,
        0..=0xBF => Script::None,
        _ if c.is_alphabetic() || is_mark(c) || is_ignorable(c) => Script::Other,
        _ => Script::None,
    }
}

/// Whether a character belongs to a word.
pub(in crate::guard) fn is_word(c: char) -> bool {
    match u32::from(c) {
        0..=0x7F => c.is_ascii_alphanumeric(),
        // Vowel signs and viramas of the Indic scripts are part of words, dandas are not.
        0x964 | 0x965 => false,
        0x900..=0xDFF => true,
        _ => c.is_alphanumeric() || is_unspaced(c),
    }
}

/// Whether a character belongs to a script that writes no spaces between words.
pub(in crate::guard) fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0xE01..=0xE4E | 0xE81..=0xECD | 0x1000..=0x109F | 0x1780..=0x17D3 | 0x3005..=0x3007 | 0x3041..=0x30FF
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}
