//! A command on its own terminal while its overlay is shown. Keys go to the command, and its end is
//! shown for a moment.

use agent_bash::core::{KeyInput, Screen, Status};
use agent_bash::pty::{PtyEnd, PtySession, PtySize, WaitingFor};
use agent_bash_render::{Overlay, OverlayAction, OverlayKeys, OverlayState, Theme};
use crossterm::event::{Event, KeyEventKind};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::widgets::Clear;
use std::time::Duration;

/// How long the overlay stays after the command has ended, unless a key is pressed.
const LINGER_TIME: Duration = Duration::from_millis(700);

/// The overlay and its command.
#[derive(Debug)]
pub(crate) struct Console {
    pub(crate) session: PtySession,
    command: String,
    keys: OverlayKeys,
    /// Number of lines that the view is scrolled back.
    scrolled: usize,
    started: Duration,
    /// How and when the command ended.
    ended: Option<(OverlayState, Duration)>,
    /// The area in which its screen was last drawn.
    area: Rect,
    /// True if the command gets all of the host's terminal: it is on the alternate screen, or known
    /// to draw and was not on that screen yet.
    whole: bool,
    /// True if the command is known to draw.
    draws: bool,
    /// True if the command has been on the alternate screen.
    was_alternate: bool,
    growth: TerminalGrowth,
}

/// Time between a key and the growth of the terminal of a program that turned out to draw.
const GROWTH_DELAY: Duration = Duration::from_millis(300);

/// When the terminal of a program that turned out to draw gets the size of the host's.
///
/// Many programs read a change of size as a key. A program that waits for any key would end before
/// the user has seen it. So the growth waits until the user has pressed a key, or has resized the
/// host's terminal.
#[derive(Debug, Default)]
struct TerminalGrowth {
    host: Option<Rect>,
    /// When a key was first sent to the drawing program.
    typed: Option<Duration>,
    is_grown: bool,
}

impl TerminalGrowth {
    fn typed(&mut self, now: Duration) {
        self.typed.get_or_insert(now);
    }

    /// The time of the growth, if it is known.
    fn deadline(&self) -> Option<Duration> {
        let typed = self.typed.filter(|_| !self.is_grown);
        typed.map(|at| at + GROWTH_DELAY)
    }

    /// Returns true if the terminal may be resized now. `turned_out`: the command draws, which was
    /// not known in advance.
    fn may_resize(&mut self, host: Rect, turned_out: bool, now: Duration) -> bool {
        let is_changed = self.host.replace(host).is_some_and(|before| before != host);
        if !turned_out {
            (self.typed, self.is_grown) = (None, false);
            return true;
        }
        self.is_grown |= is_changed || self.deadline().is_some_and(|at| now >= at);
        self.is_grown
    }
}

/// The result of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventOutcome {
    /// The overlay or its command consumed the event.
    Consumed,
    /// The overlay must be closed; the event was not consumed.
    Close,
}

