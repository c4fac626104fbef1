//! A duration as text.

use std::time::Duration;

/// Formats a duration: `42ms`, `3.4s`, `12s`, `1m 05s`, `2h 03m`. The text takes at most seven
/// columns up to a hundred hours. Tenths are rounded, not cut, so that the card and the result's
/// text show the same duration.
pub fn duration(duration: Duration) -> String {
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

/// Converts the milliseconds of a result to a duration. Returns zero if the number is not a valid
/// duration.
pub fn from_millis(ms: f64) -> Duration {
    Duration::try_from_secs_f64(ms / 1000.0).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_short() {
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
            assert_eq!(duration(Duration::from_millis(millis)), want);
        }
        let longest = duration(Duration::from_secs(99 * 3600 + 59 * 60));
        assert_eq!(longest, "99h 59m");
        for (ms, want) in [(1234.5, 1234), (-1.0, 0), (f64::NAN, 0)] {
            assert_eq!(from_millis(ms).as_millis(), want, "{ms}");
        }
    }
}
