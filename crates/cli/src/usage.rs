//! Usage errors.

use std::fmt;

/// An error in the arguments, as opposed to one while executing them. Exit code 2, as for clap's
/// own errors.
#[derive(Debug)]
pub(crate) struct UsageError(pub(crate) String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}
