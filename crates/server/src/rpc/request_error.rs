//! The error for a request that was not served.

use agent_bash_protocol::ErrorCode;
use std::io;

/// The contents of an error response: a sentence, and a code for programs if there is one.
#[derive(Debug, PartialEq)]
pub(super) struct ErrorReply {
    pub(super) error: String,
    pub(super) code: Option<ErrorCode>,
}

impl ErrorReply {
    pub(super) fn new(code: ErrorCode, error: impl Into<String>) -> Self {
        Self {
            error: error.into(),
            code: Some(code),
        }
    }

    /// Returns the reply for a system error. `failure` says what failed.
    pub(super) fn of_system(error: &io::Error, failure: &str) -> Self {
        let code = match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ErrorCode::NotFound,
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                ErrorCode::PermissionDenied
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ErrorCode::NoSpace,
            _ => ErrorCode::Io,
        };
        Self::new(code, format!("{failure}: {error}"))
    }
}

impl From<String> for ErrorReply {
    fn from(error: String) -> Self {
        Self { error, code: None }
    }
}
