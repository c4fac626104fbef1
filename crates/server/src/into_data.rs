//! Conversions from the session's types to the data of responses.

use agent_bash::ChangesGroupDone;
use agent_bash::change_sets::{
    DiffText, FileDiff, GroupPreview, ListedChanges, MemberPreview, Preview,
};
use agent_bash::core::ScriptEnding;
use agent_bash::core::changes::ChangeCounts;
use agent_bash::exec::{Job, JobKind, JobOutput, JobState, ShellInfo};
use agent_bash::session::BangMessage;
use agent_bash::sink::{ArtifactInfo, NextPage, Page, SearchResult};
use agent_bash_protocol::data::{
    ArtifactData, BashData, ChangesBlockedData, ChangesGroupData, ChangesGroupPreviewData,
    ChangesMemberData, ChangesPreviewData, ChangesSetData, FileDiffData, FoundData, FoundLineData,
    JobData, JobEndingData, JobOrigin, JobOutputData, JobProgress, MessageData, OldBashData,
    PageData, ShellData,
};

/// Converts a value of the session to the data of a response. A trait of its own, because the
/// orphan rule forbids `From` between types of other crates.
pub trait IntoData<Data> {
    /// Returns the data.
    fn into_data(self) -> Data;
}

impl IntoData<ChangesSetData> for ListedChanges {
    fn into_data(self) -> ChangesSetData {
        ChangesSetData {
            changes: self.changes,
            started_at: self.begun,
            undoes: self.undoes,
            redoes: self.redoes,
            after: self.after,
            maybe_earlier: self.maybe_earlier,
            turn_name: self.turn_name,
        }
    }
}

impl IntoData<FileDiffData> for FileDiff {
    fn into_data(self) -> FileDiffData {
        let as_octal = |(before, after)| [format!("{before:o}"), format!("{after:o}")];
        let binary = self.text == DiffText::Binary;
        FileDiffData {
            file: self.file,
            binary,
            changed_since: self.changed_since,
            blocks_commit: self.blocks_commit,
            diff: match self.text {
                DiffText::Unified(text) => Some(text),
                _ => None,
            },
            mode: self.mode.map(as_octal),
        }
    }
}

impl IntoData<ChangesPreviewData> for Preview {
    fn into_data(self) -> ChangesPreviewData {
        ChangesPreviewData {
            counts: self.counts,
            files: self.files,
            conflicts: self.conflicts,
            without_conflict: self.without_conflict,
        }
    }
}

impl IntoData<ChangesGroupData> for ChangesGroupDone {
    fn into_data(self) -> ChangesGroupData {
        ChangesGroupData {
            turn_name: self.turn_name,
            sets: self.sets,
            changes: self.changes,
            text: self.text,
        }
    }
}

impl IntoData<ChangesGroupPreviewData> for GroupPreview {
    fn into_data(self) -> ChangesGroupPreviewData {
        let blocked = self.blocked.into_iter();
        ChangesGroupPreviewData {
            turn_name: self.turn_name,
            sets: self.sets.into_iter().map(IntoData::into_data).collect(),
            blocked: blocked
                .map(|(id, why)| ChangesBlockedData { id, why })
                .collect(),
        }
    }
}

impl IntoData<ChangesMemberData> for MemberPreview {
    fn into_data(self) -> ChangesMemberData {
        let counts = ChangeCounts::of(&self.files);
        ChangesMemberData {
            id: self.id,
            root: self.root,
            preview: ChangesPreviewData {
                counts,
                files: self.files,
                conflicts: self.conflicts,
                without_conflict: self.without_conflict,
            },
        }
    }
}

