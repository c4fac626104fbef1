//! Warm shells: started ahead, waiting for a script, each used once. Limited in number, grouped by
//! what they were started with, ended when they are not needed.

use crate::snapshot::Snapshot;
use agent_bash_core::changes::Overlay;
use agent_bash_core::sandbox::Plan;
use agent_bash_core::{Clock, Limits, RunSpec, Shell, Streams};
use agent_bash_process::Inherited;
use agent_bash_process::supervisor::{ShellFds, ShellSandbox, StartError, SupervisorClient};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Limit of kinds of warm shells; the least recently used one is evicted.
const MAX_KINDS: usize = 8;

/// Largest ratio of kept shells to the wanted number after concurrent calls. The extra shells wait
/// below those calls' supervisors: a program that made concurrent calls is likely to do so again.
const RECYCLED_FACTOR: usize = 4;

/// A shell that waits for its script.
#[derive(Debug)]
pub(crate) struct WaitingShell {
    pub(crate) supervised: SupervisorClient,
    pub(crate) fds: ShellFds,
    /// The snapshot it has loaded.
    pub(crate) snapshot: Option<Arc<Snapshot>>,
}

/// A shell that was ordered, and may already be waiting for its script.
#[derive(Debug)]
pub(crate) struct ComingShell {
    pub(crate) supervised: SupervisorClient,
    pub(crate) snapshot: Option<Arc<Snapshot>>,
    /// Known once it is ready.
    pub(crate) fds: Option<ShellFds>,
}

impl From<WaitingShell> for ComingShell {
    fn from(shell: WaitingShell) -> Self {
        Self {
            supervised: shell.supervised,
            snapshot: shell.snapshot,
            fds: Some(shell.fds),
        }
    }
}

impl ComingShell {
    /// Waits until it waits.
    pub(crate) async fn started(self) -> Result<WaitingShell, StartError> {
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
    /// It could not be started, or was killed.
    fn look(&mut self) -> Result<bool, SpoiledShell> {
        match &self.fds {
            Some(_) if self.supervised.has_spoken() => return Err(SpoiledShell),
            Some(_) => {}
            None => self.fds = self.supervised.try_started().map_err(|_| SpoiledShell)?,
        }
        Ok(self.fds.is_some())
    }
}

/// A shell that will never be ready.
#[derive(Debug)]
struct SpoiledShell;

/// Everything that a shell has from its start. A warm shell can only serve calls for which all of
/// it is the same.
#[derive(Debug, Clone)]
pub(crate) struct ShellKind {
    pub(crate) shell: Shell,
    pub(crate) base: Arc<BTreeMap<OsString, OsString>>,
    pub(crate) snapshot: Option<Arc<Snapshot>>,
    pub(crate) limits: Limits,
    /// `None` for a session, whose shell gets new streams with each call …
    pub(crate) streams: Option<Streams>,
    /// … and has its own umask and limits.
    inherited: Option<Inherited>,
    /// The box it is in.
    sandbox: Option<Arc<Plan>>,
    /// True if the changes of calls may be recorded.
    traced: bool,
    /// True if the shell waits in a mount namespace of its own, for a trial.
    private_mounts: bool,
    /// The number of the calls that it is for.
    pool: Option<u64>,
}

impl ShellKind {
    /// The kind of a call without a session, a snapshot or a box.
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

