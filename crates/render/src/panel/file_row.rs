//! A changed file in a row: `+ src/new.rs`, `~ src/a.rs  120 → 131 bytes`. Control sequences in
//! names have no effect.

use crate::Theme;
use crate::call_summary::sign;
use agent_bash_core::changes::{Change, FileChange};
use agent_bash_core::visible::one_line;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// The style of the sign of a change.
pub(crate) fn style(change: Change, theme: &Theme) -> Style {
    match change {
        Change::Created => theme.ok,
        Change::Changed => theme.warning,
        Change::Deleted => theme.error,
        Change::Renamed => theme.accent,
        // A mode, or a change that a later version adds.
        _ => theme.dim,
    }
}

/// The sign of the change, the name and further facts.
pub(crate) fn file_row(file: &FileChange, name: Style, theme: &Theme) -> Line<'static> {
    let mut spans = vec![
        Span::styled(format!("{} ", sign(file.change)), style(file.change, theme)),
        Span::styled(one_line(&file.name.path).into_owned(), name),
    ];
    let more = match (&file.from, file.bytes, file.change) {
        (Some(from), _, _) => {
            // A removed and a new file with the same content count as a rename.
            let reason = if file.inferred { ", same content" } else { "" };
            format!("  from {}{reason}", one_line(from))
        }
        (None, Some([before, after]), Change::Changed) if before == after => {
            format!("  {after} bytes")
        }
        (None, Some([before, after]), Change::Changed) => format!("  {before} → {after} bytes"),
        (None, _, Change::Mode) => "  other permissions or attributes".to_owned(),
        _ => String::new(),
    };
    if let Some(kind) = file.kind.words() {
        spans.push(Span::styled(format!("  {kind}"), theme.dim));
    }
    if !more.is_empty() {
        spans.push(Span::styled(more, theme.dim));
    }
    Line::from(spans)
}
