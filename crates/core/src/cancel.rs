//! The signal with which a caller cancels a run.

use std::future::Future;
use tokio_util::sync::CancellationToken;

/// A cancellation signal. Cheap to clone; clones share it. Once triggered it stays triggered.
#[derive(Debug, Clone, Default)]
pub struct Cancel(CancellationToken);

impl Cancel {
    /// A signal that has not been triggered.
    pub fn new() -> Self {
        Self::default()
    }

    /// Triggers the signal. Idempotent.
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// Whether it was triggered.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Waits until it is triggered.
    pub fn cancelled(&self) -> impl Future<Output = ()> + '_ {
        self.0.cancelled()
    }

    /// As [`Cancel::cancelled`], without borrowing.
    pub fn cancelled_owned(&self) -> impl Future<Output = ()> + Send + 'static + use<> {
        self.0.clone().cancelled_owned()
    }

    /// A signal that is triggered along with this one, but not the other way round.
    #[must_use]
    pub fn child(&self) -> Self {
        Self(self.0.child_token())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_hears_its_parent_and_not_the_reverse() {
        let parent = Cancel::new();
        let child = parent.child();
        child.cancel();
        assert!(child.is_cancelled() && !parent.is_cancelled());
        let second = parent.child();
        parent.cancel();
        assert!(second.is_cancelled());
    }
}
