//! The known functions and aliases of persistent shells. A shell is queried only after a call that
//! may have changed them.

use agent_bash_core::{SessionName, ShellDefinitions};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Texts in scripts that may define functions or aliases, or discard them with their shell.
const DEFINERS: &[&str] = &[
    "()", "function", "alias", "source", ". ", "eval", "unset", "exit", "exec",
];

/// The definitions of the persistent shells in which a call may have changed them.
#[derive(Debug, Default)]
pub(crate) struct SessionDefinitions {
    shells: Mutex<HashMap<SessionName, SessionEntry>>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct SessionEntry {
    /// True if a call may have changed the definitions since the shell was queried.
    pub(crate) is_stale: bool,
    pub(crate) known: Option<Arc<ShellDefinitions>>,
}

impl SessionDefinitions {
    /// Forgets a shell.
    pub(crate) fn forget(&self, name: &SessionName) {
        self.entries().remove(name);
    }

    /// Marks a shell's definitions as stale if this script may change them.
    pub(crate) fn note(&self, name: &SessionName, script: &str) {
        if DEFINERS.iter().any(|definer| script.contains(definer)) {
            self.entries().entry(name.clone()).or_default().is_stale = true;
        }
    }

    pub(crate) fn entry(&self, name: &SessionName) -> SessionEntry {
        self.entries().get(name).cloned().unwrap_or_default()
    }

    pub(crate) fn store(&self, name: &SessionName, known: &Arc<ShellDefinitions>) {
        let known = Some(Arc::clone(known));
        let is_stale = false;
        let entry = SessionEntry { is_stale, known };
        self.entries().insert(name.clone(), entry);
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<SessionName, SessionEntry>> {
        self.shells.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
