//! Opens the preimages of a trace for comparison, and unpacks them into slots for an undo.

use crate::error::ChangesError;
use crate::files::attributes;
use crate::files::file_stat::FileStat;
use crate::files::git_index;
use crate::files::rooted_dir::RootedDir;
use crate::files::system::mknodat;
use crate::plan::apply::set_attributes;
use crate::plan::{ApplyPlan, FileAttributes, PlannedOp, SlotRename};
use crate::sources::further_names::NameCounts;
use crate::sources::recorder::{CONTENTS_FILE, ContentLocation, Index, PathRecord};
use crate::sources::restored_files::LazyRestoredFiles;
use crate::sources::stale::StateAfterCall;
use crate::store::set::{ChangeSet, LINKS_DIR, SLOTS_DIR};
use agent_bash_core::changes::ChangesLevel;
use agent_bash_core::changes::FileName;
use agent_bash_os::O_PATH;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, mkdirat, openat, symlinkat, unlinkat};
use rustix::io::Errno;
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The prefix of a slot's name for a record. The number of the record follows.
pub(crate) const RECORD_SLOT_PREFIX: &str = "t";

/// The prefix of a slot's name for a record of an inode. The number of the record follows.
pub(crate) const INODE_SLOT_PREFIX: &str = "a";

const DIRECTORY_FLAGS: OFlags = O_PATH
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Opens a preimage. Returns the file, positioned at the contents, and the length of the contents:
/// `u64::MAX` for a whole file. `None` if the location has no file.
pub(crate) fn open(set: &ChangeSet, content: &ContentLocation) -> io::Result<Option<(File, u64)>> {
    Ok(match content {
        ContentLocation::Link(number) | ContentLocation::Clone(number) => {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let path = link_path(*number);
            // A socket cannot be opened.
            if !link_stat(set, *number)?.is_some_and(|it| it.is_file()) {
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

/// Returns the contents of a file before the call, up to `max_bytes`. `None` if they are not
/// stored.
pub(crate) fn contents_before(
    set: &ChangeSet,
    index: &Index,
    slot: &Path,
    max_bytes: u64,
) -> Result<Option<Vec<u8>>, ChangesError> {
    match record(index, slot) {
        Some(record) => recorded_contents(set, record, max_bytes),
        None => Ok(None),
    }
}

/// Returns the contents of a record, up to `max_bytes`. `None` if they are not stored.
pub(crate) fn recorded_contents(
    set: &ChangeSet,
    record: &PathRecord,
    max_bytes: u64,
) -> Result<Option<Vec<u8>>, ChangesError> {
    let path = Path::new(OsStr::from_bytes(&record.path));
    let failed = || ChangesError::io("reading the preimage of", path);
    if let ContentLocation::Target(target) = &record.content {
        return Ok(Some(target.clone()));
    }
    let Some((file, length)) = open(set, &record.content).map_err(failed())? else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    file.take(length.min(max_bytes))
        .read_to_end(&mut bytes)
        .map_err(failed())?;
    Ok(Some(bytes))
}

/// Returns the record that belongs to a slot, according to the slot's name.
fn record<'a>(index: &'a Index, slot: &Path) -> Option<&'a PathRecord> {
    let name = slot.file_name()?.to_str()?;
    let (records, number) = match name.strip_prefix(INODE_SLOT_PREFIX) {
        Some(number) => (&index.inode_records, number),
        None => (&index.records, name.strip_prefix(RECORD_SLOT_PREFIX)?),
    };
    let end = number.find(|it: char| !it.is_ascii_digit());
    let number = &number[..end.unwrap_or(number.len())];
    records.get(number.parse::<usize>().ok()?)
}

/// Creates files from preimages in the empty slots that a plan needs.
pub(crate) fn unpack(
    set: &ChangeSet,
    plan: &mut ApplyPlan,
    restored_files: &LazyRestoredFiles<'_>,
) -> Result<(), ChangesError> {
    let index = Index::read(&set.dir)?;
    let slots = set.slots().join(SLOTS_DIR);
    let slots = openat(CWD, &slots, DIRECTORY_FLAGS, Mode::empty())
        .map_err(ChangesError::errno("opening", slots))?;
    let mut used_links = HashSet::new();
    let mut first_records: HashMap<&[u8], &PathRecord> = HashMap::new();
    for record in &index.records {
        first_records.entry(&record.path).or_insert(record);
    }
    // Hard links to one file become hard links again.
    let mut restored = linked_files_in_slots(&index, &first_records, &slots, plan);
    let state_after_call = StateAfterCall::new(set, plan)?;
    let name_counts = NameCounts::new(set, plan);
    // After an undo and a redo, the file is in its slot already.
    let has_empty_slot = |op: &&mut PlannedOp| {
        op.act != SlotRename::Take && op.in_slot.is_some_and(|it| !is_in_slot(&slots, op, &it))
    };
    for op in plan.ops.iter_mut().filter(has_empty_slot) {
        let slot = PathBuf::from(OsStr::from_bytes(&op.slot));
        let failed = || ChangesError::io("unpacking", set.dir().join(&slot));
        let Some(name) = slot.file_name() else {
            continue;
        };
        let Some(record) = record(&index, &slot) else {
            continue;
        };
        // If the first record of the path has no attributes, the record of the inode has them.
        let first = first_records.get(&record.path[..]).copied();
        let first = first.filter(|it| it.stat.is_some()).unwrap_or(record);
        let Some(stat) = first.stat else {
            continue;
        };
        let attributes = FileAttributes::new(&stat, first.attributes.clone());
        let restored_name = restored
            .get(&stat.ino)
            .filter(|_| stat.is_file() && stat.links > 1);
        let link = match record.content {
            ContentLocation::Link(number) | ContentLocation::Clone(number) => {
                link_stat(set, number).map_err(failed())?
            }
            _ => None,
        };
        if let ContentLocation::Link(number) = record.content
            && let Some(link) = link.filter(FileStat::is_file)
        {
            if state_after_call.was_changed_since(record, &link) {
                // The linked file was changed after the call, so it is no preimage. If an undo has
                // restored the file by a copy, the copy is used. Otherwise the preimage is lost.
                let mut tree = RootedDir::open_same(&set.root(), set.meta.identity)?;
                let from = match state_after_call.file_in_place_of(&link) {
                    Some(path) => Some(path.to_owned()),
                    None => restored_files.get()?.copy_of(&stat, &mut tree),
                };
                let from = from.ok_or_else(|| lost_preimage(set, op))?;
                let from = tree.file(&from).map_err(io::Error::from);
                let from = from.map_err(failed())?;
                copy_into_slot(&slots, name, &mut File::from(from), &attributes)
                    .map_err(failed())?;
                continue;
            }
            if restored_name.is_none() && name_counts.has_further_names(&link, &stat) {
                let content = open(set, &record.content).map_err(failed())?;
                let (mut from, _) =
                    content.ok_or_else(|| failed()(io::ErrorKind::NotFound.into()))?;
                copy_into_slot(&slots, name, &mut from, &attributes).map_err(failed())?;
                restored.insert(stat.ino, name.to_owned());
                used_links.insert(number);
                continue;
            }
        }
        let can_use_link =
            |number| can_use_link(set, number, link.as_ref(), &attributes, &name_counts);
        let files = (&stat, &attributes);
        unpack_file(
            set, &slots, name, record, files, restored_name, can_use_link,
        )
        .map_err(failed())?;
        restored.entry(stat.ino).or_insert_with(|| name.to_owned());
        if let ContentLocation::Link(number) | ContentLocation::Clone(number) = record.content {
            used_links.insert(number);
        }
        if git_index::is_index(op.path()) {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            op.slot_digest = openat(&slots, name, flags, Mode::empty())
                .ok()
                .and_then(git_index::entries_digest);
        }
    }
    drop_links(set, &index, plan, &used_links);
    for op in plan.ops.iter_mut().filter(|op| op.act != SlotRename::Take) {
        let slot = PathBuf::from(OsStr::from_bytes(&op.slot));
        let name = slot.file_name().unwrap_or_default();
        op.in_slot = FileStat::at(&slots, name)
            .map_err(ChangesError::errno("looking at", set.dir().join(&slot)))?;
    }
    Ok(())
}

/// Returns the slots that already hold a file with several names, by the former inode.
fn linked_files_in_slots(
    index: &Index,
    first_records: &HashMap<&[u8], &PathRecord>,
    slots: &OwnedFd,
    plan: &ApplyPlan,
) -> HashMap<u64, OsString> {
    let mut found = HashMap::new();
    for op in plan.ops.iter().filter(|op| op.act != SlotRename::Take) {
        let original =
            record(index, op.slot()).and_then(|record| first_records.get(&record.path[..])?.stat);
        if let Some(original) = original.filter(|it| it.is_file() && it.links > 1)
            && op.in_slot.is_some_and(|it| is_in_slot(slots, op, &it))
            && let Some(name) = op.slot().file_name()
        {
            found.insert(original.ino, name.to_owned());
        }
    }
    found
}

fn lost_preimage(set: &ChangeSet, op: &PlannedOp) -> ChangesError {
    ChangesError::Conflict {
        id: set.id,
        conflicts: vec![FileName::new(OsStr::from_bytes(&op.path))],
        without_conflict: 0,
    }
}

/// Removes preimage links whose files are in slots now. Otherwise files of the tree would have
/// additional names.
fn drop_links(set: &ChangeSet, index: &Index, plan: &ApplyPlan, used_links: &HashSet<u64>) {
    let paths: HashSet<&[u8]> = plan.ops.iter().map(|op| &op.path[..]).collect();
    let mut needed_links: HashSet<u64> = HashSet::new();
    for record in &index.records {
        if let ContentLocation::Link(number) | ContentLocation::Clone(number) = record.content
            && !paths.contains(&record.path[..])
        {
            needed_links.insert(number);
        }
    }
    for number in used_links.difference(&needed_links) {
        // A link that stays does no harm.
        let _ = unlinkat(&set.dir, link_path(*number), AtFlags::empty());
    }
}

/// True if the slot holds exactly this file.
fn is_in_slot(slots: &OwnedFd, op: &PlannedOp, file: &FileStat) -> bool {
    let name = op.slot().file_name().unwrap_or_default();
    let in_slot = FileStat::at(slots, name).ok().flatten();
    in_slot.is_some_and(|in_slot| in_slot.is_same_content(file))
}

/// Creates the file of a record in a slot. `restored_name` is a slot with another name of the same
/// file. `can_use_link` is true if the preimage link with this number can become the file.
fn unpack_file(
    set: &ChangeSet,
    slots: &OwnedFd,
    name: &OsStr,
    record: &PathRecord,
    (stat, attributes): (&FileStat, &FileAttributes),
    restored_name: Option<&OsString>,
    can_use_link: impl Fn(u64) -> io::Result<bool>,
) -> io::Result<()> {
    // A file in the slot is from an undo that failed before it began.
    match unlinkat(slots, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(Errno::ISDIR) => unlinkat(slots, name, AtFlags::REMOVEDIR)?,
        Err(error) => return Err(error.into()),
    }
    if let Some(restored_name) = restored_name {
        return Ok(linkat(slots, restored_name, slots, name, AtFlags::empty())?);
    }
    match &record.content {
        _ if stat.is_dir() => mkdirat(slots, name, Mode::RWXU)?,
        ContentLocation::Target(target) => symlinkat(OsStr::from_bytes(target), slots, name)?,
        ContentLocation::Link(number) | ContentLocation::Clone(number)
            if can_use_link(*number)? =>
        {
            linkat(&set.dir, link_path(*number), slots, name, AtFlags::empty())?;
        }
        _ if !stat.is_file() => {
            let mode = Mode::RUSR | Mode::WUSR;
            mknodat(slots, name, stat.kind(), mode, stat.device)?;
        }
        content => {
            let Some((mut from, length)) = open(set, content)? else {
                return Err(io::ErrorKind::NotFound.into());
            };
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let to = openat(slots, name, flags, Mode::RUSR | Mode::WUSR)?;
            io::copy(&mut from.by_ref().take(length), &mut File::from(to))?;
        }
    }
    let is_link = matches!(record.content, ContentLocation::Target(_));
    set_attributes(slots.as_fd(), name, attributes, is_link)?;
    Ok(())
}

/// The path of a preimage link below the directory of its change set.
fn link_path(number: u64) -> PathBuf {
    Path::new(LINKS_DIR).join(number.to_string())
}

fn link_stat(set: &ChangeSet, number: u64) -> io::Result<Option<FileStat>> {
    Ok(FileStat::at(&set.dir, link_path(number).as_os_str())?)
}

/// Copies a preimage into a slot.
fn copy_into_slot(
    slots: &OwnedFd,
    name: &OsStr,
    from: &mut File,
    attributes: &FileAttributes,
) -> io::Result<()> {
    match unlinkat(slots, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let to = openat(slots, name, flags, Mode::RUSR | Mode::WUSR)?;
    io::copy(from, &mut File::from(to))?;
    Ok(set_attributes(slots.as_fd(), name, attributes, false)?)
}

/// True if the preimage link can become the file in the slot. If the plan moves the linked file,
/// and the file has other attributes now, restoring the attributes would change the moved file as
/// well.
fn can_use_link(
    set: &ChangeSet,
    number: u64,
    link: Option<&FileStat>,
    wanted: &FileAttributes,
    name_counts: &NameCounts<'_>,
) -> io::Result<bool> {
    let now = link.ok_or(io::ErrorKind::NotFound)?;
    if !name_counts.is_removed(now.ino) {
        return Ok(true);
    }
    let attributes = attributes::all(set.dir.as_fd(), link_path(number).as_os_str())?;
    Ok(FileAttributes::new(now, attributes) == *wanted)
}

pub(crate) fn stores_preimages(set: &ChangeSet) -> bool {
    set.meta.level == ChangesLevel::Undo
}
