//! Finds the living processes of a call: all that have the call's mark in their environment,
//! whatever their session or parent.

use crate::soon;
use agent_bash_process::{ProcessHandle, ProcessInfo};
use rustix::process::Signal;
use std::ffi::OsString;
use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

/// The environment variable with the mark.
const VARIABLE: &str = "AGENT_BASH_TEST_MARK";

/// The name of a supervisor in `/proc/<pid>/comm`.
const SUPERVISOR: &str = "agent-bash-sup";

/// A unique mark. Processes that still have it when the census is dropped are killed.
#[derive(Debug)]
pub struct Census {
    mark: String,
}

/// A living process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundProcess {
    /// Process id.
    pub pid: i32,
    /// `/proc/<pid>/comm`.
    pub name: String,
    /// `T` means stopped; see proc(5).
    pub state: char,
}

impl Default for Census {
    fn default() -> Self {
        Self::new()
    }
}

impl Census {
    /// Creates a census with a new mark.
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self {
            mark: format!("{}-{number}", std::process::id()),
        }
    }

    /// Returns the variable with the mark.
    pub fn variable(&self) -> (OsString, OsString) {
        (VARIABLE.into(), self.mark.clone().into())
    }

    /// Returns all living processes with the mark, including supervisors and hosts. Zombies have no
    /// environment and are not found.
    pub fn all(&self) -> Vec<FoundProcess> {
        let entry = format!("{VARIABLE}={}", self.mark);
        let bears = |pid: i32| {
            fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environment| {
                environment
                    .split(|byte| *byte == 0)
                    .any(|variable| variable == entry.as_bytes())
            })
        };
        fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|pid| bears(*pid))
            .filter_map(FoundProcess::read)
            .filter(|found| found.state != 'Z' && found.state != 'X')
            .collect()
    }

    /// Returns all found processes except supervisors.
    pub fn commands(&self) -> Vec<FoundProcess> {
        let mut found = self.all();
        found.retain(|found| found.name != SUPERVISOR);
        found
    }

    /// Returns the found supervisors.
    pub fn supervisors(&self) -> Vec<FoundProcess> {
        let mut found = self.all();
        found.retain(|found| found.name == SUPERVISOR);
        found
    }

    /// Waits until a process with that name exists, and returns it.
    pub async fn wait_for(&self, name: &str) -> FoundProcess {
        let mut here = None;
        let look = soon(|| {
            here = self.commands().into_iter().find(|found| found.name == name);
            here.is_some()
        });
        assert!(look.await, "no `{name}` among {:?}", self.all());
        here.unwrap()
    }

    /// Waits until no process is left, including supervisors.
    pub async fn assert_empty_soon(&self, after: &str) {
        let empty = soon(|| self.all().is_empty()).await;
        assert!(empty, "{after}: {:?}", self.all());
    }

    /// Waits until only supervisors exist.
    pub async fn assert_only_supervisors_soon(&self, after: &str) {
        let empty = soon(|| self.commands().is_empty()).await;
        assert!(empty, "{after}: {:?}", self.all());
    }

    /// Kills all processes with the mark.
    pub fn end_all(&self) {
        loop {
            let left = self.all();
            if left.is_empty() {
                return;
            }
            for found in left {
                found.end();
            }
        }
    }
}

impl Drop for Census {
    fn drop(&mut self) {
        self.end_all();
    }
}

impl FoundProcess {
    fn read(pid: i32) -> Option<Self> {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
        Some(Self {
            pid,
            name: field("Name:\t")?.to_owned(),
            state: field("State:\t")?.chars().next()?,
        })
    }

    /// Kills the process; does nothing if another process has reused the pid.
    pub fn end(&self) {
        let Some(before) = ProcessInfo::read(self.pid) else {
            return;
        };
        let Ok(handle) = ProcessHandle::open(self.pid) else {
            return;
        };
        if ProcessInfo::read(self.pid).is_some_and(|now| now.start_time == before.start_time) {
            let _ = handle.signal(Signal::KILL.as_raw());
        }
    }

    /// True if the process exists and is not a zombie.
    pub fn lives(&self) -> bool {
        Self::read(self.pid).is_some_and(|now| now.name == self.name && now.state != 'Z')
    }
}
