//! Functions, aliases and options of one bash, for another bash.

/// The user's definitions in a bash, apart from its environment, as text that another bash reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Definitions {
    /// Defines functions and aliases, line by line.
    pub text: Vec<u8>,
    /// The commands that set the options, each followed by `; `. They must run immediately before
    /// the script.
    pub options: Vec<u8>,
}
