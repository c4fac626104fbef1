//! Warm shells: started in advance, waiting for a script, each used once. The pool limits their
//! number, groups them by the properties of their start, and ends idle shells.

use crate::snapshot::Snapshot;
use agent_bash_core::changes::Overlay;
use agent_bash_core::sandbox::Plan;
use agent_bash_core::{Clock, Limits, RunSpec, Shell, Streams, lock};
use agent_bash_process::Inherited;
use agent_bash_process::supervisor::{ShellFds, ShellSandbox, StartError, SupervisorClient};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// Maximum number of kinds of warm shells; the least recently used kind is removed first.
const MAX_KINDS: usize = 8;

/// Maximum ratio of warm shells to the wanted number after concurrent calls. The additional shells
/// use those calls' supervisors: a program that made concurrent calls is likely to do so again.
const RECYCLED_FACTOR: usize = 4;

/// A shell that waits for its script.
#[derive(Debug)]
pub(crate) struct WaitingShell {
    pub(crate) supervised: SupervisorClient,
    pub(crate) fds: ShellFds,
    /// The snapshot that the shell has loaded.
    pub(crate) snapshot: Option<Arc<Snapshot>>,
}

/// A shell that was requested from its supervisor, and may already wait for its script.
#[derive(Debug)]
pub(crate) struct RequestedShell {
    pub(crate) supervised: SupervisorClient,
    pub(crate) snapshot: Option<Arc<Snapshot>>,
    /// Set once the shell is ready.
    pub(crate) fds: Option<ShellFds>,
}

impl From<WaitingShell> for RequestedShell {
    fn from(shell: WaitingShell) -> Self {
        Self {
            supervised: shell.supervised,
            snapshot: shell.snapshot,
            fds: Some(shell.fds),
        }
    }
}

impl RequestedShell {
    /// Waits until the shell is ready for a script.
    pub(crate) async fn ready(self) -> Result<WaitingShell, StartError> {
        let mut supervised = self.supervised.handshake().await?;
        let fds = match self.fds {
            Some(fds) => fds,
            None => supervised.started().await?,
        };
        Ok(WaitingShell {
            supervised,
            fds,
            snapshot: self.snapshot,
        })
    }

    /// Returns true if the shell is ready for a script. Does not wait.
    ///
    /// # Errors
    /// The shell could not be started, or was killed.
    fn is_ready(&mut self) -> Result<bool, SpoiledShell> {
        match &self.fds {
            Some(_) if self.supervised.has_unread_event() => return Err(SpoiledShell),
            Some(_) => {}
            None => self.fds = self.supervised.try_started().map_err(|_| SpoiledShell)?,
        }
        Ok(self.fds.is_some())
    }
}

/// The error of a shell that has ended, or could not be started.
#[derive(Debug)]
struct SpoiledShell;

/// The properties that a shell is started with. A warm shell can only serve calls with equal
/// properties.
#[derive(Debug, Clone)]
pub(crate) struct ShellKind {
    pub(crate) shell: Shell,
    pub(crate) base: Arc<BTreeMap<OsString, OsString>>,
    pub(crate) snapshot: Option<Arc<Snapshot>>,
    pub(crate) limits: Limits,
    /// The output streams; `None` for a session, whose shell gets new streams with each call.
    pub(crate) streams: Option<Streams>,
    /// Umask and limits of this process; `None` for a session, whose shell has its own.
    inherited: Option<Inherited>,
    /// The plan of the shell's sandbox.
    sandbox: Option<Arc<Plan>>,
    /// True if the changes of calls may be recorded.
    traced: bool,
    /// True if the shell waits in its own mount namespace, so that it can enter a trial.
    private_mounts: bool,
    /// The number of the pool: only calls with the same number use the shell.
    pool: Option<u64>,
}

impl ShellKind {
    /// Returns the kind of a call without a session, a snapshot or a sandbox.
    pub(crate) fn bare(
        shell: &Shell,
        base: &Arc<BTreeMap<OsString, OsString>>,
        streams: Streams,
        limits: Limits,
    ) -> Self {
        Self {
            shell: shell.clone(),
            base: Arc::clone(base),
            snapshot: None,
            limits,
            streams: Some(streams),
            inherited: Some(Inherited::now()),
            sandbox: None,
            traced: false,
            private_mounts: false,
            pool: Some(0),
        }
    }

