//! `agent-bash jobs`: background jobs of one-shot commands.

use crate::args::{DEFAULT_SESSION, JobsAction, JobsArgs};
use crate::commands::{NOT_FOUND_EXIT_CODE, default_state, script, session};
use crate::output::{self, PassThrough};
use crate::process_start::StartContext;
use crate::runtime;
use crate::signals::CancelSignals;
use crate::table::{ago, table};
use agent_bash::core::{
    Clock, JobId, MetCondition, OutputMask, ScriptEnding, Until, listens_on, timed_out_text,
};
use agent_bash::exec::{Job, JobError, JobState, Jobs, OutputRange, WaitOutcome};
use agent_bash::process::SystemClock;
use agent_bash::tools::clean;
use agent_bash::{mask_condition, mask_job_output};
use agent_bash_running::until::{LAST_OUTPUT, WaitError, wait_until};
use anyhow::{Context, bail};
use std::fmt::Write as _;
use std::io;
use std::slice;
use std::time::Duration;

/// The exit code if the job is still running, as with `timeout(1)`.
const STILL_RUNNING_EXIT_CODE: u8 = 124;

/// The exit code if the job ended before the awaited condition.
const ENDED_EXIT_CODE: u8 = 1;

/// How long `jobs input` waits for the job to read the text.
const INPUT_TIMEOUT: Duration = Duration::from_secs(10);

/// Interval between two reads of an output that is followed.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Maximum bytes of one read.
const MAX_PART_BYTES: usize = 256 * 1024;

/// Runs a `jobs` command: lists, shows, awaits or ends jobs.
pub(crate) fn jobs(args: &JobsArgs, start: &StartContext) -> anyhow::Result<u8> {
    let chosen = default_state::choose(start, args.state.as_deref(), |name| {
        let listed = session::jobs(start, name)?.list().unwrap_or_default();
        listed
            .iter()
            .map(|job| job.adopted_at.unwrap_or(job.started_at))
            .max()
    });
    if let Some(id) = args.action.modified_job().filter(|_| chosen.is_assumed)
        && session::jobs(start, DEFAULT_SESSION)
            .and_then(|jobs| jobs.show(&JobId(id.to_owned())).ok())
            .is_some_and(|job| job.state == JobState::Running)
    {
        output::say(&default_state::ambiguous(&format!("job {id}"), &chosen));
        return Ok(NOT_FOUND_EXIT_CODE);
    }
    let Some(jobs) = session::jobs(start, &chosen.name) else {
        bail!("no directory for jobs is known: set HOME or AGENT_BASH_STATE_DIR");
    };
    let runtime = runtime::start_single_threaded()?;
    let mask = session::output_mask(start);
    match runtime.block_on(act(&jobs, &args.action, mask.as_deref())) {
        Err(error) if error.is::<JobError>() => {
            output::say(&format!("agent-bash: {error}"));
            Ok(NOT_FOUND_EXIT_CODE)
        }
        other => other,
    }
}

async fn act(
    jobs: &Jobs,
    action: &JobsAction,
    mask: Option<&dyn OutputMask>,
) -> anyhow::Result<u8> {
    match action {
        JobsAction::List { json, port } => list(jobs, *json, *port).await,
        JobsAction::Show { id } => {
            let mut job = jobs.show(&JobId(id.clone()))?;
            jobs.find_ports(slice::from_mut(&mut job)).await;
            output::print(&format!("{}\n", serde_json::to_string(&job)?))?;
            Ok(0)
        }
        JobsAction::Output { id, tail, follow } => {
            let id = JobId(id.clone());
            print_output(jobs, &id, tail.map(u64::from), *follow, mask).await
        }
        JobsAction::Input {
            id,
            text,
            no_newline,
            close,
        } => {
            let id = JobId(id.clone());
            let bytes = match text {
                Some(text) if *no_newline => text.clone().into_bytes(),
                Some(text) => format!("{text}\n").into_bytes(),
                None if *close => Vec::new(),
                None => script::stdin_bytes("the input")?,
            };
            if !bytes.is_empty() {
                jobs.write_stdin(&id, &bytes, INPUT_TIMEOUT).await?;
            }
            if *close {
                jobs.close_stdin(&id).await?;
            }
            Ok(0)
        }
        JobsAction::Wait {
            id,
            until_line,
            until_port,
            until_file,
            until_quiet,
            timeout,
        } => {
            let until = Until {
                line: until_line.clone(),
                port: *until_port,
                file: until_file.clone(),
                quiet_ms: until_quiet
                    .map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
            };
            wait(jobs, &JobId(id.clone()), &until, *timeout, mask).await
        }
        JobsAction::Kill { id, port, grace } => match (id, port) {
            (Some(id), _) => kill(jobs, &JobId(id.clone()), *grace).await,
            (None, port) => kill_on_port(jobs, *port, *grace).await,
        },
    }
}

/// Waits until a condition is met, and prints the outcome. The exit code tells which one.
async fn wait(
    jobs: &Jobs,
    id: &JobId,
    until: &Until,
    timeout: Option<Duration>,
    mask: Option<&dyn OutputMask>,
) -> anyhow::Result<u8> {
    let signals = CancelSignals::listen().context("cannot listen for signals")?;
    let waited = wait_until(jobs, id, (until, 0), timeout, signals.cancel()).await;
    let mut waited = match waited {
        Err(WaitError::Job(error)) => return Err(error.into()),
        other => other?,
    };
    if until.is_end() {
        if waited.met.is_some() {
            output::print(&format!("{}\n", state(&waited.job)))?;
        }
    } else {
        mask_condition(mask, &mut waited.met);
        if let Ok(mut tail) = jobs.output(id, LAST_OUTPUT) {
            mask_job_output(mask, &mut tail);
            output::print(&clean(&tail.bytes))?;
        }
        output::say(&match &waited.met {
            Some(MetCondition::End) => format!("job {id}: {}", state(&waited.job)),
            Some(met) => format!("job {id}: {met}"),
            None => format!("job {id}: no condition is met yet"),
        });
    }
    Ok(match waited.met {
        Some(MetCondition::End) if !until.is_end() => ENDED_EXIT_CODE,
        Some(_) => 0,
        None => signals.exit_code().unwrap_or(STILL_RUNNING_EXIT_CODE),
    })
}

