//! Keeping what is there before a call changes it: for whoever sees the call's system calls before they are done.
//!
//! The recorder writes `idx` (one record for each path, in the order of first touch), `pack` (contents), and hard links
//! and clones in `links/`; each of them when it is needed first, as most calls change nothing. Nothing is synced: it is
//! about calls that go wrong, not about machines that do.

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
use crate::set::{ChangeSet, LINKS, try_lock};
use crate::user::User;
use agent_bash_core::changes::ChangesLevel;
use agent_bash_os::PrivateDir;
use index::IndexEntry;
pub(crate) use index::{Content, INDEX, Index, PathRecord, lacks};
use outside::Outside;
use rustix::fs::{FileType, Mode, OFlags, openat};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The file with the contents.
pub(crate) const PACK: &str = "pack";

/// What a system call is about to do to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Touch {
    /// Change the content of the file: an open for writing, a truncation.
    Content,
    /// Make, remove or replace the name: a creation, an unlink, either side of a rename or link. Of a directory,
    /// everything in it is meant.
    Name,
    /// Change permissions, owner, times or extended attributes.
    Attributes,
}

/// What became of a request to keep a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeepOutcome {
    /// What is needed for an undo is kept, or nothing was there.
    Yes,
    /// It was touched before, and nothing more is needed.
    Already,
    /// That it changes is known, but not what it was: it is too large, cannot be read, or is no file. The set can be
    /// undone in part only.
    Not,
    /// It is beyond the root, and only counted.
    Outside,
}

/// Writes a set's records. It is the only one of its set; whichever process has it may be another than the one that has
/// the [`Set`](crate::Set), and needs only access to the set's directory and the root, as the same user.
///
/// What it promises, if [`Recorder::before`] returned before the system call went on:
/// - the state of each path is that of before the call's *first* touch of it; contents are kept once for each inode;
/// - the record is with the kernel when it returns: the recorder's own death loses none of them;
/// - the tree is changed in nothing but the link count and ctime of files of which a hard link is kept.
///
/// It promises nothing about files that somebody else changes between `before` and the system call.
#[derive(Debug)]
pub struct Recorder {
    tree: RootedDir,
    root: PathBuf,
    pub(crate) meta: Meta,
    pub(crate) set: PrivateDir,
    /// What is kept there of calls is no change of theirs: one may ask for it (`agent-bash changes list`).
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
    /// Paths that were recorded; true, if with all that is needed of them: their content, or all that is in them.
    known: HashMap<PathBuf, bool>,
    contents: HashMap<u64, Content>,
    /// Files of several names, as they were touched first.
    firsts: HashMap<u64, (FileStat, Attributes)>,
    user: User,
    outside: Outside,
    numbered: u64,
    /// Paths of which nothing is read.
    pub(crate) hidden: Vec<PathBuf>,
}

