//! One call of a session: hand-over, output, report, and the state of the shell afterwards.

use super::live::{LiveShell, end_reason};
use super::record::{ExpectedReport, SessionRecord, ShellReport};
use super::remembered::RememberedState;
use super::shell_cwd::ShellCwd;
use super::source::{HandoverOutcome, SessionSource};
use crate::call::DRAIN_TIMEOUT;
use crate::options::ShellCacheOptions;
use crate::record::may_have_tail;
use crate::snapshot::Snapshot;
use crate::streams::OutputStreams;
use agent_bash_call::{
    EndReason, Follower, Recording, ShellEnded, TOO_OLD_MARK, Watchdog, WatchdogSignals, ending,
    no_directory, supervisor_notices, too_old,
};
use agent_bash_core::{
    Cancel, NotStarted, Outcome, OutputConsumer, RunSpec, ScriptEnding, StreamId, Survivor,
    Timestamp,
};
use agent_bash_process::SandboxWatch;
use agent_bash_process::supervisor::ShellEnd;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A call whose script was handed over to a session's shell.
#[derive(Debug)]
pub(super) struct SessionCall<'a> {
    pub(super) spec: &'a RunSpec,
    pub(super) options: &'a ShellCacheOptions,
    pub(super) shell: LiveShell,
    pub(super) streams: OutputStreams,
    /// The paths of the streams' FIFOs, until the call has ended.
    paths: Vec<(StreamId, PathBuf)>,
    /// The host's write ends of the FIFOs, until the call has ended.
    writers: Vec<OwnedFd>,
    watchdog: Option<Watchdog>,
    pub(super) cancel: Cancel,
    /// The session's directory, if the call runs there; `None` if the call specifies a directory.
    session_cwd: Option<ShellCwd>,
    /// True if the call's script is the first of the shell.
    was_fresh: bool,
    /// Processes that withstood SIGKILL.
    stuck: Vec<Survivor>,
    recording: Recording,
    pub(super) started_at: Timestamp,
    /// The monotonic time of the hand-over.
    pub(super) started: Duration,
}

/// The state of a session after a call.
#[derive(Debug)]
pub(super) enum StateAfterCall {
    /// The shell waits for the next call.
    Alive {
        outcome: Box<Outcome>,
        shell: LiveShell,
        cwd: ShellCwd,
    },
    /// The call was the shell's last.
    Ended { outcome: Outcome, reason: String },
    /// The script was not run. If the shell still exists, it can run another.
    Refused {
        error: NotStarted,
        shell: Option<LiveShell>,
    },
    /// The script was not run: the session's shell has ended, and a new shell cannot enter the
    /// directory of the old shell.
    Displaced(ShellCwd),
    /// The shell did not take the script, so another shell can run it.
    RefusedHandoff(String),
}

