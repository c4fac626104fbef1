//! Files of `/proc`.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The size of the first buffer in bytes. Most files of `/proc` are smaller, so one read is enough.
const USUAL_BYTES: usize = 4096;

/// Reads a file of `/proc`. Such a file reports no size, so `std::fs::read` would need many small
/// reads.
///
/// # Errors
/// The file cannot be read.
pub fn read_proc(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut bytes = vec![0; USUAL_BYTES];
    let mut length = 0;
    loop {
        let count = file.read(&mut bytes[length..])?;
        if count == 0 {
            bytes.truncate(length);
            return Ok(bytes);
        }
        length += count;
        if length == bytes.len() {
            bytes.resize(2 * length, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_proc_reads_files_of_any_size() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for length in [
            0,
            1,
            USUAL_BYTES - 1,
            USUAL_BYTES,
            USUAL_BYTES + 1,
            3 * USUAL_BYTES,
        ] {
            let text: Vec<u8> = (0..length).map(|at| at.to_le_bytes()[0]).collect();
            std::fs::write(file.path(), &text).unwrap();
            assert_eq!(read_proc(file.path()).unwrap(), text, "{length}");
        }
        assert!(read_proc("/proc/self/missing").is_err());
    }
}
