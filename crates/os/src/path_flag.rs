use rustix::fs::OFlags;

/// Opens a file without access to its contents.
#[cfg(target_os = "linux")]
pub const O_PATH: OFlags = OFlags::PATH;

/// Opens a file for reading without waiting: only Linux has `O_PATH`. Needs the permission to read,
/// and cannot open a link.
#[cfg(not(target_os = "linux"))]
pub const O_PATH: OFlags = OFlags::NONBLOCK;
