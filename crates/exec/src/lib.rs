//! Runs scripts in real bash.
//!
//! [`ShellCache`] is an [`agent_bash_core::Executor`]: a script is passed in by descriptor, byte
//! for byte; bash runs it as `bash -c` would, in a session of its own, below a supervisor; its
//! output is pushed to a consumer as it comes; and exactly one [`agent_bash_core::Outcome`] is
//! returned, whatever the script does.
//!
//! Other crates have time limits and endings (`agent-bash-call`), ending a tree and naming
//! survivors (`agent-bash-process`), processing output (`agent-bash-sink`), and the decision
//! whether the script may run (`agent-bash-policy`).
//!
//! Modules: `options`, `cache` (the owner of all shells), `pool` (warm shells), `start`, `call`
//! (one call from hand-over to outcome), `record` (the text by which a waiting shell takes its
//! script), `replace` (a script that is one program), `session` (persistent shells), `streams`
//! (reading the pipes), `snapshot` (the user's configuration that shells load), `jobs` (commands
//! that outlive their host).

mod cache;
mod call;
mod direct;
mod exports;
mod jobs;
mod options;
mod pool;
mod record;
mod replace;
mod session;
mod snapshot;
mod start;
mod streams;

pub use agent_bash_core as core;
pub use agent_bash_process as process;
pub use cache::ShellCache;
pub use jobs::{
    Job, JobError, JobKind, JobOutput, JobState, JobStdin, Jobs, JobsOptions, KillOutcome,
    OutputRange, WaitOutcome,
};
pub use options::ShellCacheOptions;
pub use session::{ShellInfo, sweep_sessions};
pub use snapshot::{BUILTINS, ConfiguredNames, KEYWORDS, SnapshotOptions, sweep_snapshots};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
