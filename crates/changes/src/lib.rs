//! Change sets: the changes of calls to files, recorded, shown, committed and undone.
//!
//! A [`Store`] holds change sets below a state directory. Each session (the name of a conversation)
//! has a directory of its own in the store. A [`ChangeSet`] belongs to one call. It is a *trial*,
//! whose changes overlayfs writes to a directory of the set, or a *trace*, whose changes are made
//! in place while a [`Recorder`] stores preimages. A call that cannot be traced is compared by two
//! [`DirectoryScan`]s. From a trial, a trace or a scan comes a plan: a list of renames between the
//! tree (the user's files) and the directory of the change set. Commit, rollback, undo and redo
//! apply a plan forwards or backwards.
//!
//! This crate starts no process and reads no clock. The crate `sandbox` mounts the overlay, and the
//! crate `process` traces system calls.

mod accounting;
mod apply;
mod assumed_files;
mod attributes;
mod background;
mod changer;
mod codec;
mod contents;
mod diff;
mod error;
mod expected_files;
mod file_comparison;
mod file_stat;
mod further_names;
mod git_index;
mod group;
mod group_run;
mod held_plan;
mod hold;
mod inversion;
mod journal;
mod known_numbers;
mod listing;
mod look_up;
mod mark;
mod meta;
mod modes;
mod numbers;
mod plan;
mod preimages;
mod prune;
mod recorder;
mod recover;
mod recycle;
mod restored_files;
mod rooted_dir;
mod scan;
mod set;
mod size;
mod slots;
mod stale;
mod steps;
mod store;
mod system;
mod temporary_trial;
mod traced;
mod transaction;
mod turn_marks;
mod turns;
mod unfinished;
mod upper;
mod user;

pub use background::BackgroundChanges;
pub use changer::LaterChanger;
pub use diff::{DiffText, Diffs, FileDiff};
pub use error::{ChangesError, GroupConflicts};
pub use group::{ChangesScope, GroupPreview, MemberPreview};
pub use group_run::GroupDone;
pub use inversion::Preview;
pub use look_up::ListedChanges;
pub use recorder::{OutsideFile, RecordOutcome, Recorder, Touch};
pub use scan::DirectoryScan;
pub use set::ChangeSet;
pub use size::size_of;
#[doc(hidden)]
pub use steps::{Precautions, Step, Steps};
pub use store::{Store, StoreLimits};
pub use temporary_trial::TemporaryTrial;
pub use turn_marks::TurnSign;
pub use turns::LAST_TURN;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
