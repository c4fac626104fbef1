//! Starts warm shells for later calls, and ends idle ones.

use super::{CacheInner, ShellCache};
use crate::pool::{RequestedShell, ShellKind};
use crate::start;
use agent_bash_call::launch;
use agent_bash_process::supervisor::{StartError, SupervisorClient};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Delay before a warm shell is started in the background, after a call has taken the last one.
/// Most calls end within this time, and their own supervisors then start the shell.
const REFILL_AFTER: Duration = Duration::from_millis(50);

impl ShellCache {
    /// Starts warm shells after a call. The call's supervisor, if it has no processes left, starts
    /// the next one. If no other call runs, new supervisors start the remaining ones up to the
    /// wanted number; otherwise the supervisors of the running calls will start them. `own_calls`
    /// is 1 if the caller is counted as a running call.
    pub(super) fn refill(
        &self,
        kind: &ShellKind,
        recycled: Option<SupervisorClient>,
        own_calls: usize,
    ) {
        if !kind.shell.is_bash {
            return;
        }
        if let Some(supervised) = recycled
            && self.inner.pool.reserve_recycled(kind)
        {
            // Not in a task, because the next call may follow immediately.
            let shell = start::request_warm(kind, &self.inner.options.directory, supervised);
            self.inner.put_or_release(kind, shell);
        }
        if !self.inner.pool.others_run(own_calls) {
            refill_with_new(&self.inner, kind);
        } else if self.inner.pool.has_none(kind) {
            self.refill_later(kind);
        }
        if self.inner.options.warm_shells > 0
            && !self.inner.is_evicting.swap(true, Ordering::AcqRel)
        {
            spawn_evictor(Arc::downgrade(&self.inner));
        }
    }

    /// Starts warm shells after a delay, unless running calls have provided one by then.
    pub(super) fn refill_later(&self, kind: &ShellKind) {
        if !self.inner.pool.schedule_refill(kind) {
            return;
        }
        let (cache, kind) = (Arc::downgrade(&self.inner), kind.clone());
        let clock = Arc::clone(&self.inner.options.clock);
        tokio::spawn(async move {
            clock.sleep(REFILL_AFTER).await;
            if let Some(inner) = cache.upgrade() {
                inner.pool.refill_started(&kind);
                if inner.pool.has_none(&kind) {
                    refill_with_new(&inner, &kind);
                }
            }
        });
    }
}

impl CacheInner {
    /// Puts a requested shell into its reserved slot of the pool, or releases the slot.
    fn put_or_release(&self, kind: &ShellKind, shell: Result<RequestedShell, StartError>) {
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

/// Starts a reserved warm shell with a new supervisor. Holds a weak reference: a dropped cache
/// needs no more shells.
fn spawn_refill(cache: Weak<CacheInner>, kind: ShellKind) {
    tokio::spawn(async move {
        let Some(options) = cache.upgrade().map(|inner| inner.options.clone()) else {
            return;
        };
        let supervised = launch(&options.supervisor, &kind.base, &options.clock, true).await;
        let shell = supervised
            .and_then(|supervised| start::request_warm(&kind, &options.directory, supervised));
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
