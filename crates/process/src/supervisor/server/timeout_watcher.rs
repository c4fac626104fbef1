//! The process that `busybox timeout` starts to end its command later. That process notices within
//! a second that the command has ended.
//!
//! `busybox timeout` starts the watcher first and then becomes the command. Until then, the command
//! looks like a watcher, but only the watcher leads a session.

use crate::proc_scan;
use agent_bash_core::Survivor;
use agent_bash_os::ProcessHandle;
use rustix::process::{Pid, Signal, getsid};
use std::fs;
use std::time::Duration;

/// How often a process is examined that may not have become a watcher or the command yet.
const START_CHECKS: u32 = 50;
const START_CHECK_INTERVAL: Duration = Duration::from_millis(2);

/// Ends the survivors of a call if all of them are such watchers, because their commands have ended
/// then. Otherwise changes nothing: another survivor may be the command of a watcher.
pub(super) fn end_lone_watchers(survivors: &mut Vec<Survivor>) {
    let handle = |survivor: &Survivor| {
        let pid = survivor.pid.cast_signed();
        let handle = ProcessHandle::open(pid).ok()?;
        is_watcher(pid).then_some(handle)
    };
    let handles: Option<Vec<ProcessHandle>> = survivors.iter().map(handle).collect();
    if let Some(handles) = handles {
        for handle in handles {
            // An error means that the process has ended.
            let _ = handle.signal(Signal::KILL.as_raw());
        }
        survivors.clear();
    }
}

/// Returns true if the process is a watcher. Waits for a process that has just been started, which
/// becomes a watcher or the command.
#[expect(
    clippy::disallowed_methods,
    reason = "the supervisor has no runtime whose clock it could wait by"
)]
fn is_watcher(pid: i32) -> bool {
    let is_leader = || getsid(Pid::from_raw(pid)).is_ok_and(|it| it.as_raw_pid() == pid);
    for _ in 0..START_CHECKS {
        if !runs_timeout(pid) || is_leader() {
            break;
        }
        std::thread::sleep(START_CHECK_INTERVAL);
    }
    runs_timeout(pid) && is_leader()
}

fn runs_timeout(pid: i32) -> bool {
    let program = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
    let of_busybox = program.file_name().and_then(|name| name.to_str());
    of_busybox.is_some_and(|name| name.starts_with("busybox"))
        && is_timeout(&proc_scan::arguments(pid))
}

/// True for `timeout …` and `busybox timeout …`.
fn is_timeout(arguments: &[Vec<u8>]) -> bool {
    let name = |argument: &Vec<u8>| {
        argument
            .rsplit(|byte| *byte == b'/')
            .next()
            .map(<[u8]>::to_vec)
    };
    let mut names = arguments.iter().filter_map(name);
    match names.next() {
        Some(first) if first.starts_with(b"busybox") => names.next(),
        first => first,
    }
    .is_some_and(|name| name == b"timeout")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_timeout_finds_the_applet() {
        let of = |line: &str| {
            let words = line.split(' ').map(|word| word.as_bytes().to_vec());
            is_timeout(&words.collect::<Vec<_>>())
        };
        assert!(of("timeout 5 true") && of("/bin/timeout 5 true"));
        assert!(of("busybox timeout 5 true") && of("/bin/busybox.static timeout -s INT 5 true"));
        assert!(!of("sleep 5") && !of("busybox sleep 5") && !of("busybox sh timeout"));
        assert!(!is_timeout(&[]));
    }
}
