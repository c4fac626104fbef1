//! Functions, aliases and options of a bash, for another one that runs beside it.

/// What a bash has of its user besides its environment, as text that another bash reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Definitions {
    /// Defines functions and aliases, line by line.
    pub text: Vec<u8>,
    /// The commands that set the options, each followed by `; `. To be run immediately before the script.
    pub options: Vec<u8>,
}
