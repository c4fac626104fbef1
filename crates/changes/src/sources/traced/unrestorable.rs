//! Excludes changes from an undo that depend on other changes which cannot be undone, because a
//! file has no preimage, or cannot be created again.

use super::compare::Effects;
use crate::plan::{PlannedOp, SlotRename};
use std::collections::HashSet;
use std::path::Path;

/// Excludes files below a directory that is not restored, the new name of a moved file whose old
/// name is not restored, and directories that contain excluded files.
pub(super) fn exclude(effects: &mut Effects) {
    let plan = &effects.plan;
    let inverse = &mut effects.inverse;
    loop {
        let skipped: HashSet<&[u8]> = inverse.skipped.iter().map(Vec::as_slice).collect();
        if skipped.is_empty() {
            return;
        }
        let is_skipped = |op: &&PlannedOp| skipped.contains(&op.path[..]);
        let removed = plan.ops.iter().filter(|op| op.act == SlotRename::Take);
        let removed: Vec<&PlannedOp> = removed.filter(is_skipped).collect();
        let directories = removed
            .iter()
            .filter(|op| op.current.is_some_and(|it| it.is_dir()));
        let directories: HashSet<&Path> = directories.map(|op| op.path()).collect();
        let lost_inodes: HashSet<u64> = removed
            .iter()
            .filter_map(|op| Some(op.current?.ino))
            .collect();
        let remaining = plan.ops.iter().filter(|op| op.act != SlotRename::Take);
        let remaining = remaining.filter(is_skipped).map(PlannedOp::path);
        let around_remaining: HashSet<&Path> = remaining.flat_map(Path::ancestors).collect();
        let cannot_be_undone = |op: &PlannedOp| match op.act {
            SlotRename::Put => op.path().ancestors().any(|it| directories.contains(it)),
            SlotRename::Take if around_remaining.contains(op.path()) => true,
            _ => op.current.is_some_and(|it| lost_inodes.contains(&it.ino)),
        };
        let more: Vec<PlannedOp> = inverse
            .ops
            .extract_if(.., |op| cannot_be_undone(op))
            .collect();
        if more.is_empty() {
            return;
        }
        inverse.skipped.extend(more.into_iter().map(|op| op.path));
        inverse.skipped.sort_unstable();
        inverse.skipped.dedup();
    }
}
