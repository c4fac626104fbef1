//! Counts changed files outside the root, by directory. Comparing states leaves out temporary
//! files, refused writes and repeated writes, which system calls alone would count.

use crate::file_stat::FileStat;
use rustix::fs::{AtFlags, CWD, FileType, statat};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// The largest number of directories counted separately.
const MAX_DIRECTORIES: usize = 20;

/// The largest number of files compared at the end, apart from temporary ones. Beyond it, each
/// write counts.
const MAX_FILES: usize = 4096;

/// The number of path components that distinguish directories.
const DIRECTORY_LEVELS: usize = 3;

/// The files touched so far.
#[derive(Debug, Default)]
pub(super) struct OutsideFiles {
    /// The state of each file before its first touch.
    before: HashMap<PathBuf, Option<FileStat>>,
    /// Writes to further files, by directory.
    others: BTreeMap<String, u64>,
    /// True if the limit is reached.
    is_full: bool,
}

impl OutsideFiles {
    /// Records a file before it is touched.
    pub(super) fn touched(&mut self, path: &Path) {
        if self.before.contains_key(path) {
            return;
        }
        if self.before.len() == MAX_FILES && !self.is_full {
            self.before
                .retain(|path, before| before.is_some() || look(path).is_some());
            // Otherwise the same search would run again and again.
            self.is_full = self.before.len() > MAX_FILES / 2;
        }
        if self.is_full {
            count(&mut self.others, path);
        } else {
            self.before.insert(path.to_owned(), look(path));
        }
    }

    /// Returns the number of changed files by directory. Unreadable files do not count, and neither
    /// do directories with changed entries.
    pub(super) fn counted(self) -> BTreeMap<String, u64> {
        let mut counts = self.others;
        let before = self.before.iter();
        let others = before.filter(|(path, before)| is_other(before.as_ref(), look(path).as_ref()));
        let others: Vec<&Path> = others.map(|(path, _)| path.as_path()).collect();
        let above = others.iter().flat_map(|path| path.ancestors().skip(1));
        let above: HashSet<&Path> = above.collect();
        for path in others.iter().filter(|path| !above.contains(*path)) {
            count(&mut counts, path);
        }
        counts
    }
}

fn look(path: &Path) -> Option<FileStat> {
    let stat = statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW);
    stat.ok().map(|stat| FileStat::from(&stat))
}

fn is_other(before: Option<&FileStat>, now: Option<&FileStat>) -> bool {
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
    let full = counts.len() >= MAX_DIRECTORIES && !counts.contains_key(&directory);
    let directory = if full { "…".to_owned() } else { directory };
    *counts.entry(directory).or_default() += 1;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn temporary_files_are_not_counted() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: usize| place.path().join(name.to_string());
        let mut outside = OutsideFiles::default();
        for name in 0..3 * MAX_FILES {
            outside.touched(&at(name));
            fs::write(at(name), "").unwrap();
            fs::remove_file(at(name)).unwrap();
        }
        assert!(outside.before.len() <= MAX_FILES && outside.others.is_empty());
        let stay = 2 * MAX_FILES;
        for name in 0..stay {
            outside.touched(&at(name));
            fs::write(at(name), "").unwrap();
        }
        assert!(outside.before.len() <= MAX_FILES);
        assert_eq!(outside.counted().values().sum::<u64>(), stay as u64);
    }

    #[test]
    fn directory_is_not_counted_for_changed_entries() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        let mut outside = OutsideFiles::default();
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
