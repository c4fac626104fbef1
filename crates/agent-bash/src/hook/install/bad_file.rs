//! Why a file is left as it is.

/// Why a file is left as it is.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadFile {
    /// The agent could not read it either, and would ask no hook.
    #[error("it is no JSON as {agent} reads it: {error}; repair it first")]
    NotJson {
        /// The agent's name.
        agent: &'static str,
        /// What is wrong, and where.
        error: String,
    },
    /// Something else stands where the hook belongs.
    #[error("`{place}` must be {expected}; repair it first")]
    OtherShape {
        /// The way to it.
        place: String,
        /// What belongs there.
        expected: &'static str,
    },
    /// There is a plugin of this name that somebody else wrote.
    #[error("it was not written by agent-bash; move it away first")]
    NotOurs,
}