impl<'a> SessionCall<'a> {
    /// Sends the record of the call to the shell.
    ///
    /// # Errors
    /// The state of the session. No part of the script has run.
    pub(super) async fn hand_over(
        spec: &'a RunSpec,
        mut shell: LiveShell,
        remembered: Option<&RememberedState>,
        options: &'a ShellCacheOptions,
        cancel: &Cancel,
    ) -> Result<Self, Box<StateAfterCall>> {
        let failed = |error: io::Error| {
            let why = format!("its shell could not take a script ({error})");
            Box::new(StateAfterCall::RefusedHandoff(why))
        };
        let pipes = shell.outputs(spec.streams).map_err(failed)?;
        let cwd = remembered.and_then(|remembered| remembered.cwd.as_ref());
        // A new shell starts in the directory of the previous shell. The first shell starts in the
        // directory of the call.
        let enters_cwd = spec.enter_cwd || cwd.is_none();
        let session_cwd = cwd.filter(|_| !enters_cwd).cloned();
        let last_cwd = cwd.map(ShellCwd::display_path);
        let next_cwd = last_cwd.as_deref().filter(|_| !enters_cwd);
        let next_cwd = next_cwd.unwrap_or(&spec.cwd);
        let is_elsewhere = last_cwd.as_deref().is_some_and(|last| last != next_cwd);
        let cd_hook = shell.snapshot.as_deref().filter(|_| is_elsewhere);
        let cd_hook = cd_hook.map_or_else(Vec::new, Snapshot::cd_hook);
        let missed_hooks = shell.missed_hooks(remembered.zip(last_cwd.as_deref()), next_cwd);
        let remembered = remembered.filter(|_| shell.is_fresh);
        let mut expected = ExpectedReport::random().map_err(failed)?;
        let record = SessionRecord {
            script: &spec.script,
            cwd: enters_cwd.then_some(&*spec.cwd),
            remembered,
            is_new: shell.is_fresh && remembered.is_none(),
            oldpwd: spec.env.get("OLDPWD"),
            snapshot: shell.snapshot.as_deref().filter(|_| shell.is_fresh),
            missed_hooks: &missed_hooks,
            changes: &std::mem::take(&mut shell.snapshot_changes),
            hooks: &[&*cd_hook, &*shell.prompt_hooks].concat(),
            last_status: shell.last_status,
            wants_stages: spec.report_stages && may_have_tail(&spec.script),
            variables: &spec.env.changes,
            nonce: &expected.record,
        };
        let text = record.text();
        let has_tail = record.has_tail();
        expected.has_tail = has_tail;
        let (mut fds, mut paths, mut writers) = (Vec::new(), Vec::new(), Vec::new());
        for (stream, fifo) in pipes {
            fds.push((stream, fifo.read));
            paths.push((stream, fifo.path));
            writers.push(fifo.write);
        }
        let streams = OutputStreams::of(fds).map_err(failed)?;
        // The recording begins before the shell takes its record, because a new traced shell waits
        // for the recording.
        let untraced_reason = shell.untraced_reason.as_ref();
        let recording = if shell.is_fresh {
            Recording::begin(spec, &shell.supervised, untraced_reason)
        } else {
            Recording::begin_in_used_shell(spec, &mut shell.supervised, untraced_reason).await
        };
        let started_at = options.clock.wall();
        let started = options.clock.now();
        if let Err(error) = shell.channel.write(&text, expected) {
            let refused = too_old_refusal(&mut shell, spec);
            return Err(refused.map_or_else(|| failed(error), Box::new));
        }
        let clock = Arc::clone(&options.clock);
        let watchdog = Watchdog::start(
            shell.supervised.link(),
            clock,
            cancel.clone(),
            WatchdogSignals {
                has_reported: shell
                    .channel
                    .report_probe()
                    .map(|probe| Arc::new(probe) as _),
                kill: None,
            },
            spec,
        );
        Ok(Self {
            spec,
            options,
            streams,
            paths,
            writers,
            watchdog: Some(watchdog),
            cancel: cancel.clone(),
            session_cwd,
            was_fresh: shell.is_fresh,
            stuck: Vec::new(),
            recording,
            started_at,
            started,
            shell,
        })
    }

    /// Follows the call to its end. Returns the state of the session.
    pub(super) async fn finish(mut self, out: &mut dyn OutputConsumer) -> StateAfterCall {
        out.started(self.shell.pid, self.shell.pid);
        let (options, spec) = (self.options, self.spec);
        let mut source = SessionSource::new(
            &mut self.streams, &mut self.shell.channel, &options.clock, self.was_fresh,
        );
        let mut follower = Follower::new(
            &mut self.shell.supervised,
            &mut source,
            self.watchdog.take(),
            options.handover(spec, self.started_at, false),
            &options.clock,
            DRAIN_TIMEOUT,
        );
        let ShellEnded { at, reason, shell } = follower.until_ended(out).await;
        self.writers.clear();
        let duration = at.saturating_sub(self.started);
        let why = match follower.source().handover_outcome() {
            HandoverOutcome::Unread(why) => why.to_owned(),
            HandoverOutcome::RefusedHandoff => end_reason(shell),
            observed => {
                self.shell.is_fresh = false;
                self.stuck = follower.finish(out).await.survivors;
                return self.conclude(observed, shell, reason, duration, out).await;
            }
        };
        // The time before the shell takes the script is not part of the call's duration.
        if reason == Some(EndReason::Cancel) {
            return self.ended(None, reason, duration, Vec::new()).await;
        }
        too_old_refusal(&mut self.shell, spec).unwrap_or(StateAfterCall::RefusedHandoff(why))
    }

    /// Returns the state after a script that the shell has taken.
    async fn conclude(
        mut self,
        observed: HandoverOutcome,
        end: Option<ShellEnd>,
        reason: Option<EndReason>,
        duration: Duration,
        out: &mut dyn OutputConsumer,
    ) -> StateAfterCall {
        match (observed, reason) {
            (HandoverOutcome::Report(report), None) => self.alive(report, duration, out).await,
            (HandoverOutcome::Refused, None) => self.refused().await,
            (HandoverOutcome::Mute, None) => {
                let survivors = self.survivors_of_shell(out).await;
                self.mute(duration, survivors).await
            }
            // The script finished while the call was being terminated, and the shell was killed.
            (
                HandoverOutcome::Report(_) | HandoverOutcome::Refused | HandoverOutcome::Mute,
                reason,
            ) => self.ended(None, reason, duration, Vec::new()).await,
            (_, reason) => {
                let survivors = match end {
                    Some(_) if reason.is_none() => self.survivors_of_shell(out).await,
                    _ => Vec::new(),
                };
                self.ended(end, reason, duration, survivors).await
            }
        }
    }

