//! A session name held exclusively by one process: two programs started in one directory do not
//! share artifacts and jobs unless the user asks for it.

use agent_bash_os::PrivateDir;
use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

const LOCK_FILE: &str = ".in-use";

/// Upper limit of names to try.
const MAX_NAMES: u32 = 1000;

/// A claimed name; released when this value is dropped or the process ends, however it ends.
#[derive(Debug)]
pub struct SessionClaim {
    name: String,
    _lock: File,
}

impl SessionClaim {
    /// Claims `name`, or the first of `name-2`, `name-3`, … that no process holds. Once the holder
    /// has ended, the next claimant gets `name` again, with everything stored for it under `root`.
    ///
    /// # Errors
    /// The directory cannot be created or belongs to another user; then no files can be stored
    /// there either.
    pub fn first_free(root: &Path, name: &str) -> io::Result<Self> {
        for number in 1..=MAX_NAMES {
            let name = match number {
                1 => name.to_owned(),
                _ => format!("{name}-{number}"),
            };
            let lock = PrivateDir::create(root, &[&name])?.open_or_create(LOCK_FILE)?;
            match lock.try_lock() {
                Ok(()) => return Ok(Self { name, _lock: lock }),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        let why = format!("{MAX_NAMES} processes have sessions named {name}");
        Err(io::Error::new(io::ErrorKind::ResourceBusy, why))
    }

    /// Returns the claimed name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claimed_name_is_exclusive_until_released() {
        let root = tempfile::tempdir().unwrap();
        let claim = || SessionClaim::first_free(root.path(), "s").unwrap();
        let (first, second) = (claim(), claim());
        assert_eq!((first.name(), second.name()), ("s", "s-2"));
        drop(first);
        assert_eq!(claim().name(), "s");
        // A file at the directory's path is not replaced.
        std::fs::write(root.path().join("t"), "").unwrap();
        assert!(SessionClaim::first_free(root.path(), "t").is_err());
    }
}
