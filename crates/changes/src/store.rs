//! All change sets, below a state directory: `changes/<session>/<id>/`.

pub(crate) mod accounting;
pub(crate) mod changer;
pub(crate) mod known_numbers;
pub(crate) mod mark;
pub(crate) mod meta;
pub(crate) mod numbers;
pub(crate) mod prune;
pub(crate) mod set;
pub(crate) mod slots;
pub(crate) mod temporary_trial;
pub(crate) mod turn_marks;
pub(crate) mod turns;
pub(crate) mod unfinished;

use crate::error::ChangesError;
use crate::files::attributes;
use crate::files::file_stat;
use crate::files::git_index;
use crate::files::rooted_dir::{RootedDir, canonical, mount_of};
use crate::plan::steps::{Precautions, Steps, Undisturbed};
use crate::store::known_numbers::KnownNumbers;
use crate::store::meta::{Meta, SetKind};
use crate::store::numbers::{give_back, take_next};
use crate::store::set::{
    ChangeSet, LINKS_DIR, LOCK_FILE, SLOTS_DIR, SetState, UPPER_DIR, WORK_DIR, try_lock,
};
use crate::store::turn_marks::KnownTurns;
use agent_bash_core::changes::{ChangesId, ChangesLevel};
use agent_bash_os::PrivateDir;
use rustix::fs::{AtFlags, Timespec, Timestamps};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub use crate::store::meta::StoreLimits;

/// The name of the store's directory in the state directory.
const DIRECTORY_NAME: &str = "changes";

/// The time that an operation waits for the lock, roughly. Another process may change a large tree;
/// a stopped process may hold the lock for ever.
const MAX_LOCK_WAIT: Duration = Duration::from_secs(10);

/// All stored change sets. Private: mode 0700, and no file is readable by other users.
#[derive(Debug)]
pub struct Store {
    pub(crate) path: PathBuf,
    pub(crate) limits: StoreLimits,
    pub(crate) steps: Arc<dyn Steps>,
    pub(crate) precautions: Precautions,
    /// Change sets of calls that changed nothing, which later calls reuse.
    pub(crate) unused_sets: Mutex<Vec<ChangeSet>>,
    pub(crate) known_numbers: KnownNumbers,
    pub(crate) known_turns: KnownTurns,
    /// The time that an operation waits for the lock, shorter in tests.
    pub(crate) max_lock_wait: Duration,
}

/// Adds the usual reason to the error of a directory that this process may not use.
fn with_sandbox_hint(error: io::Error) -> io::Error {
    match Errno::from_io_error(&error) {
        Some(Errno::ACCESS | Errno::ROFS) => io::Error::new(
            error.kind(),
            format!(
                "{error}; a sandboxed call has no access to changes: in one, use them outside of the sandbox"
            ),
        ),
        _ => error,
    }
}

impl Store {
    /// Opens the store in a state directory, and creates it if needed. Recovers from crashes:
    /// completes commits, and discards trials whose host died.
    ///
    /// # Errors
    /// The directory cannot be created, belongs to another user, or its contents cannot be
    /// recovered.
    pub fn open(state: &Path) -> Result<Self, ChangesError> {
        let store = Self::open_without_recovery(state)?;
        store.recover()?;
        Ok(store)
    }

    /// Opens the store without recovery.
    #[doc(hidden)]
    pub fn open_without_recovery(state: &Path) -> Result<Self, ChangesError> {
        let made = PrivateDir::create(state, &[DIRECTORY_NAME]).map_err(with_sandbox_hint);
        let made = made.map_err(ChangesError::io("making", state.join(DIRECTORY_NAME)))?;
        let path = canonical(made.path())?;
        Ok(Self {
            path,
            limits: StoreLimits::default(),
            steps: Arc::new(Undisturbed),
            precautions: Precautions::default(),
            unused_sets: Mutex::default(),
            known_numbers: KnownNumbers::default(),
            known_turns: KnownTurns::default(),
            max_lock_wait: MAX_LOCK_WAIT,
        })
    }

    /// Sets an observer of steps, and the precautions of a commit. For tests.
    #[doc(hidden)]
    #[must_use]
    pub fn with_steps(mut self, steps: Arc<dyn Steps>, precautions: Precautions) -> Self {
        self.steps = steps;
        self.precautions = precautions;
        self
    }

