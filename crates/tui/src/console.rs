//! A command on its own terminal while its overlay is shown. Keys go to the command. After its end,
//! the overlay stays for a moment.

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
    /// The area in which the command's screen was last drawn.
    area: Rect,
    /// True if the command gets all of the host's terminal: it uses the alternate screen, or is a
    /// known full-screen program that has not used it yet.
    fills_host: bool,
    /// True if the command is a known full-screen program.
    is_known_full_screen: bool,
    /// True if the command has been on the alternate screen.
    used_alternate_screen: bool,
    growth: TerminalGrowth,
}

/// Time between the first key and the growth of a terminal.
const GROWTH_DELAY: Duration = Duration::from_millis(300);

/// Decides when a terminal grows to the size of the host's, if its program turns out to be a
/// full-screen program.
///
/// Many programs treat a resize as input. A program that waits for any key would then end unseen.
/// So the terminal grows only after a key, or after the user has resized the host's terminal.
#[derive(Debug, Default)]
struct TerminalGrowth {
    host: Option<Rect>,
    /// When the first key was sent to the full-screen program.
    first_key: Option<Duration>,
    is_grown: bool,
}

impl TerminalGrowth {
    fn key_sent(&mut self, now: Duration) {
        self.first_key.get_or_insert(now);
    }

    /// The time of the growth, if it is known.
    fn deadline(&self) -> Option<Duration> {
        let typed = self.first_key.filter(|_| !self.is_grown);
        typed.map(|at| at + GROWTH_DELAY)
    }

    /// Returns true if the terminal may be resized now. `is_unexpected`: the command is not known
    /// as a full-screen program, but is one.
    fn may_resize(&mut self, host: Rect, is_unexpected: bool, now: Duration) -> bool {
        let is_changed = self.host.replace(host).is_some_and(|before| before != host);
        if !is_unexpected {
            (self.first_key, self.is_grown) = (None, false);
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
    /// `is_full_screen`: the command is a known full-screen program.
    pub(crate) fn new(
        session: PtySession,
        command: &str,
        now: Duration,
        is_full_screen: bool,
    ) -> Self {
        Self {
            session,
            command: command.to_owned(),
            keys: OverlayKeys::default(),
            scrolled: 0,
            started: now,
            ended: None,
            area: Rect::default(),
            fills_host: is_full_screen,
            is_known_full_screen: is_full_screen,
            used_alternate_screen: false,
            growth: TerminalGrowth::default(),
        }
    }

    /// Decides whether the command gets all of the host's terminal, and resizes the command's
    /// terminal now or later.
    fn fit(&mut self, overlay: Rect, whole: Rect, now: Duration) -> Rect {
        if self.ended.is_none() {
            let is_alternate = self.session.screen().modes.alternate_screen;
            self.used_alternate_screen |= is_alternate;
            self.fills_host =
                is_alternate || (self.is_known_full_screen && !self.used_alternate_screen);
            self.keys.set_full_screen(self.fills_host);
        }
        let (area, screen) = if self.fills_host {
            (whole, Overlay::whole_screen_area(whole))
        } else {
            (overlay, Overlay::screen_area(overlay))
        };
        self.area = screen;
        let is_unexpected = self.fills_host && !self.is_known_full_screen;
        if self.growth.may_resize(whole, is_unexpected, now) {
            self.session
                .resize(PtySize::clamped(screen.width, screen.height));
        }
        area
    }

    pub(crate) fn event(&mut self, event: &Event, now: Duration) -> EventOutcome {
        // The event may arrive before the news of the end: a key must not get lost then.
        if self.ended.is_none()
            && let Some(end) = self.session.status().ended
        {
            self.end(&end, now);
        }
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
        if self.fills_host && screen.modes.alternate_screen {
            self.growth.key_sent(now);
        }
        for _ in 0..times {
            // The command has just ended or does not read its input; there is nothing to report.
            let _ = self.session.send(input);
        }
    }

    /// How long the overlay stays after the end. The last screen of a full-screen program is not
    /// worth showing.
    fn linger(&self) -> Duration {
        if self.fills_host {
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

    /// Draws the screen into the area `overlay`; a full-screen program gets the whole frame.
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
            is_full_screen: self.fills_host,
        };
        // The overlay hides everything else in its rows.
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

/// The size of a command's terminal on a host's terminal of this size. `is_full_screen`: the
/// command is a full-screen program.
pub(crate) fn size_in(host: Rect, is_full_screen: bool) -> PtySize {
    let inner = if is_full_screen {
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
        growth.key_sent(at(60_000));
        assert_eq!(growth.deadline(), Some(at(60_300)));
        assert!(!growth.may_resize(host, true, at(60_100)));
        growth.key_sent(at(60_200));
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
