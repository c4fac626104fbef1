//! Opens the preimages of a trace for comparison, and unpacks them into slots for an undo.

use crate::apply::dress;
use crate::attributes;
use crate::error::ChangesError;
use crate::file_stat::FileStat;
use crate::further_names::has_further_names;
use crate::git_index;
use crate::plan::{ApplyPlan, FileAttributes, PlannedOp, SlotRename};
use crate::recorder::{CONTENTS_FILE, ContentLocation, Index, PathRecord};
use crate::rooted_dir::RootedDir;
use crate::set::{ChangeSet, LINKS_DIR, SLOTS_DIR};
use crate::stale::StateAfterCall;
use agent_bash_core::changes::ChangesLevel;
use agent_bash_core::changes::FileName;
use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, linkat, mkdirat, mknodat, openat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Prefix of a slot for a record; the number of the record follows.
pub(crate) const RECORD_SLOT_PREFIX: &str = "t";

/// Prefix of a slot for a record of an inode.
pub(crate) const INODE_SLOT_PREFIX: &str = "a";

const DIRECTORY_FLAGS: OFlags = OFlags::PATH
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Opens a preimage. Returns the file, positioned at the contents, and their length; `u64::MAX` for
/// a whole file.
pub(crate) fn open(set: &ChangeSet, content: &ContentLocation) -> io::Result<Option<(File, u64)>> {
    Ok(match content {
        ContentLocation::Link(number) | ContentLocation::Clone(number) => {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let path = Path::new(LINKS_DIR).join(number.to_string());
            // A socket cannot be opened.
            let seen = FileStat::at(&set.dir, path.as_os_str())?;
            if !seen.is_some_and(|it| it.is_file()) {
                return Ok(None);
            }
            let file = openat(&set.dir, &path, flags, Mode::empty())?;
            Some((File::from(file), u64::MAX))
        }
        ContentLocation::Packed(at, length) => {
            let mut pack = set.dir.read(CONTENTS_FILE)?;
            pack.seek(SeekFrom::Start(*at))?;
            Some((pack, *length))
        }
        _ => None,
    })
}

/// Returns the former contents of a file for a diff, up to `limit` bytes. `None` if they are not
/// stored.
pub(crate) fn former(
    set: &ChangeSet,
    index: &Index,
    slot: &Path,
    most: u64,
) -> Result<Option<Vec<u8>>, ChangesError> {
    match record(index, slot) {
        Some(record) => recorded(set, record, most),
        None => Ok(None),
    }
}

/// Returns the contents of a record.
pub(crate) fn recorded(
    set: &ChangeSet,
    record: &PathRecord,
    most: u64,
) -> Result<Option<Vec<u8>>, ChangesError> {
    let path = Path::new(OsStr::from_bytes(&record.path));
    let failed = || ChangesError::io("reading what is kept of", path);
    if let ContentLocation::Target(target) = &record.content {
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

/// Returns the record of a slot's name.
fn record<'a>(index: &'a Index, slot: &Path) -> Option<&'a PathRecord> {
    let name = slot.file_name()?.to_str()?;
    let (records, number) = match name.strip_prefix(INODE_SLOT_PREFIX) {
        Some(number) => (&index.others, number),
        None => (&index.records, name.strip_prefix(RECORD_SLOT_PREFIX)?),
    };
    let end = number.find(|it: char| !it.is_ascii_digit());
    let number = &number[..end.unwrap_or(number.len())];
    records.get(number.parse::<usize>().ok()?)
}

