//! Starts commands on terminals.

use crate::PtySize;
use crate::call::{EndReporter, PtyRun, terminal_error};
use crate::options::PtyOptions;
use crate::recording::{Recording, RecordingWriter};
use crate::script;
use crate::session::{PtySession, SharedSession};
use crate::source::TerminalSource;
use crate::terminal::Terminal;
use agent_bash_call::{
    Recording as ChangesRecording, Watchdog, WatchdogSignals, cancelled_before, launch,
};
use agent_bash_core::sandbox::Report;
use agent_bash_core::{Cancel, Executor, NotStarted, Outcome, OutputConsumer, RunSpec, lock};
use agent_bash_process::SandboxWatch;
use agent_bash_process::supervisor::{ShellSandbox, ShellStart, TerminalStart};
use async_trait::async_trait;
use std::ffi::OsString;
use std::fmt;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// A callback that receives a handle to every session that starts.
type OnStart = Box<dyn Fn(PtySession) + Send + Sync>;

/// Runs scripts, each on its own terminal in a new shell. The snapshot of the user's shell is not
/// loaded: a call brings the definitions of another shell ([`RunSpec::definitions`]).
///
/// Build the call's environment for a terminal
/// (`agent_bash_process::environment::UserPresence::Terminal`): with `TERM=dumb`, programs do not
/// draw. `LINES` and `COLUMNS` of the base are not passed on, because the terminal knows its size.
pub struct PtyExecutor {
    options: PtyOptions,
    /// Initial size of the next terminal.
    size: Mutex<PtySize>,
    /// True if the next command is a known full-screen program.
    is_full_screen: AtomicBool,
    on_start: Option<OnStart>,
    recording: Mutex<Option<RecordingWriter>>,
}

impl PtyExecutor {
    /// Creates an executor, without opening a terminal.
    pub fn new(options: PtyOptions) -> Self {
        Self {
            size: Mutex::new(options.size),
            is_full_screen: AtomicBool::new(false),
            options,
            on_start: None,
            recording: Mutex::new(None),
        }
    }

    /// Sets a callback that receives a handle to every session started by [`Executor::run`], so
    /// that a host can show the session and type into it. The callback is called before the first
    /// output, and must not block.
    #[must_use]
    pub fn on_start(mut self, call: impl Fn(PtySession) + Send + Sync + 'static) -> Self {
        self.on_start = Some(Box::new(call));
        self
    }

    /// Sets the initial size of terminals started from now on. An open terminal is resized through
    /// its session.
    pub fn set_size(&self, size: PtySize) {
        *lock(&self.size) = size;
    }

    /// Sets whether commands started from now on are known full-screen programs, such as editors.
    /// Their drawing is then not part of the output, even on the main screen.
    pub fn expect_full_screen(&self, is_full_screen: bool) {
        self.is_full_screen.store(is_full_screen, Ordering::Release);
    }

    /// Records the next call as asciicast v2. Input is not recorded.
    pub fn record_next(&self, writer: RecordingWriter) {
        *lock(&self.recording) = Some(writer);
    }

