//! Characters on which terminals do not agree how wide they are, in a form on which they do.
//!
//! Flags, families and other emoji made of several characters take two, four or more columns, depending on the terminal and
//! its font. Where it takes others than we reckon with, everything to the right is displaced, and stays behind when the text
//! has scrolled away. What is copied or stored is not changed.

use ratatui::buffer::Buffer;
use unicode_width::UnicodeWidthChar;

/// Joins characters into one.
const JOINER: char = '\u{200d}';

/// Replaces what terminals draw differently in a finished frame: a flag by its two letters, what is made of several emoji by
/// the first of them.
pub fn normalise_widths(buffer: &mut Buffer) {
    let width = usize::from(buffer.area.width);
    for at in 0..buffer.content.len() {
        let Some(parts) = replaced(buffer.content[at].symbol()) else {
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

/// What is drawn instead, a character for each column; `None` if it may stay.
fn replaced(symbol: &str) -> Option<Vec<char>> {
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
            JOINER | '\u{fe0f}' | '\u{20e3}' | '\u{1f3fb}'..='\u{1f3ff}'
        )
    });
    // The columns of the whole stay taken: the first has the character, and what is left of them is blank.
    is_uneven.then(|| match first.width() {
        Some(1) => vec![first, ' '],
        _ => vec![first],
    })
}

/// The letter that a character of a flag stands for.
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
    fn what_is_drawn_has_a_width_that_is_certain() {
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
