//! Determines the time limit of a call: the requested limit, clamped to the profile's bounds.

use agent_bash_core::{Mode, Notice, NoticeKind, Timeouts};
use std::time::Duration;

/// Returns the time limit of a call in `mode`, and a notice if another limit was requested.
pub(crate) fn clamp(
    timeouts: &Timeouts,
    mode: Mode,
    requested: Option<Duration>,
) -> (Duration, Option<Notice>) {
    let Some(requested) = requested else {
        let limit = match mode {
            Mode::Default => timeouts.default,
            Mode::Slow => timeouts.slow,
            Mode::Background => timeouts.background,
        };
        return (limit, None);
    };
    let max = match mode {
        Mode::Default | Mode::Slow => timeouts.max,
        Mode::Background => timeouts.background,
    };
    let used = requested.clamp(timeouts.min.min(max), max);
    let notice = (used != requested).then(|| {
        NoticeKind::TimeoutClamped {
            asked_ms: millis(requested),
            used_ms: millis(used),
        }
        .into()
    });
    (used, notice)
}

/// Returns the duration in milliseconds, saturating at `u64::MAX`.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profiles::{MODES, PAGED, STANDARD, WORKSPACE};

    fn limit(timeouts: &Timeouts, mode: Option<Mode>, asked_ms: Option<u64>) -> (u64, bool) {
        let requested = asked_ms.map(Duration::from_millis);
        let (used, notice) = clamp(timeouts, mode.unwrap_or_default(), requested);
        (millis(used), notice.is_some())
    }

    #[test]
    fn call_without_timeout_gets_the_limit_of_its_mode() {
        const DAY_MS: u64 = 86_400_000;
        for (profile, default, slow) in [
            (&STANDARD, 300_000, 900_000),
            (&MODES, 30_000, 900_000),
            (&PAGED, 120_000, 600_000),
            (&WORKSPACE, 30_000, 900_000),
        ] {
            let times = &profile.timeouts;
            assert_eq!(limit(times, None, None), (default, false));
            assert_eq!(limit(times, Some(Mode::Default), None), (default, false));
            assert_eq!(limit(times, Some(Mode::Slow), None), (slow, false));
            assert_eq!(limit(times, Some(Mode::Background), None), (DAY_MS, false));
        }
    }

    #[test]
    fn standard_clamps_to_a_second_and_an_hour_with_a_notice() {
        let times = &STANDARD.timeouts;
        for (requested, want) in [
            (0, (1000, true)),
            (999, (1000, true)),
            (1000, (1000, false)),
            (3_600_000, (3_600_000, false)),
            (3_600_001, (3_600_000, true)),
            (u64::MAX, (3_600_000, true)),
        ] {
            assert_eq!(limit(times, None, Some(requested)), want, "{requested}");
        }
        let job = limit(times, Some(Mode::Background), Some(7_200_000));
        assert_eq!(
            job,
            (7_200_000, false),
            "a job's limit is its own, not the hour"
        );
    }

    #[test]
    fn paged_allows_ten_minutes() {
        assert_eq!(limit(&PAGED.timeouts, None, Some(601_000)), (600_000, true));
    }
}
