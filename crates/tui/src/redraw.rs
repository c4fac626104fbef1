//! Wakes the event loop when a running command has printed something.

use std::sync::Arc;
use std::task::Wake;
use std::time::Duration;
use tokio::sync::Notify;

/// Minimum time between two frames.
pub(crate) const MIN_FRAME_INTERVAL: Duration = Duration::from_micros(16_667);

/// A waker for live output that makes the event loop draw again.
#[derive(Debug, Default)]
pub(crate) struct Redraw(Notify);

impl Redraw {
    /// Waits until something has been printed since the last wait.
    pub(crate) async fn wanted(&self) {
        self.0.notified().await;
    }
}

impl Wake for Redraw {
    fn wake(self: Arc<Self>) {
        self.0.notify_one();
    }
}
