//! How large a terminal is.

use std::ops::RangeInclusive;

/// Columns and rows of a terminal, always within [`PtySize::COLS`] and [`PtySize::ROWS`].
///
/// Programs draw nonsense on very small terminals and emulators cost memory by the cell on very large ones, so that
/// what is asked for is clamped, never refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PtySize {
    cols: u16,
    rows: u16,
}

impl PtySize {
    /// The columns a terminal may have.
    pub const COLS: RangeInclusive<u16> = 20..=400;
    /// The rows a terminal may have.
    pub const ROWS: RangeInclusive<u16> = 5..=200;

    /// The nearest size that is allowed.
    pub fn clamped(cols: u16, rows: u16) -> Self {
        Self {
            cols: cols.clamp(*Self::COLS.start(), *Self::COLS.end()),
            rows: rows.clamp(*Self::ROWS.start(), *Self::ROWS.end()),
        }
    }

    /// Columns.
    pub fn cols(self) -> u16 {
        self.cols
    }

    /// Rows.
    pub fn rows(self) -> u16 {
        self.rows
    }
}

impl Default for PtySize {
    /// 120 × 40: wide enough for compilers' messages, as high as most screens.
    fn default() -> Self {
        Self::clamped(120, 40)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_clamped_on_every_side() {
        for (asked, want) in [
            ((80, 24), (80, 24)),
            ((0, 0), (20, 5)),
            ((19, 5), (20, 5)),
            ((20, 4), (20, 5)),
            ((400, 200), (400, 200)),
            ((401, 201), (400, 200)),
            ((u16::MAX, u16::MAX), (400, 200)),
        ] {
            let size = PtySize::clamped(asked.0, asked.1);
            assert_eq!((size.cols(), size.rows()), want, "{asked:?}");
        }
        assert_eq!(PtySize::default(), PtySize::clamped(120, 40));
    }
}
