//! What a trace recorded, as a plan: each touched path as it was before and as it is now.

use crate::alike::{bytes, look, same_bytes};
use crate::beneath::Tree;
use crate::error::ChangesError;
use crate::git_index;
use crate::journal::Journal;
use crate::kept::{SLOT, open};
use crate::plan::{Act, Attribution, Look, Op, Plan};
use crate::recorder::{Content, Index, Record, lacks};
use crate::seen::Seen;
use crate::set::{GONE, Set, State};
use crate::steps::{Care, Undisturbed};
use rustix::io::Errno;
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What a trace did.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    /// What was done.
    pub(crate) plan: Plan,
    /// What takes it back; without what was not kept, whose paths are in `left`.
    pub(crate) back: Plan,
    /// Files of several names that were written to in place, by inode.
    shared: BTreeMap<u64, Op>,
    /// What cannot be looked at: it lies in a directory that the call has made unreadable.
    unseen: Vec<PathBuf>,
}

/// A path, by its first record and the one that kept its content.
struct Known<'a> {
    number: usize,
    first: &'a Record,
    content: &'a Content,
}

/// Compares what was recorded with what is there.
pub(crate) fn effects(set: &Set, index: &Index) -> Result<Effects, ChangesError> {
    let mut tree = Tree::open_same(&set.root(), set.meta.identity)?;
    let mut known: BTreeMap<&[u8], Known<'_>> = BTreeMap::new();
    for (number, record) in index.records.iter().enumerate() {
        let known = known.entry(&record.path).or_insert(Known {
            number,
            first: record,
            content: &record.content,
        });
        if *known.content == Content::Unread {
            known.content = &record.content;
            known.number = number;
        }
    }
    let mut effects = Effects::default();
    for (path, known) in &known {
        let path = Path::new(OsStr::from_bytes(path));
        match one(set, &mut tree, path, known, &mut effects) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                effects.unseen.push(path.to_owned());
            }
            compared => compared.map_err(ChangesError::io("comparing", set.root().join(path)))?,
        }
    }
    other_names(&mut tree, &known, &mut effects);
    arrived(&mut tree, &mut effects).map_err(ChangesError::errno("comparing", set.root()))?;
    leave_unseen(&mut effects);
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

/// What cannot be looked at is not taken back, nor are new directories around it taken away.
fn leave_unseen(effects: &mut Effects) {
    let unseen = std::mem::take(&mut effects.unseen);
    let left = &mut effects.back.left;
    effects.back.ops.retain(|op| {
        let goes = op.act != Act::Take || !unseen.iter().any(|path| path.starts_with(op.path()));
        if !goes {
            left.push(op.path.clone());
        }
        goes
    });
    effects.plan.left = unseen.iter().map(|path| bytes(path)).collect();
    left.extend_from_slice(&effects.plan.left);
    left.sort_unstable();
    left.dedup();
}

/// Files that are looked at in search of other names.
const MANY: usize = 200_000;

/// Other names of files that were written to in place have changed with them. Those beyond the root are not found; if
/// there is too much to look through, the file counts as not kept, as it would not be taken back under all of its names.
fn other_names(tree: &mut Tree, known: &BTreeMap<&[u8], Known<'_>>, effects: &mut Effects) {
    let shared = std::mem::take(&mut effects.shared);
    if shared.is_empty() {
        return;
    }
    let (mut found, mut looked) = (0, 0);
    let mut waiting = vec![PathBuf::new()];
    while let Some(directory) = waiting.pop() {
        // What cannot be listed has no names for anybody.
        for name in tree.names(&directory).unwrap_or_default() {
            let path = directory.join(name);
            let Ok(Some(now)) = tree.at(&path) else {
                continue;
            };
            looked += 1;
            if now.is_dir() {
                waiting.push(path);
            } else if let Some(op) = shared.get(&now.ino)
                && !known.contains_key(&bytes(&path)[..])
            {
                let slot = [&op.slot[..], format!("l{found}").as_bytes()].concat();
                found += 1;
                let path = bytes(&path);
                let other = Op {
                    path,
                    slot,
                    ..op.clone()
                };
                effects.back.ops.push(other.inverse());
                effects.plan.ops.push(other);
            }
        }
        if looked > MANY {
            for op in shared.values() {
                let others = [&op.slot[..], b"l"].concat();
                let is_one = |it: &Op| it.slot == op.slot || it.slot.starts_with(&others);
                effects.back.ops.retain(|it| !is_one(it));
                effects.back.left.push(op.path.clone());
            }
            return;
        }
    }
}

