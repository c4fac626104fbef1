//! Searches a stored output for a regular expression, line by line, with context.
//!
//! The clean form of the lines, as it is shown, is searched, so that a word with a colour sequence
//! inside is found. `long_line` searches lines of any length in bounded memory.

use crate::long_line::LongLine;
use crate::sanitise::TextSink;
use crate::view::{FileView, capped_sentence};
use regex::bytes::Regex;
use std::collections::VecDeque;
use std::io;

/// The estimated size of a line's number and separators on a page.
const LINE_OVERHEAD_BYTES: usize = 12;

/// The search options. All fields are required.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    /// A regular expression in the syntax of the `regex` crate; `(?i)` in front ignores case.
    pub pattern: String,
    /// Lines shown before a match.
    pub before: usize,
    /// Lines shown after a match.
    pub after: usize,
    /// The first searched line, from 1.
    pub from_line: u64,
    /// Maximum number of shown matches; all matches are counted.
    pub max_matches: usize,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SearchResult {
    /// The matches with their context, in order, at most a page of text.
    pub lines: Vec<FoundLine>,
    /// Number of matches, including matches that are not shown.
    pub total_matches: u64,
    /// The line to continue from for matches that are not shown.
    pub next_line: Option<u64>,
    /// The size of the file in bytes if it was capped, so that later output is missing.
    pub capped_at: Option<u64>,
}

/// A matching line or a line of context.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoundLine {
    /// The line's number, from 1.
    pub number: u64,
    /// The line's text without the line end. A long line is shortened to the surroundings of its
    /// first match, or to its beginning. Marks name the omitted length and the byte of the file at
    /// which to continue.
    pub text: String,
    /// True if the line matches; otherwise the line is context.
    pub is_match: bool,
}

/// Why the search failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The pattern is not a valid regular expression.
    #[error("invalid pattern: {0}")]
    Pattern(String),
    /// An I/O error.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A regular expression for single lines, with the syntax of [`Search::pattern`].
#[derive(Debug, Clone)]
pub struct LineMatcher(Regex);

impl LineMatcher {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// [`SearchError::Pattern`].
    pub fn new(pattern: &str) -> Result<Self, SearchError> {
        let compiled = Regex::new(pattern);
        compiled
            .map(Self)
            .map_err(|error| SearchError::Pattern(error.to_string()))
    }

    /// True if the pattern matches in a line, which has no line end.
    pub fn matches(&self, line: &str) -> bool {
        self.0.is_match(line.as_bytes())
    }
}

impl SearchResult {
    /// Returns the text in the format of `grep -n`: `12:match`, `13-context`, `--` between groups
    /// that do not touch.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut expected = None;
        for line in &self.lines {
            if expected.is_some_and(|number| number != line.number) {
                text.push_str("--\n");
            }
            expected = Some(line.number + 1);
            let separator = if line.is_match { ':' } else { '-' };
            text.push_str(&line.number.to_string());
            text.push(separator);
            text.push_str(&line.text);
            text.push('\n');
        }
        text
    }

    /// Returns one line with the number of matches and the next position; `None` if all matches are
    /// shown.
    pub fn hint(&self) -> Option<String> {
        let next = self.next_line.map(|next| {
            let shown = self.shown();
            format!("{shown} Use offset={next} to go on.")
        });
        let sentences: Vec<String> = next.into_iter().chain(self.capped()).collect();
        (!sentences.is_empty()).then(|| format!("[{}]", sentences.join(" ")))
    }

    /// Returns the sentence for a file that was capped.
    pub fn capped(&self) -> Option<String> {
        self.capped_at.map(capped_sentence)
    }

    /// Returns the sentence with the number of shown matches.
    pub fn shown(&self) -> String {
        let shown = self.lines.iter().filter(|line| line.is_match).count();
        format!("Showing {shown} of {} matches.", self.total_matches)
    }
}

impl FileView {
    /// Searches the file.
    ///
    /// # Errors
    /// [`SearchError`].
    pub fn search(&self, search: &Search) -> Result<SearchResult, SearchError> {
        let LineMatcher(pattern) = LineMatcher::new(&search.pattern)?;
        let mut searcher = Searcher {
            search,
            before: VecDeque::new(),
            after_left: 0,
            max_page_bytes: self.page_limit(),
            shown_bytes: 0,
            shown_matches: 0,
            found: SearchResult::default(),
        };
        let from = search.from_line;
        let each = |number, line: &LongLine, is_match| searcher.line(number, line, is_match);
        self.each_line(pattern, from, || true, each)?;
        let mut found = searcher.found;
        for line in &mut found.lines {
            self.mask_clean_text(&mut line.text);
        }
        found.capped_at = self.capped_at()?;
        Ok(found)
    }

