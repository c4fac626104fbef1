//! A secret of this user on this machine. Remote hosts recognise their host by a value derived from
//! the secret.

use agent_bash_os::PrivateDir;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// The secret's directory below the state directory, and the secret's file in it.
const DIRECTORY_NAME: &str = "targets";
const FILE_NAME: &str = "secret";

/// Length of the secret in bytes.
const SECRET_BYTES: usize = 32;

/// Returns the secret below `root`, and creates it at the first use.
///
/// # Errors
/// The directory cannot be created or read, or belongs to another user.
pub fn host_secret(root: &Path) -> io::Result<[u8; SECRET_BYTES]> {
    let directory = PrivateDir::create(root, &[DIRECTORY_NAME])?;
    let stored = || -> io::Result<[u8; SECRET_BYTES]> {
        let mut secret = [0; SECRET_BYTES];
        directory.read(FILE_NAME)?.read_exact(&mut secret)?;
        Ok(secret)
    };
    match stored() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut secret = [0; SECRET_BYTES];
            File::open("/dev/urandom")?.read_exact(&mut secret)?;
            directory.replace(FILE_NAME, &secret)?;
            // Another program may have created a secret at the same time; the last written secret
            // remains.
            stored()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt as _;

    #[test]
    fn secret_is_stable_and_private() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let secret = host_secret(one.path()).unwrap();
        assert_eq!(host_secret(one.path()).unwrap(), secret);
        assert_ne!(host_secret(two.path()).unwrap(), secret);
        let file = one.path().join("targets/secret").metadata().unwrap();
        assert_eq!(file.mode() & 0o777, 0o600);
    }
}
