//! The channel to a session's shell, separate from the output of its scripts: the host sends
//! records, the shell sends reports.

use super::record::{ExpectedReport, PROBE_BYTE, ShellReport, run_record_line};
use agent_bash_process::{peek_report, receive_report};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream as BlockingStream;
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::net::unix::pipe::Sender;

/// Maximum number of bytes that are stored while a report is incomplete. If more bytes arrive, the
/// stored bytes are dropped.
const MAX_REPORT_BYTES: usize = 1 << 20;

/// The host's ends of the channel.
#[derive(Debug)]
pub(super) struct ShellChannel {
    /// The file for records; the shell shares its file offset.
    record: File,
    /// A NUL written here makes the shell read the record.
    control: File,
    /// The socket from which reports are read.
    status: UnixStream,
    /// Pid of the shell. Bytes that other processes write are ignored.
    shell_pid: u32,
    /// Bytes of the shell that are not part of a complete report yet.
    pending_report: Vec<u8>,
    /// The properties that identify the current call's report.
    expected: Option<ExpectedReport>,
}

impl ShellChannel {
    /// Creates the channel from the host's descriptors.
    ///
    /// # Errors
    /// The runtime cannot watch the socket.
    pub(super) fn new(
        record: OwnedFd,
        control: OwnedFd,
        status: OwnedFd,
        shell_pid: u32,
    ) -> io::Result<Self> {
        Ok(Self {
            record: File::from(record),
            control: File::from(control),
            status: register_socket(status)?,
            shell_pid,
            pending_report: Vec::new(),
            expected: None,
        })
    }

    /// Returns a function that checks for an unread report of the current call; `None` if the
    /// socket cannot be duplicated.
    pub(super) fn report_probe(&self) -> Option<impl Fn() -> bool + Send + Sync + 'static> {
        // The duplicate is close-on-exec, so that processes that the host starts meanwhile do not
        // inherit it.
        let status = rustix::io::fcntl_dupfd_cloexec(&self.status, 0).ok()?;
        let nonce = self.expected.as_ref()?.call.clone();
        let shell_pid = self.shell_pid;
        Some(move || {
            let mut buffer = [0; 4096];
            peek_report(&status, &mut buffer).is_ok_and(|received| {
                let mut words = buffer[..received.length].windows(nonce.as_bytes().len());
                received.writer.is_none_or(|writer| writer == shell_pid)
                    && words.any(|word| word == nonce.as_bytes())
            })
        })
    }

    /// Waits for more bytes of a report. Cancel safe.
    pub(super) async fn receive_more(&mut self) -> io::Result<()> {
        if receive_when_ready(&self.status, self.shell_pid, &mut self.pending_report).await? == 0 {
            // The shell has closed the socket, so it exits soon, and the supervisor reports that.
            std::future::pending::<()>().await;
        }
        Ok(())
    }

    /// Writes a record, which the shell reads when it is ready, and stores the properties of the
    /// expected report.
    pub(super) fn write(&mut self, record: &[u8], expected: ExpectedReport) -> io::Result<()> {
        self.pending_report.clear();
        let line = run_record_line(&expected.call);
        self.expected = Some(expected);
        // No part of a longer earlier record may remain.
        self.record.set_len(0)?;
        self.record.write_all_at(record, 0)?;
        self.record.rewind()?;
        self.control.write_all(&line)
    }

    /// Returns the report of the current call, if it has arrived completely.
    pub(super) fn report(&self) -> Option<ShellReport> {
        self.expected.as_ref()?.read_report(&self.pending_report)
    }

    /// Returns the bytes of the shell that are not part of a complete report yet.
    pub(super) fn pending_report(&self) -> &[u8] {
        &self.pending_report
    }

    /// True if the shell has read the record. The shell shares its file offset with the host.
    pub(super) fn has_read_record(&self) -> bool {
        rustix::fs::tell(&self.record) != Ok(0)
    }

    /// Withdraws the record unless the shell has read it. Returns true if it was withdrawn: the
    /// shell then reads an empty record.
    pub(super) fn withdraw(&self) -> io::Result<bool> {
        if self.has_read_record() {
            return Ok(false);
        }
        self.record.write_all_at(b"\0", 0)?;
        // At offset 1, the shell has read the empty record; at a larger one, the complete record.
        Ok(rustix::fs::tell(&self.record)? <= 1)
    }

    /// Writes a probe byte. A shell that has finished its record reads it from the control pipe.
    pub(super) fn probe(&mut self) -> io::Result<PendingProbe> {
        self.control.write_all(PROBE_BYTE)?;
        let control = self.control.try_clone()?;
        let control = Sender::from_owned_fd_unchecked(control.into())?;
        Ok(PendingProbe { control })
    }

    /// Reads all bytes that have arrived.
    pub(super) fn receive(&mut self) -> io::Result<()> {
        // A shell that writes endlessly must not block the host.
        for _ in 0..MAX_REPORT_BYTES / BUFFER_BYTES {
            if !matches!(
                receive_from_shell(&self.status, self.shell_pid, &mut self.pending_report)?,
                Some(1..)
            ) {
                break;
            }
        }
        Ok(())
    }
}

/// A probe byte that the shell may not have read yet.
#[derive(Debug)]
pub(super) struct PendingProbe {
    control: Sender,
}

impl PendingProbe {
    /// Waits until the shell has read the probe byte, and has therefore finished its record. Waits
    /// forever if the system cannot report that. Cancel safe.
    pub(super) async fn until_read(&self) {
        let _ = self.control.writable().await;
        if rustix::io::ioctl_fionread(&self.control) != Ok(0) {
            std::future::pending::<()>().await;
        }
    }
}

/// Registers a socket for reports or exports with the runtime.
///
/// # Errors
/// The runtime cannot watch the socket.
pub(super) fn register_socket(socket: OwnedFd) -> io::Result<UnixStream> {
    UnixStream::from_std(BlockingStream::from(socket))
}

/// Waits for bytes and receives them as [`receive_from_shell`] does. Cancel safe.
pub(super) async fn receive_when_ready(
    socket: &UnixStream,
    shell_pid: u32,
    text: &mut Vec<u8>,
) -> io::Result<usize> {
    loop {
        socket.readable().await?;
        let received = socket.try_io(Interest::READABLE, || {
            let received = receive_from_shell(socket, shell_pid, text)?;
            received.ok_or_else(|| io::ErrorKind::WouldBlock.into())
        });
        match received {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            received => return received,
        }
    }
}

/// Maximum number of bytes received at once.
const BUFFER_BYTES: usize = 4096;

/// Appends bytes that the shell with this pid has written, up to a limit. Returns the number of
/// bytes from any process: 0 if all writers have closed the socket, `None` if no bytes have arrived
/// yet.
pub(super) fn receive_from_shell(
    socket: impl AsFd,
    shell_pid: u32,
    text: &mut Vec<u8>,
) -> io::Result<Option<usize>> {
    let mut buffer = [0; BUFFER_BYTES];
    loop {
        match receive_report(&socket, &mut buffer) {
            Err(Errno::WOULDBLOCK) => return Ok(None),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
            Ok(received) => {
                if received.writer.is_none_or(|writer| writer == shell_pid) {
                    if text.len() > MAX_REPORT_BYTES {
                        text.clear();
                    }
                    text.extend_from_slice(&buffer[..received.length]);
                }
                return Ok(Some(received.length));
            }
        }
    }
}
