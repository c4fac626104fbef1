//! The screen layout: transcript, rule, prompt, status line, and panels on top of them.

use crate::app::App;
use crate::pager_source::LineSource;
use crate::status::draw_status;
use agent_bash::core::{Request, plural};
use agent_bash_render::{Overlay, shortened};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use std::time::Duration;

/// Limit of rows for queued commands.
const MAX_QUEUED_ROWS: u16 = 5;

pub(crate) fn draw(app: &mut App, frame: &mut Frame<'_>, now: Duration) {
    let area = frame.area();
    if area.is_empty() {
        return;
    }
    let prompt_rows = app
        .prompt
        .height(area.width)
        .min(area.height.saturating_sub(3))
        .max(1);
    let queued = (app.queue.len() as u16)
        .min(MAX_QUEUED_ROWS)
        .min(area.height / 4);
    let [above, rule, waiting, prompt, status] = Layout::vertical([
        Constraint::Fill(1),
        Constraint::Length(1),
        Constraint::Length(queued),
        Constraint::Length(prompt_rows),
        Constraint::Length(1),
    ])
    .areas(area);
    let theme = app.theme.clone();
    let window = area.height.saturating_sub(3);
    app.transcript.draw(frame, above, window, now, &theme);
    if let Some(listed) = &mut app.candidates {
        listed.draw(frame, above, &theme);
    }
    draw_rule(app, frame, rule, prompt);
    draw_queue(app, frame, waiting);
    if !app.is_covered() {
        let has_keys = app.focused_card().is_none();
        app.prompt
            .draw(frame, prompt, has_keys, app.candidates.is_none());
    }
    draw_status(app, frame, status);
    let panel = Rect {
        height: area.height.saturating_sub(1),
        ..area
    };
    if let Some(diff) = &mut app.diff {
        let entry = app.transcript.get(diff.entry);
        let changes = entry.and_then(|entry| entry.card.changes());
        diff.draw(frame, panel, changes, &theme);
    }
    if let Some(jobs) = &mut app.jobs {
        jobs.draw(frame, panel, &theme);
    }
    if let Some(pager) = &mut app.pager {
        let card = match pager.source() {
            LineSource::Card(id) => app.transcript.get(id).and_then(|entry| entry.card.output()),
            LineSource::File(_) => None,
        };
        pager.draw(frame, panel, card, now, &theme);
    }
    if let Some(search) = &mut app.search {
        search.draw(frame, panel, &app.home, &theme);
    }
    if let Some(help) = &mut app.help {
        help.draw(frame, panel, &theme);
    }
    if let Some(console) = &mut app.console {
        console.draw(frame, Overlay::area(area), now, &theme);
    }
    app.questions.draw(frame, area, &app.sandbox, &theme);
}

/// Draws the queue, the next command first. If there are too many commands, draws the first ones.
fn draw_queue(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let rows = usize::from(area.height);
    let hidden = app.queue.len().saturating_sub(rows);
    // If commands are hidden, the last row shows their number instead of a command.
    let shown = rows - usize::from(hidden > 0).min(rows);
    for (row, request) in app.queue.iter().take(shown).enumerate() {
        let is_last = hidden == 0 && row + 1 == rows;
        let hint = if row == 0 && app.waits_to_quit() {
            "  quits once you are done with the line or the panel that has the keys"
        } else if row == 0 && app.waits_for_keys() {
            "  needs the keys: starts once you are done with them"
        } else if is_last {
            "  ↑ takes it back"
        } else {
            ""
        };
        let mark = format!("⋯ {}$ ", kind(request));
        let used_columns = Span::raw(hint).width() + Span::raw(&mark).width();
        let room = usize::from(area.width).saturating_sub(used_columns);
        let line = Line::from_iter([
            Span::styled(mark, app.theme.dim),
            Span::styled(shortened(&request.command, room), app.theme.text),
            Span::styled(hint, app.theme.dim),
        ]);
        let y = area.y + row as u16;
        frame.buffer_mut().set_line(area.x, y, &line, area.width);
    }
    if hidden > 0 && rows > 0 {
        let more = format!("… {} more  ↑ takes the last one back", hidden + 1);
        let line = Line::styled(more, app.theme.dim);
        let y = area.y + shown as u16;
        frame.buffer_mut().set_line(area.x, y, &line, area.width);
    }
}

/// How a queued command will run, if not as an ordinary call.
fn kind(request: &Request) -> &'static str {
    if request.trial.is_some() {
        "trial "
    } else if request.sandbox.is_some() {
        "outside "
    } else if request.pty == Some(true) {
        "terminal "
    } else {
        ""
    }
}

/// Draws the rule above the prompt. It shows how far the view is scrolled back, and which part of
/// the prompt is hidden.
fn draw_rule(app: &App, frame: &mut Frame<'_>, area: Rect, prompt: Rect) {
    if area.is_empty() {
        return;
    }
    let below = match app.transcript.rows_below() {
        0 => String::new(),
        rows => format!(" ↓ {} ", plural(rows as u64, "more row")),
    };
    let more_lines = |count: usize| plural(count as u64, "more line");
    let hidden = match app.prompt.hidden_rows(prompt) {
        _ if app.is_covered() => String::new(),
        (0, 0) => String::new(),
        (above, 0) => format!(" ↑ {} ", more_lines(above)),
        (0, below) => format!(" ↓ {} in the prompt ", more_lines(below)),
        (above, below) => format!(" ↑ {above} ↓ {} ", more_lines(below)),
    };
    let labels = Span::raw(&below).width() + Span::raw(&hidden).width();
    let columns = usize::from(area.width).saturating_sub(labels + 4);
    let line = Line::from_iter([
        Span::styled("──", app.theme.rail),
        Span::styled(hidden, app.theme.accent),
        Span::styled("─".repeat(columns), app.theme.rail),
        Span::styled(below, app.theme.accent),
        Span::styled("──", app.theme.rail),
    ]);
    frame
        .buffer_mut()
        .set_line(area.x, area.y, &line, area.width);
}

#[cfg(test)]
#[path = "draw_tests.rs"]
mod tests;
