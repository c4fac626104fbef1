//! What a trial did, as it was when it ended: the plan, which files it renamed, and what was in those that it changed. So what is shown of
//! it does not move when the tree is changed afterwards.
//!
//! Contents are kept as a trace keeps them, but for links: nothing of the tree is touched, and others may write into a linked file. The
//! plan stays with a set that was discarded, which then tells what it had held.

use crate::codec::{Wire, get_all, put_all};
use crate::error::ChangesError;
use crate::file_stat::FileStat;
use crate::modes::Modes;
use crate::plan::{Act, Attribution, Op, Plan};
use crate::recorder::{INDEX, PACK, Recorder};
use crate::rooted_dir::RootedDir;
use crate::set::{ChangeSet, LINKS};
use crate::steps::Care;
use crate::upper::{Scan, scan};
use agent_bash_os::{PrivateDir, remove_tree};
use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Its file in the set's directory. Sets of older versions have none: they are compared with the tree as it is.
const FILE: &str = "photo";
const MAGIC: &[u8; 8] = b"photo  1";

/// Bytes of contents that are copied at most, besides the limits of the set: they are for a diff, and not needed to commit or to take back.
const COPIED: u64 = 64 << 20;

/// What a trial did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HeldPlan {
    pub(crate) plan: Plan,
    /// Where files came from, and where they are: what this is concluded from may be gone later.
    pub(crate) renamed: Vec<(Vec<u8>, Vec<u8>)>,
}

impl HeldPlan {
    /// Writes it down. With it, a commit is of these files only.
    pub(crate) fn keep(&self, set: &ChangeSet) -> io::Result<()> {
        let mut bytes = MAGIC.to_vec();
        self.plan.put(&mut bytes);
        put_all(&self.renamed, &mut bytes);
        // One that a crash cuts off is none.
        set.dir.create_new(FILE)?.write_all(&bytes)
    }

    /// `None` if there is none.
    pub(crate) fn read(set: &ChangeSet) -> Result<Option<Self>, ChangesError> {
        let path = || set.dir().join(FILE);
        let mut bytes = Vec::new();
        match set.dir.read(FILE) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened
                .and_then(|mut file| file.read_to_end(&mut bytes))
                .map_err(ChangesError::io("reading", path()))?,
        };
        Ok(parse(&bytes))
    }

    /// Whether it has changed no file: nothing but times, if anything.
    pub(crate) fn is_of_nothing(&self) -> bool {
        self.plan.is_soft()
    }

    /// Whether there is one.
    pub(crate) fn is_of(set: &ChangeSet) -> bool {
        set.dir.has(FILE)
    }

    /// All that the trial did something to.
    pub(crate) fn paths(&self) -> BTreeSet<PathBuf> {
        let ops = self.plan.ops.iter().map(Op::path);
        let looks = self.plan.attributions.iter().map(Attribution::path);
        ops.chain(looks).map(Path::to_owned).collect()
    }

    /// Keeps what is in the files that it changes or deletes. What does not fit is not kept, the changed ones first.
    pub(crate) fn keep_contents(&self, set: &ChangeSet, largest: u64) -> Result<(), ChangesError> {
        let has_content = |op: &&Op| {
            let is_link = |seen: FileStat| seen.kind() == rustix::fs::FileType::Symlink;
            op.here.is_some_and(|seen| seen.is_file() || is_link(seen))
        };
        let of = |act| self.plan.ops.iter().filter(move |op| op.act == act);
        let mut ops = of(Act::Swap)
            .chain(of(Act::Take))
            .filter(has_content)
            .peekable();
        if ops.peek().is_none() {
            return Ok(());
        }
        let made = set.dir.make_dir(LINKS);
        made.map_err(ChangesError::io("making", set.dir().join(LINKS)))?;
        let mut recorder = Recorder::of_trial(set, largest, COPIED)?;
        for op in ops {
            recorder.keep(op.path())?;
        }
        Ok(())
    }
}

fn parse(bytes: &[u8]) -> Option<HeldPlan> {
    let from = &mut bytes.strip_prefix(MAGIC)?;
    let plan = Plan::get(from)?;
    let renamed = get_all(from)?;
    Some(HeldPlan { plan, renamed })
}

/// Compares a trial with the tree as it is now: all of it, or what it did by its photo.
pub(crate) fn compared(
    set: &ChangeSet,
    first: u64,
    care: Care,
    photo: Option<&HeldPlan>,
) -> Result<Scan, ChangesError> {
    let mut lower = RootedDir::open_same(&set.root(), set.meta.identity)?;
    let mut slots = RootedDir::open(set.dir())?;
    let modes = Modes::read(&set.dir).map_err(ChangesError::io("reading", set.dir()))?;
    let only = photo.map(HeldPlan::paths);
    scan(&mut lower, &mut slots, set.mark, first, care, modes, only)
}

/// Removes the contents that were kept: the trial was committed or discarded, and has them in the tree or in its slots.
pub(crate) fn drop_contents(dir: &PrivateDir) -> io::Result<()> {
    dir.remove(INDEX)?;
    dir.remove(PACK)?;
    remove_tree(&dir.path().join(LINKS))
}
