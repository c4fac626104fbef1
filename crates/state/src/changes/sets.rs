//! Lists, shows, commits, discards, undoes and redoes the change sets of a conversation, and writes
//! the texts about the results. All surfaces use this module.

use super::ChangeStore;
use super::group_refused::GroupRefused;
use crate::blocking::run_blocking;
use agent_bash_changes::{ChangesError, FileDiff, LaterChanger, ListedChanges, Preview, Store};
use agent_bash_core::changes::{
    Change, Changes, ChangesAct, ChangesBy, ChangesId, ChangesLevel, ChangesState, FileChange,
    FileName, applied_text, changed_by_text, changed_too_text, conflict_text, discarded_text,
    not_redone_text, not_undone_text, protected_text, redone_text, undone_text,
};
use agent_bash_core::visible::one_line;
use agent_bash_settings::ChangesSettings;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Maximum number of files that a refusal names.
const MAX_NAMED_FILES: usize = 20;

/// The change sets of a conversation. Cheap to clone. The methods block, because they read or
/// change files; an async caller uses [`Self::run_blocking`].
#[derive(Debug, Clone)]
pub struct ChangeSets {
    store: Arc<ChangeStore>,
    /// The conversation's directory. Relative paths start from it if it is below the root of the
    /// change set.
    cwd: PathBuf,
}

/// A finished commit, discard, undo or redo.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangesDone {
    /// The change set. An undo or a redo is a change set of its own, which can be undone, too.
    pub changes: Changes,
    /// A line about the result, and a line for each file that was skipped.
    pub text: String,
}

/// Why an action on a change set failed. The error's text is for the user and for models.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangesRefused {
    /// There is no state directory for change sets, or the store or a thread cannot be started.
    #[error("{0}")]
    NoStateDir(String),
    /// Files of the change set were changed since.
    #[error("{}", .0.text())]
    Conflict(ChangesConflict),
    /// Several change sets cannot be undone or redone together.
    #[error("{0}")]
    Group(GroupRefused),
    /// The change set cannot be read, or its state does not allow the action.
    #[error(transparent)]
    Set(ChangesError),
    /// The caller may not commit.
    #[error("{0}")]
    NotAllowed(String),
}

/// The conflict of an action that changed nothing: files that were changed later.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangesConflict {
    /// The action.
    pub act: ChangesAct,
    /// The change set.
    pub id: ChangesId,
    /// The files.
    pub conflicts: Vec<FileName>,
    /// The number of files without a conflict.
    pub without_conflict: u64,
    /// For each file of `conflicts`: the command that changed the file, if this state directory has
    /// a record of the command.
    pub by: Vec<Option<String>>,
}

impl ChangesConflict {
    /// The error's text for the user. It names the commands that changed the files. The text for a
    /// model is the error's `Display`.
    pub fn user_text(&self) -> String {
        let command = |index: usize| self.by.get(index).and_then(Option::as_deref);
        let none = FileName::new("");
        let (first, others) = self.conflicts.split_first().unwrap_or((&none, &[]));
        let id = self.id;
        let first = match (self.act, command(0)) {
            (ChangesAct::Commit | ChangesAct::Discard, Some(command)) => format!(
                "[Trial {id} not applied: {}]",
                changed_by_text(first, command)
            ),
            _ => self.first_line(first),
        };
        let mut lines = vec![first];
        for (index, file) in (1..).zip(others.iter().take(MAX_NAMED_FILES)) {
            lines.push(changed_too_text(file, command(index)));
        }
        if let more @ 1.. = others.len().saturating_sub(MAX_NAMED_FILES) {
            lines.push(format!("changed, too: {more} more"));
        }
        lines.join("\n")
    }

    /// Returns the line about the action and the first file in conflict.
    fn first_line(&self, first: &FileName) -> String {
        match self.act {
            ChangesAct::Commit | ChangesAct::Discard => conflict_text(self.id, first),
            ChangesAct::Undo => not_undone_text(first, self.without_conflict),
            ChangesAct::Redo => not_redone_text(first),
        }
    }

    /// Returns the error's text for a model.
    fn text(&self) -> String {
        let none = FileName::new("");
        let (first, others) = self.conflicts.split_first().unwrap_or((&none, &[]));
        let line = self.first_line(first);
        format!("{line}{}", LabelledFiles("changed, too", others))
    }
}

