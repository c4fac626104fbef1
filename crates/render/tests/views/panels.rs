//! Overlay, pager and jobs panel: every state at three widths, with styles.

use crate::dump::{drawn, dump_at_widths, text_of};
use agent_bash_core::{Attributes, Cell, CellColor, Cursor, Screen, ScreenModes, Status};
use agent_bash_render::regex::Regex;
use agent_bash_render::{
    JobRow, JobRowState, JobsPanel, OutputLimits, OutputText, Overlay, OverlayState, Pager,
    PagerPrompt, Theme,
};
use ratatui::layout::Rect;
use std::time::Duration;

/// A screen that shows these lines.
fn screen(cols: u16, rows: u16, lines: &[&str]) -> Screen {
    let mut cells = vec![Cell::default(); usize::from(cols) * usize::from(rows)];
    let mut cursor = Cursor {
        visible: true,
        ..Cursor::default()
    };
    for (row, line) in lines.iter().enumerate() {
        let mut col = 0;
        for c in line.chars() {
            let wide = unicode_width::UnicodeWidthChar::width(c) == Some(2);
            cells[row * usize::from(cols) + col] = Cell {
                text: c.to_string(),
                wide,
                foreground: if row == 0 {
                    CellColor::Indexed(2)
                } else {
                    CellColor::Default
                },
                background: if row == 1 {
                    CellColor::Rgb(1, 2, 3)
                } else {
                    CellColor::Default
                },
                attributes: Attributes {
                    bold: row == 0,
                    ..Attributes::default()
                },
            };
            col += 1 + usize::from(wide);
        }
        (cursor.row, cursor.col) = (row as u16, col as u16);
    }
    Screen {
        cols,
        rows,
        cells,
        cursor,
        title: String::new(),
        modes: ScreenModes::default(),
        scrollback: 0,
    }
}

