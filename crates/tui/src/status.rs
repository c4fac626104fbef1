//! The last line of the screen: the directory, the state and the keys that are useful now, or a
//! message.

use crate::app::App;
use crate::change_actions;
use crate::questions::sandbox_summary;
use crate::transcript::CardEntry;
use agent_bash::core::plural;
use agent_bash_render::{CardState, Theme, abridged, mark, shortened};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use std::time::Duration;

/// The keys of a selected card. A card of an earlier run has fewer, because its stored command may
/// be cut.
const CARD_KEYS: &str = "y Y copy · e edit · R again · f fold · esc back  ";
const EARLIER_KEYS: &str = "Y copy command · esc back  ";

/// Minimum widths of the directory and the branch; below them, other parts are dropped first.
const MIN_DIRECTORY_COLUMNS: usize = 12;
const MIN_BRANCH_COLUMNS: usize = 12;

/// Columns below which a directory is not useful.
const USEFUL_DIRECTORY_COLUMNS: usize = 6;

/// Separates the directories of calls and of bang commands.
const BANG_DIRECTORY_SEPARATOR: &str = " · ! ";

/// Shortens a text to a number of columns.
type ShortenFn = fn(&str, usize) -> String;

/// A part of the line.
#[derive(Debug, Clone)]
struct StatusPart {
    /// Parts with the highest rank are dropped first if there is too little room; rank 0 stays.
    rank: u8,
    span: Span<'static>,
    /// The minimum of columns after shortening, and the function that shortens.
    shortening: Option<(usize, ShortenFn)>,
    /// The replacement that is tried before any part is dropped.
    short_text: Option<String>,
}

pub(crate) fn draw_status(app: &App, frame: &mut Frame<'_>, area: Rect) {
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
    let right = abridged(&keys_text(app), room);
    let wanted = Span::raw(&right).width();
    let all = state_parts(app);
    // The keys for a running command matter more than the state; general keys do not.
    let is_busy = app.call.is_some() || app.bang.is_some() || app.candidates.is_some();
    let is_idle = app.transcript.selected_entry().is_none() && !is_busy;
    let right_width = if right.is_empty() { 0 } else { wanted + 2 };
    let left_room = room.saturating_sub(if is_idle { 0 } else { right_width });
    let left = fit_parts(&all, room.saturating_sub(right_width), theme)
        .unwrap_or_else(|| drop_parts(all, left_room, theme));
    let left_width = room.saturating_sub(if is_idle { 0 } else { wanted + 1 });
    buffer.set_line(area.x, area.y, &left, left_width as u16);
    if left.width() + 2 + wanted <= room || !is_idle {
        let wanted = wanted.min(room);
        let x = area.right().saturating_sub(wanted as u16);
        let line = Line::styled(right, theme.dim);
        buffer.set_line(x, area.y, &line, wanted as u16);
    }
}

/// All parts, shortened where possible; `None` if they do not fit.
fn fit_parts(parts: &[StatusPart], room: usize, theme: &Theme) -> Option<Line<'static>> {
    let mut parts = parts.to_vec();
    let mut over = line_of(&parts, theme).width().saturating_sub(room);
    for part in &mut parts {
        let Some((min_columns, shorten)) = part.shortening.filter(|_| over > 0) else {
            continue;
        };
        let wide = part.span.width();
        let columns = wide.saturating_sub(over).max(min_columns.min(wide));
        part.span.content = shorten(&part.span.content, columns).into();
        over = over.saturating_sub(wide - part.span.width());
    }
    (over == 0).then(|| line_of(&parts, theme))
}

/// Drops parts until the rest fits. The first part is never dropped, only shortened.
fn drop_parts(mut parts: Vec<StatusPart>, room: usize, theme: &Theme) -> Line<'static> {
    loop {
        if let Some(line) = fit_parts(&parts, room, theme) {
            return line;
        }
        if let Some(part) = parts.iter_mut().find(|part| part.short_text.is_some()) {
            part.span.content = part.short_text.take().unwrap_or_default().into();
            continue;
        }
        let highest_rank = parts.iter().map(|part| part.rank).max().unwrap_or(0);
        if highest_rank == 0 {
            break;
        }
        parts.retain(|part| part.rank != highest_rank);
    }
    if room < USEFUL_DIRECTORY_COLUMNS {
        return Line::default();
    }
    for part in &mut parts {
        part.span.content = shorten_directories(&part.span.content, room.saturating_sub(2)).into();
    }
    line_of(&parts, theme)
}

/// Shortens directories at their beginning: their ends say more.
fn shorten_directories(shown: &str, columns: usize) -> String {
    let Some((calls, bang)) = shown.split_once(BANG_DIRECTORY_SEPARATOR) else {
        return path_end(shown, columns);
    };
    let columns = columns.saturating_sub(BANG_DIRECTORY_SEPARATOR.chars().count());
    let bang = path_end(
        bang,
        (columns / 2).max(columns.saturating_sub(width(calls))),
    );
    let calls = path_end(calls, columns.saturating_sub(width(&bang)));
    format!("{calls}{BANG_DIRECTORY_SEPARATOR}{bang}")
}

