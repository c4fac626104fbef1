//! What the pager shows: lines of a kept output, or of a card, and searches through them.

use crate::around;
use crate::transcript::EntryId;
use agent_bash::sink::{FileView, Search};
use agent_bash_render::regex::Regex;
use agent_bash_render::{OutputLimits, OutputText};
use std::sync::{Arc, Mutex, PoisonError};

/// A text kept in a file. Read it on a blocking thread only.
pub(crate) type Kept = Arc<Mutex<FileView>>;

/// Where the lines come from.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    File(Kept),
    /// What a card keeps of an output.
    Card(EntryId),
}

/// A line that matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Match {
    /// Its number.
    pub(crate) line: u64,
    /// Which of the lines that match, from 1.
    pub(crate) at: u64,
    /// How many there are.
    pub(crate) all: u64,
    /// It is beyond the end: the search has gone on from the other one.
    pub(crate) is_around: bool,
}

/// Which lines are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    /// The first, from 1; `None` for the last ones.
    pub(crate) from: Option<u64>,
    pub(crate) count: u64,
    /// Not if the file has this length.
    pub(crate) unless: Option<u64>,
}

/// Lines of a text.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) from: u64,
    pub(crate) text: OutputText,
    pub(crate) total: u64,
    /// Length of the file in bytes.
    pub(crate) len: u64,
}

impl Range {
    /// Lines from one on.
    pub(crate) fn from(first: u64, count: u64) -> Self {
        Self {
            from: Some(first),
            count,
            unless: None,
        }
    }
}

/// Reads lines with their colours; nothing if the file has the length for which they are not wanted. Blocks on the disk.
pub(crate) fn load(kept: &Kept, range: Range) -> Result<Option<Box<Loaded>>, String> {
    let view = kept.lock().unwrap_or_else(PoisonError::into_inner);
    let said = |error: std::io::Error| error.to_string();
    if range.unless.is_some() && range.unless == view.len().ok() {
        return Ok(None);
    }
    let count = range.count.max(1);
    let from = match range.from {
        Some(from) => from.max(1),
        None => view.total_lines().map_err(said)?.saturating_sub(count) + 1,
    };
    let page = view.lines(from, Some(count)).map_err(said)?;
    let text = view.coloured(&page).map_err(said)?;
    Ok(Some(Box::new(Loaded {
        from,
        text: OutputText::of(OutputLimits::PAGE, &text),
        total: page.total_lines,
        len: page.total_bytes,
    })))
}

/// The next matching line from a line on, or the last one up to it; if there is none, the one from the other end. Blocks on
/// the disk.
pub(crate) fn find(
    kept: &Kept,
    pattern: &str,
    from: u64,
    forward: bool,
) -> Result<Option<Match>, String> {
    let view = kept.lock().unwrap_or_else(PoisonError::into_inner);
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
    let hit = |from: u64| {
        if forward {
            let found = search(from.max(1), 1)?;
            let first = found.lines.iter().find(|line| line.is_match);
            return Ok(first.map(|line| (line.number, found.total_matches)));
        }
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
            Some(line) => Ok::<_, String>(Some((line, search(line, 0)?.total_matches))),
            None => Ok(None),
        }
    };
    let mut found = hit(from)?;
    let is_around = found.is_none() && all > 0;
    if is_around {
        found = hit(if forward { 1 } else { u64::MAX })?;
    }
    Ok(found.map(|(line, rest)| Match {
        line,
        at: (all + 1).saturating_sub(rest),
        all,
        is_around,
    }))
}

/// The same in what a card keeps.
pub(crate) fn find_in(
    output: &OutputText,
    pattern: &Regex,
    from: u64,
    forward: bool,
) -> Option<Match> {
    let text = output.plain();
    let lines = text.lines().zip(output.dropped_lines() + 1..);
    let hits = lines.filter(|(line, _)| pattern.is_match(line));
    let hits: Vec<u64> = hits.map(|(_, number)| number).collect();
    let (at, is_around) = around::next(&hits, from, forward)?;
    Some(Match {
        line: hits[at],
        at: at as u64 + 1,
        all: hits.len() as u64,
        is_around,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn kept(lines: u64) -> (tempfile::NamedTempFile, Kept) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        for number in 1..=lines {
            writeln!(file, "line {number}").unwrap();
        }
        let view = FileView::open(file.path()).unwrap();
        (file, Arc::new(Mutex::new(view)))
    }

    #[test]
    fn matches_are_found_in_both_directions() {
        let (_file, kept) = kept(5000);
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
            let found = find(&kept, pattern, from, forward).unwrap();
            let line = found.map(|found| (found.line, found.is_around));
            assert_eq!(line, want, "{pattern} {from} {forward}");
        }
        let found = find(&kept, "00$", 101, true);
        assert_eq!(
            found,
            Ok(Some(Match {
                line: 200,
                at: 2,
                all: 50,
                is_around: false
            }))
        );
        let found = find(&kept, "00$", 4999, false);
        assert_eq!(
            found,
            Ok(Some(Match {
                line: 4900,
                at: 49,
                all: 50,
                is_around: false
            }))
        );
        assert!(find(&kept, "(", 1, true).is_err());
        let loaded = load(&kept, Range::from(4990, 20)).unwrap().unwrap();
        assert_eq!((loaded.text.total_lines(), loaded.total), (11, 5000));
        assert!(loaded.text.plain().starts_with("line 4990\n"));
    }

    #[test]
    fn the_end_is_read_again_once_there_is_more() {
        let (mut file, kept) = kept(100);
        let end = |unless| Range {
            from: None,
            count: 5,
            unless,
        };
        let loaded = load(&kept, end(None)).unwrap().unwrap();
        assert_eq!((loaded.from, loaded.total), (96, 100));
        assert!(load(&kept, end(Some(loaded.len))).unwrap().is_none());
        writeln!(file, "\x1b[31mmore").unwrap();
        let loaded = load(&kept, end(Some(loaded.len))).unwrap().unwrap();
        assert_eq!((loaded.from, loaded.total), (97, 101));
        assert!(loaded.text.plain().ends_with("line 100\nmore\n"));
    }

    #[test]
    fn a_card_is_searched_by_the_numbers_of_its_lines() {
        let mut output = OutputText::of(OutputLimits::CARD, "a\nab\nb\nab\n");
        let pattern = Regex::new("a").unwrap();
        let line = |output: &OutputText, from, forward| {
            find_in(output, &pattern, from, forward).map(|found| (found.line, found.at, found.all))
        };
        assert_eq!(line(&output, 2, true), Some((2, 2, 3)));
        assert_eq!(line(&output, 3, false), Some((2, 2, 3)));
        assert_eq!(line(&output, 5, true), Some((1, 1, 3)));
        assert_eq!(line(&output, 0, false), Some((4, 3, 3)));
        output.skip(10);
        output.push(b"xax\n");
        assert_eq!(line(&output, 1, true), Some((15, 1, 1)));
    }
}
