//! The overlay: the screen of a command on its own terminal. The screen is in a box or, for a
//! full-screen program, fills the area above a line with the overlay's keys.

use crate::text::visible_text;
use crate::{CardState, ScreenView, Theme, spinner};
use agent_bash_core::{Screen, Status};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Widget};
use std::time::Duration;

/// Minimum size in columns and rows. On a smaller host terminal, the overlay takes the whole area.
const MIN_SIZE: (u16, u16) = (20, 5);

/// Columns (or rows) of the borders on both sides.
const BORDER_CELLS: u16 = 2;

/// Columns of a command's name that take precedence over the rest of a hint.
const MIN_NAME_COLUMNS: usize = 24;

/// The overlay. Draw it after everything else in the frame.
#[derive(Debug, Clone, Copy)]
pub struct Overlay<'a> {
    /// The command.
    pub command: &'a str,
    /// The state of the command.
    pub state: &'a OverlayState,
    /// Time since the start.
    pub elapsed: Duration,
    /// The screen, live or scrolled back.
    pub screen: &'a Screen,
    /// Number of lines that the screen is scrolled back.
    pub scrolled: usize,
    /// True for a full-screen program, which gets the whole area, without a box.
    pub is_full_screen: bool,
}

/// The state of the command in an overlay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OverlayState {
    /// The command is running.
    Running,
    /// The command waits for input.
    WaitingForInput,
    /// The command waits for a secret: input is neither echoed nor recorded.
    WaitingForSecret,
    /// The user killed the command.
    Killed,
    /// The command has ended.
    Ended(Status),
}

impl OverlayState {
    /// True if the command still takes input.
    pub fn is_live(&self) -> bool {
        matches!(
            self,
            Self::Running | Self::WaitingForInput | Self::WaitingForSecret
        )
    }

    /// The state in a word or two.
    pub fn badge(&self) -> String {
        match self {
            Self::Running => "running".to_owned(),
            Self::WaitingForInput => "waiting for input".to_owned(),
            Self::WaitingForSecret => "waiting for a secret".to_owned(),
            Self::Killed => "killed".to_owned(),
            Self::Ended(status) => CardState::Ended(status.clone()).badge(),
        }
    }

    fn mark(&self, elapsed: Duration, theme: &Theme) -> (&'static str, Style) {
        match self {
            Self::Running => (spinner::spinner(elapsed), theme.running),
            Self::WaitingForInput => ("?", theme.warning),
            Self::WaitingForSecret => ("*", theme.warning),
            Self::Killed => ("■", theme.error),
            Self::Ended(status) => spinner::mark(&CardState::Ended(status.clone()), elapsed, theme),
        }
    }
}

