//! The spinner, the icon of a state, and short durations, for several views.

use crate::text::duration;
use crate::{CardState, Theme};
use agent_bash_core::Status;
use ratatui::style::Style;
use std::time::Duration;

/// How long each frame of the spinner is shown.
pub const SPINNER_STEP: Duration = Duration::from_millis(100);

const SPINNER_FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// A duration in at most six columns: `12ms`, `1.4s`, `12s`, `1m 05s`, `26h`.
pub(crate) fn short_duration(duration: Duration) -> String {
    match duration.as_secs() {
        0 if duration.as_millis() < 1000 => format!("{}ms", duration.as_millis()),
        seconds if seconds < 3600 => duration::duration(duration),
        seconds => format!("{}h", seconds / 3600),
    }
}

/// An age in its largest unit: `5s`, `5m`, `3h`, `12d`, `2y`.
pub(crate) fn age_text(age: Duration) -> String {
    const MINUTE_SECS: u64 = 60;
    const HOUR_SECS: u64 = 60 * MINUTE_SECS;
    const DAY_SECS: u64 = 24 * HOUR_SECS;
    const YEAR_SECS: u64 = 365 * DAY_SECS;
    let (unit, letter) = match age.as_secs() {
        seconds if seconds < MINUTE_SECS => (1, 's'),
        seconds if seconds < HOUR_SECS => (MINUTE_SECS, 'm'),
        seconds if seconds < DAY_SECS => (HOUR_SECS, 'h'),
        seconds if seconds < YEAR_SECS => (DAY_SECS, 'd'),
        _ => (YEAR_SECS, 'y'),
    };
    format!("{}{letter}", age.as_secs() / unit)
}

/// A time limit in the form of a duration, but exact: `1.25s`.
pub(crate) fn limit_text(duration: Duration) -> String {
    if duration.as_secs() >= 60 {
        return duration::duration(duration);
    }
    let text = format!("{:.3}", duration.as_secs_f64());
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text}s")
}

/// The spinner's frame after `elapsed`.
pub(crate) fn spinner(elapsed: Duration) -> &'static str {
    let step = elapsed.as_millis() / SPINNER_STEP.as_millis();
    SPINNER_FRAMES[(step % SPINNER_FRAMES.len() as u128) as usize]
}

/// Icon and style of a state. Outcomes that matter to the user have different icons.
pub fn mark(state: &CardState, elapsed: Duration, theme: &Theme) -> (&'static str, Style) {
    let status = match state {
        CardState::Running => return (spinner(elapsed), theme.running),
        CardState::WaitingForInput | CardState::WaitingForAnswer => return ("?", theme.warning),
        CardState::Earlier => return ("·", theme.dim),
        CardState::Ended(status) => status,
    };
    let style = match status {
        Status::Exited { code: 0 } => theme.ok,
        Status::TimedOut { .. } | Status::Cancelled | Status::Blocked { .. } => theme.warning,
        Status::MovedToBackground { .. } => theme.accent,
        _ => theme.error,
    };
    (icon(status), style)
}

/// The icon of an outcome. Outcomes that matter to the user have different icons.
pub fn icon(status: &Status) -> &'static str {
    match status {
        Status::Exited { code: 0 } => "✓",
        Status::Exited { .. } => "✗",
        Status::Signaled { .. } => "†",
        Status::TimedOut { .. } => "◷",
        Status::Cancelled => "■",
        Status::MovedToBackground { .. } => "↗",
        Status::Blocked { .. } => "⊘",
        Status::NotStarted { .. } => "!",
        // `Lost`, or a status that a later version adds.
        _ => "‽",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_is_exact() {
        assert_eq!(limit_text(Duration::from_secs(300)), "5m 00s");
        assert_eq!(limit_text(Duration::from_secs(30)), "30s");
        assert_eq!(limit_text(Duration::from_millis(1250)), "1.25s");
    }
}
