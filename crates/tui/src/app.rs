//! The state of the interface and how events change it. This module never waits, runs or reads:
//! actions are returned as [`Effect`]s, and their results come back as [`Msg`]s.

mod cards;
mod changes;
mod completing;
mod earlier;
mod keys;
mod messages;
mod msg;
mod record;
mod running;
mod typed;

pub(crate) use msg::Msg;

use crate::OnQuit;
use crate::aliases::Aliases;
use crate::approvals::ApprovalQuestion;
use crate::change_work::ChangeWork;
use crate::complete::CandidateList;
use crate::console::{Console, EventOutcome};
use crate::diff_state::DiffState;
use crate::functions::Functions;
use crate::help::Help;
use crate::history_search::HistorySearch;
use crate::jobs_state::{JobsRequest, JobsState};
use crate::note::Note;
use crate::pager_source::{LineSource, PatternSearch, SharedText};
use crate::pager_state::{PagerRequest, PagerState};
use crate::prompt::Prompt;
use crate::prompt_directory::PromptDirectory;
use crate::questions::{OpenQuestion, QuestionOutcome, Questions};
use crate::queue::Queue;
use crate::redraw::Redraw;
use crate::transcript::{Card, CardEntry, EntryId, Transcript};
use agent_bash::SandboxSettings;
use agent_bash::core::changes::ChangesId;
use agent_bash::core::{ArtifactId, JobId, Request, SessionName, Status};
use agent_bash::sink::LiveUpdates;
use agent_bash_render::{OutputText, Theme};
use crossterm::event::{Event, KeyEventKind, MouseButton, MouseEventKind};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Rows per wheel step.
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
    pub(crate) listed: Option<CandidateList>,
    /// True while the interface acts on a change set, or looks at it before acting.
    is_changing: bool,
    pub(crate) help: Option<Help>,
    /// A message shown until the next key, or for some seconds.
    pub(crate) message: Option<String>,
    /// The message, and the time since which it is shown.
    shown_message: Option<(String, Duration)>,
    /// True if every call runs on a terminal, and false if only calls that need one do. `None` if
    /// terminals are not available.
    pub(crate) terminal: Option<bool>,
    /// The running call.
    pub(crate) call: Option<EntryId>,
    /// True if the running call is known to draw on its whole terminal.
    pub(crate) draws: bool,
    /// Set if the call started by itself: until this time, keys belong to the prompt even if the
    /// call is on a terminal.
    keys_from: Option<Duration>,
    /// Calls that wait for the running one, in order.
    pub(crate) queue: VecDeque<Request>,
    /// The treatment of the queue when the running call ends.
    on_end: Queue,
    /// The persistent shell of the prompt's commands. `None` if the tool offers no sessions.
    pub(crate) shell: Option<SessionName>,
    /// True if the running call is interrupted before it is cancelled, so that its shell survives.
    pub(crate) interrupts_call: bool,
    pub(crate) interrupts_bang: bool,
    /// Variables of calls on a terminal. Variables that otherwise keep programs from asking have
    /// the user's values.
    pub(crate) attended: BTreeMap<String, Option<String>>,
    /// Aliases of the prompt's shell, as far as they are known.
    aliases: Aliases,
    functions: Functions,
    /// The error for which commands are missing in the journal, once a card has shown it.
    record_fails: Option<String>,
    /// How the last call ended.
    pub(crate) last: Option<Status>,
    /// The user's own command that is running.
    pub(crate) bang: Option<EntryId>,
    /// The treatment of jobs when the user quits.
    pub(crate) on_quit: OnQuit,
    /// True if Ctrl+X was the last key.
    is_chord: bool,
    /// True if Ctrl+D was the last key and the message names what quitting would end.
    is_quitting: bool,
    /// True while the user, who wants to quit, is asked what happens to jobs.
    is_leaving: bool,
    /// Number of running jobs when they were last listed.
    pub(crate) running_jobs: usize,
    /// True if a background process may have changed files since the last query for its changes.
    pub(crate) awaits_background_changes: bool,
    /// Trials of earlier runs that await a decision and have no card yet, oldest first.
    pub(crate) held: Vec<ChangesId>,
    /// True if one of `held` is selected as soon as their cards exist.
    awaits_held: bool,
    /// The working directory of the prompt's commands.
    pub(crate) directory: PromptDirectory,
    /// The home directory, for `~`; empty if there is none.
    pub(crate) home: String,
    /// Details about the tool.
    pub(crate) about: String,
    /// True if calls may only read.
    pub(crate) is_safe_mode: bool,
    /// The sandbox of calls.
    pub(crate) sandbox: SandboxSettings,
    questions: Questions,
    pub(crate) redraw: Arc<Redraw>,
    effects: Vec<Effect>,
}

