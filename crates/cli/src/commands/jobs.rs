//! `agent-bash jobs`: background jobs of one-shot commands.

use crate::args::{JobsAction, JobsArgs};
use crate::commands::session;
use crate::output;
use crate::signals::CalledOff;
use crate::start::Start;
use agent_bash::core::{JobId, short_duration};
use agent_bash::exec::{Job, JobError, JobState, Jobs, OutputRange, Waited};
use agent_bash::process::supervisor::JobEnding;
use anyhow::{Context, bail};
use std::fmt::Write as _;
use std::time::Duration;

/// As `timeout(1)`.
const STILL_RUNNING: u8 = 124;

/// There is no such job, or nothing of it to show.
const NOT_THERE: u8 = 1;

/// Most that is read of an output at once.
const PART: usize = 256 * 1024;

/// Lists, shows, awaits or ends jobs.
pub(crate) fn jobs(args: &JobsArgs, start: &Start) -> anyhow::Result<u8> {
    let Some(jobs) = session::jobs(start, &args.state) else {
        bail!("there is no place for jobs: set HOME or AGENT_BASH_STATE_DIR");
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    match runtime.block_on(act(&jobs, &args.action)) {
        Err(error) if error.is::<JobError>() => {
            output::say(&format!("agent-bash: {error}"));
            Ok(NOT_THERE)
        }
        other => other,
    }
}

async fn act(jobs: &Jobs, action: &JobsAction) -> anyhow::Result<u8> {
    match action {
        JobsAction::List { json } => list(jobs, *json),
        JobsAction::Show { id } => {
            let job = jobs.show(&JobId(id.clone()))?;
            output::print(&format!("{}\n", serde_json::to_string(&job)?))?;
            Ok(0)
        }
        JobsAction::Output { id, tail } => {
            print_output(jobs, &JobId(id.clone()), tail.map(u64::from))
        }
        JobsAction::Wait { id, timeout } => {
            let called_off = CalledOff::listen().context("cannot listen for signals")?;
            let id = JobId(id.clone());
            Ok(match jobs.wait(&id, *timeout, called_off.cancel()).await? {
                Waited::Over(job) => {
                    output::print(&format!("{}\n", state(&job)))?;
                    0
                }
                Waited::StillRunning(_) => STILL_RUNNING,
                Waited::Cancelled(_) => called_off.exit_code().unwrap_or(STILL_RUNNING),
            })
        }
        JobsAction::Kill { id, grace } => {
            let killed = jobs.kill(&JobId(id.clone()), *grace).await?;
            output::print(&format!("{}\n", state(&killed.job)))?;
            for survivor in &killed.survivors {
                let (pid, command) = (survivor.pid, &survivor.command);
                output::say(&format!("pid {pid} withstood SIGKILL: {command}"));
            }
            Ok(u8::from(!killed.survivors.is_empty()))
        }
    }
}

fn list(jobs: &Jobs, json: bool) -> anyhow::Result<u8> {
    let mut text = String::new();
    for job in jobs.list()? {
        if json {
            let _ = writeln!(text, "{}", serde_json::to_string(&job)?);
        } else {
            let first = job.command.lines().next().unwrap_or_default();
            let _ = writeln!(
                text,
                "{}  pid {}  {}  {}  {first}",
                job.id,
                job.pid,
                job.started_at,
                state(&job)
            );
        }
    }
    if text.is_empty() && !json {
        output::say("there are no jobs");
    }
    output::print(&text)?;
    Ok(0)
}

/// The last lines, or everything, part by part.
fn print_output(jobs: &Jobs, id: &JobId, tail: Option<u64>) -> anyhow::Result<u8> {
    let mut range = match tail {
        Some(lines) => OutputRange::Tail {
            lines,
            max_bytes: PART,
        },
        None => OutputRange::From {
            offset: 0,
            max_bytes: PART,
        },
    };
    loop {
        let part = jobs.output(id, range)?;
        output::print_bytes(&part.bytes)?;
        if part.at_end || part.bytes.is_empty() {
            return Ok(0);
        }
        range = OutputRange::From {
            offset: part.next,
            max_bytes: PART,
        };
    }
}

fn state(job: &Job) -> String {
    match &job.state {
        JobState::Running => "running".to_owned(),
        JobState::Ended(end) => match &end.ending {
            JobEnding::Exited { code } => format!("exited with code {code}"),
            JobEnding::Signaled { signal, .. } => format!("ended by {signal}"),
            JobEnding::TimedOut { after_ms } => format!(
                "timed out after {}",
                short_duration(Duration::from_millis(*after_ms))
            ),
            JobEnding::Gone => "gone".to_owned(),
        },
        JobState::Lost { reason } => format!("lost: {reason}"),
    }
}
