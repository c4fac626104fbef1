//! A conversation of a model and a user: its tool, persistent shells, background jobs, artifacts
//! and working directory, and the user's own commands.
//!
//! [`Conversation::open`] creates these components for this machine; [`Conversation::new`] takes
//! components that the host has created. Dropping a conversation ends and removes the components
//! except running jobs and the jobs' files.
//!
//! ```no_run
//! # async fn f(
//! #     settings: agent_bash::settings::Settings,
//! #     host: agent_bash::HostContext,
//! #     supervisor: agent_bash::process::supervisor::Supervisor,
//! # ) -> Result<(), Box<dyn std::error::Error>> {
//! use agent_bash::core::Cancel;
//! use agent_bash::session::{BangOptions, Conversation, ConversationOptions, parse_bang};
//!
//! let options = ConversationOptions::long_lived("chat", supervisor);
//! let session = Conversation::open(&settings, host, options)?;
//! let make = serde_json::json!({"command": "make"});
//! let result = session.tool().execute(make, &Cancel::new()).await;
//! if let Some(bang) = parse_bang("!git status") {
//!     let options = BangOptions {
//!         excluded_from_context: bang.excluded_from_context,
//!         ..BangOptions::default()
//!     };
//!     let message = session.execute_bash(&bang.command, options, &Cancel::new()).await?;
//!     println!("{}", message.output);
//! }
//! # Ok(()) }
//! ```

mod announce;
mod ask;
mod bang;
mod exported;
mod open;
mod open_on;
mod start_file;

pub use agent_bash_tools::{BangLine, BangMessage, parse_bang};
pub use announce::may_start_ahead;
pub use ask::ask;
pub use bang::{BangOptions, USER_SHELL};
pub use open::{ConversationOptions, OpenError, jobs_of_session};

use crate::{BashTool, ChangeSets, ChangesDone, ChangesRefused, HostContext, commit_for_model};
use agent_bash_changes::{ChangesScope, TurnSign};
use agent_bash_core::changes::ChangesId;
use agent_bash_core::{Cancel, Definitions, Notice, RemoteHost, RequestError, SessionName, lock};
use agent_bash_exec::{ConfiguredNames, Jobs, ShellCache, ShellInfo};
use agent_bash_pty::PtyOptions;
use agent_bash_remote::protocol::RpcCall;
use agent_bash_remote::protocol::data::ShellsData;
use agent_bash_sink::ArtifactDir;
use agent_bash_state::panics::{WorkPanicked, await_catching_panic};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The components of a tool that a conversation lists, and cleans up at its end.
#[derive(Debug, Clone, Default)]
pub struct SessionParts {
    /// The shells in which the tool runs commands.
    pub shells: Option<Arc<ShellCache>>,
    /// The background jobs of the tool.
    pub jobs: Option<Arc<Jobs>>,
    /// The stored full outputs of the tool.
    pub artifacts: Option<Arc<ArtifactDir>>,
    /// Options for the terminals of single calls.
    pub terminals: Option<PtyOptions>,
}

/// A conversation's tool, shells, jobs, artifacts and record of the user's commands.
///
/// All methods take `&self`: share it between tasks in an [`Arc`].
#[derive(Debug)]
pub struct Conversation {
    tool: BashTool,
    parts: SessionParts,
    /// Cancels the user's running command.
    running: Mutex<Option<Cancel>>,
    record: Mutex<BangLog>,
}

/// The record of the user's commands in a conversation.
#[derive(Debug, Default)]
struct BangLog {
    /// The recorded commands, in order.
    messages: Vec<BangMessage>,
    /// Commands of the current turn, which are recorded at the turn's end.
    held: Vec<BangMessage>,
    /// True during the model's turn.
    is_in_turn: bool,
}

