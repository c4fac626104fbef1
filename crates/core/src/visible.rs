//! The table of invisible characters, and how they are shown.
//!
//! A model and a user have different needs. A model copies text into edits, so the text must match
//! the file: characters that are part of a word's or an emoji's spelling are kept
//! ([`is_spelling`]). A user decides by the text on the screen, so every invisible character is
//! marked ([`shown`], [`one_line`]), except within an emoji.

use std::borrow::Cow;

const ZWNJ: char = '\u{200c}';
const ZWJ: char = '\u{200d}';

/// True if a character is invisible: Unicode's `Default_Ignorable_Code_Point` (zero-width and
/// direction marks, fillers, variation selectors, the tag characters that can spell out hidden
/// ASCII), line and paragraph separators, and annotation characters. Control characters (category
/// Cc) are not included.
#[rustfmt::skip]
pub fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// True for a variation selector, which selects the form of the character before it: `❤` as text or
/// as an emoji.
fn is_variation(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}')
}

/// True if a byte may begin a hidden character or a C1 control. A scan skips all other bytes.
#[inline]
pub fn is_suspicious_lead(byte: u8) -> bool {
    matches!(
        byte,
        0xc2 | 0xcd | 0xd8 | 0xe1 | 0xe2 | 0xe3 | 0xef | 0xf0 | 0xf3
    )
}

/// True if a hidden character is part of the spelling of a word or an emoji, such as a joiner or a
/// variation selector. `before` is the last visible character.
pub fn is_spelling(before: Option<char>, c: char) -> bool {
    let Some(before) = before else { return false };
    let is_base = !before.is_ascii() && !before.is_whitespace() && !is_hidden(before);
    match c {
        ZWNJ | ZWJ => is_base || is_variation(before),
        '\u{fe0f}' if matches!(before, '#' | '*' | '0'..='9') => true,
        '\u{34f}' | '\u{180b}'..='\u{180d}' | '\u{180f}' => is_base,
        c => is_base && is_variation(c),
    }
}

/// True if the user must see a mark for a character, because it affects the terminal or is hidden.
/// `before` is the last visible character.
pub fn must_be_marked(before: Option<char>, c: char) -> bool {
    let in_emoji = || {
        let is_emoji = |c: char| matches!(c, '\u{a9}' | '\u{ae}' | '\u{203c}'..='\u{3299}' | '\u{1f000}'..='\u{1faff}');
        is_spelling(before, c)
            && match c {
                ZWJ => before.is_some_and(|before| is_emoji(before) || before == '\u{fe0f}'),
                '\u{fe0e}' | '\u{fe0f}' => before.is_some_and(is_emoji),
                _ => false,
            }
    };
    c.is_control() || (is_hidden(c) && !in_emoji())
}

/// Returns the mark that replaces a character, in the format of `less`: `<U+202E>`.
pub fn mark(c: char) -> String {
    format!("<U+{:04X}>", u32::from(c))
}

/// Returns a text that is safe to show: control and hidden characters are marked. Newlines and tabs
/// are kept.
pub fn shown(text: &str) -> Cow<'_, str> {
    replace_marked(text, |c| match c {
        '\n' | '\t' => c.into(),
        c => mark(c),
    })
}

/// Returns [`shown`] on one line: newlines as `⏎`, tabs as spaces.
pub fn one_line(text: &str) -> Cow<'_, str> {
    replace_marked(text, |c| match c {
        '\n' => '⏎'.into(),
        '\t' => ' '.into(),
        c => mark(c),
    })
}

/// Returns the visible characters only, for views without room for marks.
pub fn without_hidden(text: &str) -> Cow<'_, str> {
    replace_marked(text, |_| String::new())
}

/// Replaces each character that must be marked with the text of `instead`.
fn replace_marked(text: &str, instead: impl Fn(char) -> String) -> Cow<'_, str> {
    if !text.contains(|c: char| c.is_control() || is_hidden(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut before = None;
    for c in text.chars() {
        if must_be_marked(before, c) {
            out.push_str(&instead(c));
            before = None;
        } else {
            out.push(c);
            before = Some(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lead_bytes_cover_the_table_and_c1() {
        for c in '\u{80}'..=char::MAX {
            if is_hidden(c) || c.is_control() {
                let mut buffer = [0; 4];
                let lead = c.encode_utf8(&mut buffer).as_bytes()[0];
                assert!(is_suspicious_lead(lead), "{:x}", u32::from(c));
            }
        }
    }

    #[test]
    fn visible_characters_stay() {
        let text = "éß中文🙂–“”…│ ü 你 \u{f0a1}";
        assert!(matches!(shown(text), Cow::Borrowed(_)));
        assert!(!text.chars().any(is_hidden));
    }

    #[test]
    fn shown_marks_control_and_hidden_characters() {
        for (text, want) in [
            ("a\tb\nc\u{1b}[31md\u{9b}", "a b⏎c<U+001B>[31md<U+009B>"),
            ("rm \u{202e}x", "rm <U+202E>x"),
            ("ls\u{e0072}\u{e006d}", "ls<U+E0072><U+E006D>"),
            ("a\u{200b}\u{2060}\u{feff}b", "a<U+200B><U+2060><U+FEFF>b"),
            ("pay\u{200d}pal", "pay<U+200D>pal"),
            ("می\u{200c}خواهم", "می<U+200C>خواهم"),
            ("x\u{3164}\u{ad}", "x<U+3164><U+00AD>"),
            // An emoji stays whole; further joiners and selectors are marked.
            (
                "👨\u{200d}👩 ❤\u{fe0f} 🏳\u{fe0f}\u{200d}🌈",
                "👨\u{200d}👩 ❤\u{fe0f} 🏳\u{fe0f}\u{200d}🌈",
            ),
            ("😀\u{fe0f}\u{fe01}\u{fe0f}", "😀\u{fe0f}<U+FE01><U+FE0F>"),
            ("😀\u{fe01}\u{e0101}", "😀<U+FE01><U+E0101>"),
            ("😀\u{200d}\u{200d}", "😀\u{200d}<U+200D>"),
        ] {
            assert_eq!(one_line(text), want, "{text:?}");
        }
        assert_eq!(shown("a\tb\n\r"), "a\tb\n<U+000D>");
    }

    #[test]
    fn is_spelling_accepts_one_joiner_or_selector_after_a_base() {
        for (before, c, want) in [
            (Some('ی'), ZWNJ, true),
            (Some('👨'), ZWJ, true),
            (Some('\u{fe0f}'), ZWJ, true),
            (Some('1'), '\u{fe0f}', true),
            (Some('a'), '\u{fe0f}', false),
            (Some('a'), ZWJ, false),
            (Some(ZWJ), ZWJ, false),
            (Some(ZWJ), '\u{fe0f}', false),
            (Some('\u{fe0f}'), '\u{fe0e}', false),
            (Some('👨'), '\u{200b}', false),
            (Some('葛'), '\u{e0100}', false),
            (None, ZWJ, false),
        ] {
            assert_eq!(is_spelling(before, c), want, "{before:?} {c:?}");
        }
    }
}
