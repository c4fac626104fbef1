//! Mounts and their file systems.

use rustix::fs::fstatfs;
use std::ffi::OsString;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// The number of a type of file systems. Each system has its own numbers.
#[cfg(target_os = "linux")]
pub type FsType = rustix::fs::FsWord;
/// The number of a type of file systems. Each system has its own numbers.
#[cfg(not(target_os = "linux"))]
pub type FsType = u32;

/// `BTRFS_SUPER_MAGIC` (linux/magic.h)
const BTRFS_MAGIC: FsType = 0x9123_683E;

/// True if the open file is on btrfs, where a subvolume is another device without a mount.
pub fn is_btrfs(file: impl AsFd) -> bool {
    fstatfs(file).is_ok_and(|found| found.f_type == BTRFS_MAGIC)
}

/// Returns the fields of the line with this mount id in `/proc/PID/mountinfo`, without the id.
pub fn mountinfo_fields<'a>(
    table: &'a [u8],
    mount: &str,
) -> Option<impl Iterator<Item = &'a [u8]> + use<'a>> {
    let lines = table.split(|byte| *byte == b'\n');
    let mut lines = lines.map(|line| line.split(|byte| *byte == b' '));
    lines.find_map(|mut fields| (fields.next() == Some(mount.as_bytes())).then_some(fields))
}

/// Decodes a path in `/proc/PID/mountinfo`, where spaces, tabs, newlines and backslashes are
/// written as `\040` and so on.
#[must_use]
pub fn mountinfo_path(field: &[u8]) -> PathBuf {
    let mut path = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let octal = (*first == b'\\').then(|| after.get(..3)).flatten();
        let value = octal
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        path.push(value.unwrap_or(*first));
        rest = if value.is_some() { &after[3..] } else { after };
    }
    PathBuf::from(OsString::from_vec(path))
}
