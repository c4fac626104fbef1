//! Reads the upper directory of an overlay, and returns the plan that makes the lower tree equal to
//! the overlay's view.
//!
//! Files that are equal in the tree are omitted. New and recreated directories are compared entry
//! by entry, so that each file has its own operation.

mod compare;

use crate::error::ChangesError;
use crate::files::attributes::{self, OPAQUE_ATTRIBUTE, WHITEOUT_ATTRIBUTE};
use crate::files::file_stat::{FileStat, Time};
use crate::files::git_index;
use crate::files::modes::Modes;
use crate::files::rooted_dir::RootedDir;
use crate::plan::file_comparison::{bytes, file_attributes};
use crate::plan::steps::Precautions;
use crate::plan::{ApplyPlan, Attribution, PlannedOp, SlotRename};
use crate::store::mark::is_later;
use crate::store::set::{SLOTS_DIR, UPPER_DIR};
use rustix::fs::FileType;
use rustix::io::Errno;
use std::collections::{BTreeSet, HashSet};
use std::ffi::OsString;
use std::io;
use std::ops::Bound;
use std::os::fd::AsFd;
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
    /// The slots of new directories. The caller has to create them before it applies the plan.
    pub(crate) new_slots: Vec<PathBuf>,
}

/// Compares the upper directory of a change set with the lower tree. Slots of removed files and of
/// new directories are numbered from `first_slot`. `only` limits the comparison to these paths:
/// other files in the upper directory are unchanged, such as a file that the trial only opened for
/// writing.
pub(crate) fn scan_upper(
    lower: &mut RootedDir,
    set: &mut RootedDir,
    mark: Time,
    first_slot: u64,
    precautions: Precautions,
    modes: Modes,
    only: Option<BTreeSet<PathBuf>>,
) -> Result<UpperScan, ChangesError> {
    let upper = set.path().join(UPPER_DIR);
    let mut scanner = UpperScanner {
        lower,
        set,
        mark,
        next_slot: first_slot,
        precautions,
        modes,
        only,
        scan: UpperScan::default(),
        changed_directories: HashSet::new(),
        copied_up: Vec::new(),
    };
    scanner
        .scan_directories()
        .map_err(|(path, error)| ChangesError::io("comparing", upper.join(path))(error))?;
    scanner
        .check_copied_up()
        .and_then(|()| scanner.add_directory_times())
        .map_err(|(path, error)| ChangesError::io("comparing", upper.join(path))(error))?;
    let mut scan = scanner.scan;
    scan.plan.sort();
    scan.conflicts.sort();
    scan.conflicts.dedup();
    Ok(scan)
}

struct UpperScanner<'a> {
    lower: &'a mut RootedDir,
    set: &'a mut RootedDir,
    mark: Time,
    next_slot: u64,
    precautions: Precautions,
    modes: Modes,
    only: Option<BTreeSet<PathBuf>>,
    scan: UpperScan,
    /// Directories whose times change, because the plan has operations in them.
    changed_directories: HashSet<PathBuf>,
    /// Files that overlayfs copied up from a path that no longer exists in the tree.
    copied_up: Vec<(PathBuf, FileStat)>,
}

/// A path and the error that happened there.
type PathFault = (PathBuf, io::Error);

fn failed_at(path: &Path) -> impl FnOnce(Errno) -> PathFault + '_ {
    |error| (path.to_owned(), error.into())
}

struct OverlayDirectory {
    path: PathBuf,
    /// True if the tree has a directory at this path.
    is_merged: bool,
    /// True if a directory above is opaque. The overlay then hides the directory of the tree,
    /// although this directory has no attribute.
    is_opaque: bool,
}

