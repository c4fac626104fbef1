//! The owner of all shells of a host, and the executor of its calls.

mod refill;
mod start_job;

use crate::call::{Call, FinishedCall};
use crate::direct;
use crate::exports;
use crate::jobs::Jobs;
use crate::options::ShellCacheOptions;
use crate::pool::{Pool, RequestedShell, ShellKind, WaitingShell};
use crate::session::{Sessions, ShellInfo};
use crate::snapshot::{ConfiguredNames, SnapshotCache};
use crate::start::{self, CallStart, untraced_refusal};
use agent_bash_call::{UnstartedReason, cancelled_before, launch};
use agent_bash_core::sandbox::{Plan, Report};
use agent_bash_core::{
    Cancel, Definitions, Executor, Limits, NotStarted, Notice, Outcome, OutputConsumer, RunSpec,
    SessionName, Shell, ShellDefinitions, StdinSource, Streams, lock,
};
use agent_bash_process::supervisor::{StartError, SupervisorClient};
use async_trait::async_trait;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// Runs each script in its own shell, or in a named persistent shell. If the cache, or the future
/// of a call, is dropped, its shells and foreground commands are ended.
#[derive(Debug)]
pub struct ShellCache {
    inner: Arc<CacheInner>,
}

#[derive(Debug)]
struct CacheInner {
    options: ShellCacheOptions,
    pool: Pool,
    sessions: Sessions,
    snapshots: SnapshotCache,
    /// True while the task that ends idle shells runs.
    is_evicting: AtomicBool,
    /// The kind of a sandboxed shell that was started in advance. The shell's report answers the
    /// next [`Executor::sandbox_report`].
    advance_kind: Mutex<Option<ShellKind>>,
}

impl ShellCache {
    /// Returns [`ShellCacheOptions::jobs`].
    pub fn jobs(&self) -> Option<&Arc<Jobs>> {
        self.inner.options.jobs.as_ref()
    }

    /// Creates a cache without shells; the first call of a kind starts them.
    pub fn new(options: ShellCacheOptions) -> Self {
        let pool = Pool::new(options.warm_shells, Arc::clone(&options.clock));
        let snapshots = SnapshotCache::new(options.snapshot.clone());
        Self {
            inner: Arc::new(CacheInner {
                options,
                pool,
                sessions: Sessions::default(),
                snapshots,
                is_evicting: AtomicBool::new(false),
                advance_kind: Mutex::default(),
            }),
        }
    }

    /// Returns the number of warm shells that are ready.
    pub fn warm_shells(&self) -> usize {
        self.inner.pool.waiting()
    }

    /// Starts a shell in advance for one call, without waiting for the shell. The shell starts
    /// while the policy examines the call. Useful for programs that make a single call.
    ///
    /// The shell serves a call with the same shell, base environment, streams, limits, sandbox and
    /// `traced`, if the call has no session, trial or input. Without such a call, the shell ends
    /// with the cache. The report of a sandboxed shell answers the next
    /// [`Executor::sandbox_report`].
    ///
    /// # Panics
    /// Outside of a tokio runtime with I/O enabled.
    pub fn start_in_advance(
        &self,
        shell: &Shell,
        base: &Arc<BTreeMap<OsString, OsString>>,
        streams: Streams,
        limits: Limits,
        sandbox: Option<Arc<Plan>>,
        traced: bool,
    ) {
        let options = &self.inner.options;
        let is_sandboxed = sandbox.is_some();
        let kind = ShellKind::bare(shell, base, streams, limits);
        let kind = kind.in_sandbox(sandbox).traced(traced);
        let supervised = options.supervisor.start(base, &options.clock);
        match supervised
            .and_then(|supervised| start::request_warm(&kind, &options.directory, supervised))
        {
            Ok(shell) => {
                self.inner.pool.put_unreserved(&kind, shell);
                *lock(&self.inner.advance_kind) = is_sandboxed.then_some(kind);
            }
            // The call itself will report why it has no shell.
            Err(error) => tracing::debug!(%error, "no shell could be started in advance"),
        }
    }

    /// Waits for the sandboxed shell that was started in advance, and returns its report. With this
    /// report, no other sandbox has to be started as a test.
    async fn report_of_advance_shell(&self) -> Option<Report> {
        let kind = lock(&self.inner.advance_kind).take()?;
        let (requested, _) = self.inner.pool.take(&kind)?;
        match requested.ready().await {
            Ok(shell) => {
                let report = shell.fds.sandbox.clone();
                self.inner.pool.put_unreserved(&kind, shell.into());
                report
            }
            Err(error) => {
                tracing::debug!(%error, "a sandboxed shell could not be started in advance");
                None
            }
        }
    }

