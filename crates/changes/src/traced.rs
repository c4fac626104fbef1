//! What a trace recorded, as a plan: each touched path as it was before and as it is now.

use crate::apply::dress;
use crate::beneath::Tree;
use crate::error::ChangesError;
use crate::git_index;
use crate::journal::Journal;
use crate::plan::{Act, Attribution, Look, Op, Plan};
use crate::recorder::{Content, Index, PACK, Record, lacks};
use crate::seen::Seen;
use crate::set::{GONE, LINKS, Set, State};
use crate::steps::{Care, Undisturbed};
use crate::upper::{bytes, look, same_bytes};
use agent_bash_core::changes::ChangesLevel;
use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, linkat, mkdirat, mknodat, openat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Begins the names of slots of a trace: the number of a record follows.
const SLOT: &str = "t";

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
        return set.set_state(state);
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

/// A kept content, at its beginning, and its length (of a whole file: the largest number).
fn open(set: &Set, content: &Content) -> io::Result<Option<(File, u64)>> {
    Ok(match content {
        Content::Link(number) | Content::Clone(number) => {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let path = Path::new(LINKS).join(number.to_string());
            let file = openat(&set.dir, &path, flags, Mode::empty())?;
            let file = File::from(file);
            file.metadata()?.is_file().then_some((file, u64::MAX))
        }
        Content::Packed(at, length) => {
            let mut pack = set.dir.read(PACK)?;
            pack.seek(SeekFrom::Start(*at))?;
            Some((pack, *length))
        }
        _ => None,
    })
}

/// What a file's content was, for a diff: up to so many bytes. `None` if it is not kept.
pub(crate) fn former(set: &Set, slot: &Path, most: u64) -> Result<Option<Vec<u8>>, ChangesError> {
    let failed = || ChangesError::io("reading", set.dir().join(slot));
    let index = Index::read(&set.dir)?;
    let Some(record) = record(&index, slot) else {
        return Ok(None);
    };
    if let Content::Target(target) = &record.content {
        return Ok(Some(target.clone()));
    }
    let Some((file, length)) = open(set, &record.content).map_err(failed())? else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    file.take(length.min(most))
        .read_to_end(&mut bytes)
        .map_err(failed())?;
    Ok(Some(bytes))
}

/// The record that a slot is named for.
fn record<'a>(index: &'a Index, slot: &Path) -> Option<&'a Record> {
    let name = slot.file_name()?.to_str()?;
    let number = name.strip_prefix(SLOT)?;
    let end = number.find(|it: char| !it.is_ascii_digit());
    let number = &number[..end.unwrap_or(number.len())];
    index.records.get(number.parse::<usize>().ok()?)
}

