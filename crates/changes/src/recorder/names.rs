//! Files changed through another name than before the call: moved or linked by the call, or with
//! several names.

use super::{
    BeyondRoot, ContentLocation, IndexEntry, KeepOutcome, NotRecorded, Recorder, Touch, failed,
};
use crate::attributes::{self, Attributes};
use crate::error::ChangesError;
use crate::file_stat::FileStat;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, stat, unlinkat};
use std::path::Path;

impl Recorder {
    /// Preserves a file that a system call touches by a path outside the root, if the file may have
    /// another name below the root.
    ///
    /// # Errors
    /// See [`Recorder::before`].
    pub fn before_beyond(
        &mut self,
        file: &BeyondRoot<'_>,
        touch: Touch,
    ) -> Result<KeepOutcome, ChangesError> {
        if file.path.starts_with(&self.state) {
            return Ok(KeepOutcome::Outside);
        }
        if file.is_near
            && touch != Touch::Name
            && let Err(NotRecorded::Failed(error)) = self.by_name_beyond(file, touch)
        {
            return Err(error);
        }
        if file.is_counted {
            self.outside.touched(file.path);
        }
        Ok(KeepOutcome::Outside)
    }

    /// Copies a preimage link before the file is written to by any name, and redirects its records
    /// to the copy.
    pub(super) fn part(&mut self, path: &Path) -> Result<(), NotRecorded> {
        if let Ok(Some(seen)) = self.tree.stat(path) {
            self.part_from(path, &seen)?;
        }
        Ok(())
    }

    /// Preserves the inode of a file outside the root.
    fn by_name_beyond(&mut self, file: &BeyondRoot<'_>, touch: Touch) -> Result<(), NotRecorded> {
        let Ok(found) = stat(file.reachable) else {
            return Ok(());
        };
        let seen = FileStat::from(&found);
        if !seen.is_file() {
            return Ok(());
        }
        let content = self.contents.get(&seen.ino);
        let own = u64::from(matches!(content, Some(ContentLocation::Link(_))));
        if own > 0 {
            if touch == Touch::Content {
                self.part_from(file.path, &seen)?;
            }
            return Ok(());
        }
        if seen.links <= file.names {
            return Ok(());
        }
        let is_hidden = self.hidden.iter().any(|it| file.path.starts_with(it));
        let content = match touch {
            Touch::Content if content.is_some() => return Ok(()),
            Touch::Content if !self.keeps || is_hidden => ContentLocation::Not,
            Touch::Content => self.copy_beyond(file, seen.size)?,
            _ if self.firsts.contains_key(&seen.ino) => return Ok(()),
            _ => ContentLocation::Unread,
        };
        let attributes = if self.keeps {
            attributes::followed(file.reachable)
                .map_err(|error| failed("reading the attributes of", file.path, error))?
        } else {
            Attributes::new()
        };
        self.other_with(file.path, seen, attributes, content)
    }

    /// Copies a file that may have no name below the root. If the change set is full, skips the
    /// file without an error.
    fn copy_beyond(
        &mut self,
        file: &BeyondRoot<'_>,
        size: u64,
    ) -> Result<ContentLocation, NotRecorded> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(from) = openat(CWD, file.reachable, flags, Mode::empty()) else {
            return Ok(ContentLocation::Not);
        };
        match self.copy_of(from, file.path, size) {
            Err(NotRecorded::Failed(ChangesError::TooMuch { .. })) => Ok(ContentLocation::Not),
            copied => copied,
        }
    }

    fn part_from(&mut self, path: &Path, seen: &FileStat) -> Result<(), NotRecorded> {
        let Some(&ContentLocation::Link(number)) = self.contents.get(&seen.ino) else {
            return Ok(());
        };
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let content = match openat(&self.links, number.to_string(), flags, Mode::empty()) {
            Ok(link) => self.copy_of(link, path, seen.size)?,
            Err(_) => ContentLocation::Not,
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
    pub(super) fn by_new_name(&mut self, path: &Path, touch: Touch) -> Result<(), NotRecorded> {
        let Ok(Some(seen)) = self.tree.stat(path) else {
            return Ok(());
        };
        let content = self.contents.get(&seen.ino);
        let own = u64::from(matches!(content, Some(ContentLocation::Link(_))));
        if !seen.is_file() || seen.links - own < 2 {
            return Ok(());
        }
        match touch {
            Touch::Content if content.is_none() => {
                let content = if !self.keeps || self.is_hidden(path) {
                    ContentLocation::Not
                } else {
                    self.copy(path, &seen)?
                };
                self.other(path, seen, content)
            }
            Touch::Attributes if !self.firsts.contains_key(&seen.ino) => {
                self.other(path, seen, ContentLocation::Unread)
            }
            _ => Ok(()),
        }
    }

    /// Records the inode of a file, independent of its path.
    fn other(
        &mut self,
        path: &Path,
        seen: FileStat,
        content: ContentLocation,
    ) -> Result<(), NotRecorded> {
        let attributes = if self.keeps && path.is_relative() {
            self.attributes(path)
                .map_err(|error| failed("reading the attributes of", path, error))?
        } else {
            Attributes::new()
        };
        self.other_with(path, seen, attributes, content)
    }

    fn other_with(
        &mut self,
        path: &Path,
        seen: FileStat,
        attributes: Attributes,
        content: ContentLocation,
    ) -> Result<(), NotRecorded> {
        if content != ContentLocation::Unread {
            self.contents.insert(seen.ino, content.clone());
        }
        let record = self.record(path, Some(seen), attributes, content);
        self.append(&IndexEntry::Other(record))
            .map_err(NotRecorded::Failed)
    }
}