    /// Starts a script on a terminal. The script makes progress only while [`PtyRun::finish`] is
    /// awaited.
    ///
    /// These fields of `spec` are ignored: `streams` (a terminal has only one), `stdin` (stdin is
    /// the terminal), `report_stages`, `enter_cwd`, `snapshot`.
    ///
    /// # Errors
    ///
    /// Nothing was started: `PTY error: …` with the reason.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with I/O and time enabled.
    pub async fn open(&self, spec: &RunSpec, cancel: &Cancel) -> Result<PtyRun, NotStarted> {
        if let Some(name) = &spec.session {
            return Err(terminal_error(format!(
                "the session `{name}` has no terminal"
            )));
        }
        if spec.trial.is_some() {
            let reason = "the changes of a command on a terminal cannot be held back".to_owned();
            return Err(NotStarted::Trial { reason });
        }
        let options = PtyOptions {
            size: *lock(&self.size),
            ..self.options.clone()
        };
        let script = script::write(spec).map_err(terminal_error)?;
        let (terminal, program_side) = Terminal::open(options.size).map_err(terminal_error)?;
        let terminal = Arc::new(terminal);
        let mut supervised = launch(&options.supervisor, &spec.env.base, &options.clock, false)
            .await
            .map_err(terminal_error)?;
        let recording = lock(&self.recording)
            .take()
            .map(|out| Recording::start(out, Arc::clone(&options.clock), options.size));
        let shared = SharedSession::new(
            Arc::clone(&terminal),
            options.size,
            options.colors,
            self.is_full_screen.load(Ordering::Acquire),
            recording,
        );
        let started_at = options.clock.wall();
        let started = options.clock.now();
        let shell = supervised
            .start_on_terminal(start(spec, &terminal, &options), script.file.as_fd())
            .await
            .map_err(|error| match NotStarted::from(error) {
                sandbox_error @ (NotStarted::Sandbox { .. } | NotStarted::SandboxLacks { .. }) => {
                    sandbox_error
                }
                other => terminal_error(other),
            })?;
        let changes = ChangesRecording::begin(spec, &supervised, shell.untraced_reason.as_ref());
        let signals = WatchdogSignals {
            kill: Some(shared.kill.clone()),
            has_reported: None,
        };
        let clock = Arc::clone(&options.clock);
        let watchdog = Watchdog::start(supervised.link(), clock, cancel.clone(), signals, spec);
        let session_leader = supervised.pid();
        let clock = Arc::clone(&options.clock);
        let source_session = Arc::clone(&shared);
        Ok(PtyRun {
            spec: spec.clone(),
            source: TerminalSource::new(
                terminal, program_side, source_session, clock, session_leader,
            ),
            end_reporter: EndReporter {
                shared,
                clock: Arc::clone(&options.clock),
            },
            options,
            sandbox: SandboxWatch::of(
                supervised.sandbox_report().cloned(),
                spec.sandbox.as_deref(),
                shell.pid,
                supervised.refusals(),
            ),
            supervised,
            changes,
            script,
            watchdog,
            started_at,
            started,
        })
    }

    /// Starts a script on a terminal and runs it in a separate task. [`PtySession::ended`] returns
    /// its outcome.
    ///
    /// # Errors
    ///
    /// The errors of [`PtyExecutor::open`].
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with I/O and time enabled.
    pub async fn start(
        &self,
        spec: &RunSpec,
        mut out: Box<dyn OutputConsumer>,
        cancel: &Cancel,
    ) -> Result<PtySession, NotStarted> {
        let run = self.open(spec, cancel).await?;
        let session = run.session();
        tokio::spawn(async move { run.finish(&mut *out).await });
        Ok(session)
    }
}

impl fmt::Debug for PtyExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PtyExecutor")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Executor for PtyExecutor {
    async fn sandbox_report(&self) -> Result<Report, NotStarted> {
        let PtyOptions {
            supervisor,
            directory,
            clock,
            ..
        } = &self.options;
        supervisor.sandbox_report(directory, clock).await
    }

    async fn check_recording(&self) -> Result<(), String> {
        self.options.supervisor.check_recording()
    }

    async fn run(
        &self,
        spec: &RunSpec,
        out: &mut dyn OutputConsumer,
        cancel: &Cancel,
    ) -> Result<Outcome, NotStarted> {
        if cancel.is_cancelled() {
            return Ok(cancelled_before(&*self.options.clock));
        }
        let run = self.open(spec, cancel).await?;
        if let Some(on_start) = &self.on_start {
            on_start(run.session());
        }
        run.finish(out).await
    }
}

/// Returns the message that starts the shell.
fn start(spec: &RunSpec, terminal: &Terminal, options: &PtyOptions) -> TerminalStart {
    let (args, commit) = script::boot(spec);
    // Programs would trust these variables more than the terminal's size.
    let size = ["LINES", "COLUMNS"].map(|name| (OsString::from(name), None));
    TerminalStart {
        start: ShellStart {
            env_changes: size.into_iter().chain(spec.env.changes.clone()).collect(),
            limits: spec.limits,
            sandbox: (spec.sandbox.is_some() || spec.trace.is_some()).then(|| ShellSandbox {
                plan: spec.sandbox.as_deref().cloned(),
                trial: None,
                private_mounts: false,
                trace: spec.trace.is_some(),
                directory: options.directory.clone(),
                writable: Vec::new(),
            }),
            ..ShellStart::of(&spec.shell, args)
        },
        terminal: terminal.path().to_path_buf(),
        commit: commit.to_owned(),
    }
}
