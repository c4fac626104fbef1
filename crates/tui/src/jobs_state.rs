//! The state of the jobs panel while it is open: the selection, and the selected job's output.

use agent_bash::core::{JobId, ScriptEnding, Timestamp, listed};
use agent_bash::exec::{Job, JobOutput, JobState};
use agent_bash::sink::{SizeStyle, TerminalText, binary_text};
use agent_bash_render::{JobRow, JobRowState, JobsPanel, OutputLimits, OutputText, Theme};
use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers, MouseButton, MouseEventKind};
use ratatui::Frame;
use ratatui::layout::Rect;
use std::path::PathBuf;
use std::time::Duration;

/// The panel and its jobs.
#[derive(Debug, Default)]
pub(crate) struct JobsState {
    rows: Vec<JobRow>,
    /// The output file of each job.
    files: Vec<Option<PathBuf>>,
    selected: usize,
    /// The screen row and the index of each drawn job.
    drawn: Vec<(u16, usize)>,
    output: Option<(String, OutputText)>,
    /// The job that ends if the user confirms.
    confirming: Option<JobId>,
    pub(crate) message: Option<String>,
}

/// A request of the panel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum JobsRequest {
    Nothing,
    Close,
    Kill(JobId),
    /// Open the pager on a job's full output.
    OpenOutput {
        id: String,
        command: String,
        path: PathBuf,
    },
}

impl JobsState {
    /// Updates the list, newest job first.
    pub(crate) fn update(&mut self, jobs: &[Job], now: Timestamp) {
        let selected = self.selected_id().map(|JobId(id)| id);
        let row = |job: &&Job| row(job, now);
        let is_listed = |job: &&Job| !job.ended_within_a_second();
        let jobs: Vec<&Job> = jobs.iter().rev().filter(is_listed).collect();
        self.rows = jobs.iter().map(row).collect();
        self.files = jobs.iter().map(|job| job.output.clone()).collect();
        let at = selected.and_then(|id| self.rows.iter().position(|row| row.id == id));
        self.selected = at
            .unwrap_or(self.selected)
            .min(self.rows.len().saturating_sub(1));
    }

    pub(crate) fn selected_id(&self) -> Option<JobId> {
        self.rows
            .get(self.selected)
            .map(|row| JobId(row.id.clone()))
    }

    pub(crate) fn selected_state(&self) -> Option<&JobRowState> {
        self.rows.get(self.selected).map(|row| &row.state)
    }

    /// Shows the end of a job's output.
    pub(crate) fn set_output(&mut self, end: &JobOutput) {
        let mut output = OutputText::new(OutputLimits::CARD);
        let mut clean = TerminalText::coloured();
        output.push(&clean.push(&end.bytes));
        output.push(&clean.finish());
        if clean.is_binary() {
            output.show_instead(Some(&binary_text(end.next, SizeStyle::Tight)));
        }
        self.output = Some((end.job.id.to_string(), output));
    }

    /// True if the display changes without events.
    pub(crate) fn is_live(&self) -> bool {
        self.rows
            .iter()
            .any(|row| row.state == JobRowState::Running)
    }

