//! The screen layout: transcript, rule, prompt, status line, and panels on top of them.

use crate::app::App;
use crate::deeds;
use crate::pager_source::Source;
use crate::questions::said_of;
use agent_bash::session::parse_bang;
use agent_bash_render::{CardState, Overlay, Theme, abridged, mark, shortened};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use std::time::Duration;

/// The keys that every selected card has.
const CARD_KEYS: &str = "y copy · e edit · R again · f fold · esc back  ";

/// Rows of commands that wait.
const MOST_QUEUED: u16 = 5;

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
        .min(MOST_QUEUED)
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
    app.transcript.draw(frame, above, now, &theme);
    app.draw_list(frame, above);
    draw_rule(app, frame, rule);
    draw_queue(app, frame, waiting);
    if !is_covered(app) {
        app.prompt.draw(frame, prompt, app.chosen_card().is_none());
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
        let card = match pager.source() {
            Source::Card(id) => app.transcript.get(id).and_then(|entry| entry.card.output()),
            Source::File(_) => None,
        };
        pager.draw(frame, panel, card, &theme);
    }
    app.draw_search(frame, panel);
    if let Some(help) = &mut app.help {
        help.draw(frame, panel, &theme);
    }
    if let Some(console) = &mut app.console {
        console.draw(frame, Overlay::area(area), now, &theme);
    }
    app.draw_question(frame, area);
}

/// Whether something else has the keys, and says which.
fn is_covered(app: &App) -> bool {
    let covers = [
        app.pager.is_some(),
        app.jobs.is_some(),
        app.diff.is_some(),
        app.search.is_some(),
        app.console.is_some(),
    ];
    covers.contains(&true)
}

fn draw_diff(app: &mut App, frame: &mut Frame<'_>, area: Rect) {
    if let Some(diff) = &mut app.diff {
        let entry = app.transcript.get(diff.entry);
        let changes = entry.and_then(|entry| entry.card.changes());
        diff.draw(frame, area, changes.map(|changes| &changes.set), &app.theme);
    }
}

/// The commands that wait, the next one first; of many, the last ones.
fn draw_queue(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let rows = usize::from(area.height);
    let hidden = app.queue.len().saturating_sub(rows);
    for (row, request) in app.queue.iter().skip(hidden).enumerate() {
        let is_last = row + 1 == rows;
        let hint = if is_last { "  ↑ takes it back" } else { "" };
        let room = usize::from(area.width).saturating_sub(Span::raw(hint).width() + 4);
        let line = Line::from_iter([
            Span::styled("⋯ $ ", app.theme.dim),
            Span::styled(shortened(&request.command, room), app.theme.text),
            Span::styled(hint, app.theme.dim),
        ]);
        let y = area.y + row as u16;
        frame.buffer_mut().set_line(area.x, y, &line, area.width);
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
    let room = usize::from(area.width);
    let right = abridged(&keys(app), room);
    let wanted = Span::raw(&right).width();
    let mut said = said(app);
    // Keys for what is going on are more important than how it is; general ones are not.
    let is_idle = app.chosen_card().is_none() && app.call.is_none() && app.bang.is_none();
    let kept = if is_idle { 0 } else { wanted + 2 };
    while said.len() > 1 && line_of(&said, theme).width() + kept > room {
        let least = said.iter().map(|part| part.0).max();
        said.retain(|part| Some(part.0) != least || part.0 == 0);
        if least == Some(0) {
            break;
        }
    }
    // What does not fit beside the keys is shortened, with a gap.
    let for_left = room.saturating_sub(if is_idle { 0 } else { wanted + 1 });
    if let [(_, place)] = &mut said[..] {
        place.content = shortened(&place.content, for_left.saturating_sub(2)).into();
    }
    let left = line_of(&said, theme);
    buffer.set_line(area.x, area.y, &left, for_left as u16);
    if left.width() + 2 + wanted <= room || !is_idle {
        let wanted = wanted.min(room);
        let x = area.right().saturating_sub(wanted as u16);
        let line = Line::styled(right, theme.dim);
        buffer.set_line(x, area.y, &line, wanted as u16);
    }
}

/// What there is to say of the state, each with a rank: where there is little room, the highest goes first.
fn said(app: &App) -> Vec<(u8, Span<'static>)> {
    let theme = &app.theme;
    let mut said = vec![(0, Span::styled(app.place.shown.clone(), theme.text))];
    let branch = app.place.branch.as_ref();
    said.extend(branch.map(|branch| (2, Span::styled(format!("⎇ {branch}"), theme.accent))));
    if let Some(status) = &app.last {
        let state = CardState::Ended(status.clone());
        let (icon, style) = mark(&state, Duration::ZERO, theme);
        let text = format!("{icon} {}", state.badge());
        said.push((3, Span::styled(text, style)));
    }
    if !app.about.is_empty() {
        said.push((5, Span::styled(app.about.clone(), theme.dim)));
    }
    let sandbox = said_of(&app.sandbox);
    said.extend(sandbox.map(|text| (1, Span::styled(text, theme.accent))));
    if app.terminal == Some(true) {
        said.push((4, Span::styled("terminal", theme.accent)));
    }
    match app.running_jobs {
        0 => {}
        1 => said.push((1, Span::styled("1 job", theme.running))),
        jobs => said.push((1, Span::styled(format!("{jobs} jobs"), theme.running))),
    }
    said
}

fn line_of(said: &[(u8, Span<'static>)], theme: &Theme) -> Line<'static> {
    let mut line = Line::default();
    for (at, (_, part)) in said.iter().enumerate() {
        let before = if at == 0 { "  " } else { " · " };
        line.spans
            .extend([Span::styled(before, theme.dim), part.clone()]);
    }
    line
}

/// The keys that matter now, for the end of the status line.
fn keys(app: &App) -> String {
    if is_covered(app) || app.is_asked() || app.help.is_some() {
        return String::new();
    }
    if app.chosen_card().is_some() {
        let set = app.chosen_changes().map(|(_, set)| set);
        let diff = set.filter(|set| deeds::no_diff(set).is_none());
        let diff = diff.map(|_| "enter diff".to_owned());
        let own = set.map(deeds::keys).filter(|keys| !keys.is_empty());
        let keys = [diff, own, Some(CARD_KEYS.to_owned())];
        return keys.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    }
    let keys = if app.call.is_some() || app.bang.is_some() {
        "esc cancel  "
    } else if app.prompt.is_empty() {
        "? help  ctrl+d quit  "
    } else if app.prompt.is_unfinished() {
        "not finished: enter adds a line  "
    } else if parse_bang(&app.prompt.text()).is_some() {
        "enter run  "
    } else {
        "enter run  f3 try it  "
    };
    keys.to_owned()
}

#[cfg(test)]
#[path = "draw_tests.rs"]
mod tests;
