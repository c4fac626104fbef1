//! Remembers shells that cannot be traced, and directories that are too large for a scan.

use agent_bash_core::{SessionName, lock};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Maximum number of remembered directories.
const MAX_DIRECTORIES: usize = 64;

/// The shells and directories whose changes cannot be recorded.
#[derive(Debug, Default)]
pub struct Unrecordable {
    /// The reasons by session name; `None` stands for the shells of calls without a session.
    shells: Mutex<BTreeMap<Option<String>, String>>,
    too_large: Mutex<BTreeSet<PathBuf>>,
}

impl Unrecordable {
    /// Remembers that this shell cannot be traced.
    pub fn remember_untraceable(&self, shell: Option<&SessionName>, reason: &str) {
        lock(&self.shells).insert(key(shell), reason.to_owned());
    }

    /// Returns why this shell cannot be traced, if that was observed.
    pub fn untraceable_reason(&self, shell: Option<&SessionName>) -> Option<String> {
        lock(&self.shells).get(&key(shell)).cloned()
    }

    /// Remembers that a scan of this directory took too long.
    pub fn remember_too_large(&self, root: &Path) {
        let mut known = lock(&self.too_large);
        if known.len() < MAX_DIRECTORIES {
            known.insert(root.to_owned());
        }
    }

    /// True if an earlier scan of this directory took too long. A new scan would, too.
    pub fn was_too_large(&self, root: &Path) -> bool {
        lock(&self.too_large).contains(root)
    }
}

fn key(shell: Option<&SessionName>) -> Option<String> {
    shell.map(|name| name.0.clone())
}