/// Displays files, each on a line after the label.
pub(super) struct LabelledFiles<'a>(pub(super) &'static str, pub(super) &'a [FileName]);

impl fmt::Display for LabelledFiles<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(label, files) = self;
        for file in files.iter().take(MAX_NAMED_FILES) {
            write!(f, "\n{label}: {}", one_line(&file.path))?;
        }
        match files.len().saturating_sub(MAX_NAMED_FILES) {
            0 => Ok(()),
            more => write!(f, "\n{label}: {more} more"),
        }
    }
}

/// Returns the command that made a later change, or the name of the undo or redo.
fn changer_text(changer: LaterChanger) -> Option<String> {
    match (changer.undoes, changer.redoes) {
        (Some(id), _) => Some(format!("the undo of changes {id}")),
        (_, Some(id)) => Some(format!("the redo of changes {id}")),
        _ => changer.command,
    }
}

impl ChangeSets {
    /// Returns the change sets in `store`, of a conversation in the directory `cwd`.
    pub fn new(store: Arc<ChangeStore>, cwd: PathBuf) -> Self {
        Self { store, cwd }
    }

    /// Returns the change sets of the conversation named `session` in a state directory.
    pub fn in_state(state: PathBuf, session: impl Into<String>, cwd: PathBuf) -> Self {
        let location = Some((state, session.into()));
        let store = ChangeStore::new(ChangesSettings::default(), ChangesLevel::Off, location);
        Self::new(Arc::new(store), cwd)
    }

    /// Returns the conversation's name.
    pub fn session(&self) -> &str {
        self.store.session()
    }

    /// Returns the settings in force.
    pub fn settings(&self) -> &ChangesSettings {
        &self.store.settings
    }

    /// Returns the level of recording of ordinary calls.
    pub fn level(&self) -> ChangesLevel {
        self.store.level()
    }

    /// True if calls are recorded, so that a model may list and undo changes.
    pub fn is_recording(&self) -> bool {
        self.store.is_recording()
    }

    /// Returns the change sets, oldest first, without those of calls that changed nothing.
    ///
    /// # Errors
    /// The store cannot be opened or read.
    pub fn list(&self) -> Result<Vec<ListedChanges>, ChangesRefused> {
        let mut sets = self.with_store(None, Store::list)?;
        sets.retain(|set| {
            let changes = &set.changes;
            let is_empty = changes.counts.total() == 0 && changes.outside.is_empty();
            // An empty list can be wrong for a call that was recorded inexactly.
            let is_certain = changes.exact || changes.by == ChangesBy::Scan;
            let is_open_trial =
                changes.by == ChangesBy::Overlay && changes.state != ChangesState::Discarded;
            !is_empty || is_open_trial || !is_certain
        });
        Ok(sets)
    }

    /// Returns the change sets of the background processes of these calls, oldest first. Leaves out
    /// processes that changed no file.
    ///
    /// # Errors
    /// See [`Self::list`].
    pub fn background_of(&self, calls: &[ChangesId]) -> Result<Vec<ListedChanges>, ChangesRefused> {
        let mut sets = self.with_store(None, |store, session| store.after(session, calls))?;
        sets.retain(|set| set.changes.counts.total() > 0);
        Ok(sets)
    }

    /// Returns the names of the other conversations in this state directory that changed files in
    /// the conversation's directory, the most recent first.
    ///
    /// # Errors
    /// As [`Self::list`].
    pub fn other_sessions(&self) -> Result<Vec<String>, ChangesRefused> {
        let cwd = self.canonical_cwd();
        let mut sessions = self.with_store(None, |store, _| store.sessions_of(&cwd))?;
        sessions.retain(|session| session != self.store.session());
        Ok(sessions)
    }

    /// Returns a change set with its first files.
    ///
    /// # Errors
    /// The change set does not exist, or cannot be read.
    pub fn show(&self, id: ChangesId) -> Result<Changes, ChangesRefused> {
        self.with_store(None, |store, session| store.show(session, id))
    }

    /// Returns a change set with all of its files.
    ///
    /// # Errors
    /// As [`Self::show`].
    pub fn show_all(&self, id: ChangesId) -> Result<(Changes, Vec<FileChange>), ChangesRefused> {
        self.with_store(None, |store, session| store.show_all(session, id))
    }

    /// Returns all files of a change set.
    ///
    /// # Errors
    /// As [`Self::show`].
    pub fn files(&self, id: ChangesId) -> Result<Vec<FileChange>, ChangesRefused> {
        let (_, files) = self.show_all(id)?;
        Ok(files)
    }

