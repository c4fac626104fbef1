//! What may reach a cell of the host's terminal: text that is seen, nothing that acts.

use std::borrow::Cow;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Whether a character does something else than being seen: C0, DEL, C1, line and paragraph separators, and what changes
/// the direction of text, by which a command can be made to look like another.
pub(crate) fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// A text in one line: a newline as `⏎`, a tab as a blank, the rest of what acts left out.
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

/// The columns that a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// A text in one line of at most `columns`; one that is longer ends in `…`.
pub(crate) fn shortened(text: &str, columns: usize) -> String {
    // Of a script of megabytes only the beginning can be seen.
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
