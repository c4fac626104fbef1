use super::*;
use crate::app::running::tests::starts;
use crate::app::tests::{NOW, app, end_call, ended, enters, letter, press};
use agent_bash::Escalation;
use agent_bash::core::sandbox::SandboxLevel;
use crossterm::event::{Event, KeyCode, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

#[test]
fn selected_card_is_copied_edited_run_again_and_folded() {
    let mut app = app(None);
    enters(&mut app, "make  all");
    let call = app.call.unwrap();
    app.transcript.change(call, |entry| {
        if let Card::Tool(card) = &mut entry.card {
            card.output.push(b"\x1b[31mone\x1b[0m\ntwo\n");
        }
    });
    ended(&mut app, call);
    app.take_effects();
    // Without a selection, keys are text.
    assert!(letter(&mut app, 'y', NOW).is_empty());
    assert_eq!(app.prompt.text(), "y");
    app.prompt.clear();
    for (key, wanted) in [('y', "one\ntwo\n"), ('Y', "make  all")] {
        press(&mut app, KeyCode::Up, KeyModifiers::CONTROL);
        let effects = letter(&mut app, key, NOW);
        assert!(
            matches!(&effects[..], [Effect::Copy(text)] if text == wanted),
            "{effects:?}"
        );
        // The next keys are text again.
        assert_eq!(app.transcript.selected, None, "{key}");
    }
    press(&mut app, KeyCode::Up, KeyModifiers::CONTROL);
    let is_folded = |app: &App| match &app.transcript.get(call).unwrap().card {
        Card::Tool(card) => card.folded,
        _ => false,
    };
    letter(&mut app, 'f', NOW);
    assert!(is_folded(&app));
    letter(&mut app, 'f', NOW);
    assert!(!is_folded(&app));
    assert_eq!(starts(&letter(&mut app, 'R', NOW)), ["make  all"]);
    press(&mut app, KeyCode::Up, KeyModifiers::CONTROL);
    letter(&mut app, 'e', NOW);
    assert_eq!(app.prompt.text(), "make  all");
    assert!(app.transcript.selected.is_none());
}

#[test]
fn card_run_again_by_a_key_loses_the_selection() {
    for key in [KeyCode::F(3), KeyCode::F(4), KeyCode::F(5)] {
        let mut app = app(Some(false));
        app.sandbox.level = SandboxLevel::ReadOnly;
        app.sandbox.escalation = Escalation::Ask;
        enters(&mut app, "make");
        let call = app.call.unwrap();
        press(&mut app, KeyCode::Up, KeyModifiers::CONTROL);
        // A running command is cancelled first.
        if key == KeyCode::F(5) {
            press(&mut app, key, KeyModifiers::NONE);
            assert_eq!(app.transcript.selected, None, "{key} while it runs");
        }
        ended(&mut app, call);
        app.take_effects();
        let (before, mut last) = (app.call, call);
        if let Some(again) = before {
            end_call(&mut app);
            last = again;
        }
        press(&mut app, KeyCode::Up, KeyModifiers::CONTROL);
        assert_eq!(app.transcript.selected, Some(last), "{key}");
        assert_eq!(starts(&press(&mut app, key, KeyModifiers::NONE)), ["make"]);
        assert_eq!(app.transcript.selected, None, "{key}");
        // The next letter belongs to the next line.
        letter(&mut app, 'u', NOW);
        assert_eq!(app.prompt.text(), "u", "{key}");
    }
}

#[test]
fn bang_card_is_folded_too() {
    let mut app = app(None);
    enters(&mut app, "!seq 9");
    let bang = app.bang.unwrap();
    app.transcript.change(bang, |entry| {
        if let Card::Bang(card) = &mut entry.card {
            card.output.push(b"1\n2\n3\n");
        }
    });
    press(&mut app, KeyCode::Up, KeyModifiers::CONTROL);
    let shown = |app: &App| match &app.transcript.get(bang).unwrap().card {
        Card::Bang(card) => card.rows(60, false, 0, 99, &app.theme),
        _ => Vec::new(),
    };
    let whole = shown(&app);
    letter(&mut app, 'f', NOW);
    let folded = shown(&app);
    // The rules, the command and the outcome remain.
    assert_eq!((whole.len(), folded.len()), (7, 4));
    let outcome = folded[2].to_string();
    assert!(outcome.contains("3 rows folded"), "{outcome}");
    letter(&mut app, 'f', NOW);
    assert_eq!(shown(&app), whole);
}

#[test]
fn typing_ends_the_selection() {
    let mut app = app(None);
    enters(&mut app, "make");
    end_call(&mut app);
    press(&mut app, KeyCode::Up, KeyModifiers::CONTROL);
    assert!(app.focused_card().is_some());
    letter(&mut app, 'l', NOW);
    letter(&mut app, 's', NOW);
    assert_eq!(
        starts(&press(&mut app, KeyCode::Enter, KeyModifiers::NONE)),
        ["ls"]
    );
    end_call(&mut app);
    // Otherwise `e` and `y` would be keys of the card, and another command would run than the typed
    // one.
    for c in "echo y".chars() {
        letter(&mut app, c, NOW);
    }
    assert_eq!(app.prompt.text(), "echo y");
}

/// An app with a selected card, whose command has ended. `print` changes its output.
fn app_with_output(print: impl FnOnce(&mut OutputText)) -> App {
    let mut app = app(None);
    enters(&mut app, "make");
    let call = app.call.unwrap();
    app.transcript.change(call, |entry| {
        if let Card::Tool(card) = &mut entry.card {
            print(&mut card.output);
        }
    });
    end_call(&mut app);
    press(&mut app, KeyCode::Up, KeyModifiers::CONTROL);
    app
}

/// Presses the mouse in a row.
fn click(app: &mut App, row: u16) {
    let mouse = MouseEvent {
        kind: MouseEventKind::Down(MouseButton::Left),
        column: 3,
        row,
        modifiers: KeyModifiers::NONE,
    };
    app.handle_event(&Event::Mouse(mouse), NOW);
}

/// An app with a command that has ended. Its card is drawn in the rows 4 to 6, below the three rows
/// of the welcome and an empty one.
fn drawn_app() -> (App, EntryId) {
    let mut app = app(None);
    enters(&mut app, "ls");
    let call = app.call.unwrap();
    end_call(&mut app);
    let mut terminal = Terminal::new(TestBackend::new(40, 20)).unwrap();
    terminal
        .draw(|frame| crate::draw::draw(&mut app, frame, NOW))
        .unwrap();
    (app, call)
}

#[test]
fn first_click_selects_a_card_and_second_expands_it() {
    let (mut app, call) = drawn_app();
    let is_expanded = |app: &App| app.transcript.get(call).unwrap().expanded;
    click(&mut app, 4);
    assert_eq!(
        (app.transcript.selected, is_expanded(&app)),
        (Some(call), false)
    );
    click(&mut app, 5);
    assert!(is_expanded(&app));
    click(&mut app, 1);
    assert_eq!(app.transcript.selected, None, "the welcome is no card");
}

#[test]
fn copy_message_names_the_copied_part_of_the_output() {
    for (printed, dropped, want) in [
        ("a\nb\n", 0, "copied the output"),
        ("a\nb\n", 7, "copied the last 2 rows"),
        ("b\n", 7, "copied the end of the output"),
        ("", 0, "there is nothing to copy"),
    ] {
        let mut app = app_with_output(|output| {
            output.skip_lines(dropped);
            output.push(printed.as_bytes());
        });
        letter(&mut app, 'y', NOW);
        assert_eq!(app.message.as_deref(), Some(want));
    }
    // More than terminals accept.
    let many = "123456789\n".repeat(10_000);
    let mut app = app_with_output(|output| output.push(many.as_bytes()));
    letter(&mut app, 'y', NOW);
    assert_eq!(
        app.message.as_deref(),
        Some("copied the last 6554 rows: ctrl+f shows more")
    );
}

#[test]
fn click_leaves_the_keys_to_the_prompt() {
    for line in ["echo hi", "Rscript x", "df -h", "you"] {
        let (mut app, call) = drawn_app();
        click(&mut app, 4);
        for c in line.chars() {
            assert!(letter(&mut app, c, NOW).is_empty(), "{c} of {line}");
        }
        assert_eq!(app.prompt.text(), line);
        // The key that selects gives the keys to the card, and stays on it.
        app.prompt.clear();
        click(&mut app, 4);
        assert_eq!(app.focused_card(), None);
        press(&mut app, KeyCode::Up, KeyModifiers::CONTROL);
        assert_eq!(app.focused_card(), Some(call));
        let copied = letter(&mut app, 'Y', NOW);
        assert!(matches!(copied[..], [Effect::Copy(_)]), "{copied:?}");
    }
}

#[test]
fn nothing_is_folded_without_output() {
    let (mut app, _) = drawn_app();
    press(&mut app, KeyCode::Up, KeyModifiers::CONTROL);
    letter(&mut app, 'f', NOW);
    assert!(app.message.as_deref().unwrap().contains("nothing to fold"));
}

#[test]
fn trial_is_not_run_for_real_by_a_key_of_its_card() {
    let tried = |key: &dyn Fn(&mut App) -> Vec<Effect>| {
        let mut app = app(Some(false));
        app.sandbox.level = SandboxLevel::ReadOnly;
        app.handle_event(&Event::Paste("rm x".to_owned()), NOW);
        press(&mut app, KeyCode::F(3), KeyModifiers::NONE);
        end_call(&mut app);
        press(&mut app, KeyCode::Up, KeyModifiers::CONTROL);
        let effects = key(&mut app);
        let mut started = Vec::new();
        for effect in effects {
            if let Effect::Call { request, .. } = effect {
                started.push((request.command, request.trial.is_some()));
            }
        }
        (started, app.message)
    };
    let again = vec![("rm x".to_owned(), true)];
    assert_eq!(tried(&|app| letter(app, 'R', NOW)).0, again);
    // After an edit, the command is still a trial.
    let edited = |app: &mut App| {
        letter(app, 'e', NOW);
        letter(app, 'y', NOW);
        press(app, KeyCode::Enter, KeyModifiers::NONE)
    };
    assert_eq!(tried(&edited).0, [("rm xy".to_owned(), true)]);
    for key in [KeyCode::F(4), KeyCode::F(5)] {
        let (started, message) = tried(&|app| press(app, key, KeyModifiers::NONE));
        assert!(started.is_empty(), "{started:?}");
        assert!(message.unwrap().starts_with("a trial "));
    }
}
