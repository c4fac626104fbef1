//! Functions, aliases and options of one bash, for another bash.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The functions and aliases of a bash, one by one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShellDefinitions {
    /// The functions by name, as bash prints them.
    pub functions: Arc<BTreeMap<String, String>>,
    /// The aliases by name.
    pub aliases: Arc<BTreeMap<String, String>>,
}

/// The user's definitions in a bash, apart from its environment, as text that another bash reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Definitions {
    /// Defines functions and aliases, line by line.
    pub text: Vec<u8>,
    /// The commands that set the options, each followed by `; `. They must run immediately before
    /// the script.
    pub options: Vec<u8>,
    /// The functions and aliases of the text, one by one.
    pub defined: Arc<ShellDefinitions>,
}
