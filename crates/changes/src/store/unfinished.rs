//! The register of unfinished change sets, which the next process that opens the store recovers.
//!
//! An entry is a hard link to the lock file of a change set. The lock file contains the number and
//! the last state, and shows whether a process holds the lock. A set is registered before its first
//! effect, and until its final state is written. The set of a call that changed nothing stays
//! registered, so that its reuse costs nothing; the next recovery removes the entry.

use crate::error::ChangesError;
use crate::store::set::{ChangeSet, LOCK_FILE};
use agent_bash_os::PrivateDir;
use rustix::fs::{AtFlags, fstat, linkat};
use rustix::io::Errno;
use std::fs::remove_file;
use std::path::{Path, PathBuf};

/// The directory of the register in the store. The name of a session never begins with a dot.
pub(crate) const REGISTER_DIR: &str = ".unfinished";

/// Separates the session from the inode in the name of an entry. The name of a session never
/// contains this character.
pub(crate) const INODE_SEPARATOR: char = '@';

impl ChangeSet {
    /// Registers the set as unfinished. A file system without hard links has no register: there, a
    /// set is recovered when it is requested.
    pub(crate) fn register(&self) -> Result<(), ChangesError> {
        let path = self.entry().ok_or(ChangesError::Unknown { id: self.id })?;
        let (store, name) = (self.store(), path.file_name().unwrap_or_default());
        let opened = PrivateDir::create(store, &[REGISTER_DIR])
            .map_err(ChangesError::io("opening", store.join(REGISTER_DIR)))?;
        match linkat(&self.dir, LOCK_FILE, &opened, name, AtFlags::empty()) {
            Ok(())
            | Err(Errno::EXIST | Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS | Errno::MLINK) => {
                Ok(())
            }
            Err(error) => Err(ChangesError::errno("registering", path)(error)),
        }
    }

    /// Removes the set from the register.
    pub(crate) fn unregister(&self) {
        // A remaining entry is removed by the next recovery.
        let _ = self.entry().map(remove_file);
    }

    /// The path of the set's entry in the register.
    fn entry(&self) -> Option<PathBuf> {
        let session = self.dir().parent()?.file_name()?.to_str()?;
        let inode = fstat(&self.lock).ok()?.st_ino;
        let register = self.store().join(REGISTER_DIR);
        Some(register.join(format!("{session}{INODE_SEPARATOR}{inode}")))
    }

    /// The directory of the store.
    pub(crate) fn store(&self) -> &Path {
        // Layout: <store>/<session>/<number>.
        self.dir().ancestors().nth(2).unwrap_or(self.dir())
    }
}