impl Console {
    /// `draws`: the command is known to draw on its whole terminal.
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
            growth: TerminalGrowth::default(),
        }
    }

    /// Decides whether the command gets all of the host's terminal, and resizes the command's
    /// terminal now or later.
    fn fit(&mut self, overlay: Rect, whole: Rect, now: Duration) -> Rect {
        if self.ended.is_none() {
            let is_alternate = self.session.screen().modes.alternate_screen;
            self.was_alternate |= is_alternate;
            self.whole = is_alternate || (self.draws && !self.was_alternate);
            self.keys.set_whole(self.whole);
        }
        let (area, screen) = if self.whole {
            (whole, Overlay::whole_screen_area(whole))
        } else {
            (overlay, Overlay::screen_area(overlay))
        };
        self.area = screen;
        let turned_out = self.whole && !self.draws;
        if self.growth.may_resize(whole, turned_out, now) {
            self.session
                .resize(PtySize::clamped(screen.width, screen.height));
        }
        area
    }

    pub(crate) fn event(&mut self, event: &Event, now: Duration) -> EventOutcome {
        if self.ended.is_some() {
            let is_press = matches!(event, Event::Key(key) if key.kind != KeyEventKind::Release);
            return if is_press || matches!(event, Event::Paste(_)) {
                EventOutcome::Close
            } else {
                EventOutcome::Consumed
            };
        }
        let screen = self.session.screen();
        let action = self.keys.event(event, now, &screen, self.area);
        self.act(action, &screen, now);
        EventOutcome::Consumed
    }

    fn act(&mut self, action: OverlayAction, screen: &Screen, now: Duration) {
        match action {
            OverlayAction::Nothing => {}
            OverlayAction::Kill => self.session.kill(),
            OverlayAction::Send(input) => self.send(&input, 1, screen, now),
            OverlayAction::Repeat(input, times) => self.send(&input, times, screen, now),
            OverlayAction::Scroll(lines) => {
                let scrolled = self.scrolled.saturating_add_signed(lines);
                self.scrolled = scrolled.min(screen.scrollback);
            }
        }
    }

    fn send(&mut self, input: &KeyInput, times: usize, screen: &Screen, now: Duration) {
        self.scrolled = 0;
        if self.whole && screen.modes.alternate_screen {
            self.growth.typed(now);
        }
        for _ in 0..times {
            // The command has just ended or does not read its input; there is nothing to report.
            let _ = self.session.send(input);
        }
    }

    /// How long the overlay stays after the end: the last screen of a full-screen program is of no
    /// interest.
    fn linger(&self) -> Duration {
        if self.whole {
            Duration::ZERO
        } else {
            LINGER_TIME
        }
    }

    /// The time at which to call [`Self::expire`].
    pub(crate) fn deadline(&self) -> Option<Duration> {
        if let Some((_, at)) = &self.ended {
            return Some(*at + self.linger());
        }
        let deadlines = [self.keys.deadline(), self.growth.deadline()];
        deadlines.into_iter().flatten().min()
    }

    /// Handles timeouts. Returns true if the overlay must be closed.
    pub(crate) fn expire(&mut self, now: Duration) -> bool {
        if let Some((_, at)) = &self.ended {
            return now >= *at + self.linger();
        }
        let action = self.keys.expire(now);
        let screen = self.session.screen();
        self.act(action, &screen, now);
        false
    }

    /// Handles the end of the command.
    pub(crate) fn end(&mut self, end: &PtyEnd, now: Duration) {
        let state = if end.killed {
            OverlayState::Killed
        } else {
            OverlayState::Ended(status(end))
        };
        self.ended = Some((state, now));
    }

    /// Returns true if the command has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// Draws the screen into `overlay`. A full-screen program's screen covers the whole frame.
    pub(crate) fn draw(
        &mut self,
        frame: &mut Frame<'_>,
        overlay: Rect,
        now: Duration,
        theme: &Theme,
    ) {
        let area = self.fit(overlay, frame.area(), now);
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
        // The rows of the overlay show nothing of what is behind it.
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

/// The size of a command's terminal on a host's terminal of this size. `draws`: the command draws.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_that_turns_out_to_draw_grows_after_its_first_key() {
        let host = Rect::new(0, 0, 80, 24);
        let at = Duration::from_millis;
        let mut growth = TerminalGrowth::default();
        // As for any other command, the terminal follows the size of the overlay.
        assert!(growth.may_resize(host, false, at(0)));
        assert!(!growth.may_resize(host, true, at(1)));
        assert!(!growth.may_resize(host, true, at(60_000)));
        growth.typed(at(60_000));
        assert_eq!(growth.deadline(), Some(at(60_300)));
        assert!(!growth.may_resize(host, true, at(60_100)));
        growth.typed(at(60_200));
        assert!(growth.may_resize(host, true, at(60_300)));
        assert_eq!(growth.deadline(), None, "there is nothing to wake up for");
        // The next program starts without a growth.
        assert!(growth.may_resize(host, false, at(61_000)));
        assert!(!growth.may_resize(host, true, at(70_000)));

        // The user resizes the host's terminal.
        let mut growth = TerminalGrowth::default();
        assert!(
            !growth.may_resize(host, true, at(0)),
            "drawn for the first time"
        );
        assert!(growth.may_resize(Rect::new(0, 0, 90, 24), true, at(1)));
    }
}
