//! A search through the lines of a diff, which are all in memory.

use crate::pattern_input::{not_found_text, parse_pattern};
use crate::search_origin;
use agent_bash_render::DiffLine;
use agent_bash_render::regex::Regex;

/// The pattern and the lines that match.
#[derive(Debug)]
pub(crate) struct DiffSearch {
    pub(crate) pattern: Regex,
    /// The numbers of matching lines, from 1; not empty.
    lines: Vec<u64>,
    /// The index of the match of the last jump.
    current: Option<usize>,
}

impl DiffSearch {
    /// Finds the lines that match `typed`.
    ///
    /// # Errors
    ///
    /// A message if `typed` is not a regular expression or no line matches.
    pub(crate) fn new(typed: &str, lines: &[DiffLine]) -> Result<Self, String> {
        let pattern = parse_pattern(typed)?;
        let found = (1..)
            .zip(lines)
            .filter(|(_, line)| line.is_searched() && pattern.is_match(&line.text()));
        let lines: Vec<u64> = found.map(|(number, _)| number).collect();
        if lines.is_empty() {
            return Err(not_found_text(Some(&pattern)));
        }
        Ok(Self {
            pattern,
            lines,
            current: None,
        })
    }

    /// Returns the line of the `times`-th match at or after the line `from`. A backward search
    /// finds matches at or before that line. The second value is true if the search wrapped around.
    pub(crate) fn find(&mut self, from: u64, forward: bool, times: u64) -> Option<(u64, bool)> {
        let (at, has_wrapped) = search_origin::next_match(&self.lines, from, forward, times)?;
        self.current = Some(at);
        Some((self.lines[at], has_wrapped))
    }

    /// The line of the last jump.
    pub(crate) fn line(&self) -> Option<u64> {
        self.lines.get(self.current?).copied()
    }

    /// The number of the current match, from 1, and the count of matches.
    pub(crate) fn count(&self) -> Option<(u64, u64)> {
        Some((self.current? as u64 + 1, self.lines.len() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_counted_and_found_in_both_directions() {
        let line = |text: &str| DiffLine::Added(text.to_owned());
        let lines = ["one", "two", "One", "three", "one"].map(line);
        let hunk = DiffLine::Hunk("@@ -1,3 +1,3 @@".to_owned());
        assert!(DiffSearch::new("1", &[hunk]).is_err());
        let mut search = DiffSearch::new("one", &lines).unwrap();
        assert_eq!((search.line(), search.count()), (None, None));
        for (from, forward, wanted) in [
            (2, true, (3, false)),
            (4, true, (5, false)),
            (6, true, (1, true)),
            (0, false, (5, true)),
            (4, false, (3, false)),
        ] {
            assert_eq!(search.find(from, forward, 1), Some(wanted), "{forward}");
        }
        assert_eq!((search.line(), search.count()), (Some(3), Some((2, 3))));
        for (typed, wanted) in [
            ("One", Ok(vec![3])),
            ("^t", Ok(vec![2, 4])),
            ("four", Err("`four` was not found".to_owned())),
            ("(", Err("`(`: unclosed group".to_owned())),
        ] {
            let found = DiffSearch::new(typed, &lines);
            assert_eq!(found.map(|search| search.lines), wanted, "{typed}");
        }
    }
}
