//! Conversions from the session's types to the data of responses.

use agent_bash::ChangesGroupDone;
use agent_bash::change_sets::{
    DiffText, FileDiff, GroupPreview, ListedChanges, MemberPreview, Preview,
};
use agent_bash::core::ScriptEnding;
use agent_bash::core::changes::ChangeCounts;
use agent_bash::exec::{Job, JobKind, JobOutput, JobState, ShellInfo};
use agent_bash::session::BangMessage;
use agent_bash::sink::{ArtifactInfo, FoundLine, NextPage, Page, SearchResult};
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

/// Implements [`IntoData`] for types with fields of the same names, and with further values.
macro_rules! into_data {
    ($($from:ident => $data:ident($it:ident) {
        $($field:ident),*; $($name:ident: $value:expr),* $(,)?
    })*) => {$(
        impl IntoData<$data> for $from {
            fn into_data(self) -> $data {
                let $it = self;
                $data { $($name: $value,)* $($field: $it.$field,)* }
            }
        }
    )*};
}

into_data! {
    ListedChanges => ChangesSetData(set) {
        changes, undoes, redoes, after, maybe_earlier, turn_name; started_at: set.begun
    }
    Preview => ChangesPreviewData(preview) { counts, files, conflicts, without_conflict; }
    ChangesGroupDone => ChangesGroupData(done) { turn_name, sets, changes, text; }
    ShellInfo => ShellData(shell) {
        busy; name: shell.name.0, cwd: shell.cwd.map(|path| path.display().to_string())
    }
    Job => JobData(job) {
        command, cwd, pid, pgid, stdin, started_at, sandbox, unrecorded, remaining, listens_on;
        id: job.id.0,
        kind: match job.kind {
            JobKind::Started => JobOrigin::Started,
            JobKind::Adopted => JobOrigin::Adopted,
        },
        output: job.output.map(|path| path.display().to_string()),
        state: job.state.into_data(),
    }
    JobOutput => JobOutputData(output) {
        from, next, at_end, complete;
        text: String::from_utf8_lossy(&output.bytes).into_owned(),
        job: output.job.into_data(),
    }
    ArtifactInfo => ArtifactData(stored) {
        artifact, command, cwd, started_at, status;
        duration_ms: u64::try_from(stored.duration.as_millis()).unwrap_or(u64::MAX)
    }
    FoundLine => FoundLineData(line) { number, text, is_match; }
    BangMessage => MessageData(message) {
        command, output, exit_code, cancelled, truncated, artifact, time, excluded_from_context;
        text: message.for_model()
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
            lines: self.lines.into_iter().map(IntoData::into_data).collect(),
        }
    }
}
