//! Follows one call from the hand-over of its script to its outcome. Shared by `agent-bash-exec`
//! (pipes) and `agent-bash-pty` (a terminal), which differ only in the source of the output and in
//! how a shell reads its script.
//!
//! - [`launch`]: starts a supervisor for the call, with one retry, or a thread that replaces a
//!   supervisor that cannot be started.
//! - [`Watchdog`]: enforces the time limit, cancellation, and a kill by the user at the terminal.
//! - [`enter_directory`], [`exec_redirections`], [`POSIX_READ_SCRIPT`]: shell code that both crates
//!   use.
//! - [`Follower`]: follows the call to its end, reads its [`Source`], and handles the remaining
//!   processes. A state machine without a runtime (`machine`) decides each step; tests feed it
//!   tables of events.
//! - [`SurvivorHandover`]: hands survivors and their output over to their supervisor, as a job of a
//!   [`SurvivorRegistry`].
//! - [`Recording`]: records the changes of the call until all of its processes have ended.
//! - [`ScriptFile`]: determines whether the shell read its script.
//! - [`Alarm`]: a timer for a deadline that moves.
//! - [`ending`]: maps the observed end of a shell to the
//!   [`ScriptEnding`](agent_bash_core::ScriptEnding) of its call.
//!
//! Not here: starting and ending processes (`agent-bash-process`), how a shell reads its script,
//! and the source of its output (`agent-bash-exec`, `agent-bash-pty`).

mod alarm;
mod ending;
mod follow;
mod handover;
mod launch;
mod machine;
mod recording;
mod script;
mod shell_text;
mod source;
mod watchdog;

pub use alarm::Alarm;
pub use ending::{cancelled_before, ending};
pub use follow::{FollowedCall, Follower, ShellEnded};
pub use handover::{Adoption, OpenOutput, SurvivorHandover, SurvivorRegistry};
pub use launch::{launch, supervisor_notices};
pub use machine::MAX_AFTER_GRACE;
pub use recording::Recording;
pub use script::{
    NO_DIRECTORY_MARK, RefusedHandoff, ScriptFile, TOO_OLD_MARK, UnstartedReason, no_directory,
    too_old,
};
pub use shell_text::{
    POSIX_READ_SCRIPT, ShellDialect, enter_directory, exec_redirections, load_definitions,
};
pub use source::{Progress, Source, StopLimit};
pub use watchdog::{EndReason, ReportProbe, Watchdog, WatchdogSignals, fired};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
