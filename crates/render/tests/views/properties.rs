//! For any output and any terminal size: no panic, and no control character reaches a cell.

use agent_bash_core::changes::{
    Change, Changes, ChangesBy, ChangesId, ChangesState, FileChange, FileName,
};
use agent_bash_core::{Attributes, Cell, CellColor, Cursor, Screen, ScreenModes, Status};
use agent_bash_render::regex::Regex;
use agent_bash_render::{
    BangCard, CardChanges, CardState, DiffLine, DiffView, JobRow, JobRowState, JobsPanel,
    OutputLimits, OutputText, Overlay, OverlayState, Pager, PagerPosition, PagerPrompt, Question,
    QuestionPart, ScreenView, Theme, ToolCard,
};
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;
use std::time::Duration;

/// Typical output of commands, and worse.
fn output() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        any::<Vec<u8>>(),
        any::<String>().prop_map(String::into_bytes),
        Just(b"\x1b[".to_vec()),
        Just(b"\x1b]0;".to_vec()),
        Just(b"\x1b[38;5;".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(b"\x08\x08".to_vec()),
        Just(b"\t".to_vec()),
        Just(
            "你e\u{301}👩‍👩‍👧\u{202e}\u{9b}ls\u{200b}\u{e0072}\u{200c}"
                .as_bytes()
                .to_vec()
        ),
    ];
    prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

/// Typical terminal sizes, and smaller ones.
fn size() -> impl Strategy<Value = (u16, u16)> {
    (
        prop_oneof![0..6_u16, 0..200_u16],
        prop_oneof![0..4_u16, 0..60_u16],
    )
}

fn cell() -> impl Strategy<Value = Cell> {
    let color = || {
        prop_oneof![
            Just(CellColor::Default),
            any::<u8>().prop_map(CellColor::Indexed),
            any::<(u8, u8, u8)>().prop_map(|(r, g, b)| CellColor::Rgb(r, g, b)),
        ]
    };
    let text = prop_oneof![
        any::<String>(),
        any::<char>().prop_map(String::from),
        "[a-z你👩\u{301}\u{1b}\u{7}]{0,2}",
    ];
    (text, any::<bool>(), color(), color()).prop_map(|(text, wide, foreground, background)| Cell {
        text,
        wide,
        foreground,
        background,
        attributes: Attributes {
            inverse: wide,
            ..Attributes::default()
        },
    })
}

fn screen() -> impl Strategy<Value = Screen> {
    (
        size(),
        prop::collection::vec(cell(), 0..300),
        any::<(u16, u16)>(),
    )
        .prop_map(
            // There may be fewer cells than the size says.
            |((cols, rows), cells, (row, col))| Screen {
                cols,
                rows,
                cells,
                cursor: Cursor {
                    row,
                    col,
                    visible: true,
                },
                title: String::new(),
                modes: ScreenModes::default(),
                scrollback: 0,
            },
        )
}

fn check(buffer: &Buffer) {
    for cell in buffer.content() {
        let acts = |c: char| {
            c.is_control()
                || matches!(c, '\u{200b}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e0fff}')
        };
        assert!(!cell.symbol().contains(acts), "{:?}", cell.symbol());
    }
}

