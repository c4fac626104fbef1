//! Finds the later change set that produced the current state of a file.

use crate::error::ChangesError;
use crate::files::file_stat::FileStat;
use crate::files::git_index;
use crate::files::rooted_dir::RootedDir;
use crate::plan::{ApplyPlan, SlotRename};
use crate::store::Store;
use crate::store::numbers::numbers;
use crate::store::set::ChangeSet;
use agent_bash_core::changes::{ChangesId, FileName};
use agent_bash_os::PrivateDir;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The later change set that produced the current state of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaterChanger {
    /// The number of the change set.
    pub id: ChangesId,
    /// The command that made the changes.
    pub command: Option<String>,
    /// The change set that it undid.
    pub undoes: Option<ChangesId>,
    /// The change set that it redid.
    pub redoes: Option<ChangesId>,
}

impl Store {
    /// Returns, for each file, the later change set that produced the file's current state. `None`
    /// if another process changed the file.
    ///
    /// # Errors
    /// The change set does not exist, or its directory was removed.
    pub fn changed_by(
        &self,
        session: &str,
        id: ChangesId,
        files: &[FileName],
    ) -> Result<Vec<Option<LaterChanger>>, ChangesError> {
        let subject = self.read(session, id)?;
        let mut tree = RootedDir::open_same(&subject.root(), subject.meta.identity)?;
        let directory = PrivateDir::open(&self.path, &[session])
            .map_err(ChangesError::io("opening", self.path.join(session)))?;
        let mut paths = Vec::new();
        for file in files {
            let bytes = file.bytes().unwrap_or_default();
            let now = CurrentState::of(&mut tree, Path::new(OsStr::from_bytes(&bytes)));
            paths.push((bytes, now));
        }
        let mut found: Vec<Option<LaterChanger>> = vec![None; files.len()];
        // The last change set that touched the file decides.
        let mut undecided: Vec<usize> = (0..files.len()).collect();
        let later = numbers(&directory)?.into_iter().rev();
        for number in later.take_while(|number| *number > id.0) {
            if undecided.is_empty() {
                break;
            }
            let Ok(Some(set)) = ChangeSet::read(&directory, ChangesId(number)) else {
                continue;
            };
            if set.meta.identity != subject.meta.identity {
                continue;
            }
            let Ok(Some(journal)) = set.applied_journal() else {
                continue;
            };
            undecided.retain(|index| {
                let (path, now) = &paths[*index];
                match produced_current(&journal.plan, path, now) {
                    None => true,
                    Some(produced) => {
                        found[*index] = produced.then(|| changer(&set));
                        false
                    }
                }
            });
        }
        Ok(found)
    }
}

/// The current state of a file.
struct CurrentState {
    stat: Option<FileStat>,
    /// Digest of the entries of a git index. `git status` rewrites the file without changing the
    /// entries.
    digest: Option<u64>,
}

impl CurrentState {
    fn of(tree: &mut RootedDir, path: &Path) -> Self {
        let file = Some(path).filter(|path| git_index::is_index(path));
        let file = file.and_then(|path| tree.file(path).ok());
        Self {
            stat: tree.stat(path).ok().flatten(),
            digest: file.and_then(git_index::entries_digest),
        }
    }
}

/// True if the plan produced the current state of the file. `None` if the plan does not contain the
/// file.
fn produced_current(plan: &ApplyPlan, path: &[u8], now: &CurrentState) -> Option<bool> {
    let ops = plan.ops.iter().filter(|op| op.path == path);
    // A replaced path has two operations.
    let op = ops.max_by_key(|op| op.act != SlotRename::Take);
    if let Some(op) = op {
        return Some(match (op.act, op.in_slot, now.stat) {
            (SlotRename::Take, _, now) => now.is_none(),
            (_, Some(created), Some(current)) => {
                created.has_content_of(&current)
                    || (now.digest.is_some() && now.digest == op.slot_digest)
            }
            _ => false,
        });
    }
    let mut attributions = plan.attributions.iter().filter(|it| it.path == path);
    // The times of a directory change with its entries.
    attributions
        .any(|it| !it.changes_only_times() || now.stat.is_some_and(|now| now.is_dir()))
        .then_some(now.stat.is_some())
}

fn changer(set: &ChangeSet) -> LaterChanger {
    let (undoes, redoes) = set.meta.kind.undoes_and_redoes();
    LaterChanger {
        id: set.id,
        command: set.command(),
        undoes,
        redoes,
    }
}
