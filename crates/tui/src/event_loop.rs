//! The event loop: events, news, timeouts. Redraws only after a change and at most sixty times a second; sleeps
//! otherwise.

mod effects;

use crate::app::{App, Effect, News};
use crate::approvals::{Approvals, Asked};
use crate::console::size_in;
use crate::host_terminal::HostTerminal;
use crate::input::Input;
use crate::jobs_state::JobsState;
use crate::terminals::Terminals;
use crate::{TuiError, TuiOptions, draw};
use agent_bash::Session;
use agent_bash::core::{Cancel, Clock, JobId};
use agent_bash::exec::{JobOutput, Jobs, OutputRange};
use agent_bash::pty::PtyStatus;
use agent_bash_render::{Overlay, SPINNER_STEP};
use crossterm::event::Event;
use ratatui::layout::Rect;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

/// Minimum time between two frames.
const FRAME: Duration = Duration::from_micros(16_667);

/// Polling interval for running jobs while the jobs panel is open.
const JOBS_LOOK: Duration = Duration::from_millis(500);

/// Polling interval for running jobs otherwise.
const JOBS_GLANCE: Duration = Duration::from_secs(2);

/// Bytes of a job's output shown in the panel.
const JOB_TAIL: usize = 64 << 10;

/// How long running commands may take to end when the user quits.
const FAREWELL: Duration = Duration::from_secs(4);

/// The event loop and its dependencies.
pub(crate) struct EventLoop {
    app: App,
    session: Arc<Session>,
    clock: Arc<dyn Clock>,
    terminals: Option<Terminals>,
    approvals: Option<Approvals>,
    stop: Cancel,
    news: UnboundedReceiver<News>,
    tell: UnboundedSender<News>,
    /// Cancels the running call.
    call: Cancel,
    /// Cancels the user's own running command.
    bang: Cancel,
    tasks: JoinSet<()>,
    jobs_looked: Option<Duration>,
}

