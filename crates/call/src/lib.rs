//! One call, from the moment its script was handed over to its outcome. Below `agent-bash-exec` (pipes) and
//! `agent-bash-pty` (a terminal), which differ in where output comes from and in how a shell takes its script, and in
//! nothing else.
//!
//! - [`launch`]: a supervisor for the call, with one retry, and a thread in its place where there can be none.
//! - [`Watchdog`]: time limit, cancellation, and the kill of a person at the terminal.
//! - [`enter`], [`exec`], [`PLAIN_TAKE`]: what shells on both are told alike.
//! - [`Follower`]: follows the call to its end, reads its [`Source`], and deals with whoever is left. What it does when is
//!   decided by a state machine (`machine`), which has no runtime and is tested by tables.
//! - [`SurvivorHandover`]: leaves survivors, and what they print, to their supervisor, as a job of a [`SurvivorRegistry`].
//! - [`ScriptFile`]: whether the shell has taken its script at all.
//! - [`Alarm`]: a timer for a deadline that moves.
//! - [`ending`]: from what was seen of a shell's end to the [`Ending`](agent_bash_core::Ending) of its call.
//!
//! What is *not* here: how processes are started and ended (`agent-bash-process`), how a shell takes its script and what
//! its output is read from (`agent-bash-exec`, `agent-bash-pty`).

mod alarm;
mod ending;
mod follow;
mod handover;
mod launch;
mod machine;
mod script;
mod shell_text;
mod source;
mod watchdog;

pub use alarm::Alarm;
pub use ending::{cancelled_before, ending};
pub use follow::{Ended, Followed, Follower};
pub use handover::{Adoption, OpenOutput, SurvivorHandover, SurvivorRegistry};
pub use launch::{launch, notice_of_fallback};
pub use machine::AFTER_GRACE;
pub use script::{
    NO_DIRECTORY, RefusedHandoff, ScriptFile, TOO_OLD, Unstarted, is_bash, no_directory, too_old,
};
pub use shell_text::{PLAIN_TAKE, Reader, enter, exec};
pub use source::{Progress, Source};
pub use watchdog::{Reason, Signals, Watchdog, fired};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
