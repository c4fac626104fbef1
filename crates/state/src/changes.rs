//! Change sets of a conversation: the store.

mod ended;
mod group;
mod group_refused;
mod protected;
mod scans;
mod sets;
mod unrecordable;

pub use agent_bash_core::changes::ChangesAct;
pub use ended::{commit_trial, finish_trace};
pub use group::{ChangesGroupDone, Since, scope_of_turn};
pub use group_refused::GroupRefused;
pub use sets::{ChangeSets, ChangesConflict, ChangesDone, ChangesRefused};

use agent_bash_changes::{ChangesError, Store};
use agent_bash_core::changes::{Changes, ChangesLevel};
use agent_bash_core::{Notice, lock};
use agent_bash_settings::ChangesSettings;
pub use protected::ProtectedPaths;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
pub use unrecordable::Unrecordable;

/// The reason for unknown changes if a file system does not respond.
pub const UNRESPONSIVE_REASON: &str = "its file system does not answer";

/// The recorded changes of a call that has ended, and the notices about them.
#[derive(Debug, Default)]
pub struct CallChanges {
    /// The changes, if they are known.
    pub changes: Option<Changes>,
    /// The notices about the changes.
    pub notices: Vec<Notice>,
}

/// The settings of change sets, and the lazily opened store of one conversation's change sets.
#[derive(Debug, Default)]
pub struct ChangeStore {
    /// The settings in force.
    pub settings: ChangesSettings,
    /// The level if the settings do not name a level.
    default_level: ChangesLevel,
    /// The state directory, and the conversation's name in it.
    location: Option<(PathBuf, String)>,
    store: Mutex<Option<Arc<Store>>>,
    /// The files of a workspace that run or configure programs outside of the sandbox, in addition
    /// to the built-in names.
    pub protected: ProtectedPaths,
    /// Shells that cannot be traced, and directories that are too large.
    pub unrecordable: Unrecordable,
    /// Roots for which a trial is known to work.
    pub trial_roots: tokio::sync::Mutex<BTreeSet<PathBuf>>,
}

impl ChangeStore {
    /// Creates a store that is opened on first use. `location` is the state directory and the
    /// conversation's name; without it, no change set can be stored.
    pub fn new(
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
    #[must_use]
    pub fn with_protected(self, protected: ProtectedPaths) -> Self {
        Self { protected, ..self }
    }

    /// Returns the level of recording of ordinary calls.
    pub fn level(&self) -> ChangesLevel {
        self.settings.level.unwrap_or(self.default_level)
    }

    /// True if the settings name a level. In this case, results report changes that could not be
    /// recorded.
    pub fn is_level_set(&self) -> bool {
        self.settings.level.is_some()
    }

    /// True if calls are recorded, so that the schema may offer the model listing and undo.
    pub fn is_recording(&self) -> bool {
        self.level() != ChangesLevel::Off && self.has_state_dir()
    }

    /// True if there is a state directory for change sets.
    pub fn has_state_dir(&self) -> bool {
        self.location.is_some()
    }

    /// Returns the conversation's name; empty without a state directory.
    pub fn session(&self) -> &str {
        self.location.as_ref().map_or("", |(_, name)| name)
    }

    /// Returns the store. The first call opens the store, and recovers the change sets of hosts
    /// that have died. Blocks.
    pub fn store(&self) -> Result<Arc<Store>, String> {
        let Some((state, _)) = &self.location else {
            return Err(
                "there is no state directory to keep changes in; set AGENT_BASH_STATE_DIR".into(),
            );
        };
        let mut store = lock(&self.store);
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
