//! Shared by the view tests: drawing onto a test backend, and a dump that includes styles.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use ratatui::text::Line;
use std::fmt::Write as _;

/// The widths of all snapshots.
const WIDTHS: [u16; 3] = [40, 80, 120];

/// Draws one frame.
pub(crate) fn drawn(width: u16, height: u16, draw: impl FnOnce(&mut ratatui::Frame<'_>)) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(draw).unwrap();
    terminal.backend().buffer().clone()
}

/// Rows of a card, drawn on a buffer of their own.
pub(crate) fn of_rows(rows: &[Line<'static>], width: u16) -> Buffer {
    drawn(width, rows.len() as u16, |frame| {
        for (at, row) in rows.iter().enumerate() {
            frame.buffer_mut().set_line(0, at as u16, row, width);
        }
    })
}

/// The characters of all cells.
pub(crate) fn text_of(buffer: &Buffer) -> String {
    buffer.content().iter().map(Cell::symbol).collect()
}

/// The dumps of what is drawn at all widths.
pub(crate) fn dump_at_widths(drawn: impl Fn(u16) -> Buffer) -> String {
    let mut all = String::new();
    for width in WIDTHS {
        let _ = write!(all, "== {width}\n{}", dump(&drawn(width)));
    }
    all
}

/// The text, followed by each styled run: row, column, style, text.
fn dump(buffer: &Buffer) -> String {
    let mut text = String::new();
    let mut styles = String::new();
    for y in 0..buffer.area.height {
        let mut row = String::new();
        let mut run: Option<(u16, String, String)> = None;
        let mut skip = 0;
        for x in 0..buffer.area.width {
            let cell = &buffer[(x, y)];
            if skip > 0 {
                skip -= 1;
                continue;
            }
            row.push_str(cell.symbol());
            skip = unicode_width::UnicodeWidthStr::width(cell.symbol()).saturating_sub(1);
            let style = named(cell.fg, cell.bg, cell.modifier);
            match &mut run {
                Some((_, last, content)) if *last == style => content.push_str(cell.symbol()),
                other => {
                    flush(&mut styles, y, other.take());
                    *other = Some((x, style, cell.symbol().to_owned()));
                }
            }
        }
        flush(&mut styles, y, run);
        let _ = writeln!(text, "{}", row.trim_end());
    }
    format!("{text}--\n{styles}")
}

fn flush(styles: &mut String, y: u16, run: Option<(u16, String, String)>) {
    if let Some((x, style, content)) = run
        && !style.is_empty()
        && !content.trim().is_empty()
    {
        let _ = writeln!(styles, "{y},{x} {style}: {}", content.trim_end());
    }
}

fn named(fg: Color, bg: Color, modifier: Modifier) -> String {
    let mut words = Vec::new();
    if fg != Color::Reset {
        words.push(fg.to_string());
    }
    if bg != Color::Reset {
        words.push(format!("on {bg}"));
    }
    if !modifier.is_empty() {
        words.push(format!("{modifier:?}"));
    }
    words.join(" ")
}