/// The end of a path, from one of its directories on if there is room: `…/b/c`.
fn path_end(path: &str, columns: usize) -> String {
    if width(path) <= columns {
        return path.to_owned();
    }
    let cut = |at: usize| format!("…{}", &path[at..]);
    let fits = |at: &usize| width(&path[*at..]) < columns;
    let slashes = path.match_indices('/').map(|(at, _)| at);
    let anywhere = path.char_indices().map(|(at, _)| at);
    let found = slashes.skip(1).find(fits);
    match found.or_else(|| anywhere.skip(1).find(|at| fits(at))) {
        Some(at) => cut(at),
        None => shortened(path, columns),
    }
}

fn width(text: &str) -> usize {
    Span::raw(text).width()
}

/// The parts about the state.
fn state_parts(app: &App) -> Vec<StatusPart> {
    let theme = &app.theme;
    let part = |rank, text: String, style| StatusPart {
        rank,
        span: Span::styled(text, style),
        shortening: None,
        short_text: None,
    };
    let mut parts = vec![StatusPart {
        shortening: Some((MIN_DIRECTORY_COLUMNS, shorten_directories)),
        ..part(0, app.directory.text.clone(), theme.text)
    }];
    let branch = app.directory.branch.as_ref().map(|branch| StatusPart {
        shortening: Some((MIN_BRANCH_COLUMNS, shortened)),
        ..part(4, format!("⎇ {branch}"), theme.accent)
    });
    parts.extend(branch);
    if let Some(status) = &app.last_status {
        let state = CardState::Ended(status.clone());
        let (icon, style) = mark(&state, Duration::ZERO, theme);
        parts.push(part(5, format!("{icon} {}", state.badge()), style));
    }
    if !app.about.is_empty() {
        parts.push(part(7, app.about.clone(), theme.dim));
    }
    if app.is_safe_mode {
        parts.push(part(1, "safe mode".to_owned(), theme.accent));
    }
    let sandbox = sandbox_summary(&app.sandbox);
    parts.extend(sandbox.map(|text| StatusPart {
        short_text: Some(app.sandbox.level.to_string()),
        ..part(3, text, theme.accent)
    }));
    if app.terminal == Some(true) {
        parts.push(part(6, "terminal".to_owned(), theme.accent));
    }
    match app.held_trials.len() + app.transcript.undecided().count() {
        0 => {}
        1 => parts.push(part(1, "1 trial waits".to_owned(), theme.warning)),
        trials => parts.push(part(1, format!("{trials} trials wait"), theme.warning)),
    }
    match app.running_jobs {
        0 => {}
        jobs => parts.push(part(2, plural(jobs as u64, "job"), theme.running)),
    }
    parts
}

fn line_of(parts: &[StatusPart], theme: &Theme) -> Line<'static> {
    let mut line = Line::default();
    for (at, part) in parts.iter().enumerate() {
        let before = if at == 0 { "  " } else { " · " };
        line.spans
            .extend([Span::styled(before, theme.dim), part.span.clone()]);
    }
    line
}

/// The keys that are useful now, for the end of the line.
fn keys_text(app: &App) -> String {
    if app.is_covered() || app.has_question() || app.help.is_some() {
        return String::new();
    }
    if app.focused_card().is_some() {
        let set = app.focused_changes().map(|(_, set)| set);
        let diff = set.filter(|all| {
            all.sets()
                .any(|set| change_actions::no_diff_reason(set).is_none())
        });
        let diff = diff.map(|_| "enter diff".to_owned());
        let change_keys = set
            .map(change_actions::keys_text)
            .filter(|keys| !keys.is_empty());
        let chosen = app.transcript.selected_entry();
        let rest = if chosen.is_some_and(CardEntry::is_of_earlier_run) {
            EARLIER_KEYS
        } else {
            CARD_KEYS
        };
        let keys = [diff, change_keys, Some(rest.to_owned())];
        return keys.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    }
    let text = app.prompt.text();
    let keys = if app.candidates.is_some() {
        // The list names its own keys.
        ""
    } else if app.transcript.selected_entry().is_some() {
        "ctrl+↑ gives it the keys · esc back  "
    } else if app.prompt.is_trial {
        "enter runs it as a trial · ctrl+c clear  "
    } else if app.call.is_some() || app.bang.is_some() {
        "esc cancel  "
    } else if app.prompt.is_empty() {
        "? help  ctrl+d quit  "
    } else if app.prompt.is_unfinished() {
        "not finished: enter adds a line  "
    } else if text.trim_start().starts_with('!') {
        "enter run  "
    } else {
        "enter run  f3 try it  "
    };
    keys.to_owned()
}

#[cfg(test)]
#[path = "status_tests.rs"]
mod tests;
