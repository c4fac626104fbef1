//! Conversions from the session's types to the data of responses.

use super::{
    ArtifactData, BashData, FoundData, FoundLineData, JobData, JobEndingData, JobOrigin,
    JobOutputData, JobProgress, MessageData, OldBashData, PageData, ShellData,
};
use agent_bash::core::Ending;
use agent_bash::exec::{Job, JobKind, JobOutput, JobState, ShellInfo};
use agent_bash::session::BangMessage;
use agent_bash::sink::{ArtifactInfo, Found, Next, Page};

impl From<BangMessage> for BashData {
    fn from(message: BangMessage) -> Self {
        let output = message.annotated_output();
        let summary = message.summary;
        let (total_lines, total_bytes) = (summary.total_lines, summary.total_bytes);
        let (output_lines, output_bytes) = (summary.shown_lines, summary.shown_bytes);
        let exit_code = message.exit_code;
        let artifact_id = message.artifact.map(|artifact| artifact.id.to_string());
        Self {
            output,
            exit_code,
            cancelled: message.cancelled,
            truncated: message.truncated,
            total_lines,
            total_bytes,
            output_lines,
            output_bytes,
            artifact_id: artifact_id.clone(),
            notices: message.notices,
            by_old_names: OldBashData {
                exit_code,
                total_lines,
                total_bytes,
                output_lines,
                output_bytes,
                artifact_id,
            },
        }
    }
}

impl From<BangMessage> for MessageData {
    fn from(message: BangMessage) -> Self {
        Self {
            text: message.for_model(),
            command: message.command,
            output: message.output,
            exit_code: message.exit_code,
            cancelled: message.cancelled,
            truncated: message.truncated,
            artifact: message.artifact,
            time: message.time,
            excluded_from_context: message.excluded_from_context,
        }
    }
}

impl From<ShellInfo> for ShellData {
    fn from(shell: ShellInfo) -> Self {
        Self {
            name: shell.name.0,
            busy: shell.busy,
            cwd: shell.cwd.map(|path| path.display().to_string()),
        }
    }
}

impl From<Job> for JobData {
    fn from(job: Job) -> Self {
        Self {
            id: job.id.0,
            kind: match job.kind {
                JobKind::Started => JobOrigin::Started,
                JobKind::Adopted => JobOrigin::Adopted,
            },
            command: job.command,
            cwd: job.cwd,
            pid: job.pid,
            pgid: job.pgid,
            output: job.output.map(|path| path.display().to_string()),
            stdin: job.stdin,
            state: job.state.into(),
            started_at: job.started_at,
            sandbox: job.sandbox,
            left: job.left,
        }
    }
}

impl From<Ending> for JobEndingData {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Exited { code } => Self::Exited { code },
            Ending::Signaled { signal, number } => Self::Signaled { signal, number },
            Ending::TimedOut { after } => Self::TimedOut {
                after_ms: u64::try_from(after.as_millis()).unwrap_or(u64::MAX),
            },
            // A job has no other endings.
            _ => Self::Gone,
        }
    }
}

impl From<JobState> for JobProgress {
    fn from(state: JobState) -> Self {
        match state {
            JobState::Running => Self::Running,
            JobState::Ended(end) => Self::Ended {
                ending: end.ending.into(),
                ended_at: end.ended_at,
                dropped_bytes: end.dropped_bytes,
                left: end.left,
            },
            JobState::Lost { reason } => Self::Lost { reason },
        }
    }
}

impl From<JobOutput> for JobOutputData {
    fn from(part: JobOutput) -> Self {
        Self {
            text: String::from_utf8_lossy(&part.bytes).into_owned(),
            from: part.from,
            next: part.next,
            at_end: part.at_end,
            complete: part.complete,
            job: part.job.into(),
        }
    }
}

impl From<ArtifactInfo> for ArtifactData {
    fn from(info: ArtifactInfo) -> Self {
        Self {
            artifact: info.artifact,
            command: info.command,
            cwd: info.cwd,
            started_at: info.started_at,
            duration_ms: u64::try_from(info.duration.as_millis()).unwrap_or(u64::MAX),
            status: info.status,
        }
    }
}

impl From<Page> for PageData {
    fn from(page: Page) -> Self {
        Self {
            text: page.piece.marked(),
            lines: page.piece.lines,
            total_lines: page.total_lines,
            total_bytes: page.total_bytes,
            next: match page.next {
                Next::Line(line) => Some(line),
                Next::End | Next::Byte(_) => None,
            },
            next_byte: match page.next {
                Next::Byte(byte) => Some(byte),
                Next::End | Next::Line(_) => None,
            },
            hint: page.hint(),
        }
    }
}

impl From<Found> for FoundData {
    fn from(found: Found) -> Self {
        Self {
            text: found.text(),
            hint: found.hint(),
            total_matches: found.total_matches,
            next: found.next_line,
            lines: found
                .lines
                .into_iter()
                .map(|line| FoundLineData {
                    number: line.number,
                    text: line.text,
                    is_match: line.is_match,
                })
                .collect(),
        }
    }
}