    /// Returns the parts of the user's configuration that calls in this shell, environment and
    /// directory load; an empty value if they load none. Reads the configuration if no call has
    /// done so.
    ///
    /// # Errors
    /// The configuration could not be read. Later calls do not report it again.
    pub async fn configured(
        &self,
        shell: &Shell,
        base: &Arc<BTreeMap<OsString, OsString>>,
        cwd: &Path,
    ) -> Result<ConfiguredNames, Notice> {
        let options = &self.inner.options;
        let snapshots = &self.inner.snapshots;
        let configured = snapshots.for_shell((shell, base), cwd, options.starter());
        let configured = configured.await;
        match (configured.snapshot, configured.notice) {
            (None, Some(notice)) => Err(notice),
            (snapshot, _) => Ok(snapshot
                .map(|snapshot| snapshot.configured())
                .unwrap_or_default()),
        }
    }

    /// Returns the persistent shells that calls have named, in order of first use.
    pub fn named_shells(&self) -> Vec<ShellInfo> {
        self.inner.sessions.list()
    }

    /// Returns the exports of the persistent shell with that name, as `export -p` prints them;
    /// `None` before the shell's first call has ended, and while a call runs.
    pub async fn exports_of(&self, name: &SessionName) -> Option<Vec<u8>> {
        let clock = &*self.inner.options.clock;
        self.inner.sessions.exports(name, clock).await
    }

    /// Returns the current functions, aliases and options of the persistent shell with that name;
    /// `None` before the shell's first call has ended, while a call runs, and if the definitions
    /// are longer than 4 MiB. Runs a script in the shell, which takes as long as a short command.
    pub async fn definitions_of(&self, name: &SessionName) -> Option<Definitions> {
        let options = &self.inner.options;
        Box::pin(self.inner.sessions.definitions(name, options)).await
    }

    /// Returns the functions, aliases, variables and options that calls in this shell, environment
    /// and directory have from the user's configuration, if they load it.
    pub async fn configured_definitions(
        &self,
        shell: &Shell,
        base: &Arc<BTreeMap<OsString, OsString>>,
        cwd: &Path,
    ) -> Option<Definitions> {
        let options = &self.inner.options;
        let snapshots = &self.inner.snapshots;
        let configured = snapshots.for_shell((shell, base), cwd, options.starter());
        // If the stored definitions cannot be read, commands run without a configuration.
        configured.await.snapshot?.definitions().ok()
    }

    /// Discards the persistent shell with that name and all its state. The next call with the name
    /// gets a new shell; a running call continues to its end. Returns false if there was no such
    /// shell.
    pub fn reset_named_shell(&self, name: &SessionName) -> bool {
        self.inner.sessions.reset(name)
    }

    /// Returns a shell for this call. Takes a warm shell of the same kind, if there is one and the
    /// call needs no property that must be set at a shell's start. Otherwise starts a new shell.
    async fn shell(&self, spec: &RunSpec, kind: &ShellKind) -> Result<ShellForCall, StartError> {
        // A warm shell waits outside of any trial and enters the trial with its call, because a
        // shell may cache files of a trial. A sandboxed shell cannot enter a trial later.
        if spec.pool.is_some()
            && (spec.trial.is_none() || spec.sandbox.is_none())
            && spec.shell.is_bash
            && spec.stdin == StdinSource::Null
            && exports::unexportable(&spec.env.changes).is_none()
            && let Some((shell, left)) = self.inner.pool.take(kind)
        {
            if left == 0 && self.inner.options.warm_shells > 0 {
                self.refill_later(kind);
            }
            match enter_trial(spec, shell).await {
                Ok(shell) => {
                    return Ok(ShellForCall {
                        shell,
                        is_warm: true,
                    });
                }
                Err(error) => tracing::debug!(%error, "a warm shell did not start"),
            }
        }
        self.new_shell(spec, kind, None).await
    }

    /// Starts a shell for this call, with a new supervisor. `pipe` is the stdin of a job.
    async fn new_shell(
        &self,
        spec: &RunSpec,
        kind: &ShellKind,
        pipe: Option<BorrowedFd<'_>>,
    ) -> Result<ShellForCall, StartError> {
        let options = &self.inner.options;
        let supervised = launch(&options.supervisor, &spec.env.base, &options.clock, true).await?;
        let stdin = std::io::stdin();
        let inherited = (spec.stdin == StdinSource::Inherit).then(|| stdin.as_fd());
        let call_start = CallStart {
            env_changes: spec.env.changes.clone().into_iter().collect(),
            stdin: pipe.or(inherited),
            trial: spec.trial.as_deref(),
        };
        let shell = start::shell(supervised, kind, &options.directory, call_start).await?;
        Ok(ShellForCall {
            shell,
            is_warm: false,
        })
    }

    /// Reuses the supervisor of a finished call for the next warm shell, if the supervisor has no
    /// processes left; otherwise closes the supervisor.
    async fn recycle_or_close(
        &self,
        spec: &RunSpec,
        kind: &ShellKind,
        supervised: Option<SupervisorClient>,
    ) {
        match supervised {
            Some(supervised) if spec.pool.is_none() => supervised.close().await,
            None if spec.pool.is_none() => {}
            // Closes the supervisor at once. The program may exit next, before another task could
            // reap the supervisor.
            Some(supervised) if self.inner.options.warm_shells == 0 => supervised.close().await,
            recycled => self.refill(kind, recycled, 1),
        }
    }
}

