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
mod beneath;
mod changer;
mod codec;
mod contents;
mod diff;
mod error;
mod git_index;
mod journal;
mod kept;
mod late;
mod listing;
mod look_up;
mod mark;
mod meta;
mod modes;
mod numbers;
mod photo;
mod plan;
mod prune;
mod put_back;
mod recorder;
mod recover;
mod sample;
mod seen;
mod set;
mod size;
mod slots;
mod spare;
mod stale;
mod steps;
mod store;
mod survey;
mod traced;
mod transaction;
mod turn;
mod upper;
mod user;

pub use changer::Changer;
pub use diff::{Diffs, FileDiff, Text};
pub use error::ChangesError;
pub use late::Late;
pub use look_up::Listed;
pub use recorder::{Kept, Recorder, Touch};
pub use sample::Sample;
pub use set::Set;
pub use size::size_of;
#[doc(hidden)]
pub use steps::{Care, Step, Steps};
pub use store::{Limits, Store};
pub use survey::Survey;
pub use turn::Preview;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
