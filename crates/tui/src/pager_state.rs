//! The state of the pager while it is open: position, search, loaded lines.

use agent_bash::sink::{FileView, Search};
use agent_bash_render::regex::Regex;
use agent_bash_render::{Pager, PagerMove, PagerPosition, PagerPrompt, Theme};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseEventKind};
use ratatui::Frame;
use ratatui::layout::Rect;
use std::sync::{Arc, Mutex, PoisonError};

/// Columns per step sideways.
const SIDEWAYS: isize = 16;

/// In front of a pattern it ignores case.
const ANY_CASE: &str = "(?i)";

/// Lines per wheel step.
const WHEEL: i64 = 3;

/// A text kept in a file. Read it on a blocking thread only.
pub(crate) type Source = Arc<Mutex<FileView>>;

/// The pager and its text.
#[derive(Debug)]
pub(crate) struct PagerState {
    source: Source,
    title: String,
    subtitle: String,
    position: PagerPosition,
    total: u64,
    lines: Vec<String>,
    /// Number of the first loaded line.
    from: u64,
    rows: u16,
    /// The pattern being typed after `/`.
    typing: Option<String>,
    pattern: Option<Regex>,
    found: Option<Match>,
    message: Option<String>,
    /// The last range requested, so that it is requested only once.
    asked: Option<(u64, u16)>,
}

/// What the pager asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PagerRequest {
    Nothing,
    Close,
    Find {
        pattern: String,
        from: u64,
        forward: bool,
    },
}

/// A line that matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Match {
    /// Its number.
    line: u64,
    /// Which of the lines that match, from 1.
    at: u64,
    /// How many there are.
    all: u64,
}

/// Lines of a text.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) from: u64,
    pub(crate) lines: Vec<String>,
    pub(crate) total: u64,
}

impl PagerState {
    pub(crate) fn new(view: FileView, title: String, subtitle: String) -> Self {
        Self {
            source: Arc::new(Mutex::new(view)),
            title,
            subtitle,
            position: PagerPosition::first(),
            total: 0,
            lines: Vec::new(),
            from: 1,
            rows: 0,
            typing: None,
            pattern: None,
            found: None,
            message: None,
            asked: None,
        }
    }

    pub(crate) fn source(&self) -> Source {
        Arc::clone(&self.source)
    }

    /// The range of lines to load (first and count), if it is not loaded or requested yet.
    pub(crate) fn wanted(&mut self) -> Option<(u64, u16)> {
        let wanted = (self.position.first_line, self.rows);
        if self.rows == 0 || self.asked == Some(wanted) {
            return None;
        }
        self.asked = Some(wanted);
        Some(wanted)
    }

    pub(crate) fn loaded(&mut self, loaded: Result<Loaded, String>) {
        match loaded {
            Ok(loaded) => {
                self.total = loaded.total;
                (self.from, self.lines) = (loaded.from, loaded.lines);
            }
            Err(error) => self.message = Some(error),
        }
    }

    pub(crate) fn found(&mut self, found: Result<Option<Match>, String>) {
        match found {
            Ok(Some(found)) => {
                self.found = Some(found);
                self.message = None;
                self.go(PagerMove::To(found.line));
            }
            Ok(None) => {
                let pattern = self.pattern.as_ref().map_or("", Regex::as_str);
                let typed = pattern.strip_prefix(ANY_CASE).unwrap_or(pattern);
                self.message = Some(match self.found {
                    Some(_) => format!("no further `{typed}`"),
                    None => format!("`{typed}` is not there"),
                });
            }
            Err(error) => self.message = Some(error),
        }
    }

    fn go(&mut self, to: PagerMove) {
        self.position.go(to, self.total, self.rows);
    }