fn draw(width: u16, height: u16, draw: impl FnOnce(Rect, &mut Buffer)) {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    draw(area, &mut buffer);
    check(&buffer);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cards_show_text_only(bytes in output(), (width, height) in size(), split in any::<prop::sample::Index>(), skip in 0..50_usize) {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let theme = Theme::dark();
        let mut tool = ToolCard::new(text.clone());
        tool.directory = Some(text.clone());
        let mut bang = BangCard::new(text.clone(), true);
        let at = split.index(bytes.len() + 1);
        for part in [&bytes[..at], &bytes[at..]] {
            tool.output.push(part);
            bang.output.push(part);
        }
        let mut changes = CardChanges::new(Changes::new(ChangesId(1), ChangesState::Held, ChangesBy::Overlay, &text));
        changes.outcome = vec![text.clone()];
        tool.changes = Some(changes.clone());
        bang.changes = Some(changes);
        bang.state = CardState::Ended(Status::NotStarted { reason: String::from_utf8_lossy(&bytes).into_owned() });
        for expanded in [false, true] {
            for rows in [
                tool.rows(width, expanded, skip, usize::from(height), &theme),
                bang.rows(width, expanded, skip, usize::from(height), &theme),
            ] {
                prop_assert!(rows.len() <= usize::from(height));
                for span in rows.iter().flat_map(|row| &row.spans) {
                    prop_assert!(!span.content.contains(char::is_control), "{:?}", span.content);
                }
                draw(width, height, |area, buffer| {
                    for (row, y) in rows.iter().zip(area.y..area.bottom()) {
                        buffer.set_line(0, y, row, width);
                    }
                });
            }
            let all = tool.rows(width, expanded, 0, usize::MAX, &theme);
            prop_assert_eq!(all.len(), tool.height(width, expanded, &theme));
        }
    }

    #[test]
    fn screens_show_text_only(screen in screen(), (width, height) in size(), command in any::<String>()) {
        let theme = Theme::dark();
        draw(width, height, |area, buffer| ScreenView::new(&screen, &theme).render(area, buffer));
        for state in [OverlayState::Running, OverlayState::Killed, OverlayState::Ended(Status::Cancelled)] {
            let overlay = Overlay {
                command: &command,
                state: &state,
                elapsed: Duration::from_secs(1),
                screen: &screen,
                scrolled: 0,
                is_full_screen: false,
            };
            draw(width, height, |area, buffer| {
                let area = Overlay::area(area);
                overlay.render(area, buffer, &theme);
                if let Some(cursor) = overlay.cursor(area, &theme) {
                    assert!(area.contains(cursor));
                }
            });
            // Also if the area is partly outside the buffer.
            draw(width, height, |area, buffer| overlay.render(Rect { x: 3, y: 3, ..area }, buffer, &theme));
        }
    }

    #[test]
    fn panels_show_text_only(bytes in output(), (width, height) in size(), number in any::<u64>(), column in 0..300_usize) {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let theme = Theme::light();
        let lines = OutputText::of(OutputLimits::PAGE, &text);
        let output = OutputText::of(OutputLimits::BANG, &text);
        let jobs = vec![JobRow {
            id: text.clone(),
            command: text.clone(),
            listens_on: String::new(),
            pid: u32::MAX,
            state: JobRowState::Failed(text.clone()),
            elapsed: Some(Duration::from_secs(number)),
        }; 3];
        let pattern = Regex::new(&text).ok();
        for prompt in [PagerPrompt::Keys { live: true }, PagerPrompt::Follows, PagerPrompt::Typed(&text), PagerPrompt::Count(u64::MAX), PagerPrompt::Message(&text)] {
            let pager = Pager {
                title: &text,
                subtitle: &text,
                text: &lines,
                from_line: number / 2,
                first_line: number / 2 + 1,
                total_lines: number,
                column,
                pattern: pattern.as_ref(),
                matches: Some((number, number)),
                found_line: Some(number / 2),
                prompt,
            };
            draw(width, height, |area, buffer| pager.render(area, buffer, &theme));
        }
        let name = FileName::new(&text);
        let file = FileChange::new(name.clone(), Change::Changed).renamed_from(name.clone());
        let diff = [
            DiffLine::File(file.clone()),
            DiffLine::Note(text.clone()),
            DiffLine::Hunk(text.clone()),
            DiffLine::Context(text.clone()),
            DiffLine::Removed(text.clone()),
            DiffLine::Added(text.clone()),
        ];
        let mut position = PagerPosition::first();
        (position.first_line, position.column) = (number % 7, column);
        for message in [None, Some(&*text)] {
            let view = DiffView {
                title: &text,
                subtitle: &text,
                lines: &diff,
                position: &position,
                keys: &text,
                pattern: pattern.as_ref(),
                matches: Some((number, number)),
                found_line: Some(number / 2),
                typed: message.filter(|_| number % 2 == 0),
                count: None,
                message,
            };
            draw(width, height, |area, buffer| view.render(area, buffer, &theme));
        }
        let parts = [
            QuestionPart::Loosened(&[["network".to_owned(), "off".to_owned(), text.clone()]]),
            QuestionPart::Summary(&text),
            QuestionPart::Text(&text),
            QuestionPart::Script(&text),
            QuestionPart::Files(&[file], number),
            QuestionPart::Conflicts(&[name]),
        ];
        let question = Question { title: &text, parts: &parts, yes: &text, no: &text };
        draw(width, height, |area, buffer| question.render(area, buffer, &theme));
        for selected in [0, 2, 99] {
            let panel = JobsPanel { jobs: &jobs, selected, output: Some(&output), message: Some(&text) };
            draw(width, height, |area, buffer| panel.render(area, buffer, &theme));
        }
    }
}
