//! A directory that only the user can access: mode 0700, files 0600. Symbolic links in its path are
//! not followed.
//!
//! All operations go through a descriptor of the directory, so that no other process can replace it
//! (TOCTOU).

use crate::remove::open_accessible;
use rustix::fs::{self, AtFlags, Dir, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use std::ffi::{CStr, OsStr};
use std::fs::{DirBuilder, File, Metadata};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The mode of directories. [`PrivateDir::create`] restores the mode if it was changed.
const PRIVATE_MODE: Mode = Mode::RWXU;

/// The flags for opening a directory.
const DIRECTORY_FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

/// An open private directory.
#[derive(Debug)]
pub struct PrivateDir {
    fd: OwnedFd,
    path: PathBuf,
}

impl PrivateDir {
    /// Opens the directory with the path components `below` under `root`, and creates missing
    /// directories. `root` is the caller's choice and may be a symbolic link. Below `root`, a
    /// symbolic link or a directory of another user is an error.
    pub fn create(root: &Path, below: &[&str]) -> io::Result<Self> {
        Self::walk(root, below, true)
    }

    /// Opens `directory`, and creates it if it is missing. Its parent directory counts as the root.
    pub fn create_at(directory: &Path) -> io::Result<Self> {
        let (Some(root), Some(name)) = (directory.parent(), directory.file_name()) else {
            return Err(refused("it has no parent directory"));
        };
        Self::walk(root, &[name], true)
    }

    /// Opens a private directory without creating anything.
    pub fn open(root: &Path, below: &[&str]) -> io::Result<Self> {
        Self::walk(root, below, false)
    }

    fn walk(root: &Path, below: &[impl AsRef<OsStr>], create_missing: bool) -> io::Result<Self> {
        let opened = match fs::open(root, DIRECTORY_FLAGS, Mode::empty()) {
            Err(Errno::NOENT) if create_missing => {
                DirBuilder::new().recursive(true).mode(0o700).create(root)?;
                fs::open(root, DIRECTORY_FLAGS, Mode::empty())
            }
            opened => opened,
        };
        let first = Self {
            fd: opened?,
            path: root.to_owned(),
        };
        below.iter().try_fold(first, |dir, name| {
            dir.open_below(name.as_ref(), create_missing)
        })
    }

    fn open_below(&self, name: &OsStr, create_missing: bool) -> io::Result<Self> {
        let open = || {
            fs::openat(
                &self.fd,
                name,
                DIRECTORY_FLAGS | OFlags::NOFOLLOW,
                Mode::empty(),
            )
        };
        let opened = match open() {
            Err(Errno::NOENT) if create_missing => {
                match fs::mkdirat(&self.fd, name, PRIVATE_MODE) {
                    Ok(()) | Err(Errno::EXIST) => open(),
                    Err(error) => return Err(error.into()),
                }
            }
            opened => opened,
        };
        let fd = opened.map_err(|error| match error {
            Errno::LOOP | Errno::NOTDIR => refused("it is a link, or not a directory"),
            other => other.into(),
        })?;
        let stat = fs::fstat(&fd)?;
        if stat.st_uid != rustix::process::geteuid().as_raw() {
            return Err(refused("it belongs to another user"));
        }
        if create_missing && Mode::from_raw_mode(stat.st_mode) != PRIVATE_MODE {
            fs::fchmod(&fd, PRIVATE_MODE)?;
        }
        let path = self.path.join(name);
        Ok(Self { fd, path })
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates and opens a subdirectory; an error if it exists.
    pub fn make_dir(&self, name: &str) -> io::Result<Self> {
        fs::mkdirat(&self.fd, name, PRIVATE_MODE)?;
        self.open_below(name.as_ref(), false)
    }

    /// Renames this directory within `parent`; an error if the new name exists.
    pub fn rename_in(&mut self, parent: &Self, name: &str) -> io::Result<()> {
        let old_name = self.path.file_name().unwrap_or_default();
        fs::renameat_with(
            &parent.fd,
            old_name,
            &parent.fd,
            name,
            RenameFlags::NOREPLACE,
        )?;
        self.path.set_file_name(name);
        Ok(())
    }

    /// Creates a file for appending; an error if it exists.
    pub fn create_new(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL;
        self.file(name, flags)
    }

    /// Opens a file for reading and writing, creating it if missing.
    pub fn open_or_create(&self, name: &str) -> io::Result<File> {
        self.file(name, OFlags::RDWR | OFlags::CREATE)
    }

    /// Opens a file for reading.
    pub fn read(&self, name: &str) -> io::Result<File> {
        // Without O_NONBLOCK, opening a FIFO would block for ever.
        self.file(name, OFlags::RDONLY | OFlags::NONBLOCK)
    }

    /// Opens an existing file for writing, at its beginning or for appending.
    pub fn write(&self, name: &str, append: bool) -> io::Result<File> {
        let append = if append {
            OFlags::APPEND
        } else {
            OFlags::empty()
        };
        self.file(name, OFlags::WRONLY | OFlags::NONBLOCK | append)
    }

    /// Renames a file and replaces an existing one.
    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(fs::renameat(&self.fd, from, &self.fd, to)?)
    }

    /// Moves an entry of any type to another directory on the same file system, and replaces a file
    /// by a file. Makes a directory writable if necessary.
    pub fn move_to(&self, name: &str, to: &Self, new: &str) -> io::Result<()> {
        match fs::renameat(&self.fd, name, &to.fd, new) {
            // The parent of a directory changes, so the kernel needs write access to it.
            Err(Errno::ACCESS) => {
                open_accessible(self.as_fd(), name.as_ref(), None)?;
                Ok(fs::renameat(&self.fd, name, &to.fd, new)?)
            }
            moved => Ok(moved?),
        }
    }

    /// Creates a hard link. Fails if `to` exists.
    pub fn link(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(fs::linkat(&self.fd, from, &self.fd, to, AtFlags::empty())?)
    }

    fn file(&self, name: &str, flags: OFlags) -> io::Result<File> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(fs::openat(&self.fd, name, flags, Mode::RUSR | Mode::WUSR)?);
        if !file.metadata()?.is_file() {
            return Err(refused("it is not a regular file"));
        }
        Ok(file)
    }

    /// Creates or replaces a file atomically.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let draft = format!(".{name}.new");
        let written = self
            .write_draft(&draft, bytes)
            .and_then(|()| self.rename(&draft, name));
        if written.is_err() {
            // The first error is reported, not an error of this cleanup.
            let _ = self.remove(&draft);
        }
        written
    }

    fn write_draft(&self, draft: &str, bytes: &[u8]) -> io::Result<()> {
        // A process that was killed between creating and renaming leaves this file.
        self.remove(draft)?;
        self.create_new(draft)?.write_all(bytes)
    }

    /// Removes a file if it exists.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match fs::unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// True if an entry of any type has this name.
    pub fn has(&self, name: &str) -> bool {
        fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Returns the metadata of a regular file.
    pub fn metadata(&self, name: &str) -> io::Result<Metadata> {
        self.read(name)?.metadata()
    }

    /// Returns the length of a file in bytes; 0 if it is missing.
    pub fn size(&self, name: &str) -> u64 {
        fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_or(0, |stat| u64::try_from(stat.st_size).unwrap_or(0))
    }

    /// Returns the names of the regular files.
    pub fn names(&self) -> io::Result<Vec<String>> {
        self.entries(FileType::RegularFile)
    }

    /// Returns the names of the subdirectories that do not begin with a dot, sorted.
    pub fn directories(&self) -> io::Result<Vec<String>> {
        let mut names = self.entries(FileType::Directory)?;
        names.retain(|name| !name.starts_with('.'));
        names.sort_unstable();
        Ok(names)
    }

    fn entries(&self, kind: FileType) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.fd)? {
            let entry = entry?;
            // Some file systems do not report the type; such an entry is included.
            let has_kind = entry.file_type() == kind || entry.file_type() == FileType::Unknown;
            if has_kind && let Ok(name) = CStr::to_str(entry.file_name()) {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    /// Returns the free space of the file system in bytes, as far as this user may use it.
    pub fn free(&self) -> io::Result<u64> {
        let stat = fs::fstatvfs(&self.fd)?;
        Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
    }

    /// Returns another handle of the directory.
    pub fn try_clone(&self) -> io::Result<Self> {
        let fd = self.fd.try_clone()?;
        let path = self.path.clone();
        Ok(Self { fd, path })
    }

    /// True if the path still leads to this directory: no process has removed, moved or replaced
    /// it.
    pub fn is_at_its_path(&self) -> bool {
        let identity = |stat: fs::Stat| (stat.st_dev, stat.st_ino);
        let open = fs::fstat(&self.fd).map(identity);
        let found = fs::stat(&self.path).map(identity);
        matches!((open, found), (Ok(open), Ok(found)) if open == found)
    }
}

/// True if a file still has a link.
pub fn is_linked(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.nlink() > 0)
}

/// Returns the error for a directory or file that is not safe to use.
fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why.to_owned())
}

impl AsFd for PrivateDir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
