//! Records files that processes have open for writing, or mapped, and connections to outside
//! processes: a process can write to these without a traced system call.

use super::changes_without_path;
use super::named_file::NamedFile;
use super::record::{ChangeRecord, IncompleteReason, TraceContext};
use crate::proc_scan;
use agent_bash_changes::Touch;
use agent_bash_os::read_proc;
use rustix::fs::{FileType, OFlags};
use std::collections::HashSet;
use std::fs::metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A shell that has no file open to which it could write, and no connection to another process.
/// Only two events can change this: a traced system call of the shell, or the receipt of a
/// descriptor, which changes the number of descriptors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ShellWithoutFiles {
    pub(super) pid: i32,
    descriptors: u64,
}

impl ShellWithoutFiles {
    /// Describes a shell that was found without such a file.
    pub(super) fn of(pid: i32) -> Option<Self> {
        let descriptors = descriptor_count(pid)?;
        Some(Self { pid, descriptors })
    }

    /// True if `shell` is this shell, with as many descriptors as when it was examined.
    pub(super) fn is_still(self, shell: i32) -> bool {
        self.pid == shell && descriptor_count(shell) == Some(self.descriptors)
    }
}

/// Returns the number of descriptors of a process; 0 on Linux before 6.2.
fn descriptor_count(pid: i32) -> Option<u64> {
    let found = metadata(format!("/proc/{pid}/fd")).ok()?;
    Some(found.len())
}

/// The result of [`record`].
pub(super) struct OpenFilesRecord {
    /// True if the processes have no writable file, no nameless file that could get a name, and no
    /// connection.
    pub(super) has_none: bool,
    /// The first error, if any.
    pub(super) recorded: Result<(), IncompleteReason>,
}

/// Records the writable files of these processes. Continues after an error.
pub(super) fn record(
    pids: &[i32],
    context: &mut TraceContext,
    record: &mut dyn ChangeRecord,
) -> OpenFilesRecord {
    let mut outcome = OpenFilesRecord {
        has_none: true,
        recorded: Ok(()),
    };
    for pid in pids {
        let mut files = mapped(*pid);
        // The process may have ended meanwhile.
        for (number, target) in proc_scan::open_files(&pid.to_string()) {
            let reason = if is_open_for_writing(*pid, number, &target) {
                outcome.has_none &= !may_get_name(*pid, number, &target);
                let Some(file) = NamedFile::from_descriptor(*pid, number) else {
                    continue;
                };
                match file.kind() {
                    Some(FileType::RegularFile) => {
                        files.push(file);
                        continue;
                    }
                    _ => context.open_file_reason(file),
                }
            } else {
                context.open_channel_reason(*pid, number, &target)
            };
            if let Some(reason) = reason {
                outcome.has_none = false;
                outcome.recorded = outcome.recorded.and(Err(IncompleteReason::of(reason)));
            }
        }
        for file in files.iter().filter(|file| is_named(file)) {
            let recorded = context.record_touch(file, Touch::Content, *pid, false, record);
            outcome.has_none = false;
            outcome.recorded = outcome.recorded.and(recorded);
        }
    }
    outcome
}

impl TraceContext {
    /// Returns why writing to this open file may change other files; `None` for regular files.
    pub(super) fn open_file_reason(&mut self, file: NamedFile) -> Option<String> {
        let Ok(path) = file.path() else {
            return Some("the path of an open file could not be read".to_owned());
        };
        let kind = file.kind()?;
        // Close the file first: a FIFO that this process has open counts as this process's own.
        drop(file);
        match kind {
            FileType::Fifo if !self.excludes(&path) => self.sockets.fifo_write_reason(&path),
            FileType::BlockDevice => {
                let path = path.display();
                Some(format!("a block device was opened for writing ({path})"))
            }
            _ => changes_without_path::memory_reason(&path),
        }
    }

    /// Returns why writing to an open socket may cause changes; `None` for other descriptors.
    fn open_channel_reason(&self, process: i32, number: i32, target: &Path) -> Option<String> {
        let target = target.as_os_str().as_bytes();
        let is_socket = target.starts_with(b"socket:");
        let reason = || {
            if has_queued_descriptors(process, number) {
                return Some("a process was passing open files to another one".to_owned());
            }
            self.sockets
                .open_socket_reason(process, number, &self.excluded)
        };
        is_socket.then(reason)?
    }

    /// Returns why changes of files that a shell has inherited open for writing are not recorded;
    /// `None` if none of the files can be below the root.
    pub(super) fn inherited_reason(
        &mut self,
        files: &[NamedFile],
        record: &dyn ChangeRecord,
    ) -> Option<String> {
        let own = std::process::id().cast_signed();
        files.iter().find_map(|file| {
            let path = file.path().ok()?;
            let is_within = self.may_be_within(file, own, record).unwrap_or(true);
            is_within.then(|| inherited_file_reason(&path))
        })
    }
}

/// The reason why a record is incomplete if the call has inherited this file open for writing.
pub(super) fn inherited_file_reason(path: &Path) -> String {
    let path = path.display();
    format!("the command was started with {path} open for writing, and may have changed it")
}

