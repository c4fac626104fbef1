//! Files changed through another name than before the call: moved or linked by the call, or with
//! several names.

use super::{Content, IndexEntry, KeepOutcome, Recorder, Stop, Touch, failed};
use crate::error::ChangesError;
use crate::file_stat::FileStat;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, statat, unlinkat};
use std::path::Path;

impl Recorder {
    /// Preserves a file that a process has open for writing when the call begins. Outside the root
    /// it is not a change of the call.
    ///
    /// # Errors
    /// See [`Recorder::before`].
    pub fn before_held(&mut self, path: &Path) -> Result<KeepOutcome, ChangesError> {
        if path.starts_with(&self.root) {
            self.before(path, Touch::Content)
        } else {
            Ok(KeepOutcome::Outside)
        }
    }

    /// Copies a preimage link before the file is written to by any name, and redirects its records
    /// to the copy.
    pub(super) fn part(&mut self, path: &Path) -> Result<(), Stop> {
        if let Ok(Some(seen)) = self.tree.stat(path) {
            self.part_from(path, &seen)?;
        }
        Ok(())
    }

    /// Like [`Self::part`] for a path outside the root, where the call may have moved the file.
    pub(super) fn part_outside(&mut self, path: &Path) -> Result<(), Stop> {
        match statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if stat.st_dev == self.meta.identity.0 => {
                self.part_from(path, &FileStat::from(&stat))
            }
            _ => Ok(()),
        }
    }

    fn part_from(&mut self, path: &Path, seen: &FileStat) -> Result<(), Stop> {
        let Some(&Content::Link(number)) = self.contents.get(&seen.ino) else {
            return Ok(());
        };
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let content = match openat(&self.links, number.to_string(), flags, Mode::empty()) {
            Ok(link) => self.copy_of(link, path, seen.size)?,
            Err(_) => Content::Not,
        };
        let link = number.to_string();
        let links = seen.links - 1;
        self.other(path, FileStat { links, ..*seen }, content)?;
        // No record refers to it. A remaining link is only an additional name.
        let _ = unlinkat(&self.links, link, AtFlags::empty());
        Ok(())
    }

    /// Records a file that is changed through a name that it did not have before the call, because
    /// the record of its former name does not cover it.
    pub(super) fn by_new_name(&mut self, path: &Path, touch: Touch) -> Result<(), Stop> {
        let Ok(Some(seen)) = self.tree.stat(path) else {
            return Ok(());
        };
        let content = self.contents.get(&seen.ino);
        let own = u64::from(matches!(content, Some(Content::Link(_))));
        if !seen.is_file() || seen.links - own < 2 {
            return Ok(());
        }
        match touch {
            Touch::Content if content.is_none() => {
                let content = if !self.keeps || self.is_hidden(path) {
                    Content::Not
                } else {
                    self.copy(path, &seen)?
                };
                self.other(path, seen, content)
            }
            Touch::Attributes if !self.firsts.contains_key(&seen.ino) => {
                self.other(path, seen, Content::Unread)
            }
            _ => Ok(()),
        }
    }

    /// Records the inode of a file, independent of its path.
    fn other(&mut self, path: &Path, seen: FileStat, content: Content) -> Result<(), Stop> {
        if content != Content::Unread {
            self.contents.insert(seen.ino, content.clone());
        }
        let attributes = if self.keeps && path.is_relative() {
            self.attributes(path)
                .map_err(|error| failed("reading the attributes of", path, error))?
        } else {
            Vec::new()
        };
        let record = self.record(path, Some(seen), attributes, content);
        self.append(&IndexEntry::Other(record))
            .map_err(Stop::Failed)
    }
}
