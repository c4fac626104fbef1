//! Detects changes of files below the root by system calls that name no file below the root: writes
//! to the memory of other processes, and to file systems that are stored below the root.

use super::named_file::{FileIdentity, NamedFile};
use crate::proc_scan;
use agent_bash_os::mountinfo_path;
use rustix::fs::fstatfs;
use std::fs;
use std::path::{Path, PathBuf};

/// `OVERLAYFS_SUPER_MAGIC` of linux/magic.h.
const OVERLAY_MAGIC: i64 = 0x794c_7630;

/// The magic numbers of linux/magic.h of file systems that only show the kernel's state: `proc`,
/// `sysfs`, `cgroup`, `cgroup2`, `tracefs`, `debugfs`, `selinuxfs`.
const KERNEL_MAGICS: [i64; 7] = [
    0x9fa0, 0x6265_6572, 0x0027_e0eb, 0x6367_7270, 0x7472_6163, 0x6462_6720, 0xf97c_ff8c,
];

/// The major number of loop devices.
const LOOP_MAJOR: u32 = 7;

/// True if a process is not below this supervisor, so that its changes are not traced.
pub(super) fn is_outside(process: i32) -> bool {
    !proc_scan::is_below(process, std::process::id().cast_signed())
}

/// True if a thread is in the pid namespace of this process. Another namespace contains only
/// processes of the call.
pub(super) fn shares_pid_namespace(thread: i32) -> bool {
    let namespace = |process: &str| fs::read_link(format!("/proc/{process}/ns/pid")).ok();
    namespace("self") == namespace(&thread.to_string())
}

/// True if the file is on a file system that only shows the kernel's state.
pub(super) fn is_kernel_file(file: &NamedFile) -> bool {
    let Some(handle) = file.directory().or(file.open_file()) else {
        return false;
    };
    let is_shown = fstatfs(handle).is_ok_and(|found| KERNEL_MAGICS.contains(&found.f_type));
    // Another file may be mounted on the name.
    is_shown
        && file.identity().is_none_or(|target| {
            FileIdentity::of_open(handle).is_ok_and(|handle| handle.mount == target.mount)
        })
}

/// Returns why writing to this file may change other files; `None` unless the file is the memory of
/// a process outside of the call.
pub(super) fn memory_reason(path: &Path) -> Option<String> {
    let process = process_of_memory(path).filter(|process| is_outside(*process));
    process.map(controlled_process_reason)
}

/// Returns the pid in the path of a process's memory file, `/proc/PID/mem`.
pub(super) fn process_of_memory(path: &Path) -> Option<i32> {
    let path = path.strip_prefix("/proc").ok()?;
    let process = path.components().next()?.as_os_str().to_str()?;
    (path.file_name()? == "mem").then(|| process.parse().ok())?
}

/// True if the file's file system is known to store its files below `root`: in the upper directory
/// of an overlay, or in the image of a loop device.
pub(super) fn is_stored_below(file: &NamedFile, thread: i32, root: &Path) -> bool {
    let Some(handle) = file.directory().or(file.open_file()) else {
        return false;
    };
    let device = file.identity().map(|identity| identity.device);
    let device = device.or_else(|| rustix::fs::fstat(handle).ok().map(|found| found.st_dev));
    if let Some(device) = device.filter(|device| rustix::fs::major(*device) == LOOP_MAJOR) {
        let minor = rustix::fs::minor(device);
        let image = format!("/sys/dev/block/{LOOP_MAJOR}:{minor}/loop/backing_file");
        let image = fs::read_to_string(image).unwrap_or_default();
        return Path::new(image.trim_end_matches('\n')).starts_with(root);
    }
    if !fstatfs(handle).is_ok_and(|found| found.f_type == OVERLAY_MAGIC) {
        return false;
    }
    let table = fs::read(format!("/proc/{thread}/mountinfo")).unwrap_or_default();
    let device_number = device.map(|device| {
        let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
        format!("{major}:{minor}").into_bytes()
    });
    let upper = device_number.and_then(|device_number| upper_directory(&table, &device_number));
    upper.is_some_and(|upper| upper.starts_with(root))
}

/// Returns the upper directory of the overlay with this device number, according to `mountinfo`.
fn upper_directory(table: &[u8], device: &[u8]) -> Option<PathBuf> {
    let lines = table.split(|byte| *byte == b'\n');
    let mut lines = lines.map(|line| line.split(|byte| *byte == b' '));
    let mut line = lines.find_map(|mut line| (line.nth(2)? == device).then_some(line))?;
    let options = line.next_back()?.split(|byte| *byte == b',');
    let mut options = options.filter_map(|option| option.strip_prefix(b"upperdir="));
    options.next().map(mountinfo_path)
}

/// Returns why a record is incomplete after a process outside the call was controlled.
pub(super) fn controlled_process_reason(process: i32) -> String {
    format!("process {process}, outside of the call, was controlled and may have changed files")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a child of this test's own")]
    fn processes_below_this_one_are_not_outside() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let pid = child.id().cast_signed();
        assert!(!is_outside(pid) && is_outside(1));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(shares_pid_namespace(std::process::id().cast_signed()));
    }

    #[test]
    fn process_memory_is_recognised_by_its_path() {
        let process = |path: &str| process_of_memory(Path::new(path));
        assert_eq!(process("/proc/12/mem"), Some(12));
        assert_eq!(process("/proc/12/task/13/mem"), Some(12));
        assert_eq!(process("/proc/12/oom_score_adj"), None);
        assert_eq!(process("/dev/mem"), None);
    }

    #[test]
    fn upper_directory_of_an_overlay_is_read() {
        let table = b"30 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
            31 30 0:40 / /m rw - overlay o rw,lowerdir=/l,upperdir=/a\\040b/up,workdir=/w\n";
        assert_eq!(upper_directory(table, b"0:40"), Some("/a b/up".into()));
        assert_eq!(upper_directory(table, b"8:1"), None);
    }
}
