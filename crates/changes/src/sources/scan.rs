//! Compares two scans of a directory, before and after a call that cannot be traced.
//!
//! A scan reads names, sizes and times. It stores no contents, so an undo is not possible. It
//! includes changes of other processes, and misses writes that restore the time. Therefore the list
//! of changes is never exact.

use crate::error::ChangesError;
use crate::files::file_stat::{FileStat, Time};
use crate::files::rooted_dir::{RootedDir, canonical};
use crate::plan::file_comparison::bytes;
use crate::plan::journal::Journal;
use crate::plan::steps::{Precautions, Undisturbed};
use crate::plan::{ApplyPlan, Attribution, FileAttributes, PlannedOp, SlotRename};
use crate::store::Store;
use crate::store::mark;
use crate::store::meta::SetKind;
use crate::store::set::{SLOTS_DIR, SetState};
use agent_bash_core::changes::{Changes, ChangesLevel};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The prefix of slot names. The slots of a scan never have files.
const SLOT_PREFIX: &str = "s";

/// The files below a directory at one moment.
#[derive(Debug)]
pub struct DirectoryScan {
    root: PathBuf,
    identity: (u64, u64),
    /// When the scan began, by the clock of the store's file system.
    begun: Time,
    files: BTreeMap<Vec<u8>, FileStat>,
    /// Directories that could not be listed, whose entries are unknown.
    unread: Vec<PathBuf>,
    command: Option<String>,
}

impl Store {
    /// Scans `root`. `may_continue` is called at each file with the number of files so far. If the
    /// function returns false, the scan ends with an error.
    ///
    /// # Errors
    /// [`ChangesError::TooManyFiles`]: `may_continue` returned false. Or `root` is not a directory,
    /// contains the store, or is inside it.
    pub fn scan_before(
        &self,
        root: &Path,
        mut may_continue: impl FnMut(usize) -> bool,
    ) -> Result<DirectoryScan, ChangesError> {
        let root = canonical(root)?;
        self.check_not_nested(&root)?;
        let mut tree = RootedDir::open(&root)?;
        let (lock, path) = self.lock_file()?;
        let mut scan = DirectoryScan {
            identity: tree.identity()?,
            begun: mark::touched(&lock, &path)?,
            files: BTreeMap::new(),
            unread: Vec::new(),
            command: None,
            root,
        };
        let mut waiting = vec![PathBuf::new()];
        while let Some(directory) = waiting.pop() {
            let Ok(names) = tree.names(&directory) else {
                // Unreadable, on another mount, or removed meanwhile.
                scan.unread.push(directory);
                continue;
            };
            for name in names {
                let scanned = scan.files.len();
                if !may_continue(scanned) {
                    let root = scan.root;
                    return Err(ChangesError::TooManyFiles { root, scanned });
                }
                let path = directory.join(name);
                match tree.stat(&path) {
                    Ok(Some(stat)) => {
                        scan.files.insert(bytes(&path), stat);
                        if stat.is_dir() {
                            waiting.push(path);
                        }
                    }
                    Ok(None) => {}
                    Err(_) => scan.unread.push(path),
                }
            }
        }
        Ok(scan)
    }

