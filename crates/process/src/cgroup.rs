//! Cgroups (version 2) of calls: limits for all processes of a call together, where this program
//! may create cgroups. Elsewhere the kernel's limits of each process apply.
//!
//! The rules are those of the kernel and of systemd: a program creates cgroups only below a cgroup
//! that was delegated to it, and a cgroup with controllers for its children has no processes of its
//! own. A cgroup does not confine a process that may write to cgroups; the sandbox does.

use crate::proc_scan;
use agent_bash_core::{LimitKind, Limits, Notice, NoticeKind};
use agent_bash_os::ProcessInfo;
use rustix::fs::{Access, access, getxattr};
use rustix::io::Errno;
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The prefix of the names of calls' cgroups. The supervisor's pid, `-` and a number follow.
const CALL_PREFIX: &str = "agent-bash-call-";

/// The name of the cgroup to which the processes of a delegated cgroup are moved.
const HOST_NAME: &str = "agent-bash-host";

/// The file that lists the processes of a cgroup, and to which the pid of a new one is written.
const PROCESSES_FILE: &str = "cgroup.procs";

/// The file with the controllers that are enabled for the children of a cgroup.
const ENABLED_FILE: &str = "cgroup.subtree_control";

/// The controllers that limit calls.
const MEMORY: &str = "memory";
const PIDS: &str = "pids";
const CPU: &str = "cpu";

/// A limit for all processes of a call together: the controller that enforces it, and its value.
type TreeLimit = (&'static str, LimitKind, fn(&Limits) -> Option<u64>);

/// All limits for all processes of a call together.
const TREE_LIMITS: [TreeLimit; 3] = [
    (MEMORY, LimitKind::MemoryMb, |limits| limits.memory_mb),
    (PIDS, LimitKind::Processes, |limits| limits.processes),
    (CPU, LimitKind::CpuPercent, |limits| limits.cpu_percent),
];

/// A cgroup that was delegated to this program: calls get cgroups of their own below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DelegatedCgroup {
    directory: PathBuf,
    /// The available controllers, of those that limit calls.
    controllers: Vec<&'static str>,
    /// True if the cgroup has processes, which must leave before controllers are enabled.
    has_processes: bool,
}

/// The reason why calls get no cgroups.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoCgroup {
    /// There is no cgroup v2, or it has none of the controllers.
    #[error("this system has no cgroup v2 with the controllers memory, pids or cpu")]
    System,
    /// The cgroup of a call limits this program.
    #[error("this program runs in a call that has a cgroup of its own")]
    InCall,
    /// Another program manages this cgroup, or this user cannot write to it.
    #[error("the cgroup {} is not delegated to this program", .0.display())]
    NotDelegated(PathBuf),
}

/// The facts about the system that decide whether a cgroup is delegated.
struct CgroupSystem<'a> {
    mount: &'a Path,
    /// The contents of `/proc/self/cgroup`.
    membership: &'a str,
    is_root: bool,
    /// True if systemd manages all cgroups that it has not marked as delegated.
    has_systemd: bool,
    is_marked: fn(&Path) -> bool,
    is_writable: fn(&Path) -> bool,
}

impl DelegatedCgroup {
    /// Returns the cgroup that was delegated to this program. Changes nothing.
    ///
    /// # Errors
    /// No cgroup was delegated to this program; the error says why.
    pub fn find() -> Result<Self, NoCgroup> {
        Self::find_in(&CgroupSystem {
            mount: Path::new("/sys/fs/cgroup"),
            membership: &fs::read_to_string("/proc/self/cgroup").unwrap_or_default(),
            is_root: geteuid().is_root(),
            has_systemd: Self::is_system_managed(),
            is_marked,
            is_writable: |path| access(path, Access::WRITE_OK).is_ok(),
        })
    }

    /// True if systemd manages the cgroups of this system.
    pub fn is_system_managed() -> bool {
        Path::new("/run/systemd/system").exists()
    }

