//! The system's clock.

use agent_bash_core::{Clock, Timestamp};
use async_trait::async_trait;
use std::time::{Duration, Instant, SystemTime};

/// A [`Clock`] based on the system's time and tokio's timers. Sleeping needs a tokio runtime with
/// time enabled.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    origin: Instant,
}

impl SystemClock {
    /// Returns a clock whose origin is now.
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    pub fn new() -> Self {
        Self {
            origin: Instant::now(),
        }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.origin.elapsed()
    }

    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    fn wall(&self) -> Timestamp {
        SystemTime::now().into()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}
