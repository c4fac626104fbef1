//! The process that `busybox timeout` starts to end its command later. That process notices within
//! a second that the command has ended.

use crate::proc_scan;
use agent_bash_core::Survivor;
use agent_bash_os::ProcessHandle;
use rustix::process::Signal;
use std::fs;

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

fn is_watcher(pid: i32) -> bool {
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