    fn find_in(system: &CgroupSystem<'_>) -> Result<Self, NoCgroup> {
        let own = system
            .membership
            .lines()
            .find_map(|line| line.strip_prefix("0::/"));
        let own = Path::new(own.ok_or(NoCgroup::System)?);
        let names = || own.iter().filter_map(OsStr::to_str);
        if names().any(|name| name.starts_with(CALL_PREFIX)) {
            return Err(NoCgroup::InCall);
        }
        let is_moved = own.ends_with(HOST_NAME);
        let own = own.parent().filter(|_| is_moved).unwrap_or(own);
        let directory: PathBuf = system.mount.join(own).components().collect();
        let not_delegated = || NoCgroup::NotDelegated(directory.clone());
        // Cgroups outside of this program's namespace have such a path.
        if names().any(|name| name == "..") {
            return Err(not_delegated());
        }
        let available = fs::read_to_string(directory.join("cgroup.controllers"));
        let available = available.map_err(|_| NoCgroup::System)?;
        let controllers = TREE_LIMITS.iter().map(|(name, ..)| *name);
        let controllers: Vec<_> = controllers
            .filter(|name| has_word(&available, name))
            .collect();
        if controllers.is_empty() {
            return Err(NoCgroup::System);
        }
        // Only the root of the hierarchy lacks this file. It may have processes and controllers.
        let is_hierarchy_root = !directory.join("cgroup.type").exists();
        let is_delegated = (system.is_marked)(&directory)
            || is_moved
            || !system.has_systemd && (is_hierarchy_root || system.is_boundary(&directory));
        let mut written = ["", PROCESSES_FILE, ENABLED_FILE].iter();
        if !is_delegated || !written.all(|name| (system.is_writable)(&directory.join(name))) {
            return Err(not_delegated());
        }
        Ok(Self {
            directory,
            controllers,
            has_processes: !is_moved && !is_hierarchy_root,
        })
    }

    /// The directory of the cgroup.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the limits that hold for all processes of a call together; the others are `None`.
    pub fn enforced(&self, limits: &Limits) -> Limits {
        let has = |name| self.controllers.contains(&name);
        Limits {
            memory_mb: limits.memory_mb.filter(|_| has(MEMORY)),
            processes: limits.processes.filter(|_| has(PIDS)),
            cpu_percent: limits.cpu_percent.filter(|_| has(CPU)),
            ..Limits::default()
        }
    }

    /// Creates a cgroup with these limits, which are enforced.
    fn create(&self, limits: Limits) -> io::Result<CallCgroup> {
        /// Maximum number of names that are in use: by earlier shells with surviving processes.
        const MAX_NAMES: u64 = 1000;
        let wanted = set_limits(&limits).map(|(name, ..)| *name);
        self.enable(&wanted.collect::<Vec<_>>())?;
        let supervisor = std::process::id();
        let created = (0..MAX_NAMES).find_map(|number| {
            let name = format!("{CALL_PREFIX}{supervisor}-{number}");
            let directory = self.directory.join(name);
            match fs::create_dir(&directory) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => None,
                created => Some(created.map(|()| directory)),
            }
        });
        let directory = created.unwrap_or_else(|| Err(io::ErrorKind::AlreadyExists.into()))?;
        let cgroup = CallCgroup {
            tree: LimitedTree { directory, limits },
        };
        cgroup.tree.write_limits()?;
        Ok(cgroup)
    }

    /// Creates a cgroup with these limits, and moves a shell and the descendants of `root` into it.
    fn start(&self, limits: Limits, shell: i32, root: i32) -> io::Result<CallCgroup> {
        let cgroup = self.create(limits)?;
        cgroup.add(shell, root)?;
        Ok(cgroup)
    }

    /// Enables controllers for the children of the cgroup. Its processes move to a child before.
    fn enable(&self, wanted: &[&str]) -> io::Result<()> {
        /// Maximum number of attempts, as processes may be started meanwhile.
        const MAX_ATTEMPTS: usize = 10;
        let file = self.directory.join(ENABLED_FILE);
        for _ in 0..MAX_ATTEMPTS {
            let enabled = fs::read_to_string(&file)?;
            let lacking = wanted.iter().filter(|name| !has_word(&enabled, name));
            let lacking: Vec<_> = lacking.map(|name| format!("+{name}")).collect();
            if lacking.is_empty() {
                return Ok(());
            }
            if self.has_processes {
                self.move_processes()?;
            }
            match fs::write(&file, lacking.join(" ")) {
                Err(error) if Errno::from_io_error(&error) == Some(Errno::BUSY) => {}
                written => return written,
            }
        }
        Err(Errno::BUSY.into())
    }

    /// Moves the processes of the cgroup, which are the programs to which it was delegated.
    fn move_processes(&self) -> io::Result<()> {
        let host = self.directory.join(HOST_NAME);
        match fs::create_dir(&host) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => created?,
        }
        for pid in fs::read_to_string(self.directory.join(PROCESSES_FILE))?.lines() {
            // Fails if the process has ended.
            let _ = fs::write(host.join(PROCESSES_FILE), pid);
        }
        Ok(())
    }

    /// Removes the cgroups of supervisors that were killed. Those with processes remain.
    fn sweep(&self) {
        let Ok(entries) = fs::read_dir(&self.directory) else {
            return;
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name
                .to_str()
                .and_then(|name| name.strip_prefix(CALL_PREFIX));
            let supervisor = name.and_then(|name| name.split_once('-')?.0.parse::<i32>().ok());
            if supervisor.is_some_and(|pid| ProcessInfo::read(pid).is_none()) {
                let _ = fs::remove_dir(entry.path());
            }
        }
    }
}