impl Recorder {
    /// Opens the recorder of the set in `dir`, which is [`Set::dir`](crate::Set::dir) of a trace.
    ///
    /// # Errors
    /// The set is not there, is none of ours, has had a recorder, or its root is gone.
    pub fn open(dir: &Path) -> Result<Self, ChangesError> {
        let (Some(parent), Some(name)) = (dir.parent(), dir.file_name().and_then(OsStr::to_str))
        else {
            return Err(ChangesError::io("opening", dir)(Errno::NOENT.into()));
        };
        let set = PrivateDir::open(parent, &[name]).map_err(ChangesError::io("opening", dir))?;
        let meta = Meta::read(&set)?;
        let root = meta.root();
        let is_late = matches!(meta.kind, SetKind::Background { .. });
        // For as long as it is open, nobody else takes the set for abandoned.
        if set.has(INDEX) || is_late && !try_lock(&set) {
            return Err(ChangesError::io("recording in", dir)(Errno::EXIST.into()));
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // <state>/changes/<session>/<number>
        let state = dir.ancestors().nth(3).unwrap_or(dir);
        Ok(Self {
            tree: RootedDir::open_same(&root, meta.identity)?,
            root,
            state: state.to_owned(),
            meta: meta.clone(),
            links: openat(&set, LINKS, flags, Mode::empty())
                .map_err(ChangesError::errno("opening", dir.join(LINKS)))?,
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
            outside: Outside::default(),
            numbered: 0,
            hidden: Vec::new(),
        })
    }

    /// For what was in the files of a trial that has ended: copies of files that are no larger, and of no more than that.
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

    /// Keeps a copy of what is in a file, if there is room for it.
    pub(crate) fn keep(&mut self, path: &Path) -> Result<(), ChangesError> {
        match self.recorded(path, Touch::Content) {
            Ok(_) | Err(Stop::Elsewhere | Stop::Failed(ChangesError::TooMuch { .. })) => Ok(()),
            Err(Stop::Failed(error)) => Err(error),
        }
    }

    /// The same, which reads nothing of what is at these paths and below them: that they change is recorded, and not what
    /// they were.
    #[must_use]
    pub fn hiding(mut self, paths: Vec<PathBuf>) -> Self {
        self.hidden = paths;
        self
    }

    /// Keeps what is at `path`, which the call is about to touch. To be called before the system call goes on. The path
    /// is absolute and names the file itself: its directory has no links in it, and where the system call follows a last
    /// link, what that leads to is meant. What cannot be found through such a path counts as beyond the root.
    ///
    /// # Errors
    /// The set cannot take more ([`ChangesError::TooMuch`]), or cannot be written: the call is to be ended, or goes on
    /// with a set that is not exact.
    pub fn before(&mut self, path: &Path, touch: Touch) -> Result<KeepOutcome, ChangesError> {
        let Ok(below) = path.strip_prefix(&self.root) else {
            if path.starts_with(&self.state) {
                return Ok(KeepOutcome::Outside);
            }
            if touch == Touch::Content
                && let Err(Stop::Failed(error)) = self.part_outside(path)
            {
                return Err(error);
            }
            self.outside.touched(path);
            return Ok(KeepOutcome::Outside);
        };
        if below.as_os_str().is_empty() {
            return self.directory(Path::new(""));
        }
        let below = below.to_owned();
        match self.one(&below, touch) {
            Err(Stop::Elsewhere) => {
                self.outside.touched(path);
                Ok(KeepOutcome::Outside)
            }
            Err(Stop::Failed(error)) => Err(error),
            Ok(kept) => Ok(kept),
        }
    }

    /// The call has ended, and all that it did was recorded. Without this, the set is taken for interrupted, if anything
    /// is recorded in it.
    ///
    /// # Errors
    /// The end could not be recorded.
    pub fn finish(mut self) -> Result<(), ChangesError> {
        self.end()
    }

    /// Says that this is all.
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

    /// Something is changed of which nothing is known. That stays so, whatever is recorded before and after.
    ///
    /// # Errors
    /// That could not be recorded.
    pub fn lacks(&mut self) -> Result<(), ChangesError> {
        self.append(&IndexEntry::Lacks)
    }

    /// One path, with what is below it if its name is about to be changed.
    fn one(&mut self, path: &Path, touch: Touch) -> Result<KeepOutcome, Stop> {
        if touch == Touch::Name {
            // Names are entries of their directory, whose times change with them.
            self.directory(path.parent().unwrap_or(Path::new("")))
                .map_err(Stop::Failed)?;
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
            return self.put(path, None, Content::Nothing);
        }
        let kept = self.recorded(path, touch)?;
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

    /// What is at a path that was not touched before; of a directory, without what is in it.
    fn recorded(&mut self, path: &Path, touch: Touch) -> Result<KeepOutcome, Stop> {
        let seen = match self.tree.stat(path) {
            Ok(seen) => seen,
            Err(Errno::LOOP | Errno::XDEV) => return Err(Stop::Elsewhere),
            // The kernel takes no path that long: it is named.
            Err(Errno::NAMETOOLONG) => return self.put(path, None, Content::Not),
            Err(error) => return Err(failed("looking at", path, error)),
        };
        let wants_content = touch != Touch::Attributes;
        let content = match &seen {
            None => Content::Nothing,
            Some(seen) if seen.is_dir() && touch == Touch::Name => Content::Nothing,
            Some(seen) if seen.is_dir() => Content::Unread,
            // Another name of it was written to.
            Some(seen) if !wants_content && self.firsts.contains_key(&seen.ino) => {
                match self.contents.get(&seen.ino) {
                    Some(content) if !matches!(content, Content::Link(_)) => content.clone(),
                    _ => Content::Unread,
                }
            }
            Some(_) if !wants_content => Content::Unread,
            Some(_) if !self.keeps || self.is_hidden(path) => Content::Not,
            Some(seen) => self.content(path, seen, touch)?,
        };
        let content = match &seen {
            Some(seen) if !self.can_come_back(seen, &content) => Content::Not,
            _ => content,
        };
        self.put(path, seen, content)
    }

    /// Whether an undo may give it back what it looks like.
    fn can_come_back(&self, seen: &FileStat, content: &Content) -> bool {
        match content {
            Content::Unread | Content::Not => true,
            Content::Link(_) => self.user.may_dress(seen),
            _ => self.user.can_make(seen),
        }
    }

    fn is_hidden(&self, path: &Path) -> bool {
        let path = self.root.join(path);
        self.hidden.iter().any(|hidden| path.starts_with(hidden))
    }

    fn put(
        &mut self,
        path: &Path,
        seen: Option<FileStat>,
        content: Content,
    ) -> Result<KeepOutcome, Stop> {
        let kept = match content {
            Content::Not => KeepOutcome::Not,
            _ => KeepOutcome::Yes,
        };
        let attributes = match seen {
            Some(seen) if self.keeps && seen.kind() != FileType::Symlink => {
                self.attributes(path)
                    .map_err(|error| failed("reading the attributes of", path, error))?
            }
            _ => Vec::new(),
        };
        let has_all = !matches!(content, Content::Unread);
        let record = self.record(path, seen, attributes, content);
        self.append(&IndexEntry::Path(record))
            .map_err(Stop::Failed)?;
        self.known.insert(path.to_owned(), has_all);
        Ok(kept)
    }

    /// A record. What a file of several names looked like before is what it did when it was touched first, by any of them.
    fn record(
        &mut self,
        path: &Path,
        mut seen: Option<FileStat>,
        mut attributes: Attributes,
        content: Content,
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
            seen,
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
        // One write, so that a record is there or it is not.
        file(&self.set, INDEX, &mut self.index)
            .and_then(|index| index.write_all(&framed))
            .map_err(ChangesError::io("writing", INDEX))
    }
}

impl KeepOutcome {
    /// What is said of two.
    fn and(self, other: Self) -> Self {
        if self == Self::Not || other == Self::Not {
            Self::Not
        } else {
            self
        }
    }
}

/// A file of the set, which is made when it is needed first.
fn file<'a>(set: &PrivateDir, name: &str, file: &'a mut Option<File>) -> io::Result<&'a mut File> {
    match file {
        Some(file) => Ok(file),
        none => Ok(none.insert(set.create_new(name)?)),
    }
}

/// Why a path is not recorded.
enum Stop {
    /// The way to it leads over a link or another mount.
    Elsewhere,
    Failed(ChangesError),
}

fn failed(what: &'static str, path: &Path, error: Errno) -> Stop {
    Stop::Failed(ChangesError::errno(what, path)(error))
}
