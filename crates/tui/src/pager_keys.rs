//! The keys, and the mouse wheel, that scroll the pager and a diff.

use crate::typed_count::lines;
use agent_bash_render::PagerMove;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseEventKind};

/// Columns per step sideways.
const COLUMNS_PER_STEP: isize = 16;

const LINES_PER_WHEEL_STEP: i64 = 3;

/// Returns the movement of a key in a view of `rows` lines; `None` if the key does not scroll.
/// `count` is the number that was typed before the key.
pub(crate) fn key_move(key: KeyEvent, count: Option<u64>, rows: u16) -> Option<PagerMove> {
    let half_pages = || lines(count).saturating_mul(i64::from(rows / 2).max(1));
    Some(match (key.code, key.modifiers) {
        (KeyCode::Char('g' | 'G'), _) if count.is_some() => PagerMove::Line(count.unwrap_or(1)),
        (KeyCode::Up | KeyCode::Char('k'), _) => PagerMove::Lines(-lines(count)),
        (KeyCode::Down | KeyCode::Char('j'), _) => PagerMove::Lines(lines(count)),
        (KeyCode::Char('u'), KeyModifiers::CONTROL) => PagerMove::Lines(-half_pages()),
        (KeyCode::Char('d'), KeyModifiers::CONTROL) => PagerMove::Lines(half_pages()),
        (KeyCode::PageUp | KeyCode::Char('b'), _) => PagerMove::Pages(-lines(count)),
        (KeyCode::PageDown | KeyCode::Char(' '), _) => PagerMove::Pages(lines(count)),
        (KeyCode::Home | KeyCode::Char('g'), _) => PagerMove::First,
        (KeyCode::End | KeyCode::Char('G'), _) => PagerMove::Last,
        (KeyCode::Left, _) => PagerMove::Columns(-COLUMNS_PER_STEP),
        (KeyCode::Right, _) => PagerMove::Columns(COLUMNS_PER_STEP),
        _ => return None,
    })
}

/// Returns the movement of the mouse wheel; `None` for another event of the mouse.
pub(crate) fn wheel_move(event: MouseEventKind) -> Option<PagerMove> {
    match event {
        MouseEventKind::ScrollUp => Some(PagerMove::Lines(-LINES_PER_WHEEL_STEP)),
        MouseEventKind::ScrollDown => Some(PagerMove::Lines(LINES_PER_WHEEL_STEP)),
        _ => None,
    }
}
