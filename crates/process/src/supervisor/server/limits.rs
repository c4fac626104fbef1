//! Applies a call's resource limits to its shell after its start and before its script; everything
//! that the script starts inherits the limits.

use agent_bash_core::Limits;
use std::io;

/// Seconds of CPU time between SIGXCPU and SIGKILL.
#[cfg(target_os = "linux")]
const CPU_GRACE_S: u64 = 2;

/// Sets the limits of a child, which must not be reaped yet. Never raises a limit that is already
/// in force.
#[cfg(target_os = "linux")]
pub(super) fn apply(pid: i32, limits: &Limits) -> io::Result<()> {
    use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

    let pid = Pid::from_raw(pid);
    let mib = |megabytes: u64| megabytes.saturating_mul(1 << 20);
    for (resource, limit, grace) in [
        (Resource::Cpu, limits.cpu_s, CPU_GRACE_S),
        (Resource::As, limits.memory_mb.map(mib), 0),
        (Resource::Nproc, limits.processes, 0),
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
    Ok(())
}

/// Fails for any limit: on this system a program can only set its own limits.
#[cfg(not(target_os = "linux"))]
pub(super) fn apply(_: i32, limits: &Limits) -> io::Result<()> {
    if *limits == Limits::default() {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "resource limits of a call need Linux",
    ))
}
