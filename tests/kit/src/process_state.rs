//! The resources of the test's own process, for tests that check their release.

use std::fs;

/// Open descriptors, by target.
pub fn descriptors() -> Vec<String> {
    let open = fs::read_dir("/proc/self/fd").unwrap().flatten();
    let mut open: Vec<_> = open
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .map(|target| target.display().to_string())
        // Except the directory being read.
        .filter(|target| !target.ends_with("/fd"))
        .collect();
    open.sort();
    open
}

/// A number from `/proc/self/status`.
pub fn status(field: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let value = status.lines().find_map(|line| line.strip_prefix(field));
    value
        .unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap()
}

/// Children of this process with their states, including zombies.
pub fn children() -> String {
    let threads = fs::read_dir("/proc/self/task").unwrap().flatten();
    let lists =
        threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let pids: String = lists.collect();
    pids.split_ascii_whitespace().map(name_and_state).collect()
}

fn name_and_state(pid: &str) -> String {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let lines: Vec<_> = status.lines().take(3).collect();
    format!("{pid} {lines:?}; ")
}
