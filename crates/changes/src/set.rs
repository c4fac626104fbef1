//! A set: its directory, and what has become of it.

use crate::codec::Wire;
use crate::error::ChangesError;
use crate::file_stat::Time;
use crate::journal::{Journal, Status};
use crate::mark;
use crate::meta::{Meta, SetKind};
use crate::size::size_of;
use agent_bash_core::changes::{ChangesId, Overlay};
use agent_bash_os::PrivateDir;
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::io::{Read, Write, read_to_string};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Where an overlay puts what is written.
pub(crate) const UPPER: &str = "upper";
/// Where an overlay prepares it.
pub(crate) const WORK: &str = "work";
/// Files that changes are swapped with.
pub(crate) const GONE: &str = "gone";
/// What was there before, by hard links and clones.
pub(crate) const LINKS: &str = "links";
/// The command that it is of.
const COMMAND: &str = "command";
/// Held by whoever runs the set's call; it says what has become of the set. It is overwritten in place, so that a full
/// disk is no obstacle, unless the file system copies on write.
pub(crate) const LOCK: &str = "lock";

/// What has become of a set, unless its journal says more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SetState {
    /// Its call runs, if its lock is held; otherwise whoever ran it is gone.
    Running,
    /// Its changes wait for a decision.
    Held,
    /// Its changes were made.
    Done,
    /// Its changes were made, and all of them taken back.
    Undone,
    /// Its changes are gone.
    Discarded,
    /// Whoever recorded it is gone.
    Interrupted,
}

impl Wire for SetState {
    fn put(&self, to: &mut Vec<u8>) {
        to.push(match self {
            Self::Running => b'r',
            Self::Held => b'h',
            Self::Done => b'd',
            Self::Undone => b'u',
            Self::Discarded => b'x',
            Self::Interrupted => b'i',
        });
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        match u8::get(from)? {
            b'r' => Some(Self::Running),
            b'h' => Some(Self::Held),
            b'd' => Some(Self::Done),
            b'u' => Some(Self::Undone),
            b'x' => Some(Self::Discarded),
            b'i' => Some(Self::Interrupted),
            _ => None,
        }
    }
}

/// A set whose call runs. It is this process's: its lock is held until it is dropped, and if it is dropped without
/// having been ended, or the process dies, then the next [`Store::open`](crate::Store::open) discards a trial, and calls
/// a trace interrupted.
#[derive(Debug)]
pub struct ChangeSet {
    pub(crate) id: ChangesId,
    pub(crate) dir: PrivateDir,
    pub(crate) meta: Meta,
    pub(crate) lock: File,
    pub(crate) state: SetState,
    /// Of a set whose changes were made: whether some of them are taken back, and others are not.
    pub(crate) in_part: bool,
    /// What is changed later was not changed before the call.
    pub(crate) mark: Time,
    /// Bytes that it takes up, since it has ended.
    pub(crate) size: u64,
    /// The command that it is of, until that is written down.
    pub(crate) command: Option<String>,
}

impl ChangeSet {
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

    /// All three, for whoever mounts the overlay.
    pub fn overlay(&self) -> Overlay {
        Overlay {
            root: self.root(),
            upper: self.upper(),
            work: self.work(),
        }
    }

    /// Says that the call begins now: what others change from here on is a conflict for it. To be called right before a
    /// script is handed over; a shell may have waited in the view for long. On a kernel older than 6.13 it takes up to a
    /// tick of the clock (4 ms), otherwise microseconds.
    ///
    /// # Errors
    /// The mark could not be written; the call must not begin.
    pub fn mark(&mut self) -> Result<(), ChangesError> {
        let (clock, path) = self.clock()?;
        self.mark = mark::set(&clock, &path)?;
        self.save()
    }

    /// Says which command it is of: one line, without secrets. Of an ordinary call it is kept if that has changed something.
    #[must_use]
    pub fn of_command(mut self, command: String) -> Self {
        self.command = Some(command);
        if matches!(self.meta.kind, SetKind::Trial | SetKind::Background { .. }) {
            self.keep_command();
        }
        self
    }

