//! Plans. A plan is a list of operations, each of them one rename between the tree and a slot, and
//! a list of attributes to set afterwards. A slot is a file name in the change set's directory. The
//! inverse operations in reverse order undo the plan.

pub(crate) mod apply;
pub(crate) mod assumed_files;
pub(crate) mod expected_files;
pub(crate) mod file_comparison;
pub(crate) mod journal;
pub(crate) mod steps;

use crate::files::attributes::Attributes;
use crate::files::codec::wire;
use crate::files::file_stat::{FileStat, Time};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A rename between a path of the tree and a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SlotRename {
    /// Moves the file from the slot to the path, which does not exist.
    Put,
    /// Exchanges the files at the slot and the path.
    Swap,
    /// Moves the file from the path to the slot, which does not exist.
    Take,
}

wire!(enum SlotRename { 0 => Put, 1 => Swap, 2 => Take });

/// One operation. No other process can access the slot, so the slot shows if the operation is done:
/// a `Put` if the slot is empty, a `Take` if the slot has a file, a `Swap` if the slot has another
/// file than before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlannedOp {
    pub(crate) act: SlotRename,
    /// The path below the root.
    pub(crate) path: Vec<u8>,
    /// The slot below the slot directory.
    pub(crate) slot: Vec<u8>,
    /// The file at the path before the operation.
    pub(crate) current: Option<FileStat>,
    /// The file in the slot before the operation.
    pub(crate) in_slot: Option<FileStat>,
    /// Digest of the file at the path, if it is a git index: its entries, not its attributes, show
    /// if it is unchanged.
    pub(crate) digest: Option<u64>,
    /// Digest of the file in the slot, if it is a git index.
    pub(crate) slot_digest: Option<u64>,
}

wire!(PlannedOp {
    act,
    path,
    slot,
    current,
    in_slot,
    digest,
    slot_digest
});

impl PlannedOp {
    pub(crate) fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.path))
    }

    pub(crate) fn slot(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.slot))
    }

    /// Returns the inverse operation.
    pub(crate) fn inverse(&self) -> Self {
        Self {
            act: match self.act {
                SlotRename::Put => SlotRename::Take,
                SlotRename::Swap => SlotRename::Swap,
                SlotRename::Take => SlotRename::Put,
            },
            path: self.path.clone(),
            slot: self.slot.clone(),
            current: self.in_slot,
            in_slot: self.current,
            digest: self.slot_digest,
            slot_digest: self.digest,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileAttributes {
    pub(crate) permissions: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) mtime: Time,
    pub(crate) attributes: Attributes,
}

impl FileAttributes {
    pub(crate) fn new(stat: &FileStat, attributes: Attributes) -> Self {
        Self {
            permissions: stat.permissions(),
            uid: stat.uid,
            gid: stat.gid,
            mtime: stat.mtime,
            attributes,
        }
    }

    /// True if the attributes are equal, apart from times.
    pub(crate) fn equals_except_times(&self, other: &Self) -> bool {
        self.permissions == other.permissions
            && (self.uid, self.gid) == (other.uid, other.gid)
            && self.attributes == other.attributes
    }
}

wire!(FileAttributes {
    permissions,
    uid,
    gid,
    mtime,
    attributes
});

/// Sets the attributes of an existing path, or of a directory that is put or taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Attribution {
    /// The path below the root; empty for the root itself.
    pub(crate) path: Vec<u8>,
    /// The file at the path when the attributes are set.
    pub(crate) current: Option<FileStat>,
    /// The attributes before; `None` if the path does not exist then.
    pub(crate) before: Option<FileAttributes>,
    /// The attributes after; `None` if the path does not exist then.
    pub(crate) after: Option<FileAttributes>,
}

wire!(Attribution {
    path,
    current,
    before,
    after
});

impl Attribution {
    /// True if nothing changes: the call has touched the file, and has left it as it was, except
    /// for its `ctime` or inode.
    pub(crate) fn changes_nothing(&self) -> bool {
        self.before == self.after
    }

    pub(crate) fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.path))
    }

    /// True if a file with the `former` attributes may have the attributes `now` because these were
    /// set, perhaps in part. The time of a directory is ignored, because it changes with the
    /// entries.
    pub(crate) fn may_have_led_to(&self, former: &FileStat, now: &FileStat) -> bool {
        // A change of owner clears set-id bits.
        let permissions = |permissions: u32| permissions & 0o1777;
        let former = [(former.permissions(), former.uid, former.gid, former.mtime)];
        let ends = [&self.before, &self.after].into_iter().flatten();
        let ends = ends.map(|it| (it.permissions, it.uid, it.gid, it.mtime));
        let states: Vec<_> = former.into_iter().chain(ends).collect();
        // A directory is made writable for the renames in it.
        let mut permitted = states.iter().flat_map(|it| {
            let writable = now.is_dir().then_some(it.0 | 0o700);
            [Some(it.0), writable]
                .into_iter()
                .flatten()
                .map(permissions)
        });
        let has_time = || states.iter().any(|it| it.3 == now.mtime);
        permitted.any(|it| it == permissions(now.permissions()))
            && states.iter().any(|it| (it.1, it.2) == (now.uid, now.gid))
            && (now.is_dir() || has_time())
    }

    /// True if only times change. If another process changed such a file, that is not a conflict,
    /// and the file keeps its times.
    pub(crate) fn changes_only_times(&self) -> bool {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => before.equals_except_times(after),
            _ => true,
        }
    }
}

/// Renames between the tree and the slots, and attributes to set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ApplyPlan {
    /// Operations in an applicable order.
    pub(crate) ops: Vec<PlannedOp>,
    /// The attributes to set, deepest path first.
    pub(crate) attributions: Vec<Attribution>,
    /// Paths that were skipped because another process changed them.
    pub(crate) skipped: Vec<Vec<u8>>,
}

wire!(ApplyPlan {
    ops,
    attributions,
    skipped
});

impl ApplyPlan {
    pub(crate) fn is_empty(&self) -> bool {
        self.ops.is_empty() && self.attributions.iter().all(Attribution::changes_nothing)
    }

    /// True if only times change, see [`Attribution::changes_only_times`].
    pub(crate) fn changes_only_times(&self) -> bool {
        self.ops.is_empty()
            && self
                .attributions
                .iter()
                .all(Attribution::changes_only_times)
    }

    /// Sorts the plan into an applicable order: removals, deepest first; creations, directories
    /// before their entries; attributes, deepest first. Attributes come last because renames change
    /// the times of directories.
    pub(crate) fn sort(&mut self) {
        self.ops.sort_by(|a, b| match (a.act, b.act) {
            (SlotRename::Take, SlotRename::Take) => b.path().cmp(a.path()),
            (SlotRename::Take, _) => std::cmp::Ordering::Less,
            (_, SlotRename::Take) => std::cmp::Ordering::Greater,
            _ => a.path().cmp(b.path()),
        });
        self.attributions.sort_by(|a, b| b.path().cmp(a.path()));
        self.attributions.dedup_by(|a, b| a.path == b.path);
    }
}
