//! How an outcome looks, and short forms of numbers, times and counts, wherever a finished call is shown as text.

use crate::{CardState, icon};
use agent_bash_core::changes::{Change, ChangeCounts};
use agent_bash_core::{Status, Timestamp};

/// How the end of a call looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// As on a card in the terminal.
    pub icon: &'static str,
    /// The words beside it.
    pub text: String,
    /// The class of its colour.
    pub class: &'static str,
}

/// How it looks that a call ended so.
pub fn outcome(status: &Status) -> Outcome {
    let class = match status {
        Status::Exited { code: 0 } | Status::MovedToBackground { .. } => "ok",
        Status::TimedOut { .. } | Status::Cancelled | Status::Blocked { .. } => "warn",
        _ => "bad",
    };
    Outcome {
        icon: icon(status),
        text: CardState::Ended(status.clone()).badge(),
        class,
    }
}

/// `12 ms`, `3.4 s`, `2 m 05 s`, `1 h 02 m`.
pub fn duration(ms: f64) -> String {
    if ms < 999.5 {
        return format!("{ms:.0} ms");
    }
    if ms < 59_950.0 {
        return format!("{:.1} s", ms / 1000.0);
    }
    let seconds = whole(ms / 1000.0);
    match seconds {
        0..3600 => format!("{} m {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} m", seconds / 3600, seconds / 60 % 60),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float that is too large becomes the largest number, a negative one 0"
)]
fn whole(number: f64) -> u64 {
    number.round() as u64
}

/// The time of day in UTC, `12:03:04`.
pub fn clock(time: Timestamp) -> String {
    time.to_string().get(11..19).unwrap_or_default().to_owned()
}

/// `2026-11-22 12:03:04 UTC`
pub fn date(time: Timestamp) -> String {
    let text = time.to_string();
    let day = text.get(..10).unwrap_or_default();
    format!("{day} {} UTC", clock(time))
}

/// The sign of what was done to a file.
pub fn sign(change: Change) -> &'static str {
    match change {
        Change::Created => "+",
        Change::Changed => "~",
        Change::Deleted => "−",
        Change::Renamed => "→",
        // Modes, and whatever a later version adds.
        _ => "m",
    }
}

/// How many of each kind there are, of those that there are any of.
pub fn counted(counts: &ChangeCounts) -> impl Iterator<Item = (Change, u64)> {
    let all = [
        (Change::Created, counts.created),
        (Change::Changed, counts.changed),
        (Change::Deleted, counts.deleted),
        (Change::Renamed, counts.renamed),
        (Change::Mode, counts.mode),
    ];
    all.into_iter().filter(|(_, number)| *number > 0)
}

/// `+2 ~1 −1 →1 m1`; empty if nothing was done.
pub fn delta(counts: &ChangeCounts) -> String {
    let parts: Vec<String> = counted(counts)
        .map(|(change, number)| format!("{}{number}", sign(change)))
        .collect();
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_short() {
        for (ms, want) in [
            (0.0, "0 ms"),
            (4.3, "4 ms"),
            (999.4, "999 ms"),
            (999.6, "1.0 s"),
            (59_940.0, "59.9 s"),
            (59_960.0, "1 m 00 s"),
            (125_000.0, "2 m 05 s"),
            (3_725_000.0, "1 h 02 m"),
        ] {
            assert_eq!(duration(ms), want);
        }
    }

    #[test]
    fn times_are_utc() {
        let time = Timestamp(1_700_000_000_123);
        assert_eq!(
            (clock(time).as_str(), date(time).as_str()),
            ("22:13:20", "2023-11-14 22:13:20 UTC")
        );
    }

    #[test]
    fn only_what_happened_is_counted() {
        let counts = ChangeCounts {
            created: 2,
            changed: 1,
            mode: 3,
            deleted: 1,
            renamed: 0,
        };
        assert_eq!(delta(&counts), "+2 ~1 −1 m3");
        assert_eq!(delta(&ChangeCounts::default()), "");
    }
}
