//! The layout that cards share: some lines, then a window into the output, then some lines, each
//! behind a rail. Builds only the visible rows.

use crate::text::visible_text::shortened;
use crate::{CardState, OutputRows, OutputText, Theme, call_summary};
use agent_bash_core::plural;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::time::Duration;

/// Columns of the longest duration.
const DURATION_COLUMNS: usize = 7;

/// A card's contents, for one width.
pub(crate) struct CardFrame<'a> {
    pub(crate) head: Vec<Line<'static>>,
    pub(crate) body: CardBody<'a>,
    pub(crate) foot: Vec<Line<'static>>,
}

/// The output of a card.
pub(crate) enum CardBody<'a> {
    /// A few rows.
    Rows(Vec<Line<'static>>),
    /// All stored output, behind a rail.
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
        let remaining = most - rows.len();
        rows.extend(self.body.rows(skip.saturating_sub(head), remaining, theme));
        let remaining = most - rows.len();
        rows.extend(
            self.foot
                .into_iter()
                .skip(skip.saturating_sub(head + body))
                .take(remaining),
        );
        rows
    }
}

impl CardBody<'_> {
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

/// If at most this many rows would be hidden, they are shown: the line that counts hidden rows
/// takes as much room.
const MIN_HIDDEN_ROWS: u64 = 2;

/// Number of rows to show of `all` if there is room for `most`.
pub(crate) fn shown_of(all: usize, most: usize) -> usize {
    if all <= most + MIN_HIDDEN_ROWS as usize {
        all
    } else {
        most
    }
}

/// The last rows of an output: at most `most` rows of the last `lines` lines, or all if only a few
/// more exist.
pub(crate) fn last_rows(
    output: &OutputText,
    width: usize,
    [most, lines]: [usize; 2],
    theme: &Theme,
) -> OutputRows {
    let tail = output.tail(width, most, lines, theme);
    if tail.earlier == 0 || tail.earlier > MIN_HIDDEN_ROWS || output.dropped_lines() > 0 {
        return tail;
    }
    let few = tail.earlier as usize;
    output.tail(width, most + few, lines.saturating_add(few), theme)
}

/// The line on a collapsed card about the hidden rows above, and the number of rows after expanding
/// the card.
pub(crate) fn rows_above(tail: &OutputRows, output: &OutputText) -> String {
    let above = tail.earlier;
    let expanded = above + tail.rows.len() as u64 - output.dropped_lines();
    let all = if output.is_beginning_cut() {
        "the last"
    } else {
        "all"
    };
    format!("… {above} rows above · ctrl+o expands {all} {expanded}")
}

pub(crate) struct FooterPart {
    /// Parts with the highest rank are dropped first if there is little room; rank 0 stays.
    pub(crate) rank: u8,
    pub(crate) spans: Vec<Span<'static>>,
}

impl FooterPart {
    pub(crate) fn new(rank: u8, span: Span<'static>) -> Self {
        let spans = vec![span];
        Self { rank, spans }
    }
}

/// Outcome and duration, in fixed columns: they are aligned on all cards.
pub(crate) fn outcome_part(
    badge: &str,
    style: Style,
    elapsed: Duration,
    theme: &Theme,
) -> FooterPart {
    const OUTCOME_COLUMNS: usize = CardState::BADGE_COLUMNS;
    let elapsed = format!("{:>DURATION_COLUMNS$}", call_summary::duration(elapsed));
    let spans = vec![
        Span::styled(format!("{badge:<OUTCOME_COLUMNS$}"), style),
        Span::styled(elapsed, theme.dim),
    ];
    FooterPart { rank: 0, spans }
}

/// The number of rows that a folded card hides.
pub(crate) fn folded_part(output: &OutputText, columns: usize, theme: &Theme) -> FooterPart {
    let rows = plural(output.row_count(columns) as u64, "row");
    let text = format!("{rows} folded");
    FooterPart::new(2, Span::styled(text, theme.dim))
}

/// The parts that fit, separated by dots. The remaining parts are shortened if necessary.
pub(crate) fn parts_that_fit(
    mut parts: Vec<FooterPart>,
    columns: usize,
    between: Style,
) -> Vec<Span<'static>> {
    loop {
        let spans = dotted(&parts, between);
        let last = parts.iter().map(|part| part.rank).max().unwrap_or(0);
        if last == 0 || spans.iter().map(Span::width).sum::<usize>() <= columns {
            return shortened_to_fit(spans, columns);
        }
        parts.retain(|part| part.rank != last);
    }
}

fn dotted(parts: &[FooterPart], between: Style) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    for part in parts {
        if !spans.is_empty() {
            spans.push(Span::styled(" · ", between));
        }
        spans.extend(part.spans.iter().cloned());
    }
    spans
}

/// Returns as many spans as fit, the last one shortened.
fn shortened_to_fit(spans: Vec<Span<'static>>, columns: usize) -> Vec<Span<'static>> {
    let mut remaining = columns;
    let mut out = Vec::new();
    for span in spans {
        let width = span.width();
        if width > remaining {
            out.push(Span::styled(
                shortened(&span.content, remaining),
                span.style,
            ));
            break;
        }
        remaining -= width;
        out.push(span);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OutputLimits;

    #[test]
    fn few_rows_are_shown_rather_than_counted() {
        for (lines, shown) in [(10, 10), (11, 11), (12, 12), (13, 10), (500, 10)] {
            let text = "x\n".repeat(lines);
            let output = OutputText::of(OutputLimits::CARD, &text);
            let tail = last_rows(&output, 20, [10, usize::MAX], &Theme::plain());
            assert_eq!(tail.rows.len(), shown, "{lines}");
            assert_eq!(tail.earlier, (lines - shown) as u64);
        }
        // A wrapped line, too.
        let output = OutputText::of(OutputLimits::CARD, &"x".repeat(20 * 12));
        let tail = last_rows(&output, 20, [10, usize::MAX], &Theme::plain());
        assert_eq!((tail.rows.len(), tail.earlier), (12, 0));
    }
}