    pub(crate) fn event(&mut self, event: &Event) -> JobsRequest {
        let key = match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => key,
            Event::Mouse(mouse) => {
                match mouse.kind {
                    MouseEventKind::ScrollUp => self.select(-1),
                    MouseEventKind::ScrollDown => self.select(1),
                    MouseEventKind::Down(MouseButton::Left) => self.click(mouse.row),
                    _ => {}
                }
                return JobsRequest::Nothing;
            }
            _ => return JobsRequest::Nothing,
        };
        self.message = None;
        if let Some(id) = self.confirming.take() {
            return self.confirm(id, key.code);
        }
        match (key.code, key.modifiers) {
            (KeyCode::Esc | KeyCode::Char('q') | KeyCode::F(2), _)
            | (KeyCode::Char('c' | 'g'), KeyModifiers::CONTROL) => return JobsRequest::Close,
            (KeyCode::Up | KeyCode::Char('k'), _) => self.select(-1),
            (KeyCode::Down | KeyCode::Char('j'), _) => self.select(1),
            (KeyCode::Home | KeyCode::Char('g'), _) => self.selected = 0,
            (KeyCode::End | KeyCode::Char('G'), _) => self.select(isize::MAX),
            (KeyCode::Char('x'), _) => self.ask_to_end(),
            (KeyCode::Enter, _) => return self.open_output(),
            _ => {}
        }
        JobsRequest::Nothing
    }

    fn click(&mut self, row: u16) {
        if let Some((_, at)) = self.drawn.iter().find(|(y, _)| *y == row) {
            self.selected = *at;
        }
    }

    fn select(&mut self, by: isize) {
        let last = self.rows.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(by).min(last);
    }

    /// Asks whether to end the selected job.
    fn ask_to_end(&mut self) {
        match self.rows.get(self.selected) {
            Some(row) if row.state == JobRowState::Running => {
                self.message = Some(format!("end job {}? y ends it · n keeps it", row.id));
                self.confirming = Some(JobId(row.id.clone()));
            }
            Some(row) => self.message = Some(format!("job {} has ended", row.id)),
            None => {}
        }
    }

    fn confirm(&mut self, id: JobId, key: KeyCode) -> JobsRequest {
        if !matches!(key, KeyCode::Char('y' | 'Y')) {
            self.message = Some(format!("job {id} continues"));
            return JobsRequest::Nothing;
        }
        self.message = Some(format!("ending job {id} …"));
        JobsRequest::Kill(id)
    }

    fn open_output(&mut self) -> JobsRequest {
        let Some(row) = self.rows.get(self.selected) else {
            return JobsRequest::Nothing;
        };
        let Some(path) = self.files.get(self.selected).cloned().flatten() else {
            self.message = Some(format!("the output of job {} is not stored", row.id));
            return JobsRequest::Nothing;
        };
        JobsRequest::OpenOutput {
            id: row.id.clone(),
            command: row.command.clone(),
            path,
        }
    }

    pub(crate) fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, theme: &Theme) {
        let selected = self.rows.get(self.selected).map(|row| row.id.as_str());
        let output = self
            .output
            .as_ref()
            .filter(|(id, _)| Some(id.as_str()) == selected);
        let panel = JobsPanel {
            jobs: &self.rows,
            selected: self.selected,
            output: output.map(|(_, output)| output),
            message: self.message.as_deref(),
        };
        panel.render(area, frame.buffer_mut(), theme);
        let drawn = (area.y..area.bottom()).filter_map(|y| Some((y, panel.at(area, y)?)));
        self.drawn = drawn.collect();
    }
}

fn row(job: &Job, now: Timestamp) -> JobRow {
    let (state, until) = match &job.state {
        JobState::Running => (JobRowState::Running, Some(now)),
        JobState::Ended(end) => (
            ended_state(&end.ending, job.is_asked_to_end),
            Some(end.ended_at),
        ),
        JobState::Lost { .. } => (JobRowState::Failed("lost".to_owned()), None),
    };
    let Timestamp(started) = job.started_at;
    let elapsed =
        until.map(|Timestamp(until)| Duration::from_millis(until.saturating_sub(started)));
    JobRow {
        id: job.id.to_string(),
        command: job.command.clone(),
        listens_on: listed(&job.listens_on),
        pid: job.pid,
        state,
        elapsed,
    }
}

