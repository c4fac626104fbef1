//! The supervisor process. It does not use tokio, and its only threads are those of tracers.
//!
//! Modules: `entry` (becoming a supervisor), `fork` (becoming one as a fork of the host), `serve`
//! (the event loop), `shell` (the state of the current shell), `launch`, `direct`, `shell_command`
//! and `leader` (starting shells), `sandboxed_start` (starting them in a sandbox), `trace`
//! (observing their changes to files), `this_program` (starting this program again), `report` (a
//! shell's report at its end), `reaped` (the result of reaping), `terminal`, `limits` (resource
//! limits), `tree` (the processes of a call), `handles` (processes held by pidfd), `ladder` (ending
//! a tree), `relay` (reading the output of survivors and jobs), `session_processes` (survivors of a
//! session's calls), `job` (a call that outlives its host), `finishing` (a shell that may finish
//! after its host's end), `fallback` and `marked_processes` (operation without a separate process).

mod direct;
mod entry;
mod fallback;
mod finishing;
#[cfg(target_os = "linux")]
mod fork;
mod handles;
mod job;
mod ladder;
mod launch;
mod leader;
mod limits;
mod marked_processes;
mod reaped;
mod relay;
mod report;
mod sandboxed_start;
mod serve;
mod session_processes;
mod shell;
mod shell_command;
mod terminal;
mod this_program;
mod timeout_watcher;
#[cfg(target_os = "linux")]
mod trace;
#[cfg(not(target_os = "linux"))]
#[path = "server/no_trace.rs"]
mod trace;
mod tree;

pub use entry::{Token, init};
pub(super) use fallback::start as start_fallback;
#[cfg(target_os = "linux")]
pub(super) use fork::fork;
pub(super) use this_program::{SupervisorProgram, this_program};
pub(super) use trace::is_possible as is_tracing_possible;
