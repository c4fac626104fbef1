//! Tables for people, and relative times.

use agent_bash::core::Timestamp;
use std::fmt::Write as _;

/// Rows in columns under headings; the last column is not padded.
pub(crate) fn table<const N: usize>(headings: [&str; N], rows: &[[String; N]]) -> String {
    let headings = headings.map(str::to_owned);
    let all = || std::iter::once(&headings).chain(rows);
    let widths: [usize; N] =
        std::array::from_fn(|at| all().map(|row| row[at].chars().count()).max().unwrap_or(0));
    let mut text = String::new();
    for row in all() {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            if !line.is_empty() {
                line.push_str("  ");
            }
            // Writing to a String cannot fail.
            let _ = write!(line, "{cell:<width$}");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// `just now`, `5 min ago`, `3 h ago`, `2 days ago`; the absolute time if it is in the future.
pub(crate) fn ago(then: Timestamp, now: Timestamp) -> String {
    const UNITS: [(u64, &str); 4] = [(86_400, "days"), (3600, "h"), (60, "min"), (1, "s")];
    let Some(millis) = now.0.checked_sub(then.0) else {
        return then.to_string();
    };
    let seconds = millis / 1000;
    match UNITS.into_iter().find(|(length, _)| seconds >= *length) {
        None => "just now".to_owned(),
        Some((86_400, _)) if seconds < 2 * 86_400 => "1 day ago".to_owned(),
        Some((length, unit)) => format!("{} {unit} ago", seconds / length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["1", "é"], ["22", "two words"]].map(|row| row.map(str::to_owned));
        assert_eq!(table(["ID", "X"], &rows), "ID  X\n1   é\n22  two words\n");
    }

    #[test]
    fn times_are_relative() {
        let now = Timestamp(1_000_000_000);
        for (seconds, want) in [
            (0, "just now"),
            (59, "59 s ago"),
            (60, "1 min ago"),
            (7199, "1 h ago"),
            (86_400, "1 day ago"),
            (180_000, "2 days ago"),
        ] {
            assert_eq!(ago(Timestamp(now.0 - seconds * 1000), now), want);
        }
        assert_eq!(
            ago(Timestamp(now.0 + 1), now),
            Timestamp(now.0 + 1).to_string()
        );
    }
}
