//! Scans a directory before and after a call whose changes cannot be traced.

use super::ChangeStore;
use agent_bash_changes::{ChangesError, DirectoryScan, Store};
use agent_bash_core::Clock;
use agent_bash_core::changes::Changes;
use std::path::Path;
use std::time::Duration;

/// Time limit of the scan before a call. The call waits for the scan.
const TIMEOUT_BEFORE: Duration = Duration::from_millis(100);

/// Time limit of the scan after a call. It is longer, because the call may have created files.
const TIMEOUT_AFTER: Duration = Duration::from_secs(1);

/// Maximum number of scanned files. Each takes some hundred bytes of memory until the call has
/// ended.
const MAX_FILES: usize = 100_000;

impl ChangeStore {
    /// Scans the directory `root` before a call. Blocks.
    ///
    /// # Errors
    /// The directory has too many files, or the scan takes too long. The next call then does not
    /// try again.
    pub fn scan_before(
        &self,
        store: &Store,
        root: &Path,
        clock: &dyn Clock,
    ) -> Result<DirectoryScan, String> {
        self.scan_within(store, root, clock, TIMEOUT_BEFORE)
    }

    /// Scans the directory again, and returns the differences from the scan `before`. Blocks.
    ///
    /// # Errors
    /// As [`Self::scan_before`], or the differences cannot be stored.
    pub fn scan_after(
        &self,
        store: &Store,
        before: &DirectoryScan,
        clock: &dyn Clock,
    ) -> Result<Changes, String> {
        let after = self.scan_within(store, before.root(), clock, TIMEOUT_AFTER)?;
        let compared = store.scan_after(self.session(), before, &after);
        compared.map_err(|error| error.to_string())
    }

    fn scan_within(
        &self,
        store: &Store,
        root: &Path,
        clock: &dyn Clock,
        limit: Duration,
    ) -> Result<DirectoryScan, String> {
        if self.unrecordable.was_too_large(root) {
            return Err(format!(
                "`{}` has too many files for a scan",
                root.display()
            ));
        }
        let until = clock.now() + limit;
        let scanned = store.scan_before(root, |files| files < MAX_FILES && clock.now() < until);
        if let Err(ChangesError::TooManyFiles { .. }) = scanned {
            self.unrecordable.remember_too_large(root);
        }
        scanned.map_err(|error| error.to_string())
    }
}