impl CgroupSystem<'_> {
    /// True if an administrator has given this cgroup, and not the one above, to this user.
    fn is_boundary(&self, directory: &Path) -> bool {
        let is_parent_writable = directory.parent().is_some_and(self.is_writable);
        !self.is_root && !is_parent_writable
    }
}

/// True if systemd says that the cgroup is delegated. Only root can read the second mark. systemd
/// 252 marks only cgroups of the system; a user's units of `systemd-run` have files.
fn is_marked(directory: &Path) -> bool {
    let mut marks = ["user.delegate", "trusted.delegate"].iter();
    let has_mark = marks.any(|name| {
        let mut value = [0];
        let length = getxattr(directory, *name, value.as_mut_slice());
        length == Ok(1) && value == *b"1"
    });
    has_mark || transient_unit(directory).is_some_and(|unit| is_delegating(&unit))
}

/// Returns the text of the transient unit of this user whose cgroup this is.
fn transient_unit(directory: &Path) -> Option<String> {
    let user = geteuid().as_raw();
    // A unit of the system can have the same name as a unit of the user.
    let manager = format!("user@{user}.service");
    let mut above = directory.iter();
    above.find(|name| *name == manager.as_str())?;
    let units = format!("/run/user/{user}/systemd/transient");
    fs::read_to_string(Path::new(&units).join(directory.file_name()?)).ok()
}

/// True if the text of a unit has `Delegate=` with `yes` or names of controllers.
fn is_delegating(unit: &str) -> bool {
    let mut values = unit
        .lines()
        .filter_map(|line| line.strip_prefix("Delegate="));
    values.any(|value| !["", "no", "false", "0", "off"].contains(&value))
}

/// The cgroup of a shell and its descendants. When dropped, removed if no process is left.
#[derive(Debug)]
pub(crate) struct CallCgroup {
    tree: LimitedTree,
}

impl CallCgroup {
    /// Creates a cgroup for a shell if one of its limits needs that and a cgroup was delegated, and
    /// moves the shell and the descendants of `root` into it.
    pub(crate) fn start(limits: &Limits, shell: i32, root: i32) -> (Option<Self>, TreeLimits) {
        if set_limits(limits).next().is_none() {
            return (None, TreeLimits::default());
        }
        Self::start_in(DelegatedCgroup::find(), limits, shell, root)
    }

