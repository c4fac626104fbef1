//! Stores preimages before a call changes files. The tracer calls the recorder before each system
//! call continues.
//!
//! The recorder writes `idx` (one record for each path, in the order of first touch), `pack`
//! (contents), and hard links and clones in `links/`. Each file is created when first needed, since
//! most calls change nothing. Nothing is synced: records guard against failing commands, not
//! failing machines.

mod below;
mod contents;
mod index;
mod names;
mod outside;
mod records;

use crate::error::ChangesError;
use crate::files::attributes::Attributes;
use crate::files::file_stat::FileStat;
use crate::files::rooted_dir::RootedDir;
use crate::files::user::User;
use crate::store::meta::{Meta, SetKind};
use crate::store::set::{ChangeSet, LINKS_DIR, try_lock};
use agent_bash_core::changes::ChangesLevel;
use agent_bash_core::sandbox::HiddenPaths;
use agent_bash_os::{O_PATH, PrivateDir};
use index::IndexEntry;
pub(crate) use index::{ContentLocation, INDEX_FILE, Index, PathRecord, append_unknown_change};
use outside::OutsideCounter;
use rustix::fs::{Mode, OFlags, openat, stat};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// The file with copied contents, one after another.
pub(crate) const CONTENTS_FILE: &str = "pack";

/// The effect of a system call on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Touch {
    /// Changes the contents: an open for writing, a truncation.
    Content,
    /// Creates, removes or replaces the name: a creation, an unlink, either side of a rename or
    /// link. For a directory, all entries are affected as well.
    Name,
    /// Changes permissions, owner, times or extended attributes.
    Attributes,
}

/// The result of a request to preserve a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecordOutcome {
    /// The preimage is stored, or the path did not exist.
    Stored,
    /// The path was touched before and needs nothing more.
    AlreadyRecorded,
    /// The change is recorded without a preimage: the file is too large, cannot be read, or is not
    /// a regular file. The change set can be undone in part only.
    WithoutPreimage,
    /// The path is outside the root, where changes are only counted.
    Outside,
}

/// A file that a call reaches by a path outside the root, or by an unknown path.
#[derive(Debug, Clone, Copy)]
pub struct OutsideFile<'a> {
    /// The path of the file for the call.
    pub path: &'a Path,
    /// A path of the same file for this process; links are followed.
    pub reachable: &'a Path,
    /// The number of known names outside the root. A file with more links may have a name below
    /// the root.
    pub names: u64,
    /// True if the file is on the file system of the root.
    pub is_same_file_system: bool,
    /// True if the call touches the file now, so that it is counted.
    pub is_counted: bool,
}

impl OutsideFile<'_> {
    /// Returns true if the file may have a name below the root.
    pub(crate) fn may_be_below(&self) -> bool {
        let links = || stat(self.reachable).map(|found| FileStat::from(&found).links);
        self.is_same_file_system && links().is_ok_and(|links| links > self.names)
    }
}

/// Writes the records of one change set. The recorder may run in another process than the
/// [`ChangeSet`](crate::ChangeSet), as the same user, with access to the set's directory and the
/// root.
///
/// If [`Recorder::before`] returned before the system call continued:
/// - each record is the state of the path before the call's *first* touch; contents are stored once
///   for each inode;
/// - the record is written before the return: the death of the recorder loses no record;
/// - the tree is changed only in the link count and ctime of files with a preimage link.
///
/// The recorder gives no guarantee for files that another process changes between `before` and the
/// system call.
#[derive(Debug)]
pub struct Recorder {
    tree: RootedDir,
    root: PathBuf,
    pub(crate) meta: Meta,
    pub(crate) set: PrivateDir,
    /// The state directory. Changes there belong to this program, not to the call: the call may run
    /// `agent-bash changes list`.
    state: PathBuf,
    links: OwnedFd,
    index: Option<File>,
    pack: Option<File>,
    pack_bytes: u64,
    stores_contents: bool,
    can_link: bool,
    can_clone: bool,
    max_total_bytes: u64,
    max_file_bytes: u64,
    /// Recorded paths; true if the record is complete: with the file's contents, or with all
    /// entries of the directory.
    recorded: HashMap<PathBuf, bool>,
    content_of_inode: HashMap<u64, ContentLocation>,
    /// The first recorded attributes of files with several names, by inode.
    first_stats: HashMap<u64, (FileStat, Attributes)>,
    user: User,
    outside: OutsideCounter,
    next_link: u64,
    /// Hidden paths, which are never read.
    pub(crate) hidden: HiddenPaths,
}

