//! Applies a call's resource limits to its shell after its start and before its script; everything
//! that the script starts inherits the limits. Limits that a cgroup enforces hold for all processes
//! of the call together, the others for each process.

use crate::cgroup::{CallCgroup, TreeLimits};
use agent_bash_core::Limits;
use std::io;

/// Seconds of CPU time between SIGXCPU and SIGKILL.
#[cfg(target_os = "linux")]
const CPU_GRACE_S: u64 = 2;

/// Sets the limits of a child, which must not be reaped yet, and of the descendants of `root`.
/// Never raises a limit that is already in force. Returns the child's cgroup, if it gets one, and
/// the report for the host.
#[cfg(target_os = "linux")]
pub(super) fn apply(
    pid: i32,
    root: i32,
    limits: &Limits,
) -> io::Result<(Option<CallCgroup>, TreeLimits)> {
    use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

    let (cgroup, report) = CallCgroup::start(limits, pid, root);
    let tree = cgroup.as_ref().map(|cgroup| *cgroup.tree().limits());
    let tree = tree.unwrap_or_default();
    let pid = Pid::from_raw(pid);
    let mib = |megabytes: u64| megabytes.saturating_mul(1 << 20);
    let memory_mb = limits.memory_mb.filter(|_| tree.memory_mb.is_none());
    let processes = limits.processes.filter(|_| tree.processes.is_none());
    for (resource, limit, grace) in [
        (Resource::Cpu, limits.cpu_s, CPU_GRACE_S),
        (Resource::As, memory_mb.map(mib), 0),
        (Resource::Nproc, processes, 0),
        (Resource::Fsize, limits.file_mb.map(mib), 0),
    ] {
        let Some(limit) = limit else { continue };
        let in_force = getrlimit(resource);
        let bounded = |limit: u64, bound: Option<u64>| Some(bound.map_or(limit, |b| b.min(limit)));
        let new = Rlimit {
            current: bounded(limit, in_force.current),
            maximum: bounded(limit.saturating_add(grace), in_force.maximum),
        };
        prlimit(pid, resource, new)?;
    }
    Ok((cgroup, report))
}

/// Fails for any limit: on this system a program can only set its own limits.
#[cfg(not(target_os = "linux"))]
pub(super) fn apply(
    _: i32,
    _: i32,
    limits: &Limits,
) -> io::Result<(Option<CallCgroup>, TreeLimits)> {
    if *limits == Limits::default() {
        return Ok((None, TreeLimits::default()));
    }
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "resource limits of a call need Linux",
    ))
}
