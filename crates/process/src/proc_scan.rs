//! Reads `/proc`: descendants of a process, and details about processes; with substitutes where
//! `/proc` is not available. On Linux only; elsewhere most lists are empty.
//!
//! A process may end, and its pid may be reused, right after it was read (TOCTOU). Code that sends
//! signals must check for that: see [`crate::supervisor`].

use agent_bash_os::{ProcessInfo, proc_path, read_arguments, read_proc};
use rustix::process::{Pid, WaitId, WaitIdOptions, getpid, waitid};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Returns the direct children of `pid`, including zombies. Empty if there is no such process.
/// Without `/proc`, only children of this process are found.
pub(crate) fn children(pid: i32) -> Vec<i32> {
    let mut found = Vec::new();
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else {
        if pid == getpid().as_raw_pid() {
            found = own_children();
        }
        return found;
    };
    for thread in threads.flatten() {
        let list = read_proc(thread.path().join("children")).unwrap_or_default();
        let numbers = std::str::from_utf8(&list).unwrap_or_default();
        let numbers = numbers.split_ascii_whitespace();
        found.extend(numbers.filter_map(|text| text.parse::<i32>().ok()));
    }
    found
}

/// Checks repeatedly, with two system calls, whether a shell is the only process below its
/// supervisor.
#[derive(Debug)]
pub struct LoneShellCheck {
    shell: i32,
    shell_children: ChildList,
    supervisor_children: ChildList,
}

impl LoneShellCheck {
    /// Opens the kernel's lists of children of these processes.
    pub fn new(shell: u32, supervisor: u32) -> Self {
        Self {
            shell: shell.cast_signed(),
            shell_children: ChildList::of(shell),
            supervisor_children: ChildList::of(supervisor),
        }
    }

    /// True if the shell has no children, and the supervisor no other child, not even a zombie;
    /// false if that cannot be determined.
    pub fn is_alone(&self) -> bool {
        // In this order: an orphan moves from below the shell to the supervisor.
        self.shell_children.is_exactly(&[]) && self.supervisor_children.is_exactly(&[self.shell])
    }
}

/// The direct children of one process. The kernel gives orphans to the first thread of their
/// subreaper.
#[derive(Debug)]
struct ChildList {
    /// The kernel's list of the children of the main thread; `None` if not available.
    list: Option<File>,
}

impl ChildList {
    fn of(pid: u32) -> Self {
        let list = File::open(format!("/proc/{pid}/task/{pid}/children")).ok();
        Self { list }
    }

    /// True if the process has exactly these children, in this order; false if that cannot be
    /// determined.
    fn is_exactly(&self, pids: &[i32]) -> bool {
        let mut text = [0; 256];
        let list = self.list.as_ref();
        let Some(Ok(length)) = list.map(|list| list.read_at(&mut text, 0)) else {
            return false;
        };
        let found = std::str::from_utf8(&text[..length]).unwrap_or_default();
        let found = found.split_ascii_whitespace().map(str::parse::<i32>);
        found.eq(pids.iter().copied().map(Ok))
    }
}

/// Returns the children of this process, found without `/proc` by trying to wait for each pid.
/// Children have higher pids than their parent, unless pids have wrapped around.
fn own_children() -> Vec<i32> {
    /// Maximum number of pids to try, which takes about 20 ms.
    const MAX_PIDS: i32 = 100_000;
    let own = getpid().as_raw_pid();
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let is_ours = |pid: &i32| {
        Pid::from_raw(*pid).is_some_and(|pid| waitid(WaitId::Pid(pid), options).is_ok())
    };
    (own + 1..=own.saturating_add(MAX_PIDS))
        .filter(is_ours)
        .collect()
}

/// Maximum number of descendants examined: a fork bomb creates them without end.
const MAX_DESCENDANTS: usize = 10_000;

/// Returns all descendants of the subreaper `pid`, nearest first, with zombies and without `pid`
/// itself.
pub(crate) fn descendants(pid: i32) -> Vec<ProcessInfo> {
    let children_of = |parent: i32| {
        let children = children(parent).into_iter();
        children.filter_map(move |child| ProcessInfo::of_child(child, parent))
    };
    let mut found: Vec<ProcessInfo> = Vec::new();
    let mut next = 0;
    // Two passes: a process that lost its parent during the scan may have been missed, and is now a
    // child of `pid`. More passes would not end during a fork storm.
    for _ in 0..2 {
        let known: BTreeSet<i32> = found.iter().map(|process| process.pid).collect();
        found.extend(children_of(pid).filter(|process| !known.contains(&process.pid)));
        while next < found.len() && found.len() < MAX_DESCENDANTS {
            let parent = found[next].pid;
            found.extend(children_of(parent));
            next += 1;
        }
    }
    found
}

