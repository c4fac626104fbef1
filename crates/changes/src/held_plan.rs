//! The plan of a trial, frozen when the trial ends: operations, renames, and preimages. Later
//! changes of the tree do not affect it.
//!
//! Preimages are stored like those of a trace, but never as links: the tree must not be touched,
//! and other processes may write to a linked file. The plan remains with a discarded change set,
//! which can then list what it held.

use crate::codec::{Wire, get_all, put_all};
use crate::error::ChangesError;
use crate::file_stat::FileStat;
use crate::modes::Modes;
use crate::plan::{ApplyPlan, Attribution, PlannedOp, SlotRename};
use crate::recorder::{CONTENTS_FILE, INDEX_FILE, Recorder};
use crate::rooted_dir::RootedDir;
use crate::set::{ChangeSet, LINKS_DIR};
use crate::steps::Precautions;
use crate::upper::{UpperScan, scan};
use agent_bash_os::{PrivateDir, remove_tree};
use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The file name in the change set's directory.
const FILE_NAME: &str = "photo";
const MAGIC: &[u8; 8] = b"photo  1";

/// The largest size of copied contents in bytes, besides the limits of the change set. The copies
/// serve diffs; commit and undo do not need them.
const MAX_COPIED_BYTES: u64 = 64 << 20;

/// The frozen plan of a trial.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HeldPlan {
    pub(crate) plan: ApplyPlan,
    /// Renamed files: former and new path. The information from which they were inferred may be
    /// lost later.
    pub(crate) renamed: Vec<(Vec<u8>, Vec<u8>)>,
}

impl HeldPlan {
    /// Writes the plan. A later commit is limited to its files.
    pub(crate) fn keep(&self, set: &ChangeSet) -> io::Result<()> {
        let mut bytes = MAGIC.to_vec();
        self.plan.put(&mut bytes);
        put_all(&self.renamed, &mut bytes);
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
        Ok(parse(&bytes))
    }

    /// True if the trial changed no file, apart from times.
    pub(crate) fn is_of_nothing(&self) -> bool {
        self.plan.is_soft()
    }

    /// True if the change set has a held plan.
    pub(crate) fn is_of(set: &ChangeSet) -> bool {
        set.dir.has(FILE_NAME)
    }

    /// Returns all changed paths.
    pub(crate) fn paths(&self) -> BTreeSet<PathBuf> {
        let ops = self.plan.ops.iter().map(PlannedOp::path);
        let looks = self.plan.attributions.iter().map(Attribution::path);
        ops.chain(looks).map(Path::to_owned).collect()
    }

    /// Stores preimages of the files that the trial changes or deletes; changed files come first.
    /// Files beyond the limit are skipped.
    pub(crate) fn keep_contents(&self, set: &ChangeSet, largest: u64) -> Result<(), ChangesError> {
        let has_content = |op: &&PlannedOp| {
            let is_link = |seen: FileStat| seen.kind() == rustix::fs::FileType::Symlink;
            op.current
                .is_some_and(|seen| seen.is_file() || is_link(seen))
        };
        let of = |act| self.plan.ops.iter().filter(move |op| op.act == act);
        let mut ops = of(SlotRename::Swap)
            .chain(of(SlotRename::Take))
            .filter(has_content)
            .peekable();
        if ops.peek().is_none() {
            return Ok(());
        }
        let made = set.dir.make_dir(LINKS_DIR);
        made.map_err(ChangesError::io("making", set.dir().join(LINKS_DIR)))?;
        let mut recorder = Recorder::of_trial(set, largest, MAX_COPIED_BYTES)?;
        for op in ops {
            recorder.keep(op.path())?;
        }
        Ok(())
    }
}

fn parse(bytes: &[u8]) -> Option<HeldPlan> {
    let from = &mut bytes.strip_prefix(MAGIC)?;
    let plan = ApplyPlan::get(from)?;
    let renamed = get_all(from)?;
    Some(HeldPlan { plan, renamed })
}

/// Compares a trial with the current tree: completely, or by its held plan.
pub(crate) fn compared(
    set: &ChangeSet,
    first: u64,
    care: Precautions,
    photo: Option<&HeldPlan>,
) -> Result<UpperScan, ChangesError> {
    let mut lower = RootedDir::open_same(&set.root(), set.meta.identity)?;
    let mut slots = RootedDir::open(set.dir())?;
    let modes = Modes::read(&set.dir).map_err(ChangesError::io("reading", set.dir()))?;
    let only = photo.map(HeldPlan::paths);
    scan(&mut lower, &mut slots, set.mark, first, care, modes, only)
}

/// Removes the preimages. After a commit or a discard, the contents are in the tree or in the
/// slots.
pub(crate) fn drop_contents(dir: &PrivateDir) -> io::Result<()> {
    dir.remove(INDEX_FILE)?;
    dir.remove(CONTENTS_FILE)?;
    remove_tree(&dir.path().join(LINKS_DIR))
}