    /// Returns a change set whose `files` are complete.
    ///
    /// # Errors
    /// As [`Self::show`].
    pub fn show_complete(&self, id: ChangesId) -> Result<Changes, ChangesRefused> {
        let (mut changes, files) = self.show_all(id)?;
        changes.files = files;
        changes.more = 0;
        Ok(changes)
    }

    /// Returns the diffs of a change set at `paths` and below them; of all files if `paths` is
    /// empty. Relative paths start from the conversation's directory if it is below the change
    /// set's root, else from the root.
    ///
    /// # Errors
    /// See [`Self::show`]; the change set has no change at one of the paths.
    pub fn diff(&self, id: ChangesId, paths: &[PathBuf]) -> Result<Vec<FileDiff>, ChangesRefused> {
        let paths = self.below_root(id, paths)?;
        self.with_store(None, |store, session| store.diff(session, id, &paths))
    }

    /// Returns combined diffs of files that several change sets changed in sequence.
    ///
    /// # Errors
    /// See [`Self::show`].
    pub fn diff_together(&self, ids: &[ChangesId]) -> Result<Vec<FileDiff>, ChangesRefused> {
        self.with_store(None, |store, session| store.diffs(session).combined(ids))
    }

    /// Returns the preview of an undo of all changes; if `redo`, of a redo.
    ///
    /// # Errors
    /// See [`Self::show`]; nothing can be undone or redone.
    pub fn preview(&self, id: ChangesId, redo: bool) -> Result<Preview, ChangesRefused> {
        self.with_store(None, |store, session| store.preview(session, id, redo))
    }

    /// Commits a trial for the user. If another process changed one of the files since, commits
    /// nothing.
    ///
    /// # Errors
    /// See [`Self::show`]; [`ChangesRefused::Conflict`]; the trial is not held.
    pub fn commit(&self, id: ChangesId) -> Result<ChangesDone, ChangesRefused> {
        let act = Some(ChangesAct::Commit);
        let changes = self.with_store(act, |store, session| store.commit(session, id))?;
        let text = applied_text(id, &changes.counts) + &self.protected_line(id, &changes);
        Ok(ChangesDone { changes, text })
    }

    /// Returns a line that names the changed files that run or configure other programs; an empty
    /// text without such files.
    pub(super) fn protected_line(&self, id: ChangesId, changes: &Changes) -> String {
        self.line_about(changes, &self.files(id).unwrap_or_default())
    }

    /// Returns the same line for an undo. Files that it removes are not named.
    pub(super) fn protected_line_of_undo(&self, changes: &Changes) -> String {
        let mut files = match changes.more {
            0 => changes.files.clone(),
            _ => self.files(changes.id).unwrap_or_default(),
        };
        files.retain(|file| file.change != Change::Deleted);
        self.line_about(changes, &files)
    }

    fn line_about(&self, changes: &Changes, files: &[FileChange]) -> String {
        let root = Path::new(&changes.root);
        let named = self.store.protected.among(root, root, files);
        let relative = |path: PathBuf| path.strip_prefix(root).map_or(path.clone(), Path::to_owned);
        let named: Vec<PathBuf> = named.into_iter().map(relative).collect();
        protected_text(&named).map_or_else(String::new, |line| format!("\n{line}"))
    }

    /// Returns the refusal of a commit, which tells how the user can commit the trial.
    pub fn not_allowed(&self, id: ChangesId, why: &str) -> ChangesRefused {
        let session = self.store.session();
        ChangesRefused::NotAllowed(format!(
            "Not committed: {why}. The user can commit trial {id} of the conversation {session}, in the interface or with `agent-bash changes`"
        ))
    }

