//! The state of the interface and how events change it. This module never waits, runs or reads:
//! actions are returned as [`Effect`]s, and their results come back as [`Msg`]s.

mod cards;
mod changes;
mod completing;
mod effect;
mod history_panel;
mod journal_gap;
mod keys;
mod messages;
mod msg;
mod running;

pub(crate) use effect::Effect;
pub(crate) use msg::Msg;

use crate::OnQuit;
use crate::aliases::Aliases;
use crate::approvals::ApprovalQuestion;
use crate::complete::CandidateList;
use crate::console::{Console, EventOutcome};
use crate::diff_state::DiffState;
use crate::functions::Functions;
use crate::help::Help;
use crate::history_search::HistorySearch;
use crate::jobs_state::{JobsRequest, JobsState};
use crate::note::Note;
use crate::pager_source::LineSource;
use crate::pager_state::{PagerRequest, PagerState};
use crate::prompt::Prompt;
use crate::prompt_directory::PromptDirectory;
use crate::questions::{OpenQuestion, QuestionOutcome, Questions};
use crate::queue::QueueTreatment;
use crate::redraw::Redraw;
use crate::transcript::{Card, CardEntry, EntryId, Transcript};
use agent_bash::SandboxSettings;
use agent_bash::core::changes::ChangesId;
use agent_bash::core::{Request, SessionName, Status};
use agent_bash_render::{OutputText, Theme};
use crossterm::event::{Event, KeyEventKind, MouseButton, MouseEventKind};
use ratatui::text::Line;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

const ROWS_PER_WHEEL_STEP: isize = 3;

/// Lines of a full output per page of an expanded card.
pub(crate) const CARD_PAGE_LINES: u64 = 500;

/// Message for a key that acts on a command while there is no card.
const NO_COMMAND: &str = "there is no card: a command makes one, ctrl+l removes them";

/// The state of the interface.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) theme: Theme,
    pub(crate) transcript: Transcript,
    pub(crate) prompt: Prompt,
    pub(crate) console: Option<Console>,
    pub(crate) pager: Option<PagerState>,
    pub(crate) jobs: Option<JobsState>,
    pub(crate) diff: Option<DiffState>,
    pub(crate) search: Option<Box<HistorySearch>>,
    pub(crate) candidates: Option<CandidateList>,
    /// True while the interface acts on a change set, or looks at it before acting.
    is_changing: bool,
    pub(crate) help: Option<Help>,
    /// A message shown until the next key, or for some seconds.
    pub(crate) message: Option<String>,
    /// The shown message, and the time at which it appeared.
    shown_message: Option<(String, Duration)>,
    /// True if every call runs on a terminal, and false if only calls that need one do. `None` if
    /// terminals are not available.
    pub(crate) terminal: Option<bool>,
    /// The running call.
    pub(crate) call: Option<EntryId>,
    /// True if the running call is a known full-screen program.
    pub(crate) is_full_screen: bool,
    /// Set if the queue started the call: until this time, keys belong to the prompt even if the
    /// call is on a terminal.
    call_keys_from: Option<Duration>,
    /// Calls that wait for the running one, in order.
    pub(crate) queue: VecDeque<Request>,
    /// The treatment of the queue when the running call ends.
    queue_on_end: QueueTreatment,
    /// The persistent shell of the prompt's commands. `None` if the tool offers no sessions.
    pub(crate) shell: Option<SessionName>,
    /// True if the running call is interrupted before it is cancelled, so that its shell survives.
    pub(crate) interrupts_call: bool,
    pub(crate) interrupts_bang: bool,
    /// Environment changes for calls on a terminal: variables that stop programs from asking
    /// questions get the user's own values.
    pub(crate) terminal_env: BTreeMap<String, Option<String>>,
    /// The known aliases of the prompt's shell.
    aliases: Aliases,
    functions: Functions,
    /// The journal's error that a card has reported last.
    reported_journal_error: Option<String>,
    /// The status of the last call.
    pub(crate) last_status: Option<Status>,
    /// The running bang command.
    pub(crate) bang: Option<EntryId>,
    /// The treatment of jobs when the user quits.
    pub(crate) on_quit: OnQuit,
    /// True if Ctrl+X was the last key.
    ctrl_x_pressed: bool,
    /// True if Ctrl+D was the last key and the message names the command that quitting would end.
    confirms_quit: bool,
    /// True while the interface asks what happens to jobs when it quits.
    asks_about_jobs: bool,
    /// Number of running jobs when they were last listed.
    pub(crate) running_jobs: usize,
    /// True if a background process may have changed files since the last query for its changes.
    pub(crate) awaits_background_changes: bool,
    /// Trials of earlier runs that await a decision and have no card yet, oldest first.
    pub(crate) held_trials: Vec<ChangesId>,
    /// True if one of `held_trials` is selected as soon as its card exists.
    selects_trial_when_read: bool,
    /// The working directory of the prompt's commands.
    pub(crate) directory: PromptDirectory,
    /// The home directory, for `~`; empty if unknown.
    pub(crate) home: String,
    /// Details about the tool.
    pub(crate) about: String,
    /// True if calls may only read.
    pub(crate) is_safe_mode: bool,
    /// The sandbox of calls.
    pub(crate) sandbox: SandboxSettings,
    pub(crate) questions: Questions,
    pub(crate) redraw: Arc<Redraw>,
    effects: Vec<Effect>,
}

