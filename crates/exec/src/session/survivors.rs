//! Whoever a call of a session leaves beside the shell: adopted, ended, or waited for, as the call wants it. The shell, and
//! what an earlier call has left, have no part in it.

use super::call::SessionCall;
use super::live::LiveShell;
use crate::call::DRAIN;
use agent_bash_call::{Follower, OpenOutput, Source};
use agent_bash_core::{OutputConsumer, Survivor, SurvivorPolicy};
use agent_bash_process::holds_open;

impl LiveShell {
    /// To be called before it has its script: who lives beside it now is not what a call of this policy leaves.
    pub(super) async fn set_apart(&mut self, policy: SurvivorPolicy) {
        if policy != SurvivorPolicy::Adopt && !self.fresh {
            // If the supervisor is gone, the call finds that.
            let _ = self.supervised.adopt(&[], &[], false, 0).await;
        }
    }
}

impl SessionCall<'_> {
    /// Deals with them while the shell goes on. Returns who is left.
    pub(super) async fn survivors(&mut self, out: &mut dyn OutputConsumer) -> Vec<Survivor> {
        match self.spec.survivors {
            // Nobody is asked where nobody is.
            SurvivorPolicy::Adopt if self.streams.ended() && self.shell.is_alone() => Vec::new(),
            SurvivorPolicy::Adopt => self.adopt(out).await,
            SurvivorPolicy::Kill | SurvivorPolicy::Wait => self.see_off(out).await,
        }
    }

    /// Deals with them when the shell is gone.
    pub(super) async fn survivors_of_shell(
        &mut self,
        out: &mut dyn OutputConsumer,
    ) -> Vec<Survivor> {
        match self.spec.survivors {
            // Where they cannot be a job they end with the session.
            SurvivorPolicy::Adopt if self.options.jobs.is_none() => Vec::new(),
            SurvivorPolicy::Adopt => self.adopt(out).await,
            SurvivorPolicy::Kill | SurvivorPolicy::Wait => self.see_off(out).await,
        }
    }

    /// Who runs beside the shell: they become a job, and the reading of what they print is handed to the supervisor.
    async fn adopt(&mut self, out: &mut dyn OutputConsumer) -> Vec<Survivor> {
        let Ok(mut survivors) = self.shell.supervised.survivors().await else {
            return Vec::new();
        };
        survivors.retain(|one| one.pid != self.shell.pid);
        let pipes: Vec<_> = self.streams.open().map(|(_, pipe)| pipe).collect();
        for survivor in &mut survivors {
            survivor.holds_output = holds_open(survivor.pid, &pipes);
        }
        self.leave(&mut survivors, out).await;
        survivors
    }

    async fn leave(&mut self, survivors: &mut [Survivor], out: &mut dyn OutputConsumer) {
        let output = OpenOutput::of(&self.streams, out);
        let handover = self.options.handover(self.spec, self.started_at, false);
        handover
            .adopt(survivors, &mut self.shell.supervised, output)
            .await;
    }

    /// Ends them, or waits until they have ended, within the call's time. Returns who withstands.
    async fn see_off(&mut self, out: &mut dyn OutputConsumer) -> Vec<Survivor> {
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
            DRAIN,
        );
        let withstand = follower.see_off(self.cancel.clone(), limit, out).await;
        if !self.streams.ended() {
            // The shell itself holds them, too.
            self.leave(&mut [], out).await;
        }
        withstand
    }
}
