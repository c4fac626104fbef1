//! Change sets of a conversation: the settings, and the store.

mod group;
mod group_refused;
mod protected;
mod sets;
mod unrecordable;

pub use group::{ChangesGroupDone, Since, scope_of_turn};
pub use group_refused::GroupRefused;
pub use sets::{ChangeSets, ChangesAct, ChangesConflict, ChangesDone, ChangesRefused};

use agent_bash_changes::{ChangesError, Store, StoreLimits};
use agent_bash_core::Notice;
use agent_bash_core::changes::{AnnouncedChanges, Changes, ChangesLevel};
use agent_bash_sandbox::{HostFacts, ResolveError, workspace};
pub(crate) use protected::ProtectedPaths;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use unrecordable::Unrecordable;

/// The reason for unknown changes if a file system does not respond.
pub(crate) const UNRESPONSIVE_REASON: &str = "its file system does not answer";

/// Settings of change sets and trials: section `[changes]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangesSettings {
    /// The level of recording of ordinary calls; `None` stands for the host's default
    /// ([`ConversationOptions::changes`](crate::session::ConversationOptions::changes)).
    pub level: Option<ChangesLevel>,
    /// The absolute path of the directory whose changes are recorded; `None` stands for the
    /// workspace of the call.
    pub root: Option<PathBuf>,
    /// The parties that may commit a trial.
    pub commit: CommitBy,
    /// The changes of ordinary calls that the result's text names for the model.
    pub announced: AnnouncedChanges,
    /// Time after which a change set is removed.
    pub keep: Duration,
    /// Maximum size of one change set, in MiB.
    pub max_set_mb: u64,
    /// Maximum size of all change sets, in MiB.
    pub max_total_mb: u64,
    /// Maximum size of a file that is copied for an undo, in MiB. A larger file is stored only as a
    /// hard link or a reflink, which take no space.
    pub max_preimage_mb: u64,
    /// True if the text of a refusal suggests a trial, where a trial is possible.
    pub offer_trial: bool,
    /// True if a trial may run a command that a rule refuses. All refused paths must be below the
    /// trial's root. Ignored if the model may commit without approval.
    pub trial_passes_rules: bool,
}

impl Default for ChangesSettings {
    fn default() -> Self {
        Self {
            level: None,
            root: None,
            commit: CommitBy::Ask,
            announced: AnnouncedChanges::Deletions,
            keep: Duration::from_secs(24 * 60 * 60),
            max_set_mb: 1024,
            max_total_mb: 4096,
            max_preimage_mb: 64,
            offer_trial: true,
            trial_passes_rules: false,
        }
    }
}

/// The parties that may commit a trial.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum CommitBy {
    /// The model or the user.
    Model,
    /// The model, if the host's [`Approver`](crate::Approver) allows it.
    #[default]
    Ask,
    /// Only the user.
    User,
}

impl ChangesSettings {
    fn limits(&self) -> StoreLimits {
        let mut limits = StoreLimits::default();
        limits.max_set_bytes = self.max_set_mb << 20;
        limits.max_total_bytes = self.max_total_mb << 20;
        limits.max_preimage_bytes = self.max_preimage_mb << 20;
        limits.max_age_s = self.keep.as_secs();
        limits
    }

    /// Returns the root of the change set of a call in `cwd`.
    ///
    /// # Errors
    /// The root would contain the user's home directory, or cannot be determined.
    pub(crate) fn root_of(
        &self,
        cwd: &Path,
        conversation_cwd: &Path,
        home: Option<&Path>,
    ) -> Result<PathBuf, String> {
        if let Some(root) = &self.root {
            return Ok(root.clone());
        }
        let workspace_of = |directory: &Path| {
            let (home, directory) = (home.map(Path::to_owned), directory.to_owned());
            let facts = HostFacts::new(home, directory, agent_bash_core::sandbox::Tier::Base);
            workspace(&facts).map_err(|error| match error {
                ResolveError::TooWide(directory) => format!(
                    "cannot record changes in {}, because the home directory is in it; work in a directory below it, or set `changes.root`",
                    directory.display()
                ),
                other => other.to_string(),
            })
        };
        let root = workspace_of(cwd)?;
        // Outside of a repository, the conversation's directory is the root for all directories
        // below it.
        let is_plain = !root.join(".git").exists();
        if is_plain && cwd == conversation_cwd {
            return Ok(root);
        }
        match std::fs::canonicalize(conversation_cwd) {
            Ok(wider) if is_plain && root.starts_with(&wider) => workspace_of(&wider),
            _ => Ok(root),
        }
    }
}

