//! Decides which hosts own a state directory that several hosts could name: the first host sets a
//! token, and the other hosts must know this token.

use agent_bash_os::PrivateDir;
use std::io::{self, Read as _};
use std::path::Path;

/// The file in a session's directory.
const FILE_NAME: &str = "token";

/// Longest token.
const MAX_TOKEN_BYTES: u64 = 1024;

/// The relation of a token to a state directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionToken {
    /// The state directory had no owner; from now on it belongs to the hosts that know the token.
    New,
    /// The state directory existed, and has this token.
    Known,
    /// The state directory existed, and has another token.
    Foreign,
}

/// Compares `token` with the stored token of the session below `root`. If no token is stored, this
/// function stores `token`. `session` must be one path component.
///
/// # Errors
/// The directory cannot be created or read, or belongs to another user.
pub fn session_token(root: &Path, session: &str, token: &str) -> io::Result<SessionToken> {
    let directory = PrivateDir::create(root, &[session])?;
    let known = match directory.read(FILE_NAME) {
        Ok(file) => {
            let mut known = String::new();
            file.take(MAX_TOKEN_BYTES).read_to_string(&mut known)?;
            known
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            directory.replace(FILE_NAME, token.as_bytes())?;
            return Ok(SessionToken::New);
        }
        Err(error) => return Err(error),
    };
    Ok(if known == token {
        SessionToken::Known
    } else {
        SessionToken::Foreign
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt as _;

    #[test]
    fn state_directory_belongs_to_hosts_with_its_token() {
        let root = tempfile::tempdir().unwrap();
        let compared = |session, token| session_token(root.path(), session, token).unwrap();
        assert_eq!(compared("a", "one"), SessionToken::New);
        assert_eq!(compared("a", "one"), SessionToken::Known);
        assert_eq!(compared("a", "two"), SessionToken::Foreign);
        assert_eq!(compared("a", "one"), SessionToken::Known);
        assert_eq!(compared("b", "two"), SessionToken::New);
        let file = root.path().join("a/token").metadata().unwrap();
        assert_eq!(file.mode() & 0o777, 0o600);
    }
}
