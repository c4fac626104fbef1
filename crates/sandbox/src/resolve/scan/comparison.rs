//! Compares two scans.

use super::super::git_index::{MAX_INDEX_BYTES, leads_into_repository};
use super::NameScan;
use super::repositories::is_git_directory;
use super::version::{FileVersion, LINK_KIND, Time, has_further_names};
use agent_bash_core::sandbox::{Plan, Tier};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The number of directories above which their parent directories are named instead.
const MAX_UNCOMPARED: usize = 10;

impl NameScan {
    /// Returns the files that differ in `now`, except those that the sandbox protects. `since` is
    /// the start of the call in seconds and nanoseconds. If this scan `is_old`, only changes since
    /// the start of the call count.
    #[must_use]
    pub fn changed(
        &self,
        now: &Self,
        plan: &Plan,
        since: (i64, i64),
        is_old: bool,
    ) -> Vec<PathBuf> {
        let protected: BTreeSet<&Path> = plan.protected.iter().map(PathBuf::as_path).collect();
        let is_protected = |path: &Path| {
            plan.tier == Tier::Full
                && path
                    .ancestors()
                    .any(|ancestor| protected.contains(ancestor))
        };
        let is_reported = |path: &Path, kind: u32, changed: Option<Time>| {
            let is_compared = kind != LINK_KIND || !self.has_ignored_links(path, now);
            let is_known = is_compared && (self.is_whole || self.has_seen(path, now));
            let is_certain = !is_old && is_known;
            is_certain || changed.is_none_or(|changed| changed >= since)
        };
        let written = now.files.iter().filter(|(path, version)| {
            if self.files.get(*path) == Some(version) {
                return false;
            }
            let own = match version.changed {
                (0, 0) => FileVersion::at(path).map(|version| version.changed),
                changed => Some(changed),
            };
            let changed = own.map(|own| self.moved(path, now).map_or(own, |moved| moved.max(own)));
            is_reported(path, version.kind, changed)
        });
        let missing = self.files.iter().filter(|(path, before)| {
            // A `HEAD` counts as removed if its directory is no longer a repository.
            let repository = path.parent().filter(|_| path.ends_with("HEAD"));
            // The second scan may not have reached the file; then it still has the same version.
            let is_other = match repository {
                Some(directory) => !is_git_directory(directory),
                // A directory that could not be listed before can be listed now.
                None => !before.is_at(path) || now.directories.contains_key(*path),
            };
            let own = FileVersion::at(path).map(|version| version.changed);
            let changed = match repository {
                Some(directory) => {
                    own.max(FileVersion::at(directory).map(|version| version.changed))
                }
                None => own.or_else(|| FileVersion::around(path).map(|version| version.changed)),
            };
            !now.files.contains_key(*path)
                && is_other
                && (!is_absent(path) || is_removal_reported(path, plan))
                && is_reported(path, before.kind, changed)
        });
        let mut index_bytes = MAX_INDEX_BYTES;
        let indexes = now.indexes.iter().filter(|(path, version)| {
            let git_dir = path.parent().unwrap_or(path);
            self.indexes.get(*path) != Some(version)
                && is_reported(path, version.kind, Some(version.changed))
                && leads_into_repository(path, git_dir, &mut index_bytes)
        });
        let mut changed: BTreeSet<PathBuf> = written
            .chain(missing)
            .chain(indexes)
            .map(|(path, _)| path)
            .filter(|path| !is_protected(path) || has_further_names(path))
            .cloned()
            .collect();
        // For a repository that was created or removed, only its `.git` is reported.
        let gits = changed.iter().filter(|path| path.ends_with(".git"));
        let gits: Vec<PathBuf> = gits.cloned().collect();
        changed.retain(|path| !gits.iter().any(|git| path != git && path.starts_with(git)));
        let mut changed: Vec<PathBuf> = changed.into_iter().collect();
        changed.sort_by_key(|path| path.components().count());
        changed
    }

