//! Files that an undo or a redo restored, or that a later call left as they were (`chmod` to the
//! same mode). They have other inodes or change times than the originals, but equal contents. An
//! undo of an earlier change set accepts them in place of the originals. A rename also changes the
//! change time of a file's other names.

use crate::error::ChangesError;
use crate::files::file_stat::FileStat;
use crate::files::rooted_dir::RootedDir;
use crate::plan::apply::ApplyDirectories;
use crate::plan::journal::{Journal, Status};
use crate::plan::{ApplyPlan, Attribution, SlotRename};
use crate::sources::recorder::Index;
use crate::store::meta::SetKind;
use crate::store::numbers::numbers;
use crate::store::set::{ChangeSet, SetState};
use agent_bash_core::changes::ChangesId;
use agent_bash_os::PrivateDir;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The longest chain of undos and redos of one file that is followed.
const MAX_CHAIN: usize = 1000;

/// Pairs of a restored file and the original that it represents.
#[derive(Default)]
pub(crate) struct RestoredFiles {
    by_path: HashMap<Vec<u8>, Vec<(FileStat, FileStat)>>,
    /// Files with several names that were only renamed or linked.
    by_inode: HashMap<u64, Vec<(FileStat, FileStat)>>,
}

/// The restored files of a session, read when a check needs them.
pub(crate) struct LazyRestoredFiles<'a> {
    session: &'a PrivateDir,
    found: OnceCell<RestoredFiles>,
}

impl<'a> LazyRestoredFiles<'a> {
    pub(crate) fn new(session: &'a PrivateDir) -> Self {
        let found = OnceCell::new();
        Self { session, found }
    }

    pub(crate) fn get(&self) -> Result<&RestoredFiles, ChangesError> {
        if let Some(found) = self.found.get() {
            return Ok(found);
        }
        let read = RestoredFiles::read(self.session)?;
        Ok(self.found.get_or_init(|| read))
    }
}

impl RestoredFiles {
    /// Reads all stored change sets of a session.
    fn read(session: &PrivateDir) -> Result<Self, ChangesError> {
        let mut found = Self::default();
        for number in numbers(session)? {
            let Ok(Some(set)) = ChangeSet::read(session, ChangesId(number)) else {
                continue;
            };
            let SetKind::Undo { origin, redo, .. } = set.meta.kind else {
                found.add_unchanged(&set)?;
                if set.meta.kind == SetKind::Trial
                    && let Some(journal) = set.applied_journal()?
                {
                    found.add_inodes(renamed_files(&journal));
                }
                continue;
            };
            if let Some(journal) = set.journal()?.filter(|it| it.status == Status::RolledBack) {
                let expected: HashMap<_, _> = present(files(journal.plan));
                found.add(files(journal.inverse.unwrap_or_default()), &expected);
            } else if let Some(journal) = set.applied_journal()?
                && let Some(origin) = ChangeSet::read(session, ChangesId(origin))?
            {
                let renamed = renamed_files(&journal);
                let original_files = original_files(&origin, redo)?;
                found.add(files(journal.inverse.unwrap_or_default()), &original_files);
                found.add_inodes(renamed);
            }
        }
        Ok(found)
    }

    /// Adds the files that a call touched and left as they were.
    fn add_unchanged(&mut self, set: &ChangeSet) -> Result<(), ChangesError> {
        let is_whole = matches!(set.state, SetState::Done | SetState::Undone);
        if !is_whole || !matches!(set.meta.kind, SetKind::Trace | SetKind::Background { .. }) {
            return Ok(());
        }
        let unchanged = unchanged_files(set)?;
        if !unchanged.is_empty() {
            let restored = unchanged.into_iter().map(|it| (it.path, it.current));
            self.add(restored, &original_files(set, false)?);
        }
        Ok(())
    }

    fn add(
        &mut self,
        restored: impl Iterator<Item = (Vec<u8>, Option<FileStat>)>,
        originals: &HashMap<Vec<u8>, FileStat>,
    ) {
        for (path, restored) in restored {
            let known = restored.zip(originals.get(&path).copied());
            self.add_inodes(known);
            self.by_path.entry(path).or_default().extend(known);
        }
    }

    /// Adds the files with several names that were only renamed or linked.
    fn add_inodes(&mut self, restored: impl IntoIterator<Item = (FileStat, FileStat)>) {
        for (now, original) in restored {
            let is_renamed = original.is_same_content(&now) && original.ctime != now.ctime;
            if is_renamed && now.links > 1 && !now.is_dir() {
                let known = self.by_inode.entry(now.ino).or_default();
                known.push((now, original));
            }
        }
    }

    /// Returns the path of an untouched file of the tree that represents `original`.
    pub(crate) fn copy_of(&self, original: &FileStat, tree: &mut RootedDir) -> Option<PathBuf> {
        let mut known = self.by_path.iter().flat_map(|(path, files)| {
            let path = Path::new(OsStr::from_bytes(path));
            files
                .iter()
                .map(move |(restored, known)| (path, restored, known))
        });
        let copy = known.find(|(path, restored, known)| {
            known.has_content_of(original)
                && matches!(tree.stat(path), Ok(Some(now)) if restored.is_untouched(&now))
        });
        copy.map(|(path, _, _)| path.to_owned())
    }

