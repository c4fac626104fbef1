//! Counts changed files outside the root, by directory. Each file is compared before and after the
//! call, so temporary files, refused writes and repeated writes do not count.

use crate::files::file_stat::FileStat;
use rustix::fs::{AtFlags, CWD, FileType, statat};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// The largest number of directories counted separately.
const MAX_DIRECTORIES: usize = 20;

/// The largest number of files compared at the end, apart from temporary files. Beyond this number,
/// each write counts.
const MAX_FILES: usize = 4096;

/// The number of path components that distinguish directories.
const DIRECTORY_LEVELS: usize = 3;

/// The files touched so far.
#[derive(Debug, Default)]
pub(super) struct OutsideCounter {
    /// The state of each file before its first touch.
    before: HashMap<PathBuf, Option<FileStat>>,
    /// The number of writes to further files, by directory.
    further_writes: BTreeMap<String, u64>,
    /// True if the limit is reached.
    is_full: bool,
}

impl OutsideCounter {
    /// Records a file before it is touched.
    pub(super) fn touched(&mut self, path: &Path) {
        if self.before.contains_key(path) {
            return;
        }
        if self.before.len() == MAX_FILES && !self.is_full {
            self.before
                .retain(|path, before| before.is_some() || stat_of(path).is_some());
            // If few files were temporary, the search would run again soon, so it is given up.
            self.is_full = self.before.len() > MAX_FILES / 2;
        }
        if self.is_full {
            count(&mut self.further_writes, path);
        } else {
            self.before.insert(path.to_owned(), stat_of(path));
        }
    }

    /// Returns the number of changed files by directory. Unreadable files do not count, and neither
    /// do directories with changed entries.
    pub(super) fn counted(self) -> BTreeMap<String, u64> {
        let mut counts = self.further_writes;
        let before = self.before.iter();
        let changed =
            before.filter(|(path, before)| is_changed(before.as_ref(), stat_of(path).as_ref()));
        let changed: Vec<&Path> = changed.map(|(path, _)| path.as_path()).collect();
        let above = changed.iter().flat_map(|path| path.ancestors().skip(1));
        let above: HashSet<&Path> = above.collect();
        for path in changed.iter().filter(|path| !above.contains(*path)) {
            count(&mut counts, path);
        }
        counts
    }
}

fn stat_of(path: &Path) -> Option<FileStat> {
    let stat = statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW);
    stat.ok().map(|stat| FileStat::from(&stat))
}

fn is_changed(before: Option<&FileStat>, now: Option<&FileStat>) -> bool {
    match (before, now) {
        (Some(before), Some(now)) => match now.kind() {
            FileType::RegularFile | FileType::Symlink => !before.is_untouched(now),
            // Directory times change with their entries; special files are changed by their use.
            _ => (before.ino, before.mode) != (now.ino, now.mode),
        },
        (before, now) => before.is_some() || now.is_some(),
    }
}

fn count(counts: &mut BTreeMap<String, u64>, path: &Path) {
    let directory: PathBuf = path
        .parent()
        .unwrap_or(path)
        .components()
        .take(DIRECTORY_LEVELS)
        .collect();
    let directory = directory.to_string_lossy().into_owned();
    let is_counted_together = counts.len() >= MAX_DIRECTORIES && !counts.contains_key(&directory);
    let directory = if is_counted_together {
        "…".to_owned()
    } else {
        directory
    };
    *counts.entry(directory).or_default() += 1;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn temporary_files_are_not_counted() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: usize| directory.path().join(name.to_string());
        let mut outside = OutsideCounter::default();
        for name in 0..3 * MAX_FILES {
            outside.touched(&at(name));
            fs::write(at(name), "").unwrap();
            fs::remove_file(at(name)).unwrap();
        }
        assert!(outside.before.len() <= MAX_FILES && outside.further_writes.is_empty());
        let remaining = 2 * MAX_FILES;
        for name in 0..remaining {
            outside.touched(&at(name));
            fs::write(at(name), "").unwrap();
        }
        assert!(outside.before.len() <= MAX_FILES);
        assert_eq!(outside.counted().values().sum::<u64>(), remaining as u64);
    }

    #[test]
    fn directory_is_not_counted_for_changed_entries() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let mut outside = OutsideCounter::default();
        let all = ["d", "d/e", "d/e/one", "d/e/two", "empty"];
        for name in all {
            outside.touched(&at(name));
        }
        fs::create_dir_all(at("d/e")).unwrap();
        fs::create_dir(at("empty")).unwrap();
        fs::write(at("d/e/one"), "").unwrap();
        fs::write(at("d/e/two"), "").unwrap();
        assert_eq!(outside.counted().values().sum::<u64>(), 3);
    }
}