    /// Returns the store's directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Sets the limits.
    #[must_use]
    pub fn limits(mut self, limits: StoreLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Begins a trial: a change set with upper and work directory for an overlay on `root`. Changes
    /// nothing in `root`.
    ///
    /// # Errors
    /// `root` is not a directory, contains the store, is inside it, or contains another device; or
    /// the change set cannot be created.
    pub fn begin_trial(&self, session: &str, root: &Path) -> Result<ChangeSet, ChangesError> {
        if let Some(path) = RootedDir::open(root)?.directory_on_other_device() {
            let root = root.to_owned();
            return Err(ChangesError::OtherDevice { root, path });
        }
        let set = self.begin(session, root, SetKind::Trial, ChangesLevel::Undo)?;
        for name in [UPPER_DIR, WORK_DIR, SLOTS_DIR] {
            set.dir
                .make_dir(name)
                .map_err(ChangesError::io("making", set.dir().join(name)))?;
        }
        copy_git_index(&set);
        copy_root_attributes(&set)?;
        Ok(set)
    }

    /// Begins a trace: a change set that a [`Recorder`](crate::Recorder), possibly in another
    /// process, fills before each change in `root`. At [`ChangesLevel::List`] no contents are
    /// stored.
    ///
    /// # Errors
    /// See [`Store::begin_trial`].
    pub fn begin_trace(
        &self,
        session: &str,
        root: &Path,
        level: ChangesLevel,
    ) -> Result<ChangeSet, ChangesError> {
        let root = canonical(root)?;
        if let Some(set) = self.reuse_unused(session, &root, SetKind::Trace, level) {
            // A failed prune does not prevent the begin.
            let _ = self.prune(set.mark);
            return Ok(set);
        }
        self.begin_at(session, root, SetKind::Trace, level)
    }

    /// Begins the trace of a job. The recorder closes the change set, because the call does not
    /// wait and the host may have ended. Drop the returned value when the recorder has opened the
    /// change set.
    ///
    /// # Errors
    /// See [`Store::begin_trial`].
    pub fn begin_job(
        &self,
        session: &str,
        root: &Path,
        level: ChangesLevel,
    ) -> Result<ChangeSet, ChangesError> {
        let kind = SetKind::Background {
            after: None,
            maybe_earlier: false,
        };
        self.begin(session, root, kind, level)
    }

    /// Removes the change set of a command that did not run or was not recorded. The next change
    /// set gets the number again, if possible.
    ///
    /// # Errors
    /// The set could not be removed.
    pub fn remove(&self, set: ChangeSet) -> Result<(), ChangesError> {
        let (id, path) = (set.id, set.dir().to_owned());
        set.remove().map_err(ChangesError::io("removing", &path))?;
        if let Ok(session) = PrivateDir::open(path.parent().unwrap_or(&path), &[]) {
            give_back(&session, id);
            self.known_numbers.give_back(&session, id);
        }
        Ok(())
    }

    pub(crate) fn begin(
        &self,
        session: &str,
        root: &Path,
        kind: SetKind,
        level: ChangesLevel,
    ) -> Result<ChangeSet, ChangesError> {
        self.begin_at(session, canonical(root)?, kind, level)
    }

    fn begin_at(
        &self,
        session: &str,
        root: PathBuf,
        kind: SetKind,
        level: ChangesLevel,
    ) -> Result<ChangeSet, ChangesError> {
        self.check_not_nested(&root)?;
        let tree = RootedDir::open(&root)?;
        let session = self.session(session)?;
        let meta = Meta::new(kind, root, level, self.limits);
        let lowest = self.lowest_new_number(&session)?;
        let set = create_set(&session, &tree, meta, lowest)?;
        self.record_number(&session, set.id)?;
        // A failed prune does not prevent the begin. The next change set tries again.
        if !matches!(kind, SetKind::Undo { .. }) {
            let _ = self.prune(set.mark);
        }
        Ok(set)
    }

    /// Returns the lowest number that a new change set of the session may have.
    pub(crate) fn lowest_new_number(&self, session: &PrivateDir) -> Result<u64, ChangesError> {
        let next = self.known_numbers.next(session);
        next.map_err(numbering_error(session))
    }

    /// Returns the lowest number that may name a change set of this directory.
    pub(crate) fn first_number(&self, session: &PrivateDir) -> Result<ChangesId, ChangesError> {
        let first = self.known_numbers.first(session);
        first.map_err(numbering_error(session))
    }

    /// Records that this process uses or shows the number.
    pub(crate) fn record_number(
        &self,
        session: &PrivateDir,
        id: ChangesId,
    ) -> Result<(), ChangesError> {
        let recorded = self.known_numbers.record(session, id);
        recorded.map_err(numbering_error(session))
    }

    /// Returns an error if the tree contains the store, or the store contains the tree.
    pub(crate) fn check_not_nested(&self, root: &Path) -> Result<(), ChangesError> {
        if self.path.starts_with(root) || root.starts_with(&self.path) {
            let (root, store) = (root.to_owned(), self.path.clone());
            return Err(ChangesError::StoreInsideRoot { root, store });
        }
        Ok(())
    }

    /// Opens the directory of a session in the store, and creates it if needed.
    pub(crate) fn session(&self, name: &str) -> Result<PrivateDir, ChangesError> {
        if let Some(existing) = self.existing_session(name)? {
            return Ok(existing);
        }
        PrivateDir::create(&self.path, &[name])
            .map_err(ChangesError::io("making", self.path.join(name)))
    }

    /// Opens the directory of a session in the store, if it exists.
    pub(crate) fn existing_session(&self, name: &str) -> Result<Option<PrivateDir>, ChangesError> {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if name.is_empty()
            || name.len() > 100
            || name.starts_with('.')
            || !name.bytes().all(is_allowed)
        {
            return Err(ChangesError::SessionName(name.to_owned()));
        }
        match PrivateDir::open(&self.path, &[name]) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            opened => opened
                .map(Some)
                .map_err(ChangesError::io("opening", self.path.join(name))),
        }
    }
}

