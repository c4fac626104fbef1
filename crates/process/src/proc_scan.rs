//! Reads `/proc`: descendants of a process, and details about processes; with substitutes where
//! `/proc` is not available. On Linux only; elsewhere most lists are empty.
//!
//! A pid read here may be gone or reused a moment later (TOCTOU). Code that sends signals must
//! guard against that itself: see [`crate::supervisor`].

use agent_bash_os::{ProcessInfo, read_proc};
use rustix::process::{Pid, WaitId, WaitIdOptions, getpid, waitid};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Direct children of `pid`, including zombies. Empty if there is no such process. Without `/proc`,
/// only our own children can be found.
pub(crate) fn children(pid: i32) -> Vec<i32> {
    let mut found = Vec::new();
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else {
        if pid == getpid().as_raw_pid() {
            found = awaited();
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

/// The direct children of one process, for repeated checks.
#[derive(Debug)]
pub struct Children {
    /// The kernel's list for its main thread; `None` if not available.
    list: Option<File>,
}

impl Children {
    /// Returns the values of this process.
    pub fn of(pid: u32) -> Self {
        let list = File::open(format!("/proc/{pid}/task/{pid}/children")).ok();
        Self { list }
    }

    /// True if the process has exactly these children, in this order; false if that cannot be
    /// determined.
    pub fn are_just(&self, pids: &[i32]) -> bool {
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

/// Our own children, found without `/proc` by trying to wait for each pid. Children are younger
/// than we are, so their pids are higher, unless pids have wrapped around.
fn awaited() -> Vec<i32> {
    /// Maximum number of pids to try: takes some 20 ms.
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

/// Maximum number of descendants examined; a fork bomb has no last one.
const MAX_DESCENDANTS: usize = 10_000;

/// All descendants of `pid`, which must be their subreaper, nearest first, excluding `pid` itself;
/// including zombies.
pub(crate) fn descendants(pid: i32) -> Vec<ProcessInfo> {
    let children_of = |parent: i32| {
        let children = children(parent).into_iter();
        children.filter_map(move |child| ProcessInfo::of_child(child, parent))
    };
    let mut found: Vec<ProcessInfo> = Vec::new();
    let mut next = 0;
    // Twice: a process with a parent that ended during the walk may have been missed, and is now
    // below `pid`. Not more often: during a fork storm there is always another.
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

/// All processes, found by scanning.
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

/// The processes of the session led by `leader`, found by scanning. For a leader that is gone and
/// cannot be asked.
pub fn processes_of_session(leader: i32) -> Vec<ProcessInfo> {
    let mut found = processes();
    found.retain(|process| process.session == leader && !process.zombie);
    found
}

/// The arguments of a process; empty for a kernel thread, a zombie, a missing process, and one in
/// the middle of `exec`.
pub(crate) fn arguments(pid: i32) -> Vec<Vec<u8>> {
    let path = format!("/proc/{pid}");
    let mut line = fs::read(format!("{path}/cmdline")).unwrap_or_default();
    if line.is_empty() {
        // If only its main thread has ended, the others still show them.
        let threads = fs::read_dir(format!("{path}/task")).into_iter().flatten();
        let of_thread = |thread: fs::DirEntry| fs::read(thread.path().join("cmdline")).ok();
        let mut lines = threads.flatten().filter_map(of_thread);
        line = lines.find(|line| !line.is_empty()).unwrap_or_default();
    }
    let line = line.strip_suffix(b"\0").unwrap_or(&line);
    if line.is_empty() {
        return Vec::new();
    }
    line.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect()
}

/// The kernel's name of a process, which is independent of its arguments; `None` if `/proc` does
/// not show it.
pub(crate) fn name(pid: i32) -> Option<Vec<u8>> {
    let mut name = fs::read(format!("/proc/{pid}/comm")).ok()?;
    name.pop_if(|last| *last == b'\n');
    Some(name)
}

/// The resolved working directory of a process; ends in ` (deleted)` if it was removed. `None` if
/// we may not look, or the system does not tell. Never blocks on a file system.
pub fn directory_of(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

/// True if a process has one of these pipes open. False if we may not look.
pub(crate) fn holds_pipe(pid: i32, inodes: &[u64]) -> bool {
    open_pipes(pid).any(|(_, inode)| inodes.contains(&inode))
}

/// True if a process has one of these files open, including FIFOs. False if we may not look.
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

/// True if a process has one of these pipes open for writing. False if we may not look.
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

/// The descriptors of a process, and what they refer to. None if we may not look.
fn open_files(pid: &str) -> impl Iterator<Item = (i32, PathBuf)> + use<> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten();
    entries.flatten().filter_map(|entry| {
        let number = entry.file_name().to_str()?.parse().ok()?;
        Some((number, fs::read_link(entry.path()).ok()?))
    })
}

/// The descriptors of this process beyond the standard three, among them that by which they were
/// listed, which is closed by now.
pub(crate) fn own_descriptors() -> Vec<i32> {
    let numbers = open_files("self").map(|(number, _)| number);
    numbers.filter(|number| *number > 2).collect()
}

/// Open descriptors of this process beyond the standard three that a program started from here
/// inherits.
pub(crate) fn inherited_descriptors() -> Vec<i32> {
    /// The flag of a descriptor that exec closes, as in `/proc/PID/fdinfo`.
    const CLOEXEC_BITS: u32 = rustix::fs::OFlags::CLOEXEC.bits();
    let own = std::process::id().cast_signed();
    let mut all = own_descriptors();
    // The listing itself was one of them, and is closed by now.
    all.retain(|fd| flags_of(own, *fd).is_some_and(|flags| flags & CLOEXEC_BITS == 0));
    all
}

/// True if a process has this terminal open, whatever its name is where that process sees it, or as
/// `/dev/tty`. False if we may not look.
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

/// Names do not tell terminals apart: in a box, the same name is another one. Only what is said to
/// be a device is looked at, as looking at a file can take until a server answers.
fn is_terminal(pid: i32, number: i32, target: &Path, terminal: &Path) -> bool {
    if target == Path::new("/dev/tty") {
        return true;
    }
    let id = |path: &Path| fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
    target.starts_with("/dev")
        && id(terminal)
            .is_some_and(|own| id(Path::new(&format!("/proc/{pid}/fd/{number}"))) == Some(own))
}

/// The flags of an open descriptor: access mode and close-on-exec, among others.
pub(crate) fn flags_of(pid: i32, descriptor: i32) -> Option<u32> {
    let info = read_proc(format!("/proc/{pid}/fdinfo/{descriptor}")).ok()?;
    let info = String::from_utf8(info).ok()?;
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"))?;
    u32::from_str_radix(flags.trim(), 8).ok()
}

/// Adds all descendants of the processes in `found`, as far as `all` shows them.
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

/// The number in `pipe:[123]`.
fn pipe_inode(target: &OsStr) -> Option<u64> {
    let text = target
        .as_bytes()
        .strip_prefix(b"pipe:[")?
        .strip_suffix(b"]")?;
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a child of this test's own")]
    fn a_child_is_known_without_being_shown() {
        let mut child = std::process::Command::new("sleep")
            .arg("100")
            .spawn()
            .unwrap();
        let own = std::process::id().cast_signed();
        let pid = child.id().cast_signed();
        assert!(awaited().contains(&pid));
        let shown = ProcessInfo::of_child(pid, own).unwrap();
        assert_eq!((shown.parent, shown.zombie), (own, false));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!awaited().contains(&pid));
        assert_eq!(ProcessInfo::of_child(pid, own), None);
    }

    #[test]
    fn the_two_ends_of_a_pipe_are_told_apart() {
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
    fn pipes_are_known_by_their_inode() {
        assert_eq!(pipe_inode(OsStr::new("pipe:[123]")), Some(123));
        assert_eq!(pipe_inode(OsStr::new("socket:[123]")), None);
        assert_eq!(pipe_inode(OsStr::new("/tmp/pipe:[1]")), None);
    }
}
