//! Opens a conversation that runs calls on this machine, with the user's settings.

use super::start_file::StartFileSandbox;
use super::{Conversation, SessionParts};
use crate::settings::Settings;
use crate::{BashTool, BashToolBuilder, HostContext, artifacts, profiles};
use agent_bash_core::changes::ChangesLevel;
use agent_bash_core::{ArtifactStore, Clock, Executor, Timestamp};
use agent_bash_exec::{
    Jobs, JobsOptions, ShellCache, ShellCacheOptions, SnapshotOptions, exported_functions,
    sweep_sessions,
};
use agent_bash_policy::UnknownRule;
use agent_bash_process::SystemClock;
use agent_bash_process::environment::{CI, EnvironmentPolicy, Inherit};
use agent_bash_process::supervisor::Supervisor;
use agent_bash_pty::PtyOptions;
use agent_bash_settings::mask_secrets;
use agent_bash_sink::{ArtifactDir, Lifetime, SessionNameError};
use agent_bash_state::exceptions::Exceptions;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

/// Options for opening a [`Conversation`], in addition to the settings and the host.
#[derive(Debug, Clone)]
pub struct ConversationOptions {
    /// The conversation's name: the name of a directory in the state directory. The directory has
    /// the conversation's jobs and artifacts. A later conversation with this name finds them again.
    pub name: String,
    /// How to start supervisors.
    pub supervisor: Supervisor,
    /// The clock for every wait and every measurement.
    pub clock: Arc<dyn Clock>,
    /// How long artifacts are kept.
    pub lifetime: Lifetime,
    /// True if the conversation makes many calls. Shells are then kept warm, load the user's
    /// configuration, and can have names.
    pub many_calls: bool,
    /// True if calls are recorded in the journal, unless the settings decide otherwise.
    pub is_recorded: bool,
    /// The level of recording file changes, unless the settings name a level.
    pub changes: ChangesLevel,
}

/// The default level of recording file changes. Only Linux can trace file changes.
const DEFAULT_LEVEL: ChangesLevel = if cfg!(target_os = "linux") {
    ChangesLevel::Undo
} else {
    ChangesLevel::Off
};

impl ConversationOptions {
    /// Returns the options for a program that makes one call and exits. Artifacts are kept for a
    /// day, shells are neither kept warm nor named, and file changes are recorded only if the
    /// settings name a level.
    pub fn one_shot(name: impl Into<String>, supervisor: Supervisor) -> Self {
        Self {
            name: name.into(),
            supervisor,
            clock: Arc::new(SystemClock::new()),
            lifetime: Lifetime::Day,
            many_calls: false,
            is_recorded: false,
            changes: ChangesLevel::Off,
        }
    }

    /// Returns the options for a program that makes one call in the conversation of another
    /// program. They differ from [`Self::one_shot`]: the call is recorded in the journal, and its
    /// file changes can be undone.
    pub fn call_of(conversation: impl Into<String>, supervisor: Supervisor) -> Self {
        Self {
            is_recorded: true,
            changes: DEFAULT_LEVEL,
            ..Self::one_shot(conversation, supervisor)
        }
    }

    /// Returns the options for a long-lived host. Artifacts are removed when the conversation ends,
    /// and file changes can be undone. Shells are kept warm, can have names, and load the
    /// definitions of the user's `~/.bashrc`. In safe mode they do not load these, because no
    /// definition may replace an allowed command.
    pub fn long_lived(name: impl Into<String>, supervisor: Supervisor) -> Self {
        Self {
            lifetime: Lifetime::Session,
            many_calls: true,
            is_recorded: true,
            changes: DEFAULT_LEVEL,
            ..Self::one_shot(name, supervisor)
        }
    }
}

