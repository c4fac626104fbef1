//! Runs scripts in real bash.
//!
//! [`ShellCache`] is an [`agent_bash_core::Executor`]. The cache passes a script to bash by
//! descriptor, byte for byte. Bash runs the script as `bash -c` does, in its own terminal session
//! below a supervisor. The output is pushed to a consumer as it arrives. Each run returns exactly
//! one [`agent_bash_core::Outcome`], whatever the script does.
//!
//! Elsewhere: time limits and endings (`agent-bash-call`), ending process trees and naming
//! survivors (`agent-bash-process`), processing output (`agent-bash-sink`), and the decision
//! whether a script may run (`agent-bash-policy`).
//!
//! Modules: `options`, `cache` (the owner of all shells), `pool` (warm shells), `start`, `call`
//! (one call from hand-over to outcome), `direct` (a shell with its caller's arguments), `exports`
//! (a call's variables), `record` (the text by which a warm shell takes its script), `replace` (a
//! script that is one program), `session` (persistent shells), `streams` (reading the pipes),
//! `snapshot` (the user's configuration that shells load), `jobs` (commands that outlive their
//! host).

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
    Job, JobError, JobKind, JobListener, JobOutput, JobState, JobStdin, Jobs, JobsOptions,
    KillOutcome, OutputRange, WaitOutcome,
};
pub use options::ShellCacheOptions;
pub use session::{ShellInfo, sweep_sessions};
pub use snapshot::{
    BUILTINS, CaptureSandbox, ConfiguredNames, KEYWORDS, SnapshotOptions, exported_functions,
    sweep_snapshots,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