/// Creates files from preimages in the empty slots that a plan needs.
pub(crate) fn unpack(set: &ChangeSet, plan: &mut ApplyPlan) -> Result<(), ChangesError> {
    let index = Index::read(&set.dir)?;
    let gone = set.slots().join(SLOTS_DIR);
    let gone = openat(CWD, &gone, DIRECTORY_FLAGS, Mode::empty())
        .map_err(ChangesError::errno("opening", gone))?;
    let mut used = HashSet::new();
    // Hard links to one file become hard links again.
    let mut made: HashMap<u64, OsString> = HashMap::new();
    let mut firsts: HashMap<&[u8], &PathRecord> = HashMap::new();
    for record in &index.records {
        firsts.entry(&record.path).or_insert(record);
    }
    let since = StateAfterCall::new(set)?;
    let whole = plan.clone();
    // Operations that move files out of the tree.
    let goes = plan.ops.iter().filter(|op| op.act != SlotRename::Put);
    let goes: HashSet<u64> = goes.filter_map(|op| Some(op.current?.ino)).collect();
    // After an undo and a redo, the file is already in its slot.
    let empty = |op: &&mut PlannedOp| {
        op.act != SlotRename::Take && op.in_slot.is_some_and(|it| !is_there(&gone, op, &it))
    };
    for op in plan.ops.iter_mut().filter(empty) {
        let slot = PathBuf::from(OsStr::from_bytes(&op.slot));
        let failed = || ChangesError::io("unpacking", set.dir().join(&slot));
        let Some(name) = slot.file_name() else {
            continue;
        };
        let Some(record) = record(&index, &slot) else {
            continue;
        };
        // The record of the inode has the attributes of a file with several names.
        let first = firsts.get(&record.path[..]).copied();
        let first = first.filter(|it| it.stat.is_some()).unwrap_or(record);
        let Some(seen) = first.stat else {
            continue;
        };
        let look = FileAttributes::new(&seen, first.attributes.clone());
        let same = made
            .get(&seen.ino)
            .filter(|_| seen.is_file() && seen.links > 1);
        if let ContentLocation::Link(number) = record.content
            && let Some(link) = link_of(set, number).map_err(failed())?
            && link.is_file()
            && since.is_written(record, &link)
        {
            // An earlier call moved the file, and this undo reverts later writes to it: that needs
            // a copy.
            let Some(from) = since.stands_for(&whole, &link) else {
                let (id, path) = (set.id, FileName::new(OsStr::from_bytes(&op.path)));
                let (conflicts, free) = (vec![path], 0);
                return Err(ChangesError::Conflict {
                    id,
                    conflicts,
                    free,
                });
            };
            let mut tree = RootedDir::open_same(&set.root(), set.meta.identity)?;
            let from = tree.file(&from).map_err(io::Error::from);
            let from = from.map_err(failed())?;
            copied(&gone, name, &mut File::from(from), &look).map_err(failed())?;
            continue;
        }
        if let ContentLocation::Link(number) = record.content
            && let Some(link) = link_of(set, number).map_err(failed())?
            && link.is_file()
            && same.is_none()
            && has_further_names(set, &link, &seen, &whole)
        {
            let content = open(set, &record.content).map_err(failed())?;
            let (mut from, _) = content.ok_or_else(|| failed()(io::ErrorKind::NotFound.into()))?;
            copied(&gone, name, &mut from, &look).map_err(failed())?;
            made.insert(seen.ino, name.to_owned());
            used.insert(number);
            continue;
        }
        let stays = |ino| !goes.contains(&ino);
        unpack_one(set, &gone, name, record, (&seen, &look), same, stays).map_err(failed())?;
        made.entry(seen.ino).or_insert_with(|| name.to_owned());
        if let ContentLocation::Link(number) | ContentLocation::Clone(number) = record.content {
            used.insert(number);
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        op.slot_means = openat(&gone, name, flags, Mode::empty())
            .ok()
            .filter(|_| git_index::is_index(op.path()))
            .and_then(git_index::meaning);
    }
    drop_links(set, &index, plan, &used);
    for op in plan.ops.iter_mut().filter(|op| op.act != SlotRename::Take) {
        let slot = PathBuf::from(OsStr::from_bytes(&op.slot));
        let name = slot.file_name().unwrap_or_default();
        op.in_slot = FileStat::at(&gone, name)
            .map_err(ChangesError::errno("looking at", set.dir().join(&slot)))?;
    }
    Ok(())
}

/// Removes preimage links that became slots, since they would be additional names of files in the
/// tree.
fn drop_links(set: &ChangeSet, index: &Index, plan: &ApplyPlan, used: &HashSet<u64>) {
    let paths: HashSet<&[u8]> = plan.ops.iter().map(|op| &op.path[..]).collect();
    let mut others: HashSet<u64> = HashSet::new();
    for record in &index.records {
        if let ContentLocation::Link(number) | ContentLocation::Clone(number) = record.content
            && !paths.contains(&record.path[..])
        {
            others.insert(number);
        }
    }
    for number in used.difference(&others) {
        // A remaining link is only an additional name.
        let _ = unlinkat(
            &set.dir,
            Path::new(LINKS_DIR).join(number.to_string()),
            AtFlags::empty(),
        );
    }
}

/// True if the slot holds exactly this file.
fn is_there(gone: &OwnedFd, op: &PlannedOp, file: &FileStat) -> bool {
    let name = op.slot().file_name().unwrap_or_default();
    let there = FileStat::at(gone, name).ok().flatten();
    there.is_some_and(|there| there.is_same_content(file))
}

fn unpack_one(
    set: &ChangeSet,
    gone: &OwnedFd,
    name: &OsStr,
    record: &PathRecord,
    (seen, look): (&FileStat, &FileAttributes),
    same: Option<&OsString>,
    stays: impl Fn(u64) -> bool,
) -> io::Result<()> {
    // The file belongs to an undo that did not begin.
    match unlinkat(gone, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(Errno::ISDIR) => unlinkat(gone, name, AtFlags::REMOVEDIR)?,
        Err(error) => return Err(error.into()),
    }
    if let Some(same) = same {
        return Ok(linkat(gone, same, gone, name, AtFlags::empty())?);
    }
    match &record.content {
        _ if seen.is_dir() => mkdirat(gone, name, Mode::RWXU)?,
        ContentLocation::Target(target) => symlinkat(OsStr::from_bytes(target), gone, name)?,
        ContentLocation::Link(number) | ContentLocation::Clone(number)
            if linked(set, *number, look, &stays)? =>
        {
            let link = Path::new(LINKS_DIR).join(number.to_string());
            linkat(&set.dir, &link, gone, name, AtFlags::empty())?;
        }
        _ if !seen.is_file() => {
            let mode = Mode::RUSR | Mode::WUSR;
            mknodat(gone, name, seen.kind(), mode, seen.device)?;
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
    let is_link = matches!(record.content, ContentLocation::Target(_));
    dress(gone.as_fd(), name, look, is_link)?;
    Ok(())
}

fn link_of(set: &ChangeSet, number: u64) -> io::Result<Option<FileStat>> {
    let links = openat(&set.dir, LINKS_DIR, DIRECTORY_FLAGS, Mode::empty())?;
    Ok(FileStat::at(&links, OsStr::new(&number.to_string()))?)
}

/// Copies a preimage into a slot.
fn copied(gone: &OwnedFd, name: &OsStr, from: &mut File, look: &FileAttributes) -> io::Result<()> {
    match unlinkat(gone, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let to = openat(gone, name, flags, Mode::RUSR | Mode::WUSR)?;
    io::copy(from, &mut File::from(to))?;
    Ok(dress(gone.as_fd(), name, look, false)?)
}

/// True if the link can serve as the file. A link to a file that the call moved, with other
/// attributes before, would change the moved file as well.
fn linked(
    set: &ChangeSet,
    number: u64,
    look: &FileAttributes,
    stays: impl Fn(u64) -> bool,
) -> io::Result<bool> {
    let links = openat(&set.dir, LINKS_DIR, DIRECTORY_FLAGS, Mode::empty())?;
    let name = number.to_string();
    let name = OsStr::new(&name);
    let Some(now) = FileStat::at(&links, name)? else {
        return Err(io::ErrorKind::NotFound.into());
    };
    if stays(now.ino) {
        return Ok(true);
    }
    let attributes = attributes::all(links.as_fd(), name)?;
    Ok(FileAttributes::new(&now, attributes) == *look)
}

/// True if the change set stores preimages.
pub(crate) fn keeps(set: &ChangeSet) -> bool {
    set.meta.level == ChangesLevel::Undo
}
