use super::*;
use crate::app::running::tests::starts;
use crate::app::tests::{NOW, app, ended, enters, letter, press};
use crossterm::event::{Event, KeyCode, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

#[test]
fn the_selected_card_is_copied_edited_run_again_and_folded() {
    let mut app = app(None);
    enters(&mut app, "make  all");
    let call = app.call.unwrap();
    app.transcript.change(call, |entry| {
        if let Card::Tool(card) = &mut entry.card {
            card.output.push(b"\x1b[31mone\x1b[0m\ntwo\n");
        }
    });
    ended(&mut app, call);
    app.effects();
    // Without a selection, keys are text.
    assert!(letter(&mut app, 'y', NOW).is_empty());
    assert_eq!(app.prompt.text(), "y");
    app.prompt.clear();
    press(&mut app, KeyCode::Up, KeyModifiers::CONTROL);
    for (key, wanted) in [('y', "one\ntwo\n"), ('Y', "make  all")] {
        let effects = letter(&mut app, key, NOW);
        assert!(
            matches!(&effects[..], [Effect::Copy(text)] if text == wanted),
            "{effects:?}"
        );
    }
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
fn a_card_of_the_persons_own_command_is_folded_too() {
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
    // The rules, the command and the outcome are left.
    assert_eq!((whole.len(), folded.len()), (7, 4));
    let outcome = folded[2].to_string();
    assert!(outcome.contains("3 rows folded"), "{outcome}");
    letter(&mut app, 'f', NOW);
    assert_eq!(shown(&app), whole);
}

#[test]
fn what_is_typed_ends_the_selection() {
    let mut app = app(None);
    enters(&mut app, "make");
    let call = app.call.unwrap();
    ended(&mut app, call);
    press(&mut app, KeyCode::Up, KeyModifiers::CONTROL);
    assert!(app.chosen_card().is_some());
    letter(&mut app, 'l', NOW);
    letter(&mut app, 's', NOW);
    assert_eq!(
        starts(&press(&mut app, KeyCode::Enter, KeyModifiers::NONE)),
        ["ls"]
    );
    let call = app.call.unwrap();
    ended(&mut app, call);
    app.effects();
    // Else `e` and `y` were keys of that card, and another command ran than was typed.
    for c in "echo y".chars() {
        letter(&mut app, c, NOW);
    }
    assert_eq!(app.prompt.text(), "echo y");
}

#[test]
fn a_click_selects_a_card_and_another_one_expands_it() {
    let mut app = app(None);
    enters(&mut app, "ls");
    let call = app.call.unwrap();
    ended(&mut app, call);
    let mut terminal = Terminal::new(TestBackend::new(40, 20)).unwrap();
    terminal
        .draw(|frame| crate::draw::draw(&mut app, frame, NOW))
        .unwrap();
    let click = |app: &mut App, row| {
        let mouse = MouseEvent {
            kind: MouseEventKind::Down(MouseButton::Left),
            column: 3,
            row,
            modifiers: KeyModifiers::NONE,
        };
        app.event(&Event::Mouse(mouse), NOW);
    };
    // Below three rows of welcome and an empty one.
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
fn what_is_copied_says_how_much_of_the_output_it_is() {
    for (printed, dropped, want) in [
        ("a\nb\n", 0, "copied the output"),
        ("a\nb\n", 7, "copied the last 2 rows"),
        ("b\n", 7, "copied the end of the output"),
        ("", 0, "there is nothing to copy"),
    ] {
        let mut app = app(None);
        enters(&mut app, "make");
        let call = app.call.unwrap();
        app.transcript.change(call, |entry| {
            if let Card::Tool(card) = &mut entry.card {
                card.output.skip(dropped);
                card.output.push(printed.as_bytes());
            }
        });
        ended(&mut app, call);
        press(&mut app, KeyCode::Up, KeyModifiers::CONTROL);
        letter(&mut app, 'y', NOW);
        assert_eq!(app.message.as_deref(), Some(want));
    }
    // More than terminals take.
    let mut app = app(None);
    enters(&mut app, "make");
    let call = app.call.unwrap();
    app.transcript.change(call, |entry| {
        if let Card::Tool(card) = &mut entry.card {
            card.output.push("123456789\n".repeat(10_000).as_bytes());
        }
    });
    ended(&mut app, call);
    press(&mut app, KeyCode::Up, KeyModifiers::CONTROL);
    letter(&mut app, 'y', NOW);
    assert_eq!(
        app.message.as_deref(),
        Some("copied the last 6554 rows: ctrl+f shows more")
    );
}
