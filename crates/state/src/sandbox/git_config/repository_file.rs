//! A repository's `config`, opened without following links.

use agent_bash_os::{O_PATH, open_without_links};
use rustix::fs::{AtFlags, Mode, OFlags, fstat, openat, statat, unlinkat};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

/// The largest size of a file that is merged, in bytes.
const MAX_BYTES: u64 = 256 << 10;

/// Returns the contents of a file that is not too large.
pub(super) fn limited(file: File) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let length = file.take(MAX_BYTES + 1).read_to_end(&mut text)?;
    if length as u64 > MAX_BYTES {
        return Err(io::Error::other("the file is too large"));
    }
    Ok(text)
}

/// The opened file.
pub(super) struct RepositoryFile {
    directory: OwnedFd,
    name: OsString,
    file: File,
    text: Vec<u8>,
}

/// git's lock of the file, which is removed on drop.
struct ConfigLock {
    directory: OwnedFd,
    name: OsString,
}

impl Drop for ConfigLock {
    fn drop(&mut self) {
        // A lock that stays is reported by the next git.
        let _ = unlinkat(&self.directory, &self.name, AtFlags::empty());
    }
}

impl RepositoryFile {
    /// Opens and reads the file.
    ///
    /// # Errors
    /// I/O errors; a link in the path; or the file is not regular, has several names, or is too
    /// large.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let parent = path.parent().unwrap_or(Path::new("/"));
        let name = path.file_name().unwrap_or(OsStr::new(".")).to_owned();
        let directory = open_without_links(parent, O_PATH | OFlags::DIRECTORY)?;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = openat(&directory, &name, OFlags::RDWR | flags, Mode::empty())?;
        let file = File::from(file);
        let found = file.metadata()?;
        if !found.is_file() || found.nlink() != 1 {
            return Err(io::Error::other("it is no regular file with one name"));
        }
        let text = limited(file.try_clone()?)?;
        Ok(Self {
            directory,
            name,
            file,
            text,
        })
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Locks the file as git does, and checks that the opened file is the current one.
    ///
    /// # Errors
    /// I/O errors; another process has the lock; or the file has changed since it was read.
    fn lock(&self) -> io::Result<ConfigLock> {
        let mut name = self.name.clone();
        name.push(".lock");
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        openat(&self.directory, &name, flags, Mode::RUSR | Mode::WUSR)?;
        let directory = self.directory.try_clone()?;
        let lock = ConfigLock { directory, name };
        let named = statat(&self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW)?;
        let opened = fstat(&self.file)?;
        let mut text = vec![0; self.text.len()];
        self.file.read_exact_at(&mut text, 0)?;
        let is_same = (named.st_dev, named.st_ino) == (opened.st_dev, opened.st_ino);
        if !is_same || opened.st_size as usize != text.len() || text != self.text {
            return Err(io::Error::other("another process has changed the file"));
        }
        Ok(lock)
    }

    /// Writes the text in place. A renamed file would end the mounts of running sandboxes on the
    /// present one, and they could write the new file.
    ///
    /// # Errors
    /// See [`Self::lock`]; or the text cannot be written.
    pub(super) fn write(&mut self, text: Vec<u8>) -> io::Result<()> {
        let _lock = self.lock()?;
        if let Err(error) = self.put(&text) {
            self.put(&self.text)?;
            return Err(error);
        }
        self.text = text;
        Ok(())
    }

    fn put(&self, text: &[u8]) -> io::Result<()> {
        let length = self.file.metadata()?.len() as usize;
        self.file.write_all_at(&padded(text, length), 0)?;
        self.file.set_len(text.len() as u64)
    }
}

/// Returns the text, followed by empty lines up to a length. Otherwise the end of the former text
/// would stay until the file is shortened, and a git outside could read a part of a call's value as
/// a key.
fn padded(text: &[u8], length: usize) -> Vec<u8> {
    let mut padded = text.to_vec();
    padded.resize(length.max(text.len()), b'\n');
    padded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padded_text_hides_the_end_of_a_longer_file() {
        assert_eq!(padded(b"[a]\n", 6), b"[a]\n\n\n");
        assert_eq!(padded(b"[a]\n", 2), b"[a]\n");
    }
}
