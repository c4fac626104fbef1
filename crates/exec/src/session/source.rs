//! Waits for the output and the report of a session's shell while it runs a script.

use super::record::{ScriptRun, ShellReport};
use super::shell_channel::{PendingProbe, ShellChannel};
use crate::streams::{OutputStreams, ReadyStream as OutputReady};
use agent_bash_call::{Alarm, Progress, Source};
use agent_bash_core::{Clock, OutputConsumer, StreamId};
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Duration;

/// The time limit for a waiting shell to take a record. If a shell has taken the record and does
/// not report within this time, the host asks it whether it has finished.
const READY_TIMEOUT: Duration = Duration::from_secs(1);

/// Additional time for a new shell.
const START_TIMEOUT: Duration = Duration::from_secs(9);

/// The reason why a shell has not run a script although it has taken the record.
const UNPARSED_REASON: &str =
    "its shell could not read the script, as where an alias stands in for a word of the language";

/// The output and the report of one call.
#[derive(Debug)]
pub(super) struct SessionSource<'a> {
    streams: &'a mut OutputStreams,
    channel: &'a mut ShellChannel,
    clock: Arc<dyn Clock>,
    alarm: Alarm,
    /// The time of the next check whether the shell has taken its record.
    next_check: Option<Duration>,
    start_allowance: Option<Duration>,
    pending: Option<PendingProbe>,
    silent_state: Option<SilentShell>,
    /// True after bytes that complete no report: output is read next, so that a flood of such bytes
    /// does not delay it.
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

/// An event to handle.
#[derive(Debug)]
pub(super) enum SessionEvent {
    Output(OutputReady),
    /// The shell has written bytes, or closed the socket.
    Reported(io::Result<()>),
    /// The check is due whether the shell has taken its record.
    Check,
    /// The shell has read the probe byte, so it has finished.
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
    /// The shell has not run the script, for this reason.
    Unread(&'static str),
    /// The shell has ended without taking the script.
    RefusedHandoff,
}

impl<'a> SessionSource<'a> {
    /// `is_new`: the shell has just been started.
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
            pending: None,
            silent_state: None,
            output_first: false,
        }
    }

    /// Returns the outcome of the hand-over, after the shell has finished or ended.
    pub(super) fn observed(&mut self) -> HandoverOutcome {
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
            None if self.channel.has_taken() => HandoverOutcome::End,
            None => HandoverOutcome::RefusedHandoff,
        }
    }

    /// Checks whether the shell has taken its record; if so, asks it whether it has finished.
    fn next_check(&mut self) -> Option<Progress> {
        let now = self.clock.now();
        self.next_check = None;
        if self.channel.has_taken() {
            self.pending = self.channel.probe().ok();
        } else if let Some(more) = self.start_allowance.take() {
            self.next_check = Some(now + more);
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
        if std::mem::take(&mut self.output_first) {
            return tokio::select! {
                biased;
                _ = self.alarm.wait_until(self.next_check) => SessionEvent::Check,
                () = probe_read(self.pending.as_ref()) => SessionEvent::Answered,
                ready = self.streams.ready() => SessionEvent::Output(ready),
                reported = self.channel.more() => SessionEvent::Reported(reported),
            };
        }
        tokio::select! {
            biased;
            reported = self.channel.more() => SessionEvent::Reported(reported),
            _ = self.alarm.wait_until(self.next_check) => SessionEvent::Check,
            () = probe_read(self.pending.as_ref()) => SessionEvent::Answered,
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
            SessionEvent::Check => self.next_check(),
            SessionEvent::Answered => {
                self.pending = None;
                // Any report was written before the answer.
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

/// Waits until the shell has read the probe byte; forever without one. Cancel safe.
async fn probe_read(probe: Option<&PendingProbe>) {
    match probe {
        Some(probe) => probe.until_read().await,
        None => std::future::pending().await,
    }
}