    pub(crate) fn event(&mut self, event: &Event) -> PagerRequest {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.key(*key),
            Event::Mouse(mouse) => {
                match mouse.kind {
                    MouseEventKind::ScrollUp => self.go(PagerMove::Lines(-WHEEL)),
                    MouseEventKind::ScrollDown => self.go(PagerMove::Lines(WHEEL)),
                    _ => {}
                }
                PagerRequest::Nothing
            }
            Event::Paste(text) => {
                if let Some(typing) = &mut self.typing {
                    typing.extend(text.chars().filter(|c| !c.is_control()));
                }
                PagerRequest::Nothing
            }
            _ => PagerRequest::Nothing,
        }
    }

    fn key(&mut self, key: KeyEvent) -> PagerRequest {
        self.message = None;
        if self.typing.is_some() {
            return self.typing_key(key);
        }
        match (key.code, key.modifiers) {
            (KeyCode::Char('q') | KeyCode::Esc, _)
            | (KeyCode::Char('c'), KeyModifiers::CONTROL) => {
                return PagerRequest::Close;
            }
            (KeyCode::Char('/'), _) => self.typing = Some(String::new()),
            (KeyCode::Char('n'), _) => return self.find(true),
            (KeyCode::Char('N'), _) => return self.find(false),
            (KeyCode::Up | KeyCode::Char('k'), _) => self.go(PagerMove::Lines(-1)),
            (KeyCode::Down | KeyCode::Enter | KeyCode::Char('j'), _) => {
                self.go(PagerMove::Lines(1));
            }
            (KeyCode::PageUp | KeyCode::Char('b'), _) => self.go(PagerMove::Pages(-1)),
            (KeyCode::PageDown | KeyCode::Char(' ' | 'f'), _) => self.go(PagerMove::Pages(1)),
            (KeyCode::Home | KeyCode::Char('g'), _) => self.go(PagerMove::First),
            (KeyCode::End | KeyCode::Char('G'), _) => self.go(PagerMove::Last),
            (KeyCode::Left, _) => self.go(PagerMove::Columns(-SIDEWAYS)),
            (KeyCode::Right, _) => self.go(PagerMove::Columns(SIDEWAYS)),
            _ => {}
        }
        PagerRequest::Nothing
    }

    fn typing_key(&mut self, key: KeyEvent) -> PagerRequest {
        let Some(typing) = &mut self.typing else {
            return PagerRequest::Nothing;
        };
        match (key.code, key.modifiers) {
            (KeyCode::Esc, _) | (KeyCode::Char('c'), KeyModifiers::CONTROL) => self.typing = None,
            (KeyCode::Backspace, _) => drop(typing.pop()),
            (KeyCode::Enter, _) => {
                let typed = self.typing.take().filter(|typed| !typed.is_empty());
                if let Some(typed) = typed {
                    match pattern(&typed) {
                        Ok(pattern) => self.pattern = Some(pattern),
                        Err(error) => {
                            self.message = Some(error);
                            return PagerRequest::Nothing;
                        }
                    }
                    self.found = None;
                }
                return self.find(true);
            }
            (KeyCode::Char(c), held)
                if !held.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) =>
            {
                typing.push(c);
            }
            _ => {}
        }
        PagerRequest::Nothing
    }

    /// Asks for the next or previous match.
    fn find(&mut self, forward: bool) -> PagerRequest {
        let Some(pattern) = &self.pattern else {
            return PagerRequest::Nothing;
        };
        let from = match (self.found, forward) {
            (Some(found), true) => found.line + 1,
            (Some(found), false) => found.line.saturating_sub(1),
            (None, _) => self.position.first_line,
        };
        PagerRequest::Find {
            pattern: pattern.as_str().to_owned(),
            from,
            forward,
        }
    }

    pub(crate) fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, theme: &Theme) {
        self.rows = Pager::page_rows(area);
        let prompt = match (&self.typing, &self.message) {
            (Some(typed), _) => PagerPrompt::Search(typed),
            (None, Some(message)) => PagerPrompt::Message(message),
            (None, None) => PagerPrompt::Keys,
        };
        let pager = Pager {
            title: &self.title,
            subtitle: &self.subtitle,
            lines: &self.lines,
            first_line: self.from,
            total_lines: self.total,
            column: self.position.column,
            pattern: self.pattern.as_ref(),
            matches: self.found.map(|found| (found.at, found.all)),
            found_line: self.found.map(|found| found.line),
            prompt,
        };
        pager.render(area, frame.buffer_mut(), theme);
    }
}

/// Reads lines. Blocks on the disk.
pub(crate) fn load(source: &Source, from: u64, count: u64) -> Result<Loaded, String> {
    let view = source.lock().unwrap_or_else(PoisonError::into_inner);
    let page = view
        .lines(from.max(1), Some(count.max(1)))
        .map_err(|error| error.to_string())?;
    let text = page.piece.marked();
    Ok(Loaded {
        from,
        lines: text.lines().map(str::to_owned).collect(),
        total: page.total_lines,
    })
}

