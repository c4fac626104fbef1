//! Reads a path that may not be a regular file.

use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Returns the first bytes of a regular file, at most `max_bytes`; `None` for a file of another
/// type, or if the file cannot be read. Does not block if the path is a FIFO or a terminal.
#[must_use]
pub fn read_regular(path: &Path, max_bytes: u64) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(max_bytes).read_to_end(&mut bytes).ok()?;
    Some(bytes)
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
    }
}
