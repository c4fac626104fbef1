//! Compares the protected paths before and after a call. At the full tier, the kernel protects
//! existing paths. But another process may replace an existing path, and a missing path may appear.
//! At the base tier, a call may change existing and missing paths.

use agent_bash_core::sandbox::{Plan, Tier};
use agent_bash_sandbox::{ParentDirectories, PathIdentity, PlanStamp};
use rustix::fs::{Mode, OFlags};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Maximum number of files of a protected directory that are compared.
const MAX_FILES: usize = 1000;
/// Maximum number of bytes of a file that are compared.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// The states of the protected paths before a call. Successive calls share the list.
#[derive(Debug, Clone)]
pub struct WatchedPaths {
    paths: Arc<[(PathBuf, PathState)]>,
    /// The parent directories. If all of them are unchanged, the paths are unchanged, too.
    parents: Option<Arc<ParentDirectories>>,
}

#[derive(Debug, PartialEq, Eq)]
enum PathState {
    /// The path does not exist.
    Absent,
    /// A mount on this file protects it.
    Mounted(PathIdentity),
    /// The digest of the path's contents, including everything below a directory.
    Digest([u8; 32]),
}

impl WatchedPaths {
    /// Returns the current states. `stamp` is the plan's current stamp. `replaced` has the existing
    /// paths that a mount does not protect, because a process replaced them.
    pub(crate) fn before(plan: &Plan, stamp: &PlanStamp, replaced: &BTreeSet<PathBuf>) -> Self {
        let state = |(path, found): (&Path, Option<PathIdentity>)| {
            let state = match found {
                None => PathState::Absent,
                Some(found) if is_mount_protected(plan, found) && !replaced.contains(path) => {
                    PathState::Mounted(found)
                }
                Some(_) => digest(path),
            };
            (path.to_owned(), state)
        };
        Self {
            paths: stamp.protected().map(state).collect(),
            parents: None,
        }
    }

    /// Adds the parent directories, so that the paths need no comparison while the directories are
    /// unchanged. The caller checks that the directories have not changed recently.
    pub(crate) fn with_parents(self, parents: ParentDirectories) -> Self {
        Self {
            parents: Some(Arc::new(parents)),
            ..self
        }
    }

    /// Returns the states before a call, provided that no protected path was replaced. `None` if
    /// this function would have to read files.
    pub(crate) fn without_reading(plan: &Plan, stamp: &PlanStamp) -> Option<Self> {
        let mut found = stamp.protected().filter_map(|(_, found)| found);
        found
            .all(|found| is_mount_protected(plan, found))
            .then(|| Self::before(plan, stamp, &BTreeSet::new()))
    }

    /// True if there are no paths to compare.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Returns the paths whose state has changed.
    pub fn changed(self) -> Vec<PathBuf> {
        let is_changed = |(path, before): &(PathBuf, PathState)| match before {
            PathState::Absent => PathIdentity::of(path).is_some(),
            PathState::Mounted(found) => PathIdentity::of(path) != Some(*found),
            PathState::Digest(_) => digest(path) != *before,
        };
        let changed = self.paths.iter().filter(|one| is_changed(one));
        changed.map(|(path, _)| path.clone()).collect()
    }

    /// Returns the changed paths, using only the kernel's caches. `None` if the caches do not have
    /// all the data.
    pub(crate) fn changed_by_cache(&self) -> Option<Vec<PathBuf>> {
        if self.parents.as_ref().is_some_and(|it| it.are_unchanged()) {
            return Some(Vec::new());
        }
        let mut changed = Vec::new();
        for (path, before) in &*self.paths {
            let before = match before {
                PathState::Absent => None,
                PathState::Mounted(found) => Some(*found),
                PathState::Digest(_) => return None,
            };
            if PathIdentity::known(path).ok()? != before {
                changed.push(path.clone());
            }
        }
        Some(changed)
    }
}

/// True if a mount protects the file. A symbolic link cannot be protected, because a mount cannot
/// cover it. A file with further hard links may be written by another name.
fn is_mount_protected(plan: &Plan, found: PathIdentity) -> bool {
    plan.tier == Tier::Full && !found.is_link && !found.has_further_names
}

/// Returns the digest of a file, or of a directory with everything below it.
fn digest(path: &Path) -> PathState {
    let mut sum = Sha256::new();
    let mut left = MAX_FILES;
    add(&mut sum, path, &mut left);
    PathState::Digest(sum.finalize().into())
}

