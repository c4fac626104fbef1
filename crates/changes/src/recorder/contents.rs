//! Stores contents: a hard link if a name is removed, else a copy, once for each inode.

use super::{CONTENTS_FILE, ContentLocation, NotRecorded, Recorder, failed, file};
use crate::error::ChangesError;
use crate::file_stat::FileStat;
use crate::recorder::Touch;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ioctl_ficlone, linkat, openat, readlinkat};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::Path;

impl Recorder {
    /// Stores contents once for each inode.
    pub(super) fn content(
        &mut self,
        path: &Path,
        seen: &FileStat,
        touch: Touch,
    ) -> Result<ContentLocation, NotRecorded> {
        if let Some(content) = self.contents.get(&seen.ino)
            && (touch == Touch::Name || !matches!(content, ContentLocation::Link(_)))
        {
            return Ok(content.clone());
        }
        let kept = match seen.kind() {
            FileType::Symlink => {
                let (dir, name) = self
                    .tree
                    .parent(path)
                    .map_err(|error| failed("opening", path, error))?;
                let target = readlinkat(dir, name, Vec::new());
                let target = target.map_err(|error| failed("reading", path, error))?;
                return Ok(ContentLocation::Target(target.into_bytes()));
            }
            _ if touch == Touch::Name && self.near => self.link(path),
            FileType::RegularFile => Ok(None),
            // An undo can create both again.
            FileType::Fifo | FileType::Socket => Ok(Some(ContentLocation::Nothing)),
            _ => Ok(Some(ContentLocation::Not)),
        };
        let kept = match kept.map_err(|error| failed("linking", path, error))? {
            Some(kept) => kept,
            None if seen.is_file() => self.copy(path, seen)?,
            None => ContentLocation::Not,
        };
        self.contents.insert(seen.ino, kept.clone());
        Ok(kept)
    }

    /// Stores a hard link if possible: the name is removed, the file stays unchanged.
    fn link(&mut self, path: &Path) -> Result<Option<ContentLocation>, Errno> {
        let number = self.numbered;
        let (dir, name) = self.tree.parent(path)?;
        match linkat(dir, name, &self.links, number.to_string(), AtFlags::empty()) {
            Ok(()) => {
                self.numbered += 1;
                Ok(Some(ContentLocation::Link(number)))
            }
            // Too many links, another file system, or a file that the system protects from links.
            Err(Errno::MLINK | Errno::XDEV | Errno::PERM | Errno::NOENT) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Stores a copy of the file at a path.
    pub(super) fn copy(
        &mut self,
        path: &Path,
        seen: &FileStat,
    ) -> Result<ContentLocation, NotRecorded> {
        let Ok(from) = self.tree.file(path) else {
            return Ok(ContentLocation::Not);
        };
        self.copy_of(from, path, seen.size)
    }

    /// Stores a clone if the file system supports it, else a copy in the pack.
    pub(super) fn copy_of(
        &mut self,
        from: OwnedFd,
        path: &Path,
        size: u64,
    ) -> Result<ContentLocation, NotRecorded> {
        if let Some(clone) = self
            .clone_of(&from)
            .map_err(|error| failed("cloning", path, error))?
        {
            return Ok(clone);
        }
        if size > self.largest {
            return Ok(ContentLocation::Not);
        }
        if self.packed + size > self.limit {
            let limit = self.limit >> 20;
            return Err(NotRecorded::Failed(ChangesError::TooMuch { limit }));
        }
        let at = self.packed;
        let mut from = File::from(from).take(self.largest);
        let copied = file(&self.set, CONTENTS_FILE, &mut self.pack)
            .and_then(|pack| io::copy(&mut from, pack))
            .map_err(|error| NotRecorded::Failed(ChangesError::io("copying", path)(error)))?;
        self.packed += copied;
        Ok(ContentLocation::Packed(at, copied))
    }

    fn clone_of(&mut self, from: &OwnedFd) -> Result<Option<ContentLocation>, Errno> {
        if !self.clones {
            return Ok(None);
        }
        let number = self.numbered;
        let name = number.to_string();
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let to = openat(&self.links, &name, flags, Mode::RUSR | Mode::WUSR)?;
        if ioctl_ficlone(&to, from).is_ok() {
            self.numbered += 1;
            return Ok(Some(ContentLocation::Clone(number)));
        }
        // One failure suffices: the file system does not support clones.
        self.clones = false;
        rustix::fs::unlinkat(&self.links, &name, AtFlags::empty())?;
        Ok(None)
    }
}