/// Returns the regular files among these descriptors of this process that are open for writing.
pub(in crate::supervisor::server) fn inherited_files(
    numbers: impl IntoIterator<Item = i32>,
) -> Vec<NamedFile> {
    let own = std::process::id().cast_signed();
    let is_file = |number: &i32| {
        let found = metadata(format!("/proc/self/fd/{number}"));
        found.is_ok_and(|found| found.is_file() && found.nlink() > 0)
    };
    let numbers = numbers.into_iter().filter(is_file);
    let written = numbers.filter(|number| is_open_for_writing(own, *number, Path::new("/")));
    written
        .filter_map(|number| NamedFile::from_descriptor(own, number))
        .collect()
}

/// True if a socket has descriptors that its process has not received yet. False on Linux before
/// 5.6.
fn has_queued_descriptors(process: i32, number: i32) -> bool {
    let info = read_proc(format!("/proc/{process}/fdinfo/{number}")).unwrap_or_default();
    let info = String::from_utf8_lossy(&info);
    let count = info.lines().find_map(|line| line.strip_prefix("scm_fds:"));
    count.is_some_and(|count| count.trim() != "0")
}

fn is_named(file: &NamedFile) -> bool {
    file.kind() == Some(FileType::RegularFile) && file.links() > 0
}

/// True for a regular file without a name to which `linkat` can give a name. A `memfd` cannot get
/// one.
fn may_get_name(pid: i32, number: i32, target: &Path) -> bool {
    let found = metadata(format!("/proc/{pid}/fd/{number}"));
    found.is_ok_and(|found| found.is_file() && found.nlink() == 0)
        && !target.as_os_str().as_bytes().starts_with(b"/memfd:")
}

/// Returns files with shared mappings, which can be written after the descriptor was closed.
fn mapped(pid: i32) -> Vec<NamedFile> {
    let maps = read_proc(format!("/proc/{pid}/maps")).unwrap_or_default();
    let maps = String::from_utf8_lossy(&maps);
    let ranges = maps.lines().filter_map(|line| {
        let (range, access) = line.split_once(' ')?;
        let is_shared = access.as_bytes().get(3) == Some(&b's');
        (is_shared && line.contains(" /")).then_some(range)
    });
    let ranges: Vec<&str> = ranges.collect();
    if ranges.is_empty() {
        return Vec::new();
    }
    let read_only = never_writable_ranges(pid);
    let ranges = ranges.iter().filter(|range| !read_only.contains(**range));
    ranges
        .filter_map(|range| NamedFile::from_mapping(pid, range))
        .collect()
}

/// Returns the mappings that can never be made writable. A shared mapping of a file is among these
/// if the file was opened for reading only.
fn never_writable_ranges(pid: i32) -> HashSet<String> {
    let maps = read_proc(format!("/proc/{pid}/smaps")).unwrap_or_default();
    let maps = String::from_utf8_lossy(&maps);
    let mut found = HashSet::new();
    let mut range = "";
    for line in maps.lines() {
        let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
        if first == "VmFlags:" {
            // `mw`: may be made writable.
            if !rest.split_ascii_whitespace().any(|flag| flag == "mw") {
                found.insert(range.to_owned());
            }
        } else if !first.ends_with(':') {
            range = first;
        }
    }
    found
}

fn is_open_for_writing(pid: i32, number: i32, target: &Path) -> bool {
    // Link targets of sockets and pipes do not begin with a slash.
    if !target.is_absolute() {
        return false;
    }
    let flags = proc_scan::flags_of(pid, number).unwrap_or_default();
    let flags = OFlags::from_bits_retain(flags);
    flags.intersects(OFlags::WRONLY | OFlags::RDWR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
    use std::fs;
    use std::io::IoSlice;
    use std::mem::MaybeUninit;
    use std::os::fd::{AsFd, AsRawFd};
    use std::os::unix::net::UnixStream;

    #[test]
    fn inherited_files_excludes_files_open_for_reading() {
        let temp = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(temp.path()).unwrap();
        let (written, read) = (base.join("written"), base.join("read"));
        fs::write(&read, "x").unwrap();
        let _open = (
            fs::File::create(&written).unwrap(),
            fs::File::open(&read).unwrap(),
        );
        let found = inherited_files(proc_scan::own_descriptors());
        let found: Vec<_> = found.iter().filter_map(|file| file.path().ok()).collect();
        assert!(found.contains(&written) && !found.contains(&read));
    }

    #[test]
    fn descriptors_that_a_socket_holds_are_found() {
        let (sender, receiver) = UnixStream::pair().unwrap();
        let own = std::process::id().cast_signed();
        let has_descriptors = || has_queued_descriptors(own, receiver.as_raw_fd());
        assert!(!has_descriptors());
        let descriptors = [sender.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut message = SendAncillaryBuffer::new(&mut space);
        message.push(SendAncillaryMessage::ScmRights(&descriptors));
        let data = [IoSlice::new(b"x")];
        sendmsg(&sender, &data, &mut message, SendFlags::empty()).unwrap();
        assert!(has_descriptors());
    }
}
