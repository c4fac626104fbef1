//! The state of the interface and how events change it. Nothing here waits, runs or reads: actions are returned as
//! [`Effect`]s, and their results come back as [`News`].

mod changes;
mod news;

pub(crate) use news::News;

use crate::approvals::Asked;
use crate::console::{Console, Handled};
use crate::diff_state::DiffState;
use crate::jobs_state::{JobsRequest, JobsState};
use crate::pager_state::{PagerRequest, PagerState, Source};
use crate::prompt::Prompt;
use crate::questions::{Answer, Questions, Waiting};
use crate::redraw::Redraw;
use crate::set_work::Wish;
use crate::transcript::{Card, EntryId, Transcript};
use agent_bash::SandboxSettings;
use agent_bash::core::changes::ChangesId;
use agent_bash::core::sandbox::{SandboxLevel, SandboxRequest};
use agent_bash::core::{ArtifactId, JobId, Request};
use agent_bash::session::parse_bang;
use agent_bash::sink::{LiveKind, LiveOptions, LiveUpdates};
use agent_bash_render::{BangCard, Theme, ToolCard};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseEventKind};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use std::path::PathBuf;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

/// Rows per wheel step.
const WHEEL: isize = 3;

/// The reason of a call that the person wants to run outside.
const OWN_WISH: &str = "you asked for it (F4)";

/// Calls run one at a time.
const ALREADY_RUNNING: &str = "A command is already running. Press Esc to cancel it first.";

/// Limit of bytes waiting to be shown; beyond it the oldest are dropped.
const LIVE_BYTES: usize = 256 << 10;

/// Lines of a full output per page of an expanded card.
pub(crate) const CARD_PAGE: u64 = 500;

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
    /// Something is done with a set of changes, or looked at before.
    is_changing: bool,
    pub(crate) help: bool,
    /// A message shown until the next key.
    pub(crate) message: Option<String>,
    /// Whether calls run on terminals; `None` if terminals are not available.
    pub(crate) terminal: Option<bool>,
    /// The running call.
    pub(crate) call: Option<EntryId>,
    /// The user's own command that is running.
    pub(crate) bang: Option<EntryId>,
    /// Number of running jobs, as of the last look.
    pub(crate) running_jobs: usize,
    /// The working directory, as shown.
    pub(crate) cwd: String,
    /// Details about the tool.
    pub(crate) about: String,
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
    },
    Bang {
        entry: EntryId,
        command: String,
        excluded: bool,
        live: LiveUpdates,
    },
    CancelCall,
    CancelBang,
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
        source: Source,
        pattern: String,
        from: u64,
        forward: bool,
    },
    /// Something about a card's changes.
    Changes {
        entry: EntryId,
        id: ChangesId,
        wish: Wish,
    },
    Suspend,
    Quit,
}

