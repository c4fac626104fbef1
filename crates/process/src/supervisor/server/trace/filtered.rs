//! A thread with the filter: everything that it starts is watched.

use crate::supervisor::server::shell_command::PreparedShell;
use agent_bash_sandbox::{WatchScope, trace};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

/// Stack size of the thread, in bytes. The thread makes a few system calls, and an argument list.
const STACK_BYTES: usize = 256 * 1024;

/// The thread, for as long as it is to start anything.
#[derive(Debug)]
pub(super) struct FilteredThread {
    orders: Sender<PreparedShell>,
    started: Receiver<io::Result<io::Result<StartedProcess>>>,
}

/// A pid; with the first the listener.
type StartedProcess = (i32, Option<OwnedFd>);

impl FilteredThread {
    pub(super) fn new(scope: WatchScope) -> io::Result<(Self, JoinHandle<()>)> {
        let (orders, ordered) = channel::<PreparedShell>();
        let (tell, started) = channel();
        let run = move || {
            let mut listener = match trace::begin(scope) {
                Ok(listener) => Some(listener),
                // The receiver still waits.
                Err(error) => return drop(tell.send(Err(error))),
            };
            // Until the first shell runs, no traced system call may happen, because the listener is
            // not served yet.
            for command in ordered {
                let pid = command.spawn();
                let started = pid.map(|pid| (pid, listener.take()));
                if tell.send(Ok(started)).is_err() {
                    return;
                }
            }
        };
        let thread = Builder::new().name("agent-bash-start".to_owned());
        let thread = thread.stack_size(STACK_BYTES).spawn(run)?;
        Ok((Self { orders, started }, thread))
    }

    /// Starts it; an error of the first kind says that it cannot be watched.
    pub(super) fn start(&self, command: PreparedShell) -> io::Result<io::Result<StartedProcess>> {
        // Without a receiver there is no answer.
        let _ = self.orders.send(command);
        let failed = |_| io::Error::other("starting it failed");
        self.started.recv().map_err(failed)?
    }
}
