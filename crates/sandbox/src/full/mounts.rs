//! Makes mounts read-only, which also protects permissions, times and attributes. Landlock has no
//! rules for these.

use crate::error::SandboxError;
use agent_bash_os::{mountinfo_path, read_proc};
use rustix::fs::{AtFlags, CWD, StatVfs, StatxFlags, fstatvfs, statvfs, statx};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount_remount};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// Flags that a remount must repeat, as bits of `statfs` (linux/statfs.h).
const REPEATED_FLAGS: [(u64, MountFlags); 4] = [
    (0x0002, MountFlags::NOSUID),
    (0x0004, MountFlags::NODEV),
    (0x0008, MountFlags::NOEXEC),
    (0x2000, MountFlags::NOSYMFOLLOW),
];

/// A line of `/proc/self/mountinfo`.
#[derive(Debug, PartialEq, Eq)]
struct MountLine {
    id: u64,
    path: PathBuf,
    /// The flags that a remount must repeat.
    flags: MountFlags,
    kind: String,
}

/// Makes all mounts read-only except those at or below these paths. Returns true if this succeeded
/// for all these mounts.
pub(super) fn make_read_only(except: &[&Path]) -> Result<bool, SandboxError> {
    let table = table()?;
    let mut all = true;
    for mounted in table.split(|byte| *byte == b'\n').filter_map(parse_line) {
        let writable = except.iter().any(|path| mounted.path.starts_with(path));
        // A mount in a directory of another user, which this user may not enter (container engines
        // have such), is closed to the sandboxed processes, too: their rights are no wider.
        let is_reachable = || match mounted.is_reachable() {
            Err(Errno::ACCESS) => false,
            reachable => reachable.unwrap_or(true),
        };
        if !writable && !may_hang(&mounted.kind) && is_reachable() {
            all &= read_only(&mounted.path, mounted.flags).is_ok();
        }
    }
    Ok(all)
}

/// Returns the mount table of this process.
pub(crate) fn table() -> Result<Vec<u8>, SandboxError> {
    read_proc("/proc/self/mountinfo").map_err(SandboxError::step("listing mounts"))
}

/// Returns a reachable mount below a directory.
pub(super) fn below(directory: &Path, table: &[u8]) -> Option<PathBuf> {
    let mut mounts = table.split(|byte| *byte == b'\n').filter_map(parse_line);
    let below = mounts.find(|mounted| {
        mounted.path != directory
            && mounted.path.starts_with(directory)
            && mounted.is_reachable().unwrap_or(true)
    });
    below.map(|mounted| mounted.path)
}

impl MountLine {
    /// True if the path of the mount leads to this mount. A covered mount is unreachable, and its
    /// flags differ from those of the path.
    fn is_reachable(&self) -> Result<bool, Errno> {
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
        match statx(CWD, &self.path, flags, StatxFlags::MNT_ID) {
            // Older kernels do not report the mount id.
            Ok(stat) if stat.stx_mask & StatxFlags::MNT_ID.bits() == 0 => Ok(true),
            Ok(stat) => Ok(stat.stx_mnt_id == self.id),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Makes the mount at this path read-only.
fn read_only(path: &Path, flags: MountFlags) -> rustix::io::Result<()> {
    mount_remount(path, MountFlags::BIND | MountFlags::RDONLY | flags, c"")
}

/// Makes the mount at this path read-only and keeps its other flags, because a user namespace may
/// not remove them.
pub(super) fn make_one_read_only(path: &Path) -> rustix::io::Result<()> {
    read_only(path, flags_to_repeat(&statvfs(path)?))
}

/// Returns the flags of the mount of this descriptor, for another mount of the same files.
pub(super) fn flags_of(descriptor: impl AsFd) -> rustix::io::Result<MountFlags> {
    fstatvfs(descriptor).map(|found| flags_to_repeat(&found))
}

/// Returns the flags that a remount clears unless it repeats them. A remount without flags for
/// access times leaves the access time settings unchanged.
fn flags_to_repeat(found: &StatVfs) -> MountFlags {
    let bits = found.f_flag.bits();
    let is_set = |(bit, _): &&(u64, MountFlags)| bits & bit != 0;
    let set = REPEATED_FLAGS.iter().filter(is_set);
    set.fold(MountFlags::empty(), |flags, (_, flag)| flags | *flag)
}

/// True for file systems whose lookups can wait for a server or a program.
fn may_hang(kind: &str) -> bool {
    const REMOTE_FILE_SYSTEMS: [&str; 10] = [
        "autofs", "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs",
    ];
    REMOTE_FILE_SYSTEMS.contains(&kind) || kind == "fuse" || kind.starts_with("fuse.")
}

/// Parses a line such as `36 35 98:0 /root /at rw,nosuid shared:1 - ext4 /dev/sda rw`.
fn parse_line(line: &[u8]) -> Option<MountLine> {
    let mut fields = line.split(|byte| *byte == b' ');
    let id = std::str::from_utf8(fields.next()?).ok()?.parse().ok()?;
    let path = fields.nth(3)?;
    let options = fields.next()?;
    let kind = fields.skip_while(|field| *field != b"-").nth(1)?;
    let known = [
        (&b"nosuid"[..], MountFlags::NOSUID),
        (b"nodev", MountFlags::NODEV),
        (b"noexec", MountFlags::NOEXEC),
        (b"nosymfollow", MountFlags::NOSYMFOLLOW),
    ];
    let flags = options
        .split(|byte| *byte == b',')
        .filter_map(|option| known.iter().find(|(name, _)| *name == option))
        .fold(MountFlags::empty(), |flags, (_, flag)| flags | *flag);
    Some(MountLine {
        id,
        path: mountinfo_path(path),
        flags,
        kind: String::from_utf8_lossy(kind).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_line_reads_lines_of_mountinfo() {
        let line = br"36 35 98:0 /a /mnt/two\040words rw,nosuid,noexec,relatime shared:1 master:2 - fuse.x src rw";
        let expected = MountLine {
            id: 36,
            path: "/mnt/two words".into(),
            flags: MountFlags::NOSUID | MountFlags::NOEXEC,
            kind: "fuse.x".into(),
        };
        assert_eq!(parse_line(line), Some(expected));
        assert_eq!(parse_line(b""), None);
        assert!(may_hang("fuse.x") && may_hang("nfs4") && !may_hang("fuseblk"));
    }
}
