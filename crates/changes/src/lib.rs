//! What calls do to files: sets of changes that are held back, shown, committed, and taken back.
//!
//! A [`Store`] keeps sets below a state directory. A [`Set`] is one call's: either a *trial*, whose changes the kernel
//! puts into a directory of the set (an overlay), or a *trace*, whose changes are made in place while a [`Recorder`]
//! keeps what was there before. A call that nobody can watch is compared by two
//! [`Survey`]s. All become a list of operations, each one rename between the tree and the set;
//! committing, rolling back, undoing and redoing is the same list, forwards or backwards.
//!
//! No processes are started here and no clock is read: who mounts the overlay or watches the system calls is elsewhere.

mod alike;
mod apply;
mod attributes;
mod background;
mod changer;
mod codec;
mod contents;
mod diff;
mod error;
mod file_stat;
mod git_index;
mod held_plan;
mod inversion;
mod journal;
mod listing;
mod look_up;
mod mark;
mod meta;
mod modes;
mod numbers;
mod plan;
mod preimages;
mod prune;
mod put_back;
mod recorder;
mod recover;
mod recycle;
mod rooted_dir;
mod sample;
mod scan;
mod set;
mod size;
mod slots;
mod stale;
mod steps;
mod store;
mod traced;
mod transaction;
mod upper;
mod user;

pub use background::BackgroundChanges;
pub use changer::Changer;
pub use diff::{Diffs, FileDiff, Text};
pub use error::ChangesError;
pub use inversion::Preview;
pub use look_up::Listed;
pub use recorder::{KeepOutcome, Recorder, Touch};
pub use sample::Sample;
pub use scan::Scan;
pub use set::ChangeSet;
pub use size::size_of;
#[doc(hidden)]
pub use steps::{Care, Step, Steps};
pub use store::{Limits, Store};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
