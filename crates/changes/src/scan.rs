//! Comparing a directory before and after a call that nobody can watch, by what a walk through it shows.
//!
//! A walk sees names, sizes and times. It keeps no contents, so that nothing can be taken back; what others change meanwhile
//! is in it, too; and what is written with the times of before is not. So a list that comes from it is never exact.

use crate::alike::bytes;
use crate::error::ChangesError;
use crate::file_stat::{FileStat, Time};
use crate::journal::Journal;
use crate::mark;
use crate::meta::SetKind;
use crate::plan::{Act, Attribution, Look, Op, Plan};
use crate::rooted_dir::{RootedDir, canonical};
use crate::set::{GONE, SetState};
use crate::steps::{Care, Undisturbed};
use crate::store::Store;
use agent_bash_core::changes::{Changes, ChangesLevel};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Begins the names of slots, in which nothing ever is.
const SLOT: &str = "s";

/// What there was below a directory at one moment.
#[derive(Debug)]
pub struct Scan {
    root: PathBuf,
    identity: (u64, u64),
    /// When it was begun, by the clock of the store's file system.
    begun: Time,
    files: BTreeMap<Vec<u8>, FileStat>,
    /// Directories that could not be listed: of what is in them nothing is known.
    unread: Vec<PathBuf>,
    command: Option<String>,
}

impl Store {
    /// Looks through `root`. `goes_on` is asked at each file, with the number of those before; if it says no, there is no survey.
    ///
    /// # Errors
    /// [`ChangesError::TooManyFiles`]: `goes_on` said no. Or `root` is no directory, or contains the store or is within it.
    pub fn scan_before(
        &self,
        root: &Path,
        mut goes_on: impl FnMut(usize) -> bool,
    ) -> Result<Scan, ChangesError> {
        let root = canonical(root)?;
        self.is_apart_from(&root)?;
        let mut tree = RootedDir::open(&root)?;
        let (lock, path) = self.lock_file()?;
        let mut survey = Scan {
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
                // Not ours to read, another mount, or gone meanwhile.
                survey.unread.push(directory);
                continue;
            };
            for name in names {
                let seen = survey.files.len();
                if !goes_on(seen) {
                    let root = survey.root;
                    return Err(ChangesError::TooManyFiles { root, seen });
                }
                let path = directory.join(name);
                match tree.stat(&path) {
                    Ok(Some(seen)) => {
                        survey.files.insert(bytes(&path), seen);
                        if seen.is_dir() {
                            waiting.push(path);
                        }
                    }
                    Ok(None) => {}
                    Err(_) => survey.unread.push(path),
                }
            }
        }
        Ok(survey)
    }

    /// What is different between two surveys of a directory, as a set: which files, and nothing to take them back with.
    ///
    /// # Errors
    /// They are not of one directory, or the set cannot be made.
    pub fn scan_after(
        &self,
        session: &str,
        before: &Scan,
        after: &Scan,
    ) -> Result<Changes, ChangesError> {
        let root = &before.root;
        if (root, before.identity) != (&after.root, after.identity) {
            let root = root.clone();
            return Err(ChangesError::Replaced { root });
        }
        let level = ChangesLevel::List;
        let mut set = match self.renewed(session, root, SetKind::Scan, level) {
            Some(set) => set,
            None => self.begin(session, root, SetKind::Scan, level)?,
        };
        set.mark = before.begun;
        let plan = before.difference(after);
        if !plan.is_empty() {
            // It tells of what is done.
            let care = Care {
                synced: false,
                ..self.care
            };
            let mut journal = Journal::begin(&set.dir, plan, &Undisturbed, care)?;
            let noted = journal.note(Plan::default());
            noted.map_err(ChangesError::io("writing the journal of", set.dir()))?;
        }
        set.end(SetState::Done)?;
        let changes = self.describe(&set)?;
        if changes.counts.total() == 0 {
            self.recycle(set);
        } else {
            set.command.clone_from(&before.command);
            set.keep_command();
        }
        Ok(changes)
    }
}

impl Scan {
    /// As [`Set::of_command`](crate::Set::of_command), of what is done between this and the next.
    #[must_use]
    pub fn of_command(mut self, command: String) -> Self {
        self.command = Some(command);
        self
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What becomes of one to be the other.
    fn difference(&self, after: &Self) -> Plan {
        let is_known = |path: &[u8]| {
            let path = Path::new(OsStr::from_bytes(path));
            let mut unread = self.unread.iter().chain(&after.unread);
            !unread.any(|directory| path.starts_with(directory) && path != directory)
        };
        let mut plan = Plan::default();
        for (path, before) in self.files.iter().filter(|(path, _)| is_known(path)) {
            match after.files.get(path) {
                None => put(&mut plan, Act::Take, path, Some(*before), None),
                Some(now) => both(&mut plan, path, before, now),
            }
        }
        let new = |path: &[u8]| !self.files.contains_key(path) && is_known(path);
        for (path, now) in after.files.iter().filter(|(path, _)| new(path)) {
            put(&mut plan, Act::Put, path, None, Some(*now));
        }
        plan.sort();
        plan
    }
}

/// What is there before and after.
fn both(plan: &mut Plan, path: &[u8], before: &FileStat, now: &FileStat) {
    if before.kind() != now.kind() {
        put(plan, Act::Take, path, Some(*before), None);
        put(plan, Act::Put, path, None, Some(*now));
    } else if !before.is_dir() && may_differ(before, now) {
        put(plan, Act::Swap, path, Some(*before), Some(*now));
    } else if before.permissions() != now.permissions()
        || (before.uid, before.gid) != (now.uid, now.gid)
    {
        plan.attributions.push(Attribution {
            path: path.to_vec(),
            here: Some(*now),
            before: Some(Look::new(before, Vec::new())),
            after: Some(Look::new(now, Vec::new())),
        });
    }
}

/// Whether the content may be another one. Who sets the time of before leaves the inode's own time, which changes with names,
/// owner and permissions, too.
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

fn put(plan: &mut Plan, act: Act, path: &[u8], here: Option<FileStat>, there: Option<FileStat>) {
    let number = plan.ops.len();
    plan.ops.push(Op {
        act,
        path: path.to_vec(),
        slot: format!("{GONE}/{SLOT}{number}").into_bytes(),
        here,
        there,
        means: None,
        slot_means: None,
    });
}
