//! One call on a terminal, from its start to its outcome.

use crate::options::PtyOptions;
use crate::session::{PtyEnd, PtySession, SharedSession};
use crate::source::{DRAIN_TIMEOUT, TerminalSource};
use agent_bash_call::{
    EndReason, Follower, Recording, ScriptFile, SurvivorHandover, UnstartedReason, Watchdog,
    cancelled_before, supervisor_notices,
};
use agent_bash_core::{
    Clock, NotStarted, Notice, NoticeKind, Outcome, OutputConsumer, RunSpec, ScriptEnding,
    Timestamp,
};
use agent_bash_process::SandboxWatch;
use agent_bash_process::supervisor::SupervisorClient;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A started command on its terminal. The command makes progress only while [`PtyRun::finish`] is
/// awaited. Dropping this value kills the command like a cancellation without grace.
pub struct PtyRun {
    pub(crate) spec: RunSpec,
    pub(crate) options: PtyOptions,
    /// The watch of the shell's sandbox, if there is one.
    pub(crate) sandbox: Option<SandboxWatch>,
    pub(crate) supervised: SupervisorClient,
    /// The recording of the command's changes to files.
    pub(crate) changes: Recording,
    pub(crate) source: TerminalSource,
    pub(crate) script: ScriptFile,
    pub(crate) watchdog: Watchdog,
    pub(crate) end_reporter: EndReporter,
    pub(crate) started_at: Timestamp,
    /// The monotonic time of the start.
    pub(crate) started: Duration,
}

/// Reports how the session ended. If the call is dropped, reports a cancellation.
pub(crate) struct EndReporter {
    pub(crate) shared: Arc<SharedSession>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl PtyRun {
    /// Returns a handle to the session, with which a host shows the screen and types into the
    /// terminal.
    pub fn session(&self) -> PtySession {
        self.end_reporter.shared.session()
    }

    /// Follows the command to its end, and pushes its output into `out` as [`StreamId::Merged`].
    ///
    /// Output is unchanged with two exceptions. A single line replaces the whole time of a
    /// full-screen program. Lines that were edited on the terminal are replaced by their final
    /// text.
    ///
    /// # Errors
    ///
    /// The script was never run: its directory could not be entered, or the shell did not accept
    /// it.
    ///
    /// [`StreamId::Merged`]: agent_bash_core::StreamId::Merged
    pub async fn finish(mut self, out: &mut dyn OutputConsumer) -> Result<Outcome, NotStarted> {
        let handover = SurvivorHandover {
            spec: &self.spec,
            started_at: self.started_at,
            registry: self.options.jobs.as_deref(),
            quota: self.options.survivor_quota,
            one_shot: true,
        };
        let mut follower = Follower::new(
            &mut self.supervised,
            &mut self.source,
            Some(self.watchdog),
            handover,
            &self.options.clock,
            DRAIN_TIMEOUT,
        );
        let ended = follower.until_ended(out).await;
        follower.source().release_program_side();
        let mut cleared = follower.finish(out).await;
        let traced = self.changes.end(&mut self.supervised).await;
        let unstarted = self.script.unstarted(&self.spec);
        let result = match unstarted.filter(|_| ended.reason.is_none() && ended.shell.is_some()) {
            Some(UnstartedReason::Refused(refusal)) => Err(refusal),
            Some(UnstartedReason::RefusedHandoff(refused)) => Err(terminal_error(refused)),
            None => {
                let duration = ended.at.saturating_sub(self.started);
                let mut outcome = cleared.outcome(&handover, duration);
                outcome.sandbox = self.sandbox.as_mut().map(SandboxWatch::observe);
                outcome.traced = traced;
                let notices = supervisor_notices(&mut self.supervised);
                outcome.notices.extend(notices);
                self.source.add_terminal_facts(&mut outcome, out);
                Ok(outcome)
            }
        };
        self.end_reporter.shared.end(PtyEnd {
            result: result.clone(),
            killed: ended.reason == Some(EndReason::Kill),
        });
        if cleared.is_empty {
            // The host may exit next, and could then no longer reap the supervisor.
            self.supervised.close().await;
        }
        result
    }
}

impl TerminalSource {
    /// Adds to the outcome the facts that exist only for calls on a terminal.
    fn add_terminal_facts(&mut self, outcome: &mut Outcome, out: &mut dyn OutputConsumer) {
        outcome.closed_early = self.closed_early;
        if let Some(state) = self.waited_for {
            let notice = Notice::from(NoticeKind::WaitingForInput { state });
            outcome.notices.insert(0, notice);
        }
        if let Some(reason) = self.error.take() {
            outcome.ending = ScriptEnding::Lost { reason };
        }
        if let ScriptEnding::Lost { reason } = &outcome.ending {
            let line = format!("\r\nPTY error: {reason}\r\n");
            self.push(line.as_bytes(), out);
        }
    }
}

impl Drop for EndReporter {
    fn drop(&mut self) {
        let killed = self.shared.kill.is_cancelled();
        self.shared.end(PtyEnd {
            result: Ok(cancelled_before(&*self.clock)),
            killed,
        });
    }
}

/// Converts an internal error of the terminal.
pub(crate) fn terminal_error(reason: impl fmt::Display) -> NotStarted {
    NotStarted::Terminal {
        reason: reason.to_string(),
    }
}