    /// Returns the kind of the shell that a call needs.
    pub(crate) fn of(spec: &RunSpec, snapshot: Option<Arc<Snapshot>>) -> Self {
        Self {
            shell: spec.shell.clone(),
            base: Arc::clone(&spec.env.base),
            snapshot,
            limits: spec.limits,
            streams: spec.session.is_none().then_some(spec.streams),
            inherited: spec.session.is_none().then(Inherited::now),
            sandbox: spec.sandbox.clone(),
            // A session uses the same shell for traced and untraced calls.
            traced: spec.trace.is_some() && spec.session.is_none(),
            // A sandboxed shell cannot enter a trial later: its sandbox is set up for the files of
            // the trial.
            private_mounts: spec.trial.is_some() && spec.sandbox.is_none(),
            pool: spec.pool,
        }
    }

    /// Sets the sandbox.
    pub(crate) fn in_sandbox(self, sandbox: Option<Arc<Plan>>) -> Self {
        Self { sandbox, ..self }
    }

    /// Sets whether the changes of calls are recorded.
    pub(crate) fn traced(self, traced: bool) -> Self {
        Self { traced, ..self }
    }

    /// Returns the sandbox of a shell of this kind, or of a trial. `directory` is the parent of its
    /// private directory.
    pub(crate) fn shell_sandbox(
        &self,
        directory: &Path,
        trial: Option<&Overlay>,
    ) -> Option<ShellSandbox> {
        let trace = self.traced && trial.is_none();
        let private_mounts = self.private_mounts && trial.is_none();
        (self.sandbox.is_some() || trial.is_some() || private_mounts || trace).then(|| {
            ShellSandbox {
                plan: self.sandbox.as_deref().cloned(),
                trial: trial.cloned(),
                private_mounts,
                trace,
                directory: directory.to_owned(),
                ..ShellSandbox::default()
            }
        })
    }

    /// True if all properties but the snapshot and the pool's number are equal. A session keeps its
    /// snapshot and its sandbox, even if the configuration changes.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        // Equal environments usually share one allocation.
        (Arc::ptr_eq(&self.base, &other.base) || self.base == other.base)
            && self.shell == other.shell
            && self.limits == other.limits
            && self.streams == other.streams
            && self.inherited == other.inherited
            && self.sandbox == other.sandbox
            && (self.traced, self.private_mounts) == (other.traced, other.private_mounts)
    }
}

impl PartialEq for ShellKind {
    fn eq(&self, other: &Self) -> bool {
        self.is_like(other)
            && self.pool == other.pool
            && self.snapshot.as_ref().map(Arc::as_ptr) == other.snapshot.as_ref().map(Arc::as_ptr)
    }
}

/// The warm shells of a cache.
#[derive(Debug)]
pub(crate) struct Pool {
    /// The wanted number of warm shells per kind.
    wanted_per_kind: usize,
    /// Number of running calls, whose supervisors will be reused.
    running: AtomicUsize,
    /// Maximum number of concurrent calls since the pool was empty.
    max_running: AtomicUsize,
    clock: Arc<dyn Clock>,
    shelves: Mutex<Vec<KindShelf>>,
}

/// The warm shells of one kind.
#[derive(Debug)]
struct KindShelf {
    kind: ShellKind,
    /// Oldest first: the oldest is most likely to be ready.
    shells: Vec<RequestedShell>,
    /// Number of shells that were reserved but not added yet.
    reserved: usize,
    /// True if a check for missing shells is planned.
    is_refill_due: bool,
    last_requested: Duration,
}

impl Pool {
    pub(crate) fn new(wanted_per_kind: usize, clock: Arc<dyn Clock>) -> Self {
        Self {
            wanted_per_kind,
            running: AtomicUsize::new(0),
            max_running: AtomicUsize::new(0),
            clock,
            shelves: Mutex::new(Vec::new()),
        }
    }

    /// Takes a shell of a kind, preferably a shell that is ready. Returns the shell and the number
    /// of remaining shells of the kind. Drops shells that were killed.
    pub(crate) fn take(&self, kind: &ShellKind) -> Option<(RequestedShell, usize)> {
        let mut all = self.lock();
        let own = shelf(&mut all, kind, self.clock.now());
        let mut index = 0;
        while index < own.shells.len() {
            match own.shells[index].is_ready() {
                Ok(true) => break,
                Ok(false) => index += 1,
                Err(SpoiledShell) => drop(own.shells.remove(index)),
            }
        }
        if own.shells.is_empty() {
            return None;
        }
        let taken = own.shells.remove(index % own.shells.len());
        Some((taken, own.shells.len()))
    }

