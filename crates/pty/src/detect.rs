//! Detects that a program waits for user input. The sources are the line discipline's modes, the
//! foreground process group, and the system call in which each thread is blocked. The output is not
//! interpreted.

use crate::WaitingFor;
use crate::terminal::{LineModes, Terminal};
use agent_bash_process::{has_terminal_open, is_on_terminal, processes_of_session};
use std::fs;
use std::path::Path;

/// Maximum number of threads examined per process.
const MAX_THREADS: usize = 64;

/// The activity of a foreground thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ThreadActivity {
    /// Blocked reading the terminal.
    Reading,
    /// Blocked polling several descriptors, with the terminal open.
    Polling,
    /// Sleeping in a system call that this process may not see, because the program belongs to
    /// another user.
    Hidden,
    /// Any other activity.
    Other,
}

/// Returns the input that the programs on the terminal wait for. `session_leader` is the pid of the
/// terminal's session leader.
pub(crate) fn detect_waiting(
    terminal: &Terminal,
    session_leader: i32,
    is_alternate: bool,
) -> Option<WaitingFor> {
    let modes = terminal.line_modes()?;
    let foreground = terminal.foreground()?;
    let activities: Vec<ThreadActivity> = processes_of_session(session_leader)
        .into_iter()
        .filter(|process| process.group == foreground)
        .flat_map(|process| thread_activities(process.pid, terminal.path()))
        .collect();
    classify(modes, is_alternate, &activities)
}

/// Returns the input that threads with these activities wait for.
fn classify(
    modes: LineModes,
    is_alternate: bool,
    activities: &[ThreadActivity],
) -> Option<WaitingFor> {
    let any =
        |wanted: &[ThreadActivity]| activities.iter().any(|activity| wanted.contains(activity));
    match (modes.is_canonical, modes.has_echo) {
        (true, true) => any(&[ThreadActivity::Reading]).then_some(WaitingFor::Line),
        (true, false) => {
            any(&[ThreadActivity::Reading, ThreadActivity::Hidden]).then_some(WaitingFor::Secret)
        }
        (false, _) => any(&[
            ThreadActivity::Reading,
            ThreadActivity::Polling,
            ThreadActivity::Hidden,
        ])
        .then_some(if is_alternate {
            WaitingFor::FullScreen
        } else {
            WaitingFor::Raw
        }),
    }
}

/// Returns the activities of the threads of a process.
fn thread_activities(pid: i32, terminal: &Path) -> Vec<ThreadActivity> {
    let threads = fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten();
    threads
        .flatten()
        .take(MAX_THREADS)
        .map(|thread| thread_activity(&thread.path(), pid, terminal))
        .collect()
}

/// Returns the activity of a thread, whose directory in `/proc` is `thread`.
fn thread_activity(thread: &Path, pid: i32, terminal: &Path) -> ThreadActivity {
    let Some(call) = fs::read_to_string(thread.join("syscall"))
        .ok()
        .filter(|_| !calls::READ_CALLS.is_empty())
    else {
        return if is_sleeping(thread) {
            ThreadActivity::Hidden
        } else {
            ThreadActivity::Other
        };
    };
    let Some((number, descriptor)) = parse_call(&call) else {
        return ThreadActivity::Other;
    };
    if calls::READ_CALLS.contains(&number) && is_on_terminal(pid, descriptor, terminal) {
        ThreadActivity::Reading
    } else if calls::POLL_CALLS.contains(&number) && has_terminal_open(pid, terminal) {
        ThreadActivity::Polling
    } else {
        ThreadActivity::Other
    }
}

/// Parses `/proc/PID/task/TID/syscall`, such as `0 0x0 0x7f… …` (proc(5)): the number of the system
/// call, and its first argument. `None` for `running`, and for `-1`, which means blocked outside of
/// a system call.
fn parse_call(text: &str) -> Option<(u32, u64)> {
    let mut words = text.split_ascii_whitespace();
    let number = words.next()?.parse().ok()?;
    let argument = words.next()?.strip_prefix("0x")?;
    Some((number, u64::from_str_radix(argument, 16).ok()?))
}

/// True if a thread is in interruptible sleep.
fn is_sleeping(thread: &Path) -> bool {
    let stat = fs::read_to_string(thread.join("stat")).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_some_and(|(_, rest)| rest.starts_with('S'))
}

/// Numbers of the system calls in which a program waits for input, from the kernel's tables.
#[cfg(target_arch = "x86_64")]
mod calls {
    /// read, readv.
    pub(super) const READ_CALLS: &[u32] = &[0, 19];
    /// poll, select, `epoll_wait`, pselect6, ppoll, `epoll_pwait`, `epoll_pwait2`.
    pub(super) const POLL_CALLS: &[u32] = &[7, 23, 232, 270, 271, 281, 441];
}

/// Numbers of the system calls in which a program waits for input, from the kernel's tables.
#[cfg(target_arch = "aarch64")]
mod calls {
    /// read, readv.
    pub(super) const READ_CALLS: &[u32] = &[63, 65];
    /// `epoll_pwait`, pselect6, ppoll, `epoll_pwait2`.
    pub(super) const POLL_CALLS: &[u32] = &[22, 72, 73, 441];
}

/// On other architectures the numbers are unknown: only the line discipline is examined.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod calls {
    pub(super) const READ_CALLS: &[u32] = &[];
    pub(super) const POLL_CALLS: &[u32] = &[];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_state_follows_line_modes_and_thread_activity() {
        use ThreadActivity::{Hidden, Other, Polling, Reading};
        let lines = (true, true);
        let secret = (true, false);
        let keys = (false, false);
        let keys_with_echo = (false, true);
        for (modes, is_alternate, doing, wanted) in [
            (lines, false, &[Other, Reading][..], Some(WaitingFor::Line)),
            (lines, true, &[Reading], Some(WaitingFor::Line)),
            // `tail -f`, `sleep`, a busy loop, no process, another user's program.
            (lines, false, &[Other, Polling], None),
            (lines, false, &[Other], None),
            (lines, false, &[], None),
            (lines, false, &[Hidden], None),
            (secret, false, &[Other, Reading], Some(WaitingFor::Secret)),
            (secret, false, &[Hidden], Some(WaitingFor::Secret)),
            (secret, false, &[Polling], None),
            (secret, false, &[Other], None),
            // Readline switches echo off, too.
            (keys, false, &[Reading], Some(WaitingFor::Raw)),
            (keys, false, &[Polling], Some(WaitingFor::Raw)),
            (keys_with_echo, false, &[Reading], Some(WaitingFor::Raw)),
            (keys, false, &[Other], None),
            (keys, true, &[Polling], Some(WaitingFor::FullScreen)),
            (keys, true, &[Other], None),
        ] {
            let modes = LineModes {
                is_canonical: modes.0,
                has_echo: modes.1,
            };
            assert_eq!(
                classify(modes, is_alternate, doing),
                wanted,
                "{modes:?} {doing:?}"
            );
        }
    }

    #[test]
    fn system_calls_are_parsed() {
        for (text, wanted) in [
            ("0 0x3 0x7ffd 0x1 0x0 0x0 0x0 0x7ff 0x7f\n", Some((0, 3))),
            ("270 0x1 0x0", Some((270, 1))),
            ("running\n", None),
            ("-1 0x7ffd 0x7f\n", None),
            ("", None),
            ("0", None),
        ] {
            assert_eq!(parse_call(text), wanted, "{text}");
        }
    }
}
