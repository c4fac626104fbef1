//! The process group of a process, also if the group has no number in this PID namespace.
//!
//! The kernel returns 0 for a group whose leader is outside the namespace, as for a program that
//! `unshare --pid --fork` or `bwrap --unshare-pid` starts. The functions of rustix take the number
//! for positive.

use rustix::process::Pid;

/// Returns the process group of this process; `None` if its leader is outside this PID namespace.
pub fn own_process_group() -> Option<Pid> {
    Pid::from_raw(nix::unistd::getpgrp().as_raw())
}

/// Returns the process group of a process; `None` if the process does not exist, or the group's
/// leader is outside this PID namespace.
pub(crate) fn process_group_of(pid: Pid) -> Option<Pid> {
    let pid = nix::unistd::Pid::from_raw(pid.as_raw_pid());
    let group = nix::unistd::getpgid(Some(pid)).ok()?;
    Pid::from_raw(group.as_raw())
}

/// True if a session leader leads the process group of this process. False if both leaders are
/// outside this PID namespace.
pub fn is_in_session_leaders_group() -> bool {
    let leader = nix::unistd::getsid(None).ok();
    let leader = leader.and_then(|leader| Pid::from_raw(leader.as_raw()));
    leader.is_some() && leader == own_process_group()
}
