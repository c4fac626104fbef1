//! The context of a script: everything except its text that determines which commands it runs.

use crate::Predefined;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The shell language of a script.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// bash, and shells with the same language.
    #[default]
    Bash,
    /// zsh. Scripts of zsh are parsed as bash scripts; the policy's rules handle syntax that only
    /// zsh has.
    Zsh,
}

impl Dialect {
    /// Returns the language of the shell at this path.
    pub fn of_shell(path: impl AsRef<Path>) -> Self {
        match path.as_ref().file_name() {
            Some(name) if name == "zsh" => Dialect::Zsh,
            _ => Dialect::Bash,
        }
    }
}

/// A process that a script must not end: the agent, or one of its ancestors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtectedProcess {
    /// The process's name, as `pkill` and `killall` match it.
    pub name: String,
    /// The process's arguments, separated by blanks.
    pub command_line: String,
}

/// The directories, the shell and the definitions with which the script would run.
///
/// Reading a script uses only this context: it never accesses the environment, the working
/// directory or files of this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// The working directory, absolute.
    pub cwd: PathBuf,
    /// The home directory; if `None`, `~` and `$HOME` are unknown paths.
    pub home: Option<PathBuf>,
    /// The language of the shell that would run the script.
    pub dialect: Dialect,
    /// The definitions that the shell has before the script.
    pub predefined: Arc<Predefined>,
    /// The processes that the script must not end: this program, the agent that started it, and
    /// their ancestors.
    pub protected: Arc<[ProtectedProcess]>,
}

impl Context {
    /// Returns a context without a home directory.
    pub fn new(cwd: impl Into<PathBuf>) -> Self {
        Context {
            cwd: cwd.into(),
            home: None,
            dialect: Dialect::Bash,
            predefined: Arc::default(),
            protected: Arc::default(),
        }
    }

    /// Sets the home directory.
    #[must_use]
    pub fn with_home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// Sets the definitions that the shell has before the script.
    #[must_use]
    pub fn with_predefined(mut self, predefined: Arc<Predefined>) -> Self {
        self.predefined = predefined;
        self
    }

    /// Sets the language of the shell.
    #[must_use]
    pub fn with_dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }
}
