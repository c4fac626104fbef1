//! A session: one tool with all that belongs to it, and the user's own commands beside the model's.
//!
//! A host has one for each conversation. It holds the tool, the persistent shells, the background jobs, the artifacts and
//! the directory; [`Session::open`] wires them to this machine, [`Session::new`] takes what a host brings. Dropping it ends
//! and removes everything but live jobs and their files.
//!
//! ```no_run
//! # async fn f(settings: agent_bash::settings::Settings, host: agent_bash::HostContext,
//! #            supervisor: agent_bash::process::supervisor::Supervisor) -> Result<(), Box<dyn std::error::Error>> {
//! use agent_bash::core::Cancel;
//! use agent_bash::session::{BangOptions, Session, SessionOptions, parse_bang};
//!
//! let session = Session::open(&settings, host, SessionOptions::many_calls("chat", supervisor))?;
//! let result = session.tool().execute(serde_json::json!({"command": "make"}), &Cancel::new()).await;
//! if let Some(bang) = parse_bang("!git status") {
//!     let options = BangOptions { excluded_from_context: bang.excluded_from_context, ..BangOptions::default() };
//!     let message = session.execute_bash(&bang.command, options, &Cancel::new()).await?;
//!     println!("{}", message.output);
//! }
//! # Ok(()) }
//! ```

mod bang;
mod expect;
mod message;
mod open;

pub use bang::{BangOptions, USER_SHELL};
pub use message::{Bang, BangMessage, parse_bang};
pub use open::{OpenError, SessionOptions, jobs_of_session};

use crate::panics::{Panicked, caught_in};
use crate::{BashTool, HostContext};
use agent_bash_core::{Cancel, RequestError, SessionName};
use agent_bash_exec::{Jobs, ShellCache, ShellInfo};
use agent_bash_pty::PtyOptions;
use agent_bash_sink::ArtifactDir;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a tool works with, as far as the host knows it: a session lists and cleans it up.
#[derive(Debug, Clone, Default)]
pub struct SessionParts {
    /// The shells, which the tool runs commands in.
    pub shells: Option<Arc<ShellCache>>,
    /// The background jobs that the tool starts.
    pub jobs: Option<Arc<Jobs>>,
    /// The full outputs that the tool keeps.
    pub artifacts: Option<Arc<ArtifactDir>>,
    /// How a call gets a terminal that it asks for itself.
    pub terminals: Option<PtyOptions>,
}

/// One conversation's tool, shells, jobs, artifacts and record of the user's commands.
///
/// All methods take `&self`: many tasks may use it at once, in an [`Arc`].
#[derive(Debug)]
pub struct Session {
    tool: BashTool,
    parts: SessionParts,
    /// Calls off the user's command that runs.
    running: Mutex<Option<Cancel>>,
    record: Mutex<Record>,
}

/// The user's commands of a session.
#[derive(Debug, Default)]
struct Record {
    messages: Vec<BangMessage>,
    /// They came while a turn ran.
    held: Vec<BangMessage>,
    in_turn: bool,
}

