//! Detects preimage links that are no longer preimages: after the call, a process wrote to the file
//! through another name.

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
    created: HashMap<u64, (Vec<u8>, FileStat)>,
    /// The index file at its last write.
    index: Option<FileStat>,
}

impl StateAfterCall {
    pub(crate) fn new(set: &ChangeSet) -> Result<Self, ChangesError> {
        let ops = set.journal()?.map(|it| it.plan.ops).unwrap_or_default();
        let ops = ops.into_iter().filter(|op| op.act != SlotRename::Take);
        let mut created = HashMap::new();
        for (path, stat) in ops.filter_map(|op| Some((op.path, op.in_slot?))) {
            created.entry(stat.ino).or_insert((path, stat));
        }
        Ok(Self {
            created,
            index: FileStat::at(&set.dir, OsStr::new(INDEX_FILE)).unwrap_or_default(),
        })
    }

    /// True if the file of the link was changed since the call.
    pub(crate) fn was_changed_since(&self, record: &PathRecord, link: &FileStat) -> bool {
        if let Some((_, created)) = self.created(link) {
            return !created.has_content_of(link);
        }
        let Some(stat) = record.stat else {
            return false;
        };
        // A program can set a time in the future. Only a time after the call shows a later write.
        let is_later = self.index.is_some_and(|index| link.mtime > index.mtime);
        stat.size != link.size || stat.mtime != link.mtime && is_later
    }

    /// Returns the path where the call put the linked file, if `plan` removes another file from
    /// this path. That file is a restored copy of the linked one.
    pub(crate) fn file_in_place_of(&self, plan: &ApplyPlan, link: &FileStat) -> Option<PathBuf> {
        let (path, _) = self.created(link)?;
        let is_removed = |op: &&PlannedOp| op.act != SlotRename::Put && op.path == *path;
        let op = plan.ops.iter().find(is_removed)?;
        let is_other = op.current.is_some_and(|here| here.ino != link.ino);
        is_other.then(|| Path::to_owned(op.path()))
    }

    fn created(&self, link: &FileStat) -> Option<&(Vec<u8>, FileStat)> {
        self.created.get(&link.ino)
    }
}