impl IntoData<BashData> for BangMessage {
    fn into_data(self) -> BashData {
        let output = self.annotated_output();
        let summary = self.summary;
        let (total_lines, total_bytes) = (summary.total_lines, summary.total_bytes);
        let (output_lines, output_bytes) = (summary.shown_lines, summary.shown_bytes);
        let exit_code = self.exit_code;
        let artifact_id = self.artifact.map(|artifact| artifact.id.to_string());
        BashData {
            output,
            exit_code,
            cancelled: self.cancelled,
            truncated: self.truncated,
            total_lines,
            total_bytes,
            output_lines,
            output_bytes,
            artifact_id: artifact_id.clone(),
            notices: self.notices,
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

impl IntoData<MessageData> for BangMessage {
    fn into_data(self) -> MessageData {
        MessageData {
            text: self.for_model(),
            command: self.command,
            output: self.output,
            exit_code: self.exit_code,
            cancelled: self.cancelled,
            truncated: self.truncated,
            artifact: self.artifact,
            time: self.time,
            excluded_from_context: self.excluded_from_context,
        }
    }
}

impl IntoData<ShellData> for ShellInfo {
    fn into_data(self) -> ShellData {
        ShellData {
            name: self.name.0,
            busy: self.busy,
            cwd: self.cwd.map(|path| path.display().to_string()),
        }
    }
}

impl IntoData<JobData> for Job {
    fn into_data(self) -> JobData {
        JobData {
            id: self.id.0,
            kind: match self.kind {
                JobKind::Started => JobOrigin::Started,
                JobKind::Adopted => JobOrigin::Adopted,
            },
            command: self.command,
            cwd: self.cwd,
            pid: self.pid,
            pgid: self.pgid,
            output: self.output.map(|path| path.display().to_string()),
            stdin: self.stdin,
            state: self.state.into_data(),
            started_at: self.started_at,
            sandbox: self.sandbox,
            unrecorded: self.unrecorded,
            remaining: self.remaining,
            listens_on: self.listens_on,
        }
    }
}

impl IntoData<JobEndingData> for ScriptEnding {
    fn into_data(self) -> JobEndingData {
        match self {
            ScriptEnding::Exited { code } => JobEndingData::Exited { code },
            ScriptEnding::Signaled { signal, number } => JobEndingData::Signaled { signal, number },
            ScriptEnding::TimedOut { after } => JobEndingData::TimedOut {
                after_ms: u64::try_from(after.as_millis()).unwrap_or(u64::MAX),
            },
            // The only other ending of a job: all its processes have ended.
            _ => JobEndingData::AllEnded,
        }
    }
}

impl IntoData<JobProgress> for JobState {
    fn into_data(self) -> JobProgress {
        match self {
            JobState::Running => JobProgress::Running,
            JobState::Ended(end) => JobProgress::Ended {
                ending: end.ending.into_data(),
                ended_at: end.ended_at,
                dropped_bytes: end.dropped_bytes,
                has_remaining: end.has_remaining,
            },
            JobState::Lost { reason } => JobProgress::Lost { reason },
        }
    }
}

impl IntoData<JobOutputData> for JobOutput {
    fn into_data(self) -> JobOutputData {
        JobOutputData {
            text: String::from_utf8_lossy(&self.bytes).into_owned(),
            from: self.from,
            next: self.next,
            at_end: self.at_end,
            complete: self.complete,
            job: self.job.into_data(),
        }
    }
}

impl IntoData<ArtifactData> for ArtifactInfo {
    fn into_data(self) -> ArtifactData {
        ArtifactData {
            artifact: self.artifact,
            command: self.command,
            cwd: self.cwd,
            started_at: self.started_at,
            duration_ms: u64::try_from(self.duration.as_millis()).unwrap_or(u64::MAX),
            status: self.status,
        }
    }
}

impl IntoData<PageData> for Page {
    fn into_data(self) -> PageData {
        PageData {
            text: self.piece.marked(),
            lines: self.piece.lines,
            total_lines: self.total_lines,
            total_bytes: self.total_bytes,
            next: match self.next {
                NextPage::Line(line) => Some(line),
                NextPage::End | NextPage::Byte(_) => None,
            },
            next_byte: match self.next {
                NextPage::Byte(byte) => Some(byte),
                NextPage::End | NextPage::Line(_) => None,
            },
            hint: self.hint(),
        }
    }
}

impl IntoData<FoundData> for SearchResult {
    fn into_data(self) -> FoundData {
        FoundData {
            text: self.text(),
            hint: self.hint(),
            total_matches: self.total_matches,
            next: self.next_line,
            lines: self
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