impl App {
    pub(crate) fn new(
        theme: Theme,
        terminal: Option<bool>,
        directory: PromptDirectory,
        about: String,
    ) -> Self {
        let mut transcript = Transcript::default();
        transcript.add(Card::Note(Note::Lines(welcome(&theme))), Duration::ZERO);
        Self {
            transcript,
            prompt: Prompt::new(&theme),
            theme,
            console: None,
            pager: None,
            jobs: None,
            diff: None,
            search: None,
            candidates: None,
            is_changing: false,
            help: None,
            message: None,
            shown_message: None,
            terminal,
            call: None,
            is_full_screen: false,
            call_keys_from: None,
            queue: VecDeque::new(),
            queue_on_end: QueueTreatment::default(),
            shell: None,
            interrupts_call: false,
            interrupts_bang: false,
            terminal_env: BTreeMap::new(),
            aliases: Aliases::default(),
            functions: Functions::default(),
            reported_journal_error: None,
            last_status: None,
            bang: None,
            on_quit: OnQuit::default(),
            ctrl_x_pressed: false,
            confirms_quit: false,
            asks_about_jobs: false,
            running_jobs: 0,
            awaits_background_changes: false,
            held_trials: Vec::new(),
            selects_trial_when_read: false,
            directory,
            home: String::new(),
            about,
            is_safe_mode: false,
            sandbox: SandboxSettings::default(),
            questions: Questions::default(),
            redraw: Arc::default(),
            effects: Vec::new(),
        }
    }

    /// Returns the actions that have accumulated since the last call.
    pub(crate) fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// Handles an event of the host's terminal.
    pub(crate) fn handle_event(&mut self, event: &Event, now: Duration) {
        self.dispatch_event(event, now);
        // The event may have released the keys that the next command waits for.
        self.start_next(now);
    }

