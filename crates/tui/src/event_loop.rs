//! The event loop: events, messages, timeouts. Redraws only after a change and at most sixty times
//! a second; sleeps otherwise.

mod completing;
mod effects;
mod history_store;
mod known_definitions;
mod listing;
mod run_history;
mod shutdown;

use self::known_definitions::KnownDefinitions;
use self::run_history::RunHistory;
use crate::app::{App, Effect, Msg};
use crate::approvals::{ApprovalQuestion, Approvals};
use crate::change_work::ChangeWorkResult;
use crate::console::size_in;
use crate::editor::Editor;
use crate::host_terminal::HostTerminal;
use crate::interrupt::InterruptibleCommand;
use crate::prompt_directory::PromptDirectory;
use crate::redraw::MIN_FRAME_INTERVAL;
use crate::stop_signals::{StopRequest, StopSignals};
use crate::terminal_input::TerminalInput;
use crate::terminals::Terminals;
use crate::{JobsAtExit, TuiError, TuiOptions, draw};
use agent_bash::Conversation;
use agent_bash::core::{Cancel, Clock, Definitions, SessionName, or_never};
use agent_bash::process::environment::attended;
use agent_bash::pty::PtyStatus;
use agent_bash_render::SPINNER_STEP;
use crossterm::event::Event;
use ratatui::layout::Rect;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

/// The name of the persistent shell in which the prompt's commands run.
const PROMPT_SHELL: &str = "prompt";

/// How long a remote host may take to report a shell's working directory.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// The event loop and its dependencies.
pub(crate) struct EventLoop {
    app: App,
    session: Arc<Conversation>,
    clock: Arc<dyn Clock>,
    terminals: Option<Terminals>,
    approvals: Option<Approvals>,
    /// True if typed commands have the time limit of tool calls.
    has_time_limit: bool,
    stop: Cancel,
    messages: UnboundedReceiver<Msg>,
    sender: UnboundedSender<Msg>,
    /// Cancels the running call.
    call: InterruptibleCommand,
    /// Cancels the running bang command.
    bang: InterruptibleCommand,
    tasks: JoinSet<()>,
    history: RunHistory,
    /// Definitions of the prompt's shell.
    known_definitions: Arc<KnownDefinitions>,
    /// Definitions of the shell that was ended in order to rerun its command.
    replaced_shell_definitions: Option<Arc<Definitions>>,
    /// True while a completion is running.
    completing: Arc<AtomicBool>,
    /// Until this time, keys typed after Tab wait for the completion.
    input_paused_until: Option<Duration>,
    /// True while a thread looks up a command.
    looking_up: Arc<AtomicBool>,
    jobs_listed_at: Option<Duration>,
    /// The size of the host's terminal when it was last drawn.
    area: Rect,
}

/// The reason why the loop woke up.
enum WakeReason {
    Event(io::Result<Event>),
    Message(Box<Msg>),
    Console(PtyStatus),
    ConsoleStarted(agent_bash::pty::PtySession),
    Question(ApprovalQuestion),
    RedrawWanted,
    Timeout,
    Signal(StopRequest),
    Cancelled,
}

impl EventLoop {
    pub(crate) fn new(options: TuiOptions) -> Self {
        let TuiOptions {
            session,
            clock,
            theme,
            terminals,
            approvals,
            on_terminal,
            has_time_limit,
            on_quit,
            history,
            stop,
        } = options;
        let (sender, messages) = unbounded_channel();
        let terminal = terminals.as_ref().map(|_| on_terminal);
        let about = session.tool().profile().name.as_str();
        let about = if about == "standard" { "" } else { about };
        let directory = PromptDirectory::initial(&session);
        let mut app = App::new(theme, terminal, directory, about.to_owned());
        let offers = session.tool().offers_sessions();
        app.shell = offers.then(|| SessionName(PROMPT_SHELL.to_owned()));
        app.on_quit = on_quit;
        app.terminal_env = attended(&session.host().env);
        let home = session.host().home.as_ref();
        app.home = home.map_or_else(String::new, |home| home.display().to_string());
        app.sandbox.clone_from(session.tool().sandbox());
        app.is_safe_mode = session.tool().is_safe_mode();
        Self {
            app,
            session,
            history: RunHistory::new(history, &*clock),
            known_definitions: Arc::default(),
            replaced_shell_definitions: None,
            completing: Arc::default(),
            input_paused_until: None,
            looking_up: Arc::default(),
            clock,
            terminals,
            approvals,
            has_time_limit,
            stop,
            messages,
            sender,
            call: InterruptibleCommand::new(),
            bang: InterruptibleCommand::new(),
            tasks: JoinSet::new(),
            jobs_listed_at: None,
            area: Rect::default(),
        }
    }

