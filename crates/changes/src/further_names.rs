//! Decides whether an undo restores a file as a hard link or as a copy. A link would leave one file
//! under two names if the undo does not remove the file's other name.

use crate::file_stat::FileStat;
use crate::numbers::numbers;
use crate::plan::{ApplyPlan, SlotRename};
use crate::set::{ChangeSet, LINKS_DIR, SLOTS_DIR};
use agent_bash_os::PrivateDir;
use rustix::fs::{AtFlags, CWD, statat};
use std::fs::read_dir;
use std::path::Path;

/// Returns true if the file of the preimage `link` has a name that it did not have `before` the
/// call, and that `plan` does not remove.
pub(crate) fn has_further_names(
    set: &ChangeSet,
    link: &FileStat,
    before: &FileStat,
    plan: &ApplyPlan,
) -> bool {
    let is_it = |seen: Option<FileStat>| seen.is_some_and(|seen| seen.ino == link.ino);
    let goes = plan
        .ops
        .iter()
        .filter(|op| op.act != SlotRename::Put && is_it(op.current));
    let comes = plan
        .ops
        .iter()
        .filter(|op| op.act != SlotRename::Take && is_it(op.in_slot));
    let (goes, comes) = (goes.count() as u64, comes.count() as u64);
    // The preimage link is the only one in the store.
    if link.links + comes <= goes + 2 {
        return false;
    }
    let (in_store, earlier) = names_in_store(set, link.ino);
    let names = (link.links + comes).saturating_sub(in_store + goes);
    // Preimage links of earlier change sets counted as names before the call.
    let former = before.links.saturating_sub(earlier).max(1);
    // If a former name still exists, the restored name must be a link to the same file.
    names > former && comes >= former
}

/// Returns the number of links to the inode in all change sets of the session, and in the earlier
/// ones.
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

fn names_in(directory: &Path, ino: u64) -> u64 {
    let Ok(entries) = read_dir(directory) else {
        return 0;
    };
    let is_it = |path: &Path| {
        let found = statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW);
        found.is_ok_and(|found| found.st_ino == ino)
    };
    let paths = entries.flatten().map(|entry| entry.path());
    paths.filter(|path| is_it(path)).count() as u64
}
