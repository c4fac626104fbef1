//! The owner of all shells of a host, and the executor of its calls.

mod start_job;

use crate::call::{Call, FinishedCall};
use crate::direct;
use crate::exports;
use crate::jobs::Jobs;
use crate::options::ShellCacheOptions;
use crate::pool::{ComingShell, Pool, ShellKind, WaitingShell};
use crate::session::{Sessions, ShellInfo};
use crate::snapshot::{ConfiguredNames, SnapshotCache};
use crate::start::{self, CallStart, unrecorded};
use agent_bash_call::{UnstartedReason, cancelled_before, launch};
use agent_bash_core::sandbox::{Plan, Report};
use agent_bash_core::{
    Cancel, Definitions, Executor, Limits, NotStarted, Notice, Outcome, OutputConsumer, RunSpec,
    SessionName, Shell, ShellDefinitions, StdinSource, Streams,
};
use agent_bash_process::supervisor::{StartError, SupervisorClient};
use async_trait::async_trait;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// Delay before a warm shell is started in the background, after a call has taken the last one.
/// Most calls end within this time, and their own supervisors then start the shell.
const REFILL_AFTER: Duration = Duration::from_millis(50);

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
    /// The kind of a sandboxed shell that was started in advance. Its report answers the next
    /// [`Executor::confines`].
    expected: Mutex<Option<ShellKind>>,
}

