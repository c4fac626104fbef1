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
    set: Option<SetAlarm>,
}

struct SetAlarm {
    at: Duration,
    sleep: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Alarm {
    /// Returns an alarm whose timer is not armed.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, set: None }
    }

    /// Waits until `at` on the clock, or forever if that is `None`. Returns the time, which is not
    /// before `at`. Cancel safe.
    pub async fn at(&mut self, at: Option<Duration>) -> Duration {
        let Some(at) = at else {
            return std::future::pending().await;
        };
        loop {
            let set = match &mut self.set {
                Some(set) if set.at <= at => set,
                set => set.insert(SetAlarm::new(&self.clock, at)),
            };
            set.sleep.as_mut().await;
            let fired_at = set.at;
            self.set = None;
            if fired_at >= at {
                return self.clock.now().max(at);
            }
        }
    }
}

impl SetAlarm {
    fn new(clock: &Arc<dyn Clock>, at: Duration) -> Self {
        let left = at.saturating_sub(clock.now());
        let clock = Arc::clone(clock);
        Self {
            at,
            sleep: Box::pin(async move { clock.sleep(left).await }),
        }
    }
}

impl std::fmt::Debug for Alarm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at = self.set.as_ref().map(|set| set.at);
        f.debug_struct("Alarm")
            .field("at", &at)
            .finish_non_exhaustive()
    }
}
