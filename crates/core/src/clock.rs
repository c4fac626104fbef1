//! The interface for time: all waiting and measuring goes through a [`Clock`], so that tests can
//! control it.

use crate::Timestamp;
use async_trait::async_trait;
use std::time::Duration;

/// A source of time. `agent_bash_process::SystemClock` is the system's.
#[async_trait]
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// Returns the monotonic time since an arbitrary origin. Only differences are meaningful.
    fn now(&self) -> Duration;

    /// Returns the wall-clock time, for display and for comparison with file times. It may jump.
    fn wall(&self) -> Timestamp;

    /// Returns when at least `duration` has passed on this clock.
    async fn sleep(&self, duration: Duration);
}
