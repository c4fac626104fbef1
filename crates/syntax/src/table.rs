//! Tables of data about programs: a row is a line of text that begins with names.
//!
//! Most processes check one command, so the names are sorted when this crate is compiled, and a row
//! is parsed on first use. The tables of this crate and the rules of `agent-bash-policy` have this
//! form.

use std::sync::OnceLock;

/// A table whose rows are parsed to `R`. [`table!`](crate::table!) makes one.
#[derive(Debug)]
pub struct Table<R: 'static> {
    names: &'static [RowName],
    /// For each name, its parsed row.
    rows: &'static [OnceLock<Box<R>>],
    parse: fn(&'static str) -> R,
}

/// A name at the beginning of a row.
#[derive(Debug, Clone, Copy)]
pub struct RowName {
    /// The number of lines before the row that begin with `[`.
    section: usize,
    name: &'static str,
    /// The number of subcommands.
    subcommands: usize,
    row: &'static str,
}

/// The [`Table`](crate::table::Table) of a constant text, in which each line with this prefix is a
/// row: `NAMES ; …` or `NAMES / SUBCOMMANDS ; …`. With an empty prefix, all lines are rows that are
/// not empty and do not begin with `#`.
#[macro_export]
macro_rules! table {
    ($text:expr, $prefix:literal, $row:ty, $parse:expr) => {{
        use std::sync::OnceLock;
        use $crate::table::{RowName, Table, read_names, sorted};
        const NAME_COUNT: usize = read_names::<0>($text, $prefix).1;
        static NAMES: [RowName; NAME_COUNT] = sorted(read_names($text, $prefix).0);
        static ROWS: [OnceLock<Box<$row>>; NAME_COUNT] = [const { OnceLock::new() }; NAME_COUNT];
        Table::of(&NAMES, &ROWS, $parse)
    }};
}

impl<R> Table<R> {
    #[doc(hidden)]
    pub const fn of(
        names: &'static [RowName],
        rows: &'static [OnceLock<Box<R>>],
        parse: fn(&'static str) -> R,
    ) -> Self {
        Self { names, rows, parse }
    }

    /// Returns the rows between the line number `section`, from 1, that begins with `[`, and the
    /// next such line.
    #[must_use]
    pub fn section(&self, section: usize) -> Self {
        let begin = self.names.partition_point(|name| name.section < section);
        let end = self.names.partition_point(|name| name.section <= section);
        Self {
            names: &self.names[begin..end],
            rows: &self.rows[begin..end],
            parse: self.parse,
        }
    }

    /// Returns the rows of a name; rows with more subcommands come first.
    pub fn rows_of(&self, name: &str) -> impl Iterator<Item = &'static R> {
        let begin = self.names.partition_point(|other| other.name < name);
        let end = self.names.partition_point(|other| other.name <= name);
        (begin..end).map(|index| self.row(index))
    }

    fn row(&self, index: usize) -> &'static R {
        self.rows[index].get_or_init(|| Box::new((self.parse)(self.names[index].row)))
    }

    /// Returns the rows of all names that are wanted. A row with several of them is repeated.
    pub fn rows_where(&self, is_wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = &'static R> {
        let indices = 0..self.names.len();
        let wanted = indices.filter(move |index| is_wanted(self.names[*index].name));
        wanted.map(|index| self.row(index))
    }

    /// Returns all rows.
    #[cfg(test)]
    pub(crate) fn rows(&self) -> impl Iterator<Item = &'static R> {
        let is_first = |index: &usize| {
            let row = self.names[*index].row;
            !self.names[..*index].iter().any(|name| name.row == row)
        };
        (0..self.names.len())
            .filter(is_first)
            .map(|index| self.row(index))
    }
}

/// Returns the first `N` names of a text, and the number of all.
#[doc(hidden)]
pub const fn read_names<const N: usize>(text: &'static str, prefix: &str) -> ([RowName; N], usize) {
    let mut names = [RowName {
        section: 0,
        name: "",
        subcommands: 0,
        row: "",
    }; N];
    let (mut count, mut section, mut rest) = (0, 0, text);
    while !rest.is_empty() {
        let line;
        (line, rest) = split(rest, b"\n");
        if starts_with(line, "[") {
            section += 1;
        }
        if !starts_with(line, prefix) || starts_with(line, "#") {
            continue;
        }
        let row = line.split_at(prefix.len()).1;
        let (mut of_row, mut subcommands) = names_and_subcommands(row);
        let mut subcommand_count = 0;
        while !subcommands.is_empty() {
            (_, subcommands) = split(subcommands, b" ");
            subcommand_count += 1;
        }
        while !of_row.is_empty() {
            let name;
            (name, of_row) = split(of_row, b" ");
            if count < N {
                names[count] = RowName {
                    section,
                    name,
                    subcommands: subcommand_count,
                    row,
                };
            }
            count += 1;
        }
    }
    (names, count)
}

