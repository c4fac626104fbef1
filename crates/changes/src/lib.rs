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
//! The modules depend on each other in one direction: `files`, `plan`, `store`, `sources`, `diff`,
//! `undo`, each on those before it.
//!
//! This crate starts no process and reads no clock. The crate `sandbox` mounts the overlay, and the
//! crate `process` traces system calls.

mod diff;
mod error;
mod files;
mod plan;
mod sources;
mod store;
mod undo;

pub use diff::{DiffText, Diffs, FileDiff};
pub use error::{ChangesError, GroupConflicts};
pub use files::size::size_of;
#[doc(hidden)]
pub use plan::steps::{Precautions, Step, Steps};
pub use sources::background::BackgroundChanges;
pub use sources::recorder::{OutsideFile, RecordOutcome, Recorder, Touch};
pub use sources::scan::DirectoryScan;
pub use store::changer::LaterChanger;
pub use store::set::ChangeSet;
pub use store::temporary_trial::TemporaryTrial;
pub use store::turn_marks::TurnSign;
pub use store::turns::LAST_TURN;
pub use store::{Store, StoreLimits};
pub use undo::group::{ChangesScope, GroupPreview, MemberPreview};
pub use undo::group_run::GroupDone;
pub use undo::inversion::Preview;
pub use undo::look_up::ListedChanges;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
