//! Finds the other names of changed files, since a change by one name is a change of all names.

use super::compare::{Effects, KnownPath, compare_path};
use crate::files::file_stat::FileStat;
use crate::files::rooted_dir::RootedDir;
use crate::plan::SlotRename;
use crate::plan::file_comparison::bytes;
use crate::sources::preimages::{INODE_SLOT_PREFIX, RECORD_SLOT_PREFIX};
use crate::sources::recorder::{ContentLocation, Index, PathRecord};
use crate::store::set::ChangeSet;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The largest number of files examined for other names.
const MAX_EXAMINED_FILES: usize = 200_000;

/// A changed file that may have names which the call did not touch.
struct LinkedFile<'a> {
    record: &'a PathRecord,
    /// The name of the slot.
    slot_name: String,
    /// The number of known names before the call.
    names_before: u64,
    /// The number of known names now.
    names_now: u64,
    /// The number of links now, if the file has a known name.
    links: Option<u64>,
}

impl LinkedFile<'_> {
    /// True if the file has further names. A name that no call touched still exists, so the number
    /// of links shows it.
    fn has_unknown_names(&self) -> bool {
        match self.links {
            Some(links) => links > self.names_now,
            None => self
                .record
                .stat
                .is_some_and(|it| it.links > self.names_before),
        }
    }
}

/// Finds names of files that were changed through another name, and adds them to `effects`. Names
/// outside the root are not found. If the tree is too large for the search, the files with several
/// names are excluded from an undo, since the undo would not restore all names.
pub(super) fn add_other_names(
    set: &ChangeSet,
    tree: &mut RootedDir,
    index: &Index,
    known: &BTreeMap<&[u8], KnownPath<'_>>,
    effects: &mut Effects,
) {
    let new = effects
        .plan
        .ops
        .iter()
        .filter(|op| op.act == SlotRename::Put);
    let new: HashSet<PathBuf> = new.map(|op| op.path().to_owned()).collect();
    let mut files = changed_files(index);
    count_names(tree, index, known, &new, &mut files);
    files.retain(|_, file| file.has_unknown_names());
    if files.is_empty() {
        return;
    }
    let (mut found, mut examined) = (0, 0);
    let mut waiting = vec![PathBuf::new()];
    while let Some(directory) = waiting.pop() {
        // An unlistable directory has no visible names.
        for name in tree.names(&directory).unwrap_or_default() {
            let path = directory.join(name);
            let Ok(Some(now)) = tree.stat(&path) else {
                continue;
            };
            examined += 1;
            if tree.is_on_other_device(&path).unwrap_or(true) {
                continue;
            }
            if now.is_dir() {
                waiting.push(path);
            } else if let Some(file) = files.get(&now.ino)
                && !new.contains(&path)
                && !known.contains_key(&bytes(&path)[..])
            {
                let record = PathRecord {
                    path: bytes(&path),
                    ..file.record.clone()
                };
                let other = KnownPath {
                    slot: format!("{}l{found}", file.slot_name),
                    first: &record,
                    content: &record.content,
                };
                found += 1;
                if compare_path(set, tree, &path, &other, effects).is_err() {
                    effects.unseen.push(path);
                }
            }
        }
        if examined > MAX_EXAMINED_FILES {
            effects.is_search_incomplete = files.values().any(|file| is_outside(file.record));
            exclude(&files, effects);
            return;
        }
    }
}

/// Returns the files with several names whose contents or attributes may have changed, by inode.
fn changed_files(index: &Index) -> HashMap<u64, LinkedFile<'_>> {
    let records = index.records.iter().enumerate();
    let records = records.map(|(number, record)| (RECORD_SLOT_PREFIX, number, record));
    let inodes = index.inode_records.iter().enumerate();
    let inodes = inodes.map(|(number, record)| (INODE_SLOT_PREFIX, number, record));
    let mut files = HashMap::new();
    let is_untouched = |record: &PathRecord| is_outside(record) && is_untouched_now(record);
    for (prefix, number, record) in records.chain(inodes).filter(|it| !is_untouched(it.2)) {
        let is_changed = !matches!(
            record.content,
            ContentLocation::Link(_) | ContentLocation::Target(_) | ContentLocation::NoContents
        );
        let has_names = |it: &FileStat| it.links > 1 || is_outside(record);
        if let Some(stat) = record.stat.filter(|it| has_names(it) && !it.is_dir())
            && is_changed
        {
            let file = files.entry(stat.ino).or_insert_with(|| LinkedFile {
                record,
                slot_name: format!("{prefix}{number}"),
                names_before: 0,
                names_now: 0,
                links: None,
            });
            // Prefer the record with contents.
            if file.record.content == ContentLocation::Unread
                && record.content != ContentLocation::Unread
            {
                file.record = record;
                file.slot_name = format!("{prefix}{number}");
            }
        }
    }
    files
}

/// Returns true if the file was reached by a path outside the root.
fn is_outside(record: &PathRecord) -> bool {
    record.path.first() == Some(&b'/')
}

/// Returns true if the file at the record's path is untouched, so that none of its names changed.
fn is_untouched_now(record: &PathRecord) -> bool {
    let now = rustix::fs::lstat(Path::new(OsStr::from_bytes(&record.path)));
    let now = now.map(|found| FileStat::from(&found));
    record
        .stat
        .is_some_and(|it| now.is_ok_and(|now| it.is_untouched(&now)))
}

fn file_of<'a, 'b>(
    files: &'a mut HashMap<u64, LinkedFile<'b>>,
    stat: Option<FileStat>,
) -> Option<&'a mut LinkedFile<'b>> {
    files.get_mut(&stat?.ino)
}

/// Counts the known names of the files.
fn count_names(
    tree: &mut RootedDir,
    index: &Index,
    known: &BTreeMap<&[u8], KnownPath<'_>>,
    new: &HashSet<PathBuf>,
    files: &mut HashMap<u64, LinkedFile<'_>>,
) {
    if files.is_empty() {
        return;
    }
    let mut links: HashMap<u64, u64> = HashMap::new();
    for record in &index.records {
        if let (ContentLocation::Link(number), Some(stat)) = (&record.content, record.stat) {
            links.insert(*number, stat.ino);
        }
    }
    for known in known.values() {
        if let Some(file) = file_of(files, known.first.stat) {
            file.names_before += 1;
        }
    }
    let paths = known.keys().map(|path| Path::new(OsStr::from_bytes(path)));
    let paths: HashSet<&Path> = paths.chain(new.iter().map(PathBuf::as_path)).collect();
    for path in paths {
        if let Ok(now) = tree.stat(path)
            && let Some(file) = file_of(files, now)
        {
            file.names_now += 1;
            file.links = now.map(|it| it.links);
        }
    }
    for ino in links.values() {
        if let Some(file) = files.get_mut(ino) {
            file.names_now += 1;
        }
    }
}

/// Excludes these files from an undo.
fn exclude(files: &HashMap<u64, LinkedFile<'_>>, effects: &mut Effects) {
    let is_excluded = |stat: Option<FileStat>| stat.is_some_and(|it| files.contains_key(&it.ino));
    for op in &effects.plan.ops {
        if is_excluded(op.in_slot) || op.act != SlotRename::Put && is_excluded(op.current) {
            effects.unseen.push(op.path().to_owned());
        }
    }
    let unseen = effects.unseen.iter();
    let unseen: HashSet<Vec<u8>> = unseen.map(|path| bytes(path)).collect();
    effects.inverse.ops.retain(|op| !unseen.contains(&op.path));
}
