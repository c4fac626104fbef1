//! The reasons why a settings file is not changed.

/// Why a settings file is not changed.
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
    #[error("it is not valid TOML for {agent}: {error}; repair it first")]
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
    /// The agent is `auto`, which has no settings file.
    #[error("`auto` answers any agent; name the agent to set up")]
    Unknown,
    /// The plugin or script file exists, but agent-bash did not write the file.
    #[error("it was not written by agent-bash; move it away first")]
    NotOurs,
}