impl Recorder {
    /// Opens the recorder of the change set in `dir`, the [`ChangeSet::dir`](crate::ChangeSet::dir)
    /// of a trace.
    ///
    /// # Errors
    /// The change set does not exist, belongs to another user, has had a recorder, or its root was
    /// removed.
    pub fn open(dir: &Path) -> Result<Self, ChangesError> {
        let (Some(parent), Some(name)) = (dir.parent(), dir.file_name().and_then(OsStr::to_str))
        else {
            return Err(ChangesError::io("opening", dir)(Errno::NOENT.into()));
        };
        let set = PrivateDir::open(parent, &[name]).map_err(ChangesError::io("opening", dir))?;
        let meta = Meta::read(&set)?;
        let root = meta.root();
        let is_background = matches!(meta.kind, SetKind::Background { .. });
        // While the file is open, no other process considers the change set abandoned.
        if set.has(INDEX_FILE) || is_background && !try_lock(&set) {
            return Err(ChangesError::io("recording in", dir)(Errno::EXIST.into()));
        }
        let flags = O_PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // Layout: <state>/changes/<session>/<number>.
        let state = dir.ancestors().nth(3).unwrap_or(dir);
        Ok(Self {
            tree: RootedDir::open_same(&root, meta.identity)?,
            root,
            state: state.to_owned(),
            meta: meta.clone(),
            links: openat(&set, LINKS_DIR, flags, Mode::empty())
                .map_err(ChangesError::errno("opening", dir.join(LINKS_DIR)))?,
            index: None,
            pack: None,
            set,
            pack_bytes: 0,
            stores_contents: meta.level == ChangesLevel::Undo,
            can_link: meta.is_same_mount,
            can_clone: meta.is_same_mount,
            max_total_bytes: meta.limits.max_set_bytes,
            max_file_bytes: meta.limits.max_preimage_bytes,
            recorded: HashMap::new(),
            content_of_inode: HashMap::new(),
            first_stats: HashMap::new(),
            user: User::current(),
            outside: OutsideCounter::default(),
            next_link: 0,
            hidden: HiddenPaths::default(),
        })
    }

    /// Returns the recorder for the preimages of an ended trial, limited by file size and total
    /// size.
    pub(crate) fn of_trial(
        set: &ChangeSet,
        max_file_bytes: u64,
        max_total_bytes: u64,
    ) -> Result<Self, ChangesError> {
        let mut recorder = Self::open(set.dir())?;
        recorder.max_file_bytes = recorder.max_file_bytes.min(max_file_bytes);
        recorder.max_total_bytes = recorder.max_total_bytes.min(max_total_bytes);
        Ok(recorder)
    }

    /// Stores a copy of a file, unless the file or the change set would be too large.
    pub(crate) fn store_preimage(&mut self, path: &Path) -> Result<(), ChangesError> {
        match self.record_first_touch(path, Touch::Content) {
            Ok(_)
            | Err(
                NotRecorded::Elsewhere | NotRecorded::Failed(ChangesError::PreimageLimit { .. }),
            ) => Ok(()),
            Err(NotRecorded::Failed(error)) => Err(error),
        }
    }

    /// Sets hidden paths. Changes of these paths and of files below them are recorded without a
    /// preimage.
    #[must_use]
    pub fn with_hidden_paths(mut self, paths: HiddenPaths) -> Self {
        self.hidden = paths;
        self
    }

    /// The root of the change set.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Preserves `path` before a system call touches it. The path is absolute and names the file
    /// itself: no parent is a symbolic link, and a followed last link is already resolved. A path
    /// that leads through a link or another mount counts as outside the root.
    ///
    /// # Errors
    /// The change set is full ([`ChangesError::PreimageLimit`]), or cannot be written. The caller
    /// ends the call, or marks the change set as inexact.
    pub fn before(&mut self, path: &Path, touch: Touch) -> Result<RecordOutcome, ChangesError> {
        let Ok(below) = path.strip_prefix(&self.root) else {
            let file = OutsideFile {
                path,
                reachable: path,
                names: 1,
                is_same_file_system: true,
                is_counted: true,
            };
            return self.before_outside(&file, touch);
        };
        if below.as_os_str().is_empty() {
            return self.record_directory(Path::new(""));
        }
        let below = below.to_owned();
        match self.record_path(&below, touch) {
            Err(NotRecorded::Elsewhere) => {
                self.outside.touched(path);
                Ok(RecordOutcome::Outside)
            }
            Err(NotRecorded::Failed(error)) => Err(error),
            Ok(outcome) => Ok(outcome),
        }
    }

    /// Ends the record: the call has ended and everything was recorded. A change set with records
    /// but without this end counts as interrupted.
    ///
    /// # Errors
    /// The end could not be written.
    pub fn finish(mut self) -> Result<(), ChangesError> {
        self.end()
    }

    /// Writes the end of the record.
    pub(crate) fn end(&mut self) -> Result<(), ChangesError> {
        let outside = std::mem::take(&mut self.outside).counted();
        if self.index.is_none() && outside.is_empty() {
            return Ok(());
        }
        let outside = outside
            .into_iter()
            .map(|(directory, count)| (directory.into_bytes(), count));
        self.append(&IndexEntry::End(outside.collect()))
    }

    /// Records that an unknown change happened, so that the record counts as incomplete.
    ///
    /// # Errors
    /// The record could not be written.
    pub fn mark_incomplete(&mut self) -> Result<(), ChangesError> {
        self.append(&IndexEntry::UnknownChange)
    }

