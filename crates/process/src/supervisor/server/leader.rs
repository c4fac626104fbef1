//! Starts a shell directly from a host, as the leader of its own process session. Descriptors and
//! signal settings of the host are not inherited. Uses `posix_spawn` rather than `fork`, so the
//! cost does not depend on the host's size.

use super::shell_command::ShellCommand;
use crate::proc_scan;
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawn};
use nix::sys::signal::SigSet;
use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

/// `POSIX_SPAWN_SETSID` of `<spawn.h>`, standardised in 2024; nix has no name for it yet.
#[cfg(target_os = "linux")]
const SETSID_FLAG: PosixSpawnFlags = PosixSpawnFlags::from_bits_retain(0x80);

/// A new process group, on other systems.
#[cfg(not(target_os = "linux"))]
const SETSID_FLAG: PosixSpawnFlags = PosixSpawnFlags::POSIX_SPAWN_SETPGROUP;

/// Starts the shell with `env` and the changes of `command`. The shell inherits `inherited` under
/// their current numbers.
pub(super) fn start(
    command: &ShellCommand<'_>,
    env: &BTreeMap<OsString, OsString>,
    standard: &[OwnedFd; 3],
    inherited: &[&OwnedFd],
) -> io::Result<i32> {
    let mut env = env.clone();
    for (name, value) in command.env_changes {
        match value {
            Some(value) => env.insert(name.clone(), value.clone()),
            None => env.remove(name),
        };
    }
    let env = env
        .iter()
        .map(|(name, value)| c_string(&[name.as_bytes(), b"=", value.as_bytes()].concat()))
        .collect::<io::Result<Vec<_>>>()?;
    let args = [command.arg0]
        .into_iter()
        .chain(command.args.iter().map(OsString::as_os_str))
        .map(|argument| c_string(argument.as_bytes()))
        .collect::<io::Result<Vec<_>>>()?;

    // In a host that closed a standard descriptor, a descriptor of `standard` may have a number
    // below 3. Move all of them first, so that none is overwritten.
    let standard = standard
        .iter()
        .map(|fd| rustix::io::fcntl_dupfd_cloexec(fd, 3))
        .collect::<Result<Vec<_>, _>>()?;
    let mut actions = PosixSpawnFileActions::init()?;
    for leaked in proc_scan::inherited_descriptors() {
        actions.add_close(leaked)?;
    }
    // A dup onto the same number clears close-on-exec.
    for fd in inherited {
        actions.add_dup2(fd.as_raw_fd(), fd.as_raw_fd())?;
    }
    for (number, fd) in (0..).zip(&standard) {
        actions.add_dup2(fd.as_raw_fd(), number)?;
    }
    let mut attributes = PosixSpawnAttr::init()?;
    attributes.set_flags(
        SETSID_FLAG
            | PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF
            | PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK,
    )?;
    attributes.set_sigdefault(&SigSet::all())?;
    attributes.set_sigmask(&SigSet::empty())?;
    let pid = posix_spawn(command.program, &actions, &attributes, &args, &env)?;
    Ok(pid.as_raw())
}

fn c_string(bytes: &[u8]) -> io::Result<CString> {
    CString::new(bytes).map_err(|_| {
        let text = OsStr::from_bytes(bytes).display();
        io::Error::new(io::ErrorKind::InvalidInput, format!("a NUL in `{text}`"))
    })
}
