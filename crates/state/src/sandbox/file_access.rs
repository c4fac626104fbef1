//! Accesses files within a time limit: an unresponsive file system must not delay a result.

use crate::blocking::Threads;
use agent_bash_core::Clock;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Time limit of an access.
const ACCESS_TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum number of concurrent accesses. Each may occupy a thread for long, because a thread that
/// a file system blocks cannot be ended.
const MAX_CONCURRENT: usize = 64;

/// Runs file accesses on other threads. Clones share the limit and the threads.
#[derive(Debug, Clone, Default)]
pub struct TimedFileAccess {
    count: Arc<AtomicUsize>,
    threads: Threads,
}

impl TimedFileAccess {
    /// Runs `work` on another thread and returns its result. `None` if the time limit passes or if
    /// too many accesses are running.
    pub async fn within_limit<T: Send + 'static>(
        &self,
        clock: &dyn Clock,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let permit = AccessPermit::acquire(&self.count)?;
        let result = self.threads.run(move || {
            let result = work();
            drop(permit);
            result
        });
        tokio::select! {
            biased;
            result = result => result.ok(),
            () = clock.sleep(ACCESS_TIMEOUT) => None,
        }
    }

    /// Runs `work` without a time limit, on the same threads as [`Self::within_limit`].
    ///
    /// # Errors
    /// See [`run_blocking`](crate::run_blocking()).
    pub async fn unlimited<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<T> {
        self.threads.run(work).await
    }
}

/// The permit of a running access, released on drop.
struct AccessPermit(Arc<AtomicUsize>);

impl AccessPermit {
    /// Returns a permit; `None` if [`MAX_CONCURRENT`] accesses are running.
    fn acquire(count: &Arc<AtomicUsize>) -> Option<Self> {
        let permit = Self(Arc::clone(count));
        (count.fetch_add(1, Ordering::Relaxed) < MAX_CONCURRENT).then_some(permit)
    }
}

impl Drop for AccessPermit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_process::SystemClock;
    use agent_bash_test_kit::driven_clock::DrivenClock;
    use std::sync::mpsc;

    #[tokio::test]
    async fn within_limit_returns_none_after_the_time_limit() {
        let (clock, file_access) = (
            DrivenClock::holding(ACCESS_TIMEOUT),
            TimedFileAccess::default(),
        );
        assert_eq!(file_access.within_limit(&clock, || 7).await, Some(7));
        let (open, gate) = mpsc::channel::<()>();
        clock.pass();
        assert_eq!(
            file_access
                .within_limit(&clock, move || gate.recv().is_ok())
                .await,
            None
        );
        // A blocked access does not delay the next one.
        let clock = SystemClock::new();
        assert_eq!(file_access.within_limit(&clock, || 8).await, Some(8));
        drop(open);
    }

    #[tokio::test]
    async fn within_limit_returns_none_beyond_the_maximum_of_accesses() {
        let (clock, file_access) = (SystemClock::new(), TimedFileAccess::default());
        let stuck: Vec<_> = (0..MAX_CONCURRENT)
            .filter_map(|_| AccessPermit::acquire(&file_access.count))
            .collect();
        assert_eq!(file_access.within_limit(&clock, || 7).await, None);
        drop(stuck);
        assert_eq!(file_access.within_limit(&clock, || 7).await, Some(7));
    }
}
