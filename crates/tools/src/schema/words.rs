//! Durations in words.

use std::time::Duration;

/// Returns a duration in words: `30 seconds`, `15 minutes`, `24 hours`. The unit is the largest
/// that gives a whole number greater than one.
pub(crate) fn words(duration: Duration) -> String {
    let seconds = duration.as_secs();
    for (unit, length) in [("hours", 3600), ("minutes", 60)] {
        if seconds >= 2 * length && seconds.is_multiple_of(length) {
            return format!("{} {unit}", seconds / length);
        }
    }
    let unit = if duration == Duration::from_secs(1) {
        "second"
    } else {
        "seconds"
    };
    format!("{} {unit}", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_in_words() {
        for (seconds, want) in [
            (1, "1 second"),
            (30, "30 seconds"),
            (90, "90 seconds"),
            (300, "5 minutes"),
            (3600, "60 minutes"),
            (86_400, "24 hours"),
        ] {
            assert_eq!(words(Duration::from_secs(seconds)), want);
        }
    }
}
