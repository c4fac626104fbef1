//! What stands in for a supervisor in a host that cannot be started as one: the same loop, in a thread of the host, with the
//! same protocol. The processes of a call are known by marks (see `marked`).
//!
//! What it cannot: it dies with the host, so a killed host leaves its commands behind, and nothing outlives the host that
//! was to be kept (background jobs are refused; survivors lose their reader). A process that takes off every mark is not
//! found. There is no terminal. It is asserted in `crates/exec/tests/fallback.rs`.

use super::launch::Starter;
use super::marked::{Marked, VARIABLE};
use super::serve::Server;
use super::tree::Tree;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;

/// Starts the thread; `socket` is its end. It ends when the other end is closed and nobody is left.
pub(in crate::supervisor) fn start(
    env: &BTreeMap<OsString, OsString>,
    socket: OwnedFd,
) -> io::Result<()> {
    rustix::io::ioctl_fionbio(&socket, true)?;
    // Nobody else has this number, and this process's, while the socket is open.
    let inode = rustix::fs::fstat(&socket)?.st_ino;
    let mark = format!("{}.{inode}", std::process::id());
    let mut env = env.clone();
    env.insert(VARIABLE.into(), mark.clone().into());
    let server = Server::new(
        socket,
        Tree::Marked(Marked::new(mark)),
        Starter::Leader { env },
    );
    std::thread::Builder::new()
        .name("agent-bash-sup".to_owned())
        .spawn(move || {
            if let Err(error) = server.run() {
                tracing::warn!(%error, "the supervising thread has ended");
            }
        })?;
    Ok(())
}
