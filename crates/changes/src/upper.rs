//! Reads the upper directory of an overlay, and returns the plan that makes the lower tree equal to
//! the overlay's view.
//!
//! Files equal to the tree are omitted. New and recreated directories are compared entry by entry,
//! so that each file has its own operation.

use crate::alike::{bytes, look, same_bytes};
use crate::attributes::{self, OPAQUE_ATTRIBUTE, WHITEOUT_ATTRIBUTE};
use crate::error::ChangesError;
use crate::file_stat::{FileStat, Time};
use crate::git_index;
use crate::mark::is_later;
use crate::modes::Modes;
use crate::plan::{ApplyPlan, Attribution, PlannedOp, SlotRename};
use crate::rooted_dir::RootedDir;
use crate::set::{SLOTS_DIR, UPPER_DIR};
use crate::steps::Precautions;
use rustix::fs::{FileType, readlinkat};
use rustix::io::Errno;
use std::collections::{BTreeSet, HashSet};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::ops::Bound;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Marks a file that was copied up from the lower directory.
const ORIGIN_ATTRIBUTE: &str = "user.overlay.origin";
/// Attributes of overlayfs features that are never enabled. With them, the upper directory does not
/// show the complete view.
const UNREADABLE_ATTRIBUTES: [&str; 2] = ["user.overlay.redirect", "user.overlay.metacopy"];

/// The result of a scan.
#[derive(Debug, Default)]
pub(crate) struct UpperScan {
    pub(crate) plan: ApplyPlan,
    /// Paths that another process changed since the mark.
    pub(crate) conflicts: Vec<Vec<u8>>,
    /// New directories. Their slots in the plan do not exist yet.
    pub(crate) made: Vec<PathBuf>,
}

/// Compares an upper directory (`UPPER_DIR` in the change set) with the lower tree. Slots of
/// removed files and of new directories are numbered from `first`. `only` limits the comparison;
/// other files in the upper directory are unchanged, such as a file that the trial opened for
/// writing.
pub(crate) fn scan(
    lower: &mut RootedDir,
    set: &mut RootedDir,
    mark: Time,
    first: u64,
    care: Precautions,
    modes: Modes,
    only: Option<BTreeSet<PathBuf>>,
) -> Result<UpperScan, ChangesError> {
    let upper = set.path().join(UPPER_DIR);
    let mut scanning = Scanning {
        lower,
        set,
        mark,
        next: first,
        care,
        modes,
        only,
        scan: UpperScan::default(),
        touched: HashSet::new(),
        copied: Vec::new(),
    };
    scanning
        .directories()
        .map_err(|(path, error)| ChangesError::io("comparing", upper.join(path))(error))?;
    scanning
        .find_removed()
        .and_then(|()| scanning.keep_times())
        .map_err(|(path, error)| ChangesError::io("comparing", upper.join(path))(error))?;
    let mut scan = scanning.scan;
    scan.plan.sort();
    scan.conflicts.sort();
    scan.conflicts.dedup();
    Ok(scan)
}

struct Scanning<'a> {
    lower: &'a mut RootedDir,
    set: &'a mut RootedDir,
    mark: Time,
    next: u64,
    care: Precautions,
    modes: Modes,
    only: Option<BTreeSet<PathBuf>>,
    scan: UpperScan,
    /// Directories with operations, whose times change.
    touched: HashSet<PathBuf>,
    /// Files copied up from a path that no longer exists.
    copied: Vec<(PathBuf, FileStat)>,
}

/// The path and the error.
type PathFault = (PathBuf, io::Error);

fn fault(path: &Path) -> impl FnOnce(Errno) -> PathFault + '_ {
    |error| (path.to_owned(), error.into())
}

/// A directory of the overlay.
struct OverlayDirectory {
    path: PathBuf,
    /// True if the tree has the directory as well.
    merged: bool,
}

