//! A shell that waits for its script, below a supervisor.

use super::client::{ANSWER_TIMEOUT, SupervisorClient};
use super::start_error::StartError;
use crate::supervisor::protocol::{Event, Order, ShellStart};
use agent_bash_core::StreamId;
use agent_bash_core::changes::{Overlay, TraceState};
use agent_bash_core::sandbox::Report;
use agent_bash_sandbox::SandboxError;
use agent_bash_sandbox::view::Mounts;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

/// A shell waiting for its script: the host's ends of its descriptors.
#[derive(Debug)]
pub struct ShellFds {
    /// The shell's pid and process group.
    pub pid: u32,
    /// The file for the shell's script.
    pub script: OwnedFd,
    /// The descriptor number of that file in the shell.
    pub script_fd: i32,
    /// The descriptor number of the script's stdin in the shell, if there is one.
    pub stdin_fd: Option<i32>,
    /// The pipe that is the shell's stdin.
    pub control: OwnedFd,
    /// The sockets on which the shell reports, if the start requested them.
    pub reports: Option<ReportFds>,
    /// Read ends of the requested streams, in the requested order.
    pub output: Vec<(StreamId, OwnedFd)>,
    /// The report on the shell's sandbox.
    pub sandbox: Option<Report>,
    /// True if the shell's changes are held back.
    pub held_back: bool,
    /// The reason why the shell's changes cannot be recorded, if recording was requested.
    pub untraced_reason: Option<String>,
}

/// The host's ends of the sockets on which a shell reports. They do not block.
#[derive(Debug)]
pub struct ReportFds {
    /// The socket for its status.
    pub status: OwnedFd,
    /// The socket for its exports.
    pub exports: OwnedFd,
}

impl SupervisorClient {
    /// Starts a shell. The previous shell must have ended, with all its descendants.
    ///
    /// # Errors
    /// [`StartError::Shell`] with the system's reason; [`StartError::Disconnected`].
    pub async fn start(
        &mut self,
        start: ShellStart,
        stdin: Option<BorrowedFd<'_>>,
    ) -> Result<ShellFds, StartError> {
        self.request_shell(start, stdin)?;
        self.started().await
    }

    /// Requests a shell without waiting for its start, for which see [`Self::started`]. The
    /// supervisor may not be running yet. The previous shell must have ended, with all its
    /// descendants.
    ///
    /// # Errors
    /// [`StartError::Disconnected`].
    pub fn request_shell(
        &mut self,
        start: ShellStart,
        stdin: Option<BorrowedFd<'_>>,
    ) -> Result<(), StartError> {
        if start.private_mounts_at().is_some() && self.host_mounts.is_none() {
            let now = Mounts::now().map_err(|error| StartError::NoTrial(error.to_string()))?;
            self.host_mounts = Some(now);
        }
        let (start, network) = self.complete_start(start)?;
        let network = network.iter().map(AsFd::as_fd);
        let fds: Vec<BorrowedFd<'_>> = stdin.into_iter().chain(network).collect();
        // A repeated start is a short message: it is sent between two calls, where time matters.
        let sent = if self.last_start.as_ref() == Some(&start) {
            self.order(&Order::StartAnother, &fds)
        } else {
            self.last_start = Some(start.clone());
            self.order(&Order::Start(start), &fds)
        };
        sent.map_err(|_| StartError::Disconnected)
    }

    /// Waits for the start of the requested shell. Cancel safe.
    ///
    /// # Errors
    /// [`StartError::Shell`] with the system's reason; [`StartError::Disconnected`].
    pub async fn started(&mut self) -> Result<ShellFds, StartError> {
        let clock = Arc::clone(&self.clock);
        let mut timeout = clock.sleep(ANSWER_TIMEOUT);
        loop {
            let event = self.event_until(&mut timeout).await?;
            if let Some(fds) = self.started_shell(event)? {
                return Ok(fds);
            }
        }
    }

    /// Returns the started shell without waiting; `None` if it has not started yet.
    ///
    /// # Errors
    /// As [`Self::started`].
    pub fn try_started(&mut self) -> Result<Option<ShellFds>, StartError> {
        while let Some(event) = self.try_event()? {
            if let Some(fds) = self.started_shell(event)? {
                return Ok(Some(fds));
            }
        }
        Ok(None)
    }

