//! What may be written to a cell of the host's terminal: visible text without any effect on the terminal.

use std::borrow::Cow;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Whether a character has an effect other than being displayed: C0, DEL, C1, line and paragraph separators, and
/// bidi controls, which can make one command look like another.
pub(crate) fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// A text on one line: newlines as `⏎`, tabs as spaces, other control characters dropped.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push('⏎'),
            '\t' => out.push(' '),
            c if acts(c) => {}
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Width of a text in columns.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// A text on one line of at most `columns`, shortened with `…` if necessary.
pub(crate) fn shortened(text: &str, columns: usize) -> String {
    // Of a script of megabytes only the beginning is processed.
    let most = columns.saturating_mul(8).saturating_add(64);
    let cut = text
        .char_indices()
        .nth(most)
        .map_or(text.len(), |(at, _)| at);
    let line = one_line(&text[..cut]);
    if cut == text.len() && width(&line) <= columns {
        return line.into_owned();
    }
    let mut out = String::new();
    let mut left = columns.saturating_sub(1);
    for grapheme in line.graphemes(true) {
        let wide = width(grapheme);
        if wide > left {
            break;
        }
        left -= wide;
        out.push_str(grapheme);
    }
    if columns > 0 {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_left_out() {
        assert_eq!(one_line("a\tb\nc\u{1b}[31m\u{202e}d\u{9b}"), "a b⏎c[31md");
        assert!(matches!(one_line("plain ü 你"), Cow::Borrowed(_)));
    }

    #[test]
    fn what_is_shortened_fits() {
        for (text, columns, want) in [
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            ("你好", 3, "你…"),
            ("你好", 2, "…"),
            ("a", 0, ""),
        ] {
            assert_eq!(shortened(text, columns), want, "{text} in {columns}");
        }
        assert_eq!(shortened(&"x".repeat(1 << 20), 4), "xxx…");
    }
}