impl Scanning<'_> {
    fn directories(&mut self) -> Result<(), PathFault> {
        let top = PathBuf::new();
        if let Some(seen) = self.set.stat(&upper(&top)).map_err(fault(&top))? {
            self.open(&top, &upper(&top), &seen)?;
        }
        let mut waiting = vec![OverlayDirectory {
            path: PathBuf::new(),
            merged: true,
        }];
        while let Some(level) = waiting.pop() {
            self.directory(&level, &mut waiting)?;
        }
        Ok(())
    }

    fn directory(
        &mut self,
        level: &OverlayDirectory,
        waiting: &mut Vec<OverlayDirectory>,
    ) -> Result<(), PathFault> {
        let path = &level.path;
        let at = upper(path);
        let names = self.set.names(&at).map_err(fault(path))?;
        let opaque = self.mark_of(&at, OPAQUE_ATTRIBUTE).map_err(fault(path))?;
        for mark in UNREADABLE_ATTRIBUTES {
            if self.mark_of(&at, mark).map_err(fault(path))?.is_some() {
                return Err((
                    path.clone(),
                    io::Error::other("it has a mark of an overlay with other settings"),
                ));
            }
        }
        let marked = opaque.as_deref() == Some(b"x");
        if level.merged {
            self.look(path, &at)?;
        }
        if level.merged && opaque.as_deref() == Some(b"y") {
            let kept: HashSet<&OsString> = names.iter().collect();
            for name in self.lower.names(path).map_err(fault(path))? {
                if !kept.contains(&name) {
                    self.take(&path.join(name))?;
                }
            }
        }
        for name in names {
            self.entry(&path.join(name), level.merged, marked, waiting)?;
        }
        Ok(())
    }

    fn open(&mut self, path: &Path, at: &Path, seen: &FileStat) -> Result<(), PathFault> {
        let opened = self.modes.open(self.set, at, seen);
        opened.map_err(|error| (path.to_owned(), error))
    }

    fn entry(
        &mut self,
        path: &Path,
        merged: bool,
        marked: bool,
        waiting: &mut Vec<OverlayDirectory>,
    ) -> Result<(), PathFault> {
        if !self.is_meant(path) {
            return Ok(());
        }
        let at = upper(path);
        let Some(there) = self.set.stat(&at).map_err(fault(path))? else {
            return Ok(());
        };
        if there.is_dir() {
            self.open(path, &at, &there)?;
        }
        let here = if merged {
            self.lower.stat(path).map_err(fault(path))?
        } else {
            None
        };
        if self.is_whiteout(&at, &there, marked).map_err(fault(path))? {
            return if here.is_some() {
                self.take(path)
            } else {
                Ok(())
            };
        }
        match (here, there.is_dir()) {
            (Some(here), true) if here.is_dir() => waiting.push(OverlayDirectory {
                path: path.to_owned(),
                merged: true,
            }),
            (here, true) => {
                if here.is_some() {
                    self.take(path)?;
                } else {
                    self.was_copied(path, &at, &there, merged)?;
                }
                self.make(path, &at, &there)?;
                waiting.push(OverlayDirectory {
                    path: path.to_owned(),
                    merged: false,
                });
            }
            (None, false) => {
                self.was_copied(path, &at, &there, merged)?;
                self.op(SlotRename::Put, path, &at, None, Some(there));
            }
            (Some(here), false) if here.is_dir() => {
                self.take(path)?;
                self.op(SlotRename::Put, path, &at, None, Some(there));
            }
            (Some(here), false) => self.both(path, &at, here, there)?,
        }
        Ok(())
    }

    /// Records a file that was copied up although the path does not exist in the tree. The
    /// attribute does not tell which of several names was copied.
    fn was_copied(
        &mut self,
        path: &Path,
        at: &Path,
        there: &FileStat,
        merged: bool,
    ) -> Result<(), PathFault> {
        if merged
            && (there.is_dir() || there.links == 1)
            && self
                .mark_of(at, ORIGIN_ATTRIBUTE)
                .map_err(fault(path))?
                .is_some()
        {
            self.copied.push((path.to_owned(), *there));
        }
        Ok(())
    }

    /// Decides whether the trial moved the file, or another process removed or moved it. In the
    /// second case its directory was changed, and no removal of the trial matches the file.
    fn find_removed(&mut self) -> Result<(), PathFault> {
        for (path, there) in std::mem::take(&mut self.copied) {
            let directory = path.parent().unwrap_or(Path::new(""));
            let directory = self.stat_below(directory).map_err(fault(&path))?;
            let is_old = directory.is_some_and(|it| !is_later(it.ctime, self.mark));
            let mut taken = self.scan.plan.ops.iter().filter_map(|op| match op.act {
                SlotRename::Take => op.current,
                _ => None,
            });
            let moved =
                !there.is_dir() && taken.any(|it| it.size == there.size && it.mtime == there.mtime);
            if !is_old && !moved {
                self.conflict(&path);
            }
        }
        Ok(())
    }

    /// Compares a file that exists in both: equal with other attributes, or different.
    fn both(
        &mut self,
        path: &Path,
        at: &Path,
        here: FileStat,
        there: FileStat,
    ) -> Result<(), PathFault> {
        let same = match self.is_same(path, at, &here, &there) {
            // A process without read permission may change the file, so the times decide.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                here.size == there.size && here.mtime == there.mtime
            }
            same => same.map_err(|error| (path.to_owned(), error))?,
        };
        if same {
            return self.look(path, at);
        }
        if !self.is_index_as_it_was(path) {
            self.compare_times(path, &here);
        }
        self.op(SlotRename::Swap, path, at, Some(here), Some(there));
        Ok(())
    }

    /// True for the repository's index if another process wrote the same entries since.
    fn is_index_as_it_was(&mut self, path: &Path) -> bool {
        if path != Path::new(git_index::ROOT_INDEX) {
            return false;
        }
        let meaning = |file: Result<OwnedFd, Errno>| file.ok().and_then(git_index::meaning);
        let was = meaning(self.set.file(Path::new(git_index::COPY_NAME)));
        was.is_some() && was == meaning(self.lower.file(path))
    }

    fn is_same(
        &mut self,
        path: &Path,
        at: &Path,
        here: &FileStat,
        there: &FileStat,
    ) -> io::Result<bool> {
        if here.kind() != there.kind() {
            return Ok(false);
        }
        match here.kind() {
            FileType::RegularFile => {
                if git_index::is_index(path) {
                    let here = git_index::meaning(self.lower.file(path)?);
                    if here.is_some() && here == git_index::meaning(self.set.file(at)?) {
                        return Ok(true);
                    }
                }
                if here.size != there.size {
                    return Ok(false);
                }
                let lower = self.lower.file(path)?;
                let there = self.set.file(at)?;
                same_bytes(File::from(lower), there.into(), here.size)
            }
            FileType::Symlink => {
                let (dir, name) = self.lower.parent(path)?;
                let here = readlinkat(dir, name, Vec::new())?;
                let (dir, name) = self.set.parent(at)?;
                Ok(here == readlinkat(dir, name, Vec::new())?)
            }
            FileType::CharacterDevice | FileType::BlockDevice => Ok(here.device == there.device),
            _ => Ok(true),
        }
    }

    /// True if the path, or an entry of it, is compared.
    fn is_meant(&self, path: &Path) -> bool {
        let within = (Bound::Included(path), Bound::Unbounded);
        // The entries of a directory follow it in order.
        let first = |only: &BTreeSet<PathBuf>| {
            let mut from = only.range::<Path, _>(within);
            from.next().is_some_and(|next| next.starts_with(path))
        };
        self.only.as_ref().is_none_or(first)
    }

    /// Compares the attributes of a file in both.
    fn look(&mut self, path: &Path, at: &Path) -> Result<(), PathFault> {
        if self.only.as_ref().is_some_and(|only| !only.contains(path)) {
            return Ok(());
        }
        let here = self.stat_below(path).map_err(fault(path))?;
        let there = self.set.stat(at).map_err(fault(path))?;
        let (Some(here), Some(there)) = (here, there) else {
            return Ok(());
        };
        let before = look(self.lower, path, &here).map_err(fault(path))?;
        let there = self.modes.before(at, there);
        let after = look(self.set, at, &there).map_err(fault(path))?;
        if before == after {
            return Ok(());
        }
        let attribution = Attribution {
            path: bytes(path),
            current: Some(here),
            before: Some(before),
            after: Some(after),
        };
        if attribution.is_soft() {
            // The tree's attributes are newer.
            if is_later(here.ctime, self.mark) {
                return Ok(());
            }
        } else {
            self.compare_times(path, &here);
        }
        self.scan.plan.attributions.push(attribution);
        Ok(())
    }

    /// Keeps the times of directories with equal attributes in which operations happen.
    fn keep_times(&mut self) -> Result<(), PathFault> {
        let known: HashSet<Vec<u8>> = self
            .scan
            .plan
            .attributions
            .iter()
            .map(|it| it.path.clone())
            .collect();
        let missing = self
            .touched
            .iter()
            .filter(|path| !known.contains(&bytes(path)));
        for path in missing.cloned().collect::<Vec<_>>() {
            let seen = self.stat_below(&path).map_err(fault(&path))?;
            // A directory that this plan puts has its times in the slot.
            let Some(seen) = seen.filter(|seen| seen.is_dir() && !is_later(seen.ctime, self.mark))
            else {
                continue;
            };
            let same = look(self.lower, &path, &seen).map_err(fault(&path))?;
            self.scan.plan.attributions.push(Attribution {
                path: bytes(&path),
                current: Some(seen),
                before: Some(same.clone()),
                after: Some(same),
            });
        }
        Ok(())
    }

    fn stat_below(&mut self, path: &Path) -> Result<Option<FileStat>, Errno> {
        if path.as_os_str().is_empty() {
            return self.lower.stat_root().map(Some).map_err(|_| Errno::IO);
        }
        self.lower.stat(path)
    }

    /// Removes a path of the tree with everything below it.
    fn take(&mut self, top: &Path) -> Result<(), PathFault> {
        let mut waiting = vec![top.to_owned()];
        while let Some(path) = waiting.pop() {
            let Some(here) = self.lower.stat(&path).map_err(fault(&path))? else {
                continue;
            };
            if here.is_dir() {
                let names = self.lower.names(&path).map_err(fault(&path))?;
                waiting.extend(names.into_iter().map(|name| path.join(name)));
                let before = look(self.lower, &path, &here).map_err(fault(&path))?;
                self.scan.plan.attributions.push(Attribution {
                    path: bytes(&path),
                    current: Some(here),
                    before: Some(before),
                    after: None,
                });
            }
            self.compare_times(&path, &here);
            let slot = self.slot();
            self.op(SlotRename::Take, &path, &slot, Some(here), None);
        }
        Ok(())
    }

    /// Adds a new directory.
    fn make(&mut self, path: &Path, at: &Path, there: &FileStat) -> Result<(), PathFault> {
        let there = self.modes.before(at, *there);
        let after = look(self.set, at, &there).map_err(fault(path))?;
        self.scan.plan.attributions.push(Attribution {
            path: bytes(path),
            current: None,
            before: None,
            after: Some(after),
        });
        let slot = self.slot();
        self.scan.made.push(slot.clone());
        self.op(SlotRename::Put, path, &slot, None, Some(there));
        Ok(())
    }

    fn op(
        &mut self,
        act: SlotRename,
        path: &Path,
        slot: &Path,
        here: Option<FileStat>,
        there: Option<FileStat>,
    ) {
        let (mut means, mut slot_means) = (None, None);
        if git_index::is_index(path) {
            means = self.lower.file(path).ok().and_then(git_index::meaning);
            slot_means = self.set.file(slot).ok().and_then(git_index::meaning);
        }
        let parent = path.parent().unwrap_or(Path::new(""));
        if !self.touched.contains(parent) {
            self.touched.insert(parent.to_owned());
        }
        self.scan.plan.ops.push(PlannedOp {
            act,
            path: bytes(path),
            slot: bytes(slot),
            current: here,
            in_slot: there,
            means,
            slot_means,
        });
    }

    fn slot(&mut self) -> PathBuf {
        self.next += 1;
        Path::new(SLOTS_DIR).join((self.next - 1).to_string())
    }

    fn compare_times(&mut self, path: &Path, here: &FileStat) {
        let same_moment = !self.care.before_mark && here.ctime == self.mark;
        if is_later(here.ctime, self.mark) || same_moment {
            self.conflict(path);
        }
    }

    fn conflict(&mut self, path: &Path) {
        if self.care.conflicts {
            self.scan.conflicts.push(bytes(path));
        }
    }

    fn mark_of(&mut self, at: &Path, mark: &str) -> Result<Option<Vec<u8>>, Errno> {
        let (dir, name) = self.set.parent(at)?;
        attributes::one(dir.as_fd(), name, mark)
    }

    /// True for a whiteout: a device, or, in a directory with the attribute, an empty file with an
    /// attribute.
    fn is_whiteout(&mut self, at: &Path, there: &FileStat, marked: bool) -> Result<bool, Errno> {
        if there.kind() == FileType::CharacterDevice {
            return Ok(there.device == 0);
        }
        Ok(marked
            && there.is_file()
            && there.size == 0
            && self.mark_of(at, WHITEOUT_ATTRIBUTE)?.is_some())
    }
}

/// Returns the path in the upper directory.
fn upper(path: &Path) -> PathBuf {
    if path.as_os_str().is_empty() {
        PathBuf::from(UPPER_DIR)
    } else {
        Path::new(UPPER_DIR).join(path)
    }
}