    fn start_in(
        found: Result<DelegatedCgroup, NoCgroup>,
        limits: &Limits,
        shell: i32,
        root: i32,
    ) -> (Option<Self>, TreeLimits) {
        let enforced = found.as_ref().map(|delegated| delegated.enforced(limits));
        let enforced = enforced.unwrap_or_default();
        // Without a delegated cgroup, the other limits hold for each process, as documented.
        let mut missing = Limits {
            cpu_percent: limits
                .cpu_percent
                .filter(|_| enforced.cpu_percent.is_none()),
            ..Limits::default()
        };
        let mut cgroup = None;
        let reason = match found {
            Err(error) => error.to_string(),
            Ok(delegated) => {
                delegated.sweep();
                let started = (enforced != Limits::default())
                    .then(|| delegated.start(enforced, shell, root))
                    .transpose();
                let directory = delegated.directory.display();
                match started {
                    Ok(started) => {
                        cgroup = started;
                        format!("the cgroup {directory} lacks a controller")
                    }
                    Err(error) => {
                        missing = Limits {
                            cpu_percent: limits.cpu_percent,
                            ..enforced
                        };
                        format!("cannot create a cgroup in {directory}: {error}")
                    }
                }
            }
        };
        let report = TreeLimits {
            tree: cgroup.as_ref().map(|cgroup: &Self| cgroup.tree.clone()),
            missing: set_limits(&missing).map(|(_, limit, _)| *limit).collect(),
            missing_reason: reason,
        };
        (cgroup, report)
    }

    /// Moves a process and all descendants of `root`. A process that a moved process starts is in
    /// the cgroup from its start.
    fn add(&self, process: i32, root: i32) -> io::Result<()> {
        /// Maximum number of passes over the descendants: those not yet moved may start others.
        const MAX_PASSES: usize = 100;
        let file = self.tree.directory.join(PROCESSES_FILE);
        let move_process = |pid: i32| match fs::write(&file, pid.to_string()) {
            // The process has ended.
            Err(error) if Errno::from_io_error(&error) == Some(Errno::SRCH) => Ok(()),
            written => written,
        };
        move_process(process)?;
        let mut moved = BTreeSet::from([process]);
        for _ in 0..MAX_PASSES {
            let mut descendants = proc_scan::descendants(root);
            descendants.retain(|descendant| moved.insert(descendant.pid));
            if descendants.is_empty() {
                break;
            }
            for descendant in descendants {
                // One that cannot be moved keeps the limits of this program.
                let _ = move_process(descendant.pid);
            }
        }
        Ok(())
    }

    pub(crate) fn tree(&self) -> &LimitedTree {
        &self.tree
    }

    /// Returns a notice for each limit that the processes have reached.
    pub(crate) fn notices(&self) -> Vec<Notice> {
        self.tree
            .notices(LimitCounts::default(), self.tree.counts())
    }
}

impl Drop for CallCgroup {
    fn drop(&mut self) {
        // Fails if processes are left. A later supervisor then removes the cgroup.
        let _ = fs::remove_dir(&self.tree.directory);
    }
}

/// The processes of a shell that has a cgroup, and the limits that hold for them together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitedTree {
    directory: PathBuf,
    limits: Limits,
}

/// How the limits for all processes of a call together are enforced.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeLimits {
    /// The cgroup of the shell, if it has one.
    pub(crate) tree: Option<LimitedTree>,
    /// The limits that a cgroup was to enforce, and does not.
    pub(crate) missing: Vec<LimitKind>,
    pub(crate) missing_reason: String,
}

impl TreeLimits {
    /// Returns a notice about the limits that no cgroup enforces.
    pub(crate) fn missing_notice(&self) -> Option<Notice> {
        let limits = (!self.missing.is_empty()).then(|| self.missing.clone())?;
        let reason = self.missing_reason.clone();
        Some(NoticeKind::WithoutCgroup { limits, reason }.into())
    }
}

/// How often, or for how long, the kernel has enforced the limits of a cgroup.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LimitCounts {
    /// Allocations that failed because of the cgroup's own limit.
    failed_allocations: u64,
    /// Processes killed because memory was exhausted, here or on the whole machine.
    killed: u64,
    refused_processes: u64,
    throttled_us: u64,
}

