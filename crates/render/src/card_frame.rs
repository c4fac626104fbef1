//! The layout that cards share: some lines, then a window into the output, then some lines, each behind a rail.
//! Only the visible rows are built.

use crate::{OutputText, Theme};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// A card's contents, for one width.
pub(crate) struct CardFrame<'a> {
    pub(crate) head: Vec<Line<'static>>,
    pub(crate) body: Body<'a>,
    pub(crate) foot: Vec<Line<'static>>,
}

/// Its output.
pub(crate) enum Body<'a> {
    /// A few rows.
    Rows(Vec<Line<'static>>),
    /// All output that is kept, behind a rail.
    All {
        output: &'a OutputText,
        width: usize,
        rail: Span<'static>,
    },
}

impl CardFrame<'_> {
    pub(crate) fn height(&self) -> usize {
        self.head.len() + self.foot.len() + self.body.height()
    }

    /// The rows from `skip` on, at most `most`.
    pub(crate) fn rows(self, skip: usize, most: usize, theme: &Theme) -> Vec<Line<'static>> {
        let (head, body) = (self.head.len(), self.body.height());
        let mut rows: Vec<Line<'static>> = self.head.into_iter().skip(skip).take(most).collect();
        let left = most - rows.len();
        rows.extend(self.body.rows(skip.saturating_sub(head), left, theme));
        let left = most - rows.len();
        rows.extend(
            self.foot
                .into_iter()
                .skip(skip.saturating_sub(head + body))
                .take(left),
        );
        rows
    }
}

impl Body<'_> {
    fn height(&self) -> usize {
        match self {
            Self::Rows(rows) => rows.len(),
            Self::All { output, width, .. } => output.row_count(*width),
        }
    }

    fn rows(self, skip: usize, most: usize, theme: &Theme) -> Vec<Line<'static>> {
        match self {
            Self::Rows(rows) => rows.into_iter().skip(skip).take(most).collect(),
            Self::All {
                output,
                width,
                rail,
            } => railed(output.window(width, skip, most, theme).rows, &rail),
        }
    }
}

/// Puts a rail in front of each row.
pub(crate) fn railed(rows: Vec<Line<'static>>, rail: &Span<'static>) -> Vec<Line<'static>> {
    rows.into_iter()
        .map(|mut row| {
            row.spans.insert(0, rail.clone());
            row
        })
        .collect()
}

/// Words separated by dots, as in footers.
pub(crate) fn dotted(words: Vec<Span<'static>>, between: Style) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    for word in words {
        if !spans.is_empty() {
            spans.push(Span::styled(" · ", between));
        }
        spans.push(word);
    }
    spans
}
