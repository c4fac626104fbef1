//! The signal by which a caller calls a run off.

use std::future::Future;
use tokio_util::sync::CancellationToken;

/// A cancellation signal: cheap to clone, all clones are the same signal. Once given it stays given.
#[derive(Debug, Clone, Default)]
pub struct Cancel(CancellationToken);

impl Cancel {
    /// A signal that nobody has given yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives the signal. Giving it twice changes nothing.
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// Whether the signal was given.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Waits until the signal is given; at once if it was.
    pub fn cancelled(&self) -> impl Future<Output = ()> + '_ {
        self.0.cancelled()
    }

    /// As [`Cancel::cancelled`], for a task of its own.
    pub fn cancelled_owned(&self) -> impl Future<Output = ()> + Send + 'static + use<> {
        self.0.clone().cancelled_owned()
    }

    /// A signal that is given when this one is, but not the other way round.
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
