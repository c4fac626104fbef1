//! The position in a text that scrolls, in the pager and in a diff, and its keys.

use crate::pager_keys::{key_move, wheel_move};
use crate::pattern_input::PatternInput;
use crate::search_origin;
use crate::typed_count::TypedCount;
use agent_bash_render::{PagerMove, PagerPosition};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// The position, and the keys typed so far.
#[derive(Debug)]
pub(crate) struct ScrollState {
    pub(crate) position: PagerPosition,
    /// The number of lines of the text.
    pub(crate) total: u64,
    /// The number of lines on the screen.
    pub(crate) rows: u16,
    /// The pattern that is being typed after `/` or `?`.
    pub(crate) typing: PatternInput,
    pub(crate) count: TypedCount,
    /// True if the match may be outside of the shown columns.
    pub(crate) reveals_match: bool,
    pub(crate) message: Option<String>,
    /// True after a jump to an end or a line. The next search starts at the new position, even if
    /// the last match is on the screen.
    has_jumped: bool,
    /// The line of the last jump by number or to the start.
    jump_line: Option<u64>,
}

/// An event, for the owner of the text.
#[derive(Debug)]
pub(crate) enum ScrollEvent {
    /// The event is done with.
    Handled,
    Close,
    Move(PagerMove),
    /// A pattern was entered.
    Pattern(String),
    /// The key `n` or `N`, and the number typed before it.
    NextMatch {
        letter: char,
        forward: bool,
        count: Option<u64>,
    },
    /// Another key.
    Key(KeyEvent),
}

impl ScrollState {
    /// The beginning of a text of `total` lines.
    pub(crate) fn new(total: u64) -> Self {
        Self {
            position: PagerPosition::first(),
            total,
            rows: 0,
            typing: PatternInput::default(),
            count: TypedCount::default(),
            reveals_match: false,
            message: None,
            has_jumped: false,
            jump_line: None,
        }
    }

    pub(crate) fn event(&mut self, event: &Event) -> ScrollEvent {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => return self.key(*key),
            Event::Mouse(mouse) => {
                return wheel_move(mouse.kind).map_or(ScrollEvent::Handled, ScrollEvent::Move);
            }
            Event::Paste(text) => self.typing.paste(text),
            _ => {}
        }
        ScrollEvent::Handled
    }

    fn key(&mut self, key: KeyEvent) -> ScrollEvent {
        self.message = None;
        if self.typing.typed().is_some() {
            let entered = self.typing.key(key);
            return entered.map_or(ScrollEvent::Handled, ScrollEvent::Pattern);
        }
        if self.count.push_digit(key) {
            return ScrollEvent::Handled;
        }
        let count = self.count.take();
        match (key.code, key.modifiers) {
            (KeyCode::Esc, _) if count.is_some() => ScrollEvent::Handled,
            (KeyCode::Char('q') | KeyCode::Esc, _)
            | (KeyCode::Char('c'), KeyModifiers::CONTROL) => ScrollEvent::Close,
            (KeyCode::Char(sign @ ('/' | '?')), _) => {
                self.typing.begin(sign);
                ScrollEvent::Handled
            }
            (KeyCode::Char(letter @ ('n' | 'N')), _) => ScrollEvent::NextMatch {
                letter,
                forward: (letter == 'n') != self.typing.is_backward,
                count,
            },
            _ => {
                let to = key_move(key, count, self.rows);
                to.map_or(ScrollEvent::Key(key), ScrollEvent::Move)
            }
        }
    }

    pub(crate) fn go(&mut self, to: PagerMove) {
        let is_jump = matches!(to, PagerMove::First | PagerMove::Last | PagerMove::Line(_));
        self.has_jumped |= is_jump;
        self.jump_line = search_origin::jump_line(to, self.total);
        self.position.go(to, self.total, self.rows);
    }

    /// Prepares the search for a new pattern. `found`: the line of the last match.
    pub(crate) fn begin_pattern(&mut self, found: Option<u64>) {
        let found = found.filter(|_| !self.has_jumped);
        self.jump_line =
            search_origin::pattern_origin(self.jump_line, found, &self.position, self.rows);
    }

    /// Returns the line from which the next match is searched. `found`: the line of the last match.
    pub(crate) fn origin(&self, found: Option<u64>, forward: bool) -> u64 {
        let found = found.filter(|_| !self.has_jumped);
        search_origin::origin(found, self.jump_line, &self.position, self.rows, forward)
    }

    /// Moves to the line of a match.
    pub(crate) fn show_match(&mut self, line: u64, has_wrapped: bool, forward: bool) {
        self.reveals_match = true;
        self.message = search_origin::wrapped_text(has_wrapped, forward);
        self.go(PagerMove::IntoView(line));
        self.has_jumped = false;
    }
}