fn numbering_error(session: &PrivateDir) -> impl FnOnce(io::Error) -> ChangesError {
    ChangesError::io("numbering a change set in", session.path())
}

/// Creates the next change set of a session. Its number is at least `lowest`.
pub(crate) fn create_set(
    session: &PrivateDir,
    tree: &RootedDir,
    mut meta: Meta,
    lowest: u64,
) -> Result<ChangeSet, ChangesError> {
    let (id, dir) = take_next(session, lowest, |name| session.make_dir(name))?;
    let lock = dir
        .open_or_create(LOCK_FILE)
        .map_err(ChangesError::io("making", dir.path().join(LOCK_FILE)))?;
    if !try_lock(&lock) {
        let path = dir.path().join(LOCK_FILE);
        return Err(ChangesError::io("locking", path)(Errno::WOULDBLOCK.into()));
    }
    meta.identity = tree.identity()?;
    meta.is_same_mount = mount_of(dir.path())? == mount_of(tree.path())?;
    meta.begun = mark::touched(&lock, dir.path())?;
    let has_slots = !matches!(meta.kind, SetKind::Scan | SetKind::Undo { .. });
    if !meta.is_same_mount && has_slots {
        let (seconds, nanoseconds) = meta.begun;
        let name = session.path().file_name().unwrap_or_default();
        let name = name.to_string_lossy();
        let name = format!("{name}-{id}-{seconds:x}{nanoseconds:x}");
        meta.set_slot_directory(Some(slots::slot_directory(tree.path(), &name)?));
    }
    if meta.kind == SetKind::Trial {
        slots::make(&meta)?;
    }
    meta.write(&dir)?;
    let mut set = ChangeSet {
        id,
        mark: meta.begun,
        dir,
        meta,
        lock,
        state: SetState::Running,
        is_partly_undone: false,
        size: 0,
        command: None,
    };
    // A trace needs no mark: its records show which changes belong to the call.
    if set.meta.kind == SetKind::Trial {
        set.mark()?;
    } else {
        set.set_state(SetState::Running)?;
    }
    set.register()?;
    if matches!(set.meta.kind, SetKind::Trace | SetKind::Background { .. }) {
        for name in [LINKS_DIR, SLOTS_DIR] {
            set.dir
                .make_dir(name)
                .map_err(ChangesError::io("making", set.dir().join(name)))?;
        }
    }
    Ok(set)
}

/// Copies the git index of the root. Without the copy, a `git status` of another process would be a
/// conflict if the trial changes the index as well.
fn copy_git_index(set: &ChangeSet) {
    let index = set.root().join(git_index::ROOT_INDEX);
    let is_file = index.symlink_metadata().is_ok_and(|it| it.is_file());
    if is_file {
        // A missing copy does no harm.
        let _ = std::fs::copy(&index, set.dir().join(git_index::COPY_NAME));
    }
}

/// Copies the root's attributes to the upper directory, since the overlay shows them at its top.
fn copy_root_attributes(set: &ChangeSet) -> Result<(), ChangesError> {
    let root = set.root();
    let upper = set.upper();
    let failed = || ChangesError::errno("preparing", upper.clone());
    let tree = RootedDir::open(&root)?;
    let stat = tree.stat_root()?;
    let dir = set.dir.as_fd();
    let name = OsStr::new(UPPER_DIR);
    let (user, group) = (stat.uid, stat.gid);
    rustix::fs::chownat(
        dir,
        name,
        Some(rustix::process::Uid::from_raw(user)),
        Some(rustix::process::Gid::from_raw(group)),
        AtFlags::SYMLINK_NOFOLLOW,
    )
    // If another user owns the root, the owner cannot be copied: the trial shows this user.
    .or_else(|error| {
        if error == Errno::PERM {
            Ok(())
        } else {
            Err(error)
        }
    })
    .map_err(failed())?;
    let (parent, name_of_root) = (root.parent().unwrap_or(&root), root.file_name());
    if let Some(name_of_root) = name_of_root {
        let parent = File::open(parent).map_err(ChangesError::io("opening", parent))?;
        let wanted = attributes::all(parent.as_fd(), name_of_root).map_err(failed())?;
        attributes::replace_all(dir, name, &wanted).map_err(failed())?;
    }
    rustix::fs::chmodat(
        dir,
        name,
        file_stat::mode(stat.permissions()),
        AtFlags::empty(),
    )
    .map_err(failed())?;
    let time = Timespec {
        tv_sec: stat.mtime.0,
        tv_nsec: i64::from(stat.mtime.1),
    };
    let times = Timestamps {
        last_access: time,
        last_modification: time,
    };
    rustix::fs::utimensat(dir, name, &times, AtFlags::SYMLINK_NOFOLLOW).map_err(failed())
}