/// Why a user's command was not started. Such a command is not recorded.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BangError {
    /// A user's command is running already.
    #[error("A bash command is already running. Press Esc to cancel it first.")]
    AlreadyRunning,
    /// The command is invalid.
    #[error(transparent)]
    Command(#[from] RequestError),
    /// The command would run on another machine than the model's.
    #[error(
        "a target has no shell for the user's commands; run the command as a call, or with the target's own client"
    )]
    OnTarget,
    /// A bug of agent-bash.
    #[error(transparent)]
    Panicked(#[from] WorkPanicked),
}

impl Conversation {
    /// Returns a conversation with a tool that the host has built.
    pub fn new(tool: BashTool, parts: SessionParts) -> Self {
        Self {
            tool,
            parts,
            running: Mutex::default(),
            record: Mutex::default(),
        }
    }

    /// Returns the tool for the model's calls.
    pub fn tool(&self) -> &BashTool {
        &self.tool
    }

    /// Returns the host's context.
    pub fn host(&self) -> &HostContext {
        &self.tool.context.host
    }

    /// Returns the remote host on which calls run; `None` if calls run on this machine. Jobs and
    /// stored outputs are on the machine on which calls run.
    pub fn remote_host(&self) -> Option<&Arc<dyn RemoteHost>> {
        self.tool.context.remote_host.as_ref()
    }

    /// Returns the default directory of calls.
    pub fn cwd(&self) -> &Path {
        &self.host().cwd
    }

    /// Returns the directory of the user's next command, which is the directory of the user's
    /// persistent shell.
    pub fn user_cwd(&self) -> PathBuf {
        let name = SessionName(USER_SHELL.to_owned());
        self.shell_cwd(&name)
            .unwrap_or_else(|| self.cwd().to_owned())
    }

    /// Returns the working directory of the persistent shell with this name. `None` before the
    /// shell's first call has ended, and while a call runs.
    pub fn shell_cwd(&self, name: &SessionName) -> Option<PathBuf> {
        let mut shells = self.shells().into_iter();
        shells.find(|shell| shell.name == *name)?.cwd
    }

    /// Returns the working directory of a persistent shell. If calls run on a remote host, queries
    /// that host.
    pub async fn query_shell_cwd(&self, name: &SessionName, cancel: &Cancel) -> Option<PathBuf> {
        let Some(remote_host) = self.remote_host() else {
            return self.shell_cwd(name);
        };
        let listed = ask::<ShellsData>(&**remote_host, &RpcCall::SessionList, cancel).await;
        let mut shells = listed.ok()?.sessions.into_iter();
        let cwd = shells.find(|shell| shell.name == name.0)?.cwd?;
        Some(PathBuf::from(cwd)).filter(|cwd| cwd.is_absolute())
    }

    /// Returns the differences between the exported variables of a persistent shell and the
    /// environment of a new call; `None` for a variable that the shell has unset.
    ///
    /// Empty before the shell's first call has ended, while a call runs, and on a remote host.
    pub async fn shell_exports(&self, name: &SessionName) -> BTreeMap<String, Option<String>> {
        let Some(shells) = self
            .parts
            .shells
            .as_ref()
            .filter(|_| self.remote_host().is_none())
        else {
            return BTreeMap::new();
        };
        match shells.exports_of(name).await {
            Some(exports) => exported::differences(&exports, &self.tool.environment().variables),
            None => BTreeMap::new(),
        }
    }

    /// Returns the definitions of a persistent shell, for a call in a new shell. `None` in the
    /// cases in which [`Self::shell_exports`] is empty, and in safe mode.
    pub async fn shell_definitions(&self, name: &SessionName) -> Option<Arc<Definitions>> {
        let shells = self.local_shells()?;
        shells.definitions_of(name).await.map(Arc::new)
    }

    /// Returns the definitions of the user's configuration, for calls on a terminal, which do not
    /// load the configuration.
    pub async fn configured_definitions(&self) -> Option<Arc<Definitions>> {
        let shells = self.local_shells()?;
        let shell = self.tool.context.shell.as_ref().ok()?;
        let base = &self.tool.environment().variables;
        let definitions = shells.configured_definitions(shell, base, self.cwd());
        definitions.await.map(Arc::new)
    }

