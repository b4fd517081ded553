//! Takes control sequences and hidden characters out of a text.

use std::borrow::Cow;

/// The text without ANSI sequences, control characters but tab and line ends, tag characters outside of flags, bidi
/// overrides and characters of no width. Joiners and isolates stay, which people's languages need.
pub(super) fn strip(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    let mut flag = false;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        let tag = is_tag(c);
        rest = match c {
            '\u{1b}' => after.get(sequence(after)..).unwrap_or_default(),
            '\u{9b}' => after.get(csi(after)..).unwrap_or_default(),
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => after.get(string(after)..).unwrap_or_default(),
            _ => after,
        };
        if !is_hidden(c) || tag && flag {
            kept.push(c);
        }
        flag = c == '\u{1f3f4}' || tag && flag;
    }
    Cow::Owned(kept)
}

fn is_tag(c: char) -> bool {
    matches!(c, '\u{e0020}'..='\u{e007f}')
}

fn is_hidden(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' => false,
        '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' => true,
        '\u{202a}'..='\u{202e}' | '\u{e0000}'..='\u{e007f}' => true,
        c => c.is_control(),
    }
}

/// Length of what follows an escape character and belongs to it.
fn sequence(after: &str) -> usize {
    let length = match after.bytes().next() {
        Some(b'[') => csi(after.get(1..).unwrap_or_default()),
        Some(b']' | b'P' | b'X' | b'^' | b'_') => string(after.get(1..).unwrap_or_default()),
        Some(0x20..=0x2f) => {
            let between = after.bytes().take_while(|byte| matches!(byte, 0x20..=0x2f)).count();
            return between + usize::from(matches!(after.as_bytes().get(between), Some(0x30..=0x7e)));
        }
        Some(0x30..=0x7e) => 0,
        _ => return 0,
    };
    1 + length
}

/// Length of a control sequence after its introducer.
fn csi(after: &str) -> usize {
    let parameters = after.bytes().take_while(|byte| matches!(byte, 0x20..=0x3f)).count();
    parameters + usize::from(matches!(after.as_bytes().get(parameters), Some(0x40..=0x7e)))
}

/// Length of a control string with its end; 0 when its line or another sequence comes before the end.
fn string(after: &str) -> usize {
    let end = after.char_indices().find(|(_, c)| matches!(c, '\u{7}' | '\u{9c}' | '\u{1b}' | '\n' | '\u{9b}'));
    match end {
        Some((at, '\u{7}')) => at + 1,
        Some((at, '\u{9c}')) => at + 2,
        Some((at, '\u{1b}')) if after.as_bytes().get(at + 1) == Some(&b'\\') => at + 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_goes_and_the_rest_stays() {
        for (before, after) in [
            ("\u{1b}[31merror\u{1b}[0m", "error"),
            ("\u{1b}]8;;http://e.example\u{7}link\u{1b}]8;;\u{7} ok", "link ok"),
            ("\u{1b}]0;title\u{1b}\\user$ ls", "user$ ls"),
            ("\u{9b}31mred\u{9b}0m", "red"),
            ("\u{1b}(Btext\u{1b}Mmore", "textmore"),
            ("\u{1b}]open end\nnext", "open end\nnext"),
            ("\u{1b}\u{1b}[1mx", "x"),
            ("\u{1b}é\u{1b}", "é"),
            ("a\u{0}b\u{8}\u{7f}c\td\r\n", "abc\td\r\n"),
            ("x\u{202e}y\u{202c}z", "xyz"),
            ("a\u{e0073}\u{e0020}b", "ab"),
            ("\u{1f3f4}\u{e0067}\u{e0062}\u{e007f}!", "\u{1f3f4}\u{e0067}\u{e0062}\u{e007f}!"),
            ("می\u{200c}خواهم 👨\u{200d}👩", "می\u{200c}خواهم 👨\u{200d}👩"),
            ("\u{2067}שלום\u{2069}", "\u{2067}שלום\u{2069}"),
        ] {
            assert_eq!(strip(before), after, "{before:?}");
            assert_eq!(strip(after), after, "{after:?}");
        }
    }
}
