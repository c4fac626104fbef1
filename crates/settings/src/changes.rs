//! The settings of the section `[changes]`, and the root of a call's change set.

use agent_bash_changes::StoreLimits;
use agent_bash_core::changes::{AnnouncedChanges, ChangesLevel};
use agent_bash_core::sandbox::Tier;
use agent_bash_sandbox::{HostFacts, ResolveError, workspace};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Settings of change sets and trials: section `[changes]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangesSettings {
    /// The level of recording of ordinary calls; `None` stands for the host's default
    /// (`ConversationOptions::changes`).
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
    /// The model, if the host's `Approver` allows it.
    #[default]
    Ask,
    /// Only the user.
    User,
}

impl ChangesSettings {
    /// Returns the limits of the store.
    pub fn limits(&self) -> StoreLimits {
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
    pub fn root_of(
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
            let facts = HostFacts::new(home, directory, Tier::Base);
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn root_is_the_calls_repository_else_the_conversations_directory() {
        let temp = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(temp.path()).unwrap();
        for directory in [
            "session/plain", "session/repo/.git", "session/repo/src", "other",
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