    /// Holds back the changes of the waiting shell in `overlay`. The shell must have been started
    /// with private mounts.
    ///
    /// # Errors
    /// [`StartError::NoTrial`], for example if the host's mounts have changed since the shell was
    /// started. The shell must not be used then.
    pub async fn hold_back(&mut self, overlay: &Overlay) -> Result<(), StartError> {
        let no_trial = |error: SandboxError| StartError::NoTrial(error.to_string());
        let now = Mounts::now().map_err(no_trial)?;
        if self.host_mounts.as_ref() != Some(&now) {
            let reason = "the mounts are not those that the shell was started with".to_owned();
            return Err(StartError::NoTrial(reason));
        }
        now.check(overlay).map_err(no_trial)?;
        let order = Order::HoldBack {
            overlay: overlay.clone(),
        };
        let answered = self.ask(&order, &[], |event| match event {
            Event::HeldBack => Some(Ok(())),
            Event::NoTrial { reason } => Some(Err(StartError::NoTrial(reason))),
            // The shell was killed while it waited.
            Event::Ended { .. } => Some(Err(StartError::Disconnected)),
            _ => None,
        });
        answered.await?
    }

    /// Starts recording the shell's changes in the change set with this directory. The shell must
    /// have been started with tracing. The shell's first change waits for this order.
    ///
    /// # Errors
    /// The supervisor has ended, or does not read.
    pub fn record(&self, set: &Path) -> io::Result<()> {
        let set = set.as_os_str().to_owned();
        self.order(
            &Order::Record {
                set,
                wants_answer: false,
            },
            &[],
        )
    }

    /// Starts recording the changes of a shell that was recorded before. Such a shell does not wait
    /// for this order. Returns when the recording has started.
    ///
    /// # Errors
    /// The change set cannot be opened, or the supervisor has ended or does not answer.
    pub async fn record_running(&mut self, set: &Path) -> io::Result<()> {
        let set = set.as_os_str().to_owned();
        let order = Order::Record {
            set,
            wants_answer: true,
        };
        let recording_started = self.ask(&order, &[], |event| match event {
            Event::Recording { incomplete_reason } => Some(incomplete_reason),
            _ => None,
        });
        match recording_started.await {
            Ok(None) => Ok(()),
            Ok(Some(reason)) => Err(io::Error::other(reason)),
            Err(_) => Err(io::Error::other("the recorder does not answer")),
        }
    }

    /// Stops recording after the end of the call. Returns how complete the record is.
    pub async fn stop_recording(&mut self) -> TraceState {
        let recorded = self.ask(&Order::StopRecording, &[], |event| match event {
            Event::Recorded { traced } => Some(traced),
            _ => None,
        });
        let disconnected = |_| TraceState::incomplete("the tracer has died");
        recorded.await.unwrap_or_else(disconnected)
    }

    /// Returns the started shell of an event; `None` for other events.
    fn started_shell(
        &mut self,
        (event, fds): (Event, Vec<OwnedFd>),
    ) -> Result<Option<ShellFds>, StartError> {
        match event {
            Event::Started {
                pid,
                script_fd,
                stdin_fd,
                sandbox,
                held_back,
                untraced_reason,
                tree_limits,
            } => {
                self.sandbox_report.clone_from(&sandbox);
                self.set_tree_limits(tree_limits);
                let mut fds = fds.into_iter();
                let (Some(script), Some(control)) = (fds.next(), fds.next()) else {
                    return Err(StartError::Disconnected);
                };
                let last = self.last_start.as_ref();
                let reports = if last.is_some_and(|start| start.reports) {
                    let (Some(status), Some(exports)) = (fds.next(), fds.next()) else {
                        return Err(StartError::Disconnected);
                    };
                    Some(ReportFds { status, exports })
                } else {
                    None
                };
                let streams = last.iter().flat_map(|start| &start.output);
                Ok(Some(ShellFds {
                    pid,
                    script,
                    script_fd,
                    stdin_fd,
                    control,
                    reports,
                    output: streams.copied().zip(fds).collect(),
                    sandbox,
                    held_back,
                    untraced_reason,
                }))
            }
            Event::Hello { version } => self.check_version(version).map(|()| None),
            other => StartError::in_event(other).map_or(Ok(None), Err),
        }
    }
}
