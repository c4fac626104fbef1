//! Handles the survivors of a session's call: they are adopted, ended, or waited for, as the call
//! requests. The shell, and survivors of earlier calls, are not affected.

use super::call::SessionCall;
use super::live::LiveShell;
use crate::call::DRAIN_TIMEOUT;
use agent_bash_call::{Follower, OpenOutput, Source};
use agent_bash_core::{OutputConsumer, Survivor, SurvivorPolicy};
use agent_bash_process::holds_open;

impl LiveShell {
    /// Excludes processes that already run from the survivors of the next call. Must be called
    /// before the script is sent.
    pub(super) async fn exclude_earlier_processes(&mut self, policy: SurvivorPolicy) {
        if policy != SurvivorPolicy::Adopt && !self.is_fresh {
            // An adopted process is not in later lists of survivors. If the supervisor has exited,
            // the call detects that.
            let _ = self.supervised.adopt(&[], &[], false, 0, None).await;
        }
    }
}

impl SessionCall<'_> {
    /// Handles the survivors while the shell continues. Returns the survivors that still run.
    pub(super) async fn survivors(&mut self, out: &mut dyn OutputConsumer) -> Vec<Survivor> {
        match self.spec.survivors {
            // Skips the query if there cannot be survivors.
            SurvivorPolicy::Adopt if self.streams.ended() && self.shell.is_alone() => Vec::new(),
            SurvivorPolicy::Adopt => self.adopt(out).await,
            SurvivorPolicy::Kill | SurvivorPolicy::Wait => self.end_survivors(out).await,
        }
    }

    /// Handles the survivors after the shell has ended. Returns the survivors that still run.
    pub(super) async fn survivors_of_shell(
        &mut self,
        out: &mut dyn OutputConsumer,
    ) -> Vec<Survivor> {
        match self.spec.survivors {
            // Without jobs, survivors end with the session.
            SurvivorPolicy::Adopt if self.options.jobs.is_none() => Vec::new(),
            SurvivorPolicy::Adopt => self.adopt(out).await,
            SurvivorPolicy::Kill | SurvivorPolicy::Wait => self.end_survivors(out).await,
        }
    }

    /// Turns the survivors into a job, and lets the supervisor read their output.
    async fn adopt(&mut self, out: &mut dyn OutputConsumer) -> Vec<Survivor> {
        let Ok(mut survivors) = self.shell.supervised.survivors().await else {
            return Vec::new();
        };
        survivors.retain(|survivor| survivor.pid != self.shell.pid);
        let pipes: Vec<_> = self.streams.open_streams().map(|(_, pipe)| pipe).collect();
        for survivor in &mut survivors {
            survivor.holds_output = holds_open(survivor.pid, &pipes);
        }
        self.hand_over_survivors(&mut survivors, out).await;
        survivors
    }

    /// Lets the supervisor read the open output, and registers the survivors as a job.
    async fn hand_over_survivors(
        &mut self,
        survivors: &mut Vec<Survivor>,
        out: &mut dyn OutputConsumer,
    ) {
        let output = OpenOutput::of(&self.streams, out);
        let handover = self.options.handover(self.spec, self.started_at, false);
        handover
            .adopt(survivors, &mut self.shell.supervised, output)
            .await;
    }

    /// Ends the survivors, or waits for their end, within the call's time limit. Returns the
    /// survivors that withstand SIGKILL.
    async fn end_survivors(&mut self, out: &mut dyn OutputConsumer) -> Vec<Survivor> {
        let (clock, spec) = (&self.options.clock, self.spec);
        if self.shell.supervised.link().watch_survivors().is_err() {
            return Vec::new();
        }
        let passed = clock.now().saturating_sub(self.started);
        let limit = spec.timeout.map(|limit| limit.saturating_sub(passed));
        let follower = Follower::new(
            &mut self.shell.supervised,
            &mut self.streams,
            None,
            self.options.handover(spec, self.started_at, false),
            clock,
            DRAIN_TIMEOUT,
        );
        let stuck = follower
            .end_survivors(self.cancel.clone(), limit, out)
            .await;
        if !self.streams.ended() {
            // The output is still open, for example because the shell itself holds the pipes. The
            // supervisor reads the pipes from now on.
            self.hand_over_survivors(&mut Vec::new(), out).await;
        }
        stuck
    }
}