    /// Stores the difference between two scans of a directory as a change set without preimages.
    ///
    /// # Errors
    /// The scans are of different directories, or the change set cannot be created.
    pub fn scan_after(
        &self,
        session: &str,
        before: &DirectoryScan,
        after: &DirectoryScan,
    ) -> Result<Changes, ChangesError> {
        let root = &before.root;
        if (root, before.identity) != (&after.root, after.identity) {
            let root = root.clone();
            return Err(ChangesError::Replaced { root });
        }
        let level = ChangesLevel::List;
        let mut set = match self.reuse_unused(session, root, SetKind::Scan, level) {
            Some(set) => set,
            None => self.begin(session, root, SetKind::Scan, level)?,
        };
        set.mark = before.begun;
        let plan = before.difference(after);
        if !plan.is_empty() {
            // The journal describes changes that are already made.
            let precautions = Precautions {
                synced: false,
                ..self.precautions
            };
            let mut journal = Journal::begin(&set.dir, plan, &Undisturbed, precautions)?;
            let recorded = journal.record_applied(ApplyPlan::default());
            recorded.map_err(ChangesError::io("writing the journal of", set.dir()))?;
        }
        set.end(SetState::Done)?;
        let changes = self.describe(&set)?;
        if changes.counts.total() == 0 {
            self.recycle(set);
        } else {
            set.unregister();
            set.command.clone_from(&before.command);
            set.store_command();
        }
        Ok(changes)
    }
}

impl DirectoryScan {
    /// Sets the command between this scan and the next, like
    /// [`ChangeSet::with_command`](crate::ChangeSet::with_command).
    #[must_use]
    pub fn with_command(mut self, command: String) -> Self {
        self.command = Some(command);
        self
    }

    /// Returns the scanned directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the plan that turns this scan into `after`.
    fn difference(&self, after: &Self) -> ApplyPlan {
        let is_known = |path: &[u8]| {
            let path = Path::new(OsStr::from_bytes(path));
            let mut unread = self.unread.iter().chain(&after.unread);
            !unread.any(|directory| path.starts_with(directory) && path != directory)
        };
        let mut plan = ApplyPlan::default();
        for (path, before) in self.files.iter().filter(|(path, _)| is_known(path)) {
            match after.files.get(path) {
                None => add_op(&mut plan, SlotRename::Take, path, Some(*before), None),
                Some(now) => add_difference(&mut plan, path, before, now),
            }
        }
        let is_new = |path: &[u8]| !self.files.contains_key(path) && is_known(path);
        for (path, now) in after.files.iter().filter(|(path, _)| is_new(path)) {
            add_op(&mut plan, SlotRename::Put, path, None, Some(*now));
        }
        plan.sort();
        plan
    }
}

/// Adds the difference of a path that exists in both scans.
fn add_difference(plan: &mut ApplyPlan, path: &[u8], before: &FileStat, now: &FileStat) {
    if before.kind() != now.kind() {
        add_op(plan, SlotRename::Take, path, Some(*before), None);
        add_op(plan, SlotRename::Put, path, None, Some(*now));
    } else if !before.is_dir() && may_differ(before, now) {
        add_op(plan, SlotRename::Swap, path, Some(*before), Some(*now));
    } else if before.permissions() != now.permissions()
        || (before.uid, before.gid) != (now.uid, now.gid)
    {
        plan.attributions.push(Attribution {
            path: path.to_vec(),
            current: Some(*now),
            before: Some(FileAttributes::new(before, Vec::new())),
            after: Some(FileAttributes::new(now, Vec::new())),
        });
    }
}

/// True if the contents may differ. A program can restore the modification time, but not `ctime`.
/// `ctime` also changes with names, owner and permissions.
fn may_differ(before: &FileStat, now: &FileStat) -> bool {
    let is_otherwise_touched = before.links != now.links
        || before.mode != now.mode
        || (before.uid, before.gid) != (now.uid, now.gid);
    before.ino != now.ino
        || before.size != now.size
        || before.mtime != now.mtime
        || before.device != now.device
        || before.ctime != now.ctime && !is_otherwise_touched
}

fn add_op(
    plan: &mut ApplyPlan,
    act: SlotRename,
    path: &[u8],
    current: Option<FileStat>,
    in_slot: Option<FileStat>,
) {
    let number = plan.ops.len();
    plan.ops.push(PlannedOp {
        act,
        path: path.to_vec(),
        slot: format!("{SLOTS_DIR}/{SLOT_PREFIX}{number}").into_bytes(),
        current,
        in_slot,
        digest: None,
        slot_digest: None,
    });
}