/// What has come with a directory that was moved here: nothing of it was touched by its path.
fn arrived(tree: &mut Tree, effects: &mut Effects) -> Result<(), Errno> {
    let new = effects.plan.ops.iter().filter(|op| op.act == Act::Put);
    let mut known: HashSet<PathBuf> = new.clone().map(|op| op.path().to_owned()).collect();
    let directories = new.filter(|op| op.there.is_some_and(|it| it.is_dir()));
    let mut waiting: Vec<PathBuf> = directories.map(|op| op.path().to_owned()).collect();
    let mut number = 0;
    while let Some(directory) = waiting.pop() {
        let names = match tree.names(&directory) {
            Err(Errno::ACCESS) => {
                effects.unseen.push(directory);
                continue;
            }
            names => names?,
        };
        for name in names {
            let path = directory.join(name);
            let now = match tree.at(&path) {
                Err(Errno::ACCESS) => {
                    effects.unseen.push(path);
                    continue;
                }
                now => now?,
            };
            let Some(now) = now.filter(|_| known.insert(path.clone())) else {
                continue;
            };
            let op = Op {
                act: Act::Put,
                path: bytes(&path),
                slot: format!("{GONE}/n{number}").into_bytes(),
                here: None,
                there: Some(now),
                means: None,
                slot_means: None,
            };
            number += 1;
            effects.back.ops.push(op.inverse());
            effects.plan.ops.push(op);
            came(tree, &path, &now, effects)?;
            if now.is_dir() {
                waiting.push(path);
            }
        }
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
    let slot = Path::new(GONE).join(format!("{SLOT}{}", known.number));
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
    let kept = !matches!(known.content, Content::Not | Content::Unread);
    let (before, now) = match (before, now) {
        (None, None) => return Ok(()),
        (None, Some(now)) => {
            both(op(Act::Put, None, Some(now)), true);
            came(tree, path, &now, effects)?;
            return Ok(());
        }
        (Some(before), None) => {
            both(op(Act::Take, Some(before), None), kept);
            if before.is_dir() {
                effects.back.attributions.push(Attribution {
                    path: known.first.path.clone(),
                    here: None,
                    before: None,
                    after: Some(Look::new(&before, known.first.attributes.clone())),
                });
            }
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
        came(tree, path, &now, effects)?;
        return Ok(());
    }
    if !before.is_dir() && !is_same(set, tree, path, &before, &now, known.content)? {
        let mut op = op(Act::Swap, Some(before), Some(now));
        if git_index::is_index(path) {
            op.slot_means = tree.file(path).ok().and_then(git_index::meaning);
        }
        let is_shared = kept && before.ino == now.ino && before.links > 1;
        both(op.clone(), kept);
        if is_shared {
            effects.shared.insert(now.ino, op);
        }
        return Ok(());
    }
    let was = Look::new(&before, known.first.attributes.clone());
    let is = look(tree, path, &now)?;
    let is_new = before.ino != now.ino && git_index::is_index(path);
    if was != is && !is_new {
        let attribution = Attribution {
            path: known.first.path.clone(),
            here: Some(now),
            before: Some(was),
            after: Some(is),
        };
        effects.back.attributions.push(Attribution {
            before: attribution.after.clone(),
            after: attribution.before.clone(),
            ..attribution.clone()
        });
        effects.plan.attributions.push(attribution);
    }
    Ok(())
}

/// Whether a file has the same content still.
fn is_same(
    set: &Set,
    tree: &mut Tree,
    path: &Path,
    before: &Seen,
    now: &Seen,
    content: &Content,
) -> io::Result<bool> {
    if before.kind() != now.kind() {
        return Ok(false);
    }
    if let Content::Target(target) = content {
        let (dir, name) = tree.parent(path)?;
        return Ok(rustix::fs::readlinkat(dir, name, Vec::new())?.as_bytes() == target);
    }
    if before.ino == now.ino && before.size == now.size && before.mtime == now.mtime {
        return Ok(true);
    }
    if *content == Content::Unread {
        // Nobody has written to it, or replaced it.
        return Ok(before.ino == now.ino && before.size == now.size);
    }
    let Some(kept) = open(set, content)? else {
        return Ok(false);
    };
    let now_file = match tree.file(path) {
        // It may be another one: that it is not to be read is new.
        Err(Errno::ACCESS) => return Ok(false),
        file => file?,
    };
    if git_index::is_index(path) {
        let meaning = git_index::meaning(kept.0.try_clone()?.into());
        if meaning.is_some() && meaning == git_index::meaning(now_file.try_clone()?) {
            return Ok(true);
        }
    }
    if before.size != now.size {
        return Ok(false);
    }
    // From its beginning.
    let now = tree.file(path)?.into();
    let Some(mut kept) = open(set, content)? else {
        return Ok(false);
    };
    let mut copy = Vec::new();
    if kept.1 == u64::MAX {
        return same_bytes(kept.0, now, before.size);
    }
    // A part of the pack: no larger than a file that is copied may be.
    kept.0.by_ref().take(kept.1).read_to_end(&mut copy)?;
    let mut other = Vec::new();
    now.take(kept.1 + 1).read_to_end(&mut other)?;
    Ok(copy == other)
}
