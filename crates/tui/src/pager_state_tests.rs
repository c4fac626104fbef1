use super::*;
use crate::pager_source::{find, load};
use crossterm::event::{KeyEvent, KeyModifiers, MouseEventKind};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::io::Write as _;

/// A pager on a file with these lines.
fn pager_on(lines: &[String]) -> (tempfile::NamedTempFile, PagerState) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    for line in lines {
        writeln!(file, "{line}").unwrap();
    }
    let view = FileView::open(file.path()).unwrap();
    let state = PagerState::new(view, "title".to_owned(), "command".to_owned());
    (file, state)
}

fn press(state: &mut PagerState, code: KeyCode, held: KeyModifiers) -> PagerRequest {
    state.event(&Event::Key(KeyEvent::new(code, held)))
}

fn letters(state: &mut PagerState, text: &str) -> PagerRequest {
    let mut last = PagerRequest::Nothing;
    for c in text.chars() {
        let code = if c == '\n' {
            KeyCode::Enter
        } else {
            KeyCode::Char(c)
        };
        last = press(state, code, KeyModifiers::NONE);
    }
    last
}

/// Loads the wanted lines, and draws them.
fn drawn(state: &mut PagerState, width: u16, height: u16, now: Duration) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    // The first drawing sets the number of rows.
    for _ in 0..2 {
        if let (Some(range), LineSource::File(text)) = (state.lines_to_load(now), state.source()) {
            state.lines_loaded(load(&text, range));
        }
        terminal
            .draw(|frame| state.draw(frame, frame.area(), None, now, &Theme::plain()))
            .unwrap();
    }
    terminal.backend().to_string()
}

/// Carries out searches until there are none, and counts them.
fn carry_out(state: &mut PagerState, mut request: PagerRequest) -> usize {
    let mut count = 0;
    while let PagerRequest::Find(search) = request {
        let LineSource::File(text) = state.source() else {
            panic!("it is on a file");
        };
        request = state.search_ended(&search.ticket, find(&text, &search));
        count += 1;
    }
    count
}

fn numbered(count: usize) -> Vec<String> {
    (1..=count).map(|number| format!("line {number}")).collect()
}

#[test]
fn keys_pressed_during_a_search_count() {
    let (_file, mut state) = pager_on(&numbered(50));
    drawn(&mut state, 80, 12, Duration::ZERO);
    let first = letters(&mut state, "/line\n");
    assert_eq!(letters(&mut state, "nnnN"), PagerRequest::Nothing);
    assert_eq!(carry_out(&mut state, first), 2);
    assert_eq!(state.found.map(|found| found.line), Some(3));
    let next = letters(&mut state, "n");
    assert_eq!(carry_out(&mut state, next), 1);
    assert_eq!(state.found.map(|found| found.line), Some(4));
    // A number before the key repeats it.
    for (typed, searches, line) in [("10n", 1, 14), ("2N", 1, 12), ("3000n", 1, 12)] {
        let next = letters(&mut state, typed);
        assert_eq!(carry_out(&mut state, next), searches);
        assert_eq!(state.found.map(|found| found.line), Some(line), "{typed}");
    }
}

#[test]
fn movement_ends_a_search() {
    for (keys, first) in [("j", 2), ("g", 1), ("20G", 20), (" ", 11)] {
        let (_file, mut state) = pager_on(&numbered(50));
        drawn(&mut state, 80, 12, Duration::ZERO);
        let request = letters(&mut state, "/line 40\n");
        letters(&mut state, keys);
        assert_eq!(carry_out(&mut state, request), 1);
        assert_eq!(
            (state.scroll.position.first_line, state.found),
            (first, None)
        );
        let later = state.deadline();
        assert_eq!(later, None, "{keys}");
        // A later search ignores the result of the abandoned one.
        let left = letters(&mut state, "/line 40\n");
        letters(&mut state, "j");
        let next = letters(&mut state, "/line 30\n");
        carry_out(&mut state, left);
        assert_eq!(state.found, None);
        carry_out(&mut state, next);
        assert_eq!(state.found.map(|found| found.line), Some(30), "{keys}");
    }
}

#[test]
fn line_of_a_jump_is_the_origin_of_a_search() {
    let (_file, mut state) = pager_on(&numbered(189));
    drawn(&mut state, 80, 12, Duration::ZERO);
    for (keys, line) in [
        ("50G?7$\n", 47),
        ("47GN", 47),
        ("47Gn", 37),
        // The line is at the end, with other lines above it on the screen.
        ("188Gn", 187),
        ("g?7$\n", 187),
        // After a movement, the screen is the origin.
        ("50Gjn", 57),
    ] {
        let (found, screen) = seeks(&mut state, keys);
        assert_eq!(found, line, "{keys}: {screen}");
    }
}

