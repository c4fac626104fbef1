//! Stores preimages before a call changes files. The tracer calls it before each system call
//! continues.
//!
//! The recorder writes `idx` (one record for each path, in the order of first touch), `pack`
//! (contents), and hard links and clones in `links/`. Each is created when first needed, since most
//! calls change nothing. Nothing is synced: records guard against failing commands, not failing
//! machines.

mod below;
mod contents;
mod index;
mod names;
mod outside;

use crate::attributes::{self, Attributes};
use crate::codec::Wire;
use crate::error::ChangesError;
use crate::file_stat::FileStat;
use crate::meta::{Meta, SetKind};
use crate::rooted_dir::RootedDir;
use crate::set::{ChangeSet, LINKS_DIR, try_lock};
use crate::user::User;
use agent_bash_core::changes::ChangesLevel;
use agent_bash_os::PrivateDir;
use index::IndexEntry;
pub(crate) use index::{ContentLocation, INDEX_FILE, Index, PathRecord, lacks};
use outside::OutsideFiles;
use rustix::fs::{FileType, Mode, OFlags, openat, stat};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The file with contents.
pub(crate) const CONTENTS_FILE: &str = "pack";

/// The effect of a system call on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Touch {
    /// Changes the contents: an open for writing, a truncation.
    Content,
    /// Creates, removes or replaces the name: a creation, an unlink, either side of a rename or
    /// link. For a directory it includes all entries.
    Name,
    /// Changes permissions, owner, times or extended attributes.
    Attributes,
}

/// The result of a request to preserve a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeepOutcome {
    /// The preimage is stored, or the path did not exist.
    Yes,
    /// The path was touched before and needs nothing more.
    Already,
    /// The change is recorded without a preimage: the file is too large, cannot be read, or is not
    /// a regular file. The change set can be undone in part only.
    Not,
    /// The path is outside the root, where changes are only counted.
    Outside,
}

/// A file that a call reaches by a path outside the root, or by an unknown path.
#[derive(Debug, Clone, Copy)]
pub struct BeyondRoot<'a> {
    /// The path of the file for the call.
    pub path: &'a Path,
    /// A path of the same file for this process; links are followed.
    pub reachable: &'a Path,
    /// The number of known names outside the root. A file with more links may have a name below
    /// the root.
    pub names: u64,
    /// True if the file is on the file system of the root.
    pub is_near: bool,
    /// True if the call touches the file now, so that it is counted.
    pub is_counted: bool,
}

impl BeyondRoot<'_> {
    /// Returns true if the file may have a name below the root.
    pub(crate) fn may_be_below(&self) -> bool {
        let links = || stat(self.reachable).map(|found| FileStat::from(&found).links);
        self.is_near && links().is_ok_and(|links| links > self.names)
    }
}

