//! What a session's shell is told and says, apart from what its scripts print: records go in, reports come out.

use super::record::{COMMIT, QUESTION};
use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use tokio::net::unix::pipe::{Receiver, Sender};

/// The host's ends of it.
#[derive(Debug)]
pub(super) struct ShellChannel {
    /// The file for records; the shell shares its file offset.
    record: File,
    /// A NUL written here makes the shell read the record.
    control: File,
    /// Reports come out here.
    status: Receiver,
    /// What was reported during this call.
    pub(super) report: Vec<u8>,
}

impl ShellChannel {
    pub(super) fn new(record: OwnedFd, control: OwnedFd, status: Receiver) -> Self {
        Self {
            record: File::from(record),
            control: File::from(control),
            status,
            report: Vec::new(),
        }
    }

    /// A duplicate of the report descriptor, for checking whether a report is there. Close-on-exec, so that
    /// processes the host starts meanwhile do not inherit it.
    pub(super) fn status(&self) -> Option<OwnedFd> {
        rustix::io::fcntl_dupfd_cloexec(&self.status, 0).ok()
    }

    /// Waits for more of a report. Cancel safe.
    pub(super) async fn more(&mut self) -> io::Result<()> {
        read_status(&self.status, &mut self.report).await
    }

    /// Writes a record, which the shell reads when it gets to it.
    pub(super) fn write(&mut self, record: &[u8]) -> io::Result<()> {
        // Nothing may remain of a longer record before.
        self.record.set_len(0)?;
        self.record.write_all_at(record, 0)?;
        self.record.rewind()?;
        self.control.write_all(COMMIT)
    }

    /// Whether it has read the record: it shares its file offset with us.
    pub(super) fn has_taken(&self) -> bool {
        rustix::fs::tell(&self.record) != Ok(0)
    }

    /// Withdraws the record unless it was read. Returns whether it was withdrawn: the shell will then find an empty
    /// one.
    pub(super) fn take_back(&self) -> io::Result<bool> {
        if self.has_taken() {
            return Ok(false);
        }
        self.record.write_all_at(b"\0", 0)?;
        // At 1 it has meanwhile read the empty one, beyond that the complete one.
        Ok(rustix::fs::tell(&self.record)? <= 1)
    }

    /// Asks whether it is done with its record. It answers by reading the question from the control pipe.
    pub(super) fn ask(&mut self) -> io::Result<PendingQuestion> {
        self.control.write_all(QUESTION)?;
        let control = self.control.try_clone()?;
        let control = Sender::from_owned_fd_unchecked(control.into())?;
        Ok(PendingQuestion { control })
    }

    /// Reads reports that have not been read yet.
    pub(super) fn listen(&mut self) -> io::Result<()> {
        read_now(&self.status, &mut self.report)
    }
}

/// A question to a shell.
#[derive(Debug)]
pub(super) struct PendingQuestion {
    control: Sender,
}

impl PendingQuestion {
    /// Waits for the answer: it is done with its record and reads what comes next. For ever if the system cannot
    /// tell. Cancel safe.
    pub(super) async fn answered(&self) {
        let _ = self.control.writable().await;
        if rustix::io::ioctl_fionread(&self.control) != Ok(0) {
            std::future::pending::<()>().await;
        }
    }
}

/// Reads what is there.
pub(super) fn read_now(fifo: impl AsFd, text: &mut Vec<u8>) -> io::Result<()> {
    loop {
        text.reserve(4096);
        match rustix::io::read(&fifo, spare_capacity(text)) {
            Err(Errno::WOULDBLOCK) | Ok(0) => return Ok(()),
            Err(Errno::INTR) | Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Waits for more of a report. Cancel safe.
pub(super) async fn read_status(fifo: &Receiver, said: &mut Vec<u8>) -> io::Result<()> {
    loop {
        fifo.readable().await?;
        let mut buffer = [0u8; 4096];
        match fifo.try_read(&mut buffer) {
            Ok(count) => {
                said.extend_from_slice(&buffer[..count]);
                return Ok(());
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
}