impl LimitedTree {
    /// The limits of the cgroup; the others are `None`.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    fn write_limits(&self) -> io::Result<()> {
        /// The period of the CPU limit, in microseconds: the kernel's default.
        const PERIOD_US: u64 = 100_000;
        /// The kernel's maximum number of processes.
        const MAX_PROCESSES: u64 = 1 << 22;
        let write = |name: &str, value: String| fs::write(self.directory.join(name), value);
        if let Some(megabytes) = self.limits.memory_mb {
            write("memory.max", megabytes.saturating_mul(1 << 20).to_string())?;
            write("memory.oom.group", "1".to_owned())?;
            // Missing if the system does not count swap.
            let _ = write("memory.swap.max", "0".to_owned());
        }
        if let Some(processes) = self.limits.processes {
            write("pids.max", processes.min(MAX_PROCESSES).to_string())?;
        }
        if let Some(percent) = self.limits.cpu_percent {
            let quota = percent.min(1 << 20) * PERIOD_US / 100;
            write("cpu.max", format!("{quota} {PERIOD_US}"))?;
        }
        Ok(())
    }

    /// Returns the counts so far. They are 0 once the cgroup is removed.
    pub(crate) fn counts(&self) -> LimitCounts {
        let read = |is_limited: bool, name: &str| {
            let path = is_limited.then(|| self.directory.join(name));
            path.and_then(|path| fs::read_to_string(path).ok())
                .unwrap_or_default()
        };
        let memory = read(self.limits.memory_mb.is_some(), "memory.events");
        let processes = read(self.limits.processes.is_some(), "pids.events");
        let cpu = read(self.limits.cpu_percent.is_some(), "cpu.stat");
        LimitCounts {
            failed_allocations: count(&memory, "oom"),
            killed: count(&memory, "oom_kill"),
            refused_processes: count(&processes, "max"),
            throttled_us: count(&cpu, "throttled_usec"),
        }
    }

    /// Returns a notice for each limit that was enforced between two counts.
    pub(crate) fn notices(&self, before: LimitCounts, now: LimitCounts) -> Vec<Notice> {
        /// A command that was slowed by less does not need to know.
        const MIN_THROTTLED_US: u64 = 1_000_000;
        let is_reached = |limit: LimitKind| match limit {
            LimitKind::MemoryMb => {
                now.killed > before.killed && now.failed_allocations > before.failed_allocations
            }
            LimitKind::Processes => now.refused_processes > before.refused_processes,
            LimitKind::CpuPercent => {
                now.throttled_us.saturating_sub(before.throttled_us) >= MIN_THROTTLED_US
            }
            _ => false,
        };
        let reached = TREE_LIMITS
            .iter()
            .filter(|(_, limit, _)| is_reached(*limit));
        let notices = reached.filter_map(|(_, limit, value)| {
            let (limit, value) = (*limit, value(&self.limits)?);
            Some(Notice::from(NoticeKind::LimitHit { limit, value }))
        });
        notices.collect()
    }

    /// Kills all processes of the cgroup. Kernels before 5.14 cannot do that.
    pub(crate) fn kill(&self) {
        let _ = fs::write(self.directory.join("cgroup.kill"), "1");
    }
}

/// Returns the limits for all processes of a call together that are set.
fn set_limits(limits: &Limits) -> impl Iterator<Item = &'static TreeLimit> {
    let all: &'static [TreeLimit] = &TREE_LIMITS;
    all.iter()
        .filter(move |(_, _, value)| value(limits).is_some())
}

fn has_word(text: &str, word: &str) -> bool {
    text.split_whitespace().any(|other| other == word)
}

/// Returns the number after this name in a file of counts, one per line.
fn count(text: &str, name: &str) -> u64 {
    let mut lines = text.lines().filter_map(|line| line.split_once(' '));
    let value = lines.find_map(|(found, value)| (found == name).then_some(value));
    value
        .and_then(|value| value.parse().ok())
        .unwrap_or_default()
}

#[cfg(test)]
#[path = "cgroup_tests.rs"]
mod tests;
