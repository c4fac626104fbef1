//! Reads processes from `/proc`. A process that vanishes meanwhile is treated as absent.

use anyhow::{Context, Result};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// A snapshot of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// The pid.
    pub pid: u32,
    /// The pid of the parent.
    pub parent: u32,
    /// The session id.
    pub session: u32,
    /// The kernel's state letter: `R`, `S`, `D`, `T`, `Z`, …
    pub state: char,
    /// The start time on the clock of [`now`].
    pub started: u64,
    /// The command line, joined by spaces. A process without one has its name in brackets.
    pub command: String,
}

impl Process {
    /// True unless the process is a zombie.
    pub fn is_alive(&self) -> bool {
        !matches!(self.state, 'Z' | 'X')
    }

    /// True if the initial environment of the process contains `text`. False if the environment
    /// cannot be read.
    pub fn environment_has(&self, text: &str) -> bool {
        fs::read(self.directory().join("environ"))
            .is_ok_and(|environment| contains(&environment, text.as_bytes()))
    }

    /// True if the working directory or an open file of the process is at or below `directory`.
    pub fn uses_directory(&self, directory: &Path) -> bool {
        let below =
            |link: PathBuf| fs::read_link(link).is_ok_and(|path| path.starts_with(directory));
        below(self.directory().join("cwd"))
            || descriptors(self.pid)
                .iter()
                .any(|(_, target)| Path::new(target).starts_with(directory))
    }

    fn directory(&self) -> PathBuf {
        directory(self.pid)
    }
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "pid {} (parent {}, session {}, state {}): {}",
            self.pid, self.parent, self.session, self.state, self.command
        )
    }
}

/// The clock of [`Process::started`]: ticks since boot, 100 per second on every Linux.
pub fn now() -> u64 {
    let uptime = fs::read_to_string("/proc/uptime").unwrap_or_default();
    // `12345.67 …`: seconds with two decimals.
    let ticks = uptime.split_whitespace().next().unwrap_or_default();
    ticks.replace('.', "").parse().unwrap_or(0)
}

/// Returns all visible processes.
pub fn processes() -> Vec<Process> {
    processes_since(0)
}

/// Returns the processes started at or after `ticks` on the clock of [`now`].
pub fn processes_since(ticks: u64) -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|pid| process_since(pid, ticks))
        .collect()
}

/// Returns the process `pid`, if it exists.
pub fn process(pid: u32) -> Option<Process> {
    process_since(pid, 0)
}

fn process_since(pid: u32, ticks: u64) -> Option<Process> {
    let stat = fs::read(directory(pid).join("stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // `pid (name) state ppid pgrp session …`; the name may contain spaces and parentheses.
    let (before, after) = stat.rsplit_once(')')?;
    let name = before.split_once('(')?.1;
    let fields: Vec<&str> = after.split_whitespace().collect();
    let started = fields.get(19)?.parse().ok()?;
    if started < ticks {
        return None;
    }
    let words = fs::read(directory(pid).join("cmdline")).unwrap_or_default();
    let words = String::from_utf8_lossy(&words);
    let words = words.trim_end_matches('\0').replace('\0', " ");
    Some(Process {
        pid,
        parent: fields.get(1)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        started,
        state: fields.first()?.chars().next()?,
        command: if words.is_empty() {
            format!("[{name}]")
        } else {
            words
        },
    })
}

/// The open descriptors of `pid`: number and target, as in `/proc`. Empty if they cannot be read.
pub fn descriptors(pid: u32) -> Vec<(u32, String)> {
    let Ok(entries) = fs::read_dir(directory(pid).join("fd")) else {
        return Vec::new();
    };
    let mut open: Vec<(u32, String)> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let number = entry.file_name().to_str()?.parse().ok()?;
            let target = fs::read_link(entry.path()).ok()?;
            Some((number, target.to_string_lossy().into_owned()))
        })
        .collect();
    open.sort_unstable();
    open
}

/// Resident memory of `pid`, in KiB.
///
/// # Errors
/// There is no such process, or it is a zombie.
pub fn resident(pid: u32) -> Result<u64> {
    number(pid, "VmRSS:")
}

/// Number of threads of `pid`.
///
/// # Errors
/// There is no such process.
pub fn threads(pid: u32) -> Result<u64> {
    number(pid, "Threads:")
}

fn number(pid: u32, name: &str) -> Result<u64> {
    let status = fs::read_to_string(directory(pid).join("status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.context("the kernel says how much")?.parse()?)
}

fn directory(pid: u32) -> PathBuf {
    Path::new("/proc").join(pid.to_string())
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    !part.is_empty() && text.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_reports_this_process() {
        let me = process(std::process::id()).unwrap();
        assert!(me.is_alive() && me.pid == std::process::id());
        assert!(me.command.contains("agent_bash_tests"), "{me}");
        assert!(processes().iter().any(|other| other.pid == me.parent));
        assert!(me.started > 0 && me.started <= now());
        let alone = processes_since(me.started);
        // Compared field by field, because the state is that of the main thread, which sleeps.
        assert!(
            alone
                .iter()
                .any(|other| other.pid == me.pid && other.started == me.started)
        );
        assert!(!alone.iter().any(|other| other.pid == 1));
        assert!(me.environment_has("PATH=") && !me.environment_has("\u{1}no such text"));
    }

    #[test]
    fn open_file_is_listed_as_descriptor_and_directory() {
        let directory = tempfile::tempdir().unwrap();
        let me = process(std::process::id()).unwrap();
        assert!(!me.uses_directory(directory.path()));
        let path = directory.path().join("open");
        let file = fs::File::create(&path).unwrap();
        let open = descriptors(me.pid);
        assert!(open.iter().any(|(_, target)| Path::new(target) == path));
        assert!(me.uses_directory(directory.path()));
        drop(file);
        assert!(!me.uses_directory(directory.path()));
    }
}
