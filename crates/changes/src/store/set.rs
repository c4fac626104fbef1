//! A change set: its directory and its state.

use crate::error::ChangesError;
use crate::files::codec::{Wire, wire};
use crate::files::file_stat::Time;
use crate::files::size::size_of;
use crate::plan::journal::{Journal, Status};
use crate::store::mark;
use crate::store::meta::{Meta, SetKind};
use agent_bash_core::changes::{ChangesId, Overlay};
use agent_bash_os::PrivateDir;
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::io::{Read, Write, read_to_string};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The upper directory of the overlay.
pub(crate) const UPPER_DIR: &str = "upper";
/// The work directory of the overlay.
pub(crate) const WORK_DIR: &str = "work";
/// The directory with the slots: files that a plan moves into or out of the tree.
pub(crate) const SLOTS_DIR: &str = "slots";
/// Preimages as hard links and clones.
pub(crate) const LINKS_DIR: &str = "links";
/// Exists if a trial may have caused changes that it does not list.
const INEXACT_FILE: &str = "inexact";
/// The file with the text of the command.
const COMMAND_FILE: &str = "command";
/// The lock file, locked by the process that runs the call. The file contains the state, which is
/// overwritten in place: a full disk does not prevent the write, unless the file system copies on
/// write.
pub(crate) const LOCK_FILE: &str = "lock";

/// The state of a change set. A journal that is being applied has a status of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SetState {
    /// The call runs if a process holds the lock; otherwise the call's host died.
    Running,
    /// The changes wait for a decision.
    Held,
    /// The changes were made.
    Done,
    /// The changes were made, and all of them were undone.
    Undone,
    /// The changes were discarded.
    Discarded,
    /// The recording process died.
    Interrupted,
}

wire!(enum SetState {
    b'r' => Running,
    b'h' => Held,
    b'd' => Done,
    b'u' => Undone,
    b'x' => Discarded,
    b'i' => Interrupted,
});

/// A change set whose lock this process holds. If the value is dropped without an end, or the
/// process dies, the next [`Store::open`](crate::Store::open) discards a trial and marks a trace as
/// interrupted.
#[derive(Debug)]
pub struct ChangeSet {
    pub(crate) id: ChangesId,
    pub(crate) dir: PrivateDir,
    pub(crate) meta: Meta,
    pub(crate) lock: File,
    pub(crate) state: SetState,
    /// True if some of the changes are undone and others are not.
    pub(crate) is_partly_undone: bool,
    /// The mark: later changes belong to the call or to other processes.
    pub(crate) mark: Time,
    /// The size on disk in bytes, when the call ended.
    pub(crate) size: u64,
    /// The command, until it is written.
    pub(crate) command: Option<String>,
}

impl ChangeSet {
    /// Returns the number of the change set.
    pub fn id(&self) -> ChangesId {
        self.id
    }

    /// Returns the directory of the change set, mode 0700, for
    /// [`Recorder::open`](crate::Recorder::open) in another process.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Returns the recorded directory: absolute and canonical. It neither contains the store nor is
    /// inside the store.
    pub fn root(&self) -> PathBuf {
        self.meta.root()
    }

    /// Returns the upper directory of the overlay. It is on the same file system as
    /// [`ChangeSet::work`]. It has the permissions, owner and times of the root, since the overlay
    /// shows them at its top. No other user can access it.
    pub fn upper(&self) -> PathBuf {
        self.dir.path().join(UPPER_DIR)
    }

    /// Returns the work directory of the overlay.
    pub fn work(&self) -> PathBuf {
        self.dir.path().join(WORK_DIR)
    }

    /// Returns the directories for mounting the overlay.
    pub fn overlay(&self) -> Overlay {
        Overlay {
            root: self.root(),
            upper: self.upper(),
            work: self.work(),
        }
    }

    /// Sets the mark: changes of other processes from now on are conflicts. Call this function
    /// right before handing over a script, because a warm shell may have waited long. On a kernel
    /// older than 6.13 the call takes up to a clock tick (4 ms), otherwise microseconds.
    ///
    /// # Errors
    /// The mark could not be written; the call must not begin.
    pub fn mark(&mut self) -> Result<(), ChangesError> {
        let (clock, path) = self.clock()?;
        self.mark = mark::set(&clock, &path)?;
        self.save()
    }

    /// Sets the command: one line, without secrets. For a trace, the command is stored when the
    /// call has ended and has changed something; for a trial, at once.
    #[must_use]
    pub fn with_command(mut self, command: String) -> Self {
        self.command = Some(command);
        if matches!(self.meta.kind, SetKind::Trial | SetKind::Background { .. }) {
            self.store_command();
        }
        self
    }

    pub(crate) fn store_command(&mut self) {
        let Some(command) = self.command.take() else {
            return;
        };
        let written = self.dir.create_new(COMMAND_FILE);
        // A missing command does no harm.
        let _ = written.and_then(|mut file| file.write_all(command.as_bytes()));
    }

    /// Marks a trial as inexact: it may have caused changes that it does not list.
    ///
    /// # Errors
    /// The mark could not be stored.
    pub fn mark_inexact(&self) -> Result<(), ChangesError> {
        let made = self.dir.open_or_create(INEXACT_FILE);
        made.map(drop).map_err(ChangesError::io(
            "making",
            self.dir.path().join(INEXACT_FILE),
        ))
    }

    pub(crate) fn is_inexact(&self) -> bool {
        self.dir.has(INEXACT_FILE)
    }

    /// Returns the command, if it is stored.
    pub(crate) fn command(&self) -> Option<String> {
        let file = self.dir.read(COMMAND_FILE).ok()?;
        read_to_string(file).ok()
    }

