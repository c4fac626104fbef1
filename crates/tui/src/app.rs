//! The state of the interface and how events change it. Nothing here waits, runs or reads: actions are returned as
//! [`Effect`]s, and their results come back as [`News`].

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
use crate::complete::Listed;
use crate::console::{Console, Handled};
use crate::diff_state::DiffState;
use crate::functions::Functions;
use crate::help::Help;
use crate::history_search::HistorySearch;
use crate::jobs_state::{JobsRequest, JobsState};
use crate::note::Note;
use crate::pager_source::{Seek, SharedText, Source};
use crate::pager_state::{PagerRequest, PagerState};
use crate::prompt::Prompt;
use crate::prompt_directory::PromptDirectory;
use crate::questions::{QuestionOutcome, Questions, Waiting};
use crate::queue::Queue;
use crate::redraw::Redraw;
use crate::set_work::Wish;
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
const WHEEL: isize = 3;

/// Lines of a full output per page of an expanded card.
pub(crate) const CARD_PAGE: u64 = 500;

/// Said where a key is about a command, and there is none.
const NO_COMMAND: &str = "no card is there: a command makes one, ctrl+l removes them";

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
    pub(crate) listed: Option<Listed>,
    /// Something is done with a set of changes, or looked at before.
    is_changing: bool,
    pub(crate) help: Option<Help>,
    /// A message shown until the next key, or for some seconds.
    pub(crate) message: Option<String>,
    /// The message, and since when it is shown.
    shown_message: Option<(String, Duration)>,
    /// Whether every call runs on a terminal, and not just those that need one; `None` if terminals are not available.
    pub(crate) terminal: Option<bool>,
    /// The running call.
    pub(crate) call: Option<EntryId>,
    /// It is known to draw on all of its terminal.
    pub(crate) draws: bool,
    /// The call has started by itself: until then, keys are the prompt's, also if it is on a terminal.
    keys_from: Option<Duration>,
    /// Calls that wait for the running one, in order.
    pub(crate) queue: VecDeque<Request>,
    /// What becomes of them when it has ended.
    on_end: Queue,
    /// The persistent shell of the prompt's commands; `None` where there are none.
    pub(crate) shell: Option<SessionName>,
    /// Whether what runs is interrupted before it is cancelled, so that its shell stays.
    pub(crate) interrupts_call: bool,
    pub(crate) interrupts_bang: bool,
    /// Variables of calls on a terminal: those that otherwise keep programs from asking have the person's values.
    pub(crate) attended: BTreeMap<String, Option<String>>,
    /// Those of the prompt's shell, as far as they are known.
    aliases: Aliases,
    functions: Functions,
    /// Why what runs is not in the record, as was said.
    record_fails: Option<String>,
    /// How the last call ended.
    pub(crate) last: Option<Status>,
    /// The user's own command that is running.
    pub(crate) bang: Option<EntryId>,
    /// What becomes of jobs when the person quits.
    pub(crate) on_quit: OnQuit,
    /// Ctrl+X was the last key.
    is_chord: bool,
    /// Ctrl+D was the last key, and it was said what quitting would end.
    is_quitting: bool,
    /// The person wants to quit, and is asked what becomes of jobs.
    is_leaving: bool,
    /// Number of running jobs, as of the last look.
    pub(crate) running_jobs: usize,
    /// Something that a command left running may have changed files since they were looked for.
    pub(crate) looks_for_late: bool,
    /// Trials of earlier runs that wait for a decision and are no cards yet, oldest first.
    pub(crate) held: Vec<ChangesId>,
    /// One of them is to be selected once they are cards.
    awaits_held: bool,
    /// Where the prompt's commands run.
    pub(crate) directory: PromptDirectory,
    /// The home directory, for `~`; empty if there is none.
    pub(crate) home: String,
    /// Details about the tool.
    pub(crate) about: String,
    /// Calls only read.
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
        /// It may leave other functions, aliases or options behind than there were.
        defines: bool,
    },
    Bang {
        entry: EntryId,
        command: String,
        excluded: bool,
        live: LiveUpdates,
    },
    CancelCall,
    /// The same, or interrupt it if that will do: what runs next is to have what its shell has now.
    ReplaceCall {
        gently: bool,
    },
    CancelBang,
    /// End what it runs, and leave its shell; cancel it if that takes too long.
    InterruptCall,
    InterruptBang,
    ListJobs,
    KillJob(JobId),
    /// Open a full output in the pager.
    Open {
        artifact: ArtifactId,
        command: String,
    },
    /// Open a file in the pager.
    OpenFile {
        path: PathBuf,
        title: String,
        command: String,
    },
    /// Load a page of a full output for a card.
    CardPage {
        entry: EntryId,
        artifact: ArtifactId,
        from: u64,
    },
    Find {
        text: SharedText,
        seek: Seek,
    },
    /// Put a text into the clipboard of the host's terminal.
    Copy(String),
    /// Something about a card's changes.
    Changes {
        entry: EntryId,
        id: ChangesId,
        wish: Wish,
    },
    /// Look what these commands' left processes have changed, by the commands' sets.
    LookForLate(Vec<(EntryId, ChangesId)>),
    /// Look what has become of these trials that waited for a decision.
    LookAtUndecided(Vec<(EntryId, ChangesId)>),
    /// Trials of earlier runs are to be cards.
    ReadHeld(Vec<ChangesId>),
    /// A command that was typed has started, or never will, and has no card: keep it.
    Typed {
        entry: Option<EntryId>,
        command: String,
    },
    /// Open the search through what was typed.
    Search,
    /// Look for what completes the text in front of the cursor.
    Complete {
        before: String,
    },
    /// Look whether this path is a program.
    LookUp(String),
    /// Open the person's editor on the prompt's text.
    Edit(String),
    Suspend,
    /// Leave; `ending` the jobs that still run.
    Quit {
        ending: bool,
    },
}

