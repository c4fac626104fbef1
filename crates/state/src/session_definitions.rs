//! Caches the functions and aliases of persistent shells. A shell is queried only after a call that
//! may have changed its definitions.

use agent_bash_core::{SessionName, ShellDefinitions, lock};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// Texts by which a script may define or remove functions or aliases, or end the shell.
const DEFINERS: &[&str] = &[
    "()", "function", "alias", "shopt", "source", ". ", "eval", "unset", "exit", "exec",
];

/// The definitions of persistent shells. Has an entry for each shell in which a call may have
/// changed the definitions.
#[derive(Debug, Default)]
pub struct SessionDefinitions {
    shells: Mutex<HashMap<SessionName, SessionEntry>>,
}

/// The cached definitions of a persistent shell.
#[derive(Debug, Clone, Default)]
pub struct SessionEntry {
    /// True if a call may have changed the definitions since the shell was queried.
    pub is_stale: bool,
    /// The definitions at the last query; `None` if the shell was never queried.
    pub known: Option<Arc<ShellDefinitions>>,
}

impl SessionDefinitions {
    /// Forgets a shell.
    pub fn forget(&self, name: &SessionName) {
        self.entries().remove(name);
    }

    /// Marks a shell's definitions as stale if this script may change them.
    pub fn note_script(&self, name: &SessionName, script: &str) {
        if DEFINERS.iter().any(|definer| script.contains(definer)) {
            self.entries().entry(name.clone()).or_default().is_stale = true;
        }
    }

    /// Returns the entry of a shell; an empty entry if the shell has no entry.
    pub fn entry(&self, name: &SessionName) -> SessionEntry {
        self.entries().get(name).cloned().unwrap_or_default()
    }

    /// Stores the definitions that a query has returned.
    pub fn store(&self, name: &SessionName, known: &Arc<ShellDefinitions>) {
        let known = Some(Arc::clone(known));
        let is_stale = false;
        let entry = SessionEntry { is_stale, known };
        self.entries().insert(name.clone(), entry);
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<SessionName, SessionEntry>> {
        lock(&self.shells)
    }
}
