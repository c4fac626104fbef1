//! Tables of data about programs: a row is a line of text that begins with names.
//!
//! Each process reads the tables before its first command, so a row is parsed on first use.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::OnceLock;

/// A table.
pub(super) struct Table<R> {
    rows: Vec<(&'static str, OnceLock<R>)>,
    /// The index of each row of a name, in the order of the names; rows with more subcommands come
    /// first.
    names: Vec<(&'static str, Reverse<usize>, usize)>,
    parse: fn(&'static str) -> R,
}

impl<R> Table<R> {
    /// Returns the table of a text. Its rows begin with `NAMES ; ` or `NAMES / SUBCOMMANDS ; `;
    /// comments begin with `#`.
    pub(super) fn of(text: &'static str, parse: fn(&'static str) -> R) -> Self {
        let lines = text.lines();
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        let rows: Vec<_> = lines.map(|line| (line, OnceLock::new())).collect();
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
    pub(super) fn rows_of(&self, name: &str) -> impl Iterator<Item = &R> {
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

    /// Returns all rows.
    #[cfg(test)]
    pub(super) fn rows(&self) -> impl Iterator<Item = &R> {
        (0..self.rows.len()).map(|index| self.row(index))
    }
}

/// Returns the names and the subcommands at the beginning of a row.
pub(super) fn names_and_subcommands(line: &'static str) -> (&'static str, &'static str) {
    let head = line.split_once(" ; ").map_or(line, |(head, _)| head);
    head.split_once(" / ").unwrap_or((head, ""))
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
        assert_eq!(table.rows().count(), 3);
    }
}
