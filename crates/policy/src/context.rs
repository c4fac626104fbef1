//! What a verdict depends on besides the script.

use std::path::PathBuf;

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
}

impl Context {
    /// A context with no home and no tools.
    pub fn new(cwd: impl Into<PathBuf>) -> Self {
        Context {
            cwd: cwd.into(),
            home: None,
            tools: None,
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
}
