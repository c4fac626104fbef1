//! Starts a launcher: its descriptors, its command line, and its messages.

use crate::error::SandboxError;
use crate::launcher::PROCESS_NAME;
use crate::plan::Order;
use crate::report::LauncherMessage;
use agent_bash_core::sandbox::Report;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::FdFlags;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

#[cfg(target_os = "linux")]
const RECEIVE_FLAGS: RecvFlags = RecvFlags::CMSG_CLOEXEC;
#[cfg(not(target_os = "linux"))]
const RECEIVE_FLAGS: RecvFlags = RecvFlags::empty();

/// The maximum number of bytes in a launcher's messages.
const MAX_MESSAGE_BYTES: usize = 64 * 1024;

/// A launcher to be started: its command line and inherited descriptors.
#[derive(Debug)]
pub struct LauncherStart {
    order: OwnedFd,
    messages: OwnedFd,
    report: OwnedFd,
}

impl LauncherStart {
    /// Writes the order for the launcher. The descriptors of the returned value are inheritable: no
    /// other thread may start a process until [`Self::report`] was called.
    pub fn new(order: &Order) -> Result<Self, SandboxError> {
        let mut file = unnamed_file()?;
        let text = serde_json::to_vec(order).map_err(SandboxError::step("writing the order"))?;
        file.write_all(&text)
            .map_err(SandboxError::step::<io::Error>("writing the order"))?;
        // Both ends are close-on-exec. The report channel is a socket, because its messages can
        // carry descriptors.
        let (messages, report) = UnixStream::pair()
            .map_err(SandboxError::step::<io::Error>("opening the report socket"))?;
        let (messages, report) = (OwnedFd::from(messages), OwnedFd::from(report));
        rustix::io::fcntl_setfd(&report, FdFlags::empty())
            .map_err(SandboxError::step("opening the report socket"))?;
        Ok(Self {
            order: file.into(),
            messages,
            report,
        })
    }

    /// Returns the `argv[0]` of the launcher. The launcher's program must be one that calls
    /// [`crate::init`].
    pub fn name() -> &'static OsStr {
        OsStr::new(PROCESS_NAME)
    }

    /// Returns the arguments of the launcher for the program that it becomes.
    pub fn words(&self, program: &OsStr, arg0: &OsStr) -> [OsString; 4] {
        let number = |fd: &OwnedFd| fd.as_raw_fd().to_string().into();
        [
            number(&self.order),
            number(&self.report),
            program.to_owned(),
            arg0.to_owned(),
        ]
    }

    /// Reads the messages of the launcher. If this function succeeds, the program runs.
    ///
    /// `timeout` is the time limit of each wait for a message.
    pub fn report(self, timeout: Duration) -> Result<StartedProgram, SandboxError> {
        drop((self.order, self.report));
        let timeout = Timespec {
            tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(timeout.subsec_nanos()),
        };
        let mut parsed_messages = LauncherMessages::default();
        let mut text = Vec::new();
        while read_more(
            &self.messages,
            &timeout,
            &mut text,
            &mut parsed_messages.descriptors,
        )
        .map_err(SandboxError::step("waiting for the launcher"))?
        {
            while let Some(end) = text.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = text.drain(..=end).collect();
                parsed_messages.handle(&line, &timeout)?;
            }
        }
        parsed_messages.into_started().ok_or(SandboxError::Silent)
    }
}

/// The state of a started program.
#[derive(Debug)]
pub struct StartedProgram {
    /// The report of the sandbox, if there is one.
    pub sandbox: Option<Report>,
    /// The listener of a traced program, or the reason why the program cannot be traced; `None` if
    /// no trace was requested.
    pub listener: Option<Result<OwnedFd, String>>,
    /// The socket table for [`SocketGuard`](crate::SocketGuard). If present, the program may use
    /// Unix sockets, and the listener must guard its connections.
    pub socket_table: Option<OwnedFd>,
}

/// The content of the messages received so far.
#[derive(Debug, Default)]
struct LauncherMessages {
    /// True if the program is about to start.
    ready: bool,
    sandbox: Option<Report>,
    listener: Option<Result<OwnedFd, String>>,
    socket_table: Option<OwnedFd>,
    /// Descriptors that came with the messages.
    descriptors: VecDeque<OwnedFd>,
}

impl LauncherMessages {
    /// Handles one line.
    fn handle(&mut self, line: &[u8], timeout: &Timespec) -> Result<(), SandboxError> {
        let message = serde_json::from_slice(line)
            .map_err(SandboxError::step("reading a message of the launcher"))?;
        match message {
            LauncherMessage::Ready(sandbox) => {
                self.ready = true;
                self.sandbox = sandbox;
            }
            LauncherMessage::SocketTable => self.socket_table = Some(self.descriptor()?),
            LauncherMessage::Traced => {
                let listener = self.descriptor();
                let listener = listener.and_then(|listener| {
                    after_first_call(listener, timeout)
                        .map_err(|error| SandboxError::Untraced(error.to_string()))
                })?;
                self.listener = Some(Ok(listener));
            }
            LauncherMessage::Untraced(reason) => self.listener = Some(Err(reason)),
            LauncherMessage::NoTrial(reason) => return Err(SandboxError::NoTrial(reason)),
            LauncherMessage::Lacks(what) => return Err(SandboxError::missing_facility(what)),
            LauncherMessage::Failed(reason) => return Err(SandboxError::Reported(reason)),
        }
        Ok(())
    }

