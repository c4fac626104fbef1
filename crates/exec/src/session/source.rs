//! Waits for the output and the report of a session's shell, while the shell runs a script.

use super::record::{ScriptRun, ShellReport};
use super::shell_channel::{PendingProbe, ShellChannel};
use crate::streams::{OutputStreams, ReadyStream};
use agent_bash_call::{Alarm, Progress, Source};
use agent_bash_core::{Clock, OutputConsumer, StreamId, or_never};
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Duration;

/// The time limit for a waiting shell to take a record. If a shell has taken the record and does
/// not report within this time, the host writes a probe byte, which only a finished shell reads.
const READY_TIMEOUT: Duration = Duration::from_secs(1);

/// Additional time for a new shell.
const START_TIMEOUT: Duration = Duration::from_secs(9);

/// The reason why a shell has not run a script, although the shell has taken the record.
const UNPARSED_REASON: &str =
    "its shell could not parse the script, for example because an alias replaces a reserved word";

/// The output and the report of one call.
#[derive(Debug)]
pub(super) struct SessionSource<'a> {
    streams: &'a mut OutputStreams,
    channel: &'a mut ShellChannel,
    clock: Arc<dyn Clock>,
    alarm: Alarm,
    /// The time of the next check whether the shell has taken its record.
    next_check: Option<Duration>,
    /// Time by which the first check is postponed once, for a new shell.
    start_allowance: Option<Duration>,
    /// A probe byte that the shell may not have read yet.
    pending_probe: Option<PendingProbe>,
    /// Set once the shell is known to have finished, or not to have begun, without a report.
    silent_state: Option<SilentShell>,
    /// True after bytes that complete no report. Output is read next, so that a flood of such bytes
    /// does not delay the output.
    output_first: bool,
}

/// The observed state of a shell that does not report.
#[derive(Debug, Clone, Copy)]
enum SilentShell {
    /// The shell has finished its record without a report.
    Done,
    /// The shell did not take its record in time, so the record was withdrawn.
    TookNothing,
}

/// An event of a running call, which `read` handles.
#[derive(Debug)]
pub(super) enum SessionEvent {
    /// A stream has output.
    Output(ReadyStream),
    /// The shell has written bytes, or closed the socket.
    Reported(io::Result<()>),
    /// The time has come to check whether the shell has taken its record.
    Check,
    /// The shell has read the probe byte, so it has finished the record.
    Answered,
}

/// The outcome of handing a script to the shell.
#[derive(Debug)]
pub(super) enum HandoverOutcome {
    /// The shell has run the script.
    Report(ShellReport),
    /// The shell has run all or part of the script, and has ended.
    End,
    /// The shell has run all or part of the script and is ready for the next, but cannot report.
    Mute,
    /// The shell could not enter the directory.
    Refused,
    /// The shell has not run the script, for the given reason.
    Unread(&'static str),
    /// The shell has ended without taking the script.
    RefusedHandoff,
}

impl<'a> SessionSource<'a> {
    /// Creates the source of one call. `is_new`: the shell has just been started.
    pub(super) fn new(
        streams: &'a mut OutputStreams,
        channel: &'a mut ShellChannel,
        clock: &Arc<dyn Clock>,
        is_new: bool,
    ) -> Self {
        Self {
            streams,
            channel,
            next_check: Some(clock.now() + READY_TIMEOUT),
            clock: Arc::clone(clock),
            alarm: Alarm::new(Arc::clone(clock)),
            start_allowance: is_new.then_some(START_TIMEOUT),
            pending_probe: None,
            silent_state: None,
            output_first: false,
        }
    }

    /// Returns the outcome of the hand-over, after the shell has finished or ended.
    pub(super) fn handover_outcome(&mut self) -> HandoverOutcome {
        // The shell's end may be observed before its last report is read.
        let _ = self.channel.receive();
        let withdrawn = matches!(self.silent_state, Some(SilentShell::TookNothing));
        if let Some(report) = self.channel.report().filter(|_| !withdrawn) {
            return match report.run {
                ScriptRun::Yes => HandoverOutcome::Report(report),
                ScriptRun::NoDirectory => HandoverOutcome::Refused,
                ScriptRun::Unread => HandoverOutcome::Unread(UNPARSED_REASON),
            };
        }
        match self.silent_state {
            Some(SilentShell::Done) => HandoverOutcome::Mute,
            Some(SilentShell::TookNothing) => {
                HandoverOutcome::Unread("its shell did not answer in time")
            }
            None if self.channel.has_read_record() => HandoverOutcome::End,
            None => HandoverOutcome::RefusedHandoff,
        }
    }

    /// Checks whether the shell has taken its record. If so, writes a probe byte. If not, sets the
    /// time of another check, or withdraws the record.
    fn check_record_read(&mut self) -> Option<Progress> {
        let now = self.clock.now();
        self.next_check = None;
        if self.channel.has_read_record() {
            self.pending_probe = self.channel.probe().ok();
        } else if let Some(extra) = self.start_allowance.take() {
            self.next_check = Some(now + extra);
        } else if matches!(self.channel.withdraw(), Ok(true)) {
            self.silent_state = Some(SilentShell::TookNothing);
            return Some(Progress::ShellDone);
        } else {
            self.next_check = Some(now + READY_TIMEOUT);
        }
        None
    }
}

impl Source for SessionSource<'_> {
    type SourceEvent = SessionEvent;

    async fn ready(&mut self) -> SessionEvent {
        let answered = or_never(self.pending_probe.as_ref().map(PendingProbe::until_read));
        if std::mem::take(&mut self.output_first) {
            return tokio::select! {
                biased;
                _ = self.alarm.wait_until(self.next_check) => SessionEvent::Check,
                () = answered => SessionEvent::Answered,
                ready = self.streams.ready() => SessionEvent::Output(ready),
                reported = self.channel.receive_more() => SessionEvent::Reported(reported),
            };
        }
        tokio::select! {
            biased;
            reported = self.channel.receive_more() => SessionEvent::Reported(reported),
            _ = self.alarm.wait_until(self.next_check) => SessionEvent::Check,
            () = answered => SessionEvent::Answered,
            ready = self.streams.ready() => SessionEvent::Output(ready),
        }
    }

    fn read(&mut self, ready: SessionEvent, out: &mut dyn OutputConsumer) -> Option<Progress> {
        match ready {
            SessionEvent::Output(ready) => self.streams.read(ready, out),
            SessionEvent::Reported(Ok(())) => {
                let report = self.channel.report();
                self.output_first = report.is_none();
                report.map(|_| Progress::ShellDone)
            }
            SessionEvent::Reported(Err(_)) => Some(Progress::ShellDone),
            SessionEvent::Check => self.check_record_read(),
            SessionEvent::Answered => {
                self.pending_probe = None;
                // The shell writes its report before it reads the probe byte, so any report has
                // arrived.
                let is_done = self.channel.receive().is_ok();
                self.silent_state = is_done.then_some(SilentShell::Done);
                is_done.then_some(Progress::ShellDone)
            }
        }
    }

    fn read_now(&mut self, out: &mut dyn OutputConsumer) -> bool {
        self.streams.read_now(out)
    }

    fn ended(&self) -> bool {
        self.streams.ended()
    }

    fn close_stopped(&mut self) -> Progress {
        self.streams.close_stopped()
    }

    fn open_streams(&self) -> impl Iterator<Item = (StreamId, BorrowedFd<'_>)> {
        self.streams.open_streams()
    }
}
