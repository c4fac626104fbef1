use rustix::fs::OFlags;
use std::os::fd::AsRawFd;

/// Opens a file without access to its contents.
#[cfg(target_os = "linux")]
pub const O_PATH: OFlags = OFlags::PATH;

/// Opens a file for reading without waiting: only Linux has `O_PATH`. Needs the permission to read,
/// and cannot open a link.
#[cfg(not(target_os = "linux"))]
pub const O_PATH: OFlags = OFlags::NONBLOCK;

/// Returns a path that leads to an open file or directory, even if its name leads elsewhere now.
/// Other systems than Linux have no such paths.
pub fn proc_path(file: &impl AsRawFd) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}
