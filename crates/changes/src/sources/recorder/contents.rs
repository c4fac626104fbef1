//! Stores the contents of a file, once for each inode: as a hard link if a name of the file is
//! removed, else as a copy.

use super::{CONTENTS_FILE, ContentLocation, NotRecorded, Recorder, records::file, system_error};
use crate::error::ChangesError;
use crate::files::file_stat::FileStat;
use crate::files::system::ioctl_ficlone;
use crate::sources::recorder::Touch;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, linkat, openat, readlinkat};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::Path;

impl Recorder {
    /// Returns where the contents of the file are stored, and stores them if that was not done yet.
    pub(super) fn store_content(
        &mut self,
        path: &Path,
        stat: &FileStat,
        touch: Touch,
    ) -> Result<ContentLocation, NotRecorded> {
        if let Some(content) = self.content_of_inode.get(&stat.ino)
            && (touch == Touch::Name || !matches!(content, ContentLocation::Link(_)))
        {
            return Ok(content.clone());
        }
        let stored = match stat.kind() {
            FileType::Symlink => {
                let (dir, name) = self
                    .tree
                    .parent(path)
                    .map_err(|error| system_error("opening", path, error))?;
                let target = readlinkat(dir, name, Vec::new());
                let target = target.map_err(|error| system_error("reading", path, error))?;
                return Ok(ContentLocation::Target(target.into_bytes()));
            }
            _ if touch == Touch::Name && self.can_link => self.store_link(path),
            FileType::RegularFile => Ok(None),
            // An undo creates a new FIFO or socket.
            FileType::Fifo | FileType::Socket => Ok(Some(ContentLocation::NoContents)),
            _ => Ok(Some(ContentLocation::NotStored)),
        };
        let stored = match stored.map_err(|error| system_error("linking", path, error))? {
            Some(stored) => stored,
            None if stat.is_file() => self.store_copy(path, stat)?,
            None => ContentLocation::NotStored,
        };
        self.content_of_inode.insert(stat.ino, stored.clone());
        Ok(stored)
    }

    /// Stores a hard link, if possible. A link suffices if only the name is removed, because the
    /// file stays unchanged.
    fn store_link(&mut self, path: &Path) -> Result<Option<ContentLocation>, Errno> {
        let number = self.next_link;
        let (dir, name) = self.tree.parent(path)?;
        match linkat(dir, name, &self.links, number.to_string(), AtFlags::empty()) {
            Ok(()) => {
                self.next_link += 1;
                Ok(Some(ContentLocation::Link(number)))
            }
            // Too many links, another file system, or a file that the system protects from links.
            Err(Errno::MLINK | Errno::XDEV | Errno::PERM | Errno::NOENT) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Stores a copy of the file at a path.
    pub(super) fn store_copy(
        &mut self,
        path: &Path,
        stat: &FileStat,
    ) -> Result<ContentLocation, NotRecorded> {
        let Ok(from) = self.tree.file(path) else {
            return Ok(ContentLocation::NotStored);
        };
        self.store_copy_of(from, path, stat.size)
    }

    /// Stores a clone if the file system supports it, else a copy in the pack.
    pub(super) fn store_copy_of(
        &mut self,
        from: OwnedFd,
        path: &Path,
        size: u64,
    ) -> Result<ContentLocation, NotRecorded> {
        if let Some(clone) = self
            .store_clone(&from)
            .map_err(|error| system_error("cloning", path, error))?
        {
            return Ok(clone);
        }
        if size > self.max_file_bytes {
            return Ok(ContentLocation::NotStored);
        }
        if self.pack_bytes + size > self.max_total_bytes {
            let limit = self.max_total_bytes >> 20;
            return Err(NotRecorded::Failed(ChangesError::PreimageLimit { limit }));
        }
        let at = self.pack_bytes;
        let mut from = File::from(from).take(self.max_file_bytes);
        let copied = file(&self.set, CONTENTS_FILE, &mut self.pack)
            .and_then(|pack| io::copy(&mut from, pack))
            .map_err(|error| NotRecorded::Failed(ChangesError::io("copying", path)(error)))?;
        self.pack_bytes += copied;
        Ok(ContentLocation::Packed(at, copied))
    }

    fn store_clone(&mut self, from: &OwnedFd) -> Result<Option<ContentLocation>, Errno> {
        if !self.can_clone {
            return Ok(None);
        }
        let number = self.next_link;
        let name = number.to_string();
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let to = openat(&self.links, &name, flags, Mode::RUSR | Mode::WUSR)?;
        if ioctl_ficlone(&to, from).is_ok() {
            self.next_link += 1;
            return Ok(Some(ContentLocation::Clone(number)));
        }
        // One failure suffices: the file system does not support clones.
        self.can_clone = false;
        rustix::fs::unlinkat(&self.links, &name, AtFlags::empty())?;
        Ok(None)
    }
}
