//! What a verdict depends on besides the script.

use std::path::{Path, PathBuf};

/// The shell language that a script is read in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// bash's, and that of every shell which reads what bash does.
    #[default]
    Bash,
    /// zsh's. What both shells read alike is judged as ever; what zsh alone has is refused where a rule could care.
    Zsh,
}

impl Dialect {
    /// The language of the shell at this path.
    pub fn of_shell(path: impl AsRef<Path>) -> Self {
        match path.as_ref().file_name() {
            Some(name) if name == "zsh" => Dialect::Zsh,
            _ => Dialect::Bash,
        }
    }
}

/// Where the script would run, for whom, and which tools the caller could use instead.
///
/// The policy reads nothing by itself: no environment, no working directory, no files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// The working directory, absolute.
    pub cwd: PathBuf,
    /// The home directory; without it `~` and `$HOME` are unknown paths.
    pub home: Option<PathBuf>,
    /// The tools the caller has, for the interceptor; without a list nothing is intercepted.
    pub tools: Option<Vec<String>>,
    /// What the shell that would run it reads.
    pub dialect: Dialect,
}

impl Context {
    /// A context with no home and no tools.
    pub fn new(cwd: impl Into<PathBuf>) -> Self {
        Context {
            cwd: cwd.into(),
            home: None,
            tools: None,
            dialect: Dialect::Bash,
        }
    }

    /// The same with this home directory.
    #[must_use]
    pub fn with_home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// The same with these tools.
    #[must_use]
    pub fn with_tools<T: Into<String>>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.tools = Some(tools.into_iter().map(Into::into).collect());
        self
    }

    /// The same for a shell that reads this.
    #[must_use]
    pub fn with_dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }
}
