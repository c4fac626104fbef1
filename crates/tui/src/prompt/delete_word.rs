//! Deletes words as bash's `unix-word-rubout` does: words are delimited by blanks.

use crate::grapheme_clusters;
use ratatui_textarea::TextArea;

/// Deletes back to a blank; at the beginning of a line, deletes the line break.
pub(super) fn delete_to_blank(area: &mut TextArea<'_>) {
    let cursor = area.cursor();
    let line = area.lines().get(cursor.0).map_or("", String::as_str);
    let before: Vec<char> = line.chars().take(cursor.1).collect();
    let is_blank = |c: &&char| c.is_whitespace();
    let blanks = before.iter().rev().take_while(is_blank).count();
    let rest = before.iter().rev().skip(blanks);
    let word = rest.take_while(|c| !c.is_whitespace()).count();
    let chars = blanks + word;
    if chars == 0 || area.is_selecting() {
        area.delete_word();
        return;
    }
    grapheme_clusters::move_to_column(area, cursor.1 - chars);
    area.delete_str(chars);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_is_deleted_back_to_a_blank_and_can_be_yanked() {
        let mut area = TextArea::from(["git add", "cat \u{301}é/b.c  ü-x.py "]);
        area.move_cursor(ratatui_textarea::CursorMove::Bottom);
        area.move_cursor(ratatui_textarea::CursorMove::End);
        for want in [
            "git add\ncat \u{301}é/b.c  ", "git add\ncat ", "git add\n", "git add", "git ", "", "",
        ] {
            let cut = area.lines().join("\n");
            delete_to_blank(&mut area);
            assert_eq!(area.lines().join("\n"), want);
            if cut.len() > want.len() + 1 {
                assert_eq!(area.yank_text(), cut[want.len()..]);
            }
        }
        // Only the selection is deleted.
        let mut area = TextArea::from(["one two"]);
        area.start_selection();
        area.move_cursor(ratatui_textarea::CursorMove::Forward);
        delete_to_blank(&mut area);
        assert_eq!(area.lines(), ["ne two"]);
    }
}
