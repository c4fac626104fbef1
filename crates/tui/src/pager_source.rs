//! The text of the pager: lines of a stored output, or of a card, and searches through them.

use crate::matching_lines::MatchingLines;
use crate::search_origin;
use crate::transcript::EntryId;
use agent_bash::core::lock;
use agent_bash::sink::FileView;
use agent_bash_render::regex::Regex;
use agent_bash_render::{OutputLimits, OutputText};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// A text stored in a file. Read it on a blocking thread only.
pub(crate) type SharedText = Arc<StoredText>;

/// A stored text, and its last search.
#[derive(Debug)]
pub(crate) struct StoredText {
    view: FileView,
    last_search: Mutex<Option<LastSearch>>,
}

/// The matches of a pattern.
#[derive(Debug)]
struct LastSearch {
    pattern: String,
    /// Length of the file in bytes.
    len: u64,
    matches: MatchingLines,
}

impl StoredText {
    pub(crate) fn of(view: FileView) -> SharedText {
        Arc::new(Self {
            view,
            last_search: Mutex::default(),
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PatternSearch {
    pub(crate) pattern: String,
    /// The line at which the search starts, in its direction.
    pub(crate) from: u64,
    pub(crate) forward: bool,
    /// The number of the wanted match, counted from `from`; the first is 1.
    pub(crate) times: u64,
    pub(crate) ticket: SearchTicket,
}

/// Identifies a search, and tells the searching thread whether the search was abandoned.
#[derive(Debug, Clone, Default)]
pub(crate) struct SearchTicket(Arc<AtomicBool>);

impl SearchTicket {
    /// Abandons the search.
    pub(crate) fn abandon(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_abandoned(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl PartialEq for SearchTicket {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for SearchTicket {}

#[derive(Debug, Clone)]
pub(crate) enum LineSource {
    File(SharedText),
    /// The output that a card holds.
    Card(EntryId),
}

/// A line that matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MatchingLine {
    /// The number of the line.
    pub(crate) line: u64,
    /// The number of the match, from 1.
    pub(crate) index: u64,
    /// The number of matches.
    pub(crate) total: u64,
    /// True if the search wrapped around.
    pub(crate) has_wrapped: bool,
}

/// The lines to load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineRange {
    /// The first line, from 1; `None` for the last lines.
    pub(crate) from: Option<u64>,
    pub(crate) count: u64,
    /// Load nothing if the file still has this length in bytes.
    pub(crate) unless_len: Option<u64>,
}

/// Lines of a text.
#[derive(Debug)]
pub(crate) struct LoadedLines {
    pub(crate) from: u64,
    pub(crate) text: OutputText,
    pub(crate) total: u64,
    /// Length of the file in bytes.
    pub(crate) len: u64,
}

impl LineRange {
    /// `count` lines from `first` on.
    pub(crate) fn starting_at(first: u64, count: u64) -> Self {
        Self {
            from: Some(first),
            count,
            unless_len: None,
        }
    }
}

/// Reads lines with their colours. Returns `None` if the file has the length `unless_len`. Blocks
/// on the disk.
pub(crate) fn load(
    text: &SharedText,
    range: LineRange,
) -> Result<Option<Box<LoadedLines>>, String> {
    let view = &text.view;
    let message = |error: std::io::Error| error.to_string();
    if range.unless_len.is_some() && range.unless_len == view.len().ok() {
        return Ok(None);
    }
    let count = range.count.max(1);
    let from = match range.from {
        Some(from) => from.max(1),
        None => view.total_lines().map_err(message)?.saturating_sub(count) + 1,
    };
    let page = view.lines(from, Some(count)).map_err(message)?;
    let text = view.coloured(&page).map_err(message)?;
    Ok(Some(Box::new(LoadedLines {
        from,
        text: OutputText::of(OutputLimits::PAGE, &text),
        total: page.total_lines,
        len: page.total_bytes,
    })))
}

/// Finds a match. Reads the file once per pattern and length, and stores all matches. Blocks on the
/// disk.
pub(crate) fn find(
    text: &SharedText,
    search: &PatternSearch,
) -> Result<Option<MatchingLine>, String> {
    let message = |error: std::io::Error| error.to_string();
    let len = text.view.len().map_err(message)?;
    let mut last_search = lock(&text.last_search);
    let is_other = |last: &LastSearch| last.pattern != search.pattern || last.len != len;
    if last_search.as_ref().is_none_or(is_other) {
        *last_search = None;
        let mut matches = MatchingLines::default();
        let wanted = || !search.ticket.is_abandoned();
        let found = |line| matches.add(line);
        let read = text.view.matching_lines(&search.pattern, wanted, found);
        read.map_err(|error| error.to_string())?;
        if search.ticket.is_abandoned() {
            return Ok(None);
        }
        *last_search = Some(LastSearch {
            pattern: search.pattern.clone(),
            len,
            matches,
        });
    }
    let Some(LastSearch { matches, .. }) = &*last_search else {
        return Ok(None);
    };
    let next = matches.next(search.from, search.forward, search.times);
    Ok(next.map(|(line, before, has_wrapped)| MatchingLine {
        line,
        index: before + 1,
        total: matches.count(),
        has_wrapped,
    }))
}

/// Finds a match in the output that a card holds.
pub(crate) fn find_in(
    output: &OutputText,
    pattern: &Regex,
    search: &PatternSearch,
) -> Option<MatchingLine> {
    let text = output.plain();
    let lines = text.lines().zip(output.dropped_lines() + 1..);
    let hits = lines.filter(|(line, _)| pattern.is_match(line));
    let hits: Vec<u64> = hits.map(|(_, number)| number).collect();
    let (at, has_wrapped) =
        search_origin::next_match(&hits, search.from, search.forward, search.times)?;
    Some(MatchingLine {
        line: hits[at],
        index: at as u64 + 1,
        total: hits.len() as u64,
        has_wrapped,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn text(lines: u64) -> (tempfile::NamedTempFile, SharedText) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        for number in 1..=lines {
            writeln!(file, "line {number}").unwrap();
        }
        let view = FileView::open(file.path()).unwrap();
        (file, StoredText::of(view))
    }

    fn search(pattern: &str, from: u64, forward: bool) -> PatternSearch {
        PatternSearch {
            pattern: pattern.to_owned(),
            from,
            forward,
            times: 1,
            ticket: SearchTicket::default(),
        }
    }

    /// The matches are stored, so the next search reads nothing.
    #[test]
    fn file_is_read_once_per_pattern_and_length() {
        let (mut file, text) = text(50);
        let found = |from, times| {
            let search = PatternSearch {
                times,
                ..search("5$", from, true)
            };
            let found = find(&text, &search).unwrap().unwrap();
            (found.line, found.index, found.total)
        };
        assert_eq!(found(6, 3), (35, 4, 5));
        // Other contents of the same length are not read.
        let text = std::fs::read_to_string(file.path()).unwrap();
        std::fs::write(file.path(), text.replace('5', "6")).unwrap();
        assert_eq!(found(1, 1), (5, 1, 5));
        assert_eq!(found(1, 7), (15, 2, 5));
        writeln!(file, "55").unwrap();
        assert_eq!(found(1, 1).2, 1);
    }

    #[test]
    fn abandoned_search_ends_early() {
        let (_file, text) = text(5000);
        let search = search("7$", 1, true);
        search.ticket.abandon();
        assert_eq!(find(&text, &search), Ok(None));
        assert!(text.last_search.lock().unwrap().is_none());
    }

    #[test]
    fn matches_are_found_in_both_directions() {
        let (_file, text) = text(5000);
        for (pattern, from, forward, want) in [
            ("line 7$", 1, true, Some((7, false))),
            ("line 7$", 8, true, Some((7, true))),
            ("line 7$", 5000, false, Some((7, false))),
            ("line 7$", 6, false, Some((7, true))),
            ("00$", 101, true, Some((200, false))),
            ("00$", 4999, false, Some((4900, false))),
            ("00$", 50, false, Some((5000, true))),
            ("line", 4000, false, Some((4000, false))),
            ("line", 0, false, Some((5000, true))),
            ("nowhere", 9, true, None),
            ("nowhere", 9, false, None),
        ] {
            let found = find(&text, &search(pattern, from, forward)).unwrap();
            let line = found.map(|found| (found.line, found.has_wrapped));
            assert_eq!(line, want, "{pattern} {from} {forward}");
        }
        for (from, forward, line, index) in [(101, true, 200, 2), (4999, false, 4900, 49)] {
            let wanted = MatchingLine {
                line,
                index,
                total: 50,
                has_wrapped: false,
            };
            let found = find(&text, &search("00$", from, forward));
            assert_eq!(found, Ok(Some(wanted)));
        }
        assert!(find(&text, &search("(", 1, true)).is_err());
        let loaded = load(&text, LineRange::starting_at(4990, 20))
            .unwrap()
            .unwrap();
        assert_eq!((loaded.text.total_lines(), loaded.total), (11, 5000));
        assert!(loaded.text.plain().starts_with("line 4990\n"));
    }

    #[test]
    fn end_is_read_again_when_the_file_has_grown() {
        let (mut file, text) = text(100);
        let end = |unless| LineRange {
            from: None,
            count: 5,
            unless_len: unless,
        };
        let loaded = load(&text, end(None)).unwrap().unwrap();
        assert_eq!((loaded.from, loaded.total), (96, 100));
        assert!(load(&text, end(Some(loaded.len))).unwrap().is_none());
        writeln!(file, "\x1b[31mmore").unwrap();
        let loaded = load(&text, end(Some(loaded.len))).unwrap().unwrap();
        assert_eq!((loaded.from, loaded.total), (97, 101));
        assert!(loaded.text.plain().ends_with("line 100\nmore\n"));
    }

    #[test]
    fn card_is_searched_by_its_line_numbers() {
        let mut output = OutputText::of(OutputLimits::CARD, "a\nab\nb\nab\n");
        let pattern = Regex::new("a").unwrap();
        let line = |output: &OutputText, from, forward| {
            let found = find_in(output, &pattern, &search("a", from, forward));
            found.map(|found| (found.line, found.index, found.total))
        };
        assert_eq!(line(&output, 2, true), Some((2, 2, 3)));
        assert_eq!(line(&output, 3, false), Some((2, 2, 3)));
        assert_eq!(line(&output, 5, true), Some((1, 1, 3)));
        assert_eq!(line(&output, 0, false), Some((4, 3, 3)));
        output.skip_lines(10);
        output.push(b"xax\n");
        assert_eq!(line(&output, 1, true), Some((15, 1, 1)));
    }
}
