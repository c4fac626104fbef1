//! A command on its own terminal while its overlay is up: keys go to the command, and its end is shown for a
//! moment.

use agent_bash::core::{Screen, Status};
use agent_bash::pty::{PtyEnd, PtySession, PtySize, WaitingFor};
use agent_bash_render::{Overlay, OverlayAction, OverlayKeys, OverlayState, Theme};
use crossterm::event::{Event, KeyEventKind};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::widgets::Clear;
use std::time::Duration;

/// How long the overlay stays after the command has ended, unless a key is pressed.
const LINGER: Duration = Duration::from_millis(700);

/// The overlay and its command.
#[derive(Debug)]
pub(crate) struct Console {
    pub(crate) session: PtySession,
    command: String,
    keys: OverlayKeys,
    /// How many lines the view is scrolled back.
    scrolled: usize,
    started: Duration,
    /// How and when it ended.
    ended: Option<(OverlayState, Duration)>,
    /// Where its screen was last drawn.
    area: Rect,
    /// It has all of the host's terminal: it is on the alternate screen, or known to draw and was not there yet.
    whole: bool,
    /// It is known to draw.
    draws: bool,
    /// It has been on the alternate screen.
    was_alternate: bool,
}

/// What an event led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Handled {
    /// The overlay or its command consumed it.
    Here,
    /// The overlay is to be closed; the event was not consumed.
    Close,
}

impl Console {
    /// `draws`: it is known to draw on all of its terminal.
    pub(crate) fn new(session: PtySession, command: &str, now: Duration, draws: bool) -> Self {
        Self {
            session,
            command: command.to_owned(),
            keys: OverlayKeys::default(),
            scrolled: 0,
            started: now,
            ended: None,
            area: Rect::default(),
            whole: draws,
            draws,
            was_alternate: false,
        }
    }

    /// Decides whether it gets all of the host's terminal, and resizes the command's to what it gets.
    fn fit(&mut self, boxed: Rect, whole: Rect) -> Rect {
        if self.ended.is_none() {
            let is_alternate = self.session.screen().modes.alternate_screen;
            self.was_alternate |= is_alternate;
            self.whole = is_alternate || (self.draws && !self.was_alternate);
            self.keys.set_whole(self.whole);
        }
        let (area, screen) = if self.whole {
            (whole, Overlay::whole_screen_area(whole))
        } else {
            (boxed, Overlay::screen_area(boxed))
        };
        self.area = screen;
        self.session
            .resize(PtySize::clamped(screen.width, screen.height));
        area
    }

    pub(crate) fn event(&mut self, event: &Event, now: Duration) -> Handled {
        if self.ended.is_some() {
            let is_press = matches!(event, Event::Key(key) if key.kind != KeyEventKind::Release);
            return if is_press || matches!(event, Event::Paste(_)) {
                Handled::Close
            } else {
                Handled::Here
            };
        }
        let screen = self.session.screen();
        let action = self.keys.event(event, now, &screen, self.area);
        self.act(action, &screen);
        Handled::Here
    }

    fn act(&mut self, action: OverlayAction, screen: &Screen) {
        match action {
            OverlayAction::Nothing => {}
            OverlayAction::Kill => self.session.kill(),
            OverlayAction::Send(input) => {
                self.scrolled = 0;
                // It has just ended or does not read its input; nothing to report.
                let _ = self.session.send(&input);
            }
            OverlayAction::Scroll(lines) => {
                let scrolled = self.scrolled.saturating_add_signed(lines);
                self.scrolled = scrolled.min(screen.scrollback);
            }
        }
    }

    /// How long it stays: nobody wants to look at what is left of a full-screen program.
    fn linger(&self) -> Duration {
        if self.whole { Duration::ZERO } else { LINGER }
    }

    /// When to call [`Self::expire`].
    pub(crate) fn deadline(&self) -> Option<Duration> {
        match &self.ended {
            Some((_, at)) => Some(*at + self.linger()),
            None => self.keys.deadline(),
        }
    }

    /// Handles timeouts. Returns whether to close the overlay.
    pub(crate) fn expire(&mut self, now: Duration) -> bool {
        if let Some((_, at)) = &self.ended {
            return now >= *at + self.linger();
        }
        let action = self.keys.expire(now);
        let screen = self.session.screen();
        self.act(action, &screen);
        false
    }

    /// The command has ended.
    pub(crate) fn end(&mut self, end: &PtyEnd, now: Duration) {
        let state = if end.killed {
            OverlayState::Killed
        } else {
            OverlayState::Ended(status(end))
        };
        self.ended = Some((state, now));
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// Draws it into `boxed`, or, for a full-screen program, over the whole frame.
    pub(crate) fn draw(
        &mut self,
        frame: &mut Frame<'_>,
        boxed: Rect,
        now: Duration,
        theme: &Theme,
    ) {
        let area = self.fit(boxed, frame.area());
        let state = match &self.ended {
            Some((state, _)) => state.clone(),
            None => match self.session.status().waiting {
                Some(WaitingFor::Secret) => OverlayState::WaitingForSecret,
                Some(_) => OverlayState::WaitingForInput,
                None => OverlayState::Running,
            },
        };
        let screen = self.session.screen();
        self.scrolled = self.scrolled.min(screen.scrollback);
        let back = (self.scrolled > 0).then(|| self.session.scrolled_back(self.scrolled));
        let until = self.ended.as_ref().map_or(now, |(_, at)| *at);
        let overlay = Overlay {
            command: &self.command,
            state: &state,
            elapsed: until.saturating_sub(self.started),
            screen: back.as_ref().unwrap_or(&screen),
            scrolled: self.scrolled,
            whole: self.whole,
        };
        // Beside the box nothing is left of what is behind it.
        let rows = Rect {
            x: frame.area().x,
            width: frame.area().width,
            ..area
        };
        frame.render_widget(Clear, rows);
        overlay.render(area, frame.buffer_mut(), theme);
        if let Some(cursor) = overlay.cursor(area, theme) {
            frame.set_cursor_position(cursor);
        }
    }
}

/// The size of a command's terminal on a host's: of one that draws, or of another.
pub(crate) fn size_in(host: Rect, draws: bool) -> PtySize {
    let inner = if draws {
        Overlay::whole_screen_area(host)
    } else {
        Overlay::screen_area(Overlay::area(host))
    };
    PtySize::clamped(inner.width, inner.height)
}

fn status(end: &PtyEnd) -> Status {
    match &end.result {
        Ok(outcome) => Status::from(&outcome.ending),
        Err(error) => Status::from(error),
    }
}
