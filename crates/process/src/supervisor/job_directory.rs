//! The files of a job, shared by its supervisor and all later hosts. The host creates the directory
//! and its files (`job.new`, `end.new`, the output file); the supervisor commits first the one and
//! finally the other by a rename. Each is written once, so no process reads an incomplete file or
//! overwrites another's.
//!
//! All access is through a descriptor of the directory: paths may be longer than a socket's address
//! allows, and the directory may be moved.

use agent_bash_core::{ScriptEnding, Timestamp};
use agent_bash_os::PrivateDir;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

/// The job's description. Never changes; without it there is no job.
pub const ENTRY_FILE: &str = "job.json";

/// [`ENTRY_FILE`] before its supervisor has taken over the job.
pub const NEW_ENTRY_FILE: &str = "job.new";

/// The file with the job's ending, a [`JobEnd`]. Absent until then. Absent until then.
pub const END_FILE: &str = "end.json";

/// [`END_FILE`] before the end: [`END_LENGTH`] spaces, reserved so that a full disk cannot prevent
/// recording the end.
pub const NEW_END_FILE: &str = "end.new";

/// Size of [`END_FILE`]: its text, padded with spaces.
pub const END_LENGTH: usize = 512;

/// The output of a started job.
pub const OUTPUT_FILE: &str = "output";

/// The socket of its supervisor.
const SOCKET_FILE: &str = "control";

/// The end of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobEnd {
    /// The ending.
    pub ending: ScriptEnding,
    /// The time at which the supervisor noticed the end.
    pub ended_at: Timestamp,
    /// Bytes it printed that are not in its output file because the file had reached its limit.
    pub dropped_bytes: u64,
    /// True if processes are left. If its shell was killed they may hold its output, which then
    /// keeps growing.
    pub has_remaining: bool,
    /// Size of its output file at that time; 0 for survivors, whose file is their call's.
    pub length: u64,
}

/// A job's directory.
#[derive(Debug)]
pub(super) struct JobDirectory(PrivateDir);

impl JobDirectory {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        PrivateDir::open(path, &[]).map(Self)
    }

    /// Opens a file of it that is there, for writing: at its beginning, or behind what is in it.
    pub(super) fn file(&self, name: &str, append: bool) -> io::Result<File> {
        self.0.write(name, append)
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

    /// A path for the socket's address, however long that of the directory is.
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

    /// Moves the end to its final name.
    pub(super) fn end(&self, reserved: &mut File, end: &JobEnd) -> io::Result<()> {
        let mut text = serde_json::to_vec(end)?;
        text.push(b'\n');
        reserved.write_all(&text)?;
        self.rename(NEW_END_FILE, END_FILE)
    }

    /// Removes what is only needed while the supervisor lives.
    pub(super) fn tidy(&self) {
        let _ = self.0.remove(SOCKET_FILE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_replaces_nothing_before_it_is_whole() {
        let temp = tempfile::tempdir().unwrap();
        // Longer than a socket address may be.
        let path = temp.path().join("d".repeat(150));
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join(NEW_END_FILE), [b' '; END_LENGTH]).unwrap();
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
        let text = std::fs::read(path.join(END_FILE)).unwrap();
        assert_eq!(text.len(), END_LENGTH, "nothing had to be made longer");
        // The largest timestamp that can be written.
        let read: JobEnd = serde_json::from_slice(&text).unwrap();
        assert_eq!(
            (read.ending, read.dropped_bytes),
            (end.ending, end.dropped_bytes)
        );
    }

    #[test]
    fn the_socket_is_reached_by_a_long_path_and_gone_when_tidied() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("d".repeat(150));
        std::fs::create_dir(&path).unwrap();
        let directory = JobDirectory::open(&path).unwrap();
        let listener = directory.listen().unwrap();
        std::os::unix::net::UnixStream::connect(directory.socket()).unwrap();
        assert!(listener.accept().is_ok());
        assert!(directory.listen().is_err(), "it is taken");
        directory.tidy();
        assert!(!path.join(SOCKET_FILE).exists());
    }
}
