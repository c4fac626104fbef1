//! The mounts and files of the stage.

use crate::run::Run;
use anyhow::{Context, Result, ensure};
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, mount_remount, unmount};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::Command;

pub(crate) const KIT: &str = "/mnt/kit";
pub(crate) const RUST: &str = "/mnt/rust";
pub(crate) const HOME: &str = "/mnt/home";
pub(crate) const WORKSPACE: &str = "/mnt/home/project";
pub(crate) const OUTSIDE: &str = "/mnt/outside";
/// Sockets, and programs that an attempt starts.
pub(crate) const RUN: &str = "/mnt/run";
/// Files with observations, among them the output of the attempt.
pub(crate) const SEEN: &str = "/mnt/seen";
/// The call's own temporary directory.
pub(crate) const OWN: &str = "/mnt/own";

/// Size of the hidden key, which `stat` would show.
const KEY_SIZE: usize = 31337;

const FILES: [(&str, &str); 13] = [
    ("/mnt/outside/file", "untouched\n"),
    ("/mnt/outside/leaked", "untouched\n"),
    ("/mnt/seen/probe", "untouched\n"),
    ("/mnt/home/.bashrc", "# untouched\n"),
    ("/mnt/home/.netrc", "password kept-by-netrc\n"),
    (
        "/mnt/home/.cargo/credentials.toml",
        "token = 'kept-by-cargo'\n",
    ),
    ("/mnt/home/.cargo/config.toml", "# open\n"),
    ("/mnt/home/project/file", "untouched\n"),
    ("/mnt/home/project/.git/HEAD", "ref: refs/heads/main\n"),
    (
        "/mnt/home/project/.git/config",
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
    ),
    ("/mnt/home/project/.git/hooks/post-checkout", "#!/bin/sh\n"),
    ("/mnt/home/project/.git/info/exclude", "\n"),
    ("/mnt/home/project/.git/refs/heads/.keep", ""),
];

/// Where the stage has file systems of its own.
const REPLACED: [&str; 5] = ["/mnt", "/proc", "/tmp", "/dev/shm", "/dev/pts"];

const DIRECTORIES: [(&str, u32); 8] = [
    ("/mnt/home/.ssh", 0o700),
    ("/mnt/home/project/.git/objects", 0o755),
    ("/mnt/outside/directory", 0o755),
    (OUTSIDE, 0o755),
    (HOME, 0o755),
    (OWN, 0o700),
    (RUN, 0o755),
    (SEEN, 0o1777),
];

/// Makes the machine read-only, and creates the files of the attempt.
pub(crate) fn build(run: &Run) -> Result<()> {
    mounts(run).context("the stage's mounts")?;
    for (path, text) in FILES {
        let directory = Path::new(path).parent().context("a file has a directory")?;
        fs::create_dir_all(directory)?;
        fs::write(path, text)?;
    }
    for (path, mode) in DIRECTORIES {
        fs::create_dir_all(path)?;
        fs::set_permissions(path, Permissions::from_mode(mode))?;
    }
    let key = format!("{:#<KEY_SIZE$}", "kept-by-ssh\n");
    fs::write("/mnt/home/.ssh/id_ed25519", key)?;
    for owned in [HOME, OUTSIDE, OWN, RUN] {
        give(Path::new(owned), run.user.id())?;
    }
    let up = Command::new("/mnt/kit/attacker")
        .arg("loopback-up")
        .status()?;
    ensure!(up.success(), "the stage has no loopback");
    Ok(())
}

fn mounts(run: &Run) -> Result<()> {
    let none = MountFlags::empty();
    // Replaced mounts are removed first: a sandbox may correctly report that a covered mount cannot
    // be reached.
    let table = fs::read_to_string("/proc/self/mountinfo")?;
    let places = table.lines().filter_map(|line| line.split(' ').nth(4));
    let replaced = |file: &&str| REPLACED.iter().any(|it| Path::new(file).starts_with(it));
    for file in places.filter(replaced) {
        // Mounts on it are removed with it, so nothing may remain to be done.
        let _ = unmount(file, UnmountFlags::DETACH);
    }
    mount("proc", "/proc", "proc", none, None)?;
    // The kit may be below /tmp, so it is moved first.
    mount("none", "/mnt", "tmpfs", none, Some(c"mode=755"))?;
    fs::create_dir(KIT)?;
    mount_bind(&*run.kit, KIT)?;
    if let Some(rust) = &run.rust {
        fs::create_dir(RUST)?;
        mount_bind(&**rust, RUST)?;
    }
    for file in ["/tmp", "/dev/shm"] {
        mount("none", file, "tmpfs", none, Some(c"mode=1777"))?;
    }
    let terminals = c"newinstance,ptmxmode=0666,mode=0620";
    mount("none", "/dev/pts", "devpts", none, Some(terminals))?;
    mount_remount("/", MountFlags::BIND | MountFlags::RDONLY, "")?;
    Ok(())
}

fn give(path: &Path, user: u32) -> Result<()> {
    chown(path, Some(user), Some(user))?;
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            give(&entry?.path(), user)?;
        }
    }
    Ok(())
}