/// What was typed as a regular expression. Without a capital letter it ignores case, as ripgrep's `--smart-case` does.
fn pattern(typed: &str) -> Result<Regex, String> {
    // `\S` and its kind are no letters.
    let mut escaped = false;
    let has_capital = typed.chars().any(|char| {
        let is_letter = !escaped;
        escaped = char == '\\' && !escaped;
        is_letter && char.is_uppercase()
    });
    let case = if has_capital { "" } else { ANY_CASE };
    Regex::new(&format!("{case}{typed}")).map_err(|error| {
        // It draws where over several lines; the last says what.
        let said = error.to_string();
        let last = said.lines().last().unwrap_or_default();
        format!("`{typed}`: {}", last.trim_start_matches("error: "))
    })
}

/// The next matching line from a line on, or the last one before it. Blocks on the disk.
pub(crate) fn find(
    source: &Source,
    pattern: &str,
    from: u64,
    forward: bool,
) -> Result<Option<Match>, String> {
    let view = source.lock().unwrap_or_else(PoisonError::into_inner);
    let search = |from_line: u64, max_matches: usize| {
        let search = Search {
            pattern: pattern.to_owned(),
            before: 0,
            after: 0,
            from_line,
            max_matches,
        };
        view.search(&search).map_err(|error| error.to_string())
    };
    let all = search(1, 0)?.total_matches;
    // The line, and how many match from it on: a search counts all, however few it shows.
    let hit = if forward {
        let found = search(from.max(1), 1)?;
        let first = found.lines.iter().find(|line| line.is_match);
        first.map(|line| (line.number, found.total_matches))
    } else {
        let mut last = None;
        let mut start = 1;
        let line = loop {
            let found = search(start, usize::MAX)?;
            let matches = found.lines.iter().filter(|line| line.is_match);
            let before = matches.take_while(|line| line.number <= from).last();
            last = before.map(|line| line.number).or(last);
            match found.next_line {
                Some(next) if next <= from && next > start => start = next,
                _ => break last,
            }
        };
        match line {
            Some(line) => Some((line, search(line, 0)?.total_matches)),
            None => None,
        }
    };
    let Some((line, rest)) = hit else {
        return Ok(None);
    };
    Ok(Some(Match {
        line,
        at: (all + 1).saturating_sub(rest),
        all,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn source(lines: u64) -> (tempfile::NamedTempFile, Source) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        for number in 1..=lines {
            writeln!(file, "line {number}").unwrap();
        }
        let view = FileView::open(file.path()).unwrap();
        (file, Arc::new(Mutex::new(view)))
    }

    #[test]
    fn a_pattern_without_a_capital_ignores_case() {
        for (typed, text, is_found) in [
            ("error", "ERROR", true),
            ("Error", "ERROR", false),
            ("\\S+r", "ERR", true),
            ("\\\\S", "\\s", false),
            ("é", "É", true),
        ] {
            let pattern = pattern(typed).unwrap();
            assert_eq!(pattern.is_match(text), is_found, "{typed} in {text}");
        }
        let said = pattern("(a").unwrap_err();
        assert_eq!(said, "`(a`: unclosed group");
    }

    #[test]
    fn matches_are_found_in_both_directions() {
        let (_file, source) = source(5000);
        for (pattern, from, forward, want) in [
            ("line 7$", 1, true, Some(7)),
            ("line 7$", 8, true, None),
            ("line 7$", 5000, false, Some(7)),
            ("line 7$", 6, false, None),
            ("00$", 101, true, Some(200)),
            ("00$", 4999, false, Some(4900)),
            ("line", 4000, false, Some(4000)),
        ] {
            let found = find(&source, pattern, from, forward).unwrap();
            let line = found.map(|found| found.line);
            assert_eq!(line, want, "{pattern} {from} {forward}");
        }
        let found = find(&source, "00$", 101, true);
        assert_eq!(
            found,
            Ok(Some(Match {
                line: 200,
                at: 2,
                all: 50
            }))
        );
        let found = find(&source, "00$", 4999, false);
        assert_eq!(
            found,
            Ok(Some(Match {
                line: 4900,
                at: 49,
                all: 50
            }))
        );
        assert!(find(&source, "(", 1, true).is_err());
        let loaded = load(&source, 4990, 20).unwrap();
        assert_eq!((loaded.lines.len(), loaded.total), (11, 5000));
        assert_eq!(loaded.lines[0], "line 4990");
    }
}