/// The recorded changes of a call that has ended, and the notices about them.
#[derive(Debug, Default)]
pub(crate) struct CallChanges {
    pub(crate) changes: Option<Changes>,
    pub(crate) notices: Vec<Notice>,
}

/// The settings of change sets, and the lazily opened store of one conversation's change sets.
#[derive(Debug, Default)]
pub(crate) struct ChangeStore {
    pub(crate) settings: ChangesSettings,
    /// The level if the settings do not name a level.
    default_level: ChangesLevel,
    /// The state directory, and the conversation's name in it.
    location: Option<(PathBuf, String)>,
    store: Mutex<Option<Arc<Store>>>,
    /// The files of a workspace that run or configure programs outside of the sandbox, in addition
    /// to the built-in names.
    pub(crate) protected: ProtectedPaths,
    /// Shells that cannot be traced, and directories that are too large.
    pub(crate) unrecordable: Unrecordable,
    /// Roots for which a trial is known to work.
    pub(crate) trial_roots: tokio::sync::Mutex<BTreeSet<PathBuf>>,
}

impl ChangeStore {
    pub(crate) fn new(
        settings: ChangesSettings,
        default_level: ChangesLevel,
        location: Option<(PathBuf, String)>,
    ) -> Self {
        Self {
            settings,
            default_level,
            location,
            store: Mutex::default(),
            protected: ProtectedPaths::default(),
            unrecordable: Unrecordable::default(),
            trial_roots: tokio::sync::Mutex::default(),
        }
    }

    /// Sets the additional protected paths.
    pub(crate) fn with_protected(self, protected: ProtectedPaths) -> Self {
        Self { protected, ..self }
    }

    /// Returns the level of recording of ordinary calls.
    pub(crate) fn level(&self) -> ChangesLevel {
        self.settings.level.unwrap_or(self.default_level)
    }

    /// True if the settings name a level. In this case, results report changes that could not be
    /// recorded.
    pub(crate) fn is_level_set(&self) -> bool {
        self.settings.level.is_some()
    }

    /// True if calls are recorded, so that the schema may offer the model listing and undo.
    pub(crate) fn is_recording(&self) -> bool {
        self.level() != ChangesLevel::Off && self.has_state_dir()
    }

    /// True if there is a state directory for change sets.
    pub(crate) fn has_state_dir(&self) -> bool {
        self.location.is_some()
    }

    /// Returns the conversation's name; empty without a state directory.
    pub(crate) fn session(&self) -> &str {
        self.location.as_ref().map_or("", |(_, name)| name)
    }

    /// Returns the store. The first call opens the store, and recovers the change sets of hosts
    /// that have died. Blocks.
    pub(crate) fn store(&self) -> Result<Arc<Store>, String> {
        let Some((state, _)) = &self.location else {
            return Err(
                "there is no state directory to keep changes in; set AGENT_BASH_STATE_DIR".into(),
            );
        };
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = &*store {
            return Ok(Arc::clone(store));
        }
        let opened: Result<Store, ChangesError> = Store::open(state);
        let opened = opened.map_err(|error| error.to_string())?;
        let opened = Arc::new(opened.limits(self.settings.limits()));
        *store = Some(Arc::clone(&opened));
        Ok(opened)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn root_is_the_calls_repository_else_the_conversations_directory() {
        let temp = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(temp.path()).unwrap();
        for directory in [
            "session/plain",
            "session/repo/.git",
            "session/repo/src",
            "other",
        ] {
            fs::create_dir_all(base.join(directory)).unwrap();
        }
        let settings = ChangesSettings::default();
        let session = base.join("session");
        let root = |cwd: &str| settings.root_of(&base.join(cwd), &session, None).unwrap();
        assert_eq!(root("session/plain"), session);
        assert_eq!(root("session/repo/src"), base.join("session/repo"));
        assert_eq!(root("other"), base.join("other"));
        let home = settings.root_of(&base, &base, Some(&base));
        assert!(home.is_err(), "a home is never a workspace");
    }
}