/// The state of an ended job. The exit status of survivors is unknown.
fn ended_state(ending: &ScriptEnding, is_asked: bool) -> JobRowState {
    match ending {
        ScriptEnding::Exited { code: 0 } => JobRowState::Succeeded,
        ScriptEnding::Exited { code } => JobRowState::Failed(format!("exit {code}")),
        ScriptEnding::Cancelled => JobRowState::Ended { by_user: true },
        ScriptEnding::Signaled { .. } if is_asked => JobRowState::Ended { by_user: true },
        ScriptEnding::Signaled { signal, .. } => JobRowState::Failed(format!("ended by {signal}")),
        ScriptEnding::TimedOut { .. } => JobRowState::Failed("timed out".to_owned()),
        ScriptEnding::AllEnded => JobRowState::Ended { by_user: is_asked },
        _ => JobRowState::Failed("lost".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash::exec::JobKind;
    use agent_bash::process::supervisor::JobEnd;

    #[test]
    fn jobs_that_ended_at_once_are_hidden_unless_the_user_ended_them() {
        let job = |id: &str, kind, ended_at| Job {
            id: JobId(id.to_owned()),
            kind,
            command: "git commit".to_owned(),
            cwd: "/".to_owned(),
            pid: 1,
            pgid: 1,
            output: None,
            stdin: false,
            state: JobState::Ended(JobEnd {
                ending: ScriptEnding::AllEnded,
                ended_at: Timestamp(ended_at),
                dropped_bytes: 0,
                has_remaining: false,
                length: 0,
            }),
            started_at: Timestamp(2000),
            adopted_at: Some(Timestamp(5000)),
            is_asked_to_end: id == "2",
            sandbox: None,
            unrecorded: None,
            remaining: Vec::new(),
            listens_on: Vec::new(),
        };
        let jobs = [
            job("1", JobKind::Adopted, 5022),
            job("2", JobKind::Adopted, 5022),
            job("3", JobKind::Adopted, 6000),
            job("4", JobKind::Started, 5022),
        ];
        let mut state = JobsState::default();
        state.update(&jobs, Timestamp(9000));
        let listed: Vec<&str> = state.rows.iter().map(|row| row.id.as_str()).collect();
        assert_eq!(listed, ["4", "3", "2"]);
    }

    #[test]
    fn click_selects_a_job() {
        use ratatui::{Terminal, backend::TestBackend};
        let row = |id: &str| JobRow {
            id: id.to_owned(),
            command: "sleep 9".to_owned(),
            listens_on: String::new(),
            pid: 1,
            state: JobRowState::Running,
            elapsed: None,
        };
        let mut jobs = JobsState {
            rows: vec![row("3"), row("2"), row("1")],
            ..JobsState::default()
        };
        let mut terminal = Terminal::new(TestBackend::new(80, 12)).unwrap();
        for (y, selected) in [(3, "1"), (2, "2"), (7, "2"), (0, "2"), (1, "3")] {
            terminal
                .draw(|frame| jobs.draw(frame, frame.area(), &Theme::plain()))
                .unwrap();
            jobs.event(&crate::app::pressed_at(5, y));
            assert_eq!(jobs.selected_id(), Some(JobId(selected.to_owned())), "{y}");
        }
    }

    #[test]
    fn unknown_outcome_is_not_shown_as_a_failure() {
        let signaled = || ScriptEnding::Signaled {
            signal: "SIGTERM".to_owned(),
            number: 15,
        };
        let by = |by_user| JobRowState::Ended { by_user };
        for (ending, is_asked, want) in [
            (
                ScriptEnding::Exited { code: 0 },
                false,
                JobRowState::Succeeded,
            ),
            (
                ScriptEnding::Exited { code: 2 },
                true,
                JobRowState::Failed("exit 2".to_owned()),
            ),
            (ScriptEnding::AllEnded, false, by(false)),
            (ScriptEnding::AllEnded, true, by(true)),
            (ScriptEnding::Cancelled, false, by(true)),
            (signaled(), true, by(true)),
            (
                signaled(),
                false,
                JobRowState::Failed("ended by SIGTERM".to_owned()),
            ),
        ] {
            assert_eq!(ended_state(&ending, is_asked), want, "{ending:?}");
        }
    }
}
