//! Terminal sizes.

use std::ops::RangeInclusive;

/// Columns and rows of a terminal, always within [`PtySize::ALLOWED_COLS`] and
/// [`PtySize::ALLOWED_ROWS`].
///
/// Programs draw garbage on very small terminals, and emulators need memory for each cell, so
/// requested sizes are clamped, never refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PtySize {
    cols: u16,
    rows: u16,
}

impl PtySize {
    /// Allowed numbers of columns.
    pub const ALLOWED_COLS: RangeInclusive<u16> = 20..=400;
    /// Allowed numbers of rows.
    pub const ALLOWED_ROWS: RangeInclusive<u16> = 5..=200;

    /// Returns the nearest allowed size.
    pub fn clamped(cols: u16, rows: u16) -> Self {
        Self {
            cols: cols.clamp(*Self::ALLOWED_COLS.start(), *Self::ALLOWED_COLS.end()),
            rows: rows.clamp(*Self::ALLOWED_ROWS.start(), *Self::ALLOWED_ROWS.end()),
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
    /// Returns 120 × 40: wide enough for compiler messages, as high as most screens.
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