/// What woke the loop.
enum Woken {
    Event(std::io::Result<Event>),
    News(Box<News>),
    Console(PtyStatus),
    Started(agent_bash::pty::PtySession),
    Asked(Asked),
    Printed,
    Time,
    Stopped,
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
            stop,
        } = options;
        let (tell, news) = unbounded_channel();
        let terminal = terminals.as_ref().map(|_| on_terminal);
        let about = session.tool().profile().name.as_str();
        let about = if about == "standard" { "" } else { about };
        let mut app = App::new(theme, terminal, shown_cwd(&session), about.to_owned());
        app.sandbox.clone_from(session.tool().sandbox());
        Self {
            app,
            session,
            clock,
            terminals,
            approvals,
            stop,
            news,
            tell,
            call: Cancel::new(),
            bang: Cancel::new(),
            tasks: JoinSet::new(),
            jobs_looked: None,
        }
    }

    /// Runs until the user quits.
    pub(crate) async fn run(mut self) -> Result<(), TuiError> {
        let mut host = HostTerminal::take().map_err(TuiError::Terminal)?;
        let mut input = Some(Input::new());
        let mut changed = true;
        let mut drawn: Option<Duration> = None;
        self.list_jobs();
        loop {
            let now = self.clock.now();
            let due = drawn.is_none_or(|last| now.saturating_sub(last) >= FRAME);
            if changed && due {
                self.fit(&host);
                host.draw(|frame| draw::draw(&mut self.app, frame, now))
                    .map_err(TuiError::Terminal)?;
                (changed, drawn) = (false, Some(now));
                self.load_page();
            }
            let wait = self.wait(now, changed, drawn);
            let woken = self.woken(&mut input, wait).await;
            let now = self.clock.now();
            changed |= !matches!(woken, Woken::Time) || self.app.is_live() || self.is_due(now);
            match woken {
                Woken::Event(event) => self.app.event(&event.map_err(TuiError::Terminal)?, now),
                Woken::News(news) => {
                    self.app.news(*news);
                    self.app.cwd = shown_cwd(&self.session);
                }
                Woken::Console(status) => self.console_changed(&status, now),
                Woken::Started(session) => self.app.console_started(session, now),
                Woken::Asked(asked) => self.app.ask(asked, now),
                Woken::Printed => {}
                Woken::Time => {
                    self.app.expire(now);
                    self.look_at_jobs(now);
                }
                Woken::Stopped => break,
            }
            let mut quits = false;
            for effect in self.app.effects() {
                match effect {
                    Effect::Quit => quits = true,
                    Effect::Suspend => {
                        // While the program is suspended, nobody may read the terminal.
                        drop(input.take());
                        host.suspend().map_err(TuiError::Terminal)?;
                        input = Some(Input::new());
                    }
                    other => self.act(other),
                }
            }
            if quits {
                break;
            }
        }
        drop(input);
        drop(host);
        self.end().await;
        Ok(())
    }

    /// Waits for whichever event comes first.
    async fn woken(&mut self, input: &mut Option<Input>, wait: Option<Duration>) -> Woken {
        let redraw = Arc::clone(&self.app.redraw);
        let console = self
            .app
            .console
            .as_mut()
            .filter(|console| !console.has_ended());
        tokio::select! {
            biased;
            () = self.stop.cancelled() => Woken::Stopped,
            event = async {
                match input {
                    Some(input) => input.next().await,
                    None => std::future::pending().await,
                }
            } => Woken::Event(event),
            Some(news) = self.news.recv() => Woken::News(Box::new(news)),
            session = async {
                match &mut self.terminals {
                    Some(terminals) => terminals.started().await,
                    None => std::future::pending().await,
                }
            } => Woken::Started(session),
            asked = async {
                match &mut self.approvals {
                    Some(approvals) => approvals.asked().await,
                    None => std::future::pending().await,
                }
            } => Woken::Asked(asked),
            status = async {
                match console {
                    Some(console) => console.session.changed().await,
                    None => std::future::pending().await,
                }
            } => Woken::Console(status),
            () = redraw.wanted() => Woken::Printed,
            () = async {
                match wait {
                    Some(wait) => self.clock.sleep(wait).await,
                    None => std::future::pending().await,
                }
            } => Woken::Time,
        }
    }

    /// How long to sleep if no event comes; `None` means indefinitely.
    fn wait(&self, now: Duration, changed: bool, drawn: Option<Duration>) -> Option<Duration> {
        let last = drawn.unwrap_or_default();
        let frame = changed.then(|| last + FRAME);
        let spinner = self.app.is_live().then(|| last + SPINNER_STEP);
        let until = |at: Duration| at.saturating_sub(now);
        [frame, spinner, self.app.deadline(), self.jobs_due()]
            .into_iter()
            .flatten()
            .map(until)
            .min()
    }

    fn is_due(&self, now: Duration) -> bool {
        let deadline = self.app.deadline();
        deadline.is_some_and(|deadline| now >= deadline)
    }

    fn console_changed(&mut self, status: &PtyStatus, now: Duration) {
        if let (Some(console), Some(end)) = (&mut self.app.console, &status.ended) {
            console.end(end, now);
        }
    }

    /// Makes new terminals start with the size of their overlay.
    fn fit(&self, host: &HostTerminal) {
        if let Some(terminals) = &self.terminals {
            let size = host.size();
            let area = Rect::new(0, 0, size.width, size.height);
            terminals.set_size(size_in(Overlay::area(area)));
        }
    }

    fn jobs_due(&self) -> Option<Duration> {
        let between = match &self.app.jobs {
            Some(_) => JOBS_LOOK,
            None if self.app.running_jobs > 0 => JOBS_GLANCE,
            None => return None,
        };
        self.jobs_looked.map(|looked| looked + between)
    }

    fn look_at_jobs(&mut self, now: Duration) {
        if self.jobs_due().is_some_and(|due| now >= due) {
            self.list_jobs();
        }
    }

    fn list_jobs(&mut self) {
        self.jobs_looked = Some(self.clock.now());
        let Some(jobs) = self.session.jobs().map(Arc::clone) else {
            return;
        };
        let selected = self.app.jobs.as_ref().and_then(JobsState::selected_id);
        let (tell, now) = (self.tell.clone(), self.clock.wall());
        self.tasks.spawn_blocking(move || {
            let listed = jobs.list().unwrap_or_default();
            let printed = selected.and_then(|id| tail(&jobs, &id));
            let printed = printed.map(Box::new);
            let _ = tell.send(News::Jobs {
                jobs: listed,
                now,
                printed,
            });
        });
    }

    /// Ends running commands and waits for their end.
    async fn end(mut self) {
        self.call.cancel();
        self.bang.cancel();
        let tasks = &mut self.tasks;
        tokio::select! {
            () = async { while tasks.join_next().await.is_some() {} } => {}
            () = self.clock.sleep(FAREWELL) => {}
        }
    }
}

/// The end of a job's output.
fn tail(jobs: &Jobs, id: &JobId) -> Option<JobOutput> {
    let range = OutputRange::Tail {
        lines: 1000,
        max_bytes: JOB_TAIL,
    };
    jobs.output(id, range).ok()
}

/// The working directory of calls, and that of the user's own commands if it differs; `~` for the home directory.
fn shown_cwd(session: &Session) -> String {
    let shown = |path: &Path| {
        let home = session.host().home.as_deref();
        match home.and_then(|home| path.strip_prefix(home).ok()) {
            Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
            Some(rest) => format!("~/{}", rest.display()),
            None => path.display().to_string(),
        }
    };
    let (calls, own) = (session.cwd(), session.user_cwd());
    if own == calls {
        shown(calls)
    } else {
        format!("{} · ! {}", shown(calls), shown(&own))
    }
}
