//! Where a commit may be interrupted, and what it takes care of: so that tests can interrupt it everywhere, and see that
//! each care is needed.

use std::fmt::Debug;
use std::io;

/// A point that a commit, an undo or a redo has reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// Nothing conflicts; nothing is written yet.
    Checked,
    /// The journal is written, under another name.
    Drafted,
    /// It is on disk.
    Synced,
    /// It has its name: from here on, whoever opens the store finishes it.
    Journaled,
    /// So many operations are done.
    Operated(usize),
    /// So many files have their attributes.
    Attributed(usize),
    /// It is recorded how all looks now.
    Recorded,
    /// It is over.
    Done,
    /// It is known of the set that was undone or redone; not yet of the one that does it.
    Settled,
}

/// Is told of each step. An error is taken as one of the next system call's.
#[doc(hidden)]
pub trait Steps: Debug + Send + Sync {
    /// This point is reached.
    ///
    /// # Errors
    /// What the system is to be taken to have said.
    fn at(&self, step: Step) -> io::Result<()>;
}

/// Goes on.
#[derive(Debug)]
pub(crate) struct Undisturbed;

impl Steps for Undisturbed {
    fn at(&self, _step: Step) -> io::Result<()> {
        Ok(())
    }
}

/// What a commit takes care of. Tests leave one of them out, and see what is lost without it.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Care {
    /// Files that others have changed are conflicts.
    pub conflicts: bool,
    /// The moment of the mark itself counts as before.
    pub before_mark: bool,
    /// The journal is on disk before anything is done.
    pub synced: bool,
    /// The marks of overlays are taken off.
    pub stripped: bool,
    /// What is created replaces nothing.
    pub no_replace: bool,
    /// What was swapped out or taken is looked at again.
    pub second_look: bool,
}

impl Default for Care {
    fn default() -> Self {
        Self {
            conflicts: true,
            before_mark: true,
            synced: true,
            stripped: true,
            no_replace: true,
            second_look: true,
        }
    }
}
