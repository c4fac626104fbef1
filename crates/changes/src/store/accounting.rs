//! The total size of all change sets, stored in a file so that the size limit can be checked
//! without reading each set.

use crate::store::set::ChangeSet;
use agent_bash_os::{PrivateDir, SweepProgress, remove_tree};
use std::io;
use std::path::PathBuf;

/// The file with the accounted size and the progress of the sweep.
pub(crate) const PROGRESS_FILE: &str = ".sweep";

impl ChangeSet {
    /// Adds `bytes`, which may be negative, to the stored total size.
    pub(crate) fn account(&self, bytes: i64) {
        let session = self
            .dir()
            .parent()
            .and_then(|path| path.file_name()?.to_str());
        if let (true, Some(session)) = (bytes != 0, session) {
            // If the write fails, a later sweep corrects the sum.
            let _ = PrivateDir::open(self.store(), &[]).and_then(|dir| {
                SweepProgress::update(&dir, PROGRESS_FILE, |progress| {
                    progress.account(session, self.id.0, bytes);
                })
            });
        }
    }

    /// Removes the set from the disk. The slots belong to the original set, so an undo leaves them.
    pub(crate) fn remove(self) -> io::Result<()> {
        let slots = self.meta.slot_directory();
        let slots = slots.filter(|_| self.origin() == self.id);
        let paths: Vec<PathBuf> = slots.into_iter().chain([self.dir().to_owned()]).collect();
        self.unregister();
        self.account(-self.size.cast_signed());
        // The lock is released first: if the removal fails, the next process can recover the set.
        drop(self);
        paths.iter().try_for_each(|path| remove_tree(path))
    }
}
