//! Who is in the tree below this supervisor, and how they are signalled so that nobody else is.
//!
//! A direct child that was not reaped keeps its pid and its process group's number, so it and its group can be
//! signalled by number. Everybody else is signalled through a pidfd, after a look that the pid still belongs to the
//! tree: if the pid was reused in between, the pidfd is that of the process that has gone, and nothing is hit.

use crate::proc_fs::{self, ProcessInfo};
use agent_bash_core::Survivor;
use rustix::process::{Pid, PidfdFlags, Signal};
use std::collections::BTreeSet;

/// How many survivors are named.
const MAX_NAMED: usize = 100;

/// Characters of a survivor's command line that are kept.
const MAX_COMMAND: usize = 200;

fn own_pid() -> i32 {
    rustix::process::getpid().as_raw_pid()
}

/// Asks everybody to end.
pub(super) fn terminate(shell: Option<i32>) {
    send_to_all(shell, Signal::TERM);
}

/// Tells everybody that the terminal is gone.
pub(super) fn hang_up(shell: Option<i32>) {
    send_to_all(shell, Signal::HUP);
}

/// Sends a signal, then SIGCONT (a stopped process does not hear the first without), to the shell's process group and
/// to every descendant outside of it, once each.
fn send_to_all(shell: Option<i32>, signal: Signal) {
    let signals = [signal, Signal::CONT];
    for signal in signals {
        if let Some(group) = shell.and_then(Pid::from_raw) {
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }
    let descendants = proc_fs::descendants(own_pid());
    let family: BTreeSet<i32> = descendants.iter().copied().chain([own_pid()]).collect();
    for pid in descendants {
        let in_group = |process: &ProcessInfo| Some(process.group) == shell;
        if ProcessInfo::read(pid).is_some_and(|process| !process.zombie && !in_group(&process)) {
            for signal in signals {
                signal_member(pid, &family, signal);
            }
        }
    }
}

/// Stops the shell, then sends SIGTERM and SIGCONT to every other descendant.
pub(super) fn stop_and_terminate(shell: i32) {
    if let Some(pid) = Pid::from_raw(shell) {
        let _ = rustix::process::kill_process(pid, Signal::STOP);
    }
    let descendants = proc_fs::descendants(own_pid());
    let family: BTreeSet<i32> = descendants.iter().copied().chain([own_pid()]).collect();
    for pid in descendants.into_iter().filter(|pid| *pid != shell) {
        for signal in [Signal::TERM, Signal::CONT] {
            signal_member(pid, &family, signal);
        }
    }
}

/// Whether nobody but this child is left. What it has not reaped itself does not count.
pub(super) fn is_alone(shell: i32) -> bool {
    proc_fs::descendants(own_pid())
        .into_iter()
        .filter(|pid| *pid != shell)
        .all(|pid| ProcessInfo::read(pid).is_none_or(|process| process.zombie))
}

fn signal_member(pid: i32, family: &BTreeSet<i32>, signal: Signal) {
    let Some(number) = Pid::from_raw(pid) else {
        return;
    };
    let Ok(handle) = rustix::process::pidfd_open(number, PidfdFlags::empty()) else {
        return;
    };
    if ProcessInfo::read(pid).is_some_and(|process| family.contains(&process.parent)) {
        let _ = rustix::process::pidfd_send_signal(handle, signal);
    }
}

/// Sends SIGKILL to every direct child and to the process group each of them is in. Their own children become ours and
/// are met by the next round; a child forked during one round is met by the next, too.
pub(super) fn kill_round() {
    let own_group = rustix::process::getpgrp().as_raw_pid();
    let mut groups = BTreeSet::new();
    for pid in proc_fs::children(own_pid()) {
        let Some(process) = ProcessInfo::read(pid) else {
            continue;
        };
        if process.group != own_group
            && groups.insert(process.group)
            && let Some(group) = Pid::from_raw(process.group)
        {
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
        }
        if let Some(number) = Pid::from_raw(pid).filter(|_| !process.zombie) {
            let _ = rustix::process::kill_process(number, Signal::KILL);
        }
    }
}

/// Who still lives below this process. `pipes` are the inodes of the call's output; `boot` is the argument by which a
/// shell of ours is known that has forked and not yet become its command, or is a subshell.
pub(super) fn survivors(pipes: &[u64], boot: &[u8]) -> Vec<Survivor> {
    proc_fs::descendants(own_pid())
        .into_iter()
        .filter(|pid| ProcessInfo::read(*pid).is_some_and(|process| !process.zombie))
        .take(MAX_NAMED)
        .map(|pid| Survivor {
            pid: pid.unsigned_abs(),
            command: command_line(&proc_fs::arguments(pid), boot),
            holds_output: proc_fs::holds_pipe(pid, pipes),
            job: None,
        })
        .collect()
}

/// The name that a forked shell gets in the list: its arguments are our wrapper, not the user's command.
pub(super) const SUBSHELL: &str = "bash (subshell)";

pub(crate) fn command_line(arguments: &[Vec<u8>], boot: &[u8]) -> String {
    if !boot.is_empty() && arguments.iter().any(|argument| argument == boot) {
        return SUBSHELL.to_owned();
    }
    let line = arguments
        .iter()
        .map(|argument| String::from_utf8_lossy(argument))
        .collect::<Vec<_>>()
        .join(" ");
    let clean: String = line
        .chars()
        .take(MAX_COMMAND)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let cut = if line.chars().nth(MAX_COMMAND).is_some() {
        "…"
    } else {
        ""
    };
    format!("{}{cut}", clean.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_are_bounded_and_harmless() {
        let arguments = |list: &[&str]| -> Vec<Vec<u8>> {
            list.iter().map(|text| text.as_bytes().to_vec()).collect()
        };
        assert_eq!(
            command_line(&arguments(&["sleep", "300"]), b""),
            "sleep 300"
        );
        assert_eq!(command_line(&arguments(&["a\x1b[31m\nb"]), b""), "a [31m b");
        assert_eq!(
            command_line(&arguments(&["bash", "-c", "BOOT"]), b"BOOT"),
            SUBSHELL
        );
        let long = command_line(&arguments(&[&"ä".repeat(500)]), b"");
        assert_eq!(long.chars().count(), MAX_COMMAND + 1);
    }
}