impl App {
    pub(crate) fn new(theme: Theme, terminal: Option<bool>, cwd: String, about: String) -> Self {
        let mut transcript = Transcript::default();
        transcript.add(Card::Note(welcome(&theme)), Duration::ZERO);
        Self {
            transcript,
            prompt: Prompt::new(&theme),
            theme,
            console: None,
            pager: None,
            jobs: None,
            diff: None,
            is_changing: false,
            help: false,
            message: None,
            terminal,
            call: None,
            bang: None,
            running_jobs: 0,
            cwd,
            about,
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
        match self.questions.event(event, now) {
            Answer::NotAsked => {}
            Answer::Taken => return,
            Answer::Yes(entry, proposed) => return self.act(entry, proposed),
        }
        if let Some(console) = &mut self.console {
            match console.event(event, now) {
                Handled::Here => return,
                Handled::Close => self.console = None,
            }
        }
        if self.diff.is_some() {
            self.diff_event(event);
        } else if let Some(pager) = &mut self.pager {
            match pager.event(event) {
                PagerRequest::Nothing => {}
                PagerRequest::Close => self.pager = None,
                PagerRequest::Find {
                    pattern,
                    from,
                    forward,
                } => {
                    let source = pager.source();
                    self.effects.push(Effect::Find {
                        source,
                        pattern,
                        from,
                        forward,
                    });
                }
            }
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
    }

    fn main_event(&mut self, event: &Event, now: Duration) {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => {
                self.message = None;
                if std::mem::take(&mut self.help) {
                    return;
                }
                self.key(*key, now);
            }
            Event::Paste(text) => self.prompt.paste(text),
            Event::Mouse(mouse) => match mouse.kind {
                MouseEventKind::ScrollUp => self.transcript.scroll(WHEEL),
                MouseEventKind::ScrollDown => self.transcript.scroll(-WHEEL),
                _ => {}
            },
            _ => {}
        }
    }

    fn key(&mut self, key: KeyEvent, now: Duration) {
        const CTRL: KeyModifiers = KeyModifiers::CONTROL;
        match (key.code, key.modifiers) {
            (KeyCode::Char('c'), CTRL) => {
                if !self.cancel() && !self.prompt.is_empty() {
                    self.prompt.clear();
                } else if self.call.is_none() && self.bang.is_none() {
                    self.message = Some("ctrl+d quits".to_owned());
                }
            }
            (KeyCode::Esc, _) => {
                if !self.cancel() {
                    self.transcript.selected = None;
                    self.transcript.go_to_bottom();
                }
            }
            (KeyCode::Char('d'), CTRL) if self.prompt.is_empty() => self.effects.push(Effect::Quit),
            (KeyCode::Char('z'), CTRL) => self.effects.push(Effect::Suspend),
            (KeyCode::Char('t'), CTRL) => self.toggle_terminal(),
            (KeyCode::Char('o'), CTRL) => self.expand(),
            (KeyCode::Char('f'), CTRL) => self.open(),
            (KeyCode::Char('g'), CTRL) | (KeyCode::F(2), _) => {
                self.jobs = Some(JobsState::default());
                self.effects.push(Effect::ListJobs);
            }
            (KeyCode::Char('l'), CTRL) => self.transcript.clear(),
            (KeyCode::F(3), _) => self.try_it(now),
            (KeyCode::F(4), _) => self.again_outside(now),
            (KeyCode::F(1), _) => self.help = true,
            (KeyCode::Char('?'), _) if self.prompt.is_empty() => self.help = true,
            (KeyCode::PageUp, CTRL) => self.page(false),
            (KeyCode::PageDown, CTRL) => self.page(true),
            (KeyCode::PageUp, _) => self.transcript.scroll_pages(1),
            (KeyCode::PageDown, _) => self.transcript.scroll_pages(-1),
            (KeyCode::Home, CTRL) => self.transcript.go_to_top(),
            (KeyCode::End, CTRL) => self.transcript.go_to_bottom(),
            (KeyCode::Up, CTRL) => self.transcript.select(true),
            (KeyCode::Down, CTRL) => self.transcript.select(false),
            (KeyCode::Char(pressed), KeyModifiers::NONE) if self.act_by(pressed) => {}
            (KeyCode::Enter, held) if held.is_empty() => {
                if !self.show_diff() && !self.prompt.continues() {
                    self.submit(now);
                }
            }
            _ => self.prompt.key(key),
        }
    }

    /// Cancels what is running, the user's own command first. Returns whether anything was.
    fn cancel(&mut self) -> bool {
        if self.bang.is_some() {
            self.effects.push(Effect::CancelBang);
        } else if self.call.is_some() {
            self.effects.push(Effect::CancelCall);
        } else {
            return false;
        }
        true
    }

    fn submit(&mut self, now: Duration) {
        let text = self.prompt.text();
        if text.trim().is_empty() {
            self.prompt.clear();
            return;
        }
        if let Some(bang) = parse_bang(&text) {
            if self.bang.is_some() {
                let busy = agent_bash::session::BangError::AlreadyRunning;
                self.message = Some(busy.to_string());
                return;
            }
            let live = LiveUpdates::new(LiveOptions::new(LiveKind::Raw, LIVE_BYTES));
            let waker = Waker::from(Arc::clone(&self.redraw));
            let card = BangCard::new(bang.command.clone(), bang.excluded_from_context);
            let entry = self
                .transcript
                .start(Card::Bang(Box::new(card)), &live, waker, now);
            self.bang = Some(entry);
            self.effects.push(Effect::Bang {
                entry,
                command: bang.command,
                excluded: bang.excluded_from_context,
                live,
            });
        } else {
            if self.call.is_some() {
                self.message = Some(ALREADY_RUNNING.to_owned());
                return;
            }
            self.start_call(Request::new(text), now);
        }
        self.prompt.sent();
    }

    /// A call wants to know whether it may have more.
    pub(crate) fn ask(&mut self, asked: Asked, now: Duration) {
        self.questions.push(Waiting::Call(asked), now);
    }

    /// The first question, over everything else.
    pub(crate) fn draw_question(&self, frame: &mut Frame<'_>, area: Rect) {
        self.questions.draw(frame, area, &self.sandbox, &self.theme);
    }

    /// Runs the selected call again, and asks for no sandbox.
    fn again_outside(&mut self, now: Duration) {
        let command = match self.transcript.current().map(|entry| &entry.card) {
            Some(Card::Tool(card)) => card.command.clone(),
            _ => return,
        };
        if self.sandbox.level == SandboxLevel::Off {
            self.message = Some("calls run without a sandbox".to_owned());
        } else if self.call.is_some() {
            self.message = Some(ALREADY_RUNNING.to_owned());
        } else {
            let mut request = Request::new(command);
            request.sandbox = Some(SandboxRequest {
                level: Some(SandboxLevel::Off),
                network: None,
                writable: Vec::new(),
                reason: OWN_WISH.to_owned(),
            });
            self.start_call(request, now);
        }
    }

    fn start_call(&mut self, request: Request, now: Duration) {
        // A terminal shows what is done, and holds nothing back.
        let terminal = self.terminal.map(|on| on && request.trial.is_none());
        let request = request.pty(terminal);
        let live = LiveUpdates::new(LiveOptions::new(LiveKind::Raw, LIVE_BYTES));
        let waker = Waker::from(Arc::clone(&self.redraw));
        let card = ToolCard::new(request.command.trim());
        let entry = self
            .transcript
            .start(Card::Tool(Box::new(card)), &live, waker, now);
        self.call = Some(entry);
        self.effects.push(Effect::Call {
            entry,
            request,
            live,
        });
    }

    fn toggle_terminal(&mut self) {
        match &mut self.terminal {
            Some(on) => {
                *on = !*on;
                let how = if *on {
                    "on a terminal of their own"
                } else {
                    "without a terminal"
                };
                self.message = Some(format!("commands run {how}"));
            }
            None => self.message = Some("terminals are not offered here".to_owned()),
        }
    }

    fn expand(&mut self) {
        let Some(id) = self.transcript.current().map(|entry| entry.id) else {
            return;
        };
        self.transcript
            .change(id, |entry| entry.expanded = !entry.expanded);
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
        let said = if entry.is_cut() {
            "its full output was not kept"
        } else {
            "all of its output is on the card: ctrl+o expands it"
        };
        self.message = Some(said.to_owned());
    }

    /// Whether the display changes without events.
    pub(crate) fn is_live(&self) -> bool {
        let console = self
            .console
            .as_ref()
            .is_some_and(|console| !console.has_ended());
        let jobs = self.jobs.as_ref().is_some_and(JobsState::is_live);
        console || jobs || self.transcript.is_live()
    }

    /// When to call [`Self::expire`].
    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.console.as_ref().and_then(Console::deadline)
    }

    /// Handles timeouts.
    pub(crate) fn expire(&mut self, now: Duration) {
        if self
            .console
            .as_mut()
            .is_some_and(|console| console.expire(now))
        {
            self.console = None;
        }
    }
}

fn welcome(theme: &Theme) -> Vec<Line<'static>> {
    let version = concat!("agent-bash ", env!("CARGO_PKG_VERSION"));
    let said = [
        "A line runs as a tool call, as a model's would; !command as your own.",
        "? shows the keys.",
    ];
    let title = Line::styled(version, theme.title);
    let said = said.map(|line| Line::styled(line, theme.dim));
    [title].into_iter().chain(said).collect()
}

#[cfg(test)]
#[path = "app_tests.rs"]
mod tests;