    /// Records one path. If the name of a directory is about to change, also records all paths
    /// below the directory.
    fn record_path(&mut self, path: &Path, touch: Touch) -> Result<RecordOutcome, NotRecorded> {
        if self.tree.is_on_other_device(path).unwrap_or(false) {
            return self.on_other_device(path, touch);
        }
        if touch == Touch::Name {
            // A changed name also changes the times of its directory.
            self.record_directory(path.parent().unwrap_or(Path::new("")))
                .map_err(NotRecorded::Failed)?;
        }
        if touch == Touch::Content {
            self.detach_link(path)?;
        }
        let recorded = self.recorded.get(path).copied();
        let is_enough = recorded.is_some_and(|has_all| has_all || touch == Touch::Attributes);
        if is_enough || self.arrived_during_call(path) {
            self.record_new_name(path, touch)?;
            if is_enough {
                return Ok(RecordOutcome::AlreadyRecorded);
            }
            return self.put(path, None, ContentLocation::NoContents);
        }
        let outcome = self.record_first_touch(path, touch)?;
        self.with_directory_entries(path, touch, outcome)
    }

    /// Records a path on another device without a preimage: the device has its own inode numbers,
    /// and no rename leads to the device.
    fn on_other_device(&mut self, path: &Path, touch: Touch) -> Result<RecordOutcome, NotRecorded> {
        if self.recorded.contains_key(path) {
            return Ok(RecordOutcome::AlreadyRecorded);
        }
        let outcome = self.record_first_touch(path, touch)?;
        self.with_directory_entries(path, touch, outcome)
    }

    /// After recording a directory whose name changes, records its entries.
    fn with_directory_entries(
        &mut self,
        path: &Path,
        touch: Touch,
        outcome: RecordOutcome,
    ) -> Result<RecordOutcome, NotRecorded> {
        if touch != Touch::Name
            || !self
                .tree
                .stat(path)
                .is_ok_and(|it| it.is_some_and(|it| it.is_dir()))
        {
            return Ok(outcome);
        }
        self.record_below(path).map(|below| outcome.and(below))
    }

    /// Records a path at its first touch. The entries of a directory are not recorded here.
    fn record_first_touch(
        &mut self,
        path: &Path,
        touch: Touch,
    ) -> Result<RecordOutcome, NotRecorded> {
        let stat = match self.tree.stat(path) {
            Ok(stat) => stat,
            Err(Errno::LOOP | Errno::XDEV) => return Err(NotRecorded::Elsewhere),
            // The path is too long for the kernel to open.
            Err(Errno::NAMETOOLONG) => return self.put(path, None, ContentLocation::NotStored),
            Err(error) => return Err(system_error("looking at", path, error)),
        };
        if self.tree.is_on_other_device(path).unwrap_or(false) {
            return self.put_without_preimage(path, stat);
        }
        let wants_content = touch != Touch::Attributes;
        let content = match &stat {
            None => ContentLocation::NoContents,
            Some(stat) if stat.is_dir() && touch == Touch::Name => ContentLocation::NoContents,
            Some(stat) if stat.is_dir() => ContentLocation::Unread,
            // The file was already recorded by another name.
            Some(stat) if !wants_content && self.first_stats.contains_key(&stat.ino) => {
                match self.content_of_inode.get(&stat.ino) {
                    Some(content) if !matches!(content, ContentLocation::Link(_)) => {
                        content.clone()
                    }
                    _ => ContentLocation::Unread,
                }
            }
            Some(_) if !wants_content => ContentLocation::Unread,
            Some(_) if !self.stores_contents || self.is_hidden(path) => ContentLocation::NotStored,
            Some(stat) => self.store_content(path, stat, touch)?,
        };
        let content = match &stat {
            Some(stat) if !self.can_be_restored(stat, &content) => ContentLocation::NotStored,
            _ => content,
        };
        self.put(path, stat, content)
    }

    /// True if this user can restore the owner and the attributes of the file.
    fn can_be_restored(&self, stat: &FileStat, content: &ContentLocation) -> bool {
        match content {
            ContentLocation::Unread | ContentLocation::NotStored => true,
            ContentLocation::Link(_) => self.user.may_set_attributes(stat),
            _ => self.user.can_create(stat),
        }
    }

    fn is_hidden(&self, path: &Path) -> bool {
        self.hidden.hiding(&self.root.join(path)).is_some()
    }
}

impl RecordOutcome {
    /// Returns the worse of two outcomes.
    fn and(self, other: Self) -> Self {
        if self == Self::WithoutPreimage || other == Self::WithoutPreimage {
            Self::WithoutPreimage
        } else {
            self
        }
    }
}

/// The reason why a path is not recorded.
enum NotRecorded {
    /// The path contains a link or another mount.
    Elsewhere,
    Failed(ChangesError),
}

fn system_error(what: &'static str, path: &Path, error: Errno) -> NotRecorded {
    NotRecorded::Failed(ChangesError::errno(what, path)(error))
}
