//! Examines files within a time limit: a hung file system must not delay a result.

use crate::blocking::Threads;
use agent_bash_core::Clock;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Time limit of a look.
const LOOK_TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum number of concurrent looks: a thread that a file system blocks stays.
const MAX_LOOKS: usize = 64;

/// The looks that are under way. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileSystemLooks {
    count: Arc<AtomicUsize>,
    threads: Threads,
}

impl FileSystemLooks {
    /// Returns the result of `work`; `None` if it is not known in time.
    pub(crate) async fn look<T: Send + 'static>(
        &self,
        clock: &dyn Clock,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let look = UnderWay::begin(&self.count)?;
        let found = self.threads.run(move || {
            let found = work();
            drop(look);
            found
        });
        tokio::select! {
            biased;
            found = found => found.ok(),
            () = clock.sleep(LOOK_TIMEOUT) => None,
        }
    }

    /// Work that takes the time it takes, by the same threads.
    ///
    /// # Errors
    /// As for [`apart`](crate::apart()).
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<T> {
        self.threads.run(work).await
    }
}

/// A look that is under way, until this is dropped.
struct UnderWay(Arc<AtomicUsize>);

impl UnderWay {
    fn begin(count: &Arc<AtomicUsize>) -> Option<Self> {
        let look = Self(Arc::clone(count));
        (count.fetch_add(1, Ordering::Relaxed) < MAX_LOOKS).then_some(look)
    }
}

impl Drop for UnderWay {
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
    async fn what_is_not_known_in_time_is_left_out() {
        let (clock, looks) = (
            DrivenClock::holding(LOOK_TIMEOUT),
            FileSystemLooks::default(),
        );
        assert_eq!(looks.look(&clock, || 7).await, Some(7));
        let (open, gate) = mpsc::channel::<()>();
        clock.pass();
        assert_eq!(looks.look(&clock, move || gate.recv().is_ok()).await, None);
        // The next one is not held up by it.
        let clock = SystemClock::new();
        assert_eq!(looks.look(&clock, || 8).await, Some(8));
        drop(open);
    }

    #[tokio::test]
    async fn threads_that_do_not_come_back_are_not_added_to_without_end() {
        let (clock, looks) = (SystemClock::new(), FileSystemLooks::default());
        let stuck: Vec<_> = (0..MAX_LOOKS)
            .filter_map(|_| UnderWay::begin(&looks.count))
            .collect();
        assert_eq!(looks.look(&clock, || 7).await, None);
        drop(stuck);
        assert_eq!(looks.look(&clock, || 7).await, Some(7));
    }
}
