//! Invisible characters: they get a visible form, so that what a model or a person reads is what was printed.
//! Control characters (Unicode category Cc) are not handled here; `sanitise` drops them.

use std::ops::RangeInclusive;

/// Bidi embeddings, overrides, isolates and marks (UAX #9), zero-width and invisible format characters, line and
/// paragraph separators, and the tag characters that can spell out hidden ASCII.
const INVISIBLE: [RangeInclusive<char>; 11] = [
    '\u{ad}'..='\u{ad}',
    '\u{61c}'..='\u{61c}',
    '\u{180e}'..='\u{180e}',
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{feff}'..='\u{feff}',
    '\u{fff9}'..='\u{fffb}',
    '\u{1d173}'..='\u{1d17a}',
    '\u{e0000}'..='\u{e007f}',
    '\u{e0100}'..='\u{e01ef}',
];

/// Whether a character is shown by its code point.
pub(crate) fn is_invisible(c: char) -> bool {
    INVISIBLE.iter().any(|range| range.contains(&c))
}

/// ZWNJ and ZWJ, which are part of the spelling of many scripts and of emoji.
pub(crate) fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

/// Whether a joiner after this character can be spelling. After ASCII or white space it joins nothing and only
/// hides.
pub(crate) fn is_joinable(c: char) -> bool {
    !c.is_ascii() && !c.is_whitespace() && !c.is_control() && !is_invisible(c)
}

/// The visible form, as `less` writes it: `<U+202E>`.
pub(crate) fn form(c: char) -> String {
    format!("<U+{:04X}>", u32::from(c))
}

/// Whether a byte may be the lead byte of an [`INVISIBLE`] character or of a C1 control, so that a scan can skip
/// all others.
#[inline]
pub(crate) fn is_suspicious_lead(byte: u8) -> bool {
    matches!(byte, 0xc2 | 0xd8 | 0xe1 | 0xe2 | 0xef | 0xf0 | 0xf3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lead_bytes_cover_the_table_and_c1() {
        for c in '\u{80}'..=char::MAX {
            if is_invisible(c) || c.is_control() {
                let mut buffer = [0; 4];
                let lead = c.encode_utf8(&mut buffer).as_bytes()[0];
                assert!(is_suspicious_lead(lead), "{:x}", u32::from(c));
            }
        }
    }

    #[test]
    fn letters_and_emoji_stay() {
        for c in "éß中文🙂\u{fe0f}–“”…│".chars() {
            assert!(!is_invisible(c), "{c:?}");
        }
        assert_eq!(form('\u{202e}'), "<U+202E>");
        assert_eq!(form('\u{e0041}'), "<U+E0041>");
    }
}