/// True if `process` is below `ancestor` in the tree of processes. False if `/proc` does not show a
/// process in between.
pub(crate) fn is_below(process: i32, ancestor: i32) -> bool {
    /// The maximum number of parents that are followed.
    const MAX_PARENTS: usize = 10_000;
    let mut current = process;
    for _ in 0..MAX_PARENTS {
        match ProcessInfo::read(current) {
            Some(info) if info.parent == ancestor => return true,
            Some(info) => current = info.parent,
            None => return false,
        }
    }
    false
}

/// Returns all processes of the system.
pub(crate) fn processes() -> Vec<ProcessInfo> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter_map(ProcessInfo::read)
        .collect()
}

/// Returns the running processes of the session of `leader`, which need not be alive.
pub fn processes_of_session(leader: i32) -> Vec<ProcessInfo> {
    let mut found = processes();
    found.retain(|process| process.session == leader && !process.zombie);
    found
}

/// Returns the arguments of a process, up to 64 KiB. Empty for a kernel thread, a zombie, a missing
/// process, and a process that is executing `exec`.
pub(crate) fn arguments(pid: i32) -> Vec<Vec<u8>> {
    let path = format!("/proc/{pid}");
    let mut line = read_arguments(&path).unwrap_or_default();
    if line.is_empty() {
        // If only the main thread has ended, the other threads still have the arguments.
        let threads = fs::read_dir(format!("{path}/task")).into_iter().flatten();
        let of_thread = |thread: fs::DirEntry| read_arguments(thread.path()).ok();
        let mut lines = threads.flatten().filter_map(of_thread);
        line = lines.find(|line| !line.is_empty()).unwrap_or_default();
    }
    let line = line.strip_suffix(b"\0").unwrap_or(&line);
    if line.is_empty() {
        return Vec::new();
    }
    line.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect()
}

/// Returns the kernel's name of a process, which does not depend on its arguments; `None` if
/// `/proc` does not show it.
pub(crate) fn name(pid: i32) -> Option<Vec<u8>> {
    let mut name = fs::read(format!("/proc/{pid}/comm")).ok()?;
    name.pop_if(|last| *last == b'\n');
    Some(name)
}

