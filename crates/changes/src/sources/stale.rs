//! Detects preimage links that are no longer preimages: after the call, a process wrote to the file
//! through another name.

use crate::error::ChangesError;
use crate::files::file_stat::FileStat;
use crate::plan::{ApplyPlan, SlotRename};
use crate::sources::recorder::{INDEX_FILE, PathRecord};
use crate::store::set::ChangeSet;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The state at the end of a call.
pub(crate) struct StateAfterCall {
    /// The files that the call created, by inode; for several names, the first one.
    created: HashMap<u64, (Vec<u8>, FileStat)>,
    /// The inodes of created files with another file at their path, which the undo removes.
    replaced: HashSet<u64>,
    /// The index file at its last write.
    index: Option<FileStat>,
}

impl StateAfterCall {
    /// Reads the state. `undo` is the plan for the undo of the call.
    pub(crate) fn new(set: &ChangeSet, undo: &ApplyPlan) -> Result<Self, ChangesError> {
        let ops = set.journal()?.map(|it| it.plan.ops).unwrap_or_default();
        let ops = ops.into_iter().filter(|op| op.act != SlotRename::Take);
        let mut created = HashMap::new();
        for (path, stat) in ops.filter_map(|op| Some((op.path, op.in_slot?))) {
            created.entry(stat.ino).or_insert((path, stat));
        }
        let by_path = created.iter().map(|(ino, (path, _))| (&path[..], *ino));
        let by_path: HashMap<&[u8], u64> = by_path.collect();
        let removals = undo.ops.iter().filter(|op| op.act != SlotRename::Put);
        let replaced = removals.filter_map(|op| {
            let (created, now) = (*by_path.get(&op.path[..])?, op.current?);
            (created != now.ino).then_some(created)
        });
        let replaced = replaced.collect();
        Ok(Self {
            created,
            replaced,
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

    /// Returns the path where the call put the linked file, if the undo removes another file from
    /// this path. That file is a restored copy of the linked one.
    pub(crate) fn file_in_place_of(&self, link: &FileStat) -> Option<&Path> {
        let (path, _) = self.created(link)?;
        let path = Path::new(OsStr::from_bytes(path));
        self.replaced.contains(&link.ino).then_some(path)
    }

    fn created(&self, link: &FileStat) -> Option<&(Vec<u8>, FileStat)> {
        self.created.get(&link.ino)
    }
}
