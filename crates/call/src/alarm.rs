//! A timer for a deadline that moves.

use agent_bash_core::Clock;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// Waits for a deadline. A later deadline, which each chunk of output sets, costs nothing: the
/// timer fires at the old deadline and is re-armed then.
pub struct Alarm {
    clock: Arc<dyn Clock>,
    armed: Option<ArmedTimer>,
}

struct ArmedTimer {
    at: Duration,
    sleep: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Alarm {
    /// Returns an alarm whose timer is not armed.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, armed: None }
    }

    /// Waits until the clock shows `at`, or forever if `at` is `None`. Returns the time of the
    /// clock, which is not before `at`. Cancel safe.
    pub async fn wait_until(&mut self, at: Option<Duration>) -> Duration {
        let Some(at) = at else {
            return std::future::pending().await;
        };
        loop {
            let timer = match &mut self.armed {
                Some(timer) if timer.at <= at => timer,
                armed => armed.insert(ArmedTimer::new(&self.clock, at)),
            };
            timer.sleep.as_mut().await;
            let fired_at = timer.at;
            self.armed = None;
            if fired_at >= at {
                return self.clock.now().max(at);
            }
        }
    }
}

impl ArmedTimer {
    fn new(clock: &Arc<dyn Clock>, at: Duration) -> Self {
        let remaining = at.saturating_sub(clock.now());
        let clock = Arc::clone(clock);
        Self {
            at,
            sleep: Box::pin(async move { clock.sleep(remaining).await }),
        }
    }
}

impl std::fmt::Debug for Alarm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at = self.armed.as_ref().map(|timer| timer.at);
        f.debug_struct("Alarm")
            .field("at", &at)
            .finish_non_exhaustive()
    }
}