    /// Returns the directories that this scan has compared whole and `now` has not, with the number
    /// of subdirectories that `now` did not reach; zero if a directory has too many names. Of
    /// nested directories, only the outermost is returned, and instead of very many, those around
    /// them.
    #[must_use]
    pub fn uncompared(&self, now: &Self) -> Vec<(PathBuf, u64)> {
        let is_new = |(path, _): &(&PathBuf, &u64)| {
            let mut around = path.ancestors();
            !around.any(|directory| self.partial.contains_key(directory))
        };
        let found = now.partial.iter().filter(is_new);
        let mut found: BTreeMap<&Path, u64> = found.map(|(path, it)| (&**path, *it)).collect();
        let depth = |path: &Path| path.components().count();
        let around = |path: &&Path| {
            now.directories
                .contains_key(path.parent()?)
                .then(|| depth(path))
        };
        while found.len() > MAX_UNCOMPARED
            && let Some(deepest) = found.keys().filter_map(around).max()
        {
            for (path, unreached) in std::mem::take(&mut found) {
                let outer = path.parent().filter(|_| around(&path) == Some(deepest));
                let unreached = unreached.max(u64::from(outer.is_some()));
                *found.entry(outer.unwrap_or(path)).or_default() += unreached;
            }
        }
        let mut outermost: Vec<(PathBuf, u64)> = Vec::new();
        for (path, unreached) in found {
            match outermost.last_mut() {
                Some((outer, sum)) if path.starts_with(&*outer) => *sum += unreached,
                _ => outermost.push((path.to_owned(), unreached)),
            }
        }
        outermost
    }

    /// True if the scan reached all directories.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// True if the scan has read the directory of a path whole.
    #[must_use]
    pub fn has_read(&self, path: &Path) -> bool {
        let directory = path.parent().and_then(|it| self.directories.get(it));
        directory.is_some_and(|directory| !directory.is_cut)
    }

    /// Returns the files of this name.
    pub fn files_named(&self, name: &str) -> impl Iterator<Item = &Path> {
        let files = self.files.keys().map(PathBuf::as_path);
        files.filter(move |path| path.ends_with(name))
    }

    /// Returns the directories that were replaced by links. A program that is started there by path
    /// runs in the link's target.
    #[must_use]
    pub fn replaced_by_links(&self, now: &Self) -> Vec<PathBuf> {
        let missing = self.directories.keys();
        let missing = missing.filter(|path| !now.directories.contains_key(*path));
        missing.filter(|path| path.is_symlink()).cloned().collect()
    }

    /// True if this scan reached the directory in which `now` found the file.
    fn has_seen(&self, path: &Path, now: &Self) -> bool {
        let mut around = path.ancestors().skip(1);
        let found = around.find(|directory| now.directories.contains_key(*directory));
        found.is_none_or(|directory| self.directories.contains_key(directory))
    }

    /// True if this scan has ignored the links in the directory of a path, because the directory
    /// looks like a part of a repository only in `now`.
    fn has_ignored_links(&self, path: &Path, now: &Self) -> bool {
        let counts_links = |scan: &Self| {
            let directory = scan.directories.get(path.parent()?)?;
            Some(directory.counts_links())
        };
        (counts_links(self), counts_links(now)) == (Some(false), Some(true))
    }

    /// Returns the last change of the directories around a path that were elsewhere during this
    /// scan. A file that was moved with its directory has not changed itself.
    fn moved(&self, path: &Path, now: &Self) -> Option<Time> {
        let around = path.ancestors().skip(1);
        let around = around.filter_map(|path| Some((path, now.directories.get(path)?)));
        let moved = around.filter(|(path, found)| match self.directories.get(*path) {
            Some(before) => before.version.inode != found.version.inode,
            None => self.lacks(path),
        });
        moved.map(|(_, found)| found.version.changed).max()
    }

    /// True if this scan has read the parent directory, and found no such directory in it.
    fn lacks(&self, path: &Path) -> bool {
        let parent = path.parent().and_then(|it| self.directories.get(it));
        parent.zip(path.file_name()).is_some_and(|(parent, name)| {
            let is_git = parent.is_repository && name == ".git";
            !is_git && !parent.directories.iter().any(|it| it == name)
        })
    }
}

fn is_absent(path: &Path) -> bool {
    path.symlink_metadata().is_err()
}

/// True if the removal of this file is reported. The removal of a nested `.git` is not reported,
/// because git then uses the enclosing repository.
fn is_removal_reported(path: &Path, plan: &Plan) -> bool {
    let mut gits = path
        .ancestors()
        .filter(|ancestor| ancestor.ends_with(".git"));
    match gits.next() {
        Some(git) => {
            let is_top = git.parent().is_some_and(|directory| {
                plan.writable.iter().any(|writable| writable == directory)
            });
            is_top || !is_absent(git)
        }
        None => true,
    }
}
