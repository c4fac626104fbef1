//! The signal with which a caller cancels a run.

use std::future::Future;
use tokio_util::sync::CancellationToken;

/// A cancellation signal. Cheap to clone; clones share it. Once triggered it stays triggered.
#[derive(Debug, Clone, Default)]
pub struct Cancel(CancellationToken);

impl Cancel {
    /// Returns a signal that is not triggered.
    pub fn new() -> Self {
        Self::default()
    }

    /// Triggers the signal. Idempotent.
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// True if the signal was triggered.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Waits until the signal is triggered.
    pub fn cancelled(&self) -> impl Future<Output = ()> + '_ {
        self.0.cancelled()
    }

    /// Waits for the signal as [`Cancel::cancelled`] does, without borrowing.
    pub fn cancelled_owned(&self) -> impl Future<Output = ()> + Send + 'static + use<> {
        self.0.clone().cancelled_owned()
    }

    /// Returns a child signal: triggering the parent triggers the child, but not vice versa.
    #[must_use]
    pub fn child(&self) -> Self {
        Self(self.0.child_token())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cancel_reaches_children_and_not_parents() {
        let parent = Cancel::new();
        let child = parent.child();
        child.cancel();
        assert!(child.is_cancelled() && !parent.is_cancelled());
        let second = parent.child();
        parent.cancel();
        assert!(second.is_cancelled());
    }
}
