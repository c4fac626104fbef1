//! Tables of data about programs: a row is a line of text that begins with names.
//!
//! Each process reads the tables before its first command, so a row is parsed on first use. The
//! tables of this crate and the rules of `agent-bash-policy` have this form.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::OnceLock;

/// A table whose rows are parsed to `R`.
#[derive(Debug)]
pub struct Table<R> {
    rows: Vec<(&'static str, OnceLock<R>)>,
    /// The index of each row of a name, in the order of the names; rows with more subcommands come
    /// first.
    names: Vec<(&'static str, Reverse<usize>, usize)>,
    parse: fn(&'static str) -> R,
}

impl<R> Table<R> {
    /// Returns the table of a text, in which each line is a row, empty, or a comment after `#`.
    pub(crate) fn of(text: &'static str, parse: fn(&'static str) -> R) -> Self {
        let rows = text.lines();
        let rows = rows.filter(|row| !row.is_empty() && !row.starts_with('#'));
        Self::of_rows(rows, parse)
    }

    /// Returns the table of these rows. A row begins with `NAMES ; ` or `NAMES / SUBCOMMANDS ; `.
    pub fn of_rows(
        rows: impl IntoIterator<Item = &'static str>,
        parse: fn(&'static str) -> R,
    ) -> Self {
        let rows = rows.into_iter().map(|row| (row, OnceLock::new()));
        let rows: Vec<_> = rows.collect();
        let mut names = Vec::new();
        for (index, (line, _)) in rows.iter().enumerate() {
            let (of_row, subcommands) = names_and_subcommands(line);
            let count = Reverse(subcommands.split_whitespace().count());
            names.extend(of_row.split_whitespace().map(|name| (name, count, index)));
        }
        names.sort_unstable();
        Self { rows, names, parse }
    }

    /// Returns the rows of a name.
    pub fn rows_of(&self, name: &str) -> impl Iterator<Item = &R> {
        self.names[self.range_of(name)]
            .iter()
            .map(|(_, _, index)| self.row(*index))
    }

    fn range_of(&self, name: &str) -> Range<usize> {
        let start = self.names.partition_point(|(other, ..)| *other < name);
        let rest = self.names[start..].iter();
        start..start + rest.take_while(|(other, ..)| *other == name).count()
    }

    fn row(&self, index: usize) -> &R {
        let (line, row) = &self.rows[index];
        row.get_or_init(|| (self.parse)(line))
    }

    /// Returns the rows of all names that are wanted. A row with several of them is repeated.
    pub fn rows_where(&self, is_wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = &R> {
        let wanted = self.names.iter().filter(move |(name, ..)| is_wanted(name));
        wanted.map(|(_, _, index)| self.row(*index))
    }

    /// Returns all rows.
    #[cfg(test)]
    pub(crate) fn rows(&self) -> impl Iterator<Item = &R> {
        (0..self.rows.len()).map(|index| self.row(index))
    }
}

/// Returns the names and the subcommands at the beginning of a row.
pub(crate) fn names_and_subcommands(line: &'static str) -> (&'static str, &'static str) {
    let head = split_at_mark(line, ';').map_or(line, |(head, _)| head);
    split_at_mark(head, '/').unwrap_or((head, ""))
}

/// Splits a line at the first `mark` between blanks. The search for a string of three characters
/// would take most of the time in which a process reads its tables.
fn split_at_mark(line: &str, mark: char) -> Option<(&str, &str)> {
    line.match_indices(mark).find_map(|(at, _)| {
        let before = line[..at].strip_suffix(' ')?;
        Some((before, line[at + 1..].strip_prefix(' ')?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_name_are_parsed_on_first_use_and_come_with_subcommands_first() {
        let table = Table::of("# about\n\na b ; x\na / run ; y\nc ; z\n", str::len);
        let found: Vec<usize> = table.rows_of("a").copied().collect();
        assert_eq!(found, ["a / run ; y".len(), "a b ; x".len()]);
        assert_eq!(table.rows_of("b").count(), 1);
        assert_eq!(table.rows_of("ab").count(), 0);
        assert!(table.rows[2].1.get().is_none());
        let wanted: Vec<usize> = table.rows_where(|name| name > "b").copied().collect();
        assert_eq!(wanted, ["c ; z".len()]);
        assert_eq!(table.rows().count(), 3);
    }
}