    /// Returns the shells of this machine; `None` if calls run on a remote host, and in safe mode.
    fn local_shells(&self) -> Option<&Arc<ShellCache>> {
        let is_excluded = self.remote_host().is_some() || self.tool.is_safe_mode();
        self.parts.shells.as_ref().filter(|_| !is_excluded)
    }

    /// Returns the background jobs; `None` without a directory for jobs.
    pub fn jobs(&self) -> Option<&Arc<Jobs>> {
        self.parts.jobs.as_ref()
    }

    /// Returns the stored full outputs; `None` without a directory for outputs.
    pub fn artifacts(&self) -> Option<&Arc<ArtifactDir>> {
        self.parts.artifacts.as_ref()
    }

    /// Returns the change sets of the conversation.
    pub fn changes(&self) -> ChangeSets {
        let changes = Arc::clone(&self.tool.context.changes);
        ChangeSets::new(changes, self.cwd().to_owned())
    }

    /// Begins a turn with the name that the client gives the turn. Does nothing if the last turn
    /// has that name, or if changes are not recorded.
    ///
    /// # Errors
    /// The name is not usable, or cannot be stored. A target checks the name with the next call.
    pub async fn begin_changes_turn(&self, name: String) -> Result<(), ChangesRefused> {
        if let Some(remote_host) = self.remote_host() {
            remote_host.set_turn(name.clone());
        }
        let sets = self.changes();
        if sets.is_recording() {
            let begin = move |sets: &ChangeSets| sets.begin_turn(TurnSign::Name(&name));
            sets.run_blocking(begin).await?;
        }
        Ok(())
    }

    /// Returns the scope of an undo or redo of several change sets: `since` is a change set or a
    /// time before now ([`Since`](crate::Since)), `turn` the name of a turn or `last`.
    ///
    /// # Errors
    /// Both or neither of `since` and `turn` are given, or `since` is invalid.
    pub fn changes_scope(
        &self,
        since: Option<&str>,
        turn: Option<&str>,
    ) -> Result<ChangesScope, String> {
        match (since, turn) {
            (Some(since), None) => {
                let since: crate::Since = since.parse().map_err(|why| format!("`since`: {why}"))?;
                Ok(since.scope(self.tool.context.clock.wall()))
            }
            (None, Some(turn)) => Ok(crate::scope_of_turn(turn)),
            _ => Err("name either `since` or `turn`".to_owned()),
        }
    }

    /// Commits a trial for the model, if the setting `changes.commit` allows that. If the setting
    /// is `ask`, the tool's [`Approver`](crate::Approver) decides.
    ///
    /// # Errors
    /// See [`commit_for_model`](crate::commit_for_model()).
    pub async fn commit_for_model(
        &self,
        id: ChangesId,
        cancel: &Cancel,
    ) -> Result<ChangesDone, ChangesRefused> {
        let approver = &*self.tool.context.approver;
        commit_for_model(&self.changes(), id, approver, cancel).await
    }

    /// Returns the options for the terminals of single calls; `None` without terminals.
    pub fn terminals(&self) -> Option<&PtyOptions> {
        self.parts.terminals.as_ref()
    }

    /// Returns the persistent shells that calls have named so far. The user's shell has the name
    /// [`USER_SHELL`].
    pub fn shells(&self) -> Vec<ShellInfo> {
        let shells = self.parts.shells.as_ref();
        shells.map_or_else(Vec::new, |shells| shells.named_shells())
    }

    /// Reads the user's shell configuration (functions, aliases, `PATH`) before the first call, and
    /// returns the names of the definitions. Empty on a remote host, and if calls do not load the
    /// configuration.
    ///
    /// # Errors
    /// The configuration could not be read. The first call does not report the error again.
    pub async fn configured(&self) -> Result<ConfiguredNames, Notice> {
        let tool = &*self.tool.context;
        match (&self.parts.shells, &tool.shell) {
            (Some(shells), Ok(shell)) if tool.remote_host.is_none() => {
                let base = &tool.environment.variables;
                shells.configured(shell, base, self.cwd()).await
            }
            _ => Ok(ConfiguredNames::default()),
        }
    }