    /// Returns the descriptor that came with the message.
    fn descriptor(&mut self) -> Result<OwnedFd, SandboxError> {
        let missing =
            || SandboxError::Untraced(io::Error::from(io::ErrorKind::InvalidData).to_string());
        self.descriptors.pop_front().ok_or_else(missing)
    }

    /// Returns the state of the program, if it is about to start.
    fn into_started(self) -> Option<StartedProgram> {
        self.ready.then_some(StartedProgram {
            sandbox: self.sandbox,
            listener: self.listener,
            socket_table: self.socket_table,
        })
    }
}

/// Returns the listener, once it has let the launcher's first traced system call continue.
#[cfg(target_os = "linux")]
fn after_first_call(listener_fd: OwnedFd, timeout: &Timespec) -> io::Result<OwnedFd> {
    use agent_bash_notify::Listener;
    let listener = Listener::new(listener_fd.try_clone()?)?;
    loop {
        let mut ready = [PollFd::new(&listener_fd, PollFlags::IN)];
        match poll(&mut ready, Some(timeout)) {
            Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
            Err(rustix::io::Errno::INTR) => continue,
            other => other?,
        };
        if !ready[0].revents().contains(PollFlags::IN) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        if let Some(call) = listener.next()? {
            listener.let_continue(&call)?;
            return Ok(listener_fd);
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn after_first_call(_: OwnedFd, _: &Timespec) -> io::Result<OwnedFd> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(target_os = "linux")]
fn unnamed_file() -> Result<File, SandboxError> {
    use rustix::fs::{MemfdFlags, memfd_create};
    memfd_create("agent-bash-launcher", MemfdFlags::empty())
        .map(File::from)
        .map_err(SandboxError::step("writing the order"))
}

#[cfg(not(target_os = "linux"))]
fn unnamed_file() -> Result<File, SandboxError> {
    Err(SandboxError::missing_facility("Linux"))
}

/// Reads the bytes that have arrived. Returns false at the end of the file.
fn read_more(
    socket: &OwnedFd,
    timeout: &Timespec,
    text: &mut Vec<u8>,
    descriptors: &mut VecDeque<OwnedFd>,
) -> io::Result<bool> {
    let mut buffer = [0; 4096];
    loop {
        let mut ready = [PollFd::new(socket, PollFlags::IN)];
        match poll(&mut ready, Some(timeout)) {
            Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
            Err(rustix::io::Errno::INTR) => continue,
            other => other?,
        };
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let parts = &mut [IoSliceMut::new(&mut buffer)];
        let count = match recvmsg(socket, parts, &mut ancillary, RECEIVE_FLAGS) {
            Ok(message) => message.bytes,
            // The launcher has ended without reading its input completely.
            Err(rustix::io::Errno::CONNRESET) => 0,
            Err(error) => return Err(error.into()),
        };
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(fds) = message {
                descriptors.extend(fds);
            }
        }
        text.extend_from_slice(&buffer[..count]);
        return Ok(count > 0 && text.len() < MAX_MESSAGE_BYTES);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_core::sandbox::Tier;

    fn parsed_messages(text: &str) -> Result<Option<StartedProgram>, SandboxError> {
        let mut parsed_messages = LauncherMessages::default();
        let timeout = Timespec {
            tv_sec: 1,
            tv_nsec: 0,
        };
        for line in text.lines() {
            parsed_messages.handle(line.as_bytes(), &timeout)?;
        }
        Ok(parsed_messages.into_started())
    }

    #[test]
    fn program_runs_only_after_a_report_without_a_failure() {
        let enforced = r#"{"ready":{"tier":"base","missing":["ipc"]}}"#;
        let failed = r#"{"failed":"no such file"}"#;
        let report = parsed_messages(enforced)
            .unwrap()
            .and_then(|ready| ready.sandbox);
        assert_eq!(report.map(|report| report.tier), Some(Tier::Base));
        let both = format!("{enforced}\n{failed}\n");
        assert_eq!(
            parsed_messages(&both).unwrap_err().to_string(),
            "no such file"
        );
        assert!(parsed_messages("").unwrap().is_none() && parsed_messages("{}").is_err());
        let lacks = parsed_messages(r#"{"lacks":"Landlock"}"#);
        assert!(matches!(&lacks, Err(SandboxError::Lacks { what }) if what == "Landlock"));
        let untried = parsed_messages(r#"{"no_trial":"why"}"#);
        assert!(matches!(untried, Err(SandboxError::NoTrial(_))));
    }

    #[test]
    fn untraced_start_is_no_failure() {
        let text = "{\"untraced\":\"why\"}\n{\"ready\":null}";
        let ready = parsed_messages(text).unwrap().unwrap();
        assert_eq!(ready.listener.map(Result::unwrap_err), Some("why".into()));
        // Without a descriptor.
        let text = "\"traced\"\n{\"ready\":null}";
        assert!(matches!(
            parsed_messages(text),
            Err(SandboxError::Untraced(_))
        ));
    }
}
