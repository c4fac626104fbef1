//! The settings of the section `[journal]`, and opening a conversation's journal.

use agent_bash_core::Timestamp;
use agent_bash_journal::{
    Journal, JournalLevel, JournalOptions, MaskSecrets, RetentionLimits, sweep_when_due,
};
use agent_bash_process::environment::{Masks, SecretFilter};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Settings of the journal: section `[journal]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalSettings {
    /// The level of the journal. `None` stands for `metadata` in long-lived hosts, and for `off` in
    /// a program that makes a single call.
    pub level: Option<JournalLevel>,
    /// Time after its last entry at which a journal is removed.
    pub keep: Duration,
    /// Maximum size of the journal of one process, in MiB.
    pub max_mb: u64,
    /// Maximum size of all journals, in MiB.
    pub max_total_mb: u64,
}

impl Default for JournalSettings {
    fn default() -> Self {
        Self {
            level: None,
            keep: Duration::from_secs(7 * 24 * 60 * 60),
            max_mb: 64,
            max_total_mb: 256,
        }
    }
}

impl JournalSettings {
    /// Returns the journal of a conversation in the state directory; `None` at the level `off`.
    /// Also removes a few old journals, at most every ten minutes.
    ///
    /// `is_on_by_default`: without a configured level, the level is `metadata`, not `off`.
    /// `many_calls` is false if this process makes a single call of the conversation, so that
    /// several processes share the journal. `mask_secrets` masks the host's secrets.
    pub fn open(
        &self,
        state: PathBuf,
        session: &str,
        (is_on_by_default, many_calls): (bool, bool),
        mask_secrets: MaskSecrets,
        now: Timestamp,
    ) -> Option<Arc<Journal>> {
        let level = self.level.unwrap_or(if is_on_by_default {
            JournalLevel::Metadata
        } else {
            JournalLevel::Off
        });
        if level == JournalLevel::Off {
            return None;
        }
        sweep_when_due(&state, self.retention(), now);
        Some(Arc::new(Journal::new(JournalOptions {
            state,
            session: session.to_owned(),
            level,
            max_bytes: self.max_mb << 20,
            is_shared: is_on_by_default && !many_calls,
            mask_secrets,
        })))
    }

    /// Returns the limits of age and size.
    pub fn retention(&self) -> RetentionLimits {
        RetentionLimits {
            time: self.keep,
            bytes: self.max_total_mb << 20,
        }
    }
}

/// Returns a function that masks the host's secrets in texts. The first call takes longer, because
/// it examines the environment.
pub fn mask_secrets(
    environment: Arc<BTreeMap<OsString, OsString>>,
    secrets: SecretFilter,
) -> MaskSecrets {
    let masks = OnceLock::new();
    Arc::new(move |text| {
        let masks = masks.get_or_init(|| {
            let variables = environment.iter();
            Masks::new(
                variables.map(|(name, value)| (name.as_os_str(), value.as_os_str())),
                secrets.clone(),
            )
        });
        masks.hide(text)
    })
}
