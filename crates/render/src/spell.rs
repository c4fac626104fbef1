//! Shared by several views: durations, the spinner, and the icon of a state.

use crate::{CardState, Theme};
use agent_bash_core::Status;
use ratatui::style::Style;
use std::time::Duration;

/// How long each frame of the spinner is shown.
pub const SPINNER_STEP: Duration = Duration::from_millis(100);

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// `42ms`, `3.4s`, `12s`, `1m 05s`, `2h 03m`. Tenths are rounded, as they are in texts about the same command.
pub(crate) fn elapsed(duration: Duration) -> String {
    let seconds = duration.as_secs();
    if seconds == 0 {
        return format!("{}ms", duration.as_millis());
    }
    let tenths = (duration.as_millis() + 50) / 100;
    if tenths < 100 {
        return format!("{}.{}s", tenths / 10, tenths % 10);
    }
    let seconds = seconds.max(10);
    if seconds < 60 {
        return format!("{seconds}s");
    }
    if seconds < 3600 {
        return format!("{}m {:02}s", seconds / 60, seconds % 60);
    }
    format!("{}h {:02}m", seconds / 3600, seconds % 3600 / 60)
}

/// In at most six columns: `12ms`, `0.4s`, `12s`, `1m 05s`, `26h`.
pub(crate) fn brief(duration: Duration) -> String {
    match duration.as_secs() {
        0 if duration.as_millis() < 1000 => format!("{}ms", duration.as_millis()),
        seconds if seconds < 3600 => elapsed(duration),
        seconds => format!("{}h", seconds / 3600),
    }
}

/// `5s`, `5m`, `3h`, `12d`, `2y`.
pub(crate) fn age(age: Duration) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    const YEAR: u64 = 365 * DAY;
    let (unit, letter) = match age.as_secs() {
        seconds if seconds < MINUTE => (1, 's'),
        seconds if seconds < HOUR => (MINUTE, 'm'),
        seconds if seconds < DAY => (HOUR, 'h'),
        seconds if seconds < YEAR => (DAY, 'd'),
        _ => (YEAR, 'y'),
    };
    format!("{}{letter}", age.as_secs() / unit)
}

/// `300s`, `1.5s`.
pub(crate) fn seconds(duration: Duration) -> String {
    let text = format!("{:.3}", duration.as_secs_f64());
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text}s")
}

/// The spinner's frame after `elapsed`.
pub(crate) fn spinner(elapsed: Duration) -> &'static str {
    let step = elapsed.as_millis() / SPINNER_STEP.as_millis();
    SPINNER[(step % SPINNER.len() as u128) as usize]
}

/// Icon and style of a state. Outcomes that matter to the user have different icons.
pub fn mark(state: &CardState, elapsed: Duration, theme: &Theme) -> (&'static str, Style) {
    let status = match state {
        CardState::Running => return (spinner(elapsed), theme.running),
        CardState::WaitingForInput => return ("?", theme.warning),
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

/// The icon of an outcome. Those that matter to the user have different ones.
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
        // Lost, and whatever a later version adds.
        _ => "‽",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        for (millis, want) in [
            (0, "0ms"),
            (420, "420ms"),
            (999, "999ms"),
            (1_000, "1.0s"),
            (3_151, "3.2s"),
            (9_949, "9.9s"),
            (9_950, "10s"),
            (12_300, "12s"),
            (65_000, "1m 05s"),
            (7_380_000, "2h 03m"),
        ] {
            assert_eq!(elapsed(Duration::from_millis(millis)), want);
        }
        assert_eq!(seconds(Duration::from_secs(300)), "300s");
        assert_eq!(seconds(Duration::from_millis(1500)), "1.5s");
    }
}
