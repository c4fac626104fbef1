//! Text that is safe to write to the host's terminal: visible, and without control sequences.

use agent_bash_core::visible::one_line;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Width of a text in columns.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// A text on one line of at most `columns`, shortened with `…` if necessary.
pub fn shortened(text: &str, columns: usize) -> String {
    // Only the beginning of a script of megabytes is processed.
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

/// Shortens a line of parts separated by ` · ` to at most `columns` by dropping parts. The first
/// and the last part stay; of the others, the last are dropped first.
pub fn abridged(text: &str, columns: usize) -> String {
    const ROW_SEPARATOR: &str = " · ";
    let mut parts: Vec<&str> = text.split(ROW_SEPARATOR).collect();
    while parts.len() > 2 && width(&parts.join(ROW_SEPARATOR)) > columns {
        parts.remove(parts.len() - 2);
    }
    shortened(&parts.join(ROW_SEPARATOR), columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortened_text_fits() {
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

    #[test]
    fn abridged_text_has_whole_parts_while_two_fit() {
        let keys = "1–2 of 3 · j down · k up · q close";
        for (columns, want) in [
            (34, keys),
            (33, "1–2 of 3 · j down · q close"),
            (26, "1–2 of 3 · q close"),
            (17, "1–2 of 3 · q clo…"),
        ] {
            assert_eq!(abridged(keys, columns), want, "{columns}");
        }
    }
}
