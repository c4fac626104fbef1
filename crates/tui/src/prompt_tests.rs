use super::*;
use crate::history::tests::entry;

pub(super) fn key(code: KeyCode) -> KeyEvent {
    KeyEvent::new(code, KeyModifiers::NONE)
}

pub(super) fn ctrl(c: char) -> KeyEvent {
    KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL)
}

pub(super) fn alt(c: char) -> KeyEvent {
    KeyEvent::new(KeyCode::Char(c), KeyModifiers::ALT)
}

pub(super) fn typed(prompt: &mut Prompt, text: &str) {
    for c in text.chars() {
        prompt.key(key(KeyCode::Char(c)));
    }
}

#[test]
fn history_goes_back_and_forth_and_keeps_the_typed_text() {
    let mut prompt = Prompt::new(&Theme::plain());
    for (at, text) in ["one", "two", "two", "three\nlines"].iter().enumerate() {
        prompt.history.add(entry(at as u64, text));
    }
    typed(&mut prompt, "t");
    for (code, want) in [
        (KeyCode::Up, "three\nlines"),
        (KeyCode::Up, "three\nlines"),
        (KeyCode::Up, "two"),
        (KeyCode::Up, "two"),
        (KeyCode::Down, "three\nlines"),
        (KeyCode::Down, "t"),
        (KeyCode::Down, "t"),
        (KeyCode::Backspace, ""),
        (KeyCode::Up, "three\nlines"),
        (KeyCode::Up, "three\nlines"),
        (KeyCode::Up, "two"),
        (KeyCode::Up, "one"),
    ] {
        prompt.key(key(code));
        assert_eq!(prompt.text(), want, "{code:?}");
    }
    prompt.clear();
    assert!(prompt.is_empty());
}

#[test]
fn click_moves_the_cursor() {
    use ratatui::{Terminal, backend::TestBackend};
    let mut prompt = Prompt::new(&Theme::plain());
    prompt.paste("echo 你好\nls");
    let mut terminal = Terminal::new(TestBackend::new(20, 9)).unwrap();
    for (x, y, before) in [
        (2, 5, Some("")),
        (0, 5, Some("")),
        (4, 5, Some("ec")),
        (8, 5, Some("echo ")),
        (9, 5, Some("echo 你")),
        (15, 5, Some("echo 你好")),
        (3, 6, Some("echo 你好\nl")),
        (9, 6, Some("echo 你好\nls")),
        (9, 4, None),
        (9, 7, None),
    ] {
        let area = Rect::new(0, 5, 20, 2);
        terminal
            .draw(|frame| prompt.draw(frame, area, true, true))
            .unwrap();
        let was = prompt.text_before_cursor();
        assert_eq!(prompt.click(x, y), before.is_some(), "{x} {y}");
        assert_eq!(
            prompt.text_before_cursor(),
            before.unwrap_or(&was),
            "{x} {y}"
        );
    }
}

#[test]
fn modified_enter_and_a_backslash_add_lines() {
    let mut prompt = Prompt::new(&Theme::plain());
    typed(&mut prompt, "a");
    prompt.key(KeyEvent::new(KeyCode::Enter, KeyModifiers::ALT));
    typed(&mut prompt, "b");
    prompt.key(ctrl('j'));
    typed(&mut prompt, "c \\");
    assert!(prompt.continue_line());
    typed(&mut prompt, "d");
    assert!(!prompt.continue_line());
    assert_eq!(prompt.text(), "a\nb\nc \\\nd");
    assert_eq!(prompt.height(80), 4);
    assert_eq!(prompt.height(4), 5);
}

#[test]
fn deleted_text_comes_back() {
    let mut prompt = Prompt::new(&Theme::plain());
    prompt.paste("one two three");
    for (key, want) in [
        (ctrl('w'), "one two "),
        (ctrl('y'), "one two three"),
        (key(KeyCode::Char('.')), "one two three."),
        (alt('d'), "one two three."),
        (ctrl('w'), "one two "),
        (ctrl('_'), "one two three."),
        (ctrl('h'), "one two three"),
        (ctrl('u'), ""),
        (ctrl('_'), "one two three"),
        (alt('b'), "one two three"),
        (alt('b'), "one two three"),
        (ctrl('k'), "one "),
        (ctrl('a'), "one "),
        (ctrl('y'), "two threeone "),
        (ctrl('7'), "one "),
    ] {
        prompt.key(key);
        assert_eq!(prompt.text(), want, "{key:?}");
    }
}

#[test]
fn wiped_text_comes_back_and_stays_a_trial() {
    for text in ["one two", "a\n\nb"] {
        for is_trial in [false, true] {
            let mut prompt = Prompt::new(&Theme::plain());
            prompt.paste("cut");
            prompt.key(ctrl('w'));
            prompt.paste(text);
            prompt.key(key(KeyCode::Left));
            prompt.is_trial = is_trial;
            prompt.wipe();
            assert!(prompt.is_empty() && !prompt.is_trial);
            prompt.key(ctrl('_'));
            assert_eq!((&*prompt.text(), prompt.is_trial), (text, is_trial));
            // The yank buffer is unchanged.
            prompt.key(key(KeyCode::End));
            prompt.key(ctrl('y'));
            assert_eq!(prompt.text(), format!("{text}cut"));
            // A newly typed line is no trial.
            prompt.wipe();
            typed(&mut prompt, "x");
            assert!(!prompt.is_trial);
        }
    }
}

