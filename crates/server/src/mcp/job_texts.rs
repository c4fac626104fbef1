//! Texts about jobs and calls with a handle, for the lines that this server adds to an output.

use agent_bash::core::{MetCondition, Status, Until, listens_on, timed_out_text};
use agent_bash_protocol::data::{JobData, JobEndingData, JobProgress};
use agent_bash_running::RunningCall;
use std::fmt::Write as _;
use std::time::Duration;

/// Describes the state of a call with a handle.
pub(super) fn call_state(call: &RunningCall) -> String {
    match call
        .finished_call()
        .map(|finished_call| finished_call.result.status.clone())
    {
        None if call.is_on_terminal() => "is running on a terminal".to_owned(),
        None => "is running".to_owned(),
        Some(Status::Exited { code }) => format!("exited with code {code}"),
        Some(Status::Signaled { signal, .. }) => format!("was ended by {signal}"),
        Some(Status::TimedOut { .. }) => "timed out".to_owned(),
        Some(Status::Cancelled) => "was cancelled".to_owned(),
        Some(_) => "has ended".to_owned(),
    }
}

/// Returns the sentence about the condition that ended a wait; empty for the job's end.
pub(super) fn condition_text(met: Option<&MetCondition>, until: &Until) -> String {
    match met {
        _ if until.is_end() => String::new(),
        Some(MetCondition::End) => String::new(),
        Some(met) => format!(" Waited until {met}."),
        None => " No condition was met in time.".to_owned(),
    }
}

/// Describes the state of a job: running or ended, dropped output, remaining processes.
pub(super) fn job_state(job: &JobData) -> String {
    let mut text = ending(&job.state);
    if let JobProgress::Ended { dropped_bytes, .. } = job.state
        && dropped_bytes > 0
    {
        let _ = write!(text, ", {dropped_bytes} bytes of its output were not kept");
    }
    text.push_str(&listens_on(&job.listens_on));
    for process in &job.remaining {
        let (pid, command) = (process.pid, first_line(&process.command));
        let verb = if process.holds_output {
            "still writes to its output"
        } else {
            "is still running"
        };
        let _ = write!(text, ", pid {pid} {verb}: {command}");
    }
    text
}

/// Describes how a job has ended, if it has.
pub(super) fn ending(state: &JobProgress) -> String {
    match state {
        JobProgress::Running => "is running".to_owned(),
        JobProgress::Ended { ending, .. } => match ending {
            JobEndingData::Exited { code } => format!("exited with code {code}"),
            JobEndingData::Signaled { signal, .. } => format!("was ended by {signal}"),
            JobEndingData::TimedOut { after_ms } => {
                timed_out_text(Duration::from_millis(*after_ms))
            }
            JobEndingData::AllEnded => "is gone".to_owned(),
        },
        JobProgress::Lost { reason } => format!("is lost: {reason}"),
    }
}

/// Adds a line of this server below the output.
pub(super) fn with_line(output: &str, line: &str) -> String {
    match output.trim_end_matches('\n') {
        "" => line.to_owned(),
        output => format!("{output}\n\n{line}"),
    }
}

/// Returns the first line of a command, shortened for a list.
pub(super) fn first_line(command: &str) -> String {
    const MAX_COMMAND_CHARS: usize = 80;
    let first = command.lines().next().unwrap_or_default();
    match first.char_indices().nth(MAX_COMMAND_CHARS) {
        Some((end, _)) => format!("{}…", &first[..end]),
        None => first.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_line_adds_line_below_output() {
        assert_eq!(with_line("", "[x]"), "[x]");
        assert_eq!(with_line("a\nb\n", "[x]"), "a\nb\n\n[x]");
    }
}
