//! The interface for time: all waiting and measuring goes through a [`Clock`], so that tests can
//! control it.

use crate::Timestamp;
use async_trait::async_trait;
use std::time::Duration;

/// A source of time. The system's is `agent_bash_process::SystemClock`.
#[async_trait]
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// Monotonic time since an arbitrary origin. Only differences are meaningful.
    fn now(&self) -> Duration;

    /// Wall-clock time, for display and for comparison with file times; it may jump.
    fn wall(&self) -> Timestamp;

    /// Returns when at least `duration` has passed on this clock.
    async fn sleep(&self, duration: Duration);
}
