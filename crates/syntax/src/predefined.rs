//! Definitions that a shell has before its script, from the user's configuration or an earlier call
//! in the same shell.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The kind of a predefined definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefinitionKind {
    /// An alias of the shell.
    Alias,
    /// A function of the shell.
    Function,
    /// An alias in git's configuration.
    GitAlias,
}

/// The definitions and known variables of a shell before its script, and the aliases of git's own
/// configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Predefined {
    /// The functions, by name, each with its definition as bash prints it.
    pub functions: Arc<BTreeMap<String, String>>,
    /// The aliases, by name.
    pub aliases: Arc<BTreeMap<String, String>>,
    /// True if the shell expands aliases, also those that the script defines.
    pub expands_aliases: bool,
    /// The aliases of git, by name: `push --force`, or `!` and a script.
    pub git_aliases: BTreeMap<String, String>,
    /// The environment variables that the call itself sets, by name.
    pub variables: BTreeMap<String, String>,
}

impl Predefined {
    /// Returns the text of a definition.
    pub fn text(&self, kind: DefinitionKind, name: &str) -> Option<&str> {
        let definitions = match kind {
            DefinitionKind::Alias => &*self.aliases,
            DefinitionKind::Function => &*self.functions,
            DefinitionKind::GitAlias => &self.git_aliases,
        };
        definitions.get(name).map(String::as_str)
    }
}