impl UpperScanner<'_> {
    fn scan_directories(&mut self) -> Result<(), PathFault> {
        let top = PathBuf::new();
        if let Some(stat) = self
            .set
            .stat(&path_in_upper(&top))
            .map_err(failed_at(&top))?
        {
            self.make_accessible(&top, &path_in_upper(&top), &stat)?;
        }
        let mut waiting = vec![OverlayDirectory {
            path: PathBuf::new(),
            is_merged: true,
            is_opaque: false,
        }];
        while let Some(level) = waiting.pop() {
            self.scan_directory(&level, &mut waiting)?;
        }
        Ok(())
    }

    fn scan_directory(
        &mut self,
        level: &OverlayDirectory,
        waiting: &mut Vec<OverlayDirectory>,
    ) -> Result<(), PathFault> {
        let path = &level.path;
        let upper_path = path_in_upper(path);
        let names = self.set.names(&upper_path).map_err(failed_at(path))?;
        let opaque = self
            .overlay_attribute(&upper_path, OPAQUE_ATTRIBUTE)
            .map_err(failed_at(path))?;
        for attribute in UNREADABLE_ATTRIBUTES {
            if self
                .overlay_attribute(&upper_path, attribute)
                .map_err(failed_at(path))?
                .is_some()
            {
                return Err((
                    path.clone(),
                    io::Error::other("it has an attribute of an overlay with other settings"),
                ));
            }
        }
        let has_marked_whiteouts = opaque.as_deref() == Some(b"x");
        if level.is_merged {
            self.compare_attributes(path, &upper_path)?;
        }
        let is_opaque = level.is_opaque || opaque.as_deref() == Some(b"y");
        if level.is_merged && is_opaque {
            let still_exist: HashSet<&OsString> = names.iter().collect();
            for name in self.lower.names(path).map_err(failed_at(path))? {
                if !still_exist.contains(&name) {
                    self.add_removal(&path.join(name))?;
                }
            }
        }
        for name in names {
            self.scan_entry(
                &path.join(name),
                (level.is_merged, is_opaque),
                has_marked_whiteouts,
                waiting,
            )?;
        }
        Ok(())
    }

    fn make_accessible(
        &mut self,
        path: &Path,
        upper_path: &Path,
        stat: &FileStat,
    ) -> Result<(), PathFault> {
        let opened = self.modes.make_accessible(self.set, upper_path, stat);
        opened.map_err(|error| (path.to_owned(), error))
    }

    fn scan_entry(
        &mut self,
        path: &Path,
        (is_merged, is_opaque): (bool, bool),
        has_marked_whiteouts: bool,
        waiting: &mut Vec<OverlayDirectory>,
    ) -> Result<(), PathFault> {
        if !self.is_selected(path) {
            return Ok(());
        }
        let upper_path = path_in_upper(path);
        let Some(in_upper) = self.set.stat(&upper_path).map_err(failed_at(path))? else {
            return Ok(());
        };
        if in_upper.is_dir() {
            self.make_accessible(path, &upper_path, &in_upper)?;
        }
        let in_tree = if is_merged {
            self.lower.stat(path).map_err(failed_at(path))?
        } else {
            None
        };
        if self
            .is_whiteout(&upper_path, &in_upper, has_marked_whiteouts)
            .map_err(failed_at(path))?
        {
            return if in_tree.is_some() {
                self.add_removal(path)
            } else {
                Ok(())
            };
        }
        match (in_tree, in_upper.is_dir()) {
            (Some(in_tree), true) if in_tree.is_dir() => waiting.push(OverlayDirectory {
                path: path.to_owned(),
                is_merged: true,
                is_opaque,
            }),
            (in_tree, true) => {
                if in_tree.is_some() {
                    self.add_removal(path)?;
                } else {
                    self.note_copied_up(path, &upper_path, &in_upper, is_merged)?;
                }
                self.add_directory(path, &upper_path, &in_upper)?;
                waiting.push(OverlayDirectory {
                    path: path.to_owned(),
                    is_merged: false,
                    is_opaque: false,
                });
            }
            (None, false) => {
                self.note_copied_up(path, &upper_path, &in_upper, is_merged)?;
                self.add_op(SlotRename::Put, path, &upper_path, None, Some(in_upper));
            }
            (Some(in_tree), false) if in_tree.is_dir() => {
                self.add_removal(path)?;
                self.add_op(SlotRename::Put, path, &upper_path, None, Some(in_upper));
            }
            (Some(in_tree), false) => self.compare_file(path, &upper_path, in_tree, in_upper)?,
        }
        Ok(())
    }

    /// Records a file that was copied up although the path does not exist in the tree. The
    /// attribute does not tell which of several names was copied.
    fn note_copied_up(
        &mut self,
        path: &Path,
        upper_path: &Path,
        in_upper: &FileStat,
        is_merged: bool,
    ) -> Result<(), PathFault> {
        if is_merged
            && (in_upper.is_dir() || in_upper.links == 1)
            && self
                .overlay_attribute(upper_path, ORIGIN_ATTRIBUTE)
                .map_err(failed_at(path))?
                .is_some()
        {
            self.copied_up.push((path.to_owned(), *in_upper));
        }
        Ok(())
    }

    /// Finds copied-up files that another process removed or moved, which are conflicts. For such a
    /// file, its directory in the tree was changed, and no removal of the trial matches the file.
    fn check_copied_up(&mut self) -> Result<(), PathFault> {
        for (path, in_upper) in std::mem::take(&mut self.copied_up) {
            let directory = path.parent().unwrap_or(Path::new(""));
            let directory = self.stat_in_tree(directory).map_err(failed_at(&path))?;
            let is_unchanged = directory.is_some_and(|it| !is_later(it.ctime, self.mark));
            let mut removed = self.scan.plan.ops.iter().filter_map(|op| match op.act {
                SlotRename::Take => op.current,
                _ => None,
            });
            let is_moved = !in_upper.is_dir()
                && removed.any(|it| it.size == in_upper.size && it.mtime == in_upper.mtime);
            if !is_unchanged && !is_moved {
                self.conflict(&path);
            }
        }
        Ok(())
    }

    /// True if the path, or a path below it, is to be compared.
    fn is_selected(&self, path: &Path) -> bool {
        let within = (Bound::Included(path), Bound::Unbounded);
        // In the set's order, the paths below a directory follow the directory.
        let has_path_below = |only: &BTreeSet<PathBuf>| {
            let mut from = only.range::<Path, _>(within);
            from.next().is_some_and(|next| next.starts_with(path))
        };
        self.only.as_ref().is_none_or(has_path_below)
    }

    /// Adds the current times of directories in which operations happen, so that the times do not
    /// change.
    fn add_directory_times(&mut self) -> Result<(), PathFault> {
        let known: HashSet<Vec<u8>> = self
            .scan
            .plan
            .attributions
            .iter()
            .map(|it| it.path.clone())
            .collect();
        let missing = self
            .changed_directories
            .iter()
            .filter(|path| !known.contains(&bytes(path)));
        for path in missing.cloned().collect::<Vec<_>>() {
            let stat = self.stat_in_tree(&path).map_err(failed_at(&path))?;
            // The times of a new directory are those of its slot.
            let Some(stat) = stat.filter(|stat| stat.is_dir() && !is_later(stat.ctime, self.mark))
            else {
                continue;
            };
            let current = file_attributes(self.lower, &path, &stat).map_err(failed_at(&path))?;
            self.scan.plan.attributions.push(Attribution {
                path: bytes(&path),
                current: Some(stat),
                before: Some(current.clone()),
                after: Some(current),
            });
        }
        Ok(())
    }

    fn stat_in_tree(&mut self, path: &Path) -> Result<Option<FileStat>, Errno> {
        if path.as_os_str().is_empty() {
            return self.lower.stat_root().map(Some).map_err(|_| Errno::IO);
        }
        self.lower.stat(path)
    }

    /// Adds the removal of a path of the tree, with everything below the path.
    fn add_removal(&mut self, top: &Path) -> Result<(), PathFault> {
        let mut waiting = vec![top.to_owned()];
        while let Some(path) = waiting.pop() {
            let Some(in_tree) = self.lower.stat(&path).map_err(failed_at(&path))? else {
                continue;
            };
            if in_tree.is_dir() {
                let names = self.lower.names(&path).map_err(failed_at(&path))?;
                waiting.extend(names.into_iter().map(|name| path.join(name)));
                let before =
                    file_attributes(self.lower, &path, &in_tree).map_err(failed_at(&path))?;
                self.scan.plan.attributions.push(Attribution {
                    path: bytes(&path),
                    current: Some(in_tree),
                    before: Some(before),
                    after: None,
                });
            }
            self.compare_times(&path, &in_tree);
            let slot = self.next_slot();
            self.add_op(SlotRename::Take, &path, &slot, Some(in_tree), None);
        }
        Ok(())
    }

    /// Adds the creation of a directory.
    fn add_directory(
        &mut self,
        path: &Path,
        upper_path: &Path,
        in_upper: &FileStat,
    ) -> Result<(), PathFault> {
        let in_upper = self.modes.original_stat(upper_path, *in_upper);
        let after = file_attributes(self.set, upper_path, &in_upper).map_err(failed_at(path))?;
        self.scan.plan.attributions.push(Attribution {
            path: bytes(path),
            current: None,
            before: None,
            after: Some(after),
        });
        let slot = self.next_slot();
        self.scan.new_slots.push(slot.clone());
        self.add_op(SlotRename::Put, path, &slot, None, Some(in_upper));
        Ok(())
    }

    fn add_op(
        &mut self,
        act: SlotRename,
        path: &Path,
        slot: &Path,
        in_tree: Option<FileStat>,
        in_upper: Option<FileStat>,
    ) {
        let (mut digest, mut slot_digest) = (None, None);
        if git_index::is_index(path) {
            digest = self
                .lower
                .file(path)
                .ok()
                .and_then(git_index::entries_digest);
            slot_digest = self.set.file(slot).ok().and_then(git_index::entries_digest);
        }
        let parent = path.parent().unwrap_or(Path::new(""));
        if !self.changed_directories.contains(parent) {
            self.changed_directories.insert(parent.to_owned());
        }
        self.scan.plan.ops.push(PlannedOp {
            act,
            path: bytes(path),
            slot: bytes(slot),
            current: in_tree,
            in_slot: in_upper,
            digest,
            slot_digest,
        });
    }

    fn next_slot(&mut self) -> PathBuf {
        self.next_slot += 1;
        Path::new(SLOTS_DIR).join((self.next_slot - 1).to_string())
    }

    fn conflict(&mut self, path: &Path) {
        if self.precautions.conflicts {
            self.scan.conflicts.push(bytes(path));
        }
    }

    fn overlay_attribute(
        &mut self,
        upper_path: &Path,
        attribute: &str,
    ) -> Result<Option<Vec<u8>>, Errno> {
        let (dir, name) = self.set.parent(upper_path)?;
        attributes::value(dir.as_fd(), name, attribute)
    }

    /// True for a whiteout: a character device 0/0. If the directory `has_marked_whiteouts`, an
    /// empty file with the whiteout attribute is a whiteout as well.
    fn is_whiteout(
        &mut self,
        upper_path: &Path,
        in_upper: &FileStat,
        has_marked_whiteouts: bool,
    ) -> Result<bool, Errno> {
        if in_upper.kind() == FileType::CharacterDevice {
            return Ok(in_upper.device == 0);
        }
        Ok(has_marked_whiteouts
            && in_upper.is_file()
            && in_upper.size == 0
            && self
                .overlay_attribute(upper_path, WHITEOUT_ATTRIBUTE)?
                .is_some())
    }
}

/// Returns the path of a file in the upper directory, relative to the change set's directory.
fn path_in_upper(path: &Path) -> PathBuf {
    if path.as_os_str().is_empty() {
        PathBuf::from(UPPER_DIR)
    } else {
        Path::new(UPPER_DIR).join(path)
    }
}
