//! What a key means while an overlay is up: for the command, for us, or an end to the command.

use crate::key_input;
use agent_bash_core::{Key, KeyInput, KeyModifiers, Screen};
use crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers as Held, MouseEventKind,
};
use ratatui::layout::Rect;
use std::time::Duration;

/// Two presses of Esc within this time are one Esc for the command.
pub const ESC_ESC: Duration = Duration::from_millis(400);

/// Lines that the wheel scrolls.
const WHEEL: isize = 3;

/// The state of the keys.
#[derive(Debug, Clone, Default)]
pub struct OverlayKeys {
    /// When an Esc came that may be the first of two.
    escape: Option<Duration>,
}

/// What follows from an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OverlayAction {
    /// Nothing, or not yet: see [`OverlayKeys::deadline`].
    Nothing,
    /// It goes to the command.
    Send(KeyInput),
    /// The command is to be killed.
    Kill,
    /// The view scrolls so many lines back; forward if negative.
    Scroll(isize),
}

impl OverlayKeys {
    /// An event, at a time of the host's clock, while `screen` is drawn in `area` (the area of the screen, not of the box).
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
                MouseEventKind::ScrollUp => OverlayAction::Scroll(WHEEL),
                MouseEventKind::ScrollDown => OverlayAction::Scroll(-WHEEL),
                _ => OverlayAction::Nothing,
            },
            event => sent(key_input(event, area)),
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
        let full_screen = screen.modes.alternate_screen;
        match (key.code, key.modifiers) {
            (KeyCode::Esc, held) if held.is_empty() && !full_screen => match first {
                Some(at) if now.saturating_sub(at) <= ESC_ESC => OverlayAction::Send(escape()),
                Some(_) => OverlayAction::Kill,
                None => {
                    self.escape = Some(now);
                    OverlayAction::Nothing
                }
            },
            // Whoever types on has not meant to send an Esc.
            _ if first.is_some() => OverlayAction::Kill,
            (KeyCode::Char(']' | '5'), Held::CONTROL) if full_screen => OverlayAction::Kill,
            (KeyCode::PageUp, Held::SHIFT) => OverlayAction::Scroll(page(area)),
            (KeyCode::PageDown, Held::SHIFT) => OverlayAction::Scroll(-page(area)),
            _ => sent(key_input(event, area)),
        }
    }

    /// When [`Self::expire`] is to be called, if an Esc waits for a second one.
    pub fn deadline(&self) -> Option<Duration> {
        self.escape.map(|at| at + ESC_ESC)
    }

    /// Time has passed: an Esc that stayed alone kills.
    pub fn expire(&mut self, now: Duration) -> OverlayAction {
        if self.deadline().is_some_and(|deadline| now >= deadline) {
            self.escape = None;
            return OverlayAction::Kill;
        }
        OverlayAction::Nothing
    }
}

fn sent(input: Option<KeyInput>) -> OverlayAction {
    input.map_or(OverlayAction::Nothing, OverlayAction::Send)
}

fn escape() -> KeyInput {
    KeyInput::Key {
        key: Key::Escape,
        modifiers: KeyModifiers::default(),
    }
}

fn page(area: Rect) -> isize {
    isize::try_from(area.height.saturating_sub(1).max(1)).unwrap_or(1)
}
