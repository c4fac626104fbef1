//! A session's name, held by one process at a time: two programs that were started in one directory do not share artifacts
//! and jobs unless they are told to.

use crate::private_dir::PrivateDir;
use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

/// Holds the lock.
const LOCK: &str = ".in-use";

/// How many names are tried.
const NAMES: u32 = 1000;

/// The name, until this is dropped or the process ends, however it ends.
#[derive(Debug)]
pub struct SessionClaim {
    name: String,
    _lock: File,
}

impl SessionClaim {
    /// Claims `name`, or the first of `name-2`, `name-3`, … that no process has. The one after the last holder gets
    /// `name` again, with what was left below `root` under it.
    ///
    /// # Errors
    /// The directory cannot be made or is not ours; then nothing can be kept there either.
    pub fn first_free(root: &Path, name: &str) -> io::Result<Self> {
        for number in 1..=NAMES {
            let name = match number {
                1 => name.to_owned(),
                _ => format!("{name}-{number}"),
            };
            let lock = PrivateDir::create(root, &[&name])?.open_or_create(LOCK)?;
            match lock.try_lock() {
                Ok(()) => return Ok(Self { name, _lock: lock }),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        let why = format!("{NAMES} processes have sessions named {name}");
        Err(io::Error::new(io::ErrorKind::ResourceBusy, why))
    }

    /// The name that was free.
    pub fn name(&self) -> &str {
        &self.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_has_the_name_and_the_next_gets_it_again() {
        let root = tempfile::tempdir().unwrap();
        let claim = || SessionClaim::first_free(root.path(), "s").unwrap();
        let (first, second) = (claim(), claim());
        assert_eq!((first.name(), second.name()), ("s", "s-2"));
        drop(first);
        assert_eq!(claim().name(), "s");
        // A file in the directory's place is somebody else's.
        std::fs::write(root.path().join("t"), "").unwrap();
        assert!(SessionClaim::first_free(root.path(), "t").is_err());
    }
}
