//! Why a file is left as it is.

/// Why a file is not changed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadFile {
    /// Invalid JSON. The agent could not read it either, and would not call any hook.
    #[error("it is no JSON as {agent} reads it: {error}; repair it first")]
    NotJson {
        /// The agent's name.
        agent: &'static str,
        /// The error and its position.
        error: String,
    },
    /// Invalid TOML.
    #[error("it is no TOML as {agent} reads it: {error}; repair it first")]
    NotToml {
        /// The agent's name.
        agent: &'static str,
        /// The error and its position.
        error: String,
    },
    /// Something else is in the hook's place.
    #[error("`{path}` must be {expected}; repair it first")]
    OtherShape {
        /// The path to it within the file.
        path: String,
        /// The expected value.
        expected: &'static str,
    },
    /// The setting has a value that agent-bash did not write.
    #[error("`{path}` is {value} already; remove it first if agent-bash is to replace it")]
    AlreadySet {
        /// The path to it within the file.
        path: String,
        /// The value, as JSON.
        value: String,
    },
    /// Nothing is known about the agent's files.
    #[error("`auto` answers any agent; name the agent to set up")]
    Unknown,
    /// A plugin with our file name exists that we did not write.
    #[error("it was not written by agent-bash; move it away first")]
    NotOurs,
}
