//! The owner of all shells of a host.

use crate::call::{self, Call};
use crate::record;
use agent_bash_core::{
    Cancel, Clock, Executor, NotStarted, Outcome, OutputConsumer, RunSpec, StdinSource,
};
use agent_bash_process::supervisor::{ShellFds, ShellStart, StartError, Supervised, Supervisor};
use async_trait::async_trait;
use std::os::fd::AsFd;
use std::sync::Arc;

/// What a [`ShellCache`] is made from.
#[derive(Debug, Clone)]
pub struct ShellCacheOptions {
    /// How supervisors are started.
    pub supervisor: Supervisor,
    /// Every wait and every measurement goes through it.
    pub clock: Arc<dyn Clock>,
    /// Bytes that adopted survivors may still write to their call's file.
    pub survivor_quota: u64,
}

/// Runs scripts, each in a shell of its own. A value that its host owns; dropping it, or the future of a call, leaves no
/// shell and no foreground command behind.
#[derive(Debug)]
pub struct ShellCache {
    options: ShellCacheOptions,
}

impl ShellCache {
    /// A cache without shells.
    pub fn new(options: ShellCacheOptions) -> Self {
        Self { options }
    }

    /// Starts a shell that waits for its script.
    async fn shell(&self, spec: &RunSpec) -> Result<(Supervised, ShellFds), NotStarted> {
        let mut supervised = match self.supervised(spec).await {
            // Its program may just have been replaced, or the system been out of processes for a moment.
            Err(StartError::NoHello) => self.supervised(spec).await,
            other => other,
        }
        .map_err(not_started)?;
        let inherits_stdin = spec.stdin == StdinSource::Inherit;
        let mut args = record::boot(spec.shell.is_bash);
        args.splice(0..0, spec.shell.args.iter().map(Into::into));
        let start = ShellStart {
            program: spec.shell.path.clone(),
            arg0: spec
                .shell
                .path
                .file_name()
                .unwrap_or(spec.shell.path.as_os_str())
                .to_owned(),
            args,
            env_changes: spec.env.changes.clone().into_iter().collect(),
            inherits_stdin,
        };
        let stdin = std::io::stdin();
        let fd = inherits_stdin.then(|| stdin.as_fd());
        let fds = supervised.start(start, fd).await.map_err(not_started)?;
        Ok((supervised, fds))
    }

    async fn supervised(&self, spec: &RunSpec) -> Result<Supervised, StartError> {
        self.options
            .supervisor
            .launch(&spec.env.base, &*self.options.clock)
            .await
    }
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` calls it")]
fn not_started(error: StartError) -> NotStarted {
    NotStarted::new(error.to_string())
}

#[async_trait]
impl Executor for ShellCache {
    async fn run(
        &self,
        spec: &RunSpec,
        out: &mut dyn OutputConsumer,
        cancel: &Cancel,
    ) -> Result<Outcome, NotStarted> {
        if cancel.is_cancelled() {
            return Ok(call::cancelled_before(&*self.options.clock));
        }
        let (supervised, fds) = self.shell(spec).await?;
        if cancel.is_cancelled() {
            return Ok(call::cancelled_before(&*self.options.clock));
        }
        let call = Call::hand_over(spec, supervised, fds, &self.options, cancel)?;
        call.finish(out).await
    }
}
