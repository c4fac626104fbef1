//! The real thing, wired in one call: shells, jobs and artifacts of this machine, with a user's settings.

use super::{Session, SessionParts};
use crate::settings::Settings;
use crate::{BashTool, BashToolBuilder, HostContext, artifacts};
use agent_bash_core::{ArtifactStore, Clock, Executor};
use agent_bash_exec::{
    Jobs, JobsOptions, ShellCache, ShellCacheOptions, SnapshotOptions, sweep_sessions,
};
use agent_bash_policy::UnknownRule;
use agent_bash_process::SystemClock;
use agent_bash_process::supervisor::Supervisor;
use agent_bash_pty::PtyOptions;
use agent_bash_sink::{ArtifactDir, Lifetime, SessionNameError};
use std::sync::Arc;

/// What a [`Session`] is opened with beside settings and surroundings.
#[derive(Debug, Clone)]
pub struct SessionOptions {
    /// Its name below the state directory: one path component. Jobs and artifacts of it are there, and are found again by a
    /// later session of that name.
    pub name: String,
    /// How supervisors are started.
    pub supervisor: Supervisor,
    /// Every wait and every measurement goes through it.
    pub clock: Arc<dyn Clock>,
    /// How long artifacts are kept.
    pub lifetime: Lifetime,
    /// It makes many calls: shells wait ahead of them, load the user's configuration, and may be named.
    pub many_calls: bool,
}

impl SessionOptions {
    /// For a program that makes one call and ends: artifacts stay for a day, no shell is started ahead or named.
    pub fn one_call(name: impl Into<String>, supervisor: Supervisor) -> Self {
        Self {
            name: name.into(),
            supervisor,
            clock: Arc::new(SystemClock::new()),
            lifetime: Lifetime::Day,
            many_calls: false,
        }
    }

    /// For a host that lives on: artifacts go with the session, shells wait, may be named, and have what the user's
    /// `~/.bashrc` defines (not in safe mode, where nothing may stand in for an allowed command).
    pub fn many_calls(name: impl Into<String>, supervisor: Supervisor) -> Self {
        Self {
            lifetime: Lifetime::Session,
            many_calls: true,
            ..Self::one_call(name, supervisor)
        }
    }
}

/// Why a session cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Its name cannot be a directory's.
    #[error(transparent)]
    Name(#[from] SessionNameError),
    /// The settings name a rule that there is not. Settings that were loaded name none such.
    #[error(transparent)]
    Rule(#[from] UnknownRule),
}

impl Session {
    /// Opens a session that runs commands here. Starts nothing yet; removes what is past its time of the artifacts of all
    /// sessions (for one call, where nobody has done so within the hour).
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(
        settings: &Settings,
        host: HostContext,
        options: SessionOptions,
    ) -> Result<Self, OpenError> {
        Self::open_with(settings, host, options, |builder| builder)
    }

    /// As [`Self::open`], with what a host adds to its tool: an approver, tools of the model, a terminal.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open_with(
        settings: &Settings,
        host: HostContext,
        options: SessionOptions,
        add: impl FnOnce(BashToolBuilder) -> BashToolBuilder,
    ) -> Result<Self, OpenError> {
        let SessionOptions {
            name,
            supervisor,
            clock,
            lifetime,
            many_calls,
        } = options;
        let profile = settings.profile();
        let naming = artifacts::naming(profile.layout);
        if let Some(root) = host.state_dir() {
            let sweep = if many_calls {
                ArtifactDir::sweep
            } else {
                ArtifactDir::sweep_when_due
            };
            sweep(&root, clock.wall());
        }
        if many_calls {
            // Of hosts that were killed.
            sweep_sessions(&host.temp_dir());
        }
        let artifacts = artifacts::of_session(&host, &name, naming, lifetime, Arc::clone(&clock))?
            .map(Arc::new);
        let jobs = jobs_of_session(&host, &name, &clock);
        let terminals = PtyOptions {
            jobs: jobs.clone().map(|jobs| jobs as _),
            ..PtyOptions::new(supervisor.clone(), Arc::clone(&clock))
        };
        let shells = Arc::new(ShellCache::new(ShellCacheOptions {
            jobs: jobs.clone(),
            directory: host.temp_dir(),
            snapshot: snapshot(settings, &host).filter(|_| many_calls),
            ..if many_calls {
                ShellCacheOptions::many_calls(supervisor, Arc::clone(&clock))
            } else {
                ShellCacheOptions::one_call(supervisor, Arc::clone(&clock))
            }
        }));
        let executor: Arc<dyn Executor> = Arc::clone(&shells) as _;
        let builder = BashTool::builder(profile, host, executor, clock);
        let mut builder = settings.configure(builder)?.sessions(many_calls);
        if jobs.is_some() {
            builder = builder.jobs(Arc::clone(&shells) as _);
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

/// The background jobs of the session `name`; `None` where neither a state directory nor a home is known. Touches nothing.
pub fn jobs_of_session(
    host: &HostContext,
    name: &str,
    clock: &Arc<dyn Clock>,
) -> Option<Arc<Jobs>> {
    let directory = host.state_dir()?.join(name).join("jobs");
    let options = JobsOptions::new(directory, Arc::clone(clock));
    Some(Arc::new(Jobs::new(options)))
}

/// What shells load of the user's: the functions, aliases and options of `~/.bashrc`.
fn snapshot(settings: &Settings, host: &HostContext) -> Option<SnapshotOptions> {
    let rc = host.home.as_ref()?.join(".bashrc");
    let directory = host.state_dir()?.join("snapshots");
    let secrets = settings.environment().secrets;
    settings.safe_mode.is_none().then(|| SnapshotOptions {
        secrets,
        ..SnapshotOptions::new(rc, directory)
    })
}
