//! A directory only we can access: mode 0700, files 0600, and no symbolic link followed on the way to it.
//!
//! All operations go through a descriptor of the directory, so nobody can swap it afterwards (TOCTOU).

use rustix::fs::{self, AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::CStr;
use std::fs::{DirBuilder, File, Metadata};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The mode that the directories are set to, also if it was changed between two runs.
const OURS: Mode = Mode::RWXU;

/// An open private directory.
#[derive(Debug)]
pub(crate) struct PrivateDir {
    fd: OwnedFd,
    path: PathBuf,
}

impl PrivateDir {
    /// Opens `below`, component by component, under `root`, and creates what is missing. `root` is the caller's
    /// choice and may be a symbolic link. Below it, a symbolic link or a directory of another user is an error.
    pub(crate) fn create(root: &Path, below: &[&str]) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(root)?;
        Self::walk(root, below, true)
    }

    /// As [`PrivateDir::create`], without creating anything.
    pub(crate) fn open(root: &Path, below: &[&str]) -> io::Result<Self> {
        Self::walk(root, below, false)
    }

    fn walk(root: &Path, below: &[&str], make: bool) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut fd = fs::open(root, flags, Mode::empty())?;
        let mut path = root.to_owned();
        for name in below {
            path.push(name);
            if make {
                match fs::mkdirat(&fd, *name, OURS) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            fd = fs::openat(&fd, *name, flags | OFlags::NOFOLLOW, Mode::empty()).map_err(
                |error| match error {
                    Errno::LOOP | Errno::NOTDIR => not_ours("it is a link or no directory"),
                    other => other.into(),
                },
            )?;
            let stat = fs::fstat(&fd)?;
            if stat.st_uid != rustix::process::geteuid().as_raw() {
                return Err(not_ours("it belongs to another user"));
            }
            if make && Mode::from_raw_mode(stat.st_mode) != OURS {
                fs::fchmod(&fd, OURS)?;
            }
        }
        Ok(Self { fd, path })
    }

    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Creates a file for appending; an error if it exists.
    pub(crate) fn create_new(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL;
        self.file(name, flags)
    }

    /// Opens a file for reading and writing, creating it if missing.
    pub(crate) fn open_or_create(&self, name: &str) -> io::Result<File> {
        self.file(name, OFlags::RDWR | OFlags::CREATE)
    }

    /// Opens a file for reading.
    pub(crate) fn read(&self, name: &str) -> io::Result<File> {
        // Without O_NONBLOCK, opening a planted FIFO would block for ever.
        self.file(name, OFlags::RDONLY | OFlags::NONBLOCK)
    }

    fn file(&self, name: &str, flags: OFlags) -> io::Result<File> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(fs::openat(&self.fd, name, flags, Mode::RUSR | Mode::WUSR)?);
        if !file.metadata()?.is_file() {
            return Err(not_ours("it is no regular file"));
        }
        Ok(file)
    }

    /// Creates or replaces a file atomically.
    pub(crate) fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let draft = format!(".{name}.new");
        let written = self.write_draft(&draft, bytes).and_then(|()| {
            fs::renameat(&self.fd, draft.as_str(), &self.fd, name)?;
            Ok(())
        });
        if written.is_err() {
            // Report the first error, not that of the cleanup.
            let _ = self.remove(&draft);
        }
        written
    }

    fn write_draft(&self, draft: &str, bytes: &[u8]) -> io::Result<()> {
        // A leftover of a process that was killed between creating and renaming.
        self.remove(draft)?;
        self.create_new(draft)?.write_all(bytes)
    }

    /// Removes a file if it exists.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        match fs::unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// A file's metadata, if it is a regular file.
    pub(crate) fn metadata(&self, name: &str) -> io::Result<Metadata> {
        self.read(name)?.metadata()
    }

    /// The space a file takes up, in bytes.
    pub(crate) fn size(&self, name: &str) -> u64 {
        fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_or(0, |stat| u64::try_from(stat.st_size).unwrap_or(0))
    }

    /// Names of the regular files.
    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.fd)? {
            let entry = entry?;
            let regular = matches!(entry.file_type(), FileType::RegularFile | FileType::Unknown);
            if regular && let Ok(name) = CStr::to_str(entry.file_name()) {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    /// Free bytes of the file system that are available to us.
    pub(crate) fn free(&self) -> io::Result<u64> {
        let stat = fs::fstatvfs(&self.fd)?;
        Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
    }

    /// Whether the directory has been removed.
    pub(crate) fn is_gone(&self) -> bool {
        fs::fstat(&self.fd).is_ok_and(|stat| stat.st_nlink == 0)
    }
}

/// Whether a file still has a link.
pub(crate) fn is_linked(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.nlink() > 0)
}

fn not_ours(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why.to_owned())
}
