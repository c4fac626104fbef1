//! Runs scripts in real bash.
//!
//! [`ShellCache`] is an [`agent_bash_core::Executor`]: a script goes in by descriptor, byte for byte; bash runs it as
//! `bash -c` would, in a session of its own, below a supervisor; what it prints is pushed into a consumer as it comes;
//! one [`agent_bash_core::Outcome`] comes out, whatever the script does.
//!
//! What is *not* here: time limits and endings (`agent-bash-call`), how a tree is ended and survivors are named (`agent-bash-process`), what becomes of the output
//! (`agent-bash-sink`), whether the script may run at all (`agent-bash-policy`).
//!
//! Parts: `cache` (the owner of all shells), `pool` (those that wait), `start`, `call` (one call from hand-over to outcome), `record` (the text by which
//! a waiting shell takes its script), `streams` (reading the pipes),
//! `snapshot` (what shells have of the user's), `jobs` (what goes on without its host).

mod cache;
mod call;
mod exports;
mod jobs;
mod pool;
mod record;
mod session;
mod snapshot;
mod start;
mod streams;

pub use agent_bash_core as core;
pub use agent_bash_process as process;
pub use cache::{ShellCache, ShellCacheOptions};
pub use jobs::{
    Job, JobError, JobKind, JobOutput, JobState, JobStdin, Jobs, JobsOptions, Killed, OutputRange,
    Waited,
};
pub use session::{ShellInfo, sweep_sessions};
pub use snapshot::{SnapshotOptions, sweep_snapshots};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