    /// Runs `work`, which may block, on another thread.
    ///
    /// # Errors
    /// The error of `work`, or the thread cannot be started.
    pub async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, ChangesRefused> + Send + 'static,
    ) -> Result<T, ChangesRefused> {
        let sets = self.clone();
        run_blocking(move || work(&sets))
            .await
            .unwrap_or_else(|error| Err(ChangesRefused::NoStateDir(error.to_string())))
    }

    /// Removes the changes that a trial held back.
    ///
    /// # Errors
    /// See [`Self::show`]; the trial is not held.
    pub fn discard(&self, id: ChangesId) -> Result<ChangesDone, ChangesRefused> {
        let act = Some(ChangesAct::Discard);
        let changes = self.with_store(act, |store, session| store.discard(session, id))?;
        let text = discarded_text(id);
        Ok(ChangesDone { changes, text })
    }

    /// Undoes the changes of a change set at `paths` and below them; all changes if `paths` is
    /// empty. Relative paths are resolved as by [`Self::diff`]. With `partial`, skips files that
    /// were changed since.
    ///
    /// # Errors
    /// See [`Self::show`]; [`ChangesRefused::Conflict`]; nothing can be undone.
    pub fn undo(
        &self,
        id: ChangesId,
        paths: &[PathBuf],
        partial: bool,
    ) -> Result<ChangesDone, ChangesRefused> {
        let paths = self.below_root(id, paths)?;
        let act = Some(ChangesAct::Undo);
        let (changes, without_preimage) = self.with_store(act, |store, session| {
            let without_preimage = store.not_restorable(session, id)?;
            Ok((store.undo(session, id, &paths, partial)?, without_preimage))
        })?;
        let line = undone_text(id, changes.counts.total());
        let left = LabelledFiles("left as it is, as it was changed since", &changes.conflicts);
        let lost = LabelledFiles(
            "left as it is, as its former content was not kept",
            &without_preimage,
        );
        let protected = self.protected_line_of_undo(&changes);
        let text = format!("{line}{left}{lost}{protected}");
        Ok(ChangesDone { changes, text })
    }

    /// Applies the reverted changes of a change set again.
    ///
    /// # Errors
    /// See [`Self::undo`].
    pub fn redo(&self, id: ChangesId) -> Result<ChangesDone, ChangesRefused> {
        let act = Some(ChangesAct::Redo);
        let changes = self.with_store(act, |store, session| store.redo(session, id))?;
        let text = redone_text(id, changes.counts.total()) + &self.protected_line(id, &changes);
        Ok(ChangesDone { changes, text })
    }

    /// Returns for each of these files the later command, undo or redo that changed the file.
    /// `None` if another process changed the file, or the command is unknown.
    pub fn changed_by(&self, id: ChangesId, files: &[FileName]) -> Vec<Option<String>> {
        if files.is_empty() {
            return Vec::new();
        }
        let found = self.with_store(None, |store, session| store.changed_by(session, id, files));
        let found = found.unwrap_or_default().into_iter();
        found
            .map(|changer| changer.and_then(changer_text))
            .collect()
    }

    /// Runs `work` with the store and the conversation's name. If `act` is given, a conflict is
    /// reported with the commands that changed the files.
    pub(super) fn with_store<T>(
        &self,
        act: Option<ChangesAct>,
        work: impl FnOnce(&Store, &str) -> Result<T, ChangesError>,
    ) -> Result<T, ChangesRefused> {
        let store = self.store.store().map_err(ChangesRefused::NoStateDir)?;
        work(&store, self.store.session()).map_err(|error| match (act, error) {
            (
                Some(act),
                ChangesError::Conflict {
                    id,
                    conflicts,
                    without_conflict,
                },
            ) => {
                let by = self.changed_by(id, &conflicts);
                ChangesRefused::Conflict(ChangesConflict {
                    act,
                    id,
                    conflicts,
                    without_conflict,
                    by,
                })
            }
            (_, ChangesError::Group { redo, obstacles }) => {
                ChangesRefused::Group(self.group_refused(redo, *obstacles))
            }
            (_, error) => ChangesRefused::Set(error),
        })
    }

    /// Returns the canonical working directory, for comparisons with roots, which are canonical.
    fn canonical_cwd(&self) -> PathBuf {
        let cwd = self.cwd.canonicalize();
        cwd.unwrap_or_else(|_| self.cwd.clone())
    }

    /// Returns the paths relative to the change set's root.
    fn below_root(&self, id: ChangesId, paths: &[PathBuf]) -> Result<Vec<PathBuf>, ChangesRefused> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let root = PathBuf::from(self.show(id)?.root);
        let cwd = self.canonical_cwd();
        let base = if cwd.starts_with(&root) { &cwd } else { &root };
        let relative = paths.iter().map(|path| {
            // Removes `.` and a trailing slash. A path with `..` is never in a change set.
            let absolute: PathBuf = base.join(path).components().collect();
            absolute
                .strip_prefix(&root)
                .map_or(absolute.clone(), Path::to_owned)
        });
        Ok(relative.collect())
    }
}