    /// Reserves a slot if another shell of this kind is wanted, and returns true then.
    /// [`Pool::put`] or [`Pool::release`] must follow.
    pub(crate) fn reserve(&self, kind: &ShellKind) -> bool {
        self.reserve_up_to(kind, self.wanted_per_kind)
    }

    /// Reserves a slot for a shell with the supervisor of a finished call. Allows more shells than
    /// [`Self::reserve`]: in addition to the wanted number, as many as calls ran concurrently. Such
    /// calls are likely to be repeated, and a start of a supervisor costs more than an idle
    /// supervisor.
    pub(crate) fn reserve_recycled(&self, kind: &ShellKind) -> bool {
        let max_running = self.max_running.load(Ordering::Acquire);
        let limit = if self.others_run(1) {
            max_running + self.wanted_per_kind
        } else {
            // `max_running` counts the finished call, too.
            (max_running + self.wanted_per_kind)
                .saturating_sub(1)
                .min(self.wanted_per_kind * RECYCLED_FACTOR)
        };
        self.reserve_up_to(kind, limit)
    }

    /// Ends the warm shells beyond [`RECYCLED_FACTOR`]. One shell of a kind stays, because a call
    /// may be expected.
    fn trim(&self) {
        let stay = (self.wanted_per_kind * RECYCLED_FACTOR).max(1);
        let mut all = self.lock();
        let surplus = all.iter_mut().map(|shelf| {
            let stay = stay.min(shelf.shells.len());
            shelf.shells.split_off(stay)
        });
        let surplus: Vec<_> = surplus.collect();
        drop(all);
        drop(surplus);
    }

    /// Reserves a slot if fewer than `limit` shells of this kind are waiting or reserved.
    fn reserve_up_to(&self, kind: &ShellKind, limit: usize) -> bool {
        if self.wanted_per_kind == 0 {
            return false;
        }
        let mut all = self.lock();
        let own = shelf(&mut all, kind, self.clock.now());
        let wanted = own.shells.len() + own.reserved < limit;
        own.reserved += usize::from(wanted);
        wanted
    }

    /// True if no shell of this kind is waiting or reserved.
    pub(crate) fn has_none(&self, kind: &ShellKind) -> bool {
        let all = self.lock();
        let own = all.iter().find(|shelf| shelf.kind == *kind);
        own.is_none_or(|own| own.shells.is_empty() && own.reserved == 0)
    }

    /// Counts a call as running until the returned value is dropped.
    pub(crate) fn enter(&self) -> CountedCall<'_> {
        let running = self.running.fetch_add(1, Ordering::AcqRel) + 1;
        self.max_running.fetch_max(running, Ordering::AcqRel);
        CountedCall(self)
    }

    /// True if other calls run. `own_calls` is 1 if the caller is itself a running call, else 0.
    pub(crate) fn others_run(&self, own_calls: usize) -> bool {
        self.running.load(Ordering::Acquire) > own_calls
    }

    /// Adds a shell that was started in advance for one call, even beyond the wanted number.
    pub(crate) fn put_unreserved(&self, kind: &ShellKind, shell: RequestedShell) {
        let mut all = self.lock();
        let own = shelf(&mut all, kind, self.clock.now());
        own.shells.push(shell);
    }

    /// Adds a shell, for which a slot was reserved.
    pub(crate) fn put(&self, kind: &ShellKind, shell: RequestedShell) {
        let mut shelves = self.lock();
        // The shell is dropped if its kind was removed meanwhile.
        if let Some(shelf) = shelves.iter_mut().find(|shelf| shelf.kind == *kind) {
            shelf.reserved = shelf.reserved.saturating_sub(1);
            shelf.shells.push(shell);
        }
    }

    /// Releases a reserved slot.
    pub(crate) fn release(&self, kind: &ShellKind) {
        if let Some(shelf) = self.lock().iter_mut().find(|shelf| shelf.kind == *kind) {
            shelf.reserved = shelf.reserved.saturating_sub(1);
        }
    }

    /// Marks that a later check for missing shells is planned. Returns false if a check is already
    /// planned.
    pub(crate) fn schedule_refill(&self, kind: &ShellKind) -> bool {
        let mut all = self.lock();
        !std::mem::replace(
            &mut shelf(&mut all, kind, self.clock.now()).is_refill_due,
            true,
        )
    }

    /// Marks that the planned check has begun.
    pub(crate) fn refill_started(&self, kind: &ShellKind) {
        if let Some(shelf) = self.lock().iter_mut().find(|shelf| shelf.kind == *kind) {
            shelf.is_refill_due = false;
        }
    }

    /// Ends the shells of every kind that no call requested within `idle`. Returns the number of
    /// remaining kinds.
    pub(crate) fn evict(&self, idle: Duration) -> usize {
        let now = self.clock.now();
        let mut shelves = self.lock();
        shelves.retain(|shelf| now.saturating_sub(shelf.last_requested) < idle);
        if shelves.is_empty() {
            self.max_running.store(0, Ordering::Release);
        }
        shelves.len()
    }

    /// Returns the number of shells that are ready.
    pub(crate) fn waiting(&self) -> usize {
        let mut shelves = self.lock();
        let shells = shelves.iter_mut().flat_map(|shelf| &mut shelf.shells);
        shells
            .filter_map(|shell| shell.is_ready().ok())
            .filter(|ready| *ready)
            .count()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<KindShelf>> {
        lock(&self.shelves)
    }
}

