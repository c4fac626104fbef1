//! Replaces characters whose width depends on the terminal by ones with a fixed width.
//!
//! Flags, families and other emoji of several characters take two, four or more columns, depending
//! on the terminal and its font. If a terminal's width differs from the computed one, everything to
//! the right is displaced, and remains on the screen after scrolling. Copied and stored text is
//! unchanged.

use ratatui::buffer::Buffer;
use unicode_width::UnicodeWidthChar;

/// The character that joins others into one.
const ZERO_WIDTH_JOINER: char = '\u{200d}';

/// Replaces ambiguous characters in a finished frame: a flag by its two letters, a joined emoji by
/// its first part.
pub fn normalise_widths(buffer: &mut Buffer) {
    let width = usize::from(buffer.area.width);
    for at in 0..buffer.content.len() {
        let Some(parts) = replacement(buffer.content[at].symbol()) else {
            continue;
        };
        let style = buffer.content[at].style();
        let room = width - at % width;
        for (at, part) in (at..).zip(parts.into_iter().take(room)) {
            let symbol = part.encode_utf8(&mut [0; 4]).to_owned();
            buffer.content[at].set_symbol(&symbol).set_style(style);
        }
    }
}

/// Returns the replacement, one character per column; `None` if the symbol has a fixed width.
fn replacement(symbol: &str) -> Option<Vec<char>> {
    let mut chars = symbol.chars();
    let first = chars.next()?;
    if let Some(letter_of_first) = letter(first) {
        let second = chars.next().and_then(letter);
        return Some(
            [Some(letter_of_first), second]
                .into_iter()
                .flatten()
                .collect(),
        );
    }
    let is_uneven = symbol.chars().skip(1).any(|c| {
        matches!(
            c,
            ZERO_WIDTH_JOINER | '\u{fe0f}' | '\u{20e3}' | '\u{1f3fb}'..='\u{1f3ff}'
        )
    });
    // The replacement takes as many columns as the symbol: the first column has the character, the
    // others are blank.
    is_uneven.then(|| match first.width() {
        Some(1) => vec![first, ' '],
        _ => vec![first],
    })
}

/// The letter that a regional indicator stands for.
fn letter(c: char) -> Option<char> {
    let at = u32::from(c).checked_sub(0x1f1e6).filter(|at| *at < 26)?;
    char::from_u32(u32::from('A') + at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    #[test]
    fn drawn_characters_have_a_fixed_width() {
        for (text, wanted) in [
            ("a🇩🇪b", "aDEb"),
            ("🇩🇪🇫🇷!", "DEFR!"),
            ("🇩.", "D."),
            ("👨\u{200d}👩\u{200d}👧 x", "👨 x"),
            ("👍🏽.", "👍."),
            ("plain é e\u{301} 漢 😀", "plain é e\u{301} 漢 😀"),
        ] {
            let mut buffer = Buffer::empty(Rect::new(0, 0, 20, 1));
            buffer.set_string(0, 0, text, Style::new());
            let before = buffer.clone();
            normalise_widths(&mut buffer);
            let mut wide = 0;
            let mut shown = String::new();
            for cell in &buffer.content {
                if wide > 1 {
                    wide -= 1;
                    continue;
                }
                wide = unicode_width::UnicodeWidthStr::width(cell.symbol());
                shown.push_str(cell.symbol());
            }
            assert_eq!(shown.trim_end(), wanted, "{text}");
            assert_eq!(before == buffer, wanted == text, "{text}");
        }
    }
}