    pub(crate) fn of(spec: &RunSpec, snapshot: Option<Arc<Snapshot>>) -> Self {
        Self {
            shell: spec.shell.clone(),
            base: Arc::clone(&spec.env.base),
            snapshot,
            limits: spec.limits,
            streams: spec.session.is_none().then_some(spec.streams),
            inherited: spec.session.is_none().then(Inherited::now),
            sandbox: spec.sandbox.clone(),
            // A session's shell may be watched or not: it is one session all the same.
            traced: spec.trace.is_some() && spec.session.is_none(),
            // A box names what lies in the view, so that it is closed once that is mounted.
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

    /// Returns the sandbox of a shell of this kind, for a trial if there is one. `directory` is the
    /// parent of its private directory.
    pub(crate) fn kept_in(
        &self,
        directory: &Path,
        trial: Option<&Overlay>,
    ) -> Option<ShellSandbox> {
        let trace = self.traced && trial.is_none();
        let apart = self.private_mounts && trial.is_none();
        (self.sandbox.is_some() || trial.is_some() || apart || trace).then(|| ShellSandbox {
            plan: self.sandbox.as_deref().cloned(),
            trial: trial.cloned(),
            private_mounts: apart,
            trace,
            directory: directory.to_owned(),
            writable: Vec::new(),
        })
    }
}

impl ShellKind {
    /// True if all but the snapshot and the plan's number are equal. A session keeps what it has
    /// loaded, and its sandbox, even if the configuration changes.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        // Usually the same environment is the same allocation.
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
    size: usize,
    /// Running calls whose supervisors will be reused.
    running: AtomicUsize,
    /// Maximum of them at once since the pool was empty.
    most: AtomicUsize,
    clock: Arc<dyn Clock>,
    shelves: Mutex<Vec<KindShelf>>,
}

#[derive(Debug)]
struct KindShelf {
    kind: ShellKind,
    /// Oldest first: it is most likely to be ready.
    shells: Vec<ComingShell>,
    /// Reserved, but not here yet.
    reserved: usize,
    /// True if a check for missing shells is planned.
    refill_due: bool,
    last_asked: Duration,
}

impl Pool {
    /// A pool of at most `size` shells per kind.
    pub(crate) fn new(size: usize, clock: Arc<dyn Clock>) -> Self {
        Self {
            size,
            running: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
            clock,
            shelves: Mutex::new(Vec::new()),
        }
    }

    /// A shell, preferably one that is ready, and how many of its kind remain. Shells that were
    /// killed are dropped.
    pub(crate) fn take(&self, kind: &ShellKind) -> Option<(ComingShell, usize)> {
        let mut all = self.lock();
        let own = shelf(&mut all, kind, self.clock.now());
        let mut index = 0;
        while index < own.shells.len() {
            match own.shells[index].look() {
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

    /// True if another shell of this kind is wanted. If so it counts as coming: [`Pool::put`] or
    /// [`Pool::give_up`] must follow.
    pub(crate) fn reserve(&self, kind: &ShellKind) -> bool {
        self.reserve_of(kind, self.size)
    }

    /// Reserves a shell below the supervisor of a call that has ended. More of these are kept than
    /// of others: as many as ran concurrently, in addition to the wanted number. They are about to
    /// be needed again, and each one not kept means starting another supervisor, even if no other
    /// call runs.
    pub(crate) fn reserve_recycled(&self, kind: &ShellKind) -> bool {
        let most = self.most.load(Ordering::Acquire);
        let at_most = if self.run_beside(1) {
            most + self.size
        } else {
            // The call that asks is one of the most.
            (most + self.size)
                .saturating_sub(1)
                .min(self.size * RECYCLED_FACTOR)
        };
        self.reserve_of(kind, at_most)
    }

    /// Ends surplus warm shells when no call runs.
    pub(crate) fn trim(&self, kind: &ShellKind) {
        let mut all = self.lock();
        let own = all.iter_mut().find(|shelf| shelf.kind == *kind);
        let surplus = own.map(|own| {
            let stay = (self.size * RECYCLED_FACTOR).min(own.shells.len());
            own.shells.split_off(stay)
        });
        drop(all);
        drop(surplus);
    }

    fn reserve_of(&self, kind: &ShellKind, at_most: usize) -> bool {
        if self.size == 0 {
            return false;
        }
        let mut all = self.lock();
        let own = shelf(&mut all, kind, self.clock.now());
        let wanted = own.shells.len() + own.reserved < at_most;
        own.reserved += usize::from(wanted);
        wanted
    }

    /// True if no shell of this kind is waiting or coming.
    pub(crate) fn is_out_of(&self, kind: &ShellKind) -> bool {
        let all = self.lock();
        let own = all.iter().find(|shelf| shelf.kind == *kind);
        own.is_none_or(|own| own.shells.is_empty() && own.reserved == 0)
    }

    /// Counts a call as running until the returned value is dropped.
    pub(crate) fn enter(&self) -> CountedCall<'_> {
        let running = self.running.fetch_add(1, Ordering::AcqRel) + 1;
        self.most.fetch_max(running, Ordering::AcqRel);
        CountedCall(&self.running)
    }

    /// True if other calls run. `own` is 1 if the caller is itself a call.
    pub(crate) fn run_beside(&self, own: usize) -> bool {
        self.running.load(Ordering::Acquire) > own
    }

    /// Adds a shell for an announced call, whatever number is wanted.
    pub(crate) fn put_for_one(&self, kind: &ShellKind, shell: ComingShell) {
        let mut all = self.lock();
        let own = shelf(&mut all, kind, self.clock.now());
        own.shells.push(shell);
    }

    /// Adds a reserved shell.
    pub(crate) fn put(&self, kind: &ShellKind, shell: ComingShell) {
        let mut shelves = self.lock();
        // If its kind was evicted meanwhile, the shell is not needed.
        if let Some(shelf) = shelves.iter_mut().find(|shelf| shelf.kind == *kind) {
            shelf.reserved = shelf.reserved.saturating_sub(1);
            shelf.shells.push(shell);
        }
    }

    /// A reserved shell will not come.
    pub(crate) fn give_up(&self, kind: &ShellKind) {
        if let Some(shelf) = self.lock().iter_mut().find(|shelf| shelf.kind == *kind) {
            shelf.reserved = shelf.reserved.saturating_sub(1);
        }
    }

    /// Plans a later check whether a kind needs more shells. False if one is already planned.
    pub(crate) fn schedule_refill(&self, kind: &ShellKind) -> bool {
        let mut all = self.lock();
        !std::mem::replace(
            &mut shelf(&mut all, kind, self.clock.now()).refill_due,
            true,
        )
    }

    /// Clears the pending refill.
    pub(crate) fn refill_started(&self, kind: &ShellKind) {
        if let Some(shelf) = self.lock().iter_mut().find(|shelf| shelf.kind == *kind) {
            shelf.refill_due = false;
        }
    }

    /// Ends the shells of every kind not requested within `idle`. Returns how many kinds are left.
    pub(crate) fn evict(&self, idle: Duration) -> usize {
        let now = self.clock.now();
        let mut shelves = self.lock();
        shelves.retain(|shelf| now.saturating_sub(shelf.last_asked) < idle);
        if shelves.is_empty() {
            self.most.store(0, Ordering::Release);
        }
        shelves.len()
    }

    /// Number of waiting shells.
    pub(crate) fn waiting(&self) -> usize {
        let mut shelves = self.lock();
        let shells = shelves.iter_mut().flat_map(|shelf| &mut shelf.shells);
        shells
            .filter_map(|shell| shell.look().ok())
            .filter(|ready| *ready)
            .count()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<KindShelf>> {
        // Ignores poisoning: no operation leaves the list inconsistent while holding the lock.
        self.shelves.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A running call.
#[derive(Debug)]
pub(crate) struct CountedCall<'a>(&'a AtomicUsize);

impl Drop for CountedCall<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The shelf of a kind, created if missing; if there are too many, the least recently used one is
/// removed.
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
                    (0..shelves.len()).min_by_key(|index| shelves[*index].last_asked)
            {
                shelves.swap_remove(oldest);
            }
            shelves.push(KindShelf {
                kind: kind.clone(),
                shells: Vec::new(),
                reserved: 0,
                refill_due: false,
                last_asked: now,
            });
            shelves.len() - 1
        });
    let shelf = &mut shelves[index];
    shelf.last_asked = now;
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
    fn as_many_stay_as_ran_at_once_while_some_run() {
        let pool = Pool::new(2, Arc::new(SystemClock::new()));
        let kind = kind();
        let mut running: Vec<_> = (0..20).map(|_| pool.enter()).collect();
        let reserved = (0..30).filter(|_| pool.reserve_recycled(&kind)).count();
        assert_eq!(reserved, 22);
        (0..reserved).for_each(|_| pool.give_up(&kind));
        running.truncate(1);
        let reserved = (0..30).filter(|_| pool.reserve_recycled(&kind)).count();
        assert_eq!(reserved, 2 * RECYCLED_FACTOR);
    }

    /// If calls follow each other, only one of them runs at some moments.
    #[test]
    fn no_supervisor_of_two_concurrent_calls_is_given_up_between_two_calls() {
        let pool = Pool::new(2, Arc::new(SystemClock::new()));
        let kind = kind();
        let wanted = || {
            let wanted = (0..30).take_while(|_| pool.reserve_recycled(&kind)).count();
            (0..wanted).for_each(|_| pool.give_up(&kind));
            wanted
        };
        let _call = pool.enter();
        assert_eq!(wanted(), 2, "one call after the other");
        let other = pool.enter();
        assert_eq!(wanted(), 4);
        drop(other);
        assert_eq!(wanted(), 3, "the other's and two");
    }

    #[test]
    fn one_call_runs_beside_what_is_no_call_but_not_beside_itself() {
        let pool = Pool::new(1, Arc::new(SystemClock::new()));
        assert!(!pool.run_beside(0));
        let _call = pool.enter();
        assert!(pool.run_beside(0));
        assert!(!pool.run_beside(1));
    }
}