impl App {
    pub(crate) fn new(
        theme: Theme,
        terminal: Option<bool>,
        place: PromptDirectory,
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
            looks_for_late: false,
            held: Vec::new(),
            awaits_held: false,
            directory: place,
            home: String::new(),
            about,
            is_safe_mode: false,
            sandbox: SandboxSettings::default(),
            questions: Questions::default(),
            redraw: Arc::default(),
            effects: Vec::new(),
        }
    }

    /// The actions that have accumulated since the last call.
    pub(crate) fn effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// Handles an event of the host's terminal.
    pub(crate) fn event(&mut self, event: &Event, now: Duration) {
        self.handle(event, now);
        // It may have waited for that.
        self.start_next(now);
    }

    fn handle(&mut self, event: &Event, now: Duration) {
        match self.questions.event(event, now) {
            QuestionOutcome::NotAsked => {}
            QuestionOutcome::Answered => return,
            QuestionOutcome::Allowed => return self.change_call(|entry| entry.is_let_run(now)),
            QuestionOutcome::Yes(entry, proposed) => return self.act(entry, proposed),
        }
        let is_for_line = self.is_for_line(event, now);
        if let Some(console) = self.console.as_mut().filter(|_| !is_for_line) {
            match console.event(event, now) {
                Handled::Consumed => return,
                Handled::Close => self.console = None,
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
                Source::File(kept) => self.effects.push(Effect::Find { text: kept, seek }),
                Source::Card(id) => {
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
                MouseEventKind::ScrollUp => self.transcript.scroll(WHEEL),
                MouseEventKind::ScrollDown => self.transcript.scroll(-WHEEL),
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

    /// The editor has ended.
    pub(crate) fn edited(&mut self, text: Result<String, String>) {
        match text {
            Ok(text) => {
                self.prompt.replace(&text, self.prompt.is_trial);
            }
            Err(why) => self.message = Some(why),
        }
    }

    /// A call wants to know whether it may have more.
    pub(crate) fn ask(&mut self, asked: ApprovalQuestion, now: Duration) {
        self.questions.push(Waiting::Call(asked), now);
        // One call runs at a time, and only calls have a sandbox to leave.
        self.change_call(CardEntry::waits_for_answer);
    }

    fn change_call(&mut self, change: impl FnOnce(&mut CardEntry)) {
        if let Some(call) = self.call {
            self.transcript.change(call, change);
        }
    }

    /// The first question, over everything else.
    pub(crate) fn draw_question(&self, frame: &mut Frame<'_>, area: Rect) {
        self.questions.draw(frame, area, &self.sandbox, &self.theme);
    }

    /// Whether a question waits for its answer.
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
        let last = page.total_lines.saturating_sub(CARD_PAGE) + 1;
        let from = if forward {
            page.first_line.saturating_add(CARD_PAGE).min(last)
        } else {
            page.first_line.saturating_sub(CARD_PAGE)
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
            self.message = Some("it printed nothing".to_owned());
            return;
        }
        let command = entry.command().to_owned();
        self.pager = Some(PagerState::of_card(entry.id, command, entry.is_live()));
    }

    /// Whether something else than the prompt and the cards has the keys, and says which.
    pub(crate) fn is_covered(&self) -> bool {
        self.has_panel() || self.console.is_some()
    }

    /// Whether a panel has the keys.
    pub(crate) fn has_panel(&self) -> bool {
        let panels = [
            self.pager.is_some(),
            self.jobs.is_some(),
            self.diff.is_some(),
            self.search.is_some(),
        ];
        panels.contains(&true)
    }

    /// Whether the display changes without events.
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
        // It may have waited for that.
        self.start_next(now);
    }
}

/// Short enough for 40 columns, as it is not wrapped.
fn welcome(theme: &Theme) -> Vec<Line<'static>> {
    let version = concat!("agent-bash ", env!("CARGO_PKG_VERSION"));
    let said = [
        "A line runs as a model's call would.",
        "!command is yours · ? shows the keys.",
    ];
    let title = Line::styled(version, theme.title);
    let said = said.map(|line| Line::styled(line, theme.dim));
    [title].into_iter().chain(said).collect()
}

/// The left button is pressed there.
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