#[test]
fn undocumented_keys_do_nothing() {
    let mut prompt = Prompt::new(&Theme::plain());
    prompt.paste("one two");
    let (ctrl, alt) = (KeyModifiers::CONTROL, KeyModifiers::ALT);
    for (c, held) in [
        ('b', ctrl),
        ('v', ctrl),
        ('x', ctrl),
        ('h', alt),
        ('p', alt),
    ] {
        prompt.key(KeyEvent::new(KeyCode::Char(c), held));
        assert_eq!(prompt.text_before_cursor(), "one two", "{c}");
    }
    prompt.key(KeyEvent::new(KeyCode::Char('h'), ctrl));
    assert_eq!(prompt.text(), "one tw");
}

#[test]
fn part_in_front_of_the_cursor_is_replaced() {
    let mut prompt = Prompt::new(&Theme::plain());
    prompt.paste("é a\ncat my fi | b");
    for _ in 0.." | b".len() {
        prompt.key(key(KeyCode::Left));
    }
    assert_eq!(prompt.text_before_cursor(), "é a\ncat my fi");
    prompt.replace_word("é a\ncat ".len(), "my\\ file ");
    assert_eq!(prompt.text(), "é a\ncat my\\ file  | b");
    prompt.key(key(KeyCode::Char('x')));
    assert_eq!(prompt.text_before_cursor(), "é a\ncat my\\ file x");
}

#[test]
fn pasted_text_does_not_act() {
    let mut prompt = Prompt::new(&Theme::plain());
    prompt.paste("a\r\nb\u{1b}[31m\u{7}\rc");
    assert_eq!(prompt.text(), "a\nb[31m\nc");
}

/// A flag, a family, a combining accent, a keycap.
const GRAPHEME_CLUSTERS: [&str; 4] = [
    "🇩🇪", "👨\u{200d}👩\u{200d}👧", "e\u{301}\u{323}", "1\u{fe0f}\u{20e3}",
];

#[test]
fn cursor_and_deletions_treat_a_cluster_as_one() {
    let shift = |code| KeyEvent::new(code, KeyModifiers::SHIFT);
    for cluster in GRAPHEME_CLUSTERS {
        let whole = format!("a{cluster}b");
        let outside = ["", "a", &whole[..=cluster.len()], &whole];
        let mut prompt = Prompt::new(&Theme::plain());
        prompt.paste(&whole);
        for (code, at) in [
            (KeyCode::Left, 2),
            (KeyCode::Left, 1),
            (KeyCode::Left, 0),
            (KeyCode::Right, 1),
            (KeyCode::Right, 2),
            (KeyCode::Right, 3),
        ] {
            prompt.key(key(code));
            assert_eq!(prompt.text_before_cursor(), outside[at], "{code:?}");
        }
        // Before the cursor, at it, and with the shift key. Each is undone in one step, and leaves
        // the yank buffer unchanged.
        for (keys, deletes) in [
            (vec![key(KeyCode::Left)], key(KeyCode::Backspace)),
            (vec![key(KeyCode::Left)], ctrl('h')),
            (vec![key(KeyCode::Left); 2], key(KeyCode::Delete)),
            (vec![key(KeyCode::Left); 2], ctrl('d')),
            (
                vec![key(KeyCode::Left), shift(KeyCode::Left)],
                key(KeyCode::Backspace),
            ),
            (
                vec![
                    key(KeyCode::Home),
                    key(KeyCode::Right),
                    shift(KeyCode::Right),
                ],
                key(KeyCode::Delete),
            ),
        ] {
            let mut prompt = Prompt::new(&Theme::plain());
            prompt.paste("cut");
            prompt.key(ctrl('w'));
            prompt.paste(&whole);
            for key in &keys {
                prompt.key(*key);
            }
            prompt.key(deletes);
            assert_eq!(prompt.text(), "ab", "{keys:?} {deletes:?}");
            prompt.key(ctrl('_'));
            assert_eq!(prompt.text(), whole, "{keys:?} {deletes:?}");
            prompt.key(key(KeyCode::End));
            prompt.key(ctrl('y'));
            assert_eq!(prompt.text(), format!("{whole}cut"));
        }
    }
}

#[test]
fn cursor_never_stops_within_a_cluster() {
    for cluster in GRAPHEME_CLUSTERS {
        let mut prompt = Prompt::new(&Theme::plain());
        prompt.paste(&format!("{cluster}\nxyz"));
        prompt.key(key(KeyCode::Home));
        prompt.key(key(KeyCode::Right));
        prompt.key(key(KeyCode::Up));
        assert_eq!(prompt.text_before_cursor(), "", "up");
        prompt.key(alt('f'));
        let before = prompt.text_before_cursor();
        assert!(
            before == cluster || before == format!("{cluster}\n"),
            "a word on: {before:?}"
        );
    }
    // A letter that is typed or pasted before a combining accent takes the accent.
    for is_pasted in [false, true] {
        let mut prompt = Prompt::new(&Theme::plain());
        prompt.paste("\u{301}x");
        prompt.key(key(KeyCode::Home));
        if is_pasted {
            prompt.paste("e");
        } else {
            prompt.key(key(KeyCode::Char('e')));
        }
        assert_eq!(prompt.text_before_cursor(), "e\u{301}");
    }
}