    fn dispatch_event(&mut self, event: &Event, now: Duration) {
        match self.questions.event(event, now) {
            QuestionOutcome::NotAsked => {}
            QuestionOutcome::Answered => return,
            QuestionOutcome::Allowed => return self.change_call(|entry| entry.mark_permitted(now)),
            QuestionOutcome::ActionConfirmed(entry, proposed) => return self.act(entry, proposed),
        }
        let is_for_prompt = self.is_for_prompt(event, now);
        if let Some(console) = self.console.as_mut().filter(|_| !is_for_prompt) {
            match console.event(event, now) {
                EventOutcome::Consumed => return,
                EventOutcome::Close => self.console = None,
            }
        }
        if self.handle_help_event(event) {
        } else if self.search.is_some() {
            self.search_event(event);
        } else if self.diff.is_some() {
            self.diff_event(event);
        } else if let Some(pager) = &mut self.pager {
            let request = pager.event(event);
            self.handle_pager_request(request);
        } else if let Some(jobs) = &mut self.jobs {
            match jobs.event(event) {
                JobsRequest::Nothing => self.effects.push(Effect::ListJobs),
                JobsRequest::Close => self.jobs = None,
                JobsRequest::Kill(id) => self.effects.push(Effect::KillJob(id)),
                JobsRequest::OpenOutput { id, command, path } => {
                    let title = format!("job {id}");
                    self.effects.push(Effect::OpenFile {
                        path,
                        title,
                        command,
                    });
                }
            }
        } else {
            self.main_event(event, now);
        }
        self.look_up(false);
    }

    fn handle_pager_request(&mut self, request: PagerRequest) {
        let Some(pager) = &mut self.pager else {
            return;
        };
        match request {
            PagerRequest::Nothing => {}
            PagerRequest::Close => self.pager = None,
            PagerRequest::Find(search) => match pager.source() {
                LineSource::File(text) => self.effects.push(Effect::FindPattern { text, search }),
                LineSource::Card(id) => {
                    let entry = self.transcript.get(id);
                    if let Some(output) = entry.and_then(|entry| entry.card.output()) {
                        pager.find_in(output, &search);
                    }
                }
            },
        }
    }

