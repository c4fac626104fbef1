//! Files as they will be when a plan is applied. The next plan is checked against these files, so
//! that the conflicts of several plans are known before the first plan changes a file.

use crate::files::file_stat::FileStat;
use crate::files::rooted_dir::RootedDir;
use crate::plan::{ApplyPlan, SlotRename};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A file as it will be when the plans are applied.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AssumedFile {
    /// The file that the plans restore; `None` if they remove the file.
    pub(crate) stat: Option<FileStat>,
    /// Digest of the entries of a git index.
    pub(crate) digest: Option<u64>,
}

/// The files that the plans change.
#[derive(Debug, Clone, Default)]
pub(crate) struct AssumedFiles {
    /// By absolute path.
    files: BTreeMap<PathBuf, AssumedFile>,
    /// The originals of restored files with several names, by inode.
    linked: HashMap<u64, FileStat>,
}

impl AssumedFiles {
    /// Returns the file at a path below a root, if a plan changes it.
    pub(crate) fn get(&self, root: &RootedDir, path: &Path) -> Option<&AssumedFile> {
        if self.files.is_empty() {
            return None;
        }
        self.files.get(&root.path().join(path))
    }

    /// Returns the attributes of a file that no plan restores. If a plan restores another of its
    /// names, it counts as untouched: removing and restoring that name changes its `ctime`.
    pub(crate) fn with_other_names(&self, now: FileStat) -> FileStat {
        let original = self.linked.get(&now.ino).copied();
        let original = original.filter(|it| it.is_same_content(&now));
        original.unwrap_or(now)
    }

    /// True if a plan restores a directory at this path.
    pub(crate) fn is_dir(&self, root: &RootedDir, path: &Path) -> bool {
        let found = self.get(root, path).and_then(|it| it.stat);
        found.is_some_and(|stat| stat.is_dir())
    }

    /// Adds and removes entries of a directory as the plans do.
    pub(crate) fn entries(
        &self,
        root: &RootedDir,
        path: &Path,
        mut entries: BTreeSet<PathBuf>,
    ) -> BTreeSet<PathBuf> {
        let directory = root.path().join(path);
        let below = self.files.range(directory.clone()..);
        let below = below.take_while(|(file, _)| file.starts_with(&directory));
        for (file, assumed) in below.filter(|(file, _)| file.parent() == Some(&directory)) {
            let name = file.strip_prefix(root.path()).unwrap_or(file);
            if assumed.stat.is_some() {
                entries.insert(name.to_owned());
            } else {
                entries.remove(name);
            }
        }
        entries
    }

    /// Assumes that a plan is applied below `root`. A restored file is assumed to have the
    /// attributes of its original in `originals` (by path).
    pub(crate) fn assume(
        &mut self,
        root: &Path,
        originals: &HashMap<Vec<u8>, FileStat>,
        plan: &ApplyPlan,
    ) {
        let absolute = |path: &[u8]| root.join(OsStr::from_bytes(path));
        let original = |path: &Vec<u8>| originals.get(path).copied();
        for it in &plan.attributions {
            if let Some(stat) = original(&it.path) {
                let stat = Some(stat);
                let changed = AssumedFile { stat, digest: None };
                self.files.insert(absolute(&it.path), changed);
            }
        }
        for op in plan.ops.iter().filter(|op| op.act == SlotRename::Take) {
            self.files
                .insert(absolute(&op.path), AssumedFile::default());
        }
        for op in plan.ops.iter().filter(|op| op.act != SlotRename::Take) {
            let restored = AssumedFile {
                stat: original(&op.path).or(op.in_slot),
                digest: op.slot_digest,
            };
            let linked = restored.stat.filter(|it| it.links > 1 && !it.is_dir());
            self.linked.extend(linked.map(|it| (it.ino, it)));
            self.files.insert(absolute(&op.path), restored);
        }
    }
}
