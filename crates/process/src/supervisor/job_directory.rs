//! The files of a job, as its supervisor and every later host know them. The host makes the directory and what is in it
//! (`job.new`, `end.new`, the output file); the supervisor commits the one and, in the end, the other by a rename. Each
//! is written once, so nobody ever reads half of one, and nobody overwrites anybody.
//!
//! Everything goes through a descriptor of the directory: paths may be longer than a socket's name can be, and the
//! directory may be moved.

use agent_bash_core::Timestamp;
use rustix::fs::{AtFlags, Mode, OFlags};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

/// What a job is. Never changed: while it is absent there is no job.
pub const ENTRY: &str = "job.json";

/// [`ENTRY`] before its supervisor has taken the job.
pub const NEW_ENTRY: &str = "job.new";

/// How it ended, a [`JobEnd`]. Absent until then.
pub const END: &str = "end.json";

/// [`END`] before the end: [`END_LENGTH`] spaces, so that a full disk does not keep the end from being told.
pub const NEW_END: &str = "end.new";

/// Length of [`END`]: its text, then spaces.
pub const END_LENGTH: usize = 512;

/// What a started job prints.
pub const OUTPUT: &str = "output";

/// The socket by which its supervisor is reached.
const SOCKET: &str = "control";

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobEnd {
    /// How.
    pub ending: JobEnding,
    /// When its supervisor saw it.
    pub ended_at: Timestamp,
    /// Bytes that it printed and that are not in its output file, since that had all it may have.
    pub dropped_bytes: u64,
    /// Processes lived on. Where its shell was killed they may hold its output, which grows on then.
    pub left: bool,
    /// Length of its output file then; 0 for survivors, whose file is their call's.
    pub length: u64,
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum JobEnding {
    /// Its shell exited.
    Exited {
        /// 0 to 255.
        code: i32,
    },
    /// Its shell was ended by a signal, whoever sent it.
    Signaled {
        /// Such as `SIGKILL`.
        signal: String,
        /// The platform's number.
        number: i32,
    },
    /// It was ended since it had taken all the time that it may take.
    TimedOut {
        /// The limit in milliseconds.
        after_ms: u64,
    },
    /// Survivors of a call: all have ended, each in its own way.
    Gone,
}

/// A job's directory.
#[derive(Debug)]
pub(super) struct JobDirectory {
    handle: OwnedFd,
    path: PathBuf,
}

impl JobDirectory {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(path, flags, Mode::empty())?;
        let path = path.to_owned();
        Ok(Self { handle, path })
    }

    /// Opens a file of it that is there.
    pub(super) fn file(&self, name: &str, flags: OFlags) -> io::Result<File> {
        let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        Ok(rustix::fs::openat(&self.handle, name, flags, Mode::empty())?.into())
    }

    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.handle, from, &self.handle, to)?)
    }

    /// Listens on the socket; nobody else may bind it while the directory is ours alone.
    pub(super) fn listen(&self) -> io::Result<UnixListener> {
        let listener = UnixListener::bind(self.socket())?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    }

    /// A path by which the socket can be named, however long the directory's own is.
    pub(super) fn socket(&self) -> PathBuf {
        if cfg!(target_os = "linux") {
            PathBuf::from(format!(
                "/proc/self/fd/{}/{SOCKET}",
                self.handle.as_raw_fd()
            ))
        } else {
            self.path.join(SOCKET)
        }
    }

    /// Puts the end where readers look for it.
    pub(super) fn end(&self, reserved: &mut File, end: &JobEnd) -> io::Result<()> {
        let mut text = serde_json::to_vec(end)?;
        text.push(b'\n');
        reserved.write_all(&text)?;
        self.rename(NEW_END, END)
    }

    /// Takes away what only a living supervisor needs.
    pub(super) fn tidy(&self) {
        let _ = rustix::fs::unlinkat(&self.handle, SOCKET, AtFlags::empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_replaces_nothing_before_it_is_whole() {
        let temp = tempfile::tempdir().unwrap();
        // Longer than a socket's name may be.
        let path = temp.path().join("d".repeat(150));
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join(NEW_END), [b' '; END_LENGTH]).unwrap();
        let directory = JobDirectory::open(&path).unwrap();
        let mut reserved = directory.file(NEW_END, OFlags::WRONLY).unwrap();
        let end = JobEnd {
            ending: JobEnding::Signaled {
                signal: "SIGRTMIN+30".into(),
                number: 64,
            },
            ended_at: Timestamp(u64::MAX),
            dropped_bytes: u64::MAX,
            left: true,
            length: u64::MAX,
        };
        assert!(!path.join(END).exists());
        directory.end(&mut reserved, &end).unwrap();
        let text = std::fs::read(path.join(END)).unwrap();
        assert_eq!(text.len(), END_LENGTH, "nothing had to be made longer");
        // The last millisecond that can be written.
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
        assert!(!path.join(SOCKET).exists());
    }
}