/// Counts a running call until it is dropped. The last one ends the surplus of warm shells: calls
/// that finish at the same time all see each other run, and keep theirs.
#[derive(Debug)]
pub(crate) struct CountedCall<'a>(&'a Pool);

impl Drop for CountedCall<'_> {
    fn drop(&mut self) {
        if self.0.running.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.trim();
        }
    }
}

/// Returns the shelf of a kind, created if missing. If there are too many shelves, removes the
/// least recently used one.
fn shelf<'a>(
    shelves: &'a mut Vec<KindShelf>,
    kind: &ShellKind,
    now: Duration,
) -> &'a mut KindShelf {
    let index = shelves
        .iter()
        .position(|shelf| shelf.kind == *kind)
        .unwrap_or_else(|| {
            if shelves.len() >= MAX_KINDS
                && let Some(oldest) =
                    (0..shelves.len()).min_by_key(|index| shelves[*index].last_requested)
            {
                shelves.swap_remove(oldest);
            }
            shelves.push(KindShelf {
                kind: kind.clone(),
                shells: Vec::new(),
                reserved: 0,
                is_refill_due: false,
                last_requested: now,
            });
            shelves.len() - 1
        });
    let shelf = &mut shelves[index];
    shelf.last_requested = now;
    shelf
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_process::SystemClock;

    fn kind() -> ShellKind {
        let shell = Shell {
            path: "/bin/bash".into(),
            args: Vec::new(),
            is_bash: true,
        };
        ShellKind::bare(&shell, &Arc::default(), Streams::Merged, Limits::default())
    }

    #[test]
    fn recycled_slots_follow_the_concurrent_calls_while_one_runs() {
        let pool = Pool::new(2, Arc::new(SystemClock::new()));
        let kind = kind();
        let mut running: Vec<_> = (0..20).map(|_| pool.enter()).collect();
        let reserved = (0..30).filter(|_| pool.reserve_recycled(&kind)).count();
        assert_eq!(reserved, 22);
        (0..reserved).for_each(|_| pool.release(&kind));
        running.truncate(1);
        let reserved = (0..30).filter(|_| pool.reserve_recycled(&kind)).count();
        assert_eq!(reserved, 2 * RECYCLED_FACTOR);
    }

    /// If calls follow each other, only one of them runs at some moments.
    #[test]
    fn recycled_slots_remain_between_consecutive_calls() {
        let pool = Pool::new(2, Arc::new(SystemClock::new()));
        let kind = kind();
        let wanted = || {
            let wanted = (0..30).take_while(|_| pool.reserve_recycled(&kind)).count();
            (0..wanted).for_each(|_| pool.release(&kind));
            wanted
        };
        let _call = pool.enter();
        assert_eq!(wanted(), 2, "one call after the other");
        let other = pool.enter();
        assert_eq!(wanted(), 4);
        drop(other);
        assert_eq!(wanted(), 3, "two calls ran concurrently");
    }

    #[test]
    fn others_run_ignores_the_callers_own_call() {
        let pool = Pool::new(1, Arc::new(SystemClock::new()));
        assert!(!pool.others_run(0));
        let _call = pool.enter();
        assert!(pool.others_run(0));
        assert!(!pool.others_run(1));
    }
}