/// Why a conversation could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The name is not usable as a directory name.
    #[error(transparent)]
    Name(#[from] SessionNameError),
    /// The settings name an unknown rule. This does not happen with loaded settings, which are
    /// validated.
    #[error(transparent)]
    Rule(#[from] UnknownRule),
}

impl Conversation {
    /// Opens a conversation that runs commands on this machine. Starts no process yet.
    ///
    /// Also starts a step of the sweep over expired artifacts of all conversations, at most every
    /// ten minutes. Each step removes a few artifacts.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(
        settings: &Settings,
        host: HostContext,
        options: ConversationOptions,
    ) -> Result<Self, OpenError> {
        Self::open_with(settings, host, options, |builder| builder)
    }

    /// Opens a conversation like [`Self::open`]. `add` adds to the tool: an approver, the model's
    /// tools, a terminal. A sandbox that `add` sets does not apply to the reading of `~/.bashrc`:
    /// set that in `settings`.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open_with(
        settings: &Settings,
        host: HostContext,
        options: ConversationOptions,
        add: impl FnOnce(BashToolBuilder) -> BashToolBuilder,
    ) -> Result<Self, OpenError> {
        let ConversationOptions {
            name,
            supervisor,
            clock,
            lifetime,
            many_calls,
            is_recorded,
            changes,
        } = options;
        let askpass = supervisor.program_path().filter(|_| settings.ask_user);
        let profile = settings.profile();
        let naming = profiles::tool(profile.name).naming;
        if let Some(root) = host.state_dir() {
            sweep_on_thread(root, clock.wall());
        }
        if many_calls {
            // Removes the directories of killed hosts.
            sweep_sessions(&host.temp_dir());
        }
        let artifacts = artifacts::of_session(&host, &name, naming, lifetime, Arc::clone(&clock))?
            .map(Arc::new);
        let jobs = jobs_of_session(&host, &name, &clock);
        let state = host.state_dir();
        let terminals = PtyOptions::new(supervisor.clone(), Arc::clone(&clock), host.temp_dir())
            .with_jobs(jobs.clone());
        let snapshot = snapshot(settings, &host, &clock).filter(|_| many_calls);
        let environment = environment(settings, &host, snapshot.as_ref());
        let shells = Arc::new(ShellCache::new(ShellCacheOptions {
            jobs: jobs.clone(),
            snapshot,
            ..if many_calls {
                ShellCacheOptions::long_lived(supervisor, Arc::clone(&clock), host.temp_dir())
            } else {
                ShellCacheOptions::one_shot(supervisor, Arc::clone(&clock), host.temp_dir())
            }
        }));
        let secrets = environment.secrets.clone().unwrap_or_default();
        let hide = mask_secrets(Arc::clone(&host.env), secrets);
        let journal = state.as_ref().and_then(|state| {
            settings.journal.open(
                state.clone(),
                &name,
                (is_recorded, many_calls),
                Arc::clone(&hide),
                clock.wall(),
            )
        });
        let executor: Arc<dyn Executor> = Arc::clone(&shells) as _;
        let exceptions_clock = Arc::clone(&clock);
        let builder = BashTool::builder(profile, host, executor, clock);
        let mut builder = builder
            .settings(settings)?
            .environment(environment)
            .sessions(many_calls)
            .hide(hide)
            .askpass(askpass)
            .default_changes_level(changes);
        if jobs.is_some() {
            builder = builder.jobs(Arc::clone(&shells) as _);
        }
        if let Some(state) = state {
            builder = builder
                .exceptions(Exceptions::new(state.clone(), exceptions_clock))
                .changes_in(state, &name);
        }
        if let Some(journal) = journal {
            builder = builder.journal(journal);
        }
        if let Some(dir) = &artifacts {
            builder = builder.artifacts(Arc::clone(dir) as Arc<dyn ArtifactStore>);
        }
        let parts = SessionParts {
            shells: Some(shells),
            jobs,
            artifacts,
            terminals: Some(terminals),
        };
        Ok(Self::new(add(builder).build(), parts))
    }
}

/// Returns the background jobs of the conversation `name`. `None` if neither a state directory nor
/// a home directory is known. Does no I/O.
pub fn jobs_of_session(
    host: &HostContext,
    name: &str,
    clock: &Arc<dyn Clock>,
) -> Option<Arc<Jobs>> {
    let directory = host.state_dir()?.join(name).join("jobs");
    let options = JobsOptions::new(directory, Arc::clone(clock));
    Some(Arc::new(Jobs::new(options)))
}

/// Runs the next step of the sweep over expired artifacts on a separate thread, if a step is due.
/// The thread ends with the process at the latest.
fn sweep_on_thread(root: PathBuf, now: Timestamp) {
    if !ArtifactDir::is_sweep_due(&root, now) {
        return;
    }
    let thread = thread::Builder::new().name("agent-bash-sweep".to_owned());
    let swept = thread.spawn(move || {
        ArtifactDir::sweep_when_due(&root, now);
    });
    if let Err(error) = swept {
        tracing::warn!(%error, "expired artifacts are not removed");
    }
}

/// Returns the options of the snapshot of `~/.bashrc`. `None` in safe mode.
fn snapshot(
    settings: &Settings,
    host: &HostContext,
    clock: &Arc<dyn Clock>,
) -> Option<SnapshotOptions> {
    let rc = host.home.as_ref()?.join(".bashrc");
    let directory = host.state_dir()?.join("snapshots");
    let EnvironmentPolicy {
        secrets, session, ..
    } = settings.environment();
    let fixed = session.keys();
    let fixed = fixed.map(|name| name.to_string_lossy().into_owned());
    let sandbox = StartFileSandbox::of(&settings.sandbox, host, clock);
    settings.safe_mode.is_none().then(|| SnapshotOptions {
        may_unset_ci: !host.env.contains_key(OsStr::new(CI))
            && !session.contains_key(OsStr::new(CI)),
        fixed_variables: fixed.collect(),
        functions: exported_functions(&host.env, secrets.as_ref()),
        secrets,
        sandbox: sandbox.map(|sandbox| Arc::new(sandbox) as _),
        ..SnapshotOptions::new(rc, directory)
    })
}

/// Returns the policy for the environment of calls. Calls that do not load a configuration inherit
/// the functions that the host's environment exports, as scripts in a terminal do.
fn environment(
    settings: &Settings,
    host: &HostContext,
    snapshot: Option<&SnapshotOptions>,
) -> EnvironmentPolicy {
    let mut policy = settings.environment();
    let loads_configuration = snapshot.is_some_and(|options| options.rc.exists());
    if loads_configuration || settings.safe_mode.is_some() || policy.inherit != Inherit::All {
        return policy;
    }
    for (name, text) in exported_functions(&host.env, policy.secrets.as_ref()) {
        policy.session.entry(name).or_insert(Some(text));
    }
    policy
}