/// Makes files of what a trace has kept, in the slots that a plan needs and that are still empty.
pub(crate) fn unpack(set: &Set, plan: &mut Plan) -> Result<(), ChangesError> {
    let index = Index::read(&set.dir)?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let gone = set.slots().join(GONE);
    let gone =
        openat(CWD, &gone, flags, Mode::empty()).map_err(ChangesError::errno("opening", gone))?;
    let mut used = HashSet::new();
    // The names of one file are names of one again.
    let mut made: HashMap<u64, OsString> = HashMap::new();
    // What has been undone and done again is in its slot already.
    let empty =
        |op: &&mut Op| op.act != Act::Take && op.there.is_some_and(|it| !is_there(&gone, op, &it));
    for op in plan.ops.iter_mut().filter(empty) {
        let slot = PathBuf::from(OsStr::from_bytes(&op.slot));
        let failed = || ChangesError::io("unpacking", set.dir().join(&slot));
        let Some(name) = slot.file_name() else {
            continue;
        };
        let Some(record) = record(&index, &slot) else {
            continue;
        };
        let first = index.records.iter().find(|it| it.path == record.path);
        let Some(seen) = first.and_then(|first| first.seen) else {
            continue;
        };
        let look = Look::new(
            &seen,
            first.map(|it| it.attributes.clone()).unwrap_or_default(),
        );
        let same = made
            .get(&seen.ino)
            .filter(|_| seen.is_file() && seen.links > 1);
        unpack_one(set, &gone, name, record, &seen, &look, same).map_err(failed())?;
        made.entry(seen.ino).or_insert_with(|| name.to_owned());
        if let Content::Link(number) | Content::Clone(number) = record.content {
            used.insert(number);
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        op.slot_means = openat(&gone, name, flags, Mode::empty())
            .ok()
            .filter(|_| git_index::is_index(op.path()))
            .and_then(git_index::meaning);
    }
    drop_links(set, &index, plan, &used);
    for op in plan.ops.iter_mut().filter(|op| op.act != Act::Take) {
        let slot = PathBuf::from(OsStr::from_bytes(&op.slot));
        let name = slot.file_name().unwrap_or_default();
        op.there = Seen::at(&gone, name)
            .map_err(ChangesError::errno("looking at", set.dir().join(&slot)))?;
    }
    Ok(())
}

/// Removes links that have become slots: of the files in the tree, they would be names too many.
fn drop_links(set: &Set, index: &Index, plan: &Plan, used: &HashSet<u64>) {
    let paths: HashSet<&[u8]> = plan.ops.iter().map(|op| &op.path[..]).collect();
    let mut others: HashSet<u64> = HashSet::new();
    for record in &index.records {
        if let Content::Link(number) | Content::Clone(number) = record.content
            && !paths.contains(&record.path[..])
        {
            others.insert(number);
        }
    }
    for number in used.difference(&others) {
        // What stays is a name more, and no harm.
        let _ = unlinkat(
            &set.dir,
            Path::new(LINKS).join(number.to_string()),
            AtFlags::empty(),
        );
    }
}

/// Whether a slot has that very file.
fn is_there(gone: &OwnedFd, op: &Op, file: &Seen) -> bool {
    let name = op.slot().file_name().unwrap_or_default();
    let there = Seen::at(gone, name).ok().flatten();
    there.is_some_and(|there| there.is_same_content(file))
}

fn unpack_one(
    set: &Set,
    gone: &OwnedFd,
    name: &OsStr,
    record: &Record,
    seen: &Seen,
    look: &Look,
    same: Option<&OsString>,
) -> io::Result<()> {
    // A leftover of an undo that was not begun.
    match unlinkat(gone, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(Errno::ISDIR) => unlinkat(gone, name, AtFlags::REMOVEDIR)?,
        Err(error) => return Err(error.into()),
    }
    if let Some(same) = same {
        return Ok(linkat(gone, same, gone, name, AtFlags::empty())?);
    }
    match &record.content {
        Content::Nothing if seen.is_dir() => mkdirat(gone, name, Mode::RWXU)?,
        Content::Nothing => mknodat(gone, name, seen.kind(), Mode::RUSR | Mode::WUSR, 0)?,
        Content::Target(target) => symlinkat(OsStr::from_bytes(target), gone, name)?,
        Content::Link(number) | Content::Clone(number) => {
            let link = Path::new(LINKS).join(number.to_string());
            linkat(&set.dir, &link, gone, name, AtFlags::empty())?;
        }
        content => {
            let Some((mut from, length)) = open(set, content)? else {
                return Err(io::ErrorKind::NotFound.into());
            };
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let to = openat(gone, name, flags, Mode::RUSR | Mode::WUSR)?;
            io::copy(&mut from.by_ref().take(length), &mut File::from(to))?;
        }
    }
    let is_link = matches!(record.content, Content::Target(_));
    dress(gone.as_fd(), name, look, is_link)?;
    Ok(())
}

/// Whether contents were kept at all.
pub(crate) fn keeps(set: &Set) -> bool {
    set.meta.level == ChangesLevel::Undo
}
