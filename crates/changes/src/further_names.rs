//! Decides if an undo restores a file as a hard link or as a copy. With a link, the tree would have
//! one file with two names, if the undo does not remove the other name that the call created.

use crate::file_stat::FileStat;
use crate::numbers::numbers;
use crate::plan::{ApplyPlan, SlotRename};
use crate::set::{ChangeSet, LINKS_DIR, SLOTS_DIR};
use agent_bash_os::PrivateDir;
use rustix::fs::{AtFlags, CWD, statat};
use std::fs::read_dir;
use std::path::Path;

/// Returns true if the file of the preimage `link` has a new name that `plan` does not remove.
/// `before` is the file before the call.
pub(crate) fn has_further_names(
    set: &ChangeSet,
    link: &FileStat,
    before: &FileStat,
    plan: &ApplyPlan,
) -> bool {
    let is_this_inode = |stat: Option<FileStat>| stat.is_some_and(|stat| stat.ino == link.ino);
    let removed = plan
        .ops
        .iter()
        .filter(|op| op.act != SlotRename::Put && is_this_inode(op.current));
    let added = plan
        .ops
        .iter()
        .filter(|op| op.act != SlotRename::Take && is_this_inode(op.in_slot));
    let (removed, added) = (removed.count() as u64, added.count() as u64);
    // A fast answer for the usual case: the store has no other link to the file.
    if link.links + added <= removed + 2 {
        return false;
    }
    let (in_store, earlier) = names_in_store(set, link.ino);
    let names = (link.links + added).saturating_sub(in_store + removed);
    // `before.links` includes the preimage links of earlier change sets.
    let former = before.links.saturating_sub(earlier).max(1);
    // If a former name still exists, the restored name must be a link to the same file.
    names > former && added >= former
}

/// Returns the number of links to the inode in all change sets of the session, and in the change
/// sets before `set`.
fn names_in_store(set: &ChangeSet, ino: u64) -> (u64, u64) {
    let session = set.dir().parent().unwrap_or(Path::new("/"));
    let opened = PrivateDir::open(session, &[]);
    let sets = opened.ok().and_then(|opened| numbers(&opened).ok());
    let (mut all, mut earlier) = (0, 0);
    for number in sets.unwrap_or_default() {
        for directory in [LINKS_DIR, SLOTS_DIR] {
            let directory = session.join(number.to_string()).join(directory);
            let names = names_in(&directory, ino);
            all += names;
            if number < set.id.0 {
                earlier += names;
            }
        }
    }
    (all, earlier)
}

/// Returns the number of links to the inode in a directory.
fn names_in(directory: &Path, ino: u64) -> u64 {
    let Ok(entries) = read_dir(directory) else {
        return 0;
    };
    let is_this_inode = |path: &Path| {
        let found = statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW);
        found.is_ok_and(|found| found.st_ino == ino)
    };
    let paths = entries.flatten().map(|entry| entry.path());
    paths.filter(|path| is_this_inode(path)).count() as u64
}