    /// Returns the state after a script that was not run, because the shell could not enter the
    /// call's directory. A used shell continues in its own directory. A new shell has no directory
    /// yet and is ended.
    async fn refused(mut self) -> StateAfterCall {
        self.recording.end(&mut self.shell.supervised).await;
        if let Some(cwd) = self.session_cwd {
            return StateAfterCall::Displaced(cwd);
        }
        self.shell.await_exports();
        self.remove_open_fifos();
        StateAfterCall::Refused {
            error: no_directory(self.spec),
            shell: Some(self.shell).filter(|_| !self.was_fresh),
        }
    }

    /// Returns the state after a call whose shell continues. Background processes are named as
    /// survivors, and their output is still read.
    async fn alive(
        mut self,
        report: ShellReport,
        duration: Duration,
        out: &mut dyn OutputConsumer,
    ) -> StateAfterCall {
        let survivors = self.survivors(out).await;
        self.shell.last_status = report.code;
        self.shell.await_exports();
        self.remove_open_fifos();
        let cwd = ShellCwd::of(self.shell.pid, report.cwd);
        let ending = ScriptEnding::Exited { code: report.code };
        let mut outcome = self.outcome(ending, duration, survivors).await;
        outcome.final_cwd = Some(cwd.display_path());
        outcome.stages = report.stages;
        StateAfterCall::Alive {
            outcome: Box::new(outcome),
            shell: self.shell,
            cwd,
        }
    }

    /// Removes the FIFOs that a process still holds open. The next call reuses the other FIFOs.
    fn remove_open_fifos(&mut self) {
        let ended = self.streams.take_ended();
        for (stream, path) in std::mem::take(&mut self.paths) {
            if !ended.contains(&stream) {
                drop(std::fs::remove_file(path));
            }
        }
    }

    /// Returns the state after a call whose shell runs but cannot report.
    async fn mute(mut self, duration: Duration, survivors: Vec<Survivor>) -> StateAfterCall {
        let reason = "its shell could not report how the command ended, as after `set -n`, `set -r` or `enable -n printf`";
        let reason = reason.to_owned();
        let ending = ScriptEnding::Lost {
            reason: reason.clone(),
        };
        let outcome = self.outcome(ending, duration, survivors).await;
        StateAfterCall::Ended { outcome, reason }
    }

    /// Returns the state after a call whose shell has ended.
    async fn ended(
        mut self,
        end: Option<ShellEnd>,
        reason: Option<EndReason>,
        duration: Duration,
        mut survivors: Vec<Survivor>,
    ) -> StateAfterCall {
        survivors.append(&mut self.stuck);
        let why = match (reason, end) {
            (Some(EndReason::Cancel | EndReason::Kill), _) => {
                "the command was cancelled".to_owned()
            }
            (Some(EndReason::Timeout), _) => "the command was ended by its time limit".to_owned(),
            (None, end) => end_reason(end),
        };
        let ending = ending(reason, end, self.spec.timeout);
        let mut outcome = self.outcome(ending, duration, survivors).await;
        outcome.shell_signal = end.and_then(ShellEnd::signal);
        StateAfterCall::Ended {
            outcome,
            reason: why,
        }
    }

    /// Ends the recording, and returns the outcome of the call.
    async fn outcome(
        &mut self,
        ending: ScriptEnding,
        duration: Duration,
        survivors: Vec<Survivor>,
    ) -> Outcome {
        let mut outcome = Outcome::new(ending, self.started_at, duration);
        outcome.initial_cwd = self.session_cwd.as_ref().map(ShellCwd::display_path);
        outcome.closed_early = self.streams.closed_early();
        outcome.sandbox = self.shell.sandbox.as_mut().map(SandboxWatch::observe);
        outcome.traced = self.recording.end(&mut self.shell.supervised).await;
        let notices = supervisor_notices(&mut self.shell.supervised);
        outcome.notices.extend(notices);
        outcome.name_survivors(survivors);
        outcome
    }
}

/// Returns the state after a call whose shell has exited because its bash is too old; `None` if the
/// shell did not report that.
fn too_old_refusal(shell: &mut LiveShell, spec: &RunSpec) -> Option<StateAfterCall> {
    shell.channel.receive().ok()?;
    let version = shell
        .channel
        .pending_report()
        .strip_prefix(&[TOO_OLD_MARK])?;
    Some(StateAfterCall::Refused {
        error: too_old(&spec.shell, version),
        shell: None,
    })
}
