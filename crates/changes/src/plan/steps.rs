//! The steps of a commit and its precautions. Tests interrupt a commit at each step, and disable
//! each precaution to see that it is needed.

use std::fmt::Debug;
use std::io;

/// A step of a commit, an undo or a redo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// There are no conflicts; nothing is written yet.
    Checked,
    /// The journal is written under a temporary name.
    Drafted,
    /// The journal is synced.
    Synced,
    /// The journal has its name: from now on, the next process that opens the store completes it.
    Journaled,
    /// The given number of operations is done.
    Operated(usize),
    /// The given number of files has the new attributes.
    Attributed(usize),
    /// The final state is recorded.
    Recorded,
    /// The operation is complete.
    Done,
    /// The undone or redone change set has its new state; the undo's own set does not yet.
    Settled,
}

/// An observer of each step. An error of the observer counts as an error of the next system call.
#[doc(hidden)]
pub trait Steps: Debug + Send + Sync {
    /// Reports that a step is reached.
    ///
    /// # Errors
    /// The test wants the next system call to fail with this error.
    fn at(&self, step: Step) -> io::Result<()>;
}

/// Observes nothing.
#[derive(Debug)]
pub(crate) struct Undisturbed;

impl Steps for Undisturbed {
    fn at(&self, _step: Step) -> io::Result<()> {
        Ok(())
    }
}

/// The precautions of a commit; true means enabled. Tests disable one at a time.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Precautions {
    /// Files changed by other processes are conflicts.
    pub conflicts: bool,
    /// Changes at the moment of the mark count as earlier.
    pub before_mark: bool,
    /// The journal is synced before the first operation.
    pub synced: bool,
    /// Attributes of overlayfs are removed.
    pub stripped: bool,
    /// A created file never replaces an existing one.
    pub no_replace: bool,
    /// A file that was moved from the tree to a slot is checked again.
    pub rechecks: bool,
}

impl Default for Precautions {
    fn default() -> Self {
        Self {
            conflicts: true,
            before_mark: true,
            synced: true,
            stripped: true,
            no_replace: true,
            rechecks: true,
        }
    }
}
