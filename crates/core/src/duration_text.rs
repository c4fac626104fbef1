//! Parses and formats durations.

use std::time::Duration;

/// The reason why a text is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DurationError {
    /// Neither a number of seconds nor a number with a unit.
    #[error(
        "`{0}` is not a duration; write seconds (`90`), or a number with a unit: `1500ms`, `90s`, `2m`, `1h`"
    )]
    Unreadable(String),
    /// A negative number.
    #[error("`{0}` is negative; a duration is zero or more seconds")]
    Negative(String),
}

/// The accepted units and their length in seconds.
const UNITS: [(&str, f64); 4] = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];

/// Parses `90`, `1.5`, `1500ms`, `90s`, `2m`, `1h`. A number without a unit means seconds.
///
/// Values too large for a `Duration` become [`Duration::MAX`], so that they are clamped by the
/// caller instead of overflowing.
///
/// # Errors
/// [`DurationError`] quotes the text and lists the accepted forms.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let trimmed = text.trim();
    let unit = UNITS.iter().find_map(|(unit, length)| {
        trimmed
            .strip_suffix(unit)
            .map(|number| (number.trim_end(), *length))
    });
    let (number, length) = unit.unwrap_or((trimmed, 1.0));
    // `f64::from_str` also accepts "inf", "nan" and "infinity"; a duration must contain a digit.
    let value = match number.parse::<f64>() {
        Ok(value) if number.bytes().any(|b| b.is_ascii_digit()) => value,
        _ => return Err(DurationError::Unreadable(text.to_owned())),
    };
    seconds(value * length).ok_or_else(|| DurationError::Negative(text.to_owned()))
}

/// Converts seconds; returns `None` for a negative number or NaN. Larger values become the maximum.
pub(crate) fn seconds(value: f64) -> Option<Duration> {
    if value.is_nan() || value < 0.0 {
        return None;
    }
    Some(Duration::try_from_secs_f64(value).unwrap_or(Duration::MAX))
}

/// Returns the shortest exact form: `30s`, `90s`, `2m`, `15m`, `1500ms`. From two minutes on, whole
/// minutes are shown in minutes.
pub fn short_duration(duration: Duration) -> String {
    let (secs, millis) = (duration.as_secs(), duration.subsec_millis());
    if millis != 0 {
        return format!("{}ms", duration.as_millis());
    }
    if secs >= 120 && secs.is_multiple_of(60) {
        return format!("{}m", secs / 60);
    }
    format!("{secs}s")
}

/// Returns how a command ended whose time limit passed: `timed out after 30s`. The tools that
/// models know have texts of their own.
pub fn timed_out_text(after: Duration) -> String {
    format!("timed out after {}", short_duration(after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_duration_accepts_seconds_and_units() {
        for (text, millis) in [
            ("90", 90_000),
            ("90s", 90_000),
            ("1500ms", 1500),
            ("2m", 120_000),
            ("1h", 3_600_000),
            (" 1.5 s ", 1500),
            ("0", 0),
            ("-0", 0),
        ] {
            assert_eq!(
                parse_duration(text),
                Ok(Duration::from_millis(millis)),
                "{text}"
            );
        }
        assert_eq!(parse_duration("1e300"), Ok(Duration::MAX));
    }

    #[test]
    fn parse_duration_quotes_the_refused_text() {
        for text in [
            "", "s", "nan", "inf", "ten", "5 weeks", "1,5", "NaNs", "0x10", "--5",
        ] {
            assert_eq!(
                parse_duration(text),
                Err(DurationError::Unreadable(text.into())),
                "{text}"
            );
        }
        for text in ["-1", "-5s", "-0.001ms"] {
            assert_eq!(
                parse_duration(text),
                Err(DurationError::Negative(text.into())),
                "{text}"
            );
        }
    }

    #[test]
    fn short_duration_returns_the_shortest_exact_form() {
        for (millis, want) in [
            (30_000, "30s"),
            (60_000, "60s"),
            (90_000, "90s"),
            (120_000, "2m"),
            (900_000, "15m"),
            (1500, "1500ms"),
            (86_400_000, "1440m"),
        ] {
            let duration = Duration::from_millis(millis);
            assert_eq!(short_duration(duration), want);
            assert_eq!(timed_out_text(duration), format!("timed out after {want}"));
        }
    }
}
