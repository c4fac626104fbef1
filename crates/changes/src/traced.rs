//! What a trace recorded, as a plan: each touched path as it was before and as it is now.

mod arrived;
mod left;
mod names;
mod same;

use crate::alike::{bytes, look};
use crate::beneath::Tree;
use crate::error::ChangesError;
use crate::git_index;
use crate::journal::Journal;
use crate::kept::SLOT;
use crate::plan::{Act, Attribution, Look, Op, Plan};
use crate::recorder::{Content, Index, Record, lacks};
use crate::seen::Seen;
use crate::set::{GONE, Set, State};
use crate::steps::{Care, Undisturbed};
use crate::user::User;
use rustix::io::Errno;
use same::is_same;
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
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
    known: Vec<PathBuf>,
    user: Option<User>,
    /// Files of which a link is kept.
    linked: HashSet<u64>,
    /// Directories that look as before.
    alike: Vec<Attribution>,
    /// What cannot be looked at: it lies in a directory that the call has made unreadable.
    unseen: Vec<PathBuf>,
}

impl Effects {
    fn attribute(&mut self, attribution: Attribution) {
        self.back.attributions.push(Attribution {
            before: attribution.after.clone(),
            after: attribution.before.clone(),
            ..attribution.clone()
        });
        self.plan.attributions.push(attribution);
    }
}

/// A path, by its first record and the one that kept its content.
struct Known<'a> {
    /// The name of its slot.
    slot: String,
    first: &'a Record,
    content: &'a Content,
}

/// Compares what was recorded with what is there.
pub(crate) fn effects(set: &Set, index: &Index) -> Result<Effects, ChangesError> {
    let mut tree = Tree::open_same(&set.root(), set.meta.identity)?;
    let mut known: BTreeMap<&[u8], Known<'_>> = BTreeMap::new();
    for (number, record) in index.records.iter().enumerate() {
        let known = known.entry(&record.path).or_insert(Known {
            slot: format!("{SLOT}{number}"),
            first: record,
            content: &record.content,
        });
        if *known.content == Content::Unread {
            known.content = &record.content;
            known.slot = format!("{SLOT}{number}");
        }
    }
    let links = index.records.iter();
    let links = links.filter(|it| matches!(it.content, Content::Link(_)));
    let mut effects = Effects {
        linked: links.filter_map(|it| Some(it.seen?.ino)).collect(),
        user: Some(User::own()),
        ..Effects::default()
    };
    for (path, known) in &known {
        let path = Path::new(OsStr::from_bytes(path));
        if one(set, &mut tree, path, known, &mut effects).is_err() {
            effects.unseen.push(path.to_owned());
        }
    }
    arrived::arrived(&mut tree, &known, &mut effects);
    names::others(set, &mut tree, index, &known, &mut effects);
    keep_times(&mut effects);
    shared(&mut effects);
    arrived::leave_unseen(&mut effects);
    left::leave(&mut effects);
    effects.plan.sort();
    effects.back.sort();
    Ok(effects)
}

/// Writes down what a trace did. `whole`: what becomes of it if the record is; `untouched`: if nobody has written one.
pub(crate) fn conclude(
    set: &mut Set,
    care: Care,
    whole: State,
    untouched: State,
) -> Result<(), ChangesError> {
    let index = Index::read(&set.dir)?;
    let state = match index {
        Index { complete: true, .. } => whole,
        Index { absent: true, .. } => untouched,
        _ => State::Interrupted,
    };
    if index.records.is_empty() {
        // Whoever reads the index sees it as well, where there is no room to say so.
        let _ = set.set_state(state);
        return Ok(());
    }
    let effects = effects(set, &index)?;
    let failed = || ChangesError::io("writing the journal of", set.dir());
    if !effects.plan.left.is_empty() {
        lacks(&set.dir).map_err(failed())?;
    }
    // Nothing is to be done, so that nothing has to be on disk first.
    let care = Care {
        synced: false,
        ..care
    };
    let mut journal = Journal::begin(&set.dir, effects.plan, &Undisturbed, care)?;
    journal.note(effects.back).map_err(failed())?;
    set.end(state)
}

/// A directory has its time still, if all was done within a tick of the clock; not if entries come and go again.
fn keep_times(effects: &mut Effects) {
    let parents = effects.plan.ops.iter().map(|op| op.path().parent());
    let parents: HashSet<PathBuf> = parents.flatten().map(Path::to_owned).collect();
    for it in std::mem::take(&mut effects.alike) {
        if parents.contains(it.path()) {
            effects.attribute(it);
        }
    }
}

/// What a file looks like is not set where another name of it goes: whether that is still what it was could not be told then.
fn shared(effects: &mut Effects) {
    let goes = effects.back.ops.iter().filter(|op| op.act != Act::Put);
    let goes: HashSet<u64> = goes.filter_map(|op| Some(op.here?.ino)).collect();
    let left = &mut effects.back.left;
    effects.back.attributions.retain(|it| {
        let stays = it
            .here
            .is_none_or(|here| here.is_dir() || !goes.contains(&here.ino));
        if !stays {
            left.push(it.path.clone());
        }
        stays
    });
}

/// What a new directory looks like: its entries change its times when it comes again.
fn came(tree: &mut Tree, path: &Path, now: &Seen, effects: &mut Effects) -> Result<(), Errno> {
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

fn one(
    set: &Set,
    tree: &mut Tree,
    path: &Path,
    known: &Known<'_>,
    effects: &mut Effects,
) -> io::Result<()> {
    let before = known.first.seen;
    let now = if path.as_os_str().is_empty() {
        tree.seen().ok()
    } else {
        match tree.at(path) {
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
        let before = before.filter(Seen::is_dir)?;
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
            came(tree, path, &now, effects)?;
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
        came(tree, path, &now, effects)?;
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