    /// Returns when the call began, by the clock of the store's file system.
    pub(crate) fn begun(&self) -> Time {
        match self.meta.kind {
            // A reused change set belongs to a later call than it was created for.
            SetKind::Trace | SetKind::Scan => self.mark,
            SetKind::Trial | SetKind::Background { .. } | SetKind::Undo { .. } => self.meta.begun,
        }
    }

    /// Sets the state and the size at the end of the call.
    pub(crate) fn end(&mut self, state: SetState) -> Result<(), ChangesError> {
        self.set_size(size_of(self.dir.path()));
        self.set_state(state)
    }

    /// Sets the size, and adds the difference to the size of all change sets. The next
    /// [`Self::set_state`] writes the size.
    pub(crate) fn set_size(&mut self, size: u64) {
        let former = std::mem::replace(&mut self.size, size);
        self.account(size.cast_signed() - former.cast_signed());
    }

    pub(crate) fn set_state(&mut self, state: SetState) -> Result<(), ChangesError> {
        self.state = state;
        self.save()?;
        // A set that a later call may reuse stays registered.
        if state != SetState::Running && !self.is_reusable() {
            self.unregister();
        }
        Ok(())
    }

    /// True if a later call may reuse the set, provided that its call changed nothing.
    pub(crate) fn is_reusable(&self) -> bool {
        matches!(self.meta.kind, SetKind::Trace | SetKind::Scan)
    }

    fn save(&self) -> Result<(), ChangesError> {
        let mut bytes = Vec::new();
        self.state.put(&mut bytes);
        self.mark.put(&mut bytes);
        self.size.put(&mut bytes);
        u8::from(self.is_partly_undone).put(&mut bytes);
        self.id.0.put(&mut bytes);
        self.lock
            .write_all_at(&bytes, 0)
            .map_err(ChangesError::io("writing", self.dir.path().join(LOCK_FILE)))
    }

    /// Reads a stored change set of any process; `None` if it does not exist.
    pub(crate) fn read(session: &PrivateDir, id: ChangesId) -> Result<Option<Self>, ChangesError> {
        let name = id.to_string();
        let dir = match PrivateDir::open(session.path(), &[&name]) {
            Ok(dir) => dir,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(ChangesError::io("opening", session.path().join(name))(
                    error,
                ));
            }
        };
        let path = dir.path().join(LOCK_FILE);
        let mut bytes = Vec::new();
        let lock = dir.open_or_create(LOCK_FILE).and_then(|mut lock| {
            lock.read_to_end(&mut bytes)?;
            Ok(lock)
        });
        let lock = lock.map_err(ChangesError::io("reading", &path))?;
        // The lock file is empty if the host died while it created the change set. That is treated
        // like a death during the call.
        let from = &mut &bytes[..];
        let ((mut state, mark), size) = Wire::get(from).unwrap_or(((SetState::Running, (0, 0)), 0));
        let is_partly_undone = u8::get(from) == Some(1);
        let meta = Meta::read(&dir)?;
        if state == SetState::Held && !dir.has(WORK_DIR) {
            state = SetState::Discarded;
        }
        Ok(Some(Self {
            id,
            dir,
            meta,
            lock,
            state,
            is_partly_undone,
            mark,
            size,
            command: None,
        }))
    }

    /// Decodes the number and the state in a lock file.
    pub(crate) fn saved(mut lock: &[u8]) -> Option<(ChangesId, SetState)> {
        let from = &mut lock;
        let ((state, _), _) = <((SetState, Time), u64)>::get(from)?;
        u8::get(from)?;
        Some((ChangesId(u64::get(from)?), state))
    }

    /// True if the state on disk is still the one that was read: another process may change an
    /// ended change set.
    pub(crate) fn is_unchanged_on_disk(&self) -> bool {
        let mut known = Vec::new();
        self.state.put(&mut known);
        let mut on_disk = vec![0; known.len()];
        self.lock.read_exact_at(&mut on_disk, 0).is_ok() && known == on_disk
    }

    /// Takes the lock and returns true, if no process runs the call. Afterwards no other process
    /// can take the lock.
    pub(crate) fn is_idle(&self) -> bool {
        try_lock(&self.lock) && (!self.is_background() || try_lock(&self.dir))
    }

    /// True if the recorder closes the change set. Such a recorder locks the directory of the
    /// change set.
    pub(crate) fn is_background(&self) -> bool {
        matches!(self.meta.kind, SetKind::Background { .. })
    }

    /// Returns the change set whose directory has the slots of the journal.
    pub(crate) fn origin(&self) -> ChangesId {
        match self.meta.kind {
            SetKind::Undo { origin, .. } => ChangesId(origin),
            _ => self.id,
        }
    }

    /// Returns the journal of an unfinished commit, undo or redo. `None` for a trace: its journal
    /// describes changes that are already made, and is written again if it is incomplete.
    pub(crate) fn unfinished_journal(&self) -> Result<Option<Journal>, ChangesError> {
        if matches!(self.meta.kind, SetKind::Trace | SetKind::Background { .. }) {
            return Ok(None);
        }
        let is_under_way =
            |it: &Journal| matches!(it.status, Status::Applying | Status::RollingBack);
        Ok(self.journal()?.filter(is_under_way))
    }

    pub(crate) fn journal(&self) -> Result<Option<Journal>, ChangesError> {
        Journal::read(&self.dir)
    }

    /// Returns the journal if its plan was applied.
    pub(crate) fn applied_journal(&self) -> Result<Option<Journal>, ChangesError> {
        Ok(self.journal()?.filter(|it| it.status == Status::Done))
    }
}

/// Takes a lock without waiting. Returns whether it succeeded.
pub(crate) fn try_lock(file: impl AsFd) -> bool {
    flock(file, FlockOperation::NonBlockingLockExclusive).is_ok()
}
