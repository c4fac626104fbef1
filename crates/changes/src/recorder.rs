//! Keeping what is there before a call changes it: for whoever sees the call's system calls before they are done.
//!
//! The recorder writes `idx` (one record for each path, in the order of first touch), `pack` (contents), and hard links
//! and clones in `links/`; each of them when it is needed first, as most calls change nothing. Nothing is synced: it is
//! about calls that go wrong, not about machines that do.

mod index;

use crate::attributes::{self, Attributes};
use crate::beneath::Tree;
use crate::codec::Wire;
use crate::error::ChangesError;
use crate::meta::{Kind, Meta};
use crate::seen::Seen;
use crate::set::{LINKS, try_lock};
use agent_bash_core::changes::ChangesLevel;
use agent_bash_os::PrivateDir;
use index::Entry;
pub(crate) use index::{Content, INDEX, Index, Record, lacks};
use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, ioctl_ficlone, linkat, openat, readlinkat, renameat,
};
use rustix::io::{Errno, pread};
use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::ErrorKind::PermissionDenied;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The file with the contents.
pub(crate) const PACK: &str = "pack";

/// Directories beyond the root that are counted one by one.
const MAX_OUTSIDE: usize = 20;

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
pub enum Kept {
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
    tree: Tree,
    root: PathBuf,
    pub(crate) meta: Meta,
    pub(crate) set: PrivateDir,
    links: OwnedFd,
    index: Option<File>,
    pack: Option<File>,
    packed: u64,
    keeps: bool,
    near: bool,
    clones: bool,
    limit: u64,
    largest: u64,
    known: HashMap<PathBuf, bool>,
    contents: HashMap<u64, Content>,
    counted: BTreeMap<String, u64>,
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
        let is_late = matches!(meta.kind, Kind::Late { .. });
        // For as long as it is open, nobody else takes the set for abandoned.
        if set.has(INDEX) || is_late && !try_lock(&set) {
            return Err(ChangesError::io("recording in", dir)(Errno::EXIST.into()));
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Self {
            tree: Tree::open_same(&root, meta.identity)?,
            root,
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
            counted: BTreeMap::new(),
            numbered: 0,
            hidden: Vec::new(),
        })
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
    pub fn before(&mut self, path: &Path, touch: Touch) -> Result<Kept, ChangesError> {
        let Ok(below) = path.strip_prefix(&self.root) else {
            self.count_outside(path);
            return Ok(Kept::Outside);
        };
        if below.as_os_str().is_empty() {
            return self.directory(Path::new(""));
        }
        let below = below.to_owned();
        match self.one(&below, touch) {
            Err(Stop::Elsewhere) => {
                self.count_outside(path);
                Ok(Kept::Outside)
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
        if self.index.is_none() && self.counted.is_empty() {
            return Ok(());
        }
        let outside = std::mem::take(&mut self.counted);
        let outside = outside
            .into_iter()
            .map(|(directory, count)| (directory.into_bytes(), count));
        self.append(&Entry::End(outside.collect()))
    }

    /// Something is changed of which nothing is known. That stays so, whatever is recorded before and after.
    ///
    /// # Errors
    /// That could not be recorded.
    pub fn lacks(&mut self) -> Result<(), ChangesError> {
        self.append(&Entry::Lacks)
    }

    /// One path, with what is below it if its name is about to be changed.
    fn one(&mut self, path: &Path, touch: Touch) -> Result<Kept, Stop> {
        let wants_content = touch != Touch::Attributes;
        if touch == Touch::Content {
            self.part(path)?;
        }
        if let Some(has_content) = self.known.get(path)
            && (*has_content || !wants_content)
        {
            return Ok(Kept::Already);
        }
        if touch == Touch::Name {
            // Names are entries of their directory, whose times change with them.
            self.directory(path.parent().unwrap_or(Path::new("")))
                .map_err(Stop::Failed)?;
        }
        let seen = self.tree.at(path).map_err(|error| match error {
            Errno::LOOP | Errno::XDEV | Errno::NAMETOOLONG => Stop::Elsewhere,
            error => Stop::Failed(ChangesError::errno("looking at", path)(error)),
        })?;
        let Some(seen) = seen else {
            self.put(path, None, Content::Nothing)?;
            return Ok(Kept::Yes);
        };
        if seen.is_dir() {
            let kept = self.put(path, Some(seen), Content::Nothing)?;
            return match touch {
                Touch::Name => self.below(path).map(|below| kept.and(below)),
                _ => Ok(kept),
            };
        }
        let content = match wants_content {
            false => Content::Unread,
            true if self.is_hidden(path) => Content::Not,
            true if self.keeps => self.content(path, &seen, touch)?,
            true => Content::Not,
        };
        self.put(path, Some(seen), content)
    }

    /// A file of which a hard link is kept is about to be written to, by this name or another: the link becomes a copy.
    fn part(&mut self, path: &Path) -> Result<(), Stop> {
        let Ok(Some(seen)) = self.tree.at(path) else {
            return Ok(());
        };
        let Some(Content::Link(number)) = self.contents.get(&seen.ino) else {
            return Ok(());
        };
        let name = number.to_string();
        let copied = self.copy(path, &seen)?;
        let parted = match copied {
            // The records say that it is this link.
            Content::Clone(clone) => renameat(&self.links, clone.to_string(), &self.links, &name),
            Content::Packed(at, length) => self.unpacked(at, length, &name),
            _ => Ok(()),
        };
        parted.map_err(|error| failed("copying", path, error))?;
        self.contents.insert(seen.ino, copied);
        Ok(())
    }

    /// Puts a part of the pack in the place of a link.
    fn unpacked(&self, at: u64, length: u64, name: &str) -> Result<(), Errno> {
        let draft = format!("{name}.new");
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
        let to = openat(&self.links, &draft, flags, Mode::RUSR | Mode::WUSR)?;
        let from = self.set.read(PACK).map_err(|_| Errno::IO)?;
        let (mut done, mut part) = (0, vec![0; 1 << 16]);
        while done < length {
            let most = part.len().min((length - done) as usize);
            let read = pread(&from, &mut part[..most], at + done)?;
            if read == 0 {
                break;
            }
            File::from(to.try_clone().map_err(|_| Errno::IO)?)
                .write_all(&part[..read])
                .map_err(|_| Errno::IO)?;
            done += read as u64;
        }
        renameat(&self.links, &draft, &self.links, name)
    }

    /// Everything below a directory that is about to be removed or renamed.
    fn below(&mut self, top: &Path) -> Result<Kept, Stop> {
        let mut kept = Kept::Yes;
        let mut waiting = vec![top.to_owned()];
        while let Some(path) = waiting.pop() {
            let entries = match self.entries(&path) {
                // It goes as a whole; what is in it is not known to who may not look.
                Err(ChangesError::Io { error, .. }) if error.kind() == PermissionDenied => {
                    kept = Kept::Not;
                    continue;
                }
                entries => entries.map_err(Stop::Failed)?,
            };
            for (name, is_dir) in entries {
                let path = path.join(name);
                if is_dir {
                    let seen = self.tree.at(&path);
                    let seen = seen.map_err(|error| failed("looking at", &path, error))?;
                    if !self.known.contains_key(&path) {
                        kept = kept.and(self.put(&path, seen, Content::Nothing)?);
                    }
                    waiting.push(path);
                } else {
                    kept = kept.and(self.one(&path, Touch::Name)?);
                }
            }
        }
        Ok(kept)
    }

    fn entries(&mut self, path: &Path) -> Result<Vec<(OsString, bool)>, ChangesError> {
        let error = |error| ChangesError::errno("listing", path)(error);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir = self.tree.directory(path).map_err(error)?;
        let dir = openat(dir, ".", flags, Mode::empty()).map_err(error)?;
        let mut entries = Vec::new();
        for entry in Dir::new(dir).map_err(error)? {
            let entry = entry.map_err(error)?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                let name = OsString::from_vec(name.to_vec());
                let is_dir = match entry.file_type() {
                    FileType::Unknown => {
                        let seen = self.tree.at(&path.join(&name)).map_err(error)?;
                        seen.is_some_and(|seen| seen.is_dir())
                    }
                    kind => kind == FileType::Directory,
                };
                entries.push((name, is_dir));
            }
        }
        Ok(entries)
    }

    /// A directory whose entries or attributes are about to be changed.
    fn directory(&mut self, path: &Path) -> Result<Kept, ChangesError> {
        if self.known.contains_key(path) {
            return Ok(Kept::Already);
        }
        let seen = if path.as_os_str().is_empty() {
            Some(self.tree.seen()?)
        } else {
            match self.tree.at(path) {
                Ok(seen) => seen,
                // Whatever is there is looked at through its own path.
                Err(Errno::LOOP | Errno::XDEV) => return Ok(Kept::Outside),
                Err(error) => return Err(ChangesError::errno("looking at", path)(error)),
            }
        };
        match self.put(path, seen, Content::Nothing) {
            Ok(kept) => Ok(kept),
            Err(Stop::Failed(error)) => Err(error),
            Err(Stop::Elsewhere) => Ok(Kept::Outside),
        }
    }

    /// Keeps a content, once for each inode.
    fn content(&mut self, path: &Path, seen: &Seen, touch: Touch) -> Result<Content, Stop> {
        if let Some(content) = self.contents.get(&seen.ino)
            && (touch == Touch::Name || !matches!(content, Content::Link(_)))
        {
            return Ok(content.clone());
        }
        let kept = match seen.kind() {
            FileType::Symlink => {
                let (dir, name) = self
                    .tree
                    .parent(path)
                    .map_err(|error| failed("opening", path, error))?;
                let target = readlinkat(dir, name, Vec::new());
                let target = target.map_err(|error| failed("reading", path, error))?;
                return Ok(Content::Target(target.into_bytes()));
            }
            _ if touch == Touch::Name && self.near => self.link(path),
            FileType::RegularFile => Ok(None),
            // They can be made again.
            FileType::Fifo | FileType::Socket => Ok(Some(Content::Nothing)),
            _ => Ok(Some(Content::Not)),
        };
        let kept = match kept.map_err(|error| failed("linking", path, error))? {
            Some(kept) => kept,
            None if seen.is_file() => self.copy(path, seen)?,
            None => Content::Not,
        };
        self.contents.insert(seen.ino, kept.clone());
        Ok(kept)
    }

    /// A hard link, where one can be had: the name goes, the file stays what it is.
    fn link(&mut self, path: &Path) -> Result<Option<Content>, Errno> {
        let number = self.numbered;
        let (dir, name) = self.tree.parent(path)?;
        match linkat(dir, name, &self.links, number.to_string(), AtFlags::empty()) {
            Ok(()) => {
                self.numbered += 1;
                Ok(Some(Content::Link(number)))
            }
            // Too many links, another file system after all, a file that the system protects from links.
            Err(Errno::MLINK | Errno::XDEV | Errno::PERM | Errno::NOENT) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn is_hidden(&self, path: &Path) -> bool {
        let path = self.root.join(path);
        self.hidden.iter().any(|hidden| path.starts_with(hidden))
    }

    /// A clone, where the file system has them, else a copy in the pack.
    fn copy(&mut self, path: &Path, seen: &Seen) -> Result<Content, Stop> {
        let Ok(from) = self.tree.file(path) else {
            return Ok(Content::Not);
        };
        if let Some(clone) = self
            .clone_of(&from)
            .map_err(|error| failed("cloning", path, error))?
        {
            return Ok(clone);
        }
        if seen.size > self.largest {
            return Ok(Content::Not);
        }
        if self.packed + seen.size > self.limit {
            let limit = self.limit >> 20;
            return Err(Stop::Failed(ChangesError::TooMuch { limit }));
        }
        let at = self.packed;
        let mut from = File::from(from).take(self.largest);
        let copied = file(&self.set, PACK, &mut self.pack)
            .and_then(|pack| io::copy(&mut from, pack))
            .map_err(|error| Stop::Failed(ChangesError::io("copying", path)(error)))?;
        self.packed += copied;
        Ok(Content::Packed(at, copied))
    }

    fn clone_of(&mut self, from: &OwnedFd) -> Result<Option<Content>, Errno> {
        if !self.clones {
            return Ok(None);
        }
        let number = self.numbered;
        let name = number.to_string();
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let to = openat(&self.links, &name, flags, Mode::RUSR | Mode::WUSR)?;
        if ioctl_ficlone(&to, from).is_ok() {
            self.numbered += 1;
            return Ok(Some(Content::Clone(number)));
        }
        // Asked once: a file system clones or it does not.
        self.clones = false;
        rustix::fs::unlinkat(&self.links, &name, AtFlags::empty())?;
        Ok(None)
    }

    fn put(&mut self, path: &Path, seen: Option<Seen>, content: Content) -> Result<Kept, Stop> {
        let kept = match content {
            Content::Not => Kept::Not,
            _ => Kept::Yes,
        };
        let attributes = match seen {
            Some(seen) if self.keeps && seen.kind() != FileType::Symlink => {
                self.attributes(path)
                    .map_err(|error| failed("reading the attributes of", path, error))?
            }
            _ => Vec::new(),
        };
        let has_content = !matches!(content, Content::Unread);
        let record = Record {
            path: path.as_os_str().as_bytes().to_vec(),
            seen,
            attributes,
            content,
        };
        self.append(&Entry::Path(record)).map_err(Stop::Failed)?;
        self.known.insert(path.to_owned(), has_content);
        Ok(kept)
    }

    fn attributes(&mut self, path: &Path) -> Result<Attributes, Errno> {
        if path.as_os_str().is_empty() {
            return attributes::all(self.tree.directory(path)?.as_fd(), OsStr::new("."));
        }
        let (dir, name) = self.tree.parent(path)?;
        attributes::all(dir.as_fd(), name)
    }

    fn append(&mut self, entry: &Entry) -> Result<(), ChangesError> {
        let mut body = Vec::with_capacity(256);
        entry.put(&mut body);
        let mut framed = Vec::with_capacity(body.len() + 8);
        body.put(&mut framed);
        // One write, so that a record is there or it is not.
        file(&self.set, INDEX, &mut self.index)
            .and_then(|index| index.write_all(&framed))
            .map_err(ChangesError::io("writing", INDEX))
    }

    fn count_outside(&mut self, path: &Path) {
        let directory: PathBuf = path.parent().unwrap_or(path).components().take(3).collect();
        let directory = directory.to_string_lossy().into_owned();
        let full = self.counted.len() >= MAX_OUTSIDE && !self.counted.contains_key(&directory);
        let directory = if full { "…".to_owned() } else { directory };
        *self.counted.entry(directory).or_default() += 1;
    }
}

impl Kept {
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
