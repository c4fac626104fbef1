//! Waits for the output and the report of a session's shell while it runs a script.

use super::record::{ScriptRun, ShellReport};
use super::shell_channel::{PendingQuestion, ShellChannel};
use crate::streams::{OutputStreams, ReadyStream as OutputReady};
use agent_bash_call::{Alarm, Progress, Source};
use agent_bash_core::{Clock, OutputConsumer, StreamId};
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Duration;

/// The time limit for a waiting shell to take a record. A shell that has taken the record and has
/// not reported after this time is asked whether it has finished.
const READY_TIMEOUT: Duration = Duration::from_secs(1);

/// Additional time for a shell that has just been started.
const START_TIMEOUT: Duration = Duration::from_secs(9);

/// The reason why a shell has not run a script although it has taken the record.
const UNPARSED_REASON: &str =
    "its shell could not read the script, as where an alias stands in for a word of the language";

/// The output and the report of one call.
#[derive(Debug)]
pub(super) struct SessionSource<'a> {
    streams: &'a mut OutputStreams,
    talk: &'a mut ShellChannel,
    clock: Arc<dyn Clock>,
    alarm: Alarm,
    /// The time at which to check whether the shell has taken its record.
    look: Option<Duration>,
    patience: Option<Duration>,
    pending: Option<PendingQuestion>,
    verdict: Option<SilentShell>,
    /// True after a message without a report: output is read first then, so that a flood of
    /// messages does not delay it.
    output_first: bool,
}

/// The state of a shell that does not report.
#[derive(Debug, Clone, Copy)]
enum SilentShell {
    /// The shell has finished its record.
    Done,
    /// The shell did not take its record, which was withdrawn.
    TookNothing,
}

/// An event to handle.
#[derive(Debug)]
pub(super) enum SessionEvent {
    Output(OutputReady),
    /// The shell has reported something, or closed its report.
    Reported(io::Result<()>),
    /// The check is due.
    Look,
    /// The shell has answered that it has finished.
    Answered,
}

/// The outcome of handing a script to the shell.
#[derive(Debug)]
pub(super) enum HandoverOutcome {
    /// The shell has run the script.
    Report(ShellReport),
    /// The shell has run all or part of the script, and has ended.
    End,
    /// The shell has run all or part of the script and waits for the next, but cannot report.
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
        talk: &'a mut ShellChannel,
        clock: &Arc<dyn Clock>,
        is_new: bool,
    ) -> Self {
        Self {
            streams,
            talk,
            look: Some(clock.now() + READY_TIMEOUT),
            clock: Arc::clone(clock),
            alarm: Alarm::new(Arc::clone(clock)),
            patience: is_new.then_some(START_TIMEOUT),
            pending: None,
            verdict: None,
            output_first: false,
        }
    }

    /// The outcome for the script, once the shell has finished or ended.
    pub(super) fn observed(&mut self) -> HandoverOutcome {
        // The shell's end may be observed before its last report is read.
        let _ = self.talk.listen();
        let withdrawn = matches!(self.verdict, Some(SilentShell::TookNothing));
        if let Some(report) = self.talk.report().filter(|_| !withdrawn) {
            return match report.run {
                ScriptRun::Yes => HandoverOutcome::Report(report),
                ScriptRun::NoDirectory => HandoverOutcome::Refused,
                ScriptRun::Unread => HandoverOutcome::Unread(UNPARSED_REASON),
            };
        }
        match self.verdict {
            Some(SilentShell::Done) => HandoverOutcome::Mute,
            Some(SilentShell::TookNothing) => {
                HandoverOutcome::Unread("its shell did not answer in time")
            }
            None if self.talk.has_taken() => HandoverOutcome::End,
            None => HandoverOutcome::RefusedHandoff,
        }
    }

    /// Checks whether the shell has taken its record; if so, asks it whether it has finished.
    fn look(&mut self) -> Option<Progress> {
        let now = self.clock.now();
        self.look = None;
        if self.talk.has_taken() {
            self.pending = self.talk.ask().ok();
        } else if let Some(more) = self.patience.take() {
            self.look = Some(now + more);
        } else if matches!(self.talk.take_back(), Ok(true)) {
            self.verdict = Some(SilentShell::TookNothing);
            return Some(Progress::ShellDone);
        } else {
            self.look = Some(now + READY_TIMEOUT);
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
                _ = self.alarm.at(self.look) => SessionEvent::Look,
                () = answered(self.pending.as_ref()) => SessionEvent::Answered,
                ready = self.streams.ready() => SessionEvent::Output(ready),
                reported = self.talk.more() => SessionEvent::Reported(reported),
            };
        }
        tokio::select! {
            biased;
            said = self.talk.more() => SessionEvent::Reported(said),
            _ = self.alarm.at(self.look) => SessionEvent::Look,
            () = answered(self.pending.as_ref()) => SessionEvent::Answered,
            ready = self.streams.ready() => SessionEvent::Output(ready),
        }
    }

    fn read(&mut self, ready: SessionEvent, out: &mut dyn OutputConsumer) -> Option<Progress> {
        match ready {
            SessionEvent::Output(ready) => self.streams.read(ready, out),
            SessionEvent::Reported(Ok(())) => {
                let report = self.talk.report();
                self.output_first = report.is_none();
                report.map(|_| Progress::ShellDone)
            }
            SessionEvent::Reported(Err(_)) => Some(Progress::ShellDone),
            SessionEvent::Look => self.look(),
            SessionEvent::Answered => {
                self.pending = None;
                // Any report was written before the answer.
                let is_done = self.talk.listen().is_ok();
                self.verdict = is_done.then_some(SilentShell::Done);
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

    fn open(&self) -> impl Iterator<Item = (StreamId, BorrowedFd<'_>)> {
        self.streams.open()
    }
}

/// Waits for the answer to a question, or forever if none was asked. Cancel safe.
async fn answered(asked: Option<&PendingQuestion>) {
    match asked {
        Some(asked) => asked.answered().await,
        None => std::future::pending().await,
    }
}
