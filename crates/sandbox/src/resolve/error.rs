//! Errors of resolving a plan.

use std::io;
use std::path::PathBuf;

/// Why the settings have no plan.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// The workspace would contain the user's whole home.
    #[error(
        "{directory} cannot be the workspace of a sandbox, as everything of the user's is in it; work in a directory below it, or use the level `read_only`",
        directory = .0.display()
    )]
    TooWide(PathBuf),
    /// A path of the settings is not a path.
    #[error("{path} in `{list}` of the sandbox is neither absolute nor does it begin with `~/`", path = .path.display())]
    NotAbsolute {
        /// The setting.
        list: &'static str,
        /// The path.
        path: PathBuf,
    },
    /// A required path does not exist, or cannot be read.
    #[error("{path} in `{list}` of the sandbox cannot be used: {error}", path = .path.display())]
    Unusable {
        /// The setting.
        list: &'static str,
        /// The path.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// A writable path is hidden.
    #[error(
        "{writable} is to be written in the sandbox but is within {hidden}, which is hidden; name it in `readable`, or work elsewhere",
        writable = .writable.display(), hidden = .hidden.display()
    )]
    Hidden {
        /// The writable path.
        writable: PathBuf,
        /// The hidden path around it.
        hidden: PathBuf,
    },
    /// The loopback network needs namespaces.
    #[error(
        "the network `loopback` needs network namespaces, which this system does not allow; the network `off` does not"
    )]
    NoLoopback,
}
