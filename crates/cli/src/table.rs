//! Tables for people, and relative times.

use agent_bash::core::Timestamp;
use agent_bash_render::shortened;
use std::fmt::Write as _;

/// The last column has at least so many columns of a terminal; before that, others are left out.
const LEAST: usize = 16;

/// Rows in columns under headings; the last column is not padded.
pub(crate) fn table<const N: usize>(headings: [&str; N], rows: &[[String; N]]) -> String {
    fitted(headings, rows, None, &[])
}

/// The same for a terminal of so many columns, if it is for one: where there is little room, the columns in `spare` are left
/// out one after the other, and the cells of the last column are shortened.
pub(crate) fn fitted<const N: usize>(
    headings: [&str; N],
    rows: &[[String; N]],
    columns: Option<usize>,
    spare: &[usize],
) -> String {
    let headings = headings.map(str::to_owned);
    let all = || std::iter::once(&headings).chain(rows);
    let widths: [usize; N] =
        std::array::from_fn(|at| all().map(|row| row[at].chars().count()).max().unwrap_or(0));
    let mut out: &[usize] = &[];
    let taken = |out: &[usize]| -> usize {
        let shown = (0..N - 1).filter(|at| !out.contains(at));
        shown.map(|at| widths[at] + 2).sum()
    };
    let last = columns.map(|columns| {
        let room = |out| columns.saturating_sub(taken(out));
        while room(out) < LEAST.min(widths[N - 1]) && out.len() < spare.len() {
            out = &spare[..=out.len()];
        }
        room(out)
    });
    let mut text = String::new();
    for row in all() {
        let mut row = row.clone();
        if let Some(room) = last {
            row[N - 1] = shortened(&row[N - 1], room);
        }
        let mut line = String::new();
        let cells = row.iter().zip(widths).enumerate();
        for (_, (cell, width)) in cells.filter(|(at, _)| !out.contains(at)) {
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
    fn on_a_terminal_rows_fit_and_what_matters_least_goes_first() {
        let rows = [
            ["1", "12:39:21", "cargo test --workspace --all"],
            ["2", "12:39:22", "ls"],
        ];
        let rows = rows.map(|row| row.map(str::to_owned));
        let fitted = |columns| fitted(["CALL", "AT", "COMMAND"], &rows, columns, &[1]);
        let wide = "CALL  AT        COMMAND\n1     12:39:21  cargo test --workspace --all\n2     12:39:22  ls\n";
        assert_eq!((&*fitted(None), &*fitted(Some(80))), (wide, wide));
        assert_eq!(
            fitted(Some(36)),
            "CALL  AT        COMMAND\n1     12:39:21  cargo test --worksp…\n2     12:39:22  ls\n"
        );
        assert_eq!(
            fitted(Some(24)),
            "CALL  COMMAND\n1     cargo test --work…\n2     ls\n"
        );
        assert_eq!(fitted(Some(1)), "CALL\n1\n2\n");
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