/// Sorts by section and name; rows with more subcommands come first, and otherwise in the order of
/// the text.
#[doc(hidden)]
pub const fn sorted<const N: usize>(mut from: [RowName; N]) -> [RowName; N] {
    let mut width = 1;
    while width < N {
        let mut merged = from;
        let (mut begin, mut at) = (0, 0);
        while begin < N {
            let middle = if begin + width < N { begin + width } else { N };
            let end = if middle + width < N {
                middle + width
            } else {
                N
            };
            let (mut left, mut right) = (begin, middle);
            while at < end {
                let takes_right =
                    left == middle || right < end && is_before(&from[right], &from[left]);
                let taken = if takes_right { &mut right } else { &mut left };
                merged[at] = from[*taken];
                *taken += 1;
                at += 1;
            }
            begin = end;
        }
        from = merged;
        width *= 2;
    }
    from
}

const fn is_before(one: &RowName, other: &RowName) -> bool {
    if one.section != other.section {
        return one.section < other.section;
    }
    let (a, b) = (one.name.as_bytes(), other.name.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() {
        if a[at] != b[at] {
            return a[at] < b[at];
        }
        at += 1;
    }
    if a.len() != b.len() {
        return a.len() < b.len();
    }
    one.subcommands > other.subcommands
}

/// Returns the names and the subcommands at the beginning of a row.
pub(crate) const fn names_and_subcommands(line: &str) -> (&str, &str) {
    split(split(line, b" ; ").0, b" / ")
}

/// Splits a text at the first separator; without one, the second part is empty.
const fn split<'t>(text: &'t str, separator: &[u8]) -> (&'t str, &'t str) {
    let mut at = 0;
    while at + separator.len() <= text.len() {
        if is_at(text.as_bytes(), at, separator) {
            let (before, rest) = text.split_at(at);
            return (before, rest.split_at(separator.len()).1);
        }
        at += 1;
    }
    (text, "")
}

const fn starts_with(text: &str, beginning: &str) -> bool {
    beginning.len() <= text.len() && is_at(text.as_bytes(), 0, beginning.as_bytes())
}

/// True if `part` is at this position of a text that is long enough.
const fn is_at(text: &[u8], at: usize, part: &[u8]) -> bool {
    let mut index = 0;
    while index < part.len() {
        if text[at + index] != part[index] {
            return false;
        }
        index += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    static TABLE: Table<usize> = crate::table!(
        "# about\n\na b ; x\na / run ; y\nc ; z\n",
        "",
        usize,
        str::len
    );

    #[test]
    fn rows_of_a_name_are_parsed_on_first_use_and_come_with_subcommands_first() {
        let found: Vec<usize> = TABLE.rows_of("a").copied().collect();
        assert_eq!(found, ["a / run ; y".len(), "a b ; x".len()]);
        assert!(TABLE.rows[2].get().is_none());
        assert_eq!(TABLE.rows_of("b").count(), 1);
        assert_eq!(TABLE.rows_of("ab").count(), 0);
        let wanted: Vec<usize> = TABLE.rows_where(|name| name > "b").copied().collect();
        assert_eq!(wanted, ["c ; z".len()]);
        assert_eq!(TABLE.rows().count(), 3);
    }

    #[test]
    fn sections_have_the_rows_of_their_lines() {
        static TABLE: Table<&str> = crate::table!(
            "#   [id]\n[one]\nrow b ; x\nmessage a ; y\nrow a b / c d ; z\n[two]\n[three]\nrow a ; w\n",
            "row ",
            &'static str,
            |row| row
        );
        let rows = |section: usize, name: &str| -> Vec<&str> {
            TABLE.section(section).rows_of(name).copied().collect()
        };
        assert_eq!(rows(1, "b"), ["a b / c d ; z", "b ; x"]);
        assert_eq!(rows(1, "a"), ["a b / c d ; z"]);
        assert_eq!(rows(2, "a"), [""; 0]);
        assert_eq!(rows(3, "a"), ["a ; w"]);
    }
}