    /// Runs until the user quits.
    pub(crate) async fn run(mut self) -> Result<JobsAtExit, TuiError> {
        let ended = self.serve().await;
        // The queued commands are stored also if a signal or a lost terminal has ended the loop.
        self.app.store_queued_commands();
        for effect in self.app.take_effects() {
            self.act_on_prompt(effect);
        }
        let jobs_at_exit = self.shut_down(matches!(ended, Ok(true))).await;
        ended.map(|_| jobs_at_exit).map_err(TuiError::Terminal)
    }

    /// Runs the loop. Returns true if jobs must be ended.
    async fn serve(&mut self) -> io::Result<bool> {
        let mut stops = StopSignals::listen()?;
        let mut host = HostTerminal::acquire()?;
        let mut input = Some(TerminalInput::new());
        let mut changed = true;
        let mut drawn: Option<Duration> = None;
        // Set when the loop must end: true if jobs must be ended.
        let mut ends_jobs_at_exit = None;
        self.list_jobs();
        self.find_held_trials();
        self.read_history();
        self.read_commands();
        loop {
            let now = self.clock.now();
            let due = drawn.is_none_or(|last| now.saturating_sub(last) >= MIN_FRAME_INTERVAL);
            if changed && due {
                self.update_terminal_size(&host);
                let targets = self.app.link_destinations();
                host.draw(&targets, |frame| draw::draw(&mut self.app, frame, now))?;
                (changed, drawn) = (false, Some(now));
                self.load_page(now);
            }
            let wait = self.sleep_time(now, changed, drawn);
            let woken = tokio::select! {
                biased;
                stop = stops.next() => WakeReason::Signal(stop),
                woken = self.wait_for_event(&mut input, wait) => woken,
            };
            let now = self.clock.now();
            changed |= !matches!(woken, WakeReason::Timeout)
                || self.app.is_live()
                || self.app.deadline().is_some_and(|due| now >= due);
            match woken {
                WakeReason::Event(event) => self.app.handle_event(&event?, now),
                WakeReason::Message(message) => {
                    // An undo or a commit may create or remove the working directory, or change the
                    // branch of git.
                    let is_end = matches!(
                        *message,
                        Msg::Ended { .. }
                            | Msg::Changes {
                                done: ChangeWorkResult::ActionDone(_),
                                ..
                            }
                    );
                    if let Msg::Ended { entry, end, .. } = &*message {
                        self.store_outcome(*entry, end);
                    }
                    if matches!(*message, Msg::Completed(_) | Msg::CompletionTimedOut) {
                        self.input_paused_until = None;
                    }
                    self.app.update(*message);
                    if is_end {
                        self.read_directory();
                    }
                }
                WakeReason::Console(status) => {
                    if let (Some(console), Some(end)) = (&mut self.app.console, &status.ended) {
                        console.end(end, now);
                    }
                }
                WakeReason::ConsoleStarted(session) => self.app.console_started(session, now),
                WakeReason::Question(question) => self.app.ask_to_leave_sandbox(question, now),
                WakeReason::RedrawWanted => {}
                WakeReason::Timeout => {
                    self.input_paused_until.take_if(|until| now >= *until);
                    self.app.expire(now);
                    self.list_jobs_if_due(now);
                }
                WakeReason::Signal(StopRequest::Suspend) => {
                    // A stopped program must not read the terminal.
                    drop(input.take());
                    host.release()?;
                    stops.suspend().await?;
                    host.reacquire()?;
                    input = Some(TerminalInput::new());
                }
                WakeReason::Signal(StopRequest::Continued) => {
                    // The shell above this program has set modes and drawn on the screen.
                    host.release()?;
                    host.reacquire()?;
                }
                WakeReason::Cancelled => return Ok(false),
            }
            for effect in self.app.take_effects() {
                match effect {
                    Effect::Quit { ends_jobs } => ends_jobs_at_exit = Some(ends_jobs),
                    Effect::Suspend => StopSignals::suspend_group()?,
                    Effect::Edit(text) => {
                        drop(input.take());
                        host.release()?;
                        self.edit(&text).await;
                        host.reacquire()?;
                        input = Some(TerminalInput::new());
                    }
                    Effect::Copy(text) => host.copy(&text)?,
                    other => self.carry_out(other),
                }
            }
            if let Some(ends_jobs) = ends_jobs_at_exit {
                return Ok(ends_jobs);
            }
            self.app.note_message_time(now);
        }
    }

