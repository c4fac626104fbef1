//! Why a request cannot be parsed.

use crate::DurationError;

/// Why a request is invalid. Nothing has been started.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// Neither an object nor a string.
    #[error("a call is a JSON object with a `command`, or the command as a string; got {0}")]
    NotAnObject(&'static str),
    /// No `command`.
    #[error("`command` is missing; give the script to run as a string")]
    MissingCommand,
    /// Only white space.
    #[error("`command` is empty; give the script to run")]
    EmptyCommand,
    /// A script cannot contain NUL.
    #[error("`command` has a NUL byte at offset {0}, which no shell can read; remove it")]
    NulInCommand(usize),
    /// Longer than [`MAX_COMMAND_BYTES`](crate::MAX_COMMAND_BYTES).
    #[error(
        "`command` has {bytes} bytes, more than the {max} that are taken; write it to a file and run that"
    )]
    CommandTooLong {
        /// Length of the script.
        bytes: usize,
        /// [`MAX_COMMAND_BYTES`](crate::MAX_COMMAND_BYTES).
        max: usize,
    },
    /// An unknown field.
    #[error("unknown field `{field}`{}; the fields are {FIELD_LIST}", nearest_hint(*.nearest))]
    UnknownField {
        /// The field as given.
        field: String,
        /// The most similar known field, if one is close enough.
        nearest: Option<&'static str>,
    },
    /// A value of the wrong type or out of range.
    #[error("`{field}` must be {expected}, got {got}")]
    BadValue {
        /// The field as given.
        field: String,
        /// The accepted values.
        expected: &'static str,
        /// The value, shortened.
        got: String,
    },
    /// `timeout` is not a duration.
    #[error("`timeout`: {0}")]
    BadTimeout(DurationError),
    /// An invalid variable name in `env`.
    #[error(
        "`env`: `{0}` cannot be a variable's name; names are not empty and have neither `=` nor NUL"
    )]
    BadEnvName(String),
    /// A value in `env` with a NUL.
    #[error("`env`: the value of `{0}` has a NUL byte, which no environment can hold")]
    BadEnvValue(String),
    /// One field under two names with different values.
    #[error("`{first}` and `{second}` are the same field; give only `{first}`")]
    GivenTwice {
        /// The canonical name.
        first: &'static str,
        /// The other name.
        second: String,
    },
}

fn nearest_hint(nearest: Option<&'static str>) -> String {
    nearest
        .map(|name| format!(" (did you mean `{name}`?)"))
        .unwrap_or_default()
}

/// The fields that every host offers, for errors. Not every host offers `sandbox` and `trial`; the
/// tool's schema describes these two where they are available.
const FIELD_LIST: &str = "command, mode, timeout, wait, cwd, head, tail, show, show_kb, session, pty, env, stdin, description";
