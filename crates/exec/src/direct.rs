//! Runs a shell with the arguments that its caller passed, instead of a script, and with this
//! process's own descriptors.

use crate::call::DRAIN_TIMEOUT;
use crate::options::ShellCacheOptions;
use crate::pool::ShellKind;
use crate::streams::OutputStreams;
use agent_bash_call::{Follower, Recording, Watchdog, WatchdogSignals, launch, supervisor_notices};
use agent_bash_core::{Cancel, Invocation, NotStarted, Outcome, OutputConsumer, RunSpec, StreamId};
use agent_bash_process::SandboxWatch;
use agent_bash_process::supervisor::{DirectStart, ShellStart};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

/// Starts the shell and follows it to its end.
pub(crate) async fn run(
    spec: &RunSpec,
    invocation: &Invocation,
    options: &ShellCacheOptions,
    out: &mut dyn OutputConsumer,
    cancel: &Cancel,
) -> Result<Outcome, NotStarted> {
    let supervisor = options.supervisor.clone().in_session();
    let mut supervised = launch(&supervisor, &spec.env.base, &options.clock, true).await?;
    let kind = ShellKind::of(spec, None);
    let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
    let is_captured = |stream: StreamId| {
        let merged = invocation.captured.contains(&StreamId::Merged);
        merged || invocation.captured.contains(&stream)
    };
    let mut inherited: Vec<(u8, BorrowedFd<'_>)> = vec![(0, stdin.as_fd())];
    if !is_captured(StreamId::Stdout) {
        inherited.push((1, stdout.as_fd()));
    }
    if !is_captured(StreamId::Stderr) {
        inherited.push((2, stderr.as_fd()));
    }
    let (numbers, descriptors): (Vec<u8>, Vec<BorrowedFd<'_>>) = inherited.into_iter().unzip();
    let start = DirectStart {
        start: ShellStart {
            program: invocation.program.clone(),
            arg0: invocation.arg0.clone(),
            env_changes: spec.env.changes.clone().into_iter().collect(),
            output: invocation.captured.clone(),
            limits: kind.limits,
            sandbox: kind.shell_sandbox(&options.directory, spec.trial.as_deref()),
            ..ShellStart::of(&spec.shell, invocation.args.clone())
        },
        inherited: numbers,
        group: invocation.group,
        needs_trace: spec.needs_trace && spec.trace.is_some(),
        unrecorded: invocation.unrecorded.clone(),
    };
    let clock = Arc::clone(&options.clock);
    let (started_at, started) = (clock.wall(), clock.now());
    let shell = supervised.start_directly(start, &descriptors).await?;
    let mut recording = Recording::begin(spec, &supervised, shell.untraced_reason.as_ref());
    let mut streams =
        OutputStreams::of(shell.output).map_err(|error| NotStarted::new(error.to_string()))?;
    let mut sandbox = SandboxWatch::of(
        shell.sandbox,
        spec.sandbox.as_deref(),
        shell.pid,
        supervised.refusals(),
    );
    let watchdog = Watchdog::start(
        supervised.link(),
        Arc::clone(&clock),
        cancel.clone(),
        WatchdogSignals::default(),
        spec,
    );
    let group = match invocation.group {
        0 => shell.pid,
        group => group.unsigned_abs(),
    };
    out.started(shell.pid, group);
    let handover = options.handover(spec, started_at, true);
    let mut follower = Follower::new(
        &mut supervised,
        &mut streams,
        Some(watchdog),
        handover,
        &clock,
        DRAIN_TIMEOUT,
    );
    let ended = follower.until_ended(out).await;
    let mut cleared = follower.finish(out).await;
    let traced = recording.end(&mut supervised).await;
    let mut outcome = cleared.outcome(&handover, ended.at.saturating_sub(started));
    outcome.sandbox = sandbox.as_mut().map(SandboxWatch::observe);
    outcome.traced = traced;
    outcome.notices.extend(supervisor_notices(&mut supervised));
    Ok(outcome)
}
