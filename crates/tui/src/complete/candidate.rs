//! What could stand where a word is.

/// Most candidates that are offered.
pub(super) const MOST: usize = 2000;

/// Something that could stand where the word is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidate {
    /// The whole word, without quotes.
    pub(crate) word: String,
    /// How it is listed.
    pub(crate) label: String,
    /// More can follow: a directory.
    pub(crate) goes_on: bool,
}

impl Candidate {
    /// A name, behind which the next word comes.
    pub(super) fn name(name: &str) -> Self {
        Self {
            word: name.to_owned(),
            label: name.to_owned(),
            goes_on: false,
        }
    }
}

/// The beginning of a name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Begun<'a> {
    pub(super) written: &'a str,
    /// Capital letters are as small ones.
    pub(super) folds: bool,
}

impl Begun<'_> {
    pub(super) fn fits(&self, name: &str) -> bool {
        if self.folds {
            let name = name.to_lowercase();
            name.starts_with(&self.written.to_lowercase())
        } else {
            name.starts_with(self.written)
        }
    }

    /// Those of the names that begin so.
    pub(super) fn of<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Vec<Candidate> {
        let names = names.into_iter().filter(|name| self.fits(name));
        names.map(Candidate::name).collect()
    }
}
