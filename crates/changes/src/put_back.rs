//! Files that an undo or a redo restored. They have other inodes or change times than the
//! originals, but equal contents. Treating them as the originals lets an earlier change set be
//! undone next.

use crate::apply::ApplyDirectories;
use crate::error::ChangesError;
use crate::file_stat::FileStat;
use crate::journal::Status;
use crate::meta::SetKind;
use crate::numbers::numbers;
use crate::plan::{ApplyPlan, SlotRename};
use crate::recorder::Index;
use crate::set::ChangeSet;
use agent_bash_core::changes::ChangesId;
use agent_bash_os::PrivateDir;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The longest chain of undos and redos of one file that is followed.
const MAX_CHAIN: usize = 1000;

/// Restored files and the originals that they represent, by path.
pub(crate) struct PutBack(HashMap<Vec<u8>, Vec<(FileStat, FileStat)>>);

/// The restored files of a session, read when a check needs them.
pub(crate) struct LazyPutBack<'a> {
    session: &'a PrivateDir,
    found: OnceCell<PutBack>,
}

impl<'a> LazyPutBack<'a> {
    pub(crate) fn new(session: &'a PrivateDir) -> Self {
        let found = OnceCell::new();
        Self { session, found }
    }

    pub(crate) fn get(&self) -> Result<&PutBack, ChangesError> {
        if let Some(found) = self.found.get() {
            return Ok(found);
        }
        let read = PutBack::read(self.session)?;
        Ok(self.found.get_or_init(|| read))
    }
}

impl PutBack {
    /// Reads all stored undos and redos of a state directory.
    fn read(session: &PrivateDir) -> Result<Self, ChangesError> {
        let mut found = Self(HashMap::new());
        for number in numbers(session)? {
            let Ok(Some(set)) = ChangeSet::read(session, ChangesId(number)) else {
                continue;
            };
            let SetKind::Undo { origin, again, .. } = set.meta.kind else {
                continue;
            };
            if let Some(journal) = set.journal()?.filter(|it| it.status == Status::RolledBack) {
                let expected: HashMap<_, _> = present(files(journal.plan));
                found.add(files(journal.back.unwrap_or_default()), &expected);
            } else if let Some(journal) = set.done()?
                && let Some(origin) = ChangeSet::read(session, ChangesId(origin))?
            {
                let stood = stood(&origin, again)?;
                found.add(files(journal.back.unwrap_or_default()), &stood);
            }
        }
        Ok(found)
    }

    fn add(
        &mut self,
        restored: impl Iterator<Item = (Vec<u8>, Option<FileStat>)>,
        originals: &HashMap<Vec<u8>, FileStat>,
    ) {
        for (path, put) in restored {
            let known = put.zip(originals.get(&path).copied());
            self.0.entry(path).or_default().extend(known);
        }
    }

    /// True if `now` represents `wanted`.
    fn is(&self, path: &[u8], now: FileStat, wanted: FileStat) -> bool {
        is_same(self.first(path, now), self.first(path, wanted))
    }

    /// Returns the original that a restored file represents.
    fn first(&self, path: &[u8], mut seen: FileStat) -> FileStat {
        let known = self.0.get(path).map(Vec::as_slice).unwrap_or_default();
        for _ in 0..MAX_CHAIN {
            match known.iter().find(|(put, _)| is_same(*put, seen)) {
                Some((_, stood)) => seen = *stood,
                None => break,
            }
        }
        seen
    }
}

impl ApplyDirectories<'_> {
    /// Accepts restored files in place of the originals that a plan expects. Returns whether there
    /// are any.
    pub(crate) fn accept(&mut self, plan: &mut ApplyPlan, put_back: &PutBack) -> bool {
        let mut is_any = false;
        let ops = plan.ops.iter_mut().filter(|op| op.act != SlotRename::Put);
        let expected = ops.map(|op| (&op.path, &mut op.current));
        let looks = plan.attributions.iter_mut();
        let expected = expected.chain(looks.map(|it| (&it.path, &mut it.current)));
        for (path, here) in expected {
            let now = self
                .look_at(Path::new(OsStr::from_bytes(path)))
                .ok()
                .flatten();
            if let (Some(wanted), Some(now)) = (*here, now)
                && !is_same(wanted, now)
                && put_back.is(path, now, wanted)
            {
                *here = Some(now);
                is_any = true;
            }
        }
        is_any
    }
}

/// Ignores the times of directories, which change with their entries.
fn is_same(one: FileStat, other: FileStat) -> bool {
    one.is_untouched(&other) || (one.is_dir() && one.is_same_content(&other))
}

/// Returns the files before a change set's call, or after it, by path.
pub(crate) fn stood(
    origin: &ChangeSet,
    after: bool,
) -> Result<HashMap<Vec<u8>, FileStat>, ChangesError> {
    let Some(journal) = origin.done()? else {
        return Ok(HashMap::new());
    };
    if after {
        return Ok(present(files(journal.back.unwrap_or_default())));
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
        if let Some(seen) = record.stat {
            known.entry(record.path).or_insert(seen);
        }
    }
    let ops = journal.plan.ops.into_iter();
    known.extend(present(ops.map(|op| (op.path, op.current))));
    Ok(known)
}

/// Returns the files that a plan expects.
fn files(plan: ApplyPlan) -> impl Iterator<Item = (Vec<u8>, Option<FileStat>)> {
    let ops = plan.ops.into_iter().map(|op| (op.path, op.current));
    let attributions = plan.attributions.into_iter();
    ops.chain(attributions.map(|it| (it.path, it.current)))
}

fn present(all: impl Iterator<Item = (Vec<u8>, Option<FileStat>)>) -> HashMap<Vec<u8>, FileStat> {
    all.filter_map(|(path, seen)| Some((path, seen?))).collect()
}