fn assert_shown(name: &str, height: u16, draw: impl Fn(Rect, &mut ratatui::Frame<'_>)) {
    let at = |width| drawn(width, height, |frame| draw(frame.area(), frame));
    let all = dump_at_widths(at);
    insta::assert_snapshot!(name, all);
}

#[test]
fn overlay_is_drawn_as_in_its_snapshots() {
    use OverlayState::{Ended, Killed, Running, WaitingForInput, WaitingForSecret};
    let theme = Theme::dark();
    let shell = screen(30, 6, &["$ echo hi", "hi 你好", "$ "]);
    let mut editor = screen(30, 6, &["~", "~", "-- INSERT --"]);
    editor.modes.alternate_screen = true;
    let long =
        "python3 -c 'import this' && a command that is far too long for its header, is it not?";
    let exited = |code| Ended(Status::Exited { code });
    let timed_out = Ended(Status::TimedOut { after_ms: 1 });
    for (name, command, state, screen, scrolled) in [
        ("overlay_running", "bash", Running, &shell, 0),
        ("overlay_full_screen", "vim notes.txt", Running, &editor, 0),
        ("overlay_waiting", long, WaitingForInput, &shell, 0),
        ("overlay_secret", "sudo -v", WaitingForSecret, &shell, 0),
        ("overlay_scrolled", "bash", Running, &shell, 12),
        ("overlay_done", "bash", exited(0), &shell, 0),
        ("overlay_failed", "bash", exited(3), &shell, 0),
        ("overlay_killed", "bash", Killed, &shell, 0),
        ("overlay_timed_out", "bash", timed_out, &shell, 0),
    ] {
        let overlay = Overlay {
            command,
            state: &state,
            elapsed: Duration::from_millis(300),
            screen,
            scrolled,
            is_full_screen: false,
        };
        assert_shown(name, 12, |area, frame| {
            let area = Overlay::area(area);
            overlay.render(area, frame.buffer_mut(), &theme);
        });
    }
}

#[test]
fn overlay_takes_four_fifths_and_at_least_five_rows() {
    for ((width, height), want) in [
        ((120, 40), Rect::new(2, 4, 116, 32)),
        ((80, 24), Rect::new(2, 2, 76, 19)),
        ((40, 10), Rect::new(0, 1, 40, 8)),
        ((20, 6), Rect::new(0, 0, 20, 5)),
        ((10, 3), Rect::new(0, 0, 10, 3)),
        ((0, 0), Rect::new(0, 0, 0, 0)),
    ] {
        assert_eq!(Overlay::area(Rect::new(0, 0, width, height)), want);
    }
}

#[test]
fn cursor_is_at_the_position_of_the_programs_cursor() {
    let theme = Theme::dark();
    let screen = screen(30, 6, &["$ echo hi", "hi", "$ "]);
    let at = |state: &OverlayState, scrolled, area| {
        let overlay = Overlay {
            command: "",
            state,
            elapsed: Duration::ZERO,
            screen: &screen,
            scrolled,
            is_full_screen: false,
        };
        overlay
            .cursor(area, &theme)
            .map(|position| (position.x, position.y))
    };
    let area = Rect::new(5, 3, 32, 8);
    let running = OverlayState::Running;
    assert_eq!(at(&running, 0, area), Some((8, 6)));
    assert_eq!(at(&running, 4, area), None);
    assert_eq!(at(&OverlayState::Killed, 0, area), None);
    // If the screen is too high for the area, the cursor's row is shown.
    assert_eq!(at(&running, 0, Rect::new(5, 3, 32, 4)), Some((8, 5)));
    assert_eq!(at(&running, 0, Rect::new(5, 3, 3, 8)), None);
}

#[test]
fn pager_is_drawn_as_in_its_snapshots() {
    let theme = Theme::dark();
    let lines: Vec<String> = (998..=1005)
        .map(|n| format!("{n}\t\u{1b}[31merror\u{1b}[0m: something that goes on and on and on, further than eighty columns"))
        .collect();
    let text = OutputText::of(OutputLimits::PAGE, &lines.join("\n"));
    let nothing = OutputText::new(OutputLimits::PAGE);
    let pager = Pager {
        title: "artifact://3",
        subtitle: "cargo test --workspace 2>&1",
        text: &text,
        from_line: 998,
        first_line: 998,
        total_lines: 98_231,
        column: 0,
        pattern: None,
        matches: None,
        found_line: None,
        prompt: PagerPrompt::Keys { live: true },
    };
    let pattern = Regex::new("(?i)ERR[o]r").unwrap();
    let found = Pager {
        pattern: Some(&pattern),
        matches: Some((12, 340)),
        found_line: Some(1000),
        ..pager
    };
    for (name, pager) in [
        ("pager", pager),
        (
            "pager_sideways",
            Pager {
                column: 20,
                ..pager
            },
        ),
        (
            "pager_typing",
            Pager {
                prompt: PagerPrompt::Typed("/err"),
                ..pager
            },
        ),
        ("pager_found", found),
        (
            "pager_message",
            Pager {
                prompt: PagerPrompt::Message("`xyz` is not there"),
                ..pager
            },
        ),
        (
            "pager_empty",
            Pager {
                text: &nothing,
                from_line: 1,
                first_line: 1,
                total_lines: 0,
                ..pager
            },
        ),
        (
            "pager_follows",
            Pager {
                first_line: 1003,
                prompt: PagerPrompt::Follows,
                ..pager
            },
        ),
    ] {
        assert_shown(name, 8, |area, frame| {
            pager.render(area, frame.buffer_mut(), &theme);
        });
    }
}

#[test]
fn jobs_panel_is_drawn_as_in_its_snapshots() {
    let theme = Theme::dark();
    let job = |id: &str, command: &str, state, seconds| JobRow {
        id: id.to_owned(),
        command: command.to_owned(),
        listens_on: (if id == "1" { "127.0.0.1:3000" } else { "" }).to_owned(),
        pid: 4711,
        state,
        elapsed: Some(Duration::from_secs(seconds)),
    };
    let jobs = [
        job("1", "npm run dev", JobRowState::Running, 75),
        job(
            "2",
            "make -j2 all && echo a long command goes on",
            JobRowState::Succeeded,
            3,
        ),
        job("3", "false", JobRowState::Failed("exit 1".to_owned()), 0),
        job(
            "4",
            "sleep 9\nrm x",
            JobRowState::Failed("ended by SIGKILL".to_owned()),
            9,
        ),
        job("5", "npm start", JobRowState::Ended { by_user: true }, 70),
        job("6", "make &", JobRowState::Ended { by_user: false }, 5),
    ];
    let output = OutputText::of(
        OutputLimits::CARD,
        "\u{1b}[32mready\u{1b}[0m on port 3000\nGET /\n",
    );
    let silent = OutputText::new(OutputLimits::CARD);
    let panel = JobsPanel {
        jobs: &jobs,
        selected: 0,
        output: Some(&output),
        message: None,
    };
    for (name, panel) in [
        ("jobs", panel),
        (
            "jobs_second",
            JobsPanel {
                selected: 1,
                output: Some(&silent),
                ..panel
            },
        ),
        (
            "jobs_message",
            JobsPanel {
                selected: 3,
                message: Some("job 4 has ended"),
                ..panel
            },
        ),
        (
            "jobs_ended",
            JobsPanel {
                selected: 5,
                ..panel
            },
        ),
        (
            "jobs_none",
            JobsPanel {
                jobs: &[],
                output: None,
                ..panel
            },
        ),
    ] {
        assert_shown(name, 10, |area, frame| {
            panel.render(area, frame.buffer_mut(), &theme);
        });
    }
}

#[test]
fn narrow_question_keeps_its_keys() {
    let theme = Theme::plain();
    for width in [20, 30, 40, 80] {
        let area = Rect::new(0, 0, width, 6);
        let mut buffer = ratatui::buffer::Buffer::empty(area);
        let question = agent_bash_render::Question {
            title: "Undo what call 7 did to files?",
            parts: &[],
            yes: "undo all but those that were changed since",
            no: "leave everything as it is",
        };
        question.render(area, &mut buffer, &theme);
        let text = text_of(&buffer);
        assert!(
            text.contains("─ y ") && text.contains(" · n "),
            "{width}: {text}"
        );
    }
}
