//! Errors of resolving a plan.

use std::io;
use std::path::PathBuf;

/// The reason why the settings result in no plan.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// The workspace would contain the user's whole home.
    #[error(
        "{directory} cannot be the workspace of a sandbox, because it contains the user's whole home; work in a directory below it, or use the level `read_only`",
        directory = .0.display()
    )]
    TooWide(PathBuf),
    /// A path of the settings is invalid.
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
        "{writable} is to be written in the sandbox but is within {hidden}, which is hidden; name the hidden path in `readable`, or work elsewhere",
        writable = .writable.display(), hidden = .hidden.display()
    )]
    Hidden {
        /// The writable path.
        writable: PathBuf,
        /// The hidden path that contains it.
        hidden: PathBuf,
    },
    /// The state directory could be written.
    #[error(
        "the path of the state directory, {state}, leads through {directory}, which sandboxed calls may write; set AGENT_BASH_STATE_DIR to a directory elsewhere",
        state = .state.display(), directory = .directory.display()
    )]
    WritableState {
        /// The path of the state directory, as configured.
        state: PathBuf,
        /// The writable directory.
        directory: PathBuf,
    },
    /// A path is reached through a link that a sandboxed call may have created.
    #[error(
        "{path} in `{list}` of the sandbox is reached through the symbolic link {link}, which sandboxed calls may replace; if it is meant to lead to {target}, name that directory itself",
        path = .path.display(), link = .link.display(), target = .target.display()
    )]
    Link {
        /// The setting, or `workspace`.
        list: &'static str,
        /// The path.
        path: PathBuf,
        /// The link.
        link: PathBuf,
        /// The target of the path.
        target: PathBuf,
    },
    /// The start directory may have been reached through a link that replaced an earlier start
    /// directory.
    #[error(
        "{directory} may have been reached through the symbolic link {link}, which has replaced a directory where sandboxed calls were started; remove the link to start there",
        directory = .directory.display(), link = .link.display()
    )]
    Planted {
        /// The start directory.
        directory: PathBuf,
        /// The link.
        link: PathBuf,
    },
    /// A loopback network needs namespaces.
    #[error(
        "the network `loopback` needs network namespaces, which this system does not allow; the network `off` does not"
    )]
    NoLoopback,
    /// A list of hosts needs a network namespace.
    #[error(
        "a list of hosts as the network needs network namespaces, which this system does not allow; the networks `off` and `on` do not"
    )]
    NoProxy,
}
