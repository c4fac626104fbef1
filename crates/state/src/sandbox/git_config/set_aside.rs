//! Entries that a call has put in the place of a copy, and copies that no call uses. Each of them
//! may be a tree of any size, so the host moves it to a directory that calls cannot write, and
//! removes it later on another thread.

use crate::blocking::start as start_thread;
use agent_bash_core::Clock;
use agent_bash_core::sandbox::RedirectedFile;
use agent_bash_os::{PrivateDir, remove_tree};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The directory of these entries, next to the directories of the copies. [`PrivateDir`] does not
/// list a name that begins with a dot.
const DIRECTORY: &str = ".removed";

/// The maximum number of times that a call waits for [`WAIT_INTERVAL`] after its end.
const MAX_WAITS: u32 = 10;
const WAIT_INTERVAL: Duration = Duration::from_millis(10);

/// The removal of the entries on another thread.
#[derive(Debug, Default)]
pub(in crate::sandbox) struct Removal {
    is_running: Arc<AtomicBool>,
}

impl Removal {
    /// Starts the removal, if entries exist and this program does not remove them yet. A later host
    /// continues a removal that this program does not finish.
    pub(in crate::sandbox) fn start(&self, redirected: &RedirectedFile) {
        let all = redirected.directory.ancestors().nth(2).map(Path::to_owned);
        let Some(all) = all.filter(|all| has_entries(all)) else {
            return;
        };
        if self.is_running.swap(true, Ordering::AcqRel) {
            return;
        }
        let reset = ResetOnDrop(Arc::clone(&self.is_running));
        let started = start_thread(move || {
            let _reset = reset;
            remove_entries(&all);
        });
        if let Err(error) = started {
            tracing::warn!(%error, "replaced copies of git's configuration cannot be removed yet");
        }
    }

    /// Waits for a short time until the removal has ended. A host for a single call ends after the
    /// call, so without this wait it would remove little.
    pub(in crate::sandbox) async fn wait(&self, clock: &dyn Clock) {
        for _ in 0..MAX_WAITS {
            if !self.is_running.load(Ordering::Acquire) {
                return;
            }
            clock.sleep(WAIT_INTERVAL).await;
        }
    }
}

/// Sets a flag to false when it is dropped.
struct ResetOnDrop(Arc<AtomicBool>);

impl Drop for ResetOnDrop {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Moves the entry `name` of `from`. `all` is the parent of the directories of the copies. The
/// caller holds the lock of the directory `owner` in `all`.
pub(super) fn set_aside(
    all: &Path,
    owner: &str,
    (from, name): (&PrivateDir, &str),
) -> io::Result<()> {
    let removed = PrivateDir::create(all, &[DIRECTORY])?;
    let mut number = 0_u64;
    let new = loop {
        let new = format!("{owner}-{number}");
        if !removed.has(&new) {
            break new;
        }
        number += 1;
    };
    from.move_to(name, &removed, &new)?;
    // This removes any entry but a directory.
    let _ = removed.remove(&new);
    Ok(())
}

/// True if an entry of the directory [`DIRECTORY`] in `all` is not removed yet.
fn has_entries(all: &Path) -> bool {
    let removed = PrivateDir::open(all, &[DIRECTORY]);
    let entries = removed.and_then(|removed| removed.directories());
    entries.is_ok_and(|entries| !entries.is_empty())
}

/// Removes the entries of the directory [`DIRECTORY`] in `all`. This may take minutes.
fn remove_entries(all: &Path) {
    let Ok(removed) = PrivateDir::open(all, &[DIRECTORY]) else {
        return;
    };
    for name in removed.directories().into_iter().flatten() {
        let path = removed.path().join(name);
        if let Err(error) = remove_tree(&path) {
            let path = path.display();
            tracing::warn!(%error, %path, "a replaced copy of git's configuration cannot be removed");
        }
    }
}

#[cfg(test)]
#[path = "set_aside_tests.rs"]
mod tests;
