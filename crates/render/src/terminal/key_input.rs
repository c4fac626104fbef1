//! Converts crossterm events, as a host reads them from its terminal, to the input that
//! `agent-bash-pty` takes.

use agent_bash_core::{Key, KeyInput, KeyModifiers, MouseButton, MouseInput, MouseKind};
use crossterm::event::{
    self, Event, KeyCode, KeyEvent, KeyEventKind, KeyEventState, MouseEvent, MouseEventKind,
};
use ratatui::layout::Rect;

/// Returns an event as input for a program with a screen in `area`. Returns `None` for a resize, a
/// key release, a key that terminals do not send, and a mouse event outside `area`.
pub fn key_input(event: &Event, area: Rect) -> Option<KeyInput> {
    match event {
        Event::Key(key) => from_key(key),
        Event::Paste(text) => Some(KeyInput::Paste(text.clone())),
        Event::Mouse(mouse) => from_mouse(*mouse, area),
        Event::FocusGained => Some(KeyInput::Focus(true)),
        Event::FocusLost => Some(KeyInput::Focus(false)),
        Event::Resize(..) => None,
    }
}

fn from_key(event: &KeyEvent) -> Option<KeyInput> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    let mut modifiers = modifiers(event.modifiers);
    let key = match event.code {
        KeyCode::Char(c) if event.state.contains(KeyEventState::KEYPAD) => Key::Keypad(c),
        KeyCode::Char(c) => {
            // Shift is already part of the character. Only with Ctrl or Alt is it a modifier of its
            // own.
            modifiers.shift &= modifiers.ctrl || modifiers.alt;
            Key::Char(c)
        }
        KeyCode::Enter => Key::Enter,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => {
            modifiers.shift = true;
            Key::Tab
        }
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Esc => Key::Escape,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Insert => Key::Insert,
        KeyCode::Delete => Key::Delete,
        KeyCode::F(number @ 1..=12) => Key::Function(number),
        KeyCode::Null => {
            modifiers.ctrl = true;
            Key::Char(' ')
        }
        KeyCode::F(_)
        | KeyCode::KeypadBegin
        | KeyCode::CapsLock
        | KeyCode::ScrollLock
        | KeyCode::NumLock
        | KeyCode::PrintScreen
        | KeyCode::Pause
        | KeyCode::Menu
        | KeyCode::Media(_)
        | KeyCode::Modifier(_) => return None,
    };
    Some(KeyInput::Key { key, modifiers })
}

fn from_mouse(event: MouseEvent, area: Rect) -> Option<KeyInput> {
    let inside = area.contains((event.column, event.row).into());
    let kind = match event.kind {
        MouseEventKind::Down(which) => MouseKind::Press(button(which)),
        MouseEventKind::Up(which) => MouseKind::Release(button(which)),
        MouseEventKind::Drag(which) => MouseKind::Drag(button(which)),
        MouseEventKind::Moved => MouseKind::Move,
        MouseEventKind::ScrollUp => MouseKind::WheelUp,
        MouseEventKind::ScrollDown => MouseKind::WheelDown,
        MouseEventKind::ScrollLeft | MouseEventKind::ScrollRight => return None,
    };
    inside.then(|| {
        KeyInput::Mouse(MouseInput {
            kind,
            col: event.column - area.x,
            row: event.row - area.y,
            modifiers: modifiers(event.modifiers),
        })
    })
}

fn modifiers(held: event::KeyModifiers) -> KeyModifiers {
    KeyModifiers {
        shift: held.contains(event::KeyModifiers::SHIFT),
        alt: held.intersects(event::KeyModifiers::ALT | event::KeyModifiers::META),
        ctrl: held.contains(event::KeyModifiers::CONTROL),
    }
}