/// Ends a job, and names the processes that are still alive.
async fn kill(jobs: &Jobs, id: &JobId, grace: Duration) -> anyhow::Result<u8> {
    let killed = jobs.kill(id, grace).await?;
    output::print(&format!("{}\n", state(&killed.job)))?;
    for survivor in &killed.survivors {
        let (pid, command) = (survivor.pid, &survivor.command);
        output::say(&format!("pid {pid} is still alive: {command}"));
    }
    Ok(u8::from(!killed.survivors.is_empty()))
}

/// Ends the jobs that listen on a port, and names them.
async fn kill_on_port(jobs: &Jobs, port: Option<u16>, grace: Duration) -> anyhow::Result<u8> {
    let Some(port) = port else {
        bail!("name a job, or a port with --port");
    };
    let found = jobs.list_with_ports(Some(port)).await?;
    if found.is_empty() {
        output::say(&format!("no job listens on port {port}"));
        return Ok(NOT_FOUND_EXIT_CODE);
    }
    let mut code = 0;
    for job in found {
        output::print(&format!("job {}: {}: ", job.id, first_line(&job)))?;
        code = code.max(kill(jobs, &job.id, grace).await?);
    }
    Ok(code)
}

/// Returns the first line of the job's command.
fn first_line(job: &Job) -> &str {
    job.command.lines().next().unwrap_or_default()
}

async fn list(jobs: &Jobs, json: bool, port: Option<u16>) -> anyhow::Result<u8> {
    let mut jobs = jobs.list_with_ports(port).await?;
    if json {
        let mut text = String::new();
        for job in &jobs {
            let _ = writeln!(text, "{}", serde_json::to_string(job)?);
        }
        output::print(&text)?;
        return Ok(0);
    }
    jobs.retain(|job| !job.ended_within_a_second());
    if jobs.is_empty() {
        output::say(&match port {
            Some(port) => format!("no job listens on port {port}"),
            None => "there are no jobs".to_owned(),
        });
        return Ok(0);
    }
    let now = SystemClock::new().wall();
    let rows: Vec<[String; 5]> = jobs
        .iter()
        .map(|job| {
            [
                job.id.to_string(),
                job.pid.to_string(),
                ago(job.started_at, now),
                state(job),
                first_line(job).to_owned(),
            ]
        })
        .collect();
    let headings = ["JOB", "PID", "STARTED", "STATE", "COMMAND"];
    output::print(&table(headings, &rows))?;
    Ok(0)
}

/// Prints the last lines or everything, in parts. With `follow`, keeps printing until the job has
/// ended or we are cancelled.
async fn print_output(
    jobs: &Jobs,
    id: &JobId,
    tail: Option<u64>,
    follow: bool,
    mask: Option<&dyn OutputMask>,
) -> anyhow::Result<u8> {
    let signals = CancelSignals::listen().context("cannot listen for signals")?;
    let range_from = |offset| OutputRange::From {
        offset,
        max_bytes: MAX_PART_BYTES,
    };
    let mut range = match tail {
        Some(lines) => OutputRange::Tail {
            lines,
            max_bytes: MAX_PART_BYTES,
        },
        None => range_from(0),
    };
    let mut is_over = !follow;
    let mut out = PassThrough::new(io::stdout());
    loop {
        let mut part = jobs.output(id, range)?;
        mask_job_output(mask, &mut part);
        if !output::pass(&mut out, &part.bytes)? {
            return Ok(0);
        }
        range = range_from(part.next);
        if !part.at_end && !part.bytes.is_empty() {
            continue;
        }
        // The job may have printed between the last read and its end: read once more.
        if is_over {
            return Ok(0);
        }
        match jobs.wait(id, Some(POLL_INTERVAL), signals.cancel()).await? {
            WaitOutcome::Over(_) => is_over = true,
            WaitOutcome::StillRunning(_) => {}
            WaitOutcome::Cancelled(_) => {
                return Ok(signals.exit_code().unwrap_or(STILL_RUNNING_EXIT_CODE));
            }
        }
    }
}

/// Returns the state of a job in a few words.
pub(crate) fn state(job: &Job) -> String {
    let mut state = state_text(&job.state);
    if job.is_asked_to_end && matches!(job.state, JobState::Ended(_)) {
        state.push_str(", on request");
    }
    state.push_str(&listens_on(&job.listens_on));
    for process in &job.remaining {
        let _ = write!(state, ", pid {} still runs", process.pid);
    }
    state
}

fn state_text(state: &JobState) -> String {
    match state {
        JobState::Running => "running".to_owned(),
        JobState::Ended(end) => match &end.ending {
            ScriptEnding::Exited { code } => format!("exited with code {code}"),
            ScriptEnding::Signaled { signal, .. } => format!("ended by {signal}"),
            ScriptEnding::TimedOut { after } => timed_out_text(*after),
            _ => "ended".to_owned(),
        },
        JobState::Lost { reason } => format!("lost: {reason}"),
    }
}
