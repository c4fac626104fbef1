//! Time as a seam: whoever waits or measures does it through a [`Clock`], so that tests can drive it.

use crate::Timestamp;
use async_trait::async_trait;
use std::time::Duration;

/// A source of time. The system's is `agent_bash_process::SystemClock`.
#[async_trait]
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// Monotonic time since an origin of the clock's own choosing. Only differences mean anything.
    fn now(&self) -> Duration;

    /// Wall-clock time, for showing and for comparing with files; it may jump.
    fn wall(&self) -> Timestamp;

    /// Returns when at least `duration` has passed on this clock.
    async fn sleep(&self, duration: Duration);
}