/// An action to be carried out by the event loop.
#[derive(Debug)]
pub(crate) enum Effect {
    Call {
        entry: EntryId,
        request: Request,
        live: LiveUpdates,
        /// True if the call may change functions, aliases or options of its shell.
        defines: bool,
    },
    Bang {
        entry: EntryId,
        command: String,
        excluded: bool,
        live: LiveUpdates,
    },
    CancelCall,
    /// Cancels the running call to run it again. `gently`: interrupts it first, so that the next
    /// call starts with the state of its shell.
    ReplaceCall {
        gently: bool,
    },
    CancelBang,
    /// Interrupts what the call runs, so that its shell survives. Cancels the call if that takes
    /// too long.
    InterruptCall,
    InterruptBang,
    ListJobs,
    KillJob(JobId),
    /// Opens a full output in the pager.
    Open {
        artifact: ArtifactId,
        command: String,
    },
    /// Opens a file in the pager.
    OpenFile {
        path: PathBuf,
        title: String,
        command: String,
    },
    /// Loads a page of a full output for a card.
    CardPage {
        entry: EntryId,
        artifact: ArtifactId,
        from: u64,
    },
    Find {
        text: SharedText,
        seek: PatternSearch,
    },
    /// Puts a text into the clipboard of the host's terminal.
    Copy(String),
    /// Acts on a card's change set, or looks at it.
    Changes {
        entry: EntryId,
        id: ChangesId,
        work: ChangeWork,
    },
    /// Finds the change sets of processes that these commands left running, by the commands' change
    /// sets.
    FindBackgroundChanges(Vec<(EntryId, ChangesId)>),
    /// Finds out whether these trials still await a decision.
    ReadUndecided(Vec<(EntryId, ChangesId)>),
    /// Reads trials of earlier runs, which become cards.
    ReadHeld(Vec<ChangesId>),
    /// Stores a typed command in the history. The command has started, or will never start and has
    /// no card.
    Typed {
        entry: Option<EntryId>,
        command: String,
    },
    /// Opens the search of the history.
    Search,
    /// Finds completions of the text in front of the cursor.
    Complete {
        before: String,
    },
    /// Finds out whether this path is a program.
    LookUp(String),
    /// Opens the user's editor on the prompt's text.
    Edit(String),
    Suspend,
    /// Leaves the interface. `ending`: ends the running jobs.
    Quit {
        ending: bool,
    },
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
            listed: None,
            is_changing: false,
            help: None,
            message: None,
            shown_message: None,
            terminal,
            call: None,
            draws: false,
            keys_from: None,
            queue: VecDeque::new(),
            on_end: Queue::default(),
            shell: None,
            interrupts_call: false,
            interrupts_bang: false,
            attended: BTreeMap::new(),
            aliases: Aliases::default(),
            functions: Functions::default(),
            record_fails: None,
            last: None,
            bang: None,
            on_quit: OnQuit::default(),
            is_chord: false,
            is_quitting: false,
            is_leaving: false,
            running_jobs: 0,
            awaits_background_changes: false,
            held: Vec::new(),
            awaits_held: false,
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
    pub(crate) fn effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// Handles an event of the host's terminal.
    pub(crate) fn event(&mut self, event: &Event, now: Duration) {
        self.handle(event, now);
        // The event may have released the keys that the next command waits for.
        self.start_next(now);
    }