#[test]
fn long_search_says_so_and_then_waits_for_its_end() {
    let (_file, mut state) = pager_on(&numbered(5));
    assert_eq!(state.deadline(), None);
    let request = letters(&mut state, "/line\n");
    assert!(!drawn(&mut state, 80, 12, Duration::ZERO).contains("searching"));
    let later = state.deadline().unwrap();
    assert!(drawn(&mut state, 80, 12, later).contains("searching…"));
    assert_eq!(state.deadline(), None);
    carry_out(&mut state, request);
    assert!(!drawn(&mut state, 80, 12, later).contains("searching"));
}

#[test]
fn match_outside_of_the_shown_columns_is_scrolled_to() {
    let far = format!("{}needle{}", "x".repeat(200), "y".repeat(200));
    let mut lines = numbered(40);
    lines.push(far);
    let (_file, mut state) = pager_on(&lines);
    drawn(&mut state, 60, 12, Duration::ZERO);
    let request = letters(&mut state, "/needle\n");
    carry_out(&mut state, request);
    assert!(drawn(&mut state, 60, 12, Duration::ZERO).contains("xneedley"));
    // A match at the beginning of its line.
    let request = letters(&mut state, "/line 3$\n");
    assert_eq!(carry_out(&mut state, request), 1);
    let request = letters(&mut state, "/line 30\n");
    carry_out(&mut state, request);
    assert!(drawn(&mut state, 60, 12, Duration::ZERO).contains("│line 30 "));
}

#[test]
fn error_replaces_the_count() {
    let (_file, mut state) = pager_on(&numbered(9));
    let request = letters(&mut state, "/line\n");
    carry_out(&mut state, request);
    assert!(drawn(&mut state, 80, 12, Duration::ZERO).contains("match 1/9"));
    letters(&mut state, "/(\n");
    let screen = drawn(&mut state, 80, 12, Duration::ZERO);
    assert!(
        screen.contains("unclosed group") && !screen.contains("match"),
        "{screen}"
    );
}

#[test]
fn end_stays_at_the_end_and_half_pages_are_moved() {
    let (_file, mut state) = pager_on(&numbered(50));
    drawn(&mut state, 80, 22, Duration::ZERO);
    letters(&mut state, "G");
    assert!(drawn(&mut state, 80, 22, Duration::ZERO).contains("31–50 of 50"));
    assert!(drawn(&mut state, 80, 12, Duration::ZERO).contains("41–50 of 50"));
    assert!(drawn(&mut state, 80, 22, Duration::ZERO).contains("31–50 of 50"));
    let ctrl = KeyModifiers::CONTROL;
    press(&mut state, KeyCode::Char('u'), ctrl);
    assert!(drawn(&mut state, 80, 22, Duration::ZERO).contains("21–40 of 50"));
    // Elsewhere the first line stays.
    assert!(drawn(&mut state, 80, 12, Duration::ZERO).contains("21–30 of 50"));
    press(&mut state, KeyCode::Char('d'), ctrl);
    assert!(drawn(&mut state, 80, 12, Duration::ZERO).contains("26–35 of 50"));
    for (typed, seen) in [("2b", "6–15 of 50"), ("3 ", "36–45 of 50")] {
        letters(&mut state, typed);
        let screen = drawn(&mut state, 80, 12, Duration::ZERO);
        assert!(screen.contains(seen), "{typed}: {screen}");
    }
    letters(&mut state, "4");
    press(&mut state, KeyCode::Char('u'), ctrl);
    assert!(drawn(&mut state, 80, 12, Duration::ZERO).contains("16–25 of 50"));
}

#[test]
fn complete_output_is_not_followed() {
    let (_file, mut state) = pager_on(&numbered(50));
    state.has_ended = true;
    drawn(&mut state, 80, 12, Duration::ZERO);
    letters(&mut state, "F");
    assert!(!state.is_live());
    assert!(drawn(&mut state, 80, 12, Duration::ZERO).contains("the command has ended"));
}

/// Types a search or its keys, and carries it out.
fn seeks(state: &mut PagerState, keys: &str) -> (u64, String) {
    let request = letters(state, keys);
    carry_out(state, request);
    let screen = drawn(state, 80, 12, Duration::ZERO);
    (state.found.map_or(0, |found| found.line), screen)
}

#[test]
fn search_wraps_around_and_says_so() {
    let (_file, mut state) = pager_on(&numbered(100));
    drawn(&mut state, 80, 12, Duration::ZERO);
    for (keys, line, footer) in [
        ("G/line 12$\n", 12, "match 1/1 · from the top · 9–18"),
        ("n", 12, "match 1/1 · from the top"),
        ("N", 12, "match 1/1 · from the end"),
        ("g/5$\n", 5, "match 1/10 · 1–10"),
        ("N", 95, "match 10/10 · from the end"),
        ("n", 5, "match 1/10 · from the top"),
        ("/nowhere\n", 0, "`nowhere` was not found · "),
    ] {
        let (found, screen) = seeks(&mut state, keys);
        assert_eq!(found, line, "{keys}: {screen}");
        assert!(screen.contains(footer), "{keys}: {screen}");
    }
}

