//! The files of a job, shared by its supervisor and all later hosts. The host creates the directory
//! with `job.new`, `end.new` and the output file. The supervisor renames `job.new` when it takes
//! over the job, and `end.new` when the job has ended. Each file is written once, so no process
//! reads an incomplete file.
//!
//! All access uses a descriptor of the directory: a path may be longer than a socket's address
//! allows, and the directory may be moved.

use crate::platform::unnamed_file;
use agent_bash_core::{ScriptEnding, Timestamp};
use agent_bash_os::PrivateDir;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

/// The job's description. Never changes; a directory without it is not a job.
pub const ENTRY_FILE: &str = "job.json";

/// The name of [`ENTRY_FILE`] until a supervisor has taken over the job.
pub const NEW_ENTRY_FILE: &str = "job.new";

/// The file with the job's [`JobEnd`]. Absent while the job runs.
pub const END_FILE: &str = "end.json";

/// The name of [`END_FILE`] until the job ends. Contains [`END_LENGTH`] spaces, so that a full disk
/// cannot prevent recording the end.
pub const NEW_END_FILE: &str = "end.new";

/// Size of [`END_FILE`]: its text, padded with spaces.
pub const END_LENGTH: usize = 512;

/// The output of a started job.
pub const OUTPUT_FILE: &str = "output";

/// The label of the unnamed file in which a supervisor stores the description of its job, without
/// the job's number. The file contains the resolved directory of the jobs, a NUL and the
/// description. No command can damage this copy.
pub(super) const DESCRIPTION_LABEL: &str = "agent-bash-job-";

/// The socket of the job's supervisor.
const SOCKET_FILE: &str = "control";

/// The end of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobEnd {
    /// The ending.
    pub ending: ScriptEnding,
    /// The time at which the supervisor noticed the end.
    pub ended_at: Timestamp,
    /// Bytes of output that are not in the output file because the file had reached its limit.
    pub dropped_bytes: u64,
    /// True if processes of the job are still running. If the shell was killed, they may still
    /// write to the output.
    pub has_remaining: bool,
    /// Size of the output file when the job ended; 0 for survivors, which use the file of their
    /// call.
    pub length: u64,
}

/// A job's directory.
#[derive(Debug)]
pub(super) struct JobDirectory(PrivateDir);

impl JobDirectory {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        PrivateDir::open(path, &[]).map(Self)
    }

    /// Opens an existing file for writing: at its beginning, or at its end with `append`.
    pub(super) fn file(&self, name: &str, append: bool) -> io::Result<File> {
        self.0.write(name, append)
    }

    /// Copies the new entry's file into an unnamed file, which [`super::job_supervisors`] reads if
    /// the entry's file is damaged or removed.
    pub(super) fn copy_description(&self) -> io::Result<OwnedFd> {
        let path = fs::canonicalize(self.0.path())?;
        let name = path.file_name().unwrap_or_default();
        let copy = unnamed_file(&format!("{DESCRIPTION_LABEL}{}", name.to_string_lossy()))?;
        let mut copy = File::from(copy);
        let jobs = path.parent().unwrap_or(&path);
        copy.write_all(jobs.as_os_str().as_bytes())?;
        copy.write_all(b"\0")?;
        io::copy(&mut self.0.read(NEW_ENTRY_FILE)?, &mut copy)?;
        Ok(copy.into())
    }

    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.0.rename(from, to)
    }

    /// Listens on the socket. The directory is private, so no other user can bind it.
    pub(super) fn listen(&self) -> io::Result<UnixListener> {
        let listener = UnixListener::bind(self.socket())?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    }

    /// Returns a path of the socket that is short enough for a socket address.
    pub(super) fn socket(&self) -> PathBuf {
        if cfg!(target_os = "linux") {
            PathBuf::from(format!(
                "/proc/self/fd/{}/{SOCKET_FILE}",
                self.0.as_fd().as_raw_fd()
            ))
        } else {
            self.0.path().join(SOCKET_FILE)
        }
    }

    /// Writes the end into the reserved file and gives it its final name.
    pub(super) fn end(&self, reserved: &mut File, end: &JobEnd) -> io::Result<()> {
        let mut text = serde_json::to_vec(end)?;
        text.push(b'\n');
        reserved.write_all(&text)?;
        self.rename(NEW_END_FILE, END_FILE)
    }

    /// Removes the socket, which is only needed while the supervisor runs.
    pub(super) fn remove_socket(&self) {
        let _ = self.0.remove(SOCKET_FILE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_fits_into_reserved_file_and_is_renamed() {
        let temp = tempfile::tempdir().unwrap();
        // Longer than a socket address may be.
        let path = temp.path().join("d".repeat(150));
        fs::create_dir(&path).unwrap();
        fs::write(path.join(NEW_END_FILE), [b' '; END_LENGTH]).unwrap();
        let directory = JobDirectory::open(&path).unwrap();
        let mut reserved = directory.file(NEW_END_FILE, false).unwrap();
        let end = JobEnd {
            ending: ScriptEnding::Signaled {
                signal: "SIGRTMIN+30".into(),
                number: 64,
            },
            ended_at: Timestamp(u64::MAX),
            dropped_bytes: u64::MAX,
            has_remaining: true,
            length: u64::MAX,
        };
        assert!(!path.join(END_FILE).exists());
        directory.end(&mut reserved, &end).unwrap();
        let text = fs::read(path.join(END_FILE)).unwrap();
        assert_eq!(
            text.len(),
            END_LENGTH,
            "the end fits into the reserved file"
        );
        // The largest timestamp that can be written.
        let read: JobEnd = serde_json::from_slice(&text).unwrap();
        assert_eq!(
            (read.ending, read.dropped_bytes),
            (end.ending, end.dropped_bytes)
        );
    }

    #[test]
    fn socket_works_with_long_path_and_is_removed() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("d".repeat(150));
        fs::create_dir(&path).unwrap();
        let directory = JobDirectory::open(&path).unwrap();
        let listener = directory.listen().unwrap();
        std::os::unix::net::UnixStream::connect(directory.socket()).unwrap();
        assert!(listener.accept().is_ok());
        assert!(directory.listen().is_err(), "the name is in use");
        directory.remove_socket();
        assert!(!path.join(SOCKET_FILE).exists());
    }
}
