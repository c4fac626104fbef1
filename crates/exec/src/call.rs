//! Runs one call in a shell of its own: hands over the script, then follows the call to its
//! outcome.

use crate::options::ShellCacheOptions;
use crate::pool::WaitingShell;
use crate::record::{self, script_file};
use crate::streams::OutputStreams;
use agent_bash_call::{
    Follower, Recording, RefusedHandoff, ScriptFile, UnstartedReason, Watchdog, WatchdogSignals,
    supervisor_notices,
};
use agent_bash_core::{Cancel, Outcome, OutputConsumer, RunSpec, Timestamp};
use agent_bash_process::SandboxWatch;
use agent_bash_process::supervisor::{ShellEnd, SupervisorClient};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Duration;

/// Maximum time for which output is read after the shell's end. Reading ends earlier at EOF, or
/// when no output comes.
pub(crate) const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// A call whose script was handed over to its shell.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    spec: &'a RunSpec,
    options: &'a ShellCacheOptions,
    supervised: SupervisorClient,
    /// Pid of the shell, which leads its own process group.
    pid: u32,
    streams: OutputStreams,
    watchdog: Watchdog,
    script: ScriptFile,
    started_at: Timestamp,
    /// The monotonic time of the hand-over.
    started: Duration,
    sandbox: Option<SandboxWatch>,
    held_back: bool,
    recording: Recording,
}

#[derive(Debug)]
pub(crate) struct FinishedCall {
    pub(crate) result: Result<Outcome, UnstartedReason>,
    /// The supervisor, if it has no processes left.
    pub(crate) supervised: Option<SupervisorClient>,
}

impl<'a> Call<'a> {
    /// Hands the script to the waiting shell, which starts to run it. `sets_variables`: as in
    /// [`script_file`].
    pub(crate) fn hand_over(
        spec: &'a RunSpec,
        shell: WaitingShell,
        sets_variables: bool,
        options: &'a ShellCacheOptions,
        cancel: &Cancel,
    ) -> Result<Self, RefusedHandoff> {
        let WaitingShell {
            supervised,
            fds,
            snapshot,
        } = shell;
        let failed = |error: io::Error| RefusedHandoff {
            reason: error.to_string(),
        };
        check_trial(spec, fds.held_back).map_err(failed)?;
        let (content, commit) = script_file(spec, &fds, snapshot.as_deref(), sets_variables);
        let pid = fds.pid;
        let shares_offset = record::shares_offset(&spec.shell, fds.script_fd);
        let script = File::from(fds.script);
        // `write_all_at` does not move the file offset, which the shell shares.
        script.write_all_at(&content, 0).map_err(failed)?;
        let recording = Recording::begin(spec, &supervised, fds.untraced_reason.as_ref());
        let streams = OutputStreams::of(fds.output).map_err(failed)?;
        let sandbox = SandboxWatch::of(
            fds.sandbox,
            spec.sandbox.as_deref(),
            pid,
            supervised.refusals(),
        );
        let started_at = options.clock.wall();
        let started = options.clock.now();
        File::from(fds.control).write_all(commit).map_err(failed)?;
        let clock = Arc::clone(&options.clock);
        let watchdog = Watchdog::start(
            supervised.link(),
            clock,
            cancel.clone(),
            WatchdogSignals::default(),
            spec,
        );
        Ok(Self {
            spec,
            options,
            supervised,
            pid,
            streams,
            watchdog,
            script: ScriptFile {
                file: script.into(),
                length: content.len() as u64,
                shares_offset,
            },
            started_at,
            started,
            sandbox,
            held_back: fds.held_back,
            recording,
        })
    }

    /// Follows the call to its end.
    pub(crate) async fn finish(mut self, out: &mut dyn OutputConsumer) -> FinishedCall {
        out.started(self.pid, self.pid);
        let handover = self.options.handover(self.spec, self.started_at, true);
        let mut follower = Follower::new(
            &mut self.supervised,
            &mut self.streams,
            Some(self.watchdog),
            handover,
            &self.options.clock,
            DRAIN_TIMEOUT,
        );
        let ended = follower.until_ended(out).await;
        let mut cleared = follower.finish(out).await;
        let traced = self.recording.end(&mut self.supervised).await;
        let result = match self.script.unstarted(self.spec) {
            // A terminated call is not tried again, even if its shell did not take the script.
            Some(UnstartedReason::RefusedHandoff(_)) if ended.reason.is_some() => Ok(()),
            Some(unstarted) => Err(unstarted),
            None => Ok(()),
        };
        let result = result.map(|()| {
            let duration = ended.at.saturating_sub(self.started);
            let mut outcome = cleared.outcome(&handover, duration);
            if let Some(ShellEnd::Exited(code)) = cleared.shell {
                let report = record::read_report(&cleared.report, code);
                (outcome.stages, outcome.final_cwd) = report.unzip();
            }
            outcome.sandbox = self.sandbox.as_mut().map(SandboxWatch::observe);
            outcome.held_back = self.held_back;
            outcome.traced = traced;
            outcome.closed_early = self.streams.closed_early();
            outcome
                .notices
                .extend(supervisor_notices(&mut self.supervised));
            outcome
        });
        FinishedCall {
            result,
            supervised: cleared.is_empty.then_some(self.supervised),
        }
    }
}

/// Checks that the shell holds changes back, if the call is a trial.
fn check_trial(spec: &RunSpec, held_back: bool) -> io::Result<()> {
    if spec.trial.is_some() && !held_back {
        return Err(io::Error::other("this shell does not hold changes back"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_core::changes::Overlay;
    use std::sync::Arc;

    #[test]
    fn trial_is_refused_by_a_shell_that_holds_nothing_back() {
        let spec = RunSpec::new("rm -rf .", "/");
        let trial = spec.clone().trial(Arc::new(Overlay {
            root: "/".into(),
            upper: "/upper".into(),
            work: "/work".into(),
        }));
        assert!(check_trial(&trial, false).is_err());
        assert!(check_trial(&trial, true).is_ok() && check_trial(&spec, false).is_ok());
    }
}
