//! A section of a file of safety rules: the data of one rule. `core.conf` explains the format.
//!
//! Each process reads all rules before its first command, so examples are parsed on first use.

use super::command_line::Action;
use std::sync::OnceLock;

/// The lines of one rule.
#[derive(Debug, Clone, Copy)]
pub(super) struct Section {
    /// The rule's id.
    pub(super) id: &'static str,
    lines: &'static str,
}

impl Section {
    /// Returns the sections of a file, which starts with a comment.
    pub(super) fn all(text: &'static str) -> impl Iterator<Item = Self> {
        // Not a search for "\n[", which would take several times as long.
        let brackets = text.match_indices('[').map(|(at, _)| at);
        let begins = brackets.filter(|at| text[..*at].ends_with('\n'));
        let mut begins = begins.peekable();
        std::iter::from_fn(move || {
            let begin = begins.next()? + 1;
            let end = begins.peek().copied().unwrap_or(text.len());
            let (id, lines) = text[begin..end].split_once('\n')?;
            let id = id.strip_suffix(']')?;
            Some(Self { id, lines })
        })
    }

    /// Returns the lines as keys and values.
    pub(super) fn entries(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.lines.lines().filter_map(|line| line.split_once(' '))
    }
}

/// Example scripts of a rule, which only tests and pages use.
#[derive(Debug)]
pub struct Examples {
    section: Section,
    /// True for scripts that the rule refuses.
    are_blocked: bool,
    scripts: OnceLock<Vec<String>>,
}

impl Examples {
    pub(super) fn of(section: Section, are_blocked: bool) -> Self {
        Self {
            section,
            are_blocked,
            scripts: OnceLock::new(),
        }
    }

    fn parsed(&self) -> Vec<String> {
        let entries = self.section.entries();
        let script = |(key, text): (&str, &str)| match (key, self.are_blocked) {
            ("block", true) | ("allow", false) => Some(text.replace('⏎', "\n")),
            ("row", true) => Some(Action::of(text).1.to_owned()),
            _ => None,
        };
        entries.filter_map(script).collect()
    }
}

impl std::ops::Deref for Examples {
    type Target = [String];

    fn deref(&self) -> &[String] {
        self.scripts.get_or_init(|| self.parsed())
    }
}

impl<'e> IntoIterator for &'e Examples {
    type Item = &'e String;
    type IntoIter = std::slice::Iter<'e, String>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# The header, with\n#   [id]\n\n[one]\nsummary a b\nrow git hg / push ; with -f ; try git push -f\nblock a⏎b\nallow c\n\n[two]\nmessage m\n";

    #[test]
    fn sections_have_the_lines_of_their_rule() {
        let sections: Vec<Section> = Section::all(FILE).collect();
        let ids: Vec<&str> = sections.iter().map(|section| section.id).collect();
        assert_eq!(ids, ["one", "two"]);
        let one = sections[0];
        assert_eq!(one.entries().next(), Some(("summary", "a b")));
        assert_eq!(Examples::of(one, true)[..], ["git push -f", "a\nb"]);
        assert_eq!(Examples::of(one, false)[..], ["c"]);
    }
}