/// Why a user's command was not started. Nothing is recorded of it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BangError {
    /// One at a time.
    #[error("A bash command is already running. Press Esc to cancel it first.")]
    AlreadyRunning,
    /// It is no command.
    #[error(transparent)]
    Command(#[from] RequestError),
    /// A fault of ours.
    #[error(transparent)]
    Panicked(#[from] Panicked),
}

impl Session {
    /// A session of a tool that the host has made.
    pub fn new(tool: BashTool, parts: SessionParts) -> Self {
        Self {
            tool,
            parts,
            running: Mutex::default(),
            record: Mutex::default(),
        }
    }

    /// The tool for the model's calls.
    pub fn tool(&self) -> &BashTool {
        &self.tool
    }

    /// What the host told the tool about its surroundings.
    pub fn host(&self) -> &HostContext {
        &self.tool.wiring.host
    }

    /// The directory in which calls run that name none.
    pub fn cwd(&self) -> &Path {
        &self.host().cwd
    }

    /// The directory in which the user's next command runs: the user's shell stays where the last one left it.
    pub fn user_cwd(&self) -> PathBuf {
        let shells = self.shells();
        let user = shells.into_iter().find(|shell| shell.name.0 == USER_SHELL);
        user.and_then(|shell| shell.cwd)
            .unwrap_or_else(|| self.cwd().to_owned())
    }

    /// The background jobs; `None` where there is no place for them.
    pub fn jobs(&self) -> Option<&Arc<Jobs>> {
        self.parts.jobs.as_ref()
    }

    /// The full outputs that were kept; `None` where there is no place for them.
    pub fn artifacts(&self) -> Option<&Arc<ArtifactDir>> {
        self.parts.artifacts.as_ref()
    }

    /// How a call gets a terminal that it asks for itself; `None` where there are none.
    pub fn terminals(&self) -> Option<&PtyOptions> {
        self.parts.terminals.as_ref()
    }

    /// The persistent shells that were named so far; the user's own is [`USER_SHELL`].
    pub fn shells(&self) -> Vec<ShellInfo> {
        let shells = self.parts.shells.as_ref();
        shells.map_or_else(Vec::new, |shells| shells.named_shells())
    }

    /// Forgets a persistent shell: the next call that names it gets a new one. Returns whether there was one.
    pub fn reset_shell(&self, name: &SessionName) -> bool {
        self.tool.wiring.queues.forget(name);
        let shells = self.parts.shells.as_ref();
        shells.is_some_and(|shells| shells.reset_named_shell(name))
    }

    /// Runs a command of the user's to its end and records it. What the model's calls go through (normalisation,
    /// interception, rules, safe mode, approval) is for the model's calls; there is no time limit unless `options` has one.
    ///
    /// It ends early by `cancel` or [`Self::abort_bash`]; the message then has what was printed. A command that could not
    /// be started is recorded as well, its status says why. Dropping the future ends the command without grace, and leaves
    /// no message.
    ///
    /// # Errors
    /// [`BangError`]: nothing was started or recorded.
    pub async fn execute_bash(
        &self,
        command: &str,
        options: BangOptions<'_>,
        cancel: &Cancel,
    ) -> Result<BangMessage, BangError> {
        let cancel = cancel.child();
        let _turn = self.take_turn(&cancel)?;
        let ran = caught_in(bang::run(&self.tool.wiring, command, options, &cancel));
        let message = ran.await??;
        let mut record = lock(&self.record);
        if record.in_turn {
            record.held.push(message.clone());
        } else {
            record.messages.push(message.clone());
        }
        Ok(message)
    }

    /// Calls off the user's command that runs, if one does: whether one did. Returns at once.
    pub fn abort_bash(&self) -> bool {
        let running = lock(&self.running);
        running.as_ref().inspect(|cancel| cancel.cancel()).is_some()
    }

    /// Whether a command of the user's runs.
    pub fn is_bash_running(&self) -> bool {
        lock(&self.running).is_some()
    }

    /// The model's turn begins: what the user runs meanwhile is held back from the record.
    pub fn begin_turn(&self) {
        lock(&self.record).in_turn = true;
    }

    /// The model's turn is over: what was held is put on the record, in order, and returned.
    pub fn end_turn(&self) -> Vec<BangMessage> {
        let mut record = lock(&self.record);
        record.in_turn = false;
        let held = std::mem::take(&mut record.held);
        record.messages.extend(held.iter().cloned());
        held
    }

    /// The user's commands so far, in order; without those that are held.
    pub fn messages(&self) -> Vec<BangMessage> {
        lock(&self.record).messages.clone()
    }

    /// As [`Self::messages`], and takes them off the record: for hosts that keep a history of their own.
    pub fn take_messages(&self) -> Vec<BangMessage> {
        std::mem::take(&mut lock(&self.record).messages)
    }

    /// Those that wait for the end of the turn.
    pub fn held_messages(&self) -> Vec<BangMessage> {
        lock(&self.record).held.clone()
    }

    /// Ends the user's command, forgets the persistent shells, and removes the artifacts that go with the session. Live
    /// jobs and their files stay, and so do shells that wait for a call, until the last clone of the tool is gone.
    /// Dropping the session does it too.
    pub fn close(&self) {
        self.abort_bash();
        for shell in self.shells() {
            self.reset_shell(&shell.name);
        }
        if let Some(artifacts) = self.artifacts() {
            artifacts.close();
        }
    }

    fn take_turn(&self, cancel: &Cancel) -> Result<Turn<'_>, BangError> {
        let mut running = lock(&self.running);
        if running.is_some() {
            return Err(BangError::AlreadyRunning);
        }
        *running = Some(cancel.clone());
        Ok(Turn(&self.running))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.close();
    }
}

/// The right to run a user's command. Given back on every way out, a dropped future included.
struct Turn<'a>(&'a Mutex<Option<Cancel>>);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *lock(self.0) = None;
    }
}

/// A panic elsewhere leaves what is behind these locks whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
