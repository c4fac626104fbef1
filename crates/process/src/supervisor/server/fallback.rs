//! The substitute for a supervisor in a host that cannot be re-executed as one: the same event loop
//! with the same protocol, in a thread of the host. The processes of a call are identified by marks
//! (see `marked_processes`).
//!
//! The thread ends with the host. So a killed host leaves its commands running, background jobs are
//! refused, and survivors lose the reader of their output. A process that removes every mark is not
//! found. Commands on terminals are refused. `crates/exec/tests/it/fallback.rs` tests this.

use super::launch::ShellStarter;
use super::marked_processes::{CALL_VARIABLE, MarkedProcesses};
use super::serve::Server;
use super::tree::CallProcesses;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;

/// Starts the thread. `socket` is the thread's end of the connection to the host. The thread ends
/// when the host's end is closed and no processes are left.
pub(in crate::supervisor) fn start(
    env: &BTreeMap<OsString, OsString>,
    socket: OwnedFd,
) -> io::Result<()> {
    rustix::io::ioctl_fionbio(&socket, true)?;
    // The combination of this inode and this process's pid is unique while the socket is open.
    let inode = rustix::fs::fstat(&socket)?.st_ino;
    let mark = format!("{}.{inode}", std::process::id());
    let mut env = env.clone();
    env.insert(CALL_VARIABLE.into(), mark.clone().into());
    let server = Server::new(
        socket,
        CallProcesses::Marked(MarkedProcesses::new(mark)),
        ShellStarter::Leader { env },
    );
    std::thread::Builder::new()
        .name("agent-bash-sup".to_owned())
        .spawn(move || server.run())?;
    Ok(())
}