impl Overlay<'_> {
    /// The overlay's area in the host's frame: centred, four fifths of the height.
    pub fn area(frame: Rect) -> Rect {
        let (least_width, least_height) = MIN_SIZE;
        let margin = if frame.width >= 4 * least_width { 4 } else { 0 };
        let width = (frame.width - margin).max(least_width).min(frame.width);
        let height = (u32::from(frame.height) * 4 / 5) as u16;
        let height = height.max(least_height).min(frame.height);
        Rect {
            x: frame.x + (frame.width - width) / 2,
            y: frame.y + (frame.height - height) / 2,
            width,
            height,
        }
    }

    /// The screen's area within the overlay: the size to give the command's terminal.
    pub fn screen_area(area: Rect) -> Rect {
        Rect {
            x: area.x + 1.min(area.width),
            y: area.y + 1.min(area.height),
            width: area.width.saturating_sub(BORDER_CELLS),
            height: area.height.saturating_sub(BORDER_CELLS),
        }
    }

    /// The screen's area of a full-screen command: all but the last row of `area`.
    pub fn whole_screen_area(area: Rect) -> Rect {
        Rect {
            height: area.height.saturating_sub(1),
            ..area
        }
    }

    fn screen_within(&self, area: Rect) -> Rect {
        if self.is_full_screen {
            Self::whole_screen_area(area)
        } else {
            Self::screen_area(area)
        }
    }

    /// The position for the host's cursor.
    pub fn cursor(&self, area: Rect, theme: &Theme) -> Option<Position> {
        if !self.state.is_live() || self.scrolled > 0 {
            return None;
        }
        ScreenView::new(self.screen, theme).cursor(self.screen_within(area))
    }

    /// Draws the overlay.
    pub fn render(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) {
        let area = area.intersection(buffer.area);
        if area.is_empty() {
            return;
        }
        let (_, style) = self.state.mark(self.elapsed, theme);
        Clear.render(area, buffer);
        ScreenView::new(self.screen, theme).render(self.screen_within(area), buffer);
        if self.is_full_screen {
            let line = self.last_line(area.width, theme);
            buffer.set_line(area.x, area.bottom() - 1, &line, area.width);
            return;
        }
        Block::bordered()
            .border_type(BorderType::Rounded)
            .border_style(if self.state.is_live() {
                theme.accent
            } else {
                style
            })
            .title_top(self.header(area.width, theme))
            .title_bottom(self.footer(area.width, theme))
            .render(area, buffer);
    }

    /// `▸ vim notes.txt · ctrl+] force-kill · …`. If there is little room, the name takes
    /// precedence over the end of the hint, and the hint over the name.
    fn last_line(&self, width: u16, theme: &Theme) -> Line<'static> {
        // An editor waits for keys most of the time, so its state is not shown.
        let is_at_work = matches!(
            self.state,
            OverlayState::Running | OverlayState::WaitingForInput
        );
        let (icon, style, badge) = if is_at_work {
            ("▸", theme.running, String::new())
        } else {
            let (icon, style) = self.state.mark(self.elapsed, theme);
            (icon, style, format!("  {}", self.state.badge()))
        };
        let hint = self.hint();
        let width = usize::from(width);
        let room = |hint: &str| {
            let used = visible_text::width(&format!(" {icon} {badge} · {hint} "));
            width.saturating_sub(used)
        };
        let first = hint.split(" · ").next().unwrap_or_default();
        let has_room = room(&hint) >= visible_text::width(self.command).min(MIN_NAME_COLUMNS);
        let hint = if has_room { &hint } else { first };
        let room = room(hint);
        if room == 0 {
            return Line::styled(visible_text::shortened(hint, width), theme.dim);
        }
        Line::from_iter([
            Span::styled(format!(" {icon} "), style),
            Span::styled(visible_text::shortened(self.command, room), theme.title),
            Span::styled(badge, style),
            Span::styled(format!(" · {hint}"), theme.dim),
        ])
    }

    /// `⠋ Console vim notes.txt running`.
    fn header(&self, width: u16, theme: &Theme) -> Line<'static> {
        let (icon, style) = self.state.mark(self.elapsed, theme);
        let badge = self.state.badge();
        // Corners, a dash and a space on each side, and the spaces between the words.
        let used =
            6 + visible_text::width(icon) + 1 + "Console ".len() + 2 + visible_text::width(&badge);
        let room = usize::from(width).saturating_sub(used);
        let command = visible_text::shortened(self.command, room);
        let mut spans = vec![
            Span::raw("─ "),
            Span::styled(icon, style),
            Span::styled(" Console ", theme.dim),
            Span::styled(command, theme.title),
            Span::raw("  "),
            Span::styled(badge, style),
            Span::raw(" "),
        ];
        if room == 0 {
            spans.truncate(3);
        }
        Line::from(spans)
    }

    /// The keys of the overlay, which are not sent to the command.
    fn hint(&self) -> String {
        if !self.state.is_live() {
            "session finished".to_owned()
        } else if self.scrolled > 0 {
            format!("{} lines back · shift+pgdn to return", self.scrolled)
        } else if self.is_full_screen || self.screen.modes.alternate_screen {
            "ctrl+] force-kill · esc and input forwarded to PTY".to_owned()
        } else {
            "esc force-kill · input forwarded to PTY".to_owned()
        }
    }

    fn footer(&self, width: u16, theme: &Theme) -> Line<'static> {
        let text = visible_text::shortened(&self.hint(), usize::from(width).saturating_sub(6));
        Line::from_iter([
            Span::raw("─ "),
            Span::styled(text, theme.dim),
            Span::raw(" "),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last_line(command: &str, state: &OverlayState, width: u16) -> String {
        let screen = Screen {
            cols: 0,
            rows: 0,
            cells: Vec::new(),
            cursor: agent_bash_core::Cursor::default(),
            title: String::new(),
            modes: agent_bash_core::ScreenModes::default(),
            scrollback: 0,
        };
        let overlay = Overlay {
            command,
            state,
            elapsed: Duration::ZERO,
            screen: &screen,
            scrolled: 0,
            is_full_screen: true,
        };
        overlay.last_line(width, &Theme::plain()).to_string()
    }

    #[test]
    fn name_of_a_full_screen_program_follows_the_first_hints() {
        let vim = "vim -u NONE src/main.rs";
        for (command, state, width, want) in [
            (
                vim,
                OverlayState::Running,
                90,
                " ▸ vim -u NONE src/main.rs · ctrl+] force-kill · esc and input forwarded to PTY",
            ),
            (
                vim,
                OverlayState::WaitingForInput,
                72,
                " ▸ vim -u NONE src/main.rs · ctrl+] force-kill",
            ),
            (
                vim,
                OverlayState::WaitingForSecret,
                72,
                " * vim -u NONE src/main.rs  waiting for a secret · ctrl+] force-kill",
            ),
            (
                vim,
                OverlayState::Running,
                40,
                " ▸ vim -u NONE src… · ctrl+] force-kill",
            ),
            (vim, OverlayState::Running, 17, "ctrl+] force-kill"),
        ] {
            assert_eq!(last_line(command, &state, width), want);
        }
    }
}
