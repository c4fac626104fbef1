//! Definitions that a shell has before its script, from the user's configuration or an earlier call
//! in the same shell.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The definitions of a shell before its script, and the aliases of git's own configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Predefined {
    /// The functions, by name, each with its definition as bash prints it.
    pub functions: Arc<BTreeMap<String, String>>,
    /// The aliases that the shell expands.
    pub aliases: Arc<BTreeMap<String, String>>,
    /// The aliases of git, by name: `push --force`, or `!` and a script.
    pub git_aliases: BTreeMap<String, String>,
}