/// Waits until a requested shell is ready for a script. For a trial, moves the shell into the
/// trial's file view.
async fn enter_trial(spec: &RunSpec, shell: RequestedShell) -> Result<WaitingShell, StartError> {
    let mut shell = shell.ready().await?;
    if let Some(trial) = &spec.trial {
        shell.supervised.hold_back(trial).await?;
        shell.fds.held_back = true;
    }
    Ok(shell)
}

/// A shell that waits for a script, and its origin.
#[derive(Debug)]
struct ShellForCall {
    shell: WaitingShell,
    /// True if the shell was started before the call, so that the record must set the call's
    /// variables.
    is_warm: bool,
}

#[async_trait]
impl Executor for ShellCache {
    async fn sandbox_report(&self) -> Result<Report, NotStarted> {
        if let Some(report) = self.report_of_advance_shell().await {
            return Ok(report);
        }
        let options = &self.inner.options;
        let supervisor = &options.supervisor;
        supervisor
            .sandbox_report(&options.directory, &options.clock)
            .await
    }

    async fn check_trials(&self) -> Result<(), NotStarted> {
        Ok(())
    }

    async fn check_recording(&self) -> Result<(), String> {
        self.inner.options.supervisor.check_recording()
    }

    async fn configured(
        &self,
        shell: &Shell,
        base: &Arc<BTreeMap<OsString, OsString>>,
        cwd: &Path,
    ) -> Option<Arc<ShellDefinitions>> {
        let options = &self.inner.options;
        let snapshots = &self.inner.snapshots;
        let snapshot = snapshots.peek((shell, base), cwd, options.starter());
        Some(Arc::clone(snapshot.await?.defined()))
    }

    async fn defined_in(&self, session: &SessionName) -> Option<Arc<ShellDefinitions>> {
        Some(self.definitions_of(session).await?.defined)
    }

    fn session_cwd(&self, session: &SessionName) -> Option<PathBuf> {
        let mut shells = self.named_shells().into_iter();
        shells.find(|shell| shell.name == *session)?.cwd
    }

    async fn run(
        &self,
        spec: &RunSpec,
        out: &mut dyn OutputConsumer,
        cancel: &Cancel,
    ) -> Result<Outcome, NotStarted> {
        let options = &self.inner.options;
        if cancel.is_cancelled() {
            return Ok(cancelled_before(&*options.clock));
        }
        if let Some(invocation) = &spec.invocation {
            return direct::run(spec, invocation, options, out, cancel).await;
        }
        let snapshots = &self.inner.snapshots;
        if let (Some(_), Some(_)) = (&spec.session, &spec.trial) {
            let reason = "a persistent shell cannot run a trial; leave `session` out".to_owned();
            return Err(NotStarted::Trial { reason });
        }
        if let Some(name) = &spec.session {
            let sessions = &self.inner.sessions;
            let kind = ShellKind::of(spec, None);
            let call = sessions.run(name, &kind, spec, (snapshots, options), out, cancel);
            return Box::pin(call).await;
        }
        let mut configured = tokio::select! {
            biased;
            () = cancel.cancelled() => return Ok(cancelled_before(&*options.clock)),
            configured = snapshots.for_call(spec, &spec.cwd, options.starter()) => configured,
        };
        let kind = ShellKind::of(spec, configured.snapshot.take());
        let _running = self.inner.pool.enter();
        let mut acquired = self.shell(spec, &kind).await.map_err(NotStarted::from)?;
        loop {
            if cancel.is_cancelled() {
                self.recycle_or_close(spec, &kind, Some(acquired.shell.supervised))
                    .await;
                return Ok(cancelled_before(&*options.clock));
            }
            if let Some(reason) =
                untraced_refusal(spec, acquired.shell.fds.untraced_reason.as_ref())
            {
                let supervised = acquired.shell.supervised;
                self.recycle_or_close(spec, &kind, Some(supervised)).await;
                return Err(reason);
            }
            let ShellForCall { shell, is_warm } = acquired;
            let refused = match Call::hand_over(spec, shell, is_warm, options, cancel) {
                Err(refused) => refused,
                Ok(call) => {
                    let FinishedCall { result, supervised } = call.finish(out).await;
                    self.recycle_or_close(spec, &kind, supervised).await;
                    match result {
                        Ok(mut outcome) => {
                            configured.add_notices(spec, &mut outcome);
                            return Ok(outcome);
                        }
                        Err(UnstartedReason::Refused(error)) => return Err(error),
                        Err(UnstartedReason::RefusedHandoff(refused)) => refused,
                    }
                }
            };
            // A warm shell may have been killed while it waited, so a new shell is tried once.
            if !is_warm {
                return Err(refused.into());
            }
            acquired = self
                .new_shell(spec, &kind, None)
                .await
                .map_err(NotStarted::from)?;
        }
    }
}
