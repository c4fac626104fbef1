//! One call, from the moment its script was handed over to its outcome. Below `agent-bash-exec` (pipes) and
//! `agent-bash-pty` (a terminal), which differ in where output comes from and in how a shell takes its script, and in
//! nothing else.
//!
//! - [`launch`]: a supervisor for the call, with one retry, and a thread in its place where there can be none.
//! - [`Watchdog`]: time limit, cancellation, and the kill of a person at the terminal.
//! - [`enter`], [`exec`], [`refusal`]: what both are told alike, and say alike.
//! - [`ending`]: from what was seen of a shell's end to the [`Ending`](agent_bash_core::Ending) of its call.
//!
//! What is *not* here: how processes are started and ended (`agent-bash-process`), how a shell takes its script and what
//! its output is read from (`agent-bash-exec`, `agent-bash-pty`).

mod ending;
mod launch;
mod shell_text;
mod watchdog;

pub use ending::{cancelled_before, ending};
pub use launch::{launch, notice_of_fallback};
pub use shell_text::{Reader, TOO_OLD, enter, exec, refusal, too_old};
pub use watchdog::{Reason, Signals, Watchdog, fired};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
