//! Candidates for a word.

/// Limit of candidates offered.
pub(super) const MAX_CANDIDATES: usize = 2000;

/// A word that could replace the typed one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidate {
    /// The whole word, without quotes.
    pub(crate) word: String,
    /// The text in the list.
    pub(crate) label: String,
    /// True if the word may continue, as after a directory.
    pub(crate) continues: bool,
}

impl Candidate {
    /// A complete name: a blank follows it.
    pub(super) fn name(name: &str) -> Self {
        Self {
            word: name.to_owned(),
            label: name.to_owned(),
            continues: false,
        }
    }
}

/// The typed beginning of a name.
#[derive(Debug, Clone, Copy)]
pub(super) struct NamePrefix<'a> {
    pub(super) written: &'a str,
    /// True if the comparison ignores case.
    pub(super) ignores_case: bool,
}

impl NamePrefix<'_> {
    pub(super) fn fits(&self, name: &str) -> bool {
        if self.ignores_case {
            let name = name.to_lowercase();
            name.starts_with(&self.written.to_lowercase())
        } else {
            name.starts_with(self.written)
        }
    }

    /// Candidates for the names that begin with this text.
    pub(super) fn matching<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Vec<Candidate> {
        let names = names.into_iter().filter(|name| self.fits(name));
        names.map(Candidate::name).collect()
    }
}
