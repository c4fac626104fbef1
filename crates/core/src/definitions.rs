//! Functions, aliases and options of one bash, for another bash.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The functions and aliases of a bash.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShellDefinitions {
    /// The functions by name, as bash prints them.
    pub functions: Arc<BTreeMap<String, String>>,
    /// The aliases by name.
    pub aliases: Arc<BTreeMap<String, String>>,
    /// True if the bash expands aliases.
    pub expands_aliases: bool,
}

/// The user's definitions in a bash, as text for another bash. Environment variables are not
/// included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Definitions {
    /// The commands that define functions and aliases.
    pub text: Vec<u8>,
    /// The commands that set the options, each followed by `; `. They must run immediately before
    /// the script.
    pub options: Vec<u8>,
    /// The functions and aliases that the text defines.
    pub defined: Arc<ShellDefinitions>,
}