    /// Discards a persistent shell; calls that wait for it, and later ones, get a new one. Returns
    /// false if there is no such shell.
    pub fn reset_shell(&self, name: &SessionName) -> bool {
        let shells = self.parts.shells.as_ref();
        let was_discarded = shells.is_some_and(|shells| shells.reset_named_shell(name));
        self.tool.context.session_definitions.forget(name);
        // Waiting calls are checked once the old shell is gone.
        self.tool.context.queues.note_reset(name);
        was_discarded
    }

    /// Runs a user's command to its end and records it. The checks of the model's calls
    /// (normalisation, interception, rules, safe mode, approval) do not apply. There is no time
    /// limit unless `options` sets one.
    ///
    /// `cancel` or [`Self::abort_bash`] end the command early; the message then has the output so
    /// far. A command that could not be started is recorded too, with the reason in its status.
    /// Dropping the future kills the command without a grace period, and nothing is recorded.
    ///
    /// # Errors
    /// [`BangError`]: nothing was started or recorded.
    pub async fn execute_bash(
        &self,
        command: &str,
        options: BangOptions<'_>,
        cancel: &Cancel,
    ) -> Result<BangMessage, BangError> {
        if self.remote_host().is_some() {
            return Err(BangError::OnTarget);
        }
        let cancel = cancel.child();
        let _permit = self.acquire_permit(&cancel)?;
        let name = SessionName(USER_SHELL.to_owned());
        let definitions = &self.tool.context.session_definitions;
        definitions.note_script(&name, command);
        let ran = await_catching_panic(bang::run(&self.tool.context, command, options, &cancel));
        let message = ran.await??;
        let mut record = lock(&self.record);
        if record.is_in_turn {
            record.held.push(message.clone());
        } else {
            record.messages.push(message.clone());
        }
        Ok(message)
    }

    /// Cancels the user's running command, without waiting for its end. Returns false if no command
    /// of the user is running.
    pub fn abort_bash(&self) -> bool {
        let running = lock(&self.running);
        running.as_ref().inspect(|cancel| cancel.cancel()).is_some()
    }

    /// Begins the model's turn: the user's commands are held back from the record until the turn
    /// ends.
    pub fn begin_turn(&self) {
        lock(&self.record).is_in_turn = true;
    }

    /// Ends the model's turn: adds the held commands to the record, in order, and returns them.
    pub fn end_turn(&self) -> Vec<BangMessage> {
        let mut record = lock(&self.record);
        record.is_in_turn = false;
        let held = std::mem::take(&mut record.held);
        record.messages.extend(held.iter().cloned());
        held
    }

    /// Returns the user's commands so far, in order, except the commands that are held back.
    pub fn messages(&self) -> Vec<BangMessage> {
        lock(&self.record).messages.clone()
    }

    /// Ends the user's command, discards the persistent shells, and removes the artifacts whose
    /// lifetime is the conversation. Running jobs and their files remain. Warm shells remain until
    /// the last clone of the tool is dropped. Dropping the conversation also calls this function.
    pub fn close(&self) {
        self.abort_bash();
        for shell in self.shells() {
            self.reset_shell(&shell.name);
        }
        if let Some(artifacts) = self.artifacts() {
            artifacts.close();
        }
    }

    /// Returns the permit to run a user's command, which `cancel` can end.
    fn acquire_permit(&self, cancel: &Cancel) -> Result<BangPermit<'_>, BangError> {
        let mut running = lock(&self.running);
        if running.is_some() {
            return Err(BangError::AlreadyRunning);
        }
        *running = Some(cancel.clone());
        Ok(BangPermit(&self.running))
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        self.close();
    }
}

/// The permit to run a user's command. Dropping the permit releases it, so a dropped future
/// releases it too.
struct BangPermit<'a>(&'a Mutex<Option<Cancel>>);

impl Drop for BangPermit<'_> {
    fn drop(&mut self) {
        *lock(self.0) = None;
    }
}