/// Adds a file, or a directory with everything below it, to the digest. `left` is the number of
/// files that may still be added. Symbolic links are not followed. An unreadable file adds only its
/// path, mode and length.
fn add(sum: &mut Sha256, path: &Path, left: &mut usize) {
    let Some(rest) = left.checked_sub(1) else {
        return;
    };
    *left = rest;
    sum.update(path.as_os_str().as_encoded_bytes());
    sum.update([0]);
    let Ok(found) = fs::symlink_metadata(path) else {
        return;
    };
    // The mode is part of the digest: a call can activate an existing hook by making the hook
    // executable.
    sum.update(found.mode().to_le_bytes());
    if found.is_symlink() {
        let target = fs::read_link(path).unwrap_or_default();
        sum.update(target.as_os_str().as_encoded_bytes());
    } else if found.is_dir() {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let mut entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        entries.sort();
        for entry in &entries {
            add(sum, entry, left);
        }
    } else if found.is_file() {
        sum.update(found.len().to_le_bytes());
        let mut text = Vec::new();
        // Surviving processes of the call may have replaced the file by a link or a FIFO.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::open(path, flags, Mode::empty()).map(File::from);
        let read = file
            .map_err(io::Error::from)
            .and_then(|file| file.take(MAX_FILE_BYTES).read_to_end(&mut text));
        if read.is_ok() {
            sum.update(&text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_core::sandbox::WriteLevel;

    type Change<'a> = &'a dyn Fn(&Path);

    fn changed(tier: Tier, replaced: &[&str], change: impl FnOnce(&Path)) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("hooks")).unwrap();
        fs::write(at("config"), "a = 1").unwrap();
        fs::write(at("hooks/sample"), "exit").unwrap();
        std::os::unix::fs::symlink("config", at("link")).unwrap();
        let names = ["config", "hooks", ".vscode", "link"];
        let plan = Plan {
            writable: vec![dir.path().to_owned()],
            protected: names.map(at).to_vec(),
            ..Plan::new(WriteLevel::WorkspaceWrite, tier)
        };
        let replaced = replaced.iter().map(|name| at(name)).collect();
        let before = WatchedPaths::before(&plan, &PlanStamp::of(&plan), &replaced);
        change(dir.path());
        let names = before.changed().into_iter();
        let name = |path: PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        names.map(name).collect()
    }

    #[test]
    fn changed_returns_the_paths_that_a_call_changed() {
        let executable = |path: &Path| {
            fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        };
        let cases: [(Change<'_>, &[&str]); 7] = [
            (&|dir| executable(&dir.join("hooks/sample")), &["hooks"]),
            (&|_| {}, &[]),
            (&|dir| fs::write(dir.join("config"), "a = 1").unwrap(), &[]),
            (
                &|dir| fs::write(dir.join("config"), "a = 2").unwrap(),
                &["config"],
            ),
            (
                &|dir| fs::write(dir.join("hooks/new"), "").unwrap(),
                &["hooks"],
            ),
            (
                &|dir| fs::remove_dir_all(dir.join("hooks")).unwrap(),
                &["hooks"],
            ),
            (
                &|dir| fs::create_dir(dir.join(".vscode")).unwrap(),
                &[".vscode"],
            ),
        ];
        for (index, (change, want)) in cases.into_iter().enumerate() {
            assert_eq!(changed(Tier::Base, &[], change), want, "case {index}");
        }
    }

    /// A mount covers a name, not a file.
    #[test]
    fn file_with_a_further_hard_link_is_compared_at_both_tiers() {
        let outside = tempfile::tempdir().unwrap();
        let other = outside.path().join("other");
        for tier in [Tier::Base, Tier::Full] {
            let plan = |dir: &Path| Plan {
                writable: vec![dir.to_owned()],
                protected: vec![dir.join("config")],
                ..Plan::new(WriteLevel::WorkspaceWrite, tier)
            };
            let dir = tempfile::tempdir().unwrap();
            fs::write(dir.path().join("config"), "a = 1").unwrap();
            let _ = fs::remove_file(&other);
            fs::hard_link(dir.path().join("config"), &other).unwrap();
            let plan = plan(dir.path());
            let stamp = PlanStamp::of(&plan);
            let is_read = WatchedPaths::without_reading(&plan, &stamp).is_none();
            assert!(is_read, "the contents are compared");
            let before = WatchedPaths::before(&plan, &stamp, &BTreeSet::new());
            fs::write(&other, "a = 2").unwrap();
            assert_eq!(before.changed(), [dir.path().join("config")], "{tier:?}");
        }
    }

    /// A mount cannot cover a symbolic link.
    #[test]
    fn changed_symbolic_link_is_found_at_both_tiers() {
        let retarget = |dir: &Path| {
            fs::remove_file(dir.join("link")).unwrap();
            std::os::unix::fs::symlink("hooks", dir.join("link")).unwrap();
        };
        for tier in [Tier::Base, Tier::Full] {
            assert_eq!(changed(tier, &[], retarget), ["link"]);
        }
    }

    #[test]
    fn full_tier_reads_only_files_without_a_protecting_mount() {
        let both = |dir: &Path| {
            fs::write(dir.join("config"), "a = 2").unwrap();
            fs::create_dir(dir.join(".vscode")).unwrap();
        };
        assert_eq!(changed(Tier::Full, &[], both), [".vscode"]);
        // A mount is lost when another process replaces its file.
        let replace = |dir: &Path| {
            fs::write(dir.join("other"), "a = 2").unwrap();
            fs::rename(dir.join("other"), dir.join("config")).unwrap();
        };
        assert_eq!(changed(Tier::Full, &[], replace), ["config"]);
        // In a shell that is older than the file, no mount protects the file.
        assert_eq!(
            changed(Tier::Full, &["config"], both),
            ["config", ".vscode"]
        );
        assert_eq!(changed(Tier::Base, &[], both), ["config", ".vscode"]);
    }
}
