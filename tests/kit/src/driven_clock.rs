//! A clock on which one time limit passes only when a test advances it. Tests thus wait for no
//! timeout, and no timeout passes early on a slow machine.

use agent_bash_core::{Clock, Timestamp};
use agent_bash_process::SystemClock;
use async_trait::async_trait;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The limit that does not pass by itself.
pub const LIMIT: Duration = Duration::from_secs(123_456);

/// The system's clock, except for one duration, normally [`LIMIT`].
#[derive(Debug)]
pub struct DrivenClock {
    system: SystemClock,
    held: Duration,
    passed: CancellationToken,
    /// The time added by [`Self::advance`], in seconds.
    ahead: AtomicU64,
}

impl Default for DrivenClock {
    fn default() -> Self {
        Self::new()
    }
}

impl DrivenClock {
    /// Creates a clock that holds [`LIMIT`].
    pub fn new() -> Self {
        Self::holding(LIMIT)
    }

    /// Creates a clock on which sleeps of this duration, or slightly less, last until
    /// [`Self::pass`].
    pub fn holding(held: Duration) -> Self {
        Self {
            held,
            system: SystemClock::new(),
            passed: CancellationToken::new(),
            ahead: AtomicU64::new(0),
        }
    }

    /// Makes the held limit pass.
    pub fn pass(&self) {
        self.passed.cancel();
    }

    /// Advances [`Clock::now`]; sleepers are not woken.
    pub fn advance(&self, seconds: u64) {
        self.ahead.fetch_add(seconds, Ordering::Relaxed);
    }
}

#[async_trait]
impl Clock for DrivenClock {
    fn now(&self) -> Duration {
        self.system.now() + Duration::from_secs(self.ahead.load(Ordering::Relaxed))
    }

    fn wall(&self) -> Timestamp {
        self.system.wall()
    }

    async fn sleep(&self, duration: Duration) {
        // A slightly shorter sleep is the remainder of a limit, and is held, too.
        if duration <= self.held && duration > self.held * 9 / 10 {
            self.passed.cancelled().await;
        } else {
            self.system.sleep(duration).await;
        }
    }
}