    fn main_event(&mut self, event: &Event, now: Duration) {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => {
                self.message = None;
                if !self.list_key(*key) {
                    self.key(*key, now);
                }
            }
            Event::Paste(text) => {
                self.candidates = None;
                self.prompt.paste(text);
                self.leave_card();
            }
            Event::Mouse(mouse) => match mouse.kind {
                MouseEventKind::ScrollUp => self.transcript.scroll(ROWS_PER_WHEEL_STEP),
                MouseEventKind::ScrollDown => self.transcript.scroll(-ROWS_PER_WHEEL_STEP),
                MouseEventKind::Down(MouseButton::Left) => {
                    let (x, y) = (mouse.column, mouse.row);
                    if !self.list_click(x, y) && !self.prompt_click(x, y) {
                        self.click(y);
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }

    /// Handles the end of the editor.
    pub(crate) fn editor_ended(&mut self, text: Result<String, String>) {
        match text {
            Ok(text) => {
                self.prompt.replace(&text, self.prompt.is_trial);
            }
            Err(why) => self.message = Some(why),
        }
    }

    /// Handles a call's question whether it may leave the sandbox.
    pub(crate) fn ask_to_leave_sandbox(&mut self, question: ApprovalQuestion, now: Duration) {
        self.questions.push(OpenQuestion::Call(question), now);
        // One call runs at a time, and only calls have a sandbox to leave.
        self.change_call(CardEntry::mark_waiting);
    }

    fn change_call(&mut self, change: impl FnOnce(&mut CardEntry)) {
        if let Some(call) = self.call {
            self.transcript.change(call, change);
        }
    }

    /// True if a question awaits its answer.
    pub(crate) fn has_question(&self) -> bool {
        self.questions.has_question()
    }

    fn toggle_expanded(&mut self) {
        let Some(id) = self.transcript.current().map(|entry| entry.id) else {
            return;
        };
        self.transcript.hold_selected();
        self.transcript.change(id, |entry| {
            entry.expanded = !entry.expanded;
            match &mut entry.card {
                Card::Tool(card) => card.folded = false,
                Card::Bang(card) => card.folded = false,
                Card::Note(_) => {}
            }
        });
        let page = self.transcript.current().and_then(|entry| {
            let Card::Tool(card) = &entry.card else {
                return None;
            };
            let is_needed = entry.expanded && card.page.is_none() && !entry.is_binary;
            entry.artifact.filter(|_| is_needed)
        });
        // Requests the last page, because the card has shown the end until now.
        if let Some(artifact) = page {
            let from = u64::MAX;
            self.effects.push(Effect::CardPage {
                entry: id,
                artifact,
                from,
            });
        }
    }

    /// Shows the next or previous page of an expanded card's full output.
    fn load_page(&mut self, forward: bool) {
        let Some(entry) = self.transcript.current() else {
            return;
        };
        let (Card::Tool(card), Some(artifact)) = (&entry.card, entry.artifact) else {
            return;
        };
        let Some(page) = card.page.as_ref().filter(|_| entry.expanded) else {
            return;
        };
        let last = page.total_lines.saturating_sub(CARD_PAGE_LINES) + 1;
        let from = if forward {
            page.first_line.saturating_add(CARD_PAGE_LINES).min(last)
        } else {
            page.first_line.saturating_sub(CARD_PAGE_LINES)
        };
        let entry = entry.id;
        self.effects.push(Effect::CardPage {
            entry,
            artifact,
            from: from.max(1),
        });
    }

    /// Opens the pager on the full output of a command.
    fn open_pager(&mut self) {
        let Some(entry) = self.transcript.current() else {
            return;
        };
        if let Some(artifact) = entry.artifact {
            let command = entry.command().to_owned();
            self.effects.push(Effect::OpenOutput { artifact, command });
            return;
        }
        let is_empty = entry.card.output().is_none_or(OutputText::is_empty);
        if is_empty && !entry.is_live() {
            self.message = Some("the command printed nothing".to_owned());
            return;
        }
        let command = entry.command().to_owned();
        self.pager = Some(PagerState::of_card(entry.id, command, entry.is_live()));
    }

    /// True if a panel or a console has the keys.
    pub(crate) fn is_covered(&self) -> bool {
        self.has_panel() || self.console.is_some()
    }

    /// True if a panel has the keys.
    pub(crate) fn has_panel(&self) -> bool {
        let panels = [
            self.pager.is_some(),
            self.jobs.is_some(),
            self.diff.is_some(),
            self.search.is_some(),
        ];
        panels.contains(&true)
    }

    /// True if the display changes without events.
    pub(crate) fn is_live(&self) -> bool {
        let console = self
            .console
            .as_ref()
            .is_some_and(|console| !console.has_ended());
        let jobs = self.jobs.as_ref().is_some_and(JobsState::is_live);
        let pager = self.pager.as_ref().is_some_and(PagerState::is_live);
        console || jobs || pager || self.transcript.is_live()
    }

    /// The time at which to call [`Self::expire`].
    pub(crate) fn deadline(&self) -> Option<Duration> {
        let deadlines = [
            self.console.as_ref().and_then(Console::deadline),
            self.pager.as_ref().and_then(PagerState::deadline),
            self.message_deadline(),
        ];
        deadlines.into_iter().flatten().min()
    }

    /// Handles timeouts.
    pub(crate) fn expire(&mut self, now: Duration) {
        self.end_message(now);
        if self
            .console
            .as_mut()
            .is_some_and(|console| console.expire(now))
        {
            self.console = None;
        }
        // The timeout may have released the keys that the next command waits for.
        self.start_next(now);
    }
}

/// The first card. Its lines fit 40 columns, because they are not wrapped.
fn welcome(theme: &Theme) -> Vec<Line<'static>> {
    let version = concat!("agent-bash ", env!("CARGO_PKG_VERSION"));
    let lines = [
        "A line runs as a model's call would.",
        "!command is yours · ? shows the keys.",
    ];
    let title = Line::styled(version, theme.title);
    let lines = lines.map(|line| Line::styled(line, theme.dim));
    [title].into_iter().chain(lines).collect()
}

/// The event of a press of the left button at this position.
#[cfg(test)]
pub(crate) fn pressed_at(column: u16, row: u16) -> Event {
    Event::Mouse(crossterm::event::MouseEvent {
        kind: MouseEventKind::Down(MouseButton::Left),
        column,
        row,
        modifiers: crossterm::event::KeyModifiers::NONE,
    })
}

#[cfg(test)]
#[path = "app_tests.rs"]
mod tests;
