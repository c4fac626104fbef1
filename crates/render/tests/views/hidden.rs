//! Hidden characters of a command are marked wherever a command is shown: a user decides by the
//! text on the screen.

use crate::dump::text_of;
use agent_bash_core::{Cell, Cursor, Screen, ScreenModes};
use agent_bash_render::{
    BangCard, JobRow, JobRowState, JobsPanel, OutputLimits, OutputText, Overlay, OverlayState,
    Pager, PagerPrompt, Theme, ToolCard,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

/// All views with this command in them, as text.
fn views(command: &str) -> Vec<String> {
    let theme = Theme::dark();
    let job = JobRow {
        id: "1".to_owned(),
        listens_on: String::new(),
        pid: 7,
        state: JobRowState::Running,
        elapsed: None,
        command: command.to_owned(),
    };
    let panel = JobsPanel {
        jobs: &[job],
        selected: 0,
        output: None,
        message: None,
    };
    let screen = Screen {
        cols: 1,
        rows: 1,
        cells: vec![Cell::default()],
        cursor: Cursor::default(),
        title: String::new(),
        modes: ScreenModes::default(),
        scrollback: 0,
    };
    let overlay = Overlay {
        command,
        state: &OverlayState::Running,
        elapsed: Duration::ZERO,
        screen: &screen,
        scrolled: 0,
        is_full_screen: false,
    };
    let nothing = OutputText::new(OutputLimits::PAGE);
    let pager = Pager {
        title: "artifact://3",
        subtitle: command,
        text: &nothing,
        from_line: 1,
        first_line: 1,
        total_lines: 1,
        column: 0,
        pattern: None,
        matches: None,
        found_line: None,
        prompt: PagerPrompt::Keys { live: true },
    };
    let mut elsewhere = ToolCard::new(command);
    elsewhere.directory = Some(command.to_owned());
    let card = ToolCard::new(command);
    let bang = BangCard::new(command, false);
    let mut texts: Vec<String> = [false, true]
        .into_iter()
        .flat_map(|expanded| {
            [
                card.rows(90, expanded, 0, 9, &theme),
                elsewhere.rows(90, expanded, 0, 9, &theme),
                bang.rows(90, expanded, 0, 9, &theme),
            ]
        })
        .map(|rows| rows.iter().map(ToString::to_string).collect())
        .collect();
    let area = Rect::new(0, 0, 90, 12);
    let text = |render: &dyn Fn(&mut Buffer)| {
        let mut buffer = Buffer::empty(area);
        render(&mut buffer);
        text_of(&buffer)
    };
    texts.extend([
        text(&|buffer| panel.render(area, buffer, &theme)),
        text(&|buffer| overlay.render(area, buffer, &theme)),
        text(&|buffer| pager.render(area, buffer, &theme)),
    ]);
    texts
}

#[test]
fn all_characters_of_a_command_are_shown() {
    for (hidden, mark) in [
        ("\u{e0072}\u{e006d}", "<U+E0072><U+E006D>"),
        ("\u{200b}", "<U+200B>"),
        ("\u{202e}", "<U+202E>"),
        ("é\u{200c}", "é<U+200C>"),
        ("\u{1b}[8m", "<U+001B>[8m"),
    ] {
        for text in views(&format!("ls {hidden}x")) {
            assert!(text.contains(&format!("ls {mark}x")), "{text:?}");
        }
    }
}

#[test]
fn joiners_of_an_emoji_stay() {
    for text in views("ls 👨\u{200d}👩") {
        assert!(!text.contains("<U+"), "{text:?}");
    }
}
