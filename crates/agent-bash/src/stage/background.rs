//! Starts a command that continues in the background, as a job of `agent-bash-exec`.

use crate::call::{DetachedCall, FinishedRun, StartedCallEnd};
use crate::stage::sandbox;
use crate::tool_context::JobStarter;
use agent_bash_core::{
    Cancel, NotStarted, Outcome, OutputConsumer, RunSpec, ScriptEnding, StdinMode, StreamId,
};
use agent_bash_exec::{Job, JobError, JobState, JobStdin};
use agent_bash_sink::CallOutput;
use agent_bash_state::{CallChanges, CallSandbox};
use agent_bash_tools::Refusal;
use std::fs::File;
use std::io::{self, Read};
use std::time::Duration;

/// Starts the job. A job that ends within the wait of [`JobStarter::start_job`] is returned as a
/// finished call. The second value is the reason if the job's changes are not recorded.
pub(crate) async fn start(
    jobs: &dyn JobStarter,
    spec: &RunSpec,
    stdin: StdinMode,
    sandbox: Option<CallSandbox>,
    output: CallOutput,
    cancel: &Cancel,
) -> Result<(StartedCallEnd, Option<String>), Refusal> {
    let stdin = match stdin {
        StdinMode::Null => JobStdin::Null,
        StdinMode::Pipe => JobStdin::Pipe,
    };
    let job = jobs
        .start_job(spec, stdin, cancel)
        .await
        .map_err(|error| match error {
            JobError::Cancelled => Refusal::Cancelled,
            JobError::NotStarted(reason) => Refusal::NotStarted(reason),
            other => Refusal::NotStarted(NotStarted::new(other.to_string())),
        })?;
    let unrecorded = job.unrecorded.clone();
    let (ending, duration, length) = match &job.state {
        JobState::Running => {
            let detached = DetachedCall {
                job,
                sandbox,
                changed: CallChanges::default(),
            };
            return Ok((StartedCallEnd::Detached(Box::new(detached)), unrecorded));
        }
        JobState::Ended(end) => {
            let elapsed_ms = end.ended_at.0.saturating_sub(job.started_at.0);
            let duration = Duration::from_millis(elapsed_ms);
            (end.ending.clone(), duration, end.length)
        }
        JobState::Lost { reason } => {
            let reason = reason.clone();
            (ScriptEnding::Lost { reason }, Duration::ZERO, u64::MAX)
        }
    };
    let mut finished = ended_at_once(&job, ending, duration, output, length);
    finished.outcome.sandbox = sandbox
        .as_ref()
        .and_then(|sandbox| sandbox::observed(sandbox, &job));
    finished.sandbox = sandbox;
    Ok((StartedCallEnd::Ran(Box::new(finished)), unrecorded))
}

/// Returns an ended job as a finished foreground call. The call's output is the first `length`
/// bytes of the job's file.
fn ended_at_once(
    job: &Job,
    ending: ScriptEnding,
    duration: Duration,
    mut output: CallOutput,
    length: u64,
) -> FinishedRun {
    if let Some(path) = &job.output
        && let Err(error) = File::open(path).and_then(|file| copy(file.take(length), &mut output))
    {
        tracing::warn!(%error, job = %job.id, "the output of a job that ended at once cannot be read");
    }
    FinishedRun {
        outcome: Outcome::new(ending, job.started_at, duration),
        output,
        exit_1_is_ok: false,
        last_pipeline: None,
        sandbox: None,
        changed: CallChanges::default(),
    }
}

fn copy(mut file: impl Read, output: &mut CallOutput) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let length = file.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        output.chunk(StreamId::Merged, &buffer[..length]);
    }
}
