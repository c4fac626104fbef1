//! One call's set while the call runs: its directory, and what others need of it.

use crate::error::ChangesError;
use crate::mark;
use crate::meta::{Meta, State};
use agent_bash_core::changes::ChangesId;
use agent_bash_os::PrivateDir;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Where an overlay puts what is written.
pub(crate) const UPPER: &str = "upper";
/// Where an overlay prepares it.
pub(crate) const WORK: &str = "work";
/// Files that changes are swapped with.
pub(crate) const GONE: &str = "gone";
/// What was there before, by hard links and clones.
pub(crate) const LINKS: &str = "links";
/// Held by whoever runs the set's call.
pub(crate) const LOCK: &str = "lock";

/// A set whose call runs. It is this process's: its lock is held until it is dropped, and if it is dropped without
/// having been ended, or the process dies, then the next [`Store::open`](crate::Store::open) discards a trial, and calls
/// a trace interrupted.
#[derive(Debug)]
pub struct Set {
    pub(crate) id: ChangesId,
    pub(crate) dir: PrivateDir,
    pub(crate) meta: Meta,
    pub(crate) lock: File,
}

impl Set {
    /// Its number in its session.
    pub fn id(&self) -> ChangesId {
        self.id
    }

    /// Its directory, 0700: what [`Recorder::open`](crate::Recorder::open) takes in another process.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// The directory whose changes it is about: absolute, canonical, and neither within the store nor around it.
    pub fn root(&self) -> PathBuf {
        self.meta.root()
    }

    /// For an overlay: takes what is written. On the same file system as [`Set::work`], with the permissions, the owner
    /// and the times of the root itself, since the overlay's top shows those; nobody else can reach it.
    pub fn upper(&self) -> PathBuf {
        self.dir.path().join(UPPER)
    }

    /// For an overlay: its working directory.
    pub fn work(&self) -> PathBuf {
        self.dir.path().join(WORK)
    }

    /// Says that the call begins now: what others change from here on is a conflict for it. To be called right before a
    /// script is handed over; a shell may have waited in the view for long. On a kernel older than 6.13 it takes up to a
    /// tick of the clock (4 ms), otherwise microseconds.
    ///
    /// # Errors
    /// The mark could not be written; the call must not begin.
    pub fn mark(&mut self) -> Result<(), ChangesError> {
        self.meta.mark = mark::set(&self.lock, &self.dir.path().join(LOCK))?;
        self.meta.write(&self.dir)
    }

    pub(crate) fn set_state(&mut self, state: State) -> Result<(), ChangesError> {
        self.meta.state = state;
        self.meta.write(&self.dir)
    }
}