    /// Calls `found` with the number of every matching line, in order. Stops when `continues`,
    /// which is called repeatedly, returns false.
    ///
    /// # Errors
    /// [`SearchError`].
    pub fn matching_lines(
        &self,
        pattern: &str,
        continues: impl Fn() -> bool,
        mut found: impl FnMut(u64),
    ) -> Result<(), SearchError> {
        let pattern =
            Regex::new(pattern).map_err(|error| SearchError::Pattern(error.to_string()))?;
        self.each_line(pattern, 1, continues, |number, _, is_match| {
            if is_match {
                found(number);
            }
        })?;
        Ok(())
    }

    /// Calls `each` with every line from number `from` on, and true if it matches.
    fn each_line(
        &self,
        pattern: Regex,
        from: u64,
        continues: impl Fn() -> bool,
        each: impl FnMut(u64, &LongLine, bool),
    ) -> io::Result<()> {
        let mut lines = LineSplitter {
            pattern,
            open: LongLine::default(),
            number: 1,
            from,
            each,
        };
        let mut sanitiser = self.sanitiser();
        self.each_piece(0, u64::MAX, |piece| {
            sanitiser.piece(piece, &mut lines);
            continues()
        })?;
        sanitiser.finish(&mut lines);
        if !lines.open.is_empty() {
            lines.end_line();
        }
        Ok(())
    }
}

/// Splits text into lines.
struct LineSplitter<F> {
    pattern: Regex,
    /// The line being read.
    open: LongLine,
    number: u64,
    /// The first line that is searched.
    from: u64,
    each: F,
}

/// Collects the page of a search result.
struct Searcher<'a> {
    search: &'a Search,
    /// The most recent non-matching lines with their numbers.
    before: VecDeque<FoundLine>,
    /// Lines of trailing context still to show.
    after_left: usize,
    /// Size limit of a page.
    max_page_bytes: usize,
    shown_bytes: usize,
    shown_matches: usize,
    found: SearchResult,
}

impl<F: FnMut(u64, &LongLine, bool)> LineSplitter<F> {
    fn end_line(&mut self) {
        if self.number >= self.from {
            let is_match = self.open.search_to_end(&self.pattern);
            (self.each)(self.number, &self.open, is_match);
        }
        self.number += 1;
        self.open.clear();
    }
}

impl Searcher<'_> {
    /// Takes the next line: counts a match, and shows the line if it belongs to the page.
    fn line(&mut self, number: u64, line: &LongLine, is_match: bool) {
        self.found.total_matches += u64::from(is_match);
        if self.found.next_line.is_some() {
            return;
        }
        let found = || FoundLine {
            number,
            text: line.shown(),
            is_match,
        };
        if is_match {
            let full = self.shown_matches == self.search.max_matches
                || self.shown_bytes > self.max_page_bytes;
            if full {
                self.found.next_line = Some(number);
                return;
            }
            self.shown_matches += 1;
            self.after_left = self.search.after;
            for context in std::mem::take(&mut self.before) {
                self.show(context);
            }
            self.show(found());
        } else if self.after_left > 0 {
            self.after_left -= 1;
            self.show(found());
        } else if self.search.before > 0 {
            if self.before.len() == self.search.before {
                self.before.pop_front();
            }
            self.before.push_back(found());
        }
    }

    /// Adds a line to the page, unless the line is context and the page is full.
    fn show(&mut self, line: FoundLine) {
        // Matching lines were already accepted; context lines may only fill up the page.
        if !line.is_match && self.shown_bytes > self.max_page_bytes {
            return;
        }
        // The page also has line numbers and separators.
        self.shown_bytes += line.text.len() + LINE_OVERHEAD_BYTES;
        self.found.lines.push(line);
    }
}

impl<F: FnMut(u64, &LongLine, bool)> TextSink for LineSplitter<F> {
    fn text(&mut self, text: &[u8], raw: u64) {
        let mut from = 0;
        for end in memchr::memchr_iter(b'\n', text) {
            self.open
                .push(&text[from..end], raw + from as u64, &self.pattern);
            self.end_line();
            from = end + 1;
        }
        self.open
            .push(&text[from..], raw + from as u64, &self.pattern);
    }

    fn stand_in(&mut self, text: &str, raw: u64, _raw_len: u64) {
        self.open.push(text.as_bytes(), raw, &self.pattern);
    }

    fn line_end(&mut self, _raw: u64) {
        self.end_line();
    }

    fn restart_line(&mut self, _raw: u64) {
        self.open.clear();
    }

    fn take_back(&mut self, chars: usize) -> String {
        self.open.take_back(chars)
    }
}
