use super::*;
use crossterm::event::KeyEvent;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

const UNIFIED: &str = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n same\r\n-old\r\n---- x\n+你\n\\ No newline at end of file\n";

#[test]
fn hunks_are_parsed_without_file_names() {
    let mut lines = Vec::new();
    add_hunks(&mut lines, UNIFIED);
    let text = str::to_owned;
    let want = [
        DiffLine::Hunk(text("@@ -1,3 +1,3 @@")),
        DiffLine::Context(text("same")),
        DiffLine::Removed(text("old\r")),
        DiffLine::Removed(text("--- x")),
        DiffLine::Added(text("你")),
        DiffLine::Note(text("No newline at end of file")),
    ];
    assert_eq!(lines, want);
    let mut none = Vec::new();
    add_hunks(&mut none, "");
    assert!(none.is_empty());
}

#[test]
fn long_diffs_and_lines_are_cut() {
    let many = format!("@@ -0,0 +1 @@\n{}", "+x\n".repeat(MAX_LINES + 10));
    let mut lines = Vec::new();
    add_hunks(&mut lines, &many);
    assert_eq!(lines.len(), MAX_LINES + 1);
    let last = DiffLine::Note("… (11 more lines)".to_owned());
    assert_eq!(lines.last(), Some(&last));
    let line = cut_line(&"é".repeat(MAX_LINE_CHARS + 5));
    assert!(line.ends_with("é … (5 more characters)"), "{line}");
    assert_eq!(cut_line("é"), "é");
}

/// Two files: the first has 30 lines, the second has a wide one.
fn two_files() -> DiffState {
    let file = |name: &str| {
        let name = FileName::new(name);
        DiffLine::File(agent_bash::core::changes::FileChange::new(
            name,
            Change::Created,
        ))
    };
    let mut lines = vec![file("first.txt")];
    lines.extend((1..=30).map(|number| DiffLine::Added(format!("line {number}"))));
    lines.extend([DiffLine::Blank, file("second.txt")]);
    let far = format!("{}Needle{}", "x".repeat(200), "y".repeat(200));
    lines.push(DiffLine::Removed(far));
    DiffState::new(EntryId(1), ChangesId(1), "command".to_owned(), lines)
}

fn letters(state: &mut DiffState, text: &str) {
    for c in text.chars() {
        let code = if c == '\n' {
            KeyCode::Enter
        } else {
            KeyCode::Char(c)
        };
        let key = KeyEvent::new(code, KeyModifiers::NONE);
        assert_eq!(state.event(&Event::Key(key), None), DiffRequest::Nothing);
    }
}

fn drawn(state: &mut DiffState, width: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, 12)).unwrap();
    terminal
        .draw(|frame| state.draw(frame, frame.area(), None, &Theme::plain()))
        .unwrap();
    terminal.backend().to_string()
}

#[test]
fn n_goes_to_matches_during_a_search_and_to_files_otherwise() {
    let mut state = two_files();
    assert!(drawn(&mut state, 100).contains("1–10 of 34 · n N file · / search"));
    for (typed, first, footer) in [
        ("n", 25, "25–34 of 34 · n N file"),
        ("N", 1, "n N file"),
        ("/LINE 2.\n", 1, "`LINE 2.` was not found"),
        ("j", 2, "n N file"),
        ("/line 2.\n", 18, "match 1/10 · 18–27 of 34 · n N match"),
        ("n", 18, "match 2/10"),
        ("NN", 25, "match 10/10 · from the end"),
        ("n", 18, "match 1/10 · from the top"),
        ("3n", 18, "match 4/10"),
        ("3N", 18, "match 1/10"),
        ("j", 19, "match 1/10"),
        // From the lines on the screen.
        ("gn", 18, "match 1/10 · 18–27"),
        ("GN", 25, "match 10/10 · 25–34"),
        ("gG", 25, "25–34"),
        ("kkkkkk", 19, "19–28"),
        ("/(\n", 19, "unclosed group"),
        ("n", 25, "n N file"),
        ("/line\n", 25, "match 24/30"),
        ("/\n", 25, "n N file"),
        ("N", 1, "n N file"),
    ] {
        letters(&mut state, typed);
        let screen = drawn(&mut state, 100);
        assert_eq!(
            state.scroll.position.first_line, first,
            "{typed:?}: {screen}"
        );
        assert!(screen.contains(footer), "{typed:?}: {screen}");
    }
    // While a pattern is typed, letters are not keys.
    letters(&mut state, "/qn");
    assert!(drawn(&mut state, 100).contains("─ /qn▏"));
    state.event(&Event::Paste("Nx\n".to_owned()), None);
    assert!(drawn(&mut state, 100).contains("─ /qnNx▏"));
    let escape = Event::Key(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE));
    assert_eq!(state.event(&escape, None), DiffRequest::Nothing);
    assert_eq!(state.event(&escape, None), DiffRequest::Close);
}

#[test]
fn match_outside_of_the_shown_columns_is_scrolled_to() {
    let mut state = two_files();
    drawn(&mut state, 60);
    letters(&mut state, "/needle\n");
    let screen = drawn(&mut state, 60);
    assert!(
        screen.contains("▸-xxx") && screen.contains("xNeedley"),
        "{screen}"
    );
    letters(&mut state, "g/line 3\n");
    let screen = drawn(&mut state, 60);
    assert!(screen.contains("▸+line 3 "), "{screen}");
}
