//! The help: the keys, on several pages if the terminal is too low for one.

mod keys;

pub(crate) use keys::{HISTORY_TITLE, JOBS_TITLE, PAGER_TITLE};

use agent_bash_render::{Theme, abridged, wrapped};
use crossterm::event::{KeyCode, KeyEvent};
use keys::{KEY_GROUPS, KeyGroup};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Paragraph};

/// Columns between keys and their effects.
const GAP_COLUMNS: usize = 3;

/// The help while it is open.
#[derive(Debug, Default)]
pub(crate) struct Help {
    /// The group whose page is shown first.
    first: Option<&'static str>,
    /// The page that is shown.
    page: usize,
    /// Number of pages when the help was last drawn.
    pages: usize,
}

impl Help {
    /// Opens the help at the page of this group.
    pub(crate) fn open_at(first: &'static str) -> Self {
        Self {
            first: Some(first),
            ..Self::default()
        }
    }

    /// Handles the wheel, which turns the pages.
    pub(crate) fn wheel(&mut self, down: bool) {
        let last = self.pages.saturating_sub(1);
        self.page = if down {
            (self.page + 1).min(last)
        } else {
            self.page.saturating_sub(1)
        };
    }

    /// Handles a key. Returns true if the help stays open.
    pub(crate) fn key(&mut self, key: KeyEvent) -> bool {
        let page = match key.code {
            KeyCode::Char(' ') | KeyCode::Right => self.page.checked_add(1),
            KeyCode::Left => self.page.checked_sub(1),
            _ => None,
        };
        self.page = page.filter(|page| *page < self.pages).unwrap_or(usize::MAX);
        self.page != usize::MAX
    }

    pub(crate) fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, theme: &Theme) {
        let inner = [area.width, area.height].map(|size| usize::from(size.saturating_sub(2)));
        let pages = pages(inner);
        self.pages = pages.len();
        if let Some(first) = self.first.take() {
            let has = |row: &HelpRow| matches!(row, HelpRow::Title(title) if *title == first);
            let found = pages.iter().position(|page| page.iter().any(has));
            self.page = found.unwrap_or(0);
        }
        self.page = self.page.min(pages.len().saturating_sub(1));
        // All pages have the size of the largest.
        let all = pages.iter().flatten();
        let width = all.map(|row| row.line(theme).width()).max().unwrap_or(0) as u16 + 3;
        let height = pages.iter().map(Vec::len).max().unwrap_or(0) as u16 + 2;
        let area = Rect {
            x: area.x + area.width.saturating_sub(width) / 2,
            y: area.y + area.height.saturating_sub(height) / 2,
            width: width.min(area.width),
            height: height.min(area.height),
        };
        let footer = match self.pages {
            ..=1 => "any key closes".to_owned(),
            pages => abridged(
                &format!("{}/{pages} · → next · any other key closes", self.page + 1),
                inner[0].saturating_sub(3),
            ),
        };
        let block = Block::bordered()
            .border_type(BorderType::Rounded)
            .border_style(theme.rail)
            .title_top(Line::styled("─ Keys ", theme.title))
            .title_bottom(Line::from_iter([
                Span::raw("─ "),
                Span::styled(footer, theme.dim),
                Span::raw(" "),
            ]));
        let rows = pages.get(self.page).into_iter().flatten();
        let lines: Vec<Line<'_>> = rows.map(|row| row.line(theme)).collect();
        frame.render_widget(Clear, area);
        frame.render_widget(Paragraph::new(lines).block(block), area);
    }
}

