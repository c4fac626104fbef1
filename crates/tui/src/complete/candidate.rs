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
