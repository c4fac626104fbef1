//! The reasons why a settings file is not changed.

/// Why a file is not changed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadFile {
    /// Invalid JSON. The agent cannot read the file either, and calls no hooks.
    #[error("it is not valid JSON for {agent}: {error}; repair it first")]
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
    /// A value on the path to the hook has another type.
    #[error("`{path}` must be {expected}; repair it first")]
    OtherShape {
        /// The path of the value within the file.
        path: String,
        /// The expected type.
        expected: &'static str,
    },
    /// The setting has a value that agent-bash did not write.
    #[error("`{path}` is {value} already; remove it first if agent-bash is to replace it")]
    AlreadySet {
        /// The path of the setting within the file.
        path: String,
        /// The value, as JSON.
        value: String,
    },
    /// The settings files of the agent are not known.
    #[error("`auto` answers any agent; name the agent to set up")]
    Unknown,
    /// A plugin with our file name exists that we did not write.
    #[error("it was not written by agent-bash; move it away first")]
    NotOurs,
}
