//! Files that are changed through a name that they did not have before the call, or that have
//! several names. The call may have moved or linked them.

use super::{
    ContentLocation, IndexEntry, NotRecorded, OutsideFile, RecordOutcome, Recorder, Touch,
    system_error,
};
use crate::error::ChangesError;
use crate::files::attributes::{self, Attributes};
use crate::files::file_stat::FileStat;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, stat, unlinkat};
use std::path::Path;

impl Recorder {
    /// Preserves a file that a system call touches by a path outside the root, if the file may have
    /// another name below the root.
    ///
    /// # Errors
    /// See [`Recorder::before`].
    pub fn before_outside(
        &mut self,
        file: &OutsideFile<'_>,
        touch: Touch,
    ) -> Result<RecordOutcome, ChangesError> {
        if file.path.starts_with(&self.state) {
            return Ok(RecordOutcome::Outside);
        }
        if file.is_same_file_system
            && touch != Touch::Name
            && let Err(NotRecorded::Failed(error)) = self.record_outside_inode(file, touch)
        {
            return Err(error);
        }
        if file.is_counted {
            self.outside.touched(file.path);
        }
        Ok(RecordOutcome::Outside)
    }

    /// If the preimage of a file is a hard link, replaces the link by a copy, before a write
    /// through any name of the file would change the linked preimage.
    pub(super) fn detach_link(&mut self, path: &Path) -> Result<(), NotRecorded> {
        if let Ok(Some(stat)) = self.tree.stat(path) {
            self.detach_link_from(path, &stat)?;
        }
        Ok(())
    }

    /// Preserves the inode of a file outside the root.
    fn record_outside_inode(
        &mut self,
        file: &OutsideFile<'_>,
        touch: Touch,
    ) -> Result<(), NotRecorded> {
        let Ok(found) = stat(file.reachable) else {
            return Ok(());
        };
        let file_stat = FileStat::from(&found);
        if !file_stat.is_file() {
            return Ok(());
        }
        let content = self.content_of_inode.get(&file_stat.ino);
        let preimage_links = u64::from(matches!(content, Some(ContentLocation::Link(_))));
        if preimage_links > 0 {
            if touch == Touch::Content {
                self.detach_link_from(file.path, &file_stat)?;
            }
            return Ok(());
        }
        if file_stat.links <= file.names {
            return Ok(());
        }
        let is_hidden = self.hidden.hiding(file.path).is_some();
        let content = match touch {
            Touch::Content if content.is_some() => return Ok(()),
            Touch::Content if !self.stores_contents || is_hidden => ContentLocation::NotStored,
            Touch::Content => self.copy_outside_file(file, file_stat.size)?,
            _ if self.first_stats.contains_key(&file_stat.ino) => return Ok(()),
            _ => ContentLocation::Unread,
        };
        let attributes = if self.stores_contents {
            attributes::all_following_link(file.reachable)
                .map_err(|error| system_error("reading the attributes of", file.path, error))?
        } else {
            Attributes::new()
        };
        self.append_inode(file.path, file_stat, attributes, content)
    }

    /// Copies a file that may have no name below the root. If the change set is full, skips the
    /// file without an error.
    fn copy_outside_file(
        &mut self,
        file: &OutsideFile<'_>,
        size: u64,
    ) -> Result<ContentLocation, NotRecorded> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(from) = openat(CWD, file.reachable, flags, Mode::empty()) else {
            return Ok(ContentLocation::NotStored);
        };
        match self.store_copy_of(from, file.path, size) {
            Err(NotRecorded::Failed(ChangesError::PreimageLimit { .. })) => {
                Ok(ContentLocation::NotStored)
            }
            copied => copied,
        }
    }

    fn detach_link_from(&mut self, path: &Path, stat: &FileStat) -> Result<(), NotRecorded> {
        let Some(&ContentLocation::Link(number)) = self.content_of_inode.get(&stat.ino) else {
            return Ok(());
        };
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let content = match openat(&self.links, number.to_string(), flags, Mode::empty()) {
            Ok(link) => self.store_copy_of(link, path, stat.size)?,
            Err(_) => ContentLocation::NotStored,
        };
        let link = number.to_string();
        let links = stat.links - 1;
        self.record_inode(path, FileStat { links, ..*stat }, content)?;
        // No record refers to the link any more. A link that stays does no harm.
        let _ = unlinkat(&self.links, link, AtFlags::empty());
        Ok(())
    }

    /// Records the inode of a file that is changed through a name that it did not have before the
    /// call. The record of the file's former name may not contain what this change needs.
    pub(super) fn record_new_name(&mut self, path: &Path, touch: Touch) -> Result<(), NotRecorded> {
        let Ok(Some(stat)) = self.tree.stat(path) else {
            return Ok(());
        };
        let content = self.content_of_inode.get(&stat.ino);
        let preimage_links = u64::from(matches!(content, Some(ContentLocation::Link(_))));
        if !stat.is_file() || stat.links - preimage_links < 2 {
            return Ok(());
        }
        match touch {
            Touch::Content if content.is_none() => {
                let content = if !self.stores_contents || self.is_hidden(path) {
                    ContentLocation::NotStored
                } else {
                    self.store_copy(path, &stat)?
                };
                self.record_inode(path, stat, content)
            }
            Touch::Attributes if !self.first_stats.contains_key(&stat.ino) => {
                self.record_inode(path, stat, ContentLocation::Unread)
            }
            _ => Ok(()),
        }
    }

    /// Records the inode of a file, independent of its path.
    fn record_inode(
        &mut self,
        path: &Path,
        stat: FileStat,
        content: ContentLocation,
    ) -> Result<(), NotRecorded> {
        let attributes = if self.stores_contents && path.is_relative() {
            self.attributes(path)
                .map_err(|error| system_error("reading the attributes of", path, error))?
        } else {
            Attributes::new()
        };
        self.append_inode(path, stat, attributes, content)
    }

    fn append_inode(
        &mut self,
        path: &Path,
        stat: FileStat,
        attributes: Attributes,
        content: ContentLocation,
    ) -> Result<(), NotRecorded> {
        if content != ContentLocation::Unread {
            self.content_of_inode.insert(stat.ino, content.clone());
        }
        let record = self.record(path, Some(stat), attributes, content);
        self.append(&IndexEntry::Inode(record))
            .map_err(NotRecorded::Failed)
    }
}
