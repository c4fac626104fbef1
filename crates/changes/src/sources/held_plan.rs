//! The plan of a trial, frozen when the trial ends: operations, renames, and preimages. Later
//! changes of the tree do not affect it.
//!
//! Preimages are stored like those of a trace, but never as hard links: a link would change the
//! inode in the tree, and another process may write to the linked file. The plan remains with a
//! discarded change set, so that the change set can still be listed.

use crate::error::ChangesError;
use crate::files::codec::{Wire, wire};
use crate::files::file_stat::FileStat;
use crate::files::modes::Modes;
use crate::files::rooted_dir::RootedDir;
use crate::plan::steps::Precautions;
use crate::plan::{ApplyPlan, Attribution, PlannedOp, SlotRename};
use crate::sources::recorder::{CONTENTS_FILE, INDEX_FILE, Recorder};
use crate::sources::upper::{UpperScan, scan_upper};
use crate::store::set::{ChangeSet, LINKS_DIR};
use agent_bash_os::{PrivateDir, remove_tree};
use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The file name in the change set's directory.
const FILE_NAME: &str = "plan";
/// The file with conflicts of a commit that was rolled back.
const CONFLICTS_FILE: &str = "conflicts";
const MAGIC: &[u8; 8] = b"plan   1";

/// The largest size of copied contents in bytes, besides the limits of the change set. The copies
/// serve diffs; commit and undo do not need them.
const MAX_COPIED_BYTES: u64 = 64 << 20;

/// The frozen plan of a trial.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HeldPlan {
    pub(crate) plan: ApplyPlan,
    /// Renamed files: former and new path. They are stored because the files that were compared to
    /// find them may be gone later.
    pub(crate) renamed: Vec<(Vec<u8>, Vec<u8>)>,
}

wire!(HeldPlan { plan, renamed });

impl HeldPlan {
    /// Writes the plan. A later commit is limited to the files of the plan.
    pub(crate) fn write(&self, set: &ChangeSet) -> io::Result<()> {
        let mut bytes = MAGIC.to_vec();
        self.put(&mut bytes);
        // A file that a crash has truncated counts as missing.
        set.dir.create_new(FILE_NAME)?.write_all(&bytes)
    }

    /// Reads the plan; `None` if it does not exist.
    pub(crate) fn read(set: &ChangeSet) -> Result<Option<Self>, ChangesError> {
        let path = || set.dir().join(FILE_NAME);
        let mut bytes = Vec::new();
        match set.dir.read(FILE_NAME) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened
                .and_then(|mut file| file.read_to_end(&mut bytes))
                .map_err(ChangesError::io("reading", path()))?,
        };
        Ok(bytes
            .strip_prefix(MAGIC)
            .and_then(|mut rest| Self::get(&mut rest)))
    }

    /// True if the trial changed no file, apart from times.
    pub(crate) fn changes_no_file(&self) -> bool {
        self.plan.changes_only_times()
    }

    /// True if the change set has a held plan.
    pub(crate) fn exists(set: &ChangeSet) -> bool {
        set.dir.has(FILE_NAME)
    }

    /// Returns all changed paths.
    pub(crate) fn paths(&self) -> BTreeSet<PathBuf> {
        let ops = self.plan.ops.iter().map(PlannedOp::path);
        let attributed = self.plan.attributions.iter().map(Attribution::path);
        ops.chain(attributed).map(Path::to_owned).collect()
    }

    /// Stores preimages of the files that the trial changes or deletes; changed files come first.
    /// Files larger than `max_file_bytes`, and files beyond [`MAX_COPIED_BYTES`] in total, are
    /// skipped.
    pub(crate) fn store_preimages(
        &self,
        set: &ChangeSet,
        max_file_bytes: u64,
    ) -> Result<(), ChangesError> {
        let has_content = |op: &&PlannedOp| {
            let is_link = |stat: FileStat| stat.kind() == rustix::fs::FileType::Symlink;
            op.current
                .is_some_and(|stat| stat.is_file() || is_link(stat))
        };
        let ops_with = |act| self.plan.ops.iter().filter(move |op| op.act == act);
        let mut ops = ops_with(SlotRename::Swap)
            .chain(ops_with(SlotRename::Take))
            .filter(has_content)
            .peekable();
        if ops.peek().is_none() {
            return Ok(());
        }
        let made = set.dir.make_dir(LINKS_DIR);
        made.map_err(ChangesError::io("making", set.dir().join(LINKS_DIR)))?;
        let mut recorder = Recorder::of_trial(set, max_file_bytes, MAX_COPIED_BYTES)?;
        for op in ops {
            recorder.store_preimage(op.path())?;
        }
        Ok(())
    }
}

/// Compares a trial with the current tree: all of its files, or only those of `held_plan`. New
/// slots are numbered from `first_slot`.
pub(crate) fn compare_with_tree(
    set: &ChangeSet,
    first_slot: u64,
    precautions: Precautions,
    held_plan: Option<&HeldPlan>,
) -> Result<UpperScan, ChangesError> {
    let mut lower = RootedDir::open_same(&set.root(), set.meta.identity)?;
    let mut slots = RootedDir::open(set.dir())?;
    let modes = Modes::read(&set.dir).map_err(ChangesError::io("reading", set.dir()))?;
    let only = held_plan.map(HeldPlan::paths);
    let mut scan = scan_upper(
        &mut lower, &mut slots, set.mark, first_slot, precautions, modes, only,
    )?;
    let conflicts = conflicts(set).map_err(ChangesError::io("reading", set.dir()))?;
    scan.conflicts.extend(conflicts);
    scan.conflicts.sort();
    scan.conflicts.dedup();
    Ok(scan)
}

/// Returns the paths that other processes have changed before the mark: conflicts of a commit that
/// was rolled back.
fn conflicts(set: &ChangeSet) -> io::Result<Vec<Vec<u8>>> {
    let mut bytes = Vec::new();
    match set.dir.read(CONFLICTS_FILE) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened?.read_to_end(&mut bytes)?,
    };
    Ok(Vec::get(&mut &bytes[..]).unwrap_or_default())
}

/// Adds paths that remain conflicts of this trial.
pub(crate) fn add_conflicts(set: &ChangeSet, mut paths: Vec<Vec<u8>>) -> io::Result<()> {
    if paths.is_empty() {
        return Ok(());
    }
    paths.extend(conflicts(set)?);
    let mut bytes = Vec::new();
    paths.put(&mut bytes);
    set.dir.replace(CONFLICTS_FILE, &bytes)
}

/// Removes the preimages. After a commit or a discard, the contents are in the tree or in the
/// slots.
pub(crate) fn drop_contents(dir: &PrivateDir) -> io::Result<()> {
    dir.remove(INDEX_FILE)?;
    dir.remove(CONTENTS_FILE)?;
    remove_tree(&dir.path().join(LINKS_DIR))
}
