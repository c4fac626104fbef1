//! Finds and lists change sets.

use crate::diff::listing::{self, plan_of};
use crate::error::ChangesError;
use crate::plan::journal;
use crate::sources::preimages;
use crate::store::Store;
use crate::store::meta::SetKind;
use crate::store::numbers::numbers;
use crate::store::set::{ChangeSet, LOCK_FILE, SetState};
use crate::store::turn_marks::Turns;
use crate::undo::group::{timestamp, turn_time};
use agent_bash_core::Timestamp;
use agent_bash_core::changes::{Changes, ChangesId, FileChange, FileName};
use agent_bash_os::PrivateDir;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A change set in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedChanges {
    /// The changes.
    pub changes: Changes,
    /// When its call began.
    pub begun: Timestamp,
    /// The change set that it undid.
    pub undoes: Option<ChangesId>,
    /// The change set that it redid.
    pub redoes: Option<ChangesId>,
    /// For changes of background processes: the change set of the call that started them.
    pub after: Option<ChangesId>,
    /// True if an earlier call of the same shell may have started the processes instead.
    pub maybe_earlier: bool,
    /// The turn of its call, if turns are recorded.
    pub turn_name: Option<String>,
    /// When a trial was committed or discarded.
    pub decided: Option<Timestamp>,
}

impl Store {
    /// Returns a change set with its first files.
    ///
    /// # Errors
    /// The change set does not exist, or cannot be read.
    pub fn show(&self, session: &str, id: ChangesId) -> Result<Changes, ChangesError> {
        let (changes, _) = self.show_all(session, id)?;
        Ok(changes)
    }

    /// Returns a change set, and all of its files. [`Changes::files`] has only the first files.
    ///
    /// # Errors
    /// See [`Store::show`].
    pub fn show_all(
        &self,
        session: &str,
        id: ChangesId,
    ) -> Result<(Changes, Vec<FileChange>), ChangesError> {
        let set = self.read(session, id)?;
        let (mut changes, files) = listing::describe_all(self, &set)?;
        changes.command = set.command();
        Ok((changes, files))
    }

    /// Returns the directory with the changed files of a held trial.
    ///
    /// # Errors
    /// See [`Store::show`].
    pub fn held_directory(&self, session: &str, id: ChangesId) -> Result<PathBuf, ChangesError> {
        Ok(self.read(session, id)?.upper())
    }

    /// Returns all files of a change set.
    ///
    /// # Errors
    /// See [`Store::show`].
    pub fn files(&self, session: &str, id: ChangesId) -> Result<Vec<FileChange>, ChangesError> {
        let (_, files) = self.show_all(session, id)?;
        Ok(files)
    }

    /// Returns all change sets of a session in order. Unreadable change sets are skipped.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn list(&self, session: &str) -> Result<Vec<ListedChanges>, ChangesError> {
        self.listed(session, ChangesId(0), |_| true)
    }

    /// Returns the change sets from the number `from` on that `is_wanted` selects, in order.
    fn listed(
        &self,
        session: &str,
        from: ChangesId,
        is_wanted: impl Fn(&ChangeSet) -> bool,
    ) -> Result<Vec<ListedChanges>, ChangesError> {
        let Some(directory) = self.existing_session(session)? else {
            return Ok(Vec::new());
        };
        let mut listed = Vec::new();
        let turns = Turns::read(&directory).unwrap_or_default();
        let mut begun = BTreeMap::new();
        let numbers = numbers(&directory)?.into_iter();
        for number in numbers.filter(|number| *number >= from.0) {
            let Ok(Some(set)) = self.look_up(&directory, ChangesId(number)) else {
                continue;
            };
            begun.insert(number, set.begun());
            if is_wanted(&set)
                && let Ok(mut changes) = listing::describe(self, &set)
            {
                changes.command = set.command();
                let (undoes, redoes) = set.meta.kind.undoes_and_redoes();
                let (after, maybe_earlier) = match set.meta.kind {
                    SetKind::Background {
                        after,
                        maybe_earlier,
                    } => (after.map(ChangesId), maybe_earlier),
                    _ => (None, false),
                };
                let turn = turns.turn_at(turn_time(set.meta.kind, set.begun(), &begun));
                listed.push(ListedChanges {
                    changes,
                    begun: timestamp(set.begun()),
                    turn_name: turn.map(str::to_owned),
                    undoes,
                    redoes,
                    after,
                    maybe_earlier,
                    decided: decided(&set),
                });
            }
        }
        Ok(listed)
    }

    /// Returns the change sets of background processes that these calls started, in order. Of other
    /// change sets, only the descriptions are read.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn after(
        &self,
        session: &str,
        calls: &[ChangesId],
    ) -> Result<Vec<ListedChanges>, ChangesError> {
        let Some(first) = calls.iter().min() else {
            return Ok(Vec::new());
        };
        let is_after = |kind| matches!(kind, SetKind::Background { after: Some(call), .. } if calls.contains(&ChangesId(call)));
        self.listed(session, *first, |set| is_after(set.meta.kind))
    }

    /// Returns the sessions with change sets of this directory, of a parent, or of a subdirectory.
    /// The session with the newest change set comes first. Only descriptions are read.
    ///
    /// # Errors
    /// The store's directory cannot be read.
    pub fn sessions_of(&self, directory: &Path) -> Result<Vec<String>, ChangesError> {
        let mut found = Vec::new();
        for session in self.sessions()? {
            let Ok(sets) = PrivateDir::open(&self.path, &[&session]) else {
                continue;
            };
            let newest_first = numbers(&sets)?.into_iter().rev();
            let newest = newest_first
                .filter_map(|number| ChangeSet::read(&sets, ChangesId(number)).ok().flatten())
                .find(|set| {
                    let root = set.root();
                    directory.starts_with(&root) || root.starts_with(directory)
                });
            found.extend(newest.map(|set| (set.begun(), session)));
        }
        found.sort_by(|a, b| b.cmp(a));
        Ok(found.into_iter().map(|(_, session)| session).collect())
    }

    /// Reads a change set. Unlike [`Store::session`], never creates the session's directory.
    pub(crate) fn read(&self, session: &str, id: ChangesId) -> Result<ChangeSet, ChangesError> {
        let unknown = ChangesError::Unknown { id };
        match self.existing_session(session)? {
            Some(directory) => self.look_up(&directory, id)?.ok_or(unknown),
            None => Err(unknown),
        }
    }

    /// Returns the files without a preimage, which an undo skips.
    ///
    /// # Errors
    /// The change set does not exist, or cannot be read.
    pub fn not_restorable(
        &self,
        session: &str,
        id: ChangesId,
    ) -> Result<Vec<FileName>, ChangesError> {
        let set = self.read(session, id)?;
        if !matches!(set.meta.kind, SetKind::Trace | SetKind::Background { .. })
            || !preimages::stores_preimages(&set)
        {
            return Ok(Vec::new());
        }
        let skipped = plan_of(self, &set)?.skipped;
        Ok(skipped
            .iter()
            .map(|path| FileName::new(OsStr::from_bytes(path)))
            .collect())
    }
}

/// Returns when a trial was committed or discarded.
fn decided(set: &ChangeSet) -> Option<Timestamp> {
    let file = match (set.meta.kind, set.state) {
        (SetKind::Trial, SetState::Done | SetState::Undone) => journal::FILE_NAME,
        (SetKind::Trial, SetState::Discarded) => LOCK_FILE,
        _ => return None,
    };
    let metadata = set.dir.metadata(file).ok()?;
    metadata.modified().ok().map(Timestamp::from)
}