#[derive(Debug, Clone)]
enum HelpRow {
    Title(&'static str),
    /// Keys, with their effect on the right.
    KeysAndEffect(&'static str, &'static str),
    /// Keys, with their effect in rows below.
    Keys(&'static str),
    Effect(Line<'static>),
}

impl HelpRow {
    fn line(&self, theme: &Theme) -> Line<'static> {
        match self {
            Self::Title(title) => Line::styled(format!(" {title}"), theme.title),
            Self::KeysAndEffect(keys, effect) => {
                let padding = " ".repeat(key_columns() - Span::raw(*keys).width() + GAP_COLUMNS);
                Line::from_iter([
                    Span::styled(format!(" {keys}{padding}"), theme.accent),
                    Span::styled(*effect, theme.text),
                ])
            }
            Self::Keys(keys) => Line::styled(format!(" {keys}"), theme.accent),
            Self::Effect(effect) => Line::styled(format!("{EFFECT_INDENT}{effect}"), theme.text),
        }
    }
}

/// Indentation of an effect below its keys.
const EFFECT_INDENT: &str = "   ";

/// Width of the longest keys in columns.
fn key_columns() -> usize {
    let keys = KEY_GROUPS.iter().flat_map(KeyGroup::rows);
    keys.map(|(key, _)| Span::raw(key).width())
        .max()
        .unwrap_or(0)
}

/// Returns true if every effect fits on the right of its keys.
fn effects_fit_on_the_right(width: usize) -> bool {
    let mut texts = KEY_GROUPS.iter().flat_map(KeyGroup::rows);
    texts.all(|(_, effect)| 1 + key_columns() + GAP_COLUMNS + Span::raw(effect).width() <= width)
}

/// The rows of each page, of at most this width and height. A group is on one page if it fits.
fn pages([width, height]: [usize; 2]) -> Vec<Vec<HelpRow>> {
    let height = height.max(2);
    let is_wide = effects_fit_on_the_right(width);
    let mut pages: Vec<Vec<HelpRow>> = vec![Vec::new()];
    for group in KEY_GROUPS {
        let keys = group.rows().map(|(keys, effect)| {
            if is_wide {
                return vec![HelpRow::KeysAndEffect(keys, effect)];
            }
            let columns = width.saturating_sub(EFFECT_INDENT.len());
            let below = wrapped(effect, columns, Style::default());
            let below = below.into_iter().map(HelpRow::Effect);
            [HelpRow::Keys(keys)].into_iter().chain(below).collect()
        });
        // A title stays with its first keys.
        let mut parts: Vec<Vec<HelpRow>> = keys.collect();
        if let Some(first) = parts.first_mut() {
            first.insert(0, HelpRow::Title(group.title));
        }
        let rows: usize = parts.iter().map(Vec::len).sum();
        let has_room = |page: &Vec<HelpRow>, rows| page.len() + rows <= height;
        let on_one = rows <= height;
        if on_one && !pages.last().is_some_and(|page| has_room(page, rows)) {
            pages.push(Vec::new());
        }
        for part in parts {
            match pages.last_mut() {
                Some(page) if page.is_empty() || has_room(page, part.len()) => page.extend(part),
                _ => pages.push(part),
            }
        }
    }
    pages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::KeyModifiers;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn drawn(help: &mut Help, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal
            .draw(|frame| help.draw(frame, frame.area(), &Theme::plain()))
            .unwrap();
        terminal.backend().to_string()
    }

    fn press(help: &mut Help, code: KeyCode) -> bool {
        help.key(KeyEvent::new(code, KeyModifiers::NONE))
    }

    #[test]
    fn every_key_is_on_a_page_at_any_size() {
        let texts = || KEY_GROUPS.iter().flat_map(KeyGroup::rows);
        for (width, height, wanted) in [(80, 23, 4), (120, 39, 2), (200, 79, 1), (80, 8, 13)] {
            let mut help = Help::default();
            let mut seen = drawn(&mut help, width, height);
            while press(&mut help, KeyCode::Char(' ')) {
                seen.push_str(&drawn(&mut help, width, height));
            }
            assert_eq!(help.pages, wanted, "{width}x{height}");
            for (key, effect) in texts() {
                assert!(seen.contains(key) && seen.contains(effect), "{key}\n{seen}");
            }
        }
    }

    #[test]
    fn narrow_help_shows_effects_below_the_keys_in_full() {
        let mut help = Help::default();
        let mut seen = drawn(&mut help, 40, 14);
        while press(&mut help, KeyCode::Char(' ')) {
            seen.push_str(&drawn(&mut help, 40, 14));
        }
        let frame = |c: char| " \n\"│╭╮╰╯─".contains(c);
        let words: Vec<&str> = seen.split(frame).filter(|word| !word.is_empty()).collect();
        let all = words.join(" ");
        for (keys, effect) in KEY_GROUPS.iter().flat_map(KeyGroup::rows) {
            assert!(
                all.contains(&format!("{keys} {effect}")),
                "{keys}: {effect}\n{seen}"
            );
        }
        assert!(seen.contains(" · any other key closes"), "{seen}");
    }

    #[test]
    fn help_opens_at_the_page_of_the_open_panel() {
        for (first, key) in [
            (HISTORY_TITLE, "this run"),
            (PAGER_TITLE, "n N"),
            (JOBS_TITLE, "the whole output"),
        ] {
            let mut help = Help::open_at(first);
            let screen = drawn(&mut help, 80, 15);
            assert!(screen.contains(first) && screen.contains(key), "{screen}");
            assert!(help.page > 1, "{first}");
        }
        let mut help = Help::default();
        drawn(&mut help, 80, 15);
        for (down, page) in [(false, 0), (true, 1), (true, 2), (false, 1)] {
            help.wheel(down);
            assert_eq!(help.page, page);
        }
        (0..99).for_each(|_| help.wheel(true));
        assert_eq!(help.page, help.pages - 1);
    }

    #[test]
    fn some_keys_turn_pages_and_any_other_key_closes() {
        let mut help = Help::default();
        drawn(&mut help, 80, 23);
        for (code, stays) in [
            (KeyCode::Right, true),
            (KeyCode::Left, true),
            (KeyCode::Char(' '), true),
            (KeyCode::Left, true),
            (KeyCode::Right, true),
            (KeyCode::Char('x'), false),
        ] {
            assert_eq!(press(&mut help, code), stays, "{code:?}");
        }
        let mut one = Help::default();
        drawn(&mut one, 120, 79);
        assert!(!press(&mut one, KeyCode::Char(' ')));
    }

    #[test]
    fn every_row_has_keys_and_an_effect() {
        let is_valid = |row: &str| {
            row.split_once(" | ").is_some_and(|(keys, effect)| {
                let mut words = keys.split(' ').chain(effect.split(' '));
                !effect.contains('|') && words.all(|word| !word.is_empty())
            })
        };
        for row in KEY_GROUPS.iter().flat_map(|group| group.keys) {
            assert!(is_valid(row), "{row}");
        }
        for wrong in [
            "f9 runs it", "f9 |", " | run it", "f9  f8 | run it", "f9 | f8 | run it",
        ] {
            assert!(!is_valid(wrong), "{wrong}");
        }
    }

    /// The text of a file of the checkout.
    fn file(path: &str) -> String {
        std::fs::read_to_string(format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
    }

    fn words() -> impl Iterator<Item = &'static str> {
        let rows = KEY_GROUPS.iter().flat_map(KeyGroup::rows);
        rows.flat_map(|(keys, _)| keys.split(' '))
    }

    /// The key as the end-to-end tests press it: by tmux's name, or as the sequence that a terminal
    /// sends for the mouse.
    fn pressed(word: &str) -> String {
        let (before, key) = match word.split_once('+') {
            Some(("ctrl", key)) => ("C-", key),
            Some(("alt", key)) => ("M-", key),
            Some(("shift", "tab")) => return "\"BTab\"".to_owned(),
            Some(("shift", key)) => ("S-", key),
            _ => ("", word),
        };
        let key = match key {
            "enter" => "Enter",
            "esc" => "Escape",
            "tab" => "Tab",
            "backspace" => "BSpace",
            "delete" => "DC",
            "space" => "Space",
            "home" => "Home",
            "end" => "End",
            "pgup" => "PPage",
            "pgdn" => "NPage",
            "↑" => "Up",
            "↓" => "Down",
            "←" => "Left",
            "→" => "Right",
            "click" => return "[<0;".to_owned(),
            "wheel" => return "[<64;".to_owned(),
            "\\" => return "\\\\\"".to_owned(),
            "!command" => return "enters(\"!".to_owned(),
            "!!command" => return "enters(\"!!".to_owned(),
            key if key.starts_with('f') && key.len() == 2 => &key.to_uppercase(),
            key => key,
        };
        format!("\"{before}{key}\"")
    }

    #[test]
    fn every_key_is_typed_by_an_end_to_end_test() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/tests/it/tui");
        let mut tests = file("tests/tests/it/tui.rs");
        for entry in std::fs::read_dir(folder).unwrap() {
            tests.push_str(&std::fs::read_to_string(entry.unwrap().path()).unwrap());
        }
        let missing: Vec<&str> = words()
            .filter(|word| !tests.contains(&pressed(word)))
            .collect();
        assert!(missing.is_empty(), "no test types {missing:?}");
    }
}