/// Returns the resolved working directory of a process; it ends in ` (deleted)` if the directory
/// was removed. `None` without permission, or without `/proc`. Never blocks on a file system.
pub fn directory_of(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

/// True if a process has one of these pipes open. False without permission to read its descriptors.
pub(crate) fn holds_pipe(pid: i32, inodes: &[u64]) -> bool {
    open_pipes(pid).any(|(_, inode)| inodes.contains(&inode))
}

/// True if a process has one of these files open, including FIFOs. False without permission.
pub fn holds_open(pid: u32, files: &[BorrowedFd<'_>]) -> bool {
    let known: Vec<(u64, u64)> = files
        .iter()
        .filter_map(|file| File::from(file.try_clone_to_owned().ok()?).metadata().ok())
        .map(|meta| (meta.dev(), meta.ino()))
        .collect();
    let open = fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten();
    open.flatten()
        .filter_map(|entry| fs::metadata(entry.path()).ok())
        .any(|meta| known.contains(&(meta.dev(), meta.ino())))
}

/// True if a process has one of these pipes open for writing. False without permission.
pub(crate) fn writes_to(pid: i32, inodes: &[u64]) -> bool {
    /// `O_RDONLY` is 0 in the two bits of `O_ACCMODE`.
    const ACCESS_MODE_BITS: u32 = 0o3;
    open_pipes(pid)
        .filter(|(_, inode)| inodes.contains(inode))
        .filter_map(|(number, _)| flags_of(pid, number))
        .any(|flags| flags & ACCESS_MODE_BITS != 0)
}

/// The descriptors of a process that are pipes, with the pipes' inodes.
fn open_pipes(pid: i32) -> impl Iterator<Item = (i32, u64)> {
    open_files(&pid.to_string()).filter_map(|(number, target)| {
        let inode = pipe_inode(target.as_os_str())?;
        Some((number, inode))
    })
}

/// Returns the inodes of a process's sockets. Empty without permission.
pub(crate) fn open_sockets(pid: i32) -> impl Iterator<Item = u64> {
    open_files(&pid.to_string()).filter_map(|(_, target)| inode(target.as_os_str(), b"socket:["))
}

/// Returns the descriptors of a process with their targets. Empty without permission.
pub(crate) fn open_files(pid: &str) -> impl Iterator<Item = (i32, PathBuf)> + use<> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten();
    entries.flatten().filter_map(|entry| {
        let number = entry.file_name().to_str()?.parse().ok()?;
        Some((number, fs::read_link(entry.path()).ok()?))
    })
}

/// Returns the descriptors of this process except the standard three. The list includes the
/// descriptor of the listing itself, which is closed on return.
pub(crate) fn own_descriptors() -> Vec<i32> {
    let numbers = open_files("self").map(|(number, _)| number);
    numbers.filter(|number| *number > 2).collect()
}

/// Returns the descriptors, except the standard three, that a program started by this process
/// inherits.
pub(crate) fn inherited_descriptors() -> Vec<i32> {
    /// The close-on-exec flag in `/proc/PID/fdinfo`.
    const CLOEXEC_BITS: u32 = rustix::fs::OFlags::CLOEXEC.bits();
    let own = std::process::id().cast_signed();
    let mut all = own_descriptors();
    // The descriptor of the listing is closed by now: it has no flags.
    all.retain(|fd| flags_of(own, *fd).is_some_and(|flags| flags & CLOEXEC_BITS == 0));
    all
}

/// True if a process has this terminal open, under any name, or has `/dev/tty` open. False without
/// permission.
pub fn has_terminal_open(pid: i32, terminal: &Path) -> bool {
    open_files(&pid.to_string()).any(|(number, target)| is_terminal(pid, number, &target, terminal))
}

/// True if a descriptor of a process is this terminal.
pub fn is_on_terminal(pid: i32, descriptor: u64, terminal: &Path) -> bool {
    i32::try_from(descriptor).is_ok_and(|number| {
        fs::read_link(format!("/proc/{pid}/fd/{number}"))
            .is_ok_and(|target| is_terminal(pid, number, &target, terminal))
    })
}

/// True if descriptor `number` of process `pid`, which refers to `target`, is `terminal` or
/// `/dev/tty`. Compares devices, as a name can mean another terminal in a sandbox. Skips targets
/// outside `/dev`: `stat` of a network file could block.
fn is_terminal(pid: i32, number: i32, target: &Path, terminal: &Path) -> bool {
    if target == Path::new("/dev/tty") {
        return true;
    }
    let id = |path: &Path| fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
    target.starts_with("/dev")
        && id(terminal)
            .is_some_and(|own| id(Path::new(&format!("/proc/{pid}/fd/{number}"))) == Some(own))
}

/// Returns the flags of an open descriptor, with access mode and close-on-exec.
pub(crate) fn flags_of(pid: i32, descriptor: i32) -> Option<u32> {
    let info = read_proc(format!("/proc/{pid}/fdinfo/{descriptor}")).ok()?;
    let info = String::from_utf8(info).ok()?;
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"))?;
    u32::from_str_radix(flags.trim(), 8).ok()
}

/// Adds to `found` each process of `all` that descends from a process in `found`.
pub(crate) fn add_descendants(found: &mut BTreeSet<i32>, all: &[ProcessInfo]) {
    loop {
        let before = found.len();
        let children = all.iter().filter(|process| found.contains(&process.parent));
        let children: Vec<i32> = children.map(|process| process.pid).collect();
        found.extend(children);
        if found.len() == before {
            return;
        }
    }
}

/// Returns the inode of a pipe of this process. `None` for other files: their inode numbers belong
/// to other file systems.
pub fn inode_of_pipe(pipe: BorrowedFd<'_>) -> Option<u64> {
    let target = fs::read_link(proc_path(&pipe)).ok()?;
    pipe_inode(target.as_os_str())
}

/// Returns the inode number in `pipe:[123]`.
fn pipe_inode(target: &OsStr) -> Option<u64> {
    inode(target, b"pipe:[")
}

fn inode(target: &OsStr, prefix: &[u8]) -> Option<u64> {
    let text = target.as_bytes().strip_prefix(prefix)?.strip_suffix(b"]")?;
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a child of this test's own")]
    fn own_children_finds_child_without_proc() {
        let mut child = std::process::Command::new("sleep")
            .arg("100")
            .spawn()
            .unwrap();
        let own = std::process::id().cast_signed();
        let pid = child.id().cast_signed();
        assert!(own_children().contains(&pid));
        let shown = ProcessInfo::of_child(pid, own).unwrap();
        assert_eq!((shown.parent, shown.zombie), (own, false));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!own_children().contains(&pid));
        assert_eq!(ProcessInfo::of_child(pid, own), None);
    }

    #[test]
    fn writes_to_is_true_only_for_the_write_end() {
        let (read, write) = std::io::pipe().unwrap();
        let own = std::process::id().cast_signed();
        let inode = rustix::fs::fstat(&read).unwrap().st_ino;
        assert!(holds_pipe(own, &[inode]) && writes_to(own, &[inode]));
        drop(write);
        assert!(holds_pipe(own, &[inode]) && !writes_to(own, &[inode]));
        drop(read);
        assert!(!holds_pipe(own, &[inode]));
    }

    #[test]
    fn pipe_inode_is_read_only_from_pipe_targets() {
        let (read, _) = std::io::pipe().unwrap();
        let inode = rustix::fs::fstat(&read).unwrap().st_ino;
        assert_eq!(inode_of_pipe(read.as_fd()), Some(inode));
        let device = File::open("/dev/null").unwrap();
        assert_eq!(inode_of_pipe(device.as_fd()), None);
        assert_eq!(pipe_inode(OsStr::new("pipe:[123]")), Some(123));
        assert_eq!(pipe_inode(OsStr::new("socket:[123]")), None);
        assert_eq!(pipe_inode(OsStr::new("/tmp/pipe:[1]")), None);
    }
}
