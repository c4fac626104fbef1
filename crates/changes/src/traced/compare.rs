//! What became of one path.

use super::same::is_same;
use crate::alike::{bytes, look};
use crate::file_stat::FileStat;
use crate::git_index;
use crate::plan::{Act, Attribution, Look, Op, Plan};
use crate::recorder::{Content, PathRecord};
use crate::rooted_dir::RootedDir;
use crate::set::{ChangeSet, GONE};
use crate::user::User;
use rustix::io::Errno;
use std::collections::HashSet;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What a trace did.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    /// What was done.
    pub(crate) plan: Plan,
    /// What takes it back; without what was not kept, whose paths are in `left`.
    pub(crate) back: Plan,
    /// Directories of which it is known what was in them, and that are there.
    pub(super) known: Vec<PathBuf>,
    pub(super) user: Option<User>,
    /// Files of which a link is kept.
    pub(super) linked: HashSet<u64>,
    /// Directories that look as before.
    pub(super) alike: Vec<Attribution>,
    /// What cannot be looked at: it lies in a directory that the call has made unreadable.
    pub(super) unseen: Vec<PathBuf>,
}

impl Effects {
    pub(super) fn attribute(&mut self, attribution: Attribution) {
        self.back.attributions.push(Attribution {
            before: attribution.after.clone(),
            after: attribution.before.clone(),
            ..attribution.clone()
        });
        self.plan.attributions.push(attribution);
    }
}

/// A path, by its first record and the one that kept its content.
pub(crate) struct Known<'a> {
    /// The name of its slot.
    pub(super) slot: String,
    pub(super) first: &'a PathRecord,
    pub(super) content: &'a Content,
}

/// What a new directory looks like: its entries change its times when it comes again.
pub(super) fn appeared(
    tree: &mut RootedDir,
    path: &Path,
    now: &FileStat,
    effects: &mut Effects,
) -> Result<(), Errno> {
    if now.is_dir() {
        let is = Some(look(tree, path, now)?);
        let back = Attribution {
            path: bytes(path),
            here: Some(*now),
            before: is,
            after: None,
        };
        effects.plan.attributions.push(Attribution {
            here: None,
            before: None,
            after: back.before.clone(),
            ..back.clone()
        });
        effects.back.attributions.push(back);
    }
    Ok(())
}

/// Compares one path.
pub(super) fn one(
    set: &ChangeSet,
    tree: &mut RootedDir,
    path: &Path,
    known: &Known<'_>,
    effects: &mut Effects,
) -> io::Result<()> {
    let before = known.first.seen;
    let now = if path.as_os_str().is_empty() {
        tree.stat_root().ok()
    } else {
        match tree.stat(path) {
            // Something else is in the way since: the path is not there.
            Err(Errno::LOOP | Errno::XDEV) => None,
            found => found?,
        }
    };
    let slot = Path::new(GONE).join(&known.slot);
    let op = |act, here, there| Op {
        act,
        path: known.first.path.clone(),
        slot: slot.as_os_str().as_bytes().to_vec(),
        here,
        there,
        means: None,
        slot_means: None,
    };
    let mut both = |op: Op, kept: bool| {
        if kept {
            effects.back.ops.push(op.inverse());
        } else {
            effects.back.left.push(op.path.clone());
        }
        effects.plan.ops.push(op);
    };
    let is_whole = *known.content != Content::Unread;
    let kept = match before {
        Some(before) if before.is_dir() => *known.content != Content::Not,
        _ => is_whole && *known.content != Content::Not,
    };
    if now.is_some_and(|now| now.is_dir()) && is_whole {
        effects.known.push(path.to_owned());
    }
    // Its entries change its times when they come again.
    let comes_back = || {
        let before = before.filter(FileStat::is_dir)?;
        Some(Attribution {
            path: known.first.path.clone(),
            here: None,
            before: None,
            after: Some(Look::new(&before, known.first.attributes.clone())),
        })
    };
    let (before, now) = match (before, now) {
        (None, None) => return Ok(()),
        (None, Some(now)) => {
            both(op(Act::Put, None, Some(now)), true);
            appeared(tree, path, &now, effects)?;
            return Ok(());
        }
        (Some(before), None) => {
            both(op(Act::Take, Some(before), None), kept);
            effects.back.attributions.extend(comes_back());
            return Ok(());
        }
        (Some(before), Some(now)) => (before, now),
    };
    if before.is_dir() != now.is_dir() {
        // One goes, and another comes, so that the slots have to be two.
        let mut gone = op(Act::Take, Some(before), None);
        gone.slot.push(b'd');
        both(gone, kept);
        both(op(Act::Put, None, Some(now)), true);
        effects.back.attributions.extend(comes_back());
        appeared(tree, path, &now, effects)?;
        return Ok(());
    }
    // A file that comes from elsewhere goes back there, even if the one that was here had the same content.
    let has_come = before.ino != now.ino && effects.linked.contains(&now.ino);
    if !before.is_dir() && (has_come || !is_same(set, tree, path, &before, &now, known.content)?) {
        let mut op = op(Act::Swap, Some(before), Some(now));
        if git_index::is_index(path) {
            op.slot_means = tree.file(path).ok().and_then(git_index::meaning);
        }
        both(op, kept);
        return Ok(());
    }
    let was = Look::new(&before, known.first.attributes.clone());
    let is = look(tree, path, &now)?;
    let is_new = before.ino != now.ino && git_index::is_index(path);
    // Times of others' directories change with their entries, and cannot be set.
    let can_be_set = !now.is_dir() || effects.user.as_ref().is_none_or(|it| it.may_dress(&now));
    if !is_new && can_be_set && (was != is || now.is_dir()) {
        let attribution = Attribution {
            path: known.first.path.clone(),
            here: Some(now),
            before: Some(was),
            after: Some(is),
        };
        if attribution.before == attribution.after {
            effects.alike.push(attribution);
        } else {
            effects.attribute(attribution);
        }
    }
    Ok(())
}
