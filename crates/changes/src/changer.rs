//! Who has changed a file since: which of the later sets of a session has left it as it is now.

use crate::error::ChangesError;
use crate::file_stat::FileStat;
use crate::git_index;
use crate::numbers::numbers;
use crate::plan::{Act, Plan};
use crate::rooted_dir::RootedDir;
use crate::set::ChangeSet;
use crate::store::Store;
use agent_bash_core::changes::{ChangesId, FileName};
use agent_bash_os::PrivateDir;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A set after another, by which a file is what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changer {
    /// Its number.
    pub id: ChangesId,
    /// The command that it is of.
    pub command: Option<String>,
    /// The set that it took back.
    pub undoes: Option<ChangesId>,
    /// The set that it did again.
    pub redoes: Option<ChangesId>,
}

impl Store {
    /// Which later set of the session has made each of these files what it is now. `None` where none has: whoever else it was is not
    /// known.
    ///
    /// # Errors
    /// There is no such set, or its directory is gone.
    pub fn changed_by(
        &self,
        session: &str,
        id: ChangesId,
        files: &[FileName],
    ) -> Result<Vec<Option<Changer>>, ChangesError> {
        let own = self.read(session, id)?;
        let mut tree = RootedDir::open_same(&own.root(), own.meta.identity)?;
        let directory = PrivateDir::open(&self.path, &[session])
            .map_err(ChangesError::io("opening", self.path.join(session)))?;
        let mut paths = Vec::new();
        for file in files {
            let bytes = file.bytes().unwrap_or_default();
            let now = Now::of(&mut tree, Path::new(OsStr::from_bytes(&bytes)));
            paths.push((bytes, now));
        }
        let mut found: Vec<Option<Changer>> = vec![None; files.len()];
        // The last that has touched it decides.
        let mut open: Vec<usize> = (0..files.len()).collect();
        let later = numbers(&directory)?.into_iter().rev();
        for number in later.take_while(|number| *number > id.0) {
            if open.is_empty() {
                break;
            }
            let Ok(Some(set)) = ChangeSet::read(&directory, ChangesId(number)) else {
                continue;
            };
            if set.meta.identity != own.meta.identity {
                continue;
            }
            let Ok(Some(journal)) = set.done() else {
                continue;
            };
            open.retain(|at| {
                let (path, now) = &paths[*at];
                match produced_current(&journal.plan, path, now) {
                    None => true,
                    Some(is_it) => {
                        found[*at] = is_it.then(|| changer(&set));
                        false
                    }
                }
            });
        }
        Ok(found)
    }
}

/// A file as it is now.
struct Now {
    seen: Option<FileStat>,
    /// Of an index of git what it says: whoever looks at the state of a repository writes it anew, and has changed nothing.
    means: Option<u64>,
}

impl Now {
    fn of(tree: &mut RootedDir, path: &Path) -> Self {
        let file = Some(path).filter(|path| git_index::is_index(path));
        let file = file.and_then(|path| tree.file(path).ok());
        Self {
            seen: tree.stat(path).ok().flatten(),
            means: file.and_then(git_index::meaning),
        }
    }
}

/// Whether a plan has left that file as it is now; `None` if it is none of its files.
fn produced_current(plan: &Plan, path: &[u8], now: &Now) -> Option<bool> {
    let ops = plan.ops.iter().filter(|op| op.path == path);
    // A path that goes and comes has two.
    let op = ops.max_by_key(|op| op.act != Act::Take);
    if let Some(op) = op {
        return Some(match (op.act, op.there, now.seen) {
            (Act::Take, _, now) => now.is_none(),
            (_, Some(there), Some(seen)) => {
                there.has_content_of(&seen) || (now.means.is_some() && now.means == op.slot_means)
            }
            _ => false,
        });
    }
    let mut looks = plan.attributions.iter().filter(|it| it.path == path);
    // A directory's times change with its entries.
    looks
        .any(|it| !it.is_soft() || now.seen.is_some_and(|now| now.is_dir()))
        .then_some(now.seen.is_some())
}

fn changer(set: &ChangeSet) -> Changer {
    let (undoes, redoes) = set.meta.kind.turned();
    Changer {
        id: set.id,
        command: set.command(),
        undoes,
        redoes,
    }
}
