//! Detects preimage links that were written to after the call through another name, so that they
//! are no longer preimages.

use crate::error::ChangesError;
use crate::file_stat::FileStat;
use crate::plan::{ApplyPlan, PlannedOp, SlotRename};
use crate::recorder::{INDEX_FILE, PathRecord};
use crate::set::ChangeSet;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The state at the end of a call.
pub(crate) struct StateAfterCall {
    /// The files that the call created, by inode; for several names, the first one.
    put: HashMap<u64, (Vec<u8>, FileStat)>,
    /// The index file at its last write.
    index: Option<FileStat>,
}

impl StateAfterCall {
    pub(crate) fn new(set: &ChangeSet) -> Result<Self, ChangesError> {
        let ops = set.journal()?.map(|it| it.plan.ops).unwrap_or_default();
        let ops = ops.into_iter().filter(|op| op.act != SlotRename::Take);
        let mut put = HashMap::new();
        for (path, seen) in ops.filter_map(|op| Some((op.path, op.in_slot?))) {
            put.entry(seen.ino).or_insert((path, seen));
        }
        Ok(Self {
            put,
            index: FileStat::at(&set.dir, OsStr::new(INDEX_FILE)).unwrap_or_default(),
        })
    }

    /// True if the link was written to since.
    pub(crate) fn is_written(&self, record: &PathRecord, link: &FileStat) -> bool {
        if let Some((_, put)) = self.put(link) {
            return !put.has_content_of(link);
        }
        let Some(seen) = record.stat else {
            return false;
        };
        // A future time of the link does not show a later write.
        let is_later = self.index.is_some_and(|index| link.mtime > index.mtime);
        seen.size != link.size || seen.mtime != link.mtime && is_later
    }

    /// Returns where the call put the file, if the current file there is removed and represents it.
    pub(crate) fn stands_for(&self, plan: &ApplyPlan, link: &FileStat) -> Option<PathBuf> {
        let (path, _) = self.put(link)?;
        let goes = |op: &&PlannedOp| op.act != SlotRename::Put && op.path == *path;
        let op = plan.ops.iter().find(goes)?;
        let is_other = op.current.is_some_and(|here| here.ino != link.ino);
        is_other.then(|| Path::to_owned(op.path()))
    }

    fn put(&self, link: &FileStat) -> Option<&(Vec<u8>, FileStat)> {
        self.put.get(&link.ino)
    }
}
