//! Reads a path that may not be a regular file.

use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Opens a regular file for reading. Does not block if the path is a FIFO or a terminal.
///
/// # Errors
/// The system's error, or `InvalidInput` for a file of another type.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    let reason = "it is not a regular file";
    Err(io::Error::new(io::ErrorKind::InvalidInput, reason))
}

/// Returns the first bytes of a regular file, at most `max_bytes`; `None` for a file of another
/// type, or if the file cannot be read. Does not block if the path is a FIFO or a terminal.
#[must_use]
pub fn read_regular(path: &Path, max_bytes: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = open_regular(path).ok()?;
    file.take(max_bytes).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Returns the first bytes of a regular file as [`read_regular`] does, as text. Invalid UTF-8 is
/// replaced.
#[must_use]
pub fn read_regular_text(path: &Path, max_bytes: u64) -> Option<String> {
    let bytes = read_regular(path, max_bytes)?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_regular_reads_first_bytes_of_regular_files_only() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("file");
        std::fs::write(&file, "text").unwrap();
        assert_eq!(read_regular(&file, 9).as_deref(), Some(&b"text"[..]));
        assert_eq!(read_regular(&file, 2).as_deref(), Some(&b"te"[..]));
        assert_eq!(read_regular(temp.path(), 9), None);
        assert_eq!(read_regular(Path::new("/dev/zero"), 9), None);
        let kind = |path: &Path| open_regular(path).map_err(|error| error.kind()).err();
        assert_eq!(kind(&file), None);
        assert_eq!(kind(temp.path()), Some(io::ErrorKind::InvalidInput));
        assert_eq!(kind(&file.join("x")), Some(io::ErrorKind::NotADirectory));
        let missing = temp.path().join("missing");
        assert_eq!(kind(&missing), Some(io::ErrorKind::NotFound));
    }
}