fn button(which: event::MouseButton) -> MouseButton {
    match which {
        event::MouseButton::Left => MouseButton::Left,
        event::MouseButton::Right => MouseButton::Right,
        event::MouseButton::Middle => MouseButton::Middle,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use event::KeyModifiers as Held;

    const AREA: Rect = Rect::new(10, 5, 80, 24);
    const NONE: KeyModifiers = KeyModifiers {
        shift: false,
        alt: false,
        ctrl: false,
    };
    const SHIFT: KeyModifiers = KeyModifiers {
        shift: true,
        ..NONE
    };
    const ALT: KeyModifiers = KeyModifiers { alt: true, ..NONE };
    const CTRL: KeyModifiers = KeyModifiers { ctrl: true, ..NONE };
    const ALT_SHIFT: KeyModifiers = KeyModifiers { shift: true, ..ALT };

    #[test]
    fn every_key_has_its_input() {
        let none = Held::NONE;
        for (code, held, key, modifiers) in [
            (KeyCode::Char('a'), none, Key::Char('a'), NONE),
            (KeyCode::Char('A'), Held::SHIFT, Key::Char('A'), NONE),
            (KeyCode::Char('ü'), none, Key::Char('ü'), NONE),
            (KeyCode::Char('你'), none, Key::Char('你'), NONE),
            (KeyCode::Char('c'), Held::CONTROL, Key::Char('c'), CTRL),
            (KeyCode::Char(']'), Held::CONTROL, Key::Char(']'), CTRL),
            (KeyCode::Char('x'), Held::ALT, Key::Char('x'), ALT),
            (KeyCode::Char('x'), Held::META, Key::Char('x'), ALT),
            (
                KeyCode::Char('X'),
                Held::ALT | Held::SHIFT,
                Key::Char('X'),
                ALT_SHIFT,
            ),
            (KeyCode::Char('q'), Held::SUPER, Key::Char('q'), NONE),
            (KeyCode::Null, none, Key::Char(' '), CTRL),
            (KeyCode::Enter, none, Key::Enter, NONE),
            (KeyCode::Tab, none, Key::Tab, NONE),
            (KeyCode::BackTab, none, Key::Tab, SHIFT),
            (KeyCode::BackTab, Held::SHIFT, Key::Tab, SHIFT),
            (KeyCode::Backspace, none, Key::Backspace, NONE),
            (KeyCode::Esc, none, Key::Escape, NONE),
            (KeyCode::Up, none, Key::Up, NONE),
            (KeyCode::Down, Held::SHIFT, Key::Down, SHIFT),
            (KeyCode::Left, Held::CONTROL, Key::Left, CTRL),
            (KeyCode::Right, Held::ALT, Key::Right, ALT),
            (KeyCode::Home, none, Key::Home, NONE),
            (KeyCode::End, none, Key::End, NONE),
            (KeyCode::PageUp, none, Key::PageUp, NONE),
            (KeyCode::PageDown, none, Key::PageDown, NONE),
            (KeyCode::Insert, none, Key::Insert, NONE),
            (KeyCode::Delete, none, Key::Delete, NONE),
            (KeyCode::F(1), none, Key::Function(1), NONE),
            (KeyCode::F(12), none, Key::Function(12), NONE),
        ] {
            let event = Event::Key(KeyEvent::new(code, held));
            let want = Some(KeyInput::Key { key, modifiers });
            assert_eq!(key_input(&event, AREA), want, "{code:?} {held:?}");
        }
        let left_shift = KeyCode::Modifier(event::ModifierKeyCode::LeftShift);
        for code in [
            KeyCode::F(13),
            KeyCode::CapsLock,
            KeyCode::PrintScreen,
            left_shift,
        ] {
            let event = Event::Key(KeyEvent::new(code, none));
            assert_eq!(key_input(&event, AREA), None, "{code:?}");
        }
    }

    #[test]
    fn held_key_repeats_and_its_release_sends_nothing() {
        let key = |kind| Event::Key(KeyEvent::new_with_kind(KeyCode::Enter, Held::NONE, kind));
        assert!(key_input(&key(KeyEventKind::Repeat), AREA).is_some());
        assert_eq!(key_input(&key(KeyEventKind::Release), AREA), None);
        let keypad = KeyEvent::new_with_kind_and_state(
            KeyCode::Char('5'),
            Held::NONE,
            KeyEventKind::Press,
            KeyEventState::KEYPAD,
        );
        let want = KeyInput::Key {
            key: Key::Keypad('5'),
            modifiers: NONE,
        };
        assert_eq!(key_input(&Event::Key(keypad), AREA), Some(want));
    }

    #[test]
    fn mouse_position_is_relative_to_the_area() {
        use MouseEventKind::{Down, Drag, Moved, ScrollDown, ScrollLeft, ScrollUp, Up};
        use event::MouseButton as Pressed;
        for (kind, [column, row], want) in [
            (
                Down(Pressed::Left),
                [10, 5],
                Some((MouseKind::Press(MouseButton::Left), 0, 0)),
            ),
            (
                Up(Pressed::Right),
                [12, 6],
                Some((MouseKind::Release(MouseButton::Right), 2, 1)),
            ),
            (
                Drag(Pressed::Middle),
                [89, 28],
                Some((MouseKind::Drag(MouseButton::Middle), 79, 23)),
            ),
            (Moved, [10, 5], Some((MouseKind::Move, 0, 0))),
            (ScrollUp, [10, 5], Some((MouseKind::WheelUp, 0, 0))),
            (ScrollDown, [10, 5], Some((MouseKind::WheelDown, 0, 0))),
            (ScrollLeft, [10, 5], None),
            (Moved, [9, 5], None),
            (Moved, [90, 5], None),
        ] {
            let modifiers = Held::NONE;
            let event = MouseEvent {
                kind,
                column,
                row,
                modifiers,
            };
            let want = want.map(|(kind, col, row)| {
                let modifiers = NONE;
                KeyInput::Mouse(MouseInput {
                    kind,
                    col,
                    row,
                    modifiers,
                })
            });
            assert_eq!(key_input(&Event::Mouse(event), AREA), want);
        }
    }

    #[test]
    fn paste_and_focus_are_input_and_a_resize_is_not() {
        let text = "a\nb".to_owned();
        for (event, want) in [
            (Event::Paste(text.clone()), Some(KeyInput::Paste(text))),
            (Event::FocusGained, Some(KeyInput::Focus(true))),
            (Event::FocusLost, Some(KeyInput::Focus(false))),
            (Event::Resize(1, 1), None),
        ] {
            assert_eq!(key_input(&event, AREA), want);
        }
    }
}