/// Writes the records of one change set. It may run in another process than the
/// [`ChangeSet`](crate::ChangeSet), as the same user, with access to the set's directory and the
/// root.
///
/// If [`Recorder::before`] returned before the system call continued:
/// - each record is the state of the path before the call's *first* touch; contents are stored once
///   for each inode;
/// - the record is written when it returns: the death of the recorder loses none;
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
    packed: u64,
    keeps: bool,
    near: bool,
    clones: bool,
    limit: u64,
    largest: u64,
    /// Recorded paths; true if the record is complete: with contents, or with all entries.
    known: HashMap<PathBuf, bool>,
    contents: HashMap<u64, ContentLocation>,
    /// The first record of files with several names.
    firsts: HashMap<u64, (FileStat, Attributes)>,
    user: User,
    outside: OutsideFiles,
    numbered: u64,
    /// Hidden paths, which are never read.
    pub(crate) hidden: Vec<PathBuf>,
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
        let is_late = matches!(meta.kind, SetKind::Background { .. });
        // While the file is open, no other process considers the change set abandoned.
        if set.has(INDEX_FILE) || is_late && !try_lock(&set) {
            return Err(ChangesError::io("recording in", dir)(Errno::EXIST.into()));
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
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
            packed: 0,
            keeps: meta.level == ChangesLevel::Undo,
            near: meta.near,
            clones: meta.near,
            limit: meta.limits.set,
            largest: meta.limits.preimage,
            known: HashMap::new(),
            contents: HashMap::new(),
            firsts: HashMap::new(),
            user: User::current(),
            outside: OutsideFiles::default(),
            numbered: 0,
            hidden: Vec::new(),
        })
    }

    /// Returns the recorder for the preimages of an ended trial, limited by file size and total
    /// size.
    pub(crate) fn of_trial(
        set: &ChangeSet,
        largest: u64,
        limit: u64,
    ) -> Result<Self, ChangesError> {
        let mut recorder = Self::open(set.dir())?;
        recorder.largest = recorder.largest.min(largest);
        recorder.limit = recorder.limit.min(limit);
        Ok(recorder)
    }

    /// Stores a copy of a file, if it fits.
    pub(crate) fn keep(&mut self, path: &Path) -> Result<(), ChangesError> {
        match self.recorded(path, Touch::Content) {
            Ok(_)
            | Err(NotRecorded::Elsewhere | NotRecorded::Failed(ChangesError::TooMuch { .. })) => {
                Ok(())
            }
            Err(NotRecorded::Failed(error)) => Err(error),
        }
    }

    /// Sets hidden paths. Changes of these paths and of files below them are recorded without a
    /// preimage.
    #[must_use]
    pub fn hiding(mut self, paths: Vec<PathBuf>) -> Self {
        self.hidden = paths;
        self
    }

    /// The root of the change set.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Preserves `path` before a system call touches it. The path is absolute and names the file
    /// itself: its directory contains no links, and a followed last link is already resolved. A
    /// path that cannot be found this way counts as outside the root.
    ///
    /// # Errors
    /// The change set is full ([`ChangesError::TooMuch`]), or cannot be written. The caller ends
    /// the call, or marks the change set as inexact.
    pub fn before(&mut self, path: &Path, touch: Touch) -> Result<KeepOutcome, ChangesError> {
        let Ok(below) = path.strip_prefix(&self.root) else {
            let file = BeyondRoot {
                path,
                reachable: path,
                names: 1,
                is_near: true,
                is_counted: true,
            };
            return self.before_beyond(&file, touch);
        };
        if below.as_os_str().is_empty() {
            return self.directory(Path::new(""));
        }
        let below = below.to_owned();
        match self.one(&below, touch) {
            Err(NotRecorded::Elsewhere) => {
                self.outside.touched(path);
                Ok(KeepOutcome::Outside)
            }
            Err(NotRecorded::Failed(error)) => Err(error),
            Ok(kept) => Ok(kept),
        }
    }

    /// Ends the record: the call has ended and everything was recorded. Without this, a change set
    /// with records counts as interrupted.
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

    /// Records that an unknown change happened. The record stays incomplete.
    ///
    /// # Errors
    /// The record could not be written.
    pub fn lacks(&mut self) -> Result<(), ChangesError> {
        self.append(&IndexEntry::Lacks)
    }

    /// Records one path; if its name is about to be changed, also the paths below.
    fn one(&mut self, path: &Path, touch: Touch) -> Result<KeepOutcome, NotRecorded> {
        if self.tree.is_on_other_device(path).unwrap_or(false) {
            return self.on_other_device(path, touch);
        }
        if touch == Touch::Name {
            // A name is an entry of its directory, whose times change as well.
            self.directory(path.parent().unwrap_or(Path::new("")))
                .map_err(NotRecorded::Failed)?;
        }
        if touch == Touch::Content {
            self.part(path)?;
        }
        let known = self.known.get(path).copied();
        let is_enough = known.is_some_and(|has_all| has_all || touch == Touch::Attributes);
        if is_enough || self.has_come(path) {
            self.by_new_name(path, touch)?;
            if is_enough {
                return Ok(KeepOutcome::Already);
            }
            return self.put(path, None, ContentLocation::Nothing);
        }
        let kept = self.recorded(path, touch)?;
        self.with_entries(path, touch, kept)
    }

    /// Records a path on another device without a preimage: its inode numbers are separate, and no
    /// rename leads there.
    fn on_other_device(&mut self, path: &Path, touch: Touch) -> Result<KeepOutcome, NotRecorded> {
        if self.known.contains_key(path) {
            return Ok(KeepOutcome::Already);
        }
        let kept = self.recorded(path, touch)?;
        self.with_entries(path, touch, kept)
    }

    /// After recording a directory whose name changes, records its entries.
    fn with_entries(
        &mut self,
        path: &Path,
        touch: Touch,
        kept: KeepOutcome,
    ) -> Result<KeepOutcome, NotRecorded> {
        if touch != Touch::Name
            || !self
                .tree
                .stat(path)
                .is_ok_and(|it| it.is_some_and(|it| it.is_dir()))
        {
            return Ok(kept);
        }
        self.below(path).map(|below| kept.and(below))
    }

    /// Preserves a path at its first touch; a directory without its entries.
    fn recorded(&mut self, path: &Path, touch: Touch) -> Result<KeepOutcome, NotRecorded> {
        let seen = match self.tree.stat(path) {
            Ok(seen) => seen,
            Err(Errno::LOOP | Errno::XDEV) => return Err(NotRecorded::Elsewhere),
            // The kernel accepts no longer path, so it is recorded without a preimage.
            Err(Errno::NAMETOOLONG) => return self.put(path, None, ContentLocation::Not),
            Err(error) => return Err(failed("looking at", path, error)),
        };
        if self.tree.is_on_other_device(path).unwrap_or(false) {
            return self.put_named(path, seen);
        }
        let wants_content = touch != Touch::Attributes;
        let content = match &seen {
            None => ContentLocation::Nothing,
            Some(seen) if seen.is_dir() && touch == Touch::Name => ContentLocation::Nothing,
            Some(seen) if seen.is_dir() => ContentLocation::Unread,
            // Another name of the file was written to.
            Some(seen) if !wants_content && self.firsts.contains_key(&seen.ino) => {
                match self.contents.get(&seen.ino) {
                    Some(content) if !matches!(content, ContentLocation::Link(_)) => {
                        content.clone()
                    }
                    _ => ContentLocation::Unread,
                }
            }
            Some(_) if !wants_content => ContentLocation::Unread,
            Some(_) if !self.keeps || self.is_hidden(path) => ContentLocation::Not,
            Some(seen) => self.content(path, seen, touch)?,
        };
        let content = match &seen {
            Some(seen) if !self.can_come_back(seen, &content) => ContentLocation::Not,
            _ => content,
        };
        self.put(path, seen, content)
    }

    /// True if an undo can restore the attributes.
    fn can_come_back(&self, seen: &FileStat, content: &ContentLocation) -> bool {
        match content {
            ContentLocation::Unread | ContentLocation::Not => true,
            ContentLocation::Link(_) => self.user.may_dress(seen),
            _ => self.user.can_make(seen),
        }
    }

    fn is_hidden(&self, path: &Path) -> bool {
        let path = self.root.join(path);
        self.hidden.iter().any(|hidden| path.starts_with(hidden))
    }

    /// Records a path without a preimage.
    fn put_named(
        &mut self,
        path: &Path,
        seen: Option<FileStat>,
    ) -> Result<KeepOutcome, NotRecorded> {
        let record = PathRecord {
            path: path.as_os_str().as_bytes().to_vec(),
            stat: seen,
            attributes: Vec::new(),
            content: ContentLocation::Not,
        };
        self.append(&IndexEntry::Path(record))
            .map_err(NotRecorded::Failed)?;
        self.known.insert(path.to_owned(), true);
        Ok(KeepOutcome::Not)
    }

    fn put(
        &mut self,
        path: &Path,
        seen: Option<FileStat>,
        content: ContentLocation,
    ) -> Result<KeepOutcome, NotRecorded> {
        let kept = match content {
            ContentLocation::Not => KeepOutcome::Not,
            _ => KeepOutcome::Yes,
        };
        let attributes = match seen {
            Some(seen) if self.keeps && seen.kind() != FileType::Symlink => {
                self.attributes(path)
                    .map_err(|error| failed("reading the attributes of", path, error))?
            }
            _ => Vec::new(),
        };
        let has_all = !matches!(content, ContentLocation::Unread);
        let record = self.record(path, seen, attributes, content);
        self.append(&IndexEntry::Path(record))
            .map_err(NotRecorded::Failed)?;
        self.known.insert(path.to_owned(), has_all);
        Ok(kept)
    }

    /// Writes a record. A file with several names keeps the attributes of its first touch by any
    /// name.
    fn record(
        &mut self,
        path: &Path,
        mut seen: Option<FileStat>,
        mut attributes: Attributes,
        content: ContentLocation,
    ) -> PathRecord {
        if let Some(seen) = seen.as_mut().filter(|it| !it.is_dir()) {
            if seen.links > 1 && !self.firsts.contains_key(&seen.ino) {
                self.firsts.insert(seen.ino, (*seen, attributes.clone()));
            }
            if let Some(first) = self.firsts.get(&seen.ino) {
                (*seen, attributes) = first.clone();
            }
        }
        PathRecord {
            path: path.as_os_str().as_bytes().to_vec(),
            stat: seen,
            attributes,
            content,
        }
    }

    fn attributes(&mut self, path: &Path) -> Result<Attributes, Errno> {
        if path.as_os_str().is_empty() {
            return attributes::all(self.tree.directory(path)?.as_fd(), OsStr::new("."));
        }
        let (dir, name) = self.tree.parent(path)?;
        attributes::all(dir.as_fd(), name)
    }

    fn append(&mut self, entry: &IndexEntry) -> Result<(), ChangesError> {
        let mut body = Vec::with_capacity(256);
        entry.put(&mut body);
        let mut framed = Vec::with_capacity(body.len() + 8);
        body.put(&mut framed);
        // One write, so that a record is complete or missing.
        file(&self.set, INDEX_FILE, &mut self.index)
            .and_then(|index| index.write_all(&framed))
            .map_err(ChangesError::io("writing", INDEX_FILE))
    }
}

impl KeepOutcome {
    /// Combines two results.
    fn and(self, other: Self) -> Self {
        if self == Self::Not || other == Self::Not {
            Self::Not
        } else {
            self
        }
    }
}

/// Returns a file of the change set. It is created when first needed.
fn file<'a>(set: &PrivateDir, name: &str, file: &'a mut Option<File>) -> io::Result<&'a mut File> {
    match file {
        Some(file) => Ok(file),
        none => Ok(none.insert(set.create_new(name)?)),
    }
}

/// The reason why a path is not recorded.
enum NotRecorded {
    /// The path contains a link or another mount.
    Elsewhere,
    Failed(ChangesError),
}

fn failed(what: &'static str, path: &Path, error: Errno) -> NotRecorded {
    NotRecorded::Failed(ChangesError::errno(what, path)(error))
}
