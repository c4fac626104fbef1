//! Finds the leftovers of a test: processes, files, and descriptors.
//!
//! Other programs and tests run on the machine at the same time, so a leftover needs an exact
//! definition. A process belongs to the test if its environment contains the test's unique mark. It
//! also does if its working directory or an open file is in one of the test's directories. After
//! [`adopt_orphans`], a child that this process did not start belongs to the test, too. A file is a
//! leftover if it is in a directory that should be empty; a descriptor, if it was not open when the
//! census began.
//!
//! The census checks until nothing is left or the deadline has passed: a process that is about to
//! exit is no leftover.

use crate::poll;
use crate::procfs::{self, Process};
use rustix::process::{Pid, Signal, WaitOptions};
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Makes this process a child subreaper: orphaned descendants become its children, so that
/// [`Census::watch_orphans`] finds even those that removed every mark. It must then reap them,
/// which [`Census::end`] does.
///
/// # Errors
/// System errors.
pub fn adopt_orphans() -> std::io::Result<()> {
    Ok(rustix::process::set_child_subreaper(Some(
        rustix::process::getpid(),
    ))?)
}

/// The marks, directories and descriptors to check.
#[derive(Debug)]
pub struct Census {
    /// The time of the census's start. Older processes, nearly all of them, cannot be leftovers and
    /// are not examined.
    since: u64,
    marks: Vec<String>,
    directories: Vec<PathBuf>,
    file_directories: Vec<PathBuf>,
    watches_orphans: bool,
    descriptors: Option<BTreeSet<(u32, String)>>,
}

impl Default for Census {
    fn default() -> Self {
        Self::new()
    }
}

impl Census {
    /// Creates a census that watches nothing yet. Existing processes are never reported.
    pub fn new() -> Self {
        Self {
            since: procfs::now(),
            marks: Vec::new(),
            directories: Vec::new(),
            file_directories: Vec::new(),
            watches_orphans: false,
            descriptors: None,
        }
    }

    /// Looks for processes with `mark` in their environment.
    pub fn watch_mark(&mut self, mark: impl Into<String>) {
        self.marks.push(mark.into());
    }

    /// Looks for processes with their working directory or an open file in `directory`.
    pub fn watch_directory(&mut self, directory: &Path) {
        self.directories.push(directory.to_owned());
    }

    /// Looks for files in `directory`, at any depth.
    pub fn watch_files(&mut self, directory: &Path) {
        self.file_directories.push(directory.to_owned());
    }

    /// Looks for orphans reparented to this process. The process must wait for all children that it
    /// starts.
    pub fn watch_orphans(&mut self) {
        self.watches_orphans = true;
    }

    /// Looks for descriptors of this process that are not open now.
    pub fn watch_descriptors(&mut self) {
        let now = procfs::descriptors(std::process::id());
        self.descriptors = Some(now.into_iter().collect());
    }

    /// Returns the leftovers once no more of them disappear within `patience`.
    pub fn end(&self, patience: Duration) -> Leftovers {
        poll::until(patience, || {
            let left = self.look();
            left.is_empty().then_some(left)
        })
        .unwrap_or_else(|| self.look())
    }

    /// Kills every leftover process, including processes that appear meanwhile. Returns their
    /// number. A process seen only once may be between `fork` and `exec`, with its parent's files
    /// open; it is killed when it is seen again.
    pub fn kill_leftovers(&self) -> usize {
        let mut killed = BTreeSet::new();
        let mut seen = BTreeSet::new();
        poll::until(Duration::from_secs(30), || {
            let processes = self.look().processes;
            let identity = |process: &Process| (process.pid, process.started);
            for process in &processes {
                let pid = i32::try_from(process.pid).ok().and_then(Pid::from_raw);
                if let Some(pid) = pid
                    && seen.contains(&identity(process))
                {
                    // The process may have exited meanwhile.
                    let _ = rustix::process::kill_process(pid, Signal::KILL);
                    killed.insert(process.pid);
                }
            }
            seen = processes.iter().map(identity).collect();
            processes.is_empty().then_some(())
        });
        killed.len()
    }

    fn look(&self) -> Leftovers {
        if self.watches_orphans {
            while matches!(rustix::process::wait(WaitOptions::NOHANG), Ok(Some(_))) {}
        }
        let own_pid = std::process::id();
        let own_command = procfs::process(own_pid).map(|process| process.command);
        // Between `fork` and `exec`, a child has all descriptors of this process, including files
        // of other tests.
        let is_started = |process: &Process| {
            let command = Some(&process.command);
            process.parent != own_pid
                || (command != own_command.as_ref() && !process.command.starts_with('['))
        };
        let processes = procfs::processes_since(self.since)
            .into_iter()
            .filter(|process| process.pid != own_pid && process.is_alive() && is_started(process))
            .filter(|process| {
                (self.watches_orphans && process.parent == own_pid)
                    || self.marks.iter().any(|mark| process.environment_has(mark))
                    || self
                        .directories
                        .iter()
                        .any(|directory| process.uses_directory(directory))
            })
            .collect();
        let mut files = Vec::new();
        for directory in &self.file_directories {
            collect_files(directory, &mut files);
        }
        let descriptors = match &self.descriptors {
            None => Vec::new(),
            Some(before) => procfs::descriptors(own_pid)
                .into_iter()
                // The scan itself has a directory in /proc open.
                .filter(|open| !before.contains(open) && !open.1.starts_with("/proc/"))
                .map(|(number, target)| format!("{number} -> {target}"))
                .collect(),
        };
        Leftovers {
            processes,
            files,
            descriptors,
        }
    }
}

/// All files at or below `directory`, without following symbolic links.
fn collect_files(directory: &Path, files: &mut Vec<PathBuf>) {
    let mut pending = vec![directory.to_owned()];
    while let Some(next) = pending.pop() {
        let Ok(entries) = std::fs::read_dir(&next) else {
            continue;
        };
        for entry in entries.filter_map(Result::ok) {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => pending.push(entry.path()),
                _ => files.push(entry.path()),
            }
        }
    }
    files.sort_unstable();
}

/// The leftovers that a census found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// Processes that are still alive.
    pub processes: Vec<Process>,
    /// Files that should not be there.
    pub files: Vec<PathBuf>,
    /// Descriptors that were not open before, as `number -> target`.
    pub descriptors: Vec<String>,
}

impl Leftovers {
    /// True if nothing was left.
    pub fn is_empty(&self) -> bool {
        self.processes.is_empty() && self.files.is_empty() && self.descriptors.is_empty()
    }
}

impl fmt::Display for Leftovers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for process in &self.processes {
            writeln!(f, "  process {process}")?;
        }
        for file in &self.files {
            writeln!(f, "  file {}", file.display())?;
        }
        for descriptor in &self.descriptors {
            writeln!(f, "  descriptor {descriptor}")?;
        }
        Ok(())
    }
}
