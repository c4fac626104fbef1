//! The screen layout: transcript, rule, prompt, status line, and panels on top of them.

use crate::app::App;
use crate::deeds;
use crate::questions::said_of;
use agent_bash::session::parse_bang;
use agent_bash_render::Overlay;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Paragraph};
use std::time::Duration;

/// The key help.
const HELP: &[(&str, &str)] = &[
    ("enter", "run as a tool call"),
    ("!command", "run it yourself, in your own shell"),
    ("!!command", "the same; the model does not see it"),
    ("alt+enter  \\", "a new line"),
    ("↑ ↓", "history"),
    ("esc  ctrl+c", "cancel what runs; clear the prompt"),
    ("ctrl+o", "expand a card, or fold it"),
    ("ctrl+↑ ctrl+↓", "select a card; enter shows its diff"),
    ("c d u r", "commit, discard, undo, redo what it did"),
    ("ctrl+pgup/pgdn", "page through an expanded card"),
    ("ctrl+f", "full output in the pager"),
    ("ctrl+g", "background jobs"),
    ("ctrl+t", "commands on a terminal, or not"),
    ("f3", "try the line: its changes are held back"),
    ("f4", "again, outside of the sandbox"),
    ("pgup pgdn  wheel", "scroll"),
    ("ctrl+l", "clear the screen"),
    ("ctrl+z", "suspend"),
    ("ctrl+d", "quit"),
];

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
    let [above, rule, prompt, status] = Layout::vertical([
        Constraint::Fill(1),
        Constraint::Length(1),
        Constraint::Length(prompt_rows),
        Constraint::Length(1),
    ])
    .areas(area);
    let theme = app.theme.clone();
    app.transcript.draw(frame, above, now, &theme);
    draw_rule(app, frame, rule);
    let covered = [
        app.pager.is_some(),
        app.jobs.is_some(),
        app.diff.is_some(),
        app.console.is_some(),
    ];
    if !covered.contains(&true) {
        app.prompt.draw(frame, prompt);
    }
    draw_status(app, frame, status);
    let panel = Rect {
        height: area.height.saturating_sub(1),
        ..area
    };
    draw_diff(app, frame, panel);
    if let Some(jobs) = &app.jobs {
        jobs.draw(frame, panel, &theme);
    }
    if let Some(pager) = &mut app.pager {
        pager.draw(frame, panel, &theme);
    }
    if app.help {
        draw_help(app, frame, panel);
    }
    if let Some(console) = &mut app.console {
        console.draw(frame, Overlay::area(area), now, &theme);
    }
    app.draw_question(frame, area);
}

fn draw_diff(app: &mut App, frame: &mut Frame<'_>, area: Rect) {
    if let Some(diff) = &mut app.diff {
        let entry = app.transcript.get(diff.entry);
        let changes = entry.and_then(|entry| entry.card.changes());
        diff.draw(frame, area, changes.map(|changes| &changes.set), &app.theme);
    }
}

/// The rule above the prompt; says how far the view is scrolled back.
fn draw_rule(app: &App, frame: &mut Frame<'_>, area: Rect) {
    if area.is_empty() {
        return;
    }
    let below = app.transcript.rows_below();
    let label = match below {
        0 => String::new(),
        rows => format!(" ↓ {rows} more rows "),
    };
    let columns = usize::from(area.width).saturating_sub(Span::raw(&label).width() + 2);
    let line = Line::from_iter([
        Span::styled("─".repeat(columns), app.theme.rail),
        Span::styled(label, app.theme.accent),
        Span::styled("──", app.theme.rail),
    ]);
    frame
        .buffer_mut()
        .set_line(area.x, area.y, &line, area.width);
}

fn draw_status(app: &App, frame: &mut Frame<'_>, area: Rect) {
    if area.is_empty() {
        return;
    }
    let theme = &app.theme;
    let buffer = frame.buffer_mut();
    if let Some(message) = &app.message {
        let line = Line::from(Span::styled(format!("  {message}"), theme.warning));
        buffer.set_line(area.x, area.y, &line, area.width);
        return;
    }
    let mut left = vec![Span::styled(format!("  {}", app.cwd), theme.text)];
    let mut say = |text: String, style: Style| {
        left.push(Span::styled(" · ", theme.dim));
        left.push(Span::styled(text, style));
    };
    if !app.about.is_empty() {
        say(app.about.clone(), theme.dim);
    }
    if let Some(sandbox) = said_of(&app.sandbox) {
        say(sandbox, theme.accent);
    }
    if app.terminal == Some(true) {
        say("terminal".to_owned(), theme.accent);
    }
    match app.running_jobs {
        0 => {}
        1 => say("1 job".to_owned(), theme.running),
        jobs => say(format!("{jobs} jobs"), theme.running),
    }
    let right = keys(app);
    let left = Line::from(left);
    let room = usize::from(area.width).saturating_sub(left.width() + 2);
    buffer.set_line(area.x, area.y, &left, area.width);
    let width = Span::raw(&right).width();
    if width <= room {
        let x = area.right().saturating_sub(width as u16);
        buffer.set_line(x, area.y, &Line::styled(right, theme.dim), width as u16);
    }
}

/// The keys that matter now, for the end of the status line.
fn keys(app: &App) -> String {
    if app.diff.is_some() {
        return String::new();
    }
    if let Some((_, set)) = app.chosen_changes() {
        let diff = deeds::has_diff(set).then(|| "enter diff".to_owned());
        let own = Some(deeds::keys(set)).filter(|keys| !keys.is_empty());
        let keys = [diff, own, Some("esc back  ".to_owned())];
        return keys.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    }
    let keys = if app.call.is_some() || app.bang.is_some() {
        "esc cancel  "
    } else if app.prompt.is_empty() {
        "? help  ctrl+d quit  "
    } else if parse_bang(&app.prompt.text()).is_some() {
        "enter run  "
    } else {
        "enter run  f3 try it  "
    };
    keys.to_owned()
}

fn draw_help(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let theme = &app.theme;
    let keys = HELP
        .iter()
        .map(|(key, _)| Span::raw(*key).width())
        .max()
        .unwrap_or(0);
    let lines: Vec<Line> = HELP
        .iter()
        .map(|(key, what)| {
            let padding = " ".repeat(keys - Span::raw(*key).width() + 3);
            Line::from_iter([
                Span::styled(format!(" {key}{padding}"), theme.accent),
                Span::styled(*what, theme.text),
            ])
        })
        .collect();
    let width = lines.iter().map(Line::width).max().unwrap_or(0) as u16 + 3;
    let height = lines.len() as u16 + 2;
    let area = Rect {
        x: area.x + area.width.saturating_sub(width) / 2,
        y: area.y + area.height.saturating_sub(height) / 2,
        width: width.min(area.width),
        height: height.min(area.height),
    };
    let block = Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(theme.rail)
        .title_top(Line::styled("─ Keys ", theme.title));
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

#[cfg(test)]
#[path = "draw_tests.rs"]
mod tests;
