//! The sandbox: the process of a call restricts itself with Landlock, seccomp and, where they work,
//! namespaces, and then becomes the shell. [`Plan`] is the policy, [`LauncherStart`] starts a
//! launcher, [`init`] is the launcher itself.
//!
//! On systems other than Linux, this crate only resolves plans: no launcher starts.

#![cfg_attr(not(target_os = "linux"), allow(dead_code, unused_imports))]

mod error;
mod launcher;
mod networks;
mod path_lookup;
mod plan;
mod report;
mod resolve;
mod restricted;
mod start;

#[cfg(target_os = "linux")]
mod base;
#[cfg(target_os = "linux")]
mod full;
#[cfg(target_os = "linux")]
mod restrict;
#[cfg(target_os = "linux")]
mod sockets;
#[cfg(not(target_os = "linux"))]
#[path = "no_sockets.rs"]
mod sockets;
#[cfg(target_os = "linux")]
pub mod trace;
#[cfg(target_os = "linux")]
pub mod view;
#[cfg(not(target_os = "linux"))]
#[path = "no_view.rs"]
pub mod view;

pub use agent_bash_core::sandbox::{MissingPromise, Network, Plan, Report, Tier, WriteLevel};
pub use error::SandboxError;
pub use launcher::{PROCESS_NAME, init};
pub use networks::{
    ListenerReceiver, NetworkEntrance, NetworkRole, NetworkUse, Networks, PROXY_PORT,
};
pub use plan::{Order, TraceScope};
pub use resolve::{
    ChangedPath, HostFacts, KnownWorkspace, NameScan, NotCached, ParentDirectories, PathIdentity,
    PlanStamp, ResolveError, ResolvedSandbox, WantedSandbox, leads_out, links_and_target,
    protected_among, repository_config, resolve, user_secrets, with_resolved_parent, workspace,
};
pub use sockets::SocketGuard;
pub use start::{LauncherStart, StartedProgram};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
