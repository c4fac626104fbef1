//! Maps keys to actions while an overlay is shown: input for the command, scrolling, or killing the
//! command.

use crate::key_input;
use agent_bash_core::{Key, KeyInput, KeyModifiers, Screen};
use crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers as Held, MouseEventKind,
};
use ratatui::layout::Rect;
use std::time::Duration;

/// Two presses of Esc within this time send one Esc to the command.
pub const DOUBLE_ESC_TIME: Duration = Duration::from_millis(400);

const LINES_PER_WHEEL_STEP: isize = 3;

/// Key state between events.
#[derive(Debug, Clone, Default)]
pub struct OverlayKeys {
    /// The time at which an Esc was pressed that may be the first of two.
    escape: Option<Duration>,
    /// True if the command is a full-screen program.
    is_full_screen: bool,
}

/// The action for an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OverlayAction {
    /// There is nothing to do, or nothing yet: see [`OverlayKeys::deadline`].
    Nothing,
    /// Send the input to the command.
    Send(KeyInput),
    /// Send the input several times. On the alternate screen without mouse reporting, the wheel
    /// sends arrow keys, as xterm's alternateScroll does.
    Repeat(KeyInput, usize),
    /// Kill the command.
    Kill,
    /// Scroll back by this many lines; forward if negative.
    Scroll(isize),
}

impl OverlayKeys {
    /// Sets whether the command is a full-screen program, which also gets Esc.
    pub fn set_full_screen(&mut self, is_full_screen: bool) {
        self.is_full_screen = is_full_screen;
    }

    /// Handles an event at time `now` of the host's clock. `screen` is drawn in `area` (the area of
    /// the screen, not of the box).
    pub fn event(
        &mut self,
        event: &Event,
        now: Duration,
        screen: &Screen,
        area: Rect,
    ) -> OverlayAction {
        if let Event::Key(key) = event {
            return self.key(key, event, now, screen, area);
        }
        match event {
            Event::Mouse(mouse) if !screen.modes.mouse => match mouse.kind {
                MouseEventKind::ScrollUp if screen.modes.alternate_screen => wheel(Key::Up),
                MouseEventKind::ScrollDown if screen.modes.alternate_screen => wheel(Key::Down),
                MouseEventKind::ScrollUp => OverlayAction::Scroll(LINES_PER_WHEEL_STEP),
                MouseEventKind::ScrollDown => OverlayAction::Scroll(-LINES_PER_WHEEL_STEP),
                _ => OverlayAction::Nothing,
            },
            event => send_action(key_input(event, area)),
        }
    }

    fn key(
        &mut self,
        key: &KeyEvent,
        event: &Event,
        now: Duration,
        screen: &Screen,
        area: Rect,
    ) -> OverlayAction {
        if key.kind == KeyEventKind::Release {
            return OverlayAction::Nothing;
        }
        let first = self.escape.take();
        let full_screen = self.is_full_screen || screen.modes.alternate_screen;
        match (key.code, key.modifiers) {
            (KeyCode::Esc, held) if held.is_empty() && !full_screen => match first {
                Some(at) if now.saturating_sub(at) <= DOUBLE_ESC_TIME => {
                    OverlayAction::Send(plain(Key::Escape))
                }
                Some(_) => OverlayAction::Kill,
                None => {
                    self.escape = Some(now);
                    OverlayAction::Nothing
                }
            },
            // After a single Esc and another key, the Esc was not meant for the command.
            _ if first.is_some() => OverlayAction::Kill,
            (KeyCode::Char(']' | '5'), Held::CONTROL) if full_screen => OverlayAction::Kill,
            (KeyCode::PageUp, Held::SHIFT) => OverlayAction::Scroll(page_lines(area)),
            (KeyCode::PageDown, Held::SHIFT) => OverlayAction::Scroll(-page_lines(area)),
            _ => send_action(key_input(event, area)),
        }
    }

    /// The time at which to call [`Self::expire`], if a first Esc is pending.
    pub fn deadline(&self) -> Option<Duration> {
        self.escape.map(|at| at + DOUBLE_ESC_TIME)
    }

    /// Handles a timeout: a single Esc kills the command.
    pub fn expire(&mut self, now: Duration) -> OverlayAction {
        if self.deadline().is_some_and(|deadline| now >= deadline) {
            self.escape = None;
            return OverlayAction::Kill;
        }
        OverlayAction::Nothing
    }
}

fn send_action(input: Option<KeyInput>) -> OverlayAction {
    input.map_or(OverlayAction::Nothing, OverlayAction::Send)
}

fn wheel(key: Key) -> OverlayAction {
    OverlayAction::Repeat(plain(key), LINES_PER_WHEEL_STEP.unsigned_abs())
}

fn plain(key: Key) -> KeyInput {
    KeyInput::Key {
        key,
        modifiers: KeyModifiers::default(),
    }
}

fn page_lines(area: Rect) -> isize {
    isize::try_from(area.height.saturating_sub(1).max(1)).unwrap_or(1)
}
