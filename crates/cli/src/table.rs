//! Tables for people, and relative times.

use agent_bash::core::Timestamp;
use agent_bash_render::shortened;
use std::fmt::Write as _;

/// Minimum width of the last column, in characters. If less room is left, [`fitted`] omits other
/// columns.
const MIN_LAST_COLUMN: usize = 16;

/// Preferred width of the last column, in characters. If less room is left, [`fitted`] shortens
/// cells of other columns.
const PREFERRED_LAST_COLUMN: usize = 40;

/// Returns rows in columns under headings; the last column is not padded.
pub(crate) fn table<const N: usize>(headings: [&str; N], rows: &[[String; N]]) -> String {
    fitted(headings, rows, None, NarrowColumns::default())
}

/// How columns shrink on a narrow terminal.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NarrowColumns<'a> {
    /// Columns whose cells are shortened first, each with its minimum width.
    pub(crate) cut: &'a [(usize, usize)],
    /// Columns that are then omitted, in this order.
    pub(crate) omitted: &'a [usize],
}

/// Returns the table for a terminal of this width; `None`: not for a terminal. If the terminal is
/// narrow, other columns are shortened or omitted, and the last column is cut.
pub(crate) fn fitted<const N: usize>(
    headings: [&str; N],
    rows: &[[String; N]],
    terminal_width: Option<usize>,
    narrow: NarrowColumns<'_>,
) -> String {
    let headings = headings.map(str::to_owned);
    let all_rows = || std::iter::once(&headings).chain(rows);
    let mut widths: [usize; N] = std::array::from_fn(|column| {
        let cells = all_rows().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    });
    let full_widths = widths;
    let mut omitted: &[usize] = &[];
    if let Some(terminal_width) = terminal_width {
        // The width that the other columns leave for the last one.
        let room = |widths: &[usize; N], omitted: &[usize]| {
            let shown = (0..N - 1).filter(|column| !omitted.contains(column));
            let used: usize = shown.map(|column| widths[column] + 2).sum();
            terminal_width.saturating_sub(used)
        };
        let last = widths[N - 1];
        for (column, min_width) in narrow.cut {
            let missing = PREFERRED_LAST_COLUMN
                .min(last)
                .saturating_sub(room(&widths, omitted));
            let excess = widths[*column].saturating_sub(*min_width);
            widths[*column] -= excess.min(missing);
        }
        while room(&widths, omitted) < MIN_LAST_COLUMN.min(last)
            && omitted.len() < narrow.omitted.len()
        {
            omitted = &narrow.omitted[..=omitted.len()];
        }
        widths[N - 1] = room(&widths, omitted);
    }
    let mut text = String::new();
    for row in all_rows() {
        let row: [String; N] = std::array::from_fn(|column| {
            if widths[column] < full_widths[column] {
                shortened(&row[column], widths[column])
            } else {
                row[column].clone()
            }
        });
        let mut line = String::new();
        let cells = row.iter().zip(widths).enumerate();
        for (_, (cell, width)) in cells.filter(|(column, _)| !omitted.contains(column)) {
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

/// Returns `just now`, `5 min ago`, `3 h ago`, `2 days ago`; the absolute time if it is in the
/// future.
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
    fn table_aligns_columns_by_their_widest_cell() {
        let rows = [["1", "é"], ["22", "two words"]].map(|row| row.map(str::to_owned));
        assert_eq!(table(["ID", "X"], &rows), "ID  X\n1   é\n22  two words\n");
    }

    #[test]
    fn narrow_table_omits_the_configured_columns() {
        let rows = [
            ["1", "12:39:21", "cargo test --workspace --all"],
            ["2", "12:39:22", "ls"],
        ];
        let rows = rows.map(|row| row.map(str::to_owned));
        let fitted = |columns| {
            fitted(
                ["CALL", "AT", "COMMAND"],
                &rows,
                columns,
                NarrowColumns {
                    cut: &[],
                    omitted: &[1],
                },
            )
        };
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
    fn narrow_table_cuts_wide_cells_first() {
        let long = "+4 ~1, 26 in .git undone, later ~1";
        let rows = [
            [
                "✓ exit 0",
                long,
                "cargo test --workspace --all-targets --quiet",
            ],
            ["✗ exit 1, outside the sandbox", "", "ls"],
        ];
        let rows = rows.map(|row| row.map(str::to_owned));
        let fitted = |columns| {
            let narrow = NarrowColumns {
                cut: &[(1, 16), (0, 12)],
                omitted: &[],
            };
            fitted(["OUTCOME", "FILES", "COMMAND"], &rows, columns, narrow)
        };
        let whole = fitted(None);
        assert_eq!(fitted(Some(200)), whole);
        let lines = |text: String| -> Vec<String> { text.lines().map(str::to_owned).collect() };
        let narrower = lines(fitted(Some(90)));
        assert_eq!(
            narrower[1],
            "✓ exit 0                       +4 ~1, 26 in .gi…  cargo test --workspace --all-targets --…",
            "{narrower:?}"
        );
        for line in lines(fitted(Some(60))) {
            assert!(line.chars().count() <= 60, "{line}");
        }
    }

    #[test]
    fn ago_uses_the_largest_whole_unit() {
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
