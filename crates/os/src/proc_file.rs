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

/// Returns the value of a field in the text of `/proc/PID/status`, without white space around it.
/// `name` has no colon.
pub fn status_field<'s>(status: &'s str, name: &str) -> Option<&'s str> {
    let mut lines = status.lines();
    let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    Some(value.trim())
}

/// The maximum number of bytes read of a process's arguments.
const MAX_ARGUMENTS_BYTES: u64 = 64 << 10;

/// The maximum number of bytes read of a process's environment. A program that is started gets at
/// most 6 MiB (`_STK_LIM / 4 * 3` in the kernel's `exec.c`).
const MAX_ENVIRONMENT_BYTES: u64 = 6 << 20;

/// Returns the first 64 KiB of the arguments of a process or thread, each followed by a zero byte.
/// `process` is its directory in `/proc`.
///
/// # Errors
/// The arguments cannot be read.
pub fn read_arguments(process: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    read_bounded(&process.as_ref().join("cmdline"), MAX_ARGUMENTS_BYTES)
}

/// Returns the environment with which a process was started, each variable followed by a zero byte.
/// `process` is its directory in `/proc`.
///
/// # Errors
/// The environment cannot be read.
pub fn read_environment(process: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    read_bounded(&process.as_ref().join("environ"), MAX_ENVIRONMENT_BYTES)
}

/// Reads the beginning of a file. By `prctl(PR_SET_MM)`, a process can declare any part of its
/// memory as its arguments or its environment, also gigabytes that it has never used.
fn read_bounded(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(USUAL_BYTES);
    File::open(path)?.take(max_bytes).read_to_end(&mut bytes)?;
    Ok(bytes)
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

    #[test]
    fn status_field_has_exactly_this_name() {
        let status = "Seccomp_filters:\t3\nSeccomp:\t2\n";
        assert_eq!(status_field(status, "Seccomp"), Some("2"));
        assert_eq!(status_field(status, "Tgid"), None);
    }

    #[test]
    fn arguments_and_environment_are_read_up_to_a_size() {
        let temp = tempfile::tempdir().unwrap();
        for name in ["cmdline", "environ"] {
            let file = File::create(temp.path().join(name)).unwrap();
            file.set_len(1 << 40).unwrap();
        }
        let lengths = [read_arguments(&temp), read_environment(&temp)];
        let lengths = lengths.map(|bytes| bytes.unwrap().len() as u64);
        assert_eq!(lengths, [MAX_ARGUMENTS_BYTES, MAX_ENVIRONMENT_BYTES]);
    }
}
