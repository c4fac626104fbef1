//! The frame that full-screen panels share: a title with a subtitle, and a line of keys or a
//! message at the bottom.

use crate::Theme;
use crate::text::visible_text;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Widget};

/// Rows within the frame.
pub(crate) fn inner_rows(area: Rect) -> u16 {
    area.height.saturating_sub(2)
}

/// Clears `area` and draws the frame in it. Returns the area within.
pub(crate) fn framed(
    area: Rect,
    buffer: &mut Buffer,
    [title, subtitle]: [&str; 2],
    (footer, style): (&str, Style),
    theme: &Theme,
) -> Rect {
    let width = usize::from(area.width);
    Clear.render(area, buffer);
    let footer = visible_text::abridged(footer, width.saturating_sub(6));
    Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(theme.rail)
        .title_top(header(title, subtitle, width, theme))
        .title_bottom(Line::from_iter([
            Span::raw("─ "),
            Span::styled(footer, style),
            Span::raw(" "),
        ]))
        .render(area, buffer);
    Rect {
        x: area.x + 1.min(area.width),
        y: area.y + 1.min(area.height),
        width: area.width.saturating_sub(2),
        height: inner_rows(area),
    }
}

fn header(title: &str, subtitle: &str, width: usize, theme: &Theme) -> Line<'static> {
    let title = visible_text::shortened(title, width.saturating_sub(6));
    let room = width.saturating_sub(10 + visible_text::width(&title));
    let subtitle = visible_text::shortened(subtitle, room);
    Line::from_iter([
        Span::raw("─ "),
        Span::styled(title, theme.title),
        Span::raw("  "),
        Span::styled(subtitle, theme.dim),
        Span::raw(" "),
    ])
}