    pub(crate) fn keep_command(&mut self) {
        let Some(command) = self.command.take() else {
            return;
        };
        let written = self.dir.create_new(COMMAND);
        // It is no worse without.
        let _ = written.and_then(|mut file| file.write_all(command.as_bytes()));
    }

    /// The command that it is of, where that is known.
    pub(crate) fn command(&self) -> Option<String> {
        let file = self.dir.read(COMMAND).ok()?;
        read_to_string(file).ok()
    }

    /// When its call was begun, by the clock of the store's file system.
    pub(crate) fn begun(&self) -> Time {
        match self.meta.kind {
            // One may be the set of a later call than it was made for.
            SetKind::Trace | SetKind::Scan => self.mark,
            SetKind::Trial | SetKind::Background { .. } | SetKind::Undo { .. } => self.meta.begun,
        }
    }

    /// The same, with what it takes up from now on.
    pub(crate) fn end(&mut self, state: SetState) -> Result<(), ChangesError> {
        self.size = size_of(self.dir.path());
        self.set_state(state)
    }

    pub(crate) fn set_state(&mut self, state: SetState) -> Result<(), ChangesError> {
        self.state = state;
        self.save()
    }

    fn save(&self) -> Result<(), ChangesError> {
        let mut bytes = Vec::new();
        self.state.put(&mut bytes);
        self.mark.put(&mut bytes);
        self.size.put(&mut bytes);
        u8::from(self.in_part).put(&mut bytes);
        self.lock
            .write_all_at(&bytes, 0)
            .map_err(ChangesError::io("writing", self.dir.path().join(LOCK)))
    }

    /// A set that is on disk, whoever it belongs to; `None` if it is not there.
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
        let path = dir.path().join(LOCK);
        let mut bytes = Vec::new();
        let lock = dir.open_or_create(LOCK).and_then(|mut lock| {
            lock.read_to_end(&mut bytes)?;
            Ok(lock)
        });
        let lock = lock.map_err(ChangesError::io("reading", &path))?;
        // Its host died while it made the set: as one whose host died later.
        let from = &mut &bytes[..];
        let ((mut state, mark), size) = Wire::get(from).unwrap_or(((SetState::Running, (0, 0)), 0));
        // Sets of older versions end before it.
        let in_part = u8::get(from) == Some(1);
        let meta = Meta::read(&dir)?;
        if state == SetState::Held && !dir.has(WORK) {
            state = SetState::Discarded;
        }
        Ok(Some(Self {
            id,
            dir,
            meta,
            lock,
            state,
            in_part,
            mark,
            size,
            command: None,
        }))
    }

    /// Whether what it says of itself on disk is what is known here: others may do something with a set that has ended.
    pub(crate) fn is_as_known(&self) -> bool {
        let mut own = Vec::new();
        self.state.put(&mut own);
        let mut there = vec![0; own.len()];
        self.lock.read_exact_at(&mut there, 0).is_ok() && own == there
    }

    /// Whether nobody runs its call; from then on nobody else takes it.
    pub(crate) fn is_idle(&self) -> bool {
        try_lock(&self.lock) && (!self.is_late() || try_lock(&self.dir))
    }

    /// Whether its recorder is who ends it. That holds a lock on its directory.
    pub(crate) fn is_late(&self) -> bool {
        matches!(self.meta.kind, SetKind::Background { .. })
    }

    /// The set whose directory has the files that its journal speaks of.
    pub(crate) fn origin(&self) -> ChangesId {
        match self.meta.kind {
            SetKind::Undo { origin, .. } => ChangesId(origin),
            _ => self.id,
        }
    }

    /// The journal of a commit or an undo that was begun, and is not over. (A trace's is about what is done already: it is
    /// written anew.)
    pub(crate) fn unfinished(&self) -> Result<Option<Journal>, ChangesError> {
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

    /// Its journal, if what that says was done.
    pub(crate) fn done(&self) -> Result<Option<Journal>, ChangesError> {
        Ok(self.journal()?.filter(|it| it.status == Status::Done))
    }
}

/// Takes a lock, if nobody has it.
pub(crate) fn try_lock(file: impl AsFd) -> bool {
    flock(file, FlockOperation::NonBlockingLockExclusive).is_ok()
}