#[test]
fn search_continues_from_the_screen() {
    let (_file, mut state) = pager_on(&numbered(100));
    drawn(&mut state, 80, 12, Duration::ZERO);
    for (keys, line) in [
        ("/5$\n", 5),
        ("n", 15),
        ("GN", 95),
        ("gn", 5),
        // The match is still on the screen.
        ("jn", 15),
        // The jump to the end takes precedence over a match on the screen.
        ("GN", 95),
        ("GN", 95),
    ] {
        let (found, screen) = seeks(&mut state, keys);
        assert_eq!(found, line, "{keys}: {screen}");
    }
    // The mouse moves, too.
    for _ in 0..14 {
        let up = crossterm::event::MouseEvent {
            kind: MouseEventKind::ScrollUp,
            column: 3,
            row: 3,
            modifiers: KeyModifiers::NONE,
        };
        state.event(&Event::Mouse(up));
    }
    assert_eq!(state.scroll.position.first_line, 49);
    assert_eq!(seeks(&mut state, "N").0, 55);
}

#[test]
fn number_before_a_key_repeats_it_and_is_shown() {
    let (_file, mut state) = pager_on(&numbered(189));
    drawn(&mut state, 80, 12, Duration::ZERO);
    letters(&mut state, "50");
    let screen = drawn(&mut state, 80, 12, Duration::ZERO);
    assert!(screen.contains("─ 50▏ · G to this line"), "{screen}");
    for (keys, first) in [
        ("G", 50),
        ("20g", 20),
        ("12j", 32),
        ("2k", 30),
        ("j", 31),
        ("999G", 180),
        ("100 G", 180),
        ("0g", 1),
    ] {
        letters(&mut state, keys);
        assert_eq!(state.scroll.position.first_line, first, "{keys}");
    }
    // Esc drops the number, and does not close the pager.
    letters(&mut state, "7");
    let left = press(&mut state, KeyCode::Esc, KeyModifiers::NONE);
    assert_eq!(left, PagerRequest::Nothing);
    letters(&mut state, "G");
    assert_eq!(state.scroll.position.first_line, 180);
    // A search continues from that line.
    assert_eq!(seeks(&mut state, "/5$\n").0, 185);
    assert_eq!(seeks(&mut state, "182Gn").0, 185);
}

#[test]
fn question_mark_seeks_backwards_and_n_continues_so() {
    let (_file, mut state) = pager_on(&numbered(100));
    drawn(&mut state, 80, 12, Duration::ZERO);
    for (keys, line) in [("G?5$\n", 95), ("n", 85), ("N", 95), ("N", 5), ("n", 95)] {
        let (found, screen) = seeks(&mut state, keys);
        assert_eq!(found, line, "{keys}: {screen}");
    }
    letters(&mut state, "?x");
    assert!(drawn(&mut state, 80, 12, Duration::ZERO).contains("─ ?x▏"));
    press(&mut state, KeyCode::Esc, KeyModifiers::NONE);
    letters(&mut state, "/");
    press(&mut state, KeyCode::Up, KeyModifiers::NONE);
    assert!(drawn(&mut state, 80, 12, Duration::ZERO).contains("─ /5$▏"));
    assert_eq!(seeks(&mut state, "\n").0, 5);
}

#[test]
fn lines_written_since_the_last_read_are_found_and_shown() {
    let (mut file, mut state) = pager_on(&numbered(3));
    drawn(&mut state, 80, 12, Duration::ZERO);
    for number in 4..=60 {
        writeln!(file, "later {number}").unwrap();
    }
    let (found, screen) = seeks(&mut state, "/later 50\n");
    assert_eq!(found, 50);
    assert!(screen.contains("▸50 │later 50"), "{screen}");
}

#[test]
fn output_of_a_running_job_is_followed() {
    for (job, is_followed, footer) in [
        (Some(JobRowState::Running), true, "following · 41–50 of 50"),
        // The job may still run.
        (
            Some(JobRowState::Failed("lost".to_owned())),
            false,
            "F follow",
        ),
        (Some(JobRowState::Succeeded), false, "1–10 of 50"),
        (None, false, "1–10 of 50"),
    ] {
        let (_file, mut state) = pager_on(&numbered(50));
        state.follow_job(job.as_ref());
        let screen = drawn(&mut state, 100, 12, Duration::ZERO);
        assert_eq!(state.is_live(), is_followed, "{job:?}");
        assert!(screen.contains(footer), "{job:?}: {screen}");
    }
}