impl ShellCache {
    /// Returns the background jobs, if the options name any.
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
                expected: Mutex::default(),
            }),
        }
    }

    /// Returns the number of warm shells that are ready.
    pub fn warm(&self) -> usize {
        self.inner.pool.waiting()
    }

    /// Starts a shell in advance for one call, without waiting for the shell. The shell starts
    /// while the policy examines the call. Useful for programs that make a single call.
    ///
    /// The shell serves a call with the same shell, base environment, streams, limits, sandbox and
    /// `traced`, if the call has no session, trial or input. Without such a call, the shell ends
    /// with the cache. The report of a sandboxed shell answers the next [`Executor::confines`].
    ///
    /// # Panics
    /// Outside of a tokio runtime with I/O enabled.
    pub fn expect(
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
        match supervised.and_then(|supervised| order(&kind, &options.directory, supervised)) {
            Ok(shell) => {
                self.inner.pool.put_for_one(&kind, shell);
                *self.inner.lock_expected() = is_sandboxed.then_some(kind);
            }
            // The call itself will report why it has no shell.
            Err(error) => tracing::debug!(%error, "no shell could be started in advance"),
        }
    }

    /// Waits for the sandboxed shell that was started in advance, and returns its report. With this
    /// report, no other sandbox has to be started as a test.
    async fn report_of_expected(&self) -> Option<Report> {
        let kind = self.inner.lock_expected().take()?;
        let (coming, _) = self.inner.pool.take(&kind)?;
        match coming.ready().await {
            Ok(shell) => {
                let report = shell.fds.sandbox.clone();
                self.inner.pool.put_for_one(&kind, shell.into());
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
        let configured =
            snapshots.for_shell((shell, base), cwd, &options.supervisor, &options.clock);
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
    /// are longer than 1 MiB. Runs a script in the shell, which takes as long as a short command.
    pub async fn definitions_of(&self, name: &SessionName) -> Option<Definitions> {
        let options = &self.inner.options;
        self.inner.sessions.definitions(name, options).await
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
        let configured =
            snapshots.for_shell((shell, base), cwd, &options.supervisor, &options.clock);
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
                Err(error) => tracing::debug!(%error, "an ordered shell did not start"),
            }
        }
        self.new_shell(spec, kind).await
    }

    /// Starts a shell for this call, with a new supervisor.
    async fn new_shell(
        &self,
        spec: &RunSpec,
        kind: &ShellKind,
    ) -> Result<ShellForCall, StartError> {
        let options = &self.inner.options;
        let supervised = launch(&options.supervisor, &spec.env.base, &options.clock, true).await?;
        let changes = spec.env.changes.clone().into_iter().collect();
        let stdin = std::io::stdin();
        let call_start = CallStart {
            env_changes: changes,
            stdin: (spec.stdin == StdinSource::Inherit).then(|| stdin.as_fd()),
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

    /// Starts warm shells after a call. The call's supervisor, if it has no processes left, starts
    /// the next one. If no other call runs, new supervisors start the remaining ones up to the
    /// wanted number; otherwise the supervisors of the running calls will start them. `own_calls`
    /// is 1 if the caller is counted as a running call.
    fn refill(&self, kind: &ShellKind, recycled: Option<SupervisorClient>, own_calls: usize) {
        if !kind.shell.is_bash {
            return;
        }
        if let Some(supervised) = recycled
            && self.inner.pool.reserve_recycled(kind)
        {
            // Not in a task, because the next call may follow immediately.
            let shell = order(kind, &self.inner.options.directory, supervised);
            self.inner.put_or_release(kind, shell);
        }
        if !self.inner.pool.others_run(own_calls) {
            self.inner.pool.trim(kind);
            refill_with_new(&self.inner, kind);
        } else if self.inner.pool.is_out_of(kind) {
            self.refill_later(kind);
        }
        if self.inner.options.warm_shells > 0
            && !self.inner.is_evicting.swap(true, Ordering::AcqRel)
        {
            spawn_evictor(Arc::downgrade(&self.inner));
        }
    }

    /// Starts warm shells after a delay, unless running calls have provided one by then.
    fn refill_later(&self, kind: &ShellKind) {
        if !self.inner.pool.schedule_refill(kind) {
            return;
        }
        let (cache, kind) = (Arc::downgrade(&self.inner), kind.clone());
        let clock = Arc::clone(&self.inner.options.clock);
        tokio::spawn(async move {
            clock.sleep(REFILL_AFTER).await;
            if let Some(inner) = cache.upgrade() {
                inner.pool.refill_started(&kind);
                if inner.pool.is_out_of(&kind) {
                    refill_with_new(&inner, &kind);
                }
            }
        });
    }
}

impl CacheInner {
    fn lock_expected(&self) -> MutexGuard<'_, Option<ShellKind>> {
        self.expected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts an ordered shell into its reserved slot of the pool, or releases the slot.
    fn put_or_release(&self, kind: &ShellKind, shell: Result<ComingShell, StartError>) {
        match shell {
            Ok(shell) => self.pool.put(kind, shell),
            Err(error) => {
                tracing::debug!(%error, "a warm shell could not be started");
                self.pool.release(kind);
            }
        }
    }
}

/// Starts warm shells with new supervisors, up to the wanted number.
fn refill_with_new(cache: &Arc<CacheInner>, kind: &ShellKind) {
    while cache.pool.reserve(kind) {
        spawn_refill(Arc::downgrade(cache), kind.clone());
    }
}

/// Orders a warm shell from a supervisor.
fn order(
    kind: &ShellKind,
    directory: &Path,
    supervised: SupervisorClient,
) -> Result<ComingShell, StartError> {
    start::order(supervised, kind, directory, CallStart::default())
}

/// Waits until an ordered shell is ready for a script. For a trial, moves the shell into the
/// trial's file view.
async fn enter_trial(spec: &RunSpec, shell: ComingShell) -> Result<WaitingShell, StartError> {
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

/// Starts a reserved warm shell with a new supervisor. Holds a weak reference: a dropped cache
/// needs no more shells.
fn spawn_refill(cache: Weak<CacheInner>, kind: ShellKind) {
    tokio::spawn(async move {
        let Some(options) = cache.upgrade().map(|inner| inner.options.clone()) else {
            return;
        };
        let supervised = launch(&options.supervisor, &kind.base, &options.clock, true).await;
        let shell = supervised.and_then(|supervised| order(&kind, &options.directory, supervised));
        if let Some(inner) = cache.upgrade() {
            inner.put_or_release(&kind, shell);
        }
    });
}

/// Ends idle shells regularly until none is left, or the cache is dropped.
fn spawn_evictor(cache: Weak<CacheInner>) {
    tokio::spawn(async move {
        loop {
            let Some(options) = cache.upgrade().map(|inner| inner.options.clone()) else {
                return;
            };
            options.clock.sleep(options.idle).await;
            let Some(inner) = cache.upgrade() else { return };
            if inner.pool.evict(options.idle) == 0 {
                inner.is_evicting.store(false, Ordering::Release);
                return;
            }
        }
    });
}

#[async_trait]
impl Executor for ShellCache {
    async fn confines(&self) -> Result<Report, NotStarted> {
        if let Some(report) = self.report_of_expected().await {
            return Ok(report);
        }
        let options = &self.inner.options;
        let supervisor = &options.supervisor;
        supervisor
            .confines(&options.directory, &options.clock)
            .await
    }

    async fn holds_back(&self) -> Result<(), NotStarted> {
        Ok(())
    }

    async fn watches(&self) -> Result<(), String> {
        self.inner.options.supervisor.watches()
    }

    async fn configured(
        &self,
        shell: &Shell,
        base: &Arc<BTreeMap<OsString, OsString>>,
        cwd: &Path,
    ) -> Option<Arc<ShellDefinitions>> {
        let options = &self.inner.options;
        let snapshots = &self.inner.snapshots;
        let (supervisor, clock) = (&options.supervisor, &options.clock);
        let snapshot = snapshots.peek((shell, base), cwd, supervisor, clock);
        Some(Arc::clone(snapshot.await?.defined()))
    }

    async fn defined_in(&self, session: &SessionName) -> Option<Arc<ShellDefinitions>> {
        Some(self.definitions_of(session).await?.defined)
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
            let ran = sessions.run(name, &kind, spec, (snapshots, options), out, cancel);
            return Box::pin(ran).await;
        }
        let mut configured = tokio::select! {
            biased;
            () = cancel.cancelled() => return Ok(cancelled_before(&*options.clock)),
            configured = snapshots.for_call(spec, &spec.cwd, &options.supervisor, &options.clock) => configured,
        };
        let kind = ShellKind::of(spec, configured.snapshot.take());
        let _running = self.inner.pool.enter();
        let mut handover = self.shell(spec, &kind).await.map_err(NotStarted::from)?;
        loop {
            if cancel.is_cancelled() {
                self.recycle_or_close(spec, &kind, Some(handover.shell.supervised))
                    .await;
                return Ok(cancelled_before(&*options.clock));
            }
            if let Some(reason) = unrecorded(spec, handover.shell.fds.unwatched.as_ref()) {
                let supervised = handover.shell.supervised;
                self.recycle_or_close(spec, &kind, Some(supervised)).await;
                return Err(reason);
            }
            let ShellForCall { shell, is_warm } = handover;
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
            handover = self
                .new_shell(spec, &kind)
                .await
                .map_err(NotStarted::from)?;
        }
    }
}
