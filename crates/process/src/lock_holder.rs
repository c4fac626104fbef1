//! The process that holds a lock file. Reads the descriptors of all processes that this user may
//! examine.

use crate::proc_scan;
use crate::shown_command::shown_command;
use agent_bash_os::{ProcessInfo, read_proc};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Returns the pid and the command line of the process that holds a lock on a file according to the
/// kernel's list of locks. Without an entry there, returns the oldest process that has the file
/// open.
pub fn lock_holder(path: &Path) -> Option<(u32, String)> {
    let path = fs::canonicalize(path).ok()?;
    let inode = fs::metadata(&path).ok()?.ino();
    let locks = read_proc("/proc/locks").unwrap_or_default();
    let lockers = lockers(&String::from_utf8_lossy(&locks), inode);
    let has_open = |process: &ProcessInfo| {
        process.pid != std::process::id().cast_signed()
            && proc_scan::open_files(&process.pid.to_string()).any(|(_, target)| target == path)
    };
    let holder = proc_scan::processes()
        .into_iter()
        .filter(has_open)
        .min_by_key(|process| (!lockers.contains(&process.pid), process.start_time))?;
    Some(pid_and_command(&holder))
}

/// Returns the pid and the command line of a process named `program` that waits for a child, such
/// as an editor or a hook. The process's working directory is at or below one of `directories`. If
/// there are several, returns the oldest.
pub fn waiting_program_in(program: &str, directories: &[PathBuf]) -> Option<(u32, String)> {
    let processes = proc_scan::processes();
    let waits_in_directories = |process: &&ProcessInfo| {
        processes.iter().any(|child| child.parent == process.pid)
            && proc_scan::name(process.pid).is_some_and(|name| name == program.as_bytes())
            && proc_scan::directory_of(process.pid.unsigned_abs()).is_some_and(|cwd| {
                directories
                    .iter()
                    .any(|directory| cwd.starts_with(directory))
            })
    };
    let found = processes.iter().filter(waits_in_directories);
    found
        .min_by_key(|process| process.start_time)
        .map(pid_and_command)
}

/// Returns the command line of a process; `None` if no process has this pid.
pub fn command_of(pid: u32) -> Option<String> {
    ProcessInfo::read(pid.cast_signed()).map(|process| shown_command(process.pid))
}

fn pid_and_command(process: &ProcessInfo) -> (u32, String) {
    (process.pid.unsigned_abs(), shown_command(process.pid))
}

/// Returns the processes that hold a lock on an inode. `locks` has the format of `/proc/locks` with
/// lines such as `1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF`. The line of a waiting process
/// has `->`. The device is ignored, because `stat` reports another device than the list of locks on
/// some file systems.
fn lockers(locks: &str, inode: u64) -> BTreeSet<i32> {
    let holder = |line: &str| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let file = fields.get(5)?.rsplit(':').next()?;
        let is_same = file.parse::<u64>().ok()? == inode && fields.get(1) != Some(&"->");
        is_same.then(|| fields.get(4)?.parse().ok()).flatten()
    };
    locks.lines().filter_map(holder).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lockers_are_holders_of_the_inode_and_not_processes_that_wait() {
        let locks = "1: POSIX  ADVISORY  WRITE 11 fe:00:1234 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 12 00:2f:77 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 13 00:2f:77 0 EOF\n\
                     3: OFDLCK ADVISORY  READ  -1 fe:00:77 0 EOF\nx\n";
        assert_eq!(lockers(locks, 77), BTreeSet::from([12, -1]));
        assert_eq!(lockers(locks, 1234), BTreeSet::from([11]));
        assert!(lockers(locks, 5).is_empty());
    }
}