    /// Runs the editor on the prompt's text, on a terminal that nothing else uses meanwhile.
    /// Running commands continue.
    async fn edit(&mut self, text: &str) {
        let edited = match self.session.tool().shell() {
            Ok(shell) if shell.is_bash => {
                let directory = match self.session.remote_host() {
                    Some(_) => self.session.cwd(),
                    None => &self.app.directory.directory,
                };
                let editor = Editor {
                    host: self.session.host(),
                    bash: &shell.path,
                    directory,
                };
                tokio::select! {
                    biased;
                    () = self.stop.cancelled() => return,
                    edited = editor.edit(text) => edited,
                }
            }
            _ => Err("bash, which runs the editor, was not found".to_owned()),
        };
        self.app.editor_ended(edited);
    }

    /// Waits for the next reason to wake up.
    async fn wait_for_event(
        &mut self,
        input: &mut Option<TerminalInput>,
        wait: Option<Duration>,
    ) -> WakeReason {
        let redraw = Arc::clone(&self.app.redraw);
        let is_paused = self.input_paused_until.is_some();
        let input = input.as_mut().filter(|_| !is_paused);
        let session = self.terminals.as_mut().map(Terminals::next_session);
        let question = self.approvals.as_mut().map(Approvals::next_question);
        let console = self
            .app
            .console
            .as_mut()
            .filter(|console| !console.has_ended());
        tokio::select! {
            biased;
            () = self.stop.cancelled() => WakeReason::Cancelled,
            event = or_never(input.map(TerminalInput::next)) => WakeReason::Event(event),
            // Before the messages: the overlay of a short command must not open after its end.
            session = or_never(session) => WakeReason::ConsoleStarted(session),
            Some(message) = self.messages.recv() => WakeReason::Message(Box::new(message)),
            question = or_never(question) => WakeReason::Question(question),
            status = or_never(console.map(|console| console.session.changed())) => WakeReason::Console(status),
            () = redraw.wanted() => WakeReason::RedrawWanted,
            () = or_never(wait.map(|wait| self.clock.sleep(wait))) => WakeReason::Timeout,
        }
    }

    /// How long to sleep without an event; `None` means indefinitely.
    fn sleep_time(
        &self,
        now: Duration,
        changed: bool,
        drawn: Option<Duration>,
    ) -> Option<Duration> {
        let last = drawn.unwrap_or_default();
        let frame = changed.then(|| last + MIN_FRAME_INTERVAL);
        let spinner = self.app.is_live().then(|| last + SPINNER_STEP);
        let until = |at: Duration| at.saturating_sub(now);
        let deadlines = [
            self.app.deadline(),
            self.input_paused_until,
            self.jobs_due(),
        ];
        [frame, spinner]
            .into_iter()
            .chain(deadlines)
            .flatten()
            .map(until)
            .min()
    }

    /// Sets the size with which the next pseudo-terminal is created: the size of its overlay.
    fn update_terminal_size(&mut self, host: &HostTerminal) {
        let size = host.size();
        self.area = Rect::new(0, 0, size.width, size.height);
        if let Some(terminals) = &self.terminals {
            terminals.set_size(size_in(self.area, self.app.is_full_screen));
        }
    }

    /// Finds out the working directory of the prompt's commands on another task: a file system or a
    /// remote host may be slow.
    fn read_directory(&mut self) {
        let session = Arc::clone(&self.session);
        let (shell, before) = (self.app.shell.clone(), self.app.directory.clone());
        let is_bang_running = self.app.bang.is_some();
        let (sender, clock) = (self.sender.clone(), Arc::clone(&self.clock));
        self.tasks.spawn(async move {
            let cancel = Cancel::new();
            let shell_cwd = async {
                match &shell {
                    Some(name) => session.query_shell_cwd(name, &cancel).await,
                    None => None,
                }
            };
            let shell_cwd = tokio::select! {
                shell_cwd = shell_cwd => shell_cwd,
                () = clock.sleep(ANSWER_TIMEOUT) => None,
            };
            let look = move || {
                Msg::Directory(PromptDirectory::current(
                    &session, shell_cwd, &before, is_bang_running,
                ))
            };
            tokio::task::spawn_blocking(move || drop(sender.send(look())));
        });
    }
}
