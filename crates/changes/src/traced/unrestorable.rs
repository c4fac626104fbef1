//! Excludes changes from an undo because others cannot be undone: a file has no preimage, or cannot
//! be created again.

use super::compare::Effects;
use crate::plan::{PlannedOp, SlotRename};
use std::collections::HashSet;
use std::path::Path;

/// Excludes files in a directory that is not restored, the only remaining file of a move, and
/// directories around excluded files.
pub(super) fn leave(effects: &mut Effects) {
    let plan = &effects.plan;
    let back = &mut effects.back;
    loop {
        let left: HashSet<&[u8]> = back.skipped.iter().map(Vec::as_slice).collect();
        if left.is_empty() {
            return;
        }
        let is_left = |op: &&PlannedOp| left.contains(&op.path[..]);
        let gone = plan.ops.iter().filter(|op| op.act == SlotRename::Take);
        let gone: Vec<&PlannedOp> = gone.filter(is_left).collect();
        let directories = gone
            .iter()
            .filter(|op| op.current.is_some_and(|it| it.is_dir()));
        let directories: HashSet<&Path> = directories.map(|op| op.path()).collect();
        let lost: HashSet<u64> = gone.iter().filter_map(|op| Some(op.current?.ino)).collect();
        let stays = plan.ops.iter().filter(|op| op.act != SlotRename::Take);
        let stays = stays.filter(is_left).map(PlannedOp::path);
        let around: HashSet<&Path> = stays.flat_map(Path::ancestors).collect();
        let cannot = |op: &PlannedOp| match op.act {
            SlotRename::Put => op.path().ancestors().any(|it| directories.contains(it)),
            SlotRename::Take if around.contains(op.path()) => true,
            _ => op.current.is_some_and(|it| lost.contains(&it.ino)),
        };
        let more: Vec<PlannedOp> = back.ops.extract_if(.., |op| cannot(op)).collect();
        if more.is_empty() {
            return;
        }
        back.skipped.extend(more.into_iter().map(|op| op.path));
        back.skipped.sort_unstable();
        back.skipped.dedup();
    }
}