    fn handle(&mut self, event: &Event, now: Duration) {
        match self.questions.event(event, now) {
            QuestionOutcome::NotAsked => {}
            QuestionOutcome::Answered => return,
            QuestionOutcome::Allowed => return self.change_call(|entry| entry.is_permitted(now)),
            QuestionOutcome::Yes(entry, proposed) => return self.act(entry, proposed),
        }
        let is_for_line = self.is_for_line(event, now);
        if let Some(console) = self.console.as_mut().filter(|_| !is_for_line) {
            match console.event(event, now) {
                EventOutcome::Consumed => return,
                EventOutcome::Close => self.console = None,
            }
        }
        if self.helps(event) {
        } else if self.search.is_some() {
            self.search_event(event);
        } else if self.diff.is_some() {
            self.diff_event(event);
        } else if let Some(pager) = &mut self.pager {
            let request = pager.event(event);
            self.pager_asks(request);
        } else if let Some(jobs) = &mut self.jobs {
            match jobs.event(event) {
                JobsRequest::Nothing => self.effects.push(Effect::ListJobs),
                JobsRequest::Close => self.jobs = None,
                JobsRequest::Kill(id) => self.effects.push(Effect::KillJob(id)),
                JobsRequest::Read { id, command, path } => {
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

    fn pager_asks(&mut self, request: PagerRequest) {
        let Some(pager) = &mut self.pager else {
            return;
        };
        match request {
            PagerRequest::Nothing => {}
            PagerRequest::Close => self.pager = None,
            PagerRequest::Find(seek) => match pager.source() {
                LineSource::File(text) => self.effects.push(Effect::Find { text, seek }),
                LineSource::Card(id) => {
                    let entry = self.transcript.get(id);
                    if let Some(output) = entry.and_then(|entry| entry.card.output()) {
                        pager.find_in(output, &seek);
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
                self.listed = None;
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
    pub(crate) fn edited(&mut self, text: Result<String, String>) {
        match text {
            Ok(text) => {
                self.prompt.replace(&text, self.prompt.is_trial);
            }
            Err(why) => self.message = Some(why),
        }
    }

    /// Handles a call's question whether it may leave the sandbox.
    pub(crate) fn ask(&mut self, question: ApprovalQuestion, now: Duration) {
        self.questions.push(OpenQuestion::Call(question), now);
        // One call runs at a time, and only calls have a sandbox to leave.
        self.change_call(CardEntry::waits_for_answer);
    }

    fn change_call(&mut self, change: impl FnOnce(&mut CardEntry)) {
        if let Some(call) = self.call {
            self.transcript.change(call, change);
        }
    }

    /// Draws the first question over everything else.
    pub(crate) fn draw_question(&self, frame: &mut Frame<'_>, area: Rect) {
        self.questions.draw(frame, area, &self.sandbox, &self.theme);
    }

    /// True if a question awaits its answer.
    pub(crate) fn is_asked(&self) -> bool {
        self.questions.is_asked()
    }

    fn expand(&mut self) {
        let Some(id) = self.transcript.current().map(|entry| entry.id) else {
            return;
        };
        self.transcript.hold();
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
        // This is the last page; keep showing the current one.
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
    fn page(&mut self, forward: bool) {
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
    fn open(&mut self) {
        let Some(entry) = self.transcript.current() else {
            return;
        };
        if let Some(artifact) = entry.artifact {
            let command = entry.command().to_owned();
            self.effects.push(Effect::Open { artifact, command });
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

    /// True if something other than the prompt and the cards has the keys. Sets a message that
    /// names it.
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

    /// When to call [`Self::expire`].
    pub(crate) fn deadline(&self) -> Option<Duration> {
        let deadlines = [
            self.console.as_ref().and_then(Console::deadline),
            self.pager.as_ref().and_then(PagerState::deadline),
            self.message_ends(),
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