    /// True if `now` represents `original`.
    fn represents(&self, path: &[u8], now: FileStat, original: FileStat) -> bool {
        is_same(self.original(path, now), self.original(path, original))
    }

    /// Returns the original that a restored file represents.
    fn original(&self, path: &[u8], mut stat: FileStat) -> FileStat {
        let of_path = self.by_path.get(path).into_iter().flatten();
        for _ in 0..MAX_CHAIN {
            let of_inode = self.by_inode.get(&stat.ino).into_iter().flatten();
            let mut known = of_path.clone().chain(of_inode);
            match known.find(|(restored, _)| is_same(*restored, stat)) {
                Some((_, original)) => stat = *original,
                None => break,
            }
        }
        stat
    }
}

impl ApplyDirectories<'_> {
    /// Changes a plan so that it expects the restored files in place of the originals. Returns true
    /// if the plan was changed.
    pub(crate) fn accept(&mut self, plan: &mut ApplyPlan, restored_files: &RestoredFiles) -> bool {
        let mut has_accepted = false;
        let ops = plan.ops.iter_mut().filter(|op| op.act != SlotRename::Put);
        let expected = ops.map(|op| (&op.path, &mut op.current));
        let attributions = plan.attributions.iter_mut();
        let expected = expected.chain(attributions.map(|it| (&it.path, &mut it.current)));
        for (path, expected) in expected {
            let now = self
                .current_stat(Path::new(OsStr::from_bytes(path)))
                .ok()
                .flatten();
            if let (Some(original), Some(now)) = (*expected, now)
                && !is_same(original, now)
                && restored_files.represents(path, now, original)
            {
                *expected = Some(now);
                has_accepted = true;
            }
        }
        has_accepted
    }
}

/// Returns the files that the call of a change set touched and left as they were.
pub(crate) fn unchanged_files(set: &ChangeSet) -> Result<Vec<Attribution>, ChangesError> {
    let attributions = set.applied_journal()?.map(|it| it.plan.attributions);
    let mut unchanged = attributions.unwrap_or_default();
    unchanged.retain(Attribution::changes_nothing);
    Ok(unchanged)
}

/// True if both are the same untouched file. Ignores the times of directories, which change with
/// their entries.
fn is_same(left: FileStat, right: FileStat) -> bool {
    left.is_untouched(&right) || (left.is_dir() && left.is_same_content(&right))
}

/// Returns the files before the call of a change set, or, with `after`, those after the call, by
/// path.
pub(crate) fn original_files(
    origin: &ChangeSet,
    after: bool,
) -> Result<HashMap<Vec<u8>, FileStat>, ChangesError> {
    let Some(journal) = origin.applied_journal()? else {
        return Ok(HashMap::new());
    };
    if after {
        return Ok(present(files(journal.inverse.unwrap_or_default())));
    }
    if !matches!(
        origin.meta.kind,
        SetKind::Trace | SetKind::Background { .. }
    ) {
        return Ok(present(files(journal.plan)));
    }
    // The plan of a trace is already applied.
    let mut known = HashMap::new();
    for record in Index::read(&origin.dir)?.records {
        if let Some(stat) = record.stat {
            known.entry(record.path).or_insert(stat);
        }
    }
    let ops = journal.plan.ops.into_iter();
    known.extend(present(ops.map(|op| (op.path, op.current))));
    Ok(known)
}

/// Returns the files with several names that an applied plan moved: each after and before.
fn renamed_files(journal: &Journal) -> Vec<(FileStat, FileStat)> {
    let before = moved_files(&journal.plan).filter(|it| it.links > 1);
    let before: HashMap<u64, FileStat> = before.map(|it| (it.ino, it)).collect();
    let after = journal.inverse.iter().flat_map(moved_files);
    after
        .filter_map(|it| Some((it, *before.get(&it.ino)?)))
        .collect()
}

fn moved_files(plan: &ApplyPlan) -> impl Iterator<Item = FileStat> {
    let ops = plan.ops.iter();
    ops.flat_map(|op| [op.current, op.in_slot]).flatten()
}

/// Returns the files that a plan expects.
fn files(plan: ApplyPlan) -> impl Iterator<Item = (Vec<u8>, Option<FileStat>)> {
    let ops = plan.ops.into_iter().map(|op| (op.path, op.current));
    let attributions = plan.attributions.into_iter();
    ops.chain(attributions.map(|it| (it.path, it.current)))
}

/// Collects the existing files, by path.
fn present(all: impl Iterator<Item = (Vec<u8>, Option<FileStat>)>) -> HashMap<Vec<u8>, FileStat> {
    all.filter_map(|(path, stat)| Some((path, stat?))).collect()
}
