//! Keys while an overlay is shown.

use agent_bash_core::{Cursor, Key, KeyInput, KeyModifiers, Screen, ScreenModes};
use agent_bash_render::{OverlayAction, OverlayKeys};
use crossterm::event::{
    Event, KeyCode, KeyEvent, KeyModifiers as Held, MouseEvent, MouseEventKind,
};
use ratatui::layout::Rect;
use std::time::Duration;

const AREA: Rect = Rect::new(1, 1, 80, 20);

fn screen(modes: ScreenModes) -> Screen {
    Screen {
        cols: 80,
        rows: 20,
        cells: Vec::new(),
        cursor: Cursor::default(),
        title: String::new(),
        modes,
        scrollback: 0,
    }
}

fn key(code: KeyCode, held: Held) -> Event {
    Event::Key(KeyEvent::new(code, held))
}

fn sent(key: Key) -> OverlayAction {
    OverlayAction::Send(KeyInput::Key {
        key,
        modifiers: KeyModifiers::default(),
    })
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn one_escape_kills_and_two_send_one_to_the_program() {
    let plain = screen(ScreenModes::default());
    let escape = key(KeyCode::Esc, Held::NONE);
    let mut keys = OverlayKeys::default();
    assert_eq!(
        keys.event(&escape, ms(1000), &plain, AREA),
        OverlayAction::Nothing
    );
    assert_eq!(keys.deadline(), Some(ms(1400)));
    assert_eq!(keys.expire(ms(1399)), OverlayAction::Nothing);
    assert_eq!(keys.expire(ms(1400)), OverlayAction::Kill);
    assert_eq!(
        (keys.deadline(), keys.expire(ms(9999))),
        (None, OverlayAction::Nothing)
    );

    for (second, want) in [(ms(400), sent(Key::Escape)), (ms(401), OverlayAction::Kill)] {
        let mut keys = OverlayKeys::default();
        keys.event(&escape, ms(0), &plain, AREA);
        assert_eq!(keys.event(&escape, second, &plain, AREA), want);
        assert_eq!(keys.deadline(), None);
    }
    let mut keys = OverlayKeys::default();
    keys.event(&escape, ms(0), &plain, AREA);
    let typed = key(KeyCode::Char('x'), Held::NONE);
    assert_eq!(
        keys.event(&typed, ms(10), &plain, AREA),
        OverlayAction::Kill
    );
}

#[test]
fn escape_belongs_to_a_program_on_the_alternate_screen() {
    let full = screen(ScreenModes {
        alternate_screen: true,
        ..ScreenModes::default()
    });
    let mut keys = OverlayKeys::default();
    let escape = key(KeyCode::Esc, Held::NONE);
    assert_eq!(keys.event(&escape, ms(0), &full, AREA), sent(Key::Escape));
    assert_eq!(keys.deadline(), None);
    // Without the Kitty protocol, a terminal sends the same byte for Ctrl-] and Ctrl-5.
    for code in [']', '5'] {
        let bracket = key(KeyCode::Char(code), Held::CONTROL);
        assert_eq!(
            keys.event(&bracket, ms(0), &full, AREA),
            OverlayAction::Kill
        );
    }
    let plain = screen(ScreenModes::default());
    let bracket = key(KeyCode::Char(']'), Held::CONTROL);
    assert!(matches!(
        keys.event(&bracket, ms(0), &plain, AREA),
        OverlayAction::Send(_)
    ));
}

#[test]
fn wheel_and_shifted_pages_scroll_and_the_rest_is_sent() {
    let plain = screen(ScreenModes::default());
    let wheel = |kind| {
        Event::Mouse(MouseEvent {
            kind,
            column: 5,
            row: 5,
            modifiers: Held::NONE,
        })
    };
    let mut keys = OverlayKeys::default();
    for (event, want) in [
        (key(KeyCode::PageUp, Held::SHIFT), OverlayAction::Scroll(19)),
        (
            key(KeyCode::PageDown, Held::SHIFT),
            OverlayAction::Scroll(-19),
        ),
        (wheel(MouseEventKind::ScrollUp), OverlayAction::Scroll(3)),
        (wheel(MouseEventKind::ScrollDown), OverlayAction::Scroll(-3)),
        (wheel(MouseEventKind::Moved), OverlayAction::Nothing),
        (key(KeyCode::PageUp, Held::NONE), sent(Key::PageUp)),
        (key(KeyCode::Char('a'), Held::NONE), sent(Key::Char('a'))),
        (
            Event::Paste("x".into()),
            OverlayAction::Send(KeyInput::Paste("x".into())),
        ),
        (Event::Resize(3, 3), OverlayAction::Nothing),
    ] {
        assert_eq!(keys.event(&event, ms(0), &plain, AREA), want, "{event:?}");
    }
    // A pager without mouse reporting gets the arrow keys.
    let pager = screen(ScreenModes {
        alternate_screen: true,
        ..ScreenModes::default()
    });
    for (kind, wanted) in [
        (MouseEventKind::ScrollUp, Key::Up),
        (MouseEventKind::ScrollDown, Key::Down),
    ] {
        let got = keys.event(&wheel(kind), ms(0), &pager, AREA);
        let OverlayAction::Send(input) = sent(wanted) else {
            panic!("{kind:?}");
        };
        assert_eq!(got, OverlayAction::Repeat(input, 3));
    }
    // A program that enabled mouse reporting receives the wheel.
    let mouse = screen(ScreenModes {
        mouse: true,
        ..ScreenModes::default()
    });
    let up = keys.event(&wheel(MouseEventKind::ScrollUp), ms(0), &mouse, AREA);
    assert!(matches!(up, OverlayAction::Send(KeyInput::Mouse(_))));
}
